//! The checks of homes, over homes that lie on a disk and are gathered as the doctor gathers them; the
//! host is the example's. A test breaks one thing of a healthy home and names the field case.

mod fixture;
mod hostile;
mod jobs;
mod ledger;
mod missing;
mod needs;
mod sample;
mod scheduler;
mod sessions;
mod stores;

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
