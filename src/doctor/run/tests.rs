//! Recorded hosts for tests of the whole binary, kept equal to the examples that the checks are tested
//! on. After a change of the facts: `INSTA_UPDATE=always cargo test --lib recorded`.

use super::{Choice, view};
use crate::host::Facts;

fn record(name: &str, facts: &Facts) {
    insta::with_settings!({
        snapshot_path => "../../../tests/data/facts",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_json_snapshot!(name, facts);
    });
}

#[test]
fn recorded_hosts_are_those_of_the_examples() {
    record("healthy", &Facts::example());
    record("laptop", &Facts::example_laptop());
    let mut facts = Facts::example();
    facts.without_linger();
    record("without_linger", &facts);
}

#[test]
fn what_verifies_asks_from_the_same_point_of_view() {
    let choice = Choice {
        user: Some("svc".to_owned()),
        profile: Some("ops".to_owned()),
        ..Choice::default()
    };
    let words = view(&choice, &Facts::example());
    assert_eq!(words[..4].join(" "), "--user svc --profile ops");
}
