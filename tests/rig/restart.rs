//! What the jobs of a serve outlive, and what they do not: its restart, stop and kill, the end of a
//! manager, a reboot.

use std::time::Duration;

use super::job::{WAITS, arm, began, due, ended, facts, let_go, runs};
use super::service::Service;
use super::{HOME, Rig};

const SCOPED: [&str; 5] = ["completed", "scoped", "scope", "user", ""];
const DEGRADED: [&str; 5] = ["completed", "degraded", "child", "", ""];
const TAKEN_ALONG: [&str; 5] = ["unknown", "degraded", "child", "", "gateway_restart"];

/// How serve says that it found a job which goes on.
const ADOPTS: &str = "goes on in its worker; waiting for its end";

/// A serve of the account, and its job, which runs and waits.
fn job_of_serve<'a>(rig: &'a Rig, lines: &str) -> Service<'a> {
    let serve = Service::of(rig, "svc", lines);
    arm(rig, WAITS);
    serve.systemctl("start");
    began(rig);
    serve
}

/// Lets a job end for which no serve waits.
fn ends_alone(rig: &Rig) {
    let_go(rig);
    ended(rig);
}

/// The manager has seen it stop by itself, in time.
fn stopped_well(serve: &Service<'_>) {
    let seen = [serve.show("Result"), serve.show("ExecMainStatus")];
    assert_eq!(seen, ["success", "0"]);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b112_a_scoped_job_survives_restart_and_sigkill_of_serve_and_the_next_serve_waits_for_it() {
    let rig = Rig::with_account(&[], true);
    let serve = job_of_serve(&rig, "RestartSec=0");
    let mut pid = serve.pid();
    for how in ["restart", "kill -s KILL"] {
        serve.systemctl(how);
        rig.until(&format!(
            "! systemctl show -P MainPID hermes.service | grep -qx -e 0 -e {pid}"
        ));
        pid = serve.pid();
        serve.says(&pid, ADOPTS);
        // Its next slot comes meanwhile, and is passed over.
        due(&rig);
        serve.minute();
        let text = rig.must(&["exec", "hermes", "cron", "runs", "--home", HOME]);
        assert!(text.contains("goes on without the dispatcher"), "{text}");
        assert!(text.contains("a run of it is still going on"), "{text}");
        let status = ["exec", "hermes", "cron", "status", "--json", "--home", HOME];
        let status = rig.must(&status);
        assert!(
            status.contains("goes on without the dispatcher"),
            "{status}"
        );
        assert_eq!(runs(&rig).len(), 1);
    }
    let_go(&rig);
    serve.settle();
    let told = runs(&rig);
    assert_eq!((told.len(), facts(&told[0])), (1, SCOPED));
    arm(&rig, "echo ran");
    serve.minute().settle();
    let told = runs(&rig);
    assert_eq!((told.len(), facts(&told[0])), (2, SCOPED), "and so on");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_scoped_job_survives_a_stop_of_serve_and_finishes_its_own_row() {
    let rig = Rig::with_account(&[], true);
    let serve = job_of_serve(&rig, "");
    serve.systemctl("stop");
    let cgroups = rig.sh("cat /proc/[0-9]*/cgroup | grep hermes-worker-");
    assert!(cgroups.contains("user@"), "{cgroups}");
    ends_alone(&rig);
    assert_eq!(facts(&runs(&rig)[0]), SCOPED);
    serve.systemctl("start").settle();
    assert_eq!(runs(&rig).len(), 1, "it ran, and is not run again");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_scoped_job_outlives_a_restart_of_everything_but_its_manager() {
    let rig = Rig::with_account(&[], true);
    let serve = job_of_serve(&rig, "");
    serve.systemctl("stop");
    rig.sh(
        "systemctl restart dbus && systemctl restart systemd-logind && systemctl daemon-reexec && \
         runuser -u svc -- env XDG_RUNTIME_DIR=/run/user/$(id -u svc) systemctl --user daemon-reexec",
    );
    ends_alone(&rig);
    assert_eq!(facts(&runs(&rig)[0]), SCOPED);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_user_manager_that_is_restarted_ends_the_job_and_places_the_next() {
    let rig = Rig::with_account(&[], true);
    let serve = job_of_serve(&rig, "");
    let pid = serve.pid();
    rig.sh("systemctl restart user@$(id -u svc)");
    serve.settle();
    assert_eq!(
        facts(&runs(&rig)[0]),
        ["unknown", "scoped", "scope", "user", "user_manager_stopped"]
    );
    arm(&rig, "echo ran");
    serve.minute().settle();
    assert_eq!(facts(&runs(&rig)[0]), SCOPED);
    assert_eq!(serve.pid(), pid);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn on_cgroup_version_1_a_scoped_job_outlives_serve_too() {
    let rig = Rig::with_account(&["--cgroup", "v1"], true);
    job_of_serve(&rig, "").systemctl("stop");
    ends_alone(&rig);
    assert_eq!(facts(&runs(&rig)[0]), SCOPED);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn out_of_a_hardened_unit_a_job_is_scoped() {
    let rig = Rig::with_account(&[], true);
    let hardening = format!(
        "NoNewPrivileges=yes\nPrivateTmp=yes\nProtectSystem=strict\nReadWritePaths={HOME}\n\
         ProtectControlGroups=yes\nPrivateUsers=yes\nPrivateNetwork=yes\nRestrictNamespaces=yes\n\
         SystemCallFilter=@system-service\nProtectProc=invisible\nMemoryDenyWriteExecute=yes"
    );
    job_of_serve(&rig, &hardening).systemctl("stop");
    ends_alone(&rig);
    assert_eq!(facts(&runs(&rig)[0]), SCOPED);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b08_degraded_jobs_die_with_a_restart_of_serve_and_each_life_of_it_warns_once() {
    let rig = Rig::with_account(&[], false);
    let serve = Service::without_manager(&rig, "", 0);
    let two_jobs = || {
        for _ in 0..2 {
            arm(&rig, "echo ran");
            serve.minute().settle();
            assert_eq!(facts(&runs(&rig)[0]), DEGRADED);
        }
    };
    let warned_once = |pid: &str| {
        let said = serve.says(pid, "Jobs run degraded");
        assert_eq!(said.matches("Jobs run degraded").count(), 1, "{said}");
    };
    serve.systemctl("start");
    let first = serve.pid();
    two_jobs();
    arm(&rig, WAITS);
    serve.minute();
    began(&rig);
    serve.systemctl("restart").settle();
    let left =
        rig.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'scripts/ok.s[h]' || true");
    assert_eq!(left, "0", "what the job started is gone");
    let told = runs(&rig);
    assert_eq!((told.len(), facts(&told[0])), (3, TAKEN_ALONG));
    two_jobs();
    warned_once(&first);
    warned_once(&serve.pid());
    assert_eq!(runs(&rig).len(), 5, "what was taken along is not run again");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn with_kill_mode_process_a_degraded_job_survives_a_restart_of_serve() {
    let rig = Rig::with_account(&[], false);
    let serve = Service::without_manager(&rig, "KillMode=process", 0);
    arm(&rig, WAITS);
    serve.systemctl("start");
    began(&rig);
    serve.systemctl("restart");
    serve.says(&serve.pid(), ADOPTS);
    let_go(&rig);
    serve.settle();
    let told = runs(&rig);
    assert_eq!((told.len(), facts(&told[0])), (1, DEGRADED));
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b113_a_stop_of_serve_waits_for_a_degraded_job() {
    let rig = Rig::with_account(&[], false);
    let serve = Service::without_manager(&rig, "", 60);
    arm(&rig, WAITS);
    serve.systemctl("start");
    began(&rig);
    serve.systemctl("stop --no-block");
    rig.until("systemctl show -P StatusText hermes.service | grep -qx draining");
    let_go(&rig);
    // A second one waits for the first.
    serve.systemctl("stop");
    assert_eq!(facts(&runs(&rig)[0]), DEGRADED);
    stopped_well(&serve);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b113_a_stop_of_serve_waits_for_a_degraded_job_no_longer_than_it_may() {
    let rig = Rig::with_account(&[], false);
    let serve = Service::without_manager(&rig, "", 1);
    arm(&rig, WAITS);
    serve.systemctl("start");
    began(&rig);
    let pid = serve.pid();
    serve.systemctl("stop");
    stopped_well(&serve);
    let at = |what: &str| -> Duration {
        let stamp = serve.show(&format!("{what}TimestampMonotonic"));
        Duration::from_micros(stamp.parse().expect("a number"))
    };
    let took = at("InactiveEnter").saturating_sub(at("ActiveExit"));
    let (least, most) = (Duration::from_secs(1), Duration::from_secs(10));
    assert!(took >= least && took < most, "{took:?}");
    serve.says(&pid, "Jobs that go on, or are stopped with this service: 1");
    serve.systemctl("start").settle();
    let told = runs(&rig);
    assert_eq!((told.len(), facts(&told[0])), (1, TAKEN_ALONG));
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_reboot_in_the_middle_of_a_job_is_called_one_and_serve_goes_on() {
    let rig = Rig::with_account(&[], true);
    let serve = job_of_serve(&rig, "");
    rig.must(&["reboot"]);
    serve.settle();
    let told = runs(&rig);
    assert_eq!(
        (told.len(), facts(&told[0])),
        (1, ["unknown", "scoped", "scope", "user", "reboot"])
    );
    arm(&rig, "echo ran");
    serve.minute().settle();
    let told = runs(&rig);
    assert_eq!((told.len(), facts(&told[0])), (2, SCOPED));
}
