//! What comes and goes with a login: sessions that are none, and units that end with the last.

use super::bus::{switched_shell, user_unit_without_linger};
use super::{found, severity};
use crate::bus::{LogindSession, LogindUser};
use crate::doctor::finding::Severity::Error;
use crate::host::Facts;
use crate::host::facts::Viewpoint;

#[test]
fn b23_a_user_manager_that_logind_counts_as_a_session_is_no_login() {
    let session_of = |class: &str| {
        let mut facts = Facts::example_laptop();
        switched_shell(&mut facts);
        let session = LogindSession {
            id: "c1".to_owned(),
            class: Some(class.to_owned()),
            r#type: None,
            state: None,
            leader: None,
        };
        facts.system_bus.logind.user = Some(LogindUser {
            linger: Some(true),
            state: Some("lingering".to_owned()),
            sessions: vec![session],
        });
        found(facts, "HM246")
    };
    let summary = session_of("manager").unwrap().summary;
    assert!(
        summary.ends_with("ssh, and 'machinectl shell bot@', open one"),
        "{summary}"
    );
    assert!(session_of("user").is_none());
}

#[test]
fn b13_b14_user_unit_says_what_the_last_logout_does() {
    let mut facts = Facts::example();
    user_unit_without_linger(&mut facts);
    let finding = found(facts, "HM225").unwrap();
    assert!(finding.summary.contains("stops at the last logout"));
    let mut facts = Facts::example();
    user_unit_without_linger(&mut facts);
    facts.dispatcher.process = None;
    facts.dispatcher.viewpoint = Viewpoint::Unit;
    let finding = found(facts, "HM225").unwrap();
    assert_eq!(severity(&finding), Error);
    assert!(finding.summary.contains("does not start at boot"));
    // B13: how it was entered may be why.
    let seen = &finding.evidence;
    assert!(
        seen.iter()
            .any(|seen| seen.observed == "su and sudo -u open none"),
        "{seen:?}"
    );
}
