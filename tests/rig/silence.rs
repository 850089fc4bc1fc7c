//! Managers that fall silent in the middle of a launch: once a worker has asked for its unit, and before that is
//! there. And offers that come to nothing: the row is offered once more, and runs once.

use serde_json::Value;

use super::faults::Faults;
use super::job::{WAITS, arm, began, facts, incidents, let_go, runs, slots_not_run};
use super::service::Service;
use super::{HOME, Rig};

const SCOPE: [&str; 5] = ["completed", "scoped", "scope", "user", ""];
const SERVICE: [&str; 5] = ["completed", "scoped", "service", "user", ""];
const DEGRADED: [&str; 5] = ["completed", "degraded", "child", "", ""];

/// Leaves a line for each time that it runs.
const RUNS: &str = "echo ran >>ran";

/// A serve whose workers can be placed by now, with a configuration.
fn serve_of<'a>(rig: &'a Rig, configuration: &str) -> (Service<'a>, Faults<'a>) {
    let serve = Service::of(rig, "svc", &Faults::lines());
    let faults = Faults::of(rig);
    serve.configure(configuration);
    serve.systemctl("start").settle();
    (serve, faults)
}

/// The job is due, with somebody who stops or is killed on the way.
fn due(rig: &Rig, (serve, faults): (&Service<'_>, &Faults<'_>), places: &str, script: &str) {
    arm(rig, script);
    faults.arm(places);
    serve.minute();
}

/// The newest of so many runs.
fn newest(rig: &Rig, count: usize) -> Value {
    let told = runs(rig);
    assert_eq!(told.len(), count, "{told:?}");
    told[0].clone()
}

/// What is told of how a run began.
fn noted(run: &Value) -> &str {
    run["facts"]["detail"].as_str().unwrap_or_default()
}

fn thaw(rig: &Rig) {
    rig.must(&["fault", "thaw"]);
}

/// How often the script ran.
fn ran(rig: &Rig) -> String {
    rig.sh(&format!("cat {HOME}/ran 2>&1 | grep -cx ran || true"))
}

