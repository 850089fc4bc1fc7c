//! The sample home: a real one, made anonymous. Each finding there is explained here.

use std::path::Path;

use super::fixture::{Fixture, copy};
use crate::doctor::finding::Finding;

/// Half a minute after its last tick.
const NOW: &str = "2026-11-29T22:40:30Z";

fn sample() -> Vec<Finding> {
    let mut fixture = Fixture::healthy();
    fixture.now = NOW.parse().unwrap();
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
    let found = sample();
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
    let found = sample();
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
