//! The checks of homes, over homes that lie on a disk and are gathered as the doctor gathers them; the
//! host is the example's. A test breaks one thing of a healthy home and names the field case.

mod fixture;
mod hostile;
mod jobs;
mod ledger;
mod missing;
mod needs;
mod outputs;
mod reads;
mod sample;
mod scheduler;
mod serving;
mod sessions;
mod stores;
mod tick_lock;
mod unread;

use std::path::Path;

use fixture::{Fixture, codes};

/// A healthy home gives no finding of any check at all.
#[test]
fn b141_b142_a_healthy_home_has_no_findings() {
    let fixture = Fixture::healthy();
    let found = fixture.all_findings();
    assert_eq!(codes(&found), [""; 0], "{found:#?}");
    assert!(fixture.unchecked().is_empty());
}

#[test]
fn every_code_of_a_check_is_in_the_catalogue_and_every_finding_is_declared() {
    for check in crate::doctor::check::all() {
        for code in check.codes {
            assert!(crate::doctor::catalog::find(code).is_some(), "{code}");
        }
    }
}

/// Each code of a home has a home that shows it: a test that asks for it by name.
#[test]
fn every_code_of_a_home_has_a_fixture() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/doctor/check");
    let mut files: Vec<_> = std::fs::read_dir(folder.join("home_tests"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    files.push(folder.join("home_tests.rs"));
    files.push(folder.join("host_tests/service.rs"));
    let text: String = files
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect();
    let of_homes = crate::doctor::catalog::all().map(|entry| entry.code);
    for code in of_homes.filter(|code| *code >= "HM400") {
        // A cause that a finding is said not to have is no finding.
        let named = text.matches(&format!("\"{code}\"")).count();
        let denied = text
            .matches(&format!("causes.contains(&\"{code}\")"))
            .count();
        assert!(named > denied, "no home shows {code}");
    }
}

/// Ten thousand overdue jobs are told as a few and a number.
#[test]
fn many_of_one_kind_are_told_as_a_few_and_a_number() {
    let fixture = Fixture::healthy();
    let jobs: Vec<_> = (0..300)
        .map(|number| {
            let mut job = fixture.job(&format!("{number:012x}"));
            job["next_run_at"] = "2026-11-29T12:00:00+01:00".into();
            job
        })
        .collect();
    fixture.jobs(&jobs);
    let found = fixture.findings("HM501");
    assert_eq!(found.len(), 26);
    let rest = found.last().unwrap();
    assert_eq!(rest.summary, "275 more of the same kind");
    assert_eq!(rest.evidence.len(), 25);
}