/// Minutes after which each sweep that was due has been made.
fn sweeps(serve: &Service<'_>) {
    for _ in 0..6 {
        serve.minute().settle();
    }
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_manager_that_falls_silent_once_it_was_asked_for_a_scope_costs_the_scope_and_the_verdict() {
    let rig = Rig::with_account(&[], true);
    let (serve, faults) = serve_of(&rig, "");
    let pid = serve.pid();
    due(&rig, (&serve, &faults), "worker.asks~", RUNS);
    faults.while_it_stands(|| rig.fault("freeze-manager"));
    serve.settle();
    let run = newest(&rig, 1);
    assert_eq!(facts(&run), DEGRADED);
    // It is not asked for a service then: nobody would wait for that.
    let why = "not placed: no scope (the job did not end within 5s)";
    assert_eq!(noted(&run), why);
    let told = "A worker could not be placed outside of this service: no scope";
    serve.says(&pid, told);
    // In the same minute, and nobody asks that manager again.
    serve.by_hand().settle();
    let run = newest(&rig, 2);
    assert_eq!((facts(&run), noted(&run)), (DEGRADED, ""));
    serve.says(&pid, "Jobs run degraded");
    thaw(&rig);
    arm(&rig, RUNS);
    serve.minute().settle();
    assert_eq!(facts(&newest(&rig, 3)), SCOPE);
    assert_eq!((ran(&rig).as_str(), faults.left().as_str()), ("3", ""));
    assert_eq!(serve.pid(), pid);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_worker_that_is_placed_late_is_told_as_it_began_and_leaves_no_unit() {
    let rig = Rig::with_account(&[], true);
    let (serve, faults) = serve_of(&rig, "");
    due(&rig, (&serve, &faults), "worker.asks~", WAITS);
    faults.while_it_stands(|| rig.fault("freeze-manager"));
    began(&rig);
    thaw(&rig);
    rig.until("cat /proc/[0-9]*/cgroup 2>/dev/null | grep -q hermes-worker-");
    let_go(&rig);
    serve.settle();
    // What it had started was in the service all the time.
    assert_eq!(facts(&newest(&rig, 1)), DEGRADED);
    assert_eq!(faults.left(), "");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_strict_job_whose_manager_falls_silent_once_it_was_asked_is_refused_with_the_remedy() {
    let rig = Rig::with_account(&[], true);
    let strict = "cron:\n  require_restart_safe_scope: true";
    let (serve, faults) = serve_of(&rig, strict);
    due(&rig, (&serve, &faults), "worker.asks~", RUNS);
    faults.while_it_stands(|| rig.fault("freeze-manager"));
    serve.settle();
    let run = newest(&rig, 1);
    let error = run["error"].as_str().expect("an error");
    assert_eq!(run["status"], "failed");
    assert!(
        error.contains("refused: ") && error.contains("hermes cron doctor"),
        "{error}"
    );
    assert_eq!(slots_not_run(&rig)[0]["outcome"], "refused");
    assert_eq!(incidents(&rig).len(), 1);
    assert_eq!(ran(&rig), "0");
    thaw(&rig);
    arm(&rig, RUNS);
    serve.minute().settle();
    assert_eq!(facts(&newest(&rig, 2)), SCOPE);
    assert_eq!((ran(&rig).as_str(), faults.left().as_str()), ("1", ""));
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_scope_whose_job_hangs_at_a_frozen_system_bus_costs_the_scope_and_later_jobs_are_services() {
    let rig = Rig::with_account(&[], true);
    let (serve, faults) = serve_of(&rig, "");
    due(&rig, (&serve, &faults), "worker.asks~", RUNS);
    faults.while_it_stands(|| rig.fault("freeze-dbus"));
    serve.settle();
    let run = newest(&rig, 1);
    assert_eq!(facts(&run), DEGRADED, "{run}");
    assert!(noted(&run).starts_with("not placed: no scope"), "{run}");
    // The manager comes to it once the bus goes on, and the worker is gone by then.
    thaw(&rig);
    sweeps(&serve);
    assert_eq!(faults.left(), "");
    // Where it is known that the way is barred, nobody tries it.
    rig.fault("freeze-dbus");
    arm(&rig, RUNS);
    serve.minute().settle();
    assert_eq!(facts(&newest(&rig, 2)), SERVICE);
    assert_eq!((ran(&rig).as_str(), faults.left().as_str()), ("2", ""));
    thaw(&rig);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_service_that_a_manager_starts_late_runs_nothing_and_is_cleared_away() {
    let rig = Rig::with_account(&[], true);
    let (serve, faults) = serve_of(&rig, "");
    rig.restart_system_bus();
    due(&rig, (&serve, &faults), "worker.asks_service~", RUNS);
    faults.while_it_stands(|| rig.fault("freeze-manager"));
    serve.settle();
    let run = newest(&rig, 1);
    assert_eq!(facts(&run), DEGRADED);
    assert!(
        noted(&run).contains("and no service (the job did not end within "),
        "{run}"
    );
    thaw(&rig);
    rig.until("left | grep -q 'hermes-worker-.*service'");
    sweeps(&serve);
    assert_eq!((ran(&rig).as_str(), faults.left().as_str()), ("1", ""));
    newest(&rig, 1);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_scope_that_is_refused_is_followed_by_a_service_and_the_job_runs_once() {
    let rig = Rig::with_account(&[], true);
    let (serve, faults) = serve_of(&rig, "");
    arm(&rig, RUNS);
    serve.minute().settle();
    assert_eq!(facts(&newest(&rig, 1)), SCOPE);
    rig.restart_system_bus();
    // Scopes were found to be made a moment ago.
    serve.by_hand().settle();
    assert_eq!(facts(&newest(&rig, 2)), SERVICE);
    assert_eq!((ran(&rig).as_str(), faults.left().as_str()), ("2", ""));
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_worker_that_hangs_in_its_service_is_ended_and_its_row_offered_again() {
    let rig = Rig::with_account(&[], true);
    let (serve, faults) = serve_of(&rig, "");
    rig.restart_system_bus();
    faults.in_services_too(&serve);
    // The first is gone before the second runs anything.
    let counts = "grep -lze \"--e[x]ecution\" /proc/[0-9]*/cmdline | wc -l >workers";
    let script = format!("{counts}; {RUNS}");
    due(&rig, (&serve, &faults), "worker.placed~", &script);
    faults.are_met();
    serve.settle();
    let run = newest(&rig, 1);
    assert_eq!(facts(&run), SERVICE);
    let why = "offered twice: the worker said nothing within the handover's 30 s";
    assert_eq!(noted(&run), why);
    assert_eq!(rig.sh(&format!("cat {HOME}/workers")), "1");
    assert_eq!((ran(&rig).as_str(), faults.left().as_str()), ("1", ""));
}
