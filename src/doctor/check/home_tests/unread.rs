//! What cannot be read is neither taken for what is not there, nor guessed at.

use std::path::{Path, PathBuf};

use super::fixture::{Fixture, codes};
use crate::doctor::check::{Outcome, all};
use crate::doctor::evidence::Evidence;
use crate::doctor::finding::Finding;
use crate::host::GapKind;
use crate::host::facts::Fact;
use crate::host::locks::Holder;

/// Something in the place of a file.
type Place = fn(&Path);

fn fifo(path: &Path) {
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
}

fn directory(path: &Path) {
    std::fs::create_dir(path).unwrap();
}

fn nothing_in_it(path: &Path) {
    std::fs::write(path, "").unwrap();
}

fn link_to_itself(path: &Path) {
    std::os::unix::fs::symlink(path, path).unwrap();
}

fn outcome(id: &str, evidence: &Evidence) -> Outcome {
    let check = all().find(|check| check.id == id).unwrap();
    (check.run)(evidence)
}

/// The findings about homes, not about the host.
fn of_homes(fixture: &Fixture) -> Vec<Finding> {
    let mut found = fixture.all_findings();
    found.retain(|finding| finding.code >= "HM400");
    found
}

#[test]
fn a_heartbeat_that_cannot_be_read_is_not_known_and_never_absent() {
    for make in [fifo as Place, directory, nothing_in_it, link_to_itself] {
        let mut fixture = Fixture::healthy();
        let path = fixture.path("cron/ticker_heartbeat");
        for served in [true, false] {
            if !served {
                fixture.no_server();
            }
            std::fs::remove_file(&path).ok();
            std::fs::remove_dir(&path).ok();
            make(&path);
            let ticker = outcome("scheduler-ticker", &fixture.evidence());
            assert_eq!(codes(&ticker.findings), [""; 0], "served: {served}");
            let [gap] = ticker.unchecked.as_slice() else {
                panic!("served {served}: {ticker:?}");
            };
            assert!(gap.matters && gap.what.ends_with("cron/ticker_heartbeat"));
        }
    }
}

/// Puts the home of the fixture at this path, served by nobody.
fn at(fixture: &mut Fixture, path: &Path) {
    fixture.no_server();
    let path: PathBuf = path.to_owned();
    let facts = &mut fixture.facts;
    facts.home.path.clone_from(&path);
    facts.homes[0].path.clone_from(&path);
    facts.shell.home = Fact::Known(path.clone());
    facts.dispatcher.home = Fact::Known(path);
}

#[test]
fn a_home_that_is_no_directory_is_one_finding() {
    for make in [nothing_in_it as Place, fifo, link_to_itself] {
        let mut fixture = Fixture::healthy();
        let path = fixture.path("place");
        make(&path);
        at(&mut fixture, &path);
        let found = of_homes(&fixture);
        assert_eq!(codes(&found), ["HM802"], "{found:#?}");
        assert_eq!(found[0].subject.name, path.display().to_string());
        let what = format!("what {} holds", path.display());
        let evidence = fixture.evidence();
        for id in [
            "config",
            "scheduler-ticker",
            "jobs-due",
            "loops",
            "stores-access",
        ] {
            let unchecked = outcome(id, &evidence).unchecked;
            assert!(unchecked.iter().any(|gap| gap.what == what), "{id}");
        }
    }
}

#[test]
fn a_configuration_that_is_a_file_is_opened_and_not_moved_away() {
    let fixture = Fixture::healthy();
    std::fs::write(
        fixture.path("config.yaml"),
        b"timezone: Europe/Berlin # \xff\n",
    )
    .unwrap();
    let found = of_homes(&fixture);
    assert_eq!(codes(&found), ["HM901"], "{found:#?}");
    assert!(found[0].summary.contains("not UTF-8"));
    assert_eq!(found[0].remedies[0].argv[0], "vi");
}

#[test]
fn nothing_is_claimed_of_a_zone_that_is_guessed() {
    for make in [fifo as Place, directory] {
        let mut fixture = Fixture::healthy();
        fixture.facts.machine.clock.zone = Some("America/New_York".to_owned());
        std::fs::remove_file(fixture.path("config.yaml")).unwrap();
        let wrong = of_homes(&fixture);
        assert!(
            codes(&wrong).contains(&"HM504"),
            "the zone matters: {wrong:#?}"
        );
        make(&fixture.path("config.yaml"));
        let found = of_homes(&fixture);
        assert_eq!(codes(&found), ["HM901"], "{found:#?}");
        let aside = &found[0].remedies[0].argv;
        assert_eq!(aside[..2], ["mv", "-n"], "an editor would wait for it");
        let unchecked = outcome("jobs-due", &fixture.evidence()).unchecked;
        assert!(
            unchecked[0]
                .what
                .contains("the zone of the jobs is not known")
        );
    }
}

#[test]
fn a_pid_file_that_cannot_be_read_is_a_gap() {
    let mut fixture = Fixture::healthy();
    fixture.facts.homes[0].gateway_pid = Fact::unknown(GapKind::Failed, "gateway.pid: it is empty");
    let process = outcome("scheduler-process", &fixture.evidence());
    assert_eq!(codes(&process.findings), [""; 0]);
    assert!(process.unchecked[0].what.ends_with("gateway.pid names"));
    assert!(process.unchecked[0].gap.why.contains("it is empty"));
}

#[test]
fn a_job_whose_id_looks_like_an_option_is_named_behind_all_options() {
    let fixture = Fixture::healthy();
    fixture.only_job(|job| {
        job["id"] = "--help".into();
        job["next_run_at"] = serde_json::Value::Null;
    });
    let home = fixture.path("").display().to_string();
    let home = home.trim_end_matches('/');
    let found = fixture.findings("HM502");
    let wanted = ["hermes", "cron", "resume", "--home", home, "--", "--help"];
    assert_eq!(found[0].remedies[0].argv, wanted);
}

#[test]
fn a_tick_hangs_no_longer_than_what_ticks_has_run() {
    let mut fixture = Fixture::healthy();
    let started = fixture.epoch(-300);
    fixture
        .facts
        .dispatcher
        .process
        .as_mut()
        .unwrap()
        .started_at = Fact::Known(started);
    fixture.beat(165 * 86_400, std::process::id());
    let mut evidence = fixture.evidence();
    evidence.homes[0].tick_lock = Holder::Held {
        pid: 812,
        confirmed: true,
    };
    let ticker = outcome("scheduler-ticker", &evidence);
    assert_eq!(codes(&ticker.findings), ["HM404"]);
    let summary = &ticker.findings[0].summary;
    assert!(
        summary.starts_with("a tick has been running for 5m"),
        "{summary}"
    );
    assert!(ticker.findings[0].causes.contains(&"HM111"));
}

#[test]
fn a_very_long_name_is_cut() {
    let fixture = Fixture::healthy();
    fixture.only_job(|job| {
        job["name"] = "n".repeat(5_000).into();
        job["next_run_at"] = serde_json::Value::Null;
    });
    let summary = &fixture.findings("HM502")[0].summary;
    assert!(summary.contains("nnn…'") && summary.chars().count() < 200);
}
