//! Hermes Agent as the dispatcher: what its versions need, and what the doctor says of it.

use super::{HOME, Rig};

/// A stand-in with the command line and the files by which it is known; it dispatches nothing. It is restarted
/// more often than the limit of starts lets a unit be.
fn gateway(rig: &Rig, version: &str, lines: &str) {
    rig.sh(&format!(
        "root=/opt/agent; rm -rf $root; mkdir -p $root/bin; ln -s /usr/bin/perl $root/bin/python3; \
         mkdir -p $root/lib/python3.11/site-packages/hermes_agent-{version}.dist-info; \
         echo 'sleep' >$root/bin/hermes; \
         cat >/etc/systemd/system/agent.service <<'X'\n[Unit]\nStartLimitIntervalSec=0\n[Service]\nUser=svc\nEnvironment=HERMES_HOME={HOME}\n{lines}\n\
         ExecStart=/opt/agent/bin/python3 /opt/agent/bin/hermes gateway run\n[Install]\nWantedBy=multi-user.target\nX\n\
         rm -rf /etc/systemd/system/agent.service.d; systemctl daemon-reload; \
         systemctl enable -q agent.service; systemctl restart agent.service"
    ));
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b03_a_unit_with_and_without_the_variables() {
    let rig = Rig::with_account(&[], true);
    let look = || rig.doctor_of_unit();
    gateway(&rig, "0.21.2", "");
    let report = look();
    report.says("HM304");
    assert_eq!(report.at("/dispatch/program"), "hermes-agent");
    assert_eq!(report.at("/dispatch/version"), "0.21.2");
    rig.cured("HM245", ["refused", "scoped"], look);
    // The unit names them, and has not been started since.
    gateway(&rig, "0.21.2", "");
    rig.sh(
        "mkdir -p /etc/systemd/system/agent.service.d && printf '[Service]\\nEnvironment=XDG_RUNTIME_DIR=%s\\n' \
         /run/user/$(id -u svc) >/etc/systemd/system/agent.service.d/x.conf && systemctl daemon-reload",
    );
    rig.cured("HM245", ["refused", "scoped"], look);

    let uid = rig.sh("id -u svc");
    gateway(
        &rig,
        "0.21.2",
        &format!("Environment=XDG_RUNTIME_DIR=/run/user/{uid}"),
    );
    look()
        .mode("scoped")
        .does_not_say("HM245")
        .does_not_say("HM304");

    gateway(&rig, "0.22.2", "");
    look().mode("scoped").does_not_say("HM245");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b01_without_linger_old_versions_launch_nothing_and_later_ones_run_degraded() {
    let rig = Rig::with_account(&[], false);
    gateway(&rig, "0.22.2", "");
    rig.doctor_of_unit()
        .mode("degraded")
        .says("HM221")
        .does_not_say("HM304");
    gateway(&rig, "0.21.2", "");
    let report = rig.doctor_of_unit();
    report
        .mode("refused")
        .says("HM221")
        .says("HM304")
        .says("HM245");
    // Linger and variables: both are printed, and both are done.
    rig.cured("HM221", ["refused", "scoped"], || rig.doctor_of_unit());
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn it_insists_on_a_socket_named_bus_and_on_systemd_run() {
    let rig = Rig::with_account(&[], true);
    let look = || rig.doctor_of_unit();
    gateway(&rig, "0.22.2", "");
    rig.restart_system_bus();
    rig.cured("HM208", ["degraded", "scoped"], look);
    rig.sh("rm /run/user/$(id -u svc)/bus");
    rig.cured("HM209", ["degraded", "scoped"], look);
    gateway(&rig, "0.22.2", "Environment=PATH=/nowhere");
    rig.cured("HM317", ["degraded", "scoped"], look);
    rig.sh("rm /usr/bin/systemd-run");
    look().mode("degraded").says("HM317");
}
