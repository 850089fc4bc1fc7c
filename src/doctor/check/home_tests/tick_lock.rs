//! Who holds the lock of the ticks keeps everybody else from scheduling; who has just begun, or ticks another
//! home, need not have ticked this one.

use super::fixture::Fixture;
use crate::doctor::check::all;
use crate::files;
use crate::host::facts::{Descriptors, Fact};

#[test]
fn a_process_that_began_after_an_outage_is_starting_and_not_dead() {
    let mut fixture = Fixture::healthy();
    fixture.beat(900, std::process::id());
    for (age, note) in [(2, Some("starting for 2s")), (201, None)] {
        let started = fixture.epoch(-age);
        let process = fixture.facts.dispatcher.process.as_mut().unwrap();
        process.started_at = Fact::Known(started);
        let check = all().find(|check| check.id == "scheduler-ticker").unwrap();
        let outcome = (check.run)(&fixture.evidence());
        assert_eq!(outcome.note.as_deref(), note);
        let dead = outcome.findings.iter().map(|found| found.code);
        assert_eq!(dead.collect::<Vec<_>>(), ["HM403"][note.iter().len()..]);
    }
}

#[test]
fn b107_a_scheduler_that_never_has_the_lock_is_not_scheduling_and_its_holder_is_named() {
    let fixture = Fixture::healthy();
    std::fs::remove_file(fixture.path("cron/ticker_heartbeat")).unwrap();
    let summary = || fixture.findings("HM405")[0].summary.clone();
    assert!(
        summary().ends_with("has never ticked here"),
        "{}",
        summary()
    );
    let lock = files::try_lock(&fixture.path("cron/.tick.lock")).unwrap();
    assert!(lock.is_some());
    let own = std::process::id();
    let wanted = format!("; not scheduling: pid {own} holds the tick lock");
    assert!(summary().ends_with(&wanted), "{}", summary());
}

#[test]
fn b43_jobs_that_nobody_ticks_are_told_with_the_home_that_is_ticked() {
    let mut fixture = Fixture::healthy();
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir(other.path().join("cron")).unwrap();
    let jobs = other.path().join("cron/jobs.json");
    std::fs::write(jobs, r#"{"jobs":[{"id":"x"}]}"#).unwrap();
    let mut process = fixture.facts.dispatcher.process.clone().unwrap();
    process.home = Fact::Known(other.path().to_path_buf());
    fixture.no_server();
    fixture.beat(90_000, 4242);
    let silent = fixture.findings("HM402").remove(0).summary;
    assert!(silent.ends_with("for 1d 1h now"), "{silent}");
    fixture.facts.others = vec![process];
    let told = fixture.findings("HM402").remove(0).summary;
    let tail = format!(" ticks another home, {} (1 job)", other.path().display());
    assert!(told.ends_with(&tail), "{told}");
}

#[test]
fn b39_what_leaks_and_has_no_unit_is_run_again_by_hand() {
    let mut fixture = Fixture::healthy();
    fixture.facts.dispatcher.unit = None;
    let process = fixture.facts.dispatcher.process.as_mut().unwrap();
    let pid = process.pid;
    process.descriptors = Fact::Known(Descriptors {
        open: 95,
        limit: Some(100),
        repeated: Vec::new(),
    });
    let found = fixture.findings("HM481").remove(0);
    let line = &found.remedies[0].argv[2];
    assert!(line.starts_with(&format!("kill {pid} && ")), "{line}");
    assert!(line.contains(" && exec env HERMES_HOME="), "{line}");
}
