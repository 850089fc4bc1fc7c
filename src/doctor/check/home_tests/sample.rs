//! The sample home: a real one, made anonymous. Each finding there is explained here.

use std::path::Path;

use super::fixture::{Fixture, copy};
use crate::doctor::finding::Finding;

/// Half a minute after its last tick.
const NOW: &str = "2026-11-29T22:40:30Z";

/// The next day at noon; nothing has run since.
const LATER: &str = "2026-11-30T12:00:00Z";

fn sample(now: &str) -> Vec<Finding> {
    let mut fixture = Fixture::healthy();
    fixture.now = now.parse().unwrap();
    fixture.no_server();
    for name in ["cron", "scripts"] {
        std::fs::remove_dir_all(fixture.path(name)).unwrap();
    }
    for name in ["state.db", "config.toml"] {
        std::fs::remove_file(fixture.path(name)).unwrap();
    }
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sample-home");
    copy(&sample, &fixture.path(""));
    // Its pid and its worker's are those of nobody, also on the host that runs the test.
    let text = format!("1795991999.8715699 {}", super::fixture::GONE);
    fixture.write("cron/ticker_heartbeat", &text);
    let registry = fixture.path("runtime/active_sessions.json");
    let leases = std::fs::read_to_string(&registry).unwrap();
    let gone = super::fixture::GONE.to_string();
    std::fs::write(&registry, leases.replace("4242", &gone)).unwrap();
    let mut found = fixture.all_findings();
    // What the host has to say is another matter.
    found.retain(|finding| finding.code >= "HM400" && finding.code != "HM481");
    found
}

#[test]
fn every_finding_of_the_sample_home_is_explained() {
    let found = sample(NOW);
    let mut told: Vec<_> = found
        .iter()
        .map(|finding| (finding.code, finding.subject.name.as_str()))
        .map(|(code, name)| (code, name.rsplit('/').next().unwrap_or(name)))
        .collect();
    told.sort_unstable();
    let home = found
        .iter()
        .find(|finding| finding.code == "HM402")
        .unwrap();
    let home = home.subject.name.rsplit('/').next().unwrap();
    let mut wanted = vec![
        // Four armed jobs; the gateway that ticked them has ended.
        ("HM402", home),
        // scripts/ was left out of the sample on purpose.
        ("HM509", "a49f6beb5b17"),
        ("HM509", "f645462fda68"),
        // The script that fails with code 3; its run was three hours late, too.
        ("HM511", "f645462fda68"),
        ("HM513", "f645462fda68"),
        // A payload, an acknowledgement and no row: the files of a worker of another run.
        ("HM614", "external-workers"),
        // One of its five jobs waits for an approval.
        ("HM416", home),
        // The loop of a session whose backend has ended: due in four and a half minutes, by nobody.
        ("HM701", "20260101_090000_aaaaaa"),
        // A heartbeat that is armed in a session that the sweep at start has ended.
        ("HM705", "20260101_091500_bbbbbb"),
        // The registry's entry of that backend.
        ("HM711", "20260101_090000_aaaaaa"),
        // The sample was taken from /home/sample/.hermes.
        ("HM814", home),
    ];
    wanted.sort_unstable();
    assert_eq!(told, wanted, "{found:#?}");
}

#[test]
fn the_failure_of_the_sample_is_told_with_its_reason() {
    let found = sample(NOW);
    let failed = found
        .iter()
        .find(|finding| finding.code == "HM511")
        .unwrap();
    assert_eq!(
        failed.summary,
        "job 'failing-script' failed in its last run: Script exited with code 3"
    );
    let words: Vec<_> = failed
        .evidence
        .iter()
        .map(|seen| seen.observed.as_str())
        .collect();
    assert!(
        words.contains(&"no good run is kept in the ledger"),
        "{words:?}"
    );
    assert!(
        words
            .iter()
            .any(|words| words.contains("f64546_33c4b0178cef")),
        "{words:?}"
    );
}

#[test]
fn what_nobody_ran_for_hours_is_told_and_explained() {
    let before = sample(NOW);
    let later = sample(LATER);
    let key = |finding: &Finding| (finding.code, finding.subject.name.clone());
    let known: Vec<_> = before.iter().map(|finding| finding.code).collect();
    let mut new: Vec<_> = later
        .iter()
        .filter(|finding| !known.contains(&finding.code))
        .map(key)
        .collect();
    new.sort_unstable();
    let gone: Vec<_> = known
        .iter()
        .filter(|code| later.iter().all(|finding| finding.code != **code))
        .collect();
    assert_eq!(gone, [&""; 0], "nothing mended itself");
    let home = later.iter().find(|finding| finding.code == "HM402");
    let home = home.unwrap().subject.name.as_str();
    let wanted = [
        // Three recurring jobs whose next run has passed, and nobody ticks.
        ("HM501", "441e353b6e19"),
        ("HM501", "a49f6beb5b17"),
        ("HM501", "f645462fda68"),
        // The one-shot was for that night.
        ("HM505", "ecbabf890d9a"),
        // What the next scheduler would start at once: those three.
        ("HM515", home),
        // The backend of the sample wrote its last heartbeat the evening before, and has ended.
        ("HM710", home),
        // Its sessions are idle for longer than a backend keeps them, and held by nobody.
        ("HM713", home),
    ];
    let wanted = wanted.map(|(code, name)| (code, name.to_owned()));
    assert_eq!(new, wanted, "{later:#?}");
    let late = later
        .iter()
        .filter(|finding| ["HM501", "HM505", "HM515"].contains(&finding.code));
    for finding in late {
        assert!(finding.causes.contains(&"HM402"), "{finding:#?}");
    }
}
