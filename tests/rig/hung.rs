//! Hosts on which something hangs: whatever it is, the answer comes, and names it.

use super::Rig;

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_hung_logind_does_not_stand_in_the_way() {
    let rig = Rig::with_account(&[], true);
    rig.fault("freeze-logind");
    rig.doctor_in_unit().mode("scoped").says("HM105");
    rig.fault("thaw");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_hung_system_bus_is_named() {
    let rig = Rig::with_account(&[], true);
    rig.fault("freeze-dbus");
    let report = rig.doctor(&["--user", "svc", "--xdg"], &["--shell"]);
    report.mode("in_process").says("HM103");
    rig.fault("thaw");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_hung_bus_daemon_alone_leaves_the_private_door() {
    let rig = Rig::with_account(&[], true);
    rig.fault("freeze-bus");
    rig.doctor_in_service(&[]).mode("scoped");
    rig.fault("thaw");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn protect_home_tmpfs_hides_the_way_as_well() {
    let rig = Rig::with_account(&[], true);
    rig.sh(
        "printf '[Service]\\nUser=svc\\nEnvironment=HERMES_HOME=/var/lib/agent\\nProtectHome=tmpfs\\n\
         ExecStart=/usr/local/bin/hermes serve\\n' >/etc/systemd/system/agent.service; systemctl daemon-reload",
    );
    rig.doctor(&[], &["--unit", "agent.service"])
        .mode("degraded")
        .says("HM307");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn root_with_the_directory_of_a_user_is_not_taken_in() {
    let rig = Rig::with_account(&[], true);
    let uid = rig.sh("id -u svc");
    let variable = format!("XDG_RUNTIME_DIR=/run/user/{uid}");
    rig.doctor(&["--service", "-E", &variable], &["--shell"])
        .mode("scoped")
        .says("HM319");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn the_directory_of_another_user_is_not_taken_in() {
    let rig = Rig::with_account(&[], true);
    rig.must(&["add-user", "other", "--system", "--linger"]);
    let uid = rig.sh("id -u other");
    let variable = format!("XDG_RUNTIME_DIR=/run/user/{uid}");
    rig.doctor_in_service(&["-E", &variable])
        .mode("scoped")
        .says("HM241");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_serve_in_a_unit_is_judged_as_what_it_is() {
    let rig = Rig::with_account(&[], true);
    rig.sh(
        "printf '[Service]\\nUser=svc\\nEnvironment=HERMES_HOME=/var/lib/agent\\n\
         ExecStart=/usr/local/bin/hermes serve --port 0\\nRestart=always\\n[Install]\\nWantedBy=multi-user.target\\n' \
         >/etc/systemd/system/agent.service; systemctl daemon-reload; systemctl enable -q --now agent.service; \
         timeout 30 sh -c 'until test -S /var/lib/agent/run/serve.sock; do :; done'",
    );
    let report = rig.doctor(&[], &[]);
    report.mode("scoped");
    assert_eq!(report.at("/dispatch/viewpoint"), "serve");
    assert_eq!(report.at("/dispatch/unit"), "agent.service");
    let stranger = rig.doctor(&["--user", "svc"], &[]);
    stranger.mode("scoped");
}
