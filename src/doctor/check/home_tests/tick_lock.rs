//! Who holds the lock of the ticks keeps everybody else from scheduling.

use super::fixture::Fixture;
use crate::files;

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
