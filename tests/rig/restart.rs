//! What a job that runs in a scope outlives, and what it does not.

use super::cron::{FACTS, WAITS, arm, began, begin, install, let_go, pass, rows};
use super::{HOME, Rig};

/// Has a job begin, and ends its dispatcher.
fn job_without_dispatcher(rig: &Rig) {
    arm(rig, WAITS);
    rig.sh("systemctl start pass.service");
    began(rig);
    rig.sh("systemctl stop pass.service");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_scoped_job_outlives_a_restart_of_everything_but_its_manager() {
    let rig = Rig::with_account(&[], true);
    install(&rig, "svc", "");
    job_without_dispatcher(&rig);
    rig.sh(
        "systemctl restart dbus && systemctl restart systemd-logind && systemctl daemon-reexec && \
         runuser -u svc -- env XDG_RUNTIME_DIR=/run/user/$(id -u svc) systemctl --user daemon-reexec",
    );
    let_go(&rig, "ok");
    assert_eq!(
        rows(&rig, FACTS)[0][..4],
        ["completed", "scoped", "scope", "user"]
    );
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_user_manager_that_is_restarted_ends_the_job_and_places_the_next() {
    let rig = Rig::with_account(&[], true);
    install(&rig, "svc", "");
    begin(&rig);
    rig.sh("systemctl restart user@$(id -u svc)");
    rig.sh("while systemctl is-active -q pass.service; do :; done");
    let row = &rows(&rig, FACTS)[0];
    assert_eq!(
        (row[0].as_str(), row[1].as_str(), row[4].as_str()),
        ("unknown", "scoped", "user_manager_stopped")
    );
    arm(&rig, "echo ran");
    pass(&rig);
    assert_eq!(
        rows(&rig, FACTS)[0][..4],
        ["completed", "scoped", "scope", "user"]
    );
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn on_cgroup_version_1_a_scoped_job_outlives_its_dispatcher_too() {
    let rig = Rig::with_account(&["--cgroup", "v1"], true);
    install(&rig, "svc", "");
    job_without_dispatcher(&rig);
    let_go(&rig, "ok");
    assert_eq!(rows(&rig, FACTS)[0][..3], ["completed", "scoped", "scope"]);
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
    install(&rig, "svc", &hardening);
    job_without_dispatcher(&rig);
    let_go(&rig, "ok");
    assert_eq!(rows(&rig, FACTS)[0][..3], ["completed", "scoped", "scope"]);
}
