//! Outputs of jobs that pile up, and how many are kept on purpose.

use super::fixture::Fixture;
use crate::doctor::check::all;

#[test]
fn b63_outputs_that_pile_up() {
    let fixture = Fixture::healthy();
    for number in 0..201 {
        fixture.write(&format!("cron/output/00000000000a/{number}.md"), "");
    }
    let found = fixture.one("HM808");
    assert!(found.summary.contains("201 outputs are kept for one job"));
    // However young they are, as many are left as are to be kept.
    let line = &found.remedies[0].argv[2];
    assert!(line.contains("| tail -n +51 |"), "{line}");
    let keep = "timezone: Europe/Berlin\ncron:\n  output_retention: ";
    fixture.write("config.yaml", &format!("{keep}0\n"));
    let line = &fixture.one("HM808").remedies[0].argv[2];
    assert!(line.contains("| tail -n +201 |"), "{line}");
    fixture.write("config.yaml", &format!("{keep}300\n"));
    assert!(fixture.findings("HM808").is_empty());
    // Nothing is deleted on a guess of what is to be kept.
    for unread in [format!("{keep}many\n"), format!("{keep}300\n  x: [\n")] {
        fixture.write("config.yaml", &unread);
        assert!(fixture.findings("HM808").is_empty(), "{unread}");
        let check = all().find(|check| check.id == "stores-disk").unwrap();
        let outcome = (check.run)(&fixture.evidence());
        let mut gaps = outcome.unchecked.iter();
        assert!(gaps.any(|gap| gap.what == "how many outputs are to be kept"));
    }
}
