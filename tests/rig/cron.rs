//! Jobs under a real manager: in a scope, in a service, degraded, refused; begun by a serve that the
//! manager runs, or by a pass of its own.

use super::job::{WAITS, arm, began, ended, facts, incidents, let_go, runs, slots_not_run};
use super::service::Service;
use super::{HOME, Rig};

const SCOPE: [&str; 5] = ["completed", "scoped", "scope", "user", ""];

/// A unit that makes one pass over the jobs, as the account.
fn install(rig: &Rig) {
    rig.sh(&format!(
        "cat >/etc/systemd/system/pass.service <<'X'\n[Service]\nUser=svc\n\
         Environment=HERMES_HOME={HOME} HERMES_TIMEZONE=UTC\nExecStart=/usr/local/bin/hermes cron tick\n\
         SuccessExitStatus=0 1 2\nX\nsystemctl daemon-reload"
    ));
}

/// Has a pass begin the job, and ends it.
fn job_without_pass(rig: &Rig) {
    install(rig);
    arm(rig, WAITS);
    rig.sh("systemctl start pass.service");
    began(rig);
    rig.sh("systemctl stop pass.service");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_scoped_job_outlives_the_pass_that_began_it() {
    let rig = Rig::with_account(&[], true);
    job_without_pass(&rig);
    let cgroups = rig.sh("cat /proc/[0-9]*/cgroup | grep hermes-worker-");
    assert!(cgroups.contains("user@"), "{cgroups}");
    let_go(&rig);
    ended(&rig);
    assert_eq!(facts(&runs(&rig)[0]), SCOPE);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_degraded_job_dies_with_the_pass_that_began_it_and_the_ledger_says_so() {
    let rig = Rig::with_account(&[], false);
    job_without_pass(&rig);
    let left =
        rig.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'scripts/ok.s[h]' || true");
    assert_eq!(left, "0", "what the job started is gone");
    // The worker wrote its end itself, or the next pass does.
    rig.sh("systemctl start --wait pass.service");
    assert_eq!(
        facts(&runs(&rig)[0]),
        ["unknown", "degraded", "child", "", "gateway_restart"]
    );
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b08_where_scopes_are_required_serve_refuses_with_the_remedy_and_one_incident() {
    let rig = Rig::with_account(&[], false);
    let serve = Service::without_manager(&rig, "", 0);
    serve.configure("cron:\n  require_restart_safe_scope: true");
    arm(&rig, "echo ran");
    serve.systemctl("start").settle();
    arm(&rig, "echo ran");
    serve.minute().settle();
    let told = runs(&rig);
    assert_eq!(told.len(), 2, "each slot has its row: {told:?}");
    for run in &told {
        let error = run["error"].as_str().unwrap_or_default();
        assert_eq!(run["status"], "failed");
        assert!(
            error.contains("refused") && error.contains("linger"),
            "{error}"
        );
    }
    let slots = slots_not_run(&rig);
    let refused = slots.iter().filter(|slot| slot["outcome"] == "refused");
    assert_eq!((slots.len(), refused.count()), (2, 2), "{slots:?}");
    let open = incidents(&rig);
    assert_eq!(open.len(), 1, "{open:?}");
    serve.says(&serve.pid(), "Job a1b2c3d4e5f6 could not be started");

    // What it asks for is done, and nothing has to be restarted.
    rig.must(&["linger", "svc", "on"]);
    arm(&rig, "echo ran");
    serve.minute().settle();
    assert_eq!(facts(&runs(&rig)[0]), SCOPE);
    assert_eq!(incidents(&rig).len(), 0, "a good run resolves it");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b08_a_policy_that_cannot_be_read_counts_as_on_in_serve_too() {
    let rig = Rig::with_account(&[], false);
    let serve = Service::without_manager(&rig, "", 0);
    serve.configure("cron:\n  require_restart_safe_scope: maybe");
    arm(&rig, "echo ran");
    serve.systemctl("start").settle();
    let told = runs(&rig);
    let error = told[0]["error"].as_str().unwrap_or_default();
    assert!(
        error.contains("refused") && error.contains("config.yaml:2:"),
        "{told:?}"
    );
    assert_eq!(slots_not_run(&rig)[0]["outcome"], "refused");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b02_a_serve_of_roots_places_jobs_in_scopes_of_the_system_manager() {
    let rig = Rig::with_account(&[], false);
    // Root runs nothing out of a home of somebody else.
    rig.sh(&format!("chown -R root: {HOME}"));
    let serve = Service::of(&rig, "root", "");
    arm(&rig, WAITS);
    serve.systemctl("start");
    began(&rig);
    let pid = serve.pid();
    serve.systemctl("restart");
    serve.says(&serve.pid(), "goes on in its worker");
    let_go(&rig);
    serve.settle();
    assert_ne!(serve.pid(), pid);
    assert_eq!(
        facts(&runs(&rig)[0]),
        ["completed", "scoped", "scope", "system", ""]
    );
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn after_a_restart_of_the_system_bus_serve_places_jobs_by_the_service_mechanism() {
    let rig = Rig::with_account(&[], true);
    let serve = Service::of(&rig, "svc", "");
    arm(&rig, "echo ran");
    serve.systemctl("start").settle();
    assert_eq!(facts(&runs(&rig)[0]), SCOPE);
    let pid = serve.pid();
    rig.restart_system_bus();
    arm(&rig, WAITS);
    serve.minute();
    began(&rig);
    assert_eq!(serve.pid(), pid);
    serve.systemctl("restart");
    let_go(&rig);
    serve.settle();
    let told = runs(&rig);
    assert_eq!(told.len(), 2);
    assert_eq!(
        facts(&told[0]),
        ["completed", "scoped", "service", "user", ""]
    );
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_manager_that_falls_silent_at_a_launch_does_not_hold_up_the_job() {
    let rig = Rig::with_account(&[], true);
    let serve = Service::of(&rig, "svc", "");
    serve.systemctl("start");
    let pid = serve.pid();
    let mode = |begin: &dyn Fn()| {
        arm(&rig, "echo ran");
        begin();
        serve.settle();
        let told = runs(&rig);
        let [status, mode, ..] = facts(&told[0]);
        assert_eq!(status, "completed");
        mode.to_owned()
    };
    let pass = || _ = serve.minute();
    let by_hand = || _ = serve.by_hand();
    assert_eq!(mode(&pass), "scoped");
    rig.fault("freeze-manager");
    // It was found to answer a moment ago.
    assert_eq!(mode(&by_hand), "degraded");
    serve.says(&pid, "A worker could not be placed outside of this service");
    assert_eq!(mode(&pass), "degraded");
    rig.must(&["fault", "thaw"]);
    assert_eq!(mode(&pass), "scoped");
    assert_eq!(serve.pid(), pid);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_strict_job_is_refused_with_the_remedy_where_the_manager_falls_silent_at_its_launch() {
    let rig = Rig::with_account(&[], true);
    let serve = Service::of(&rig, "svc", "");
    serve.configure("cron:\n  require_restart_safe_scope: true");
    serve.systemctl("start");
    arm(&rig, "echo ran");
    serve.minute().settle();
    assert_eq!(facts(&runs(&rig)[0]), SCOPE);
    rig.fault("freeze-manager");
    // It was found to answer a moment ago: the worker is the first to see that it does not.
    let output = serve.asked_by_hand();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    serve.settle();
    let told = runs(&rig);
    let error = told[0]["error"].as_str().expect("an error");
    assert!(
        error.contains("refused: ") && error.contains("hermes cron doctor"),
        "{error}"
    );
    assert!(
        !error.contains("did not adopt") && !error.contains('\n'),
        "{error}"
    );
    rig.must(&["fault", "thaw"]);
    arm(&rig, "echo ran");
    serve.minute().settle();
    assert_eq!(facts(&runs(&rig)[0]), SCOPE);
}
