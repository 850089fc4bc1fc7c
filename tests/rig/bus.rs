//! The doors to the user manager: stale, mute, foreign, open to all, half open, and without a system bus
//! behind them.

use super::Rig;

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn stale_sockets_are_told_from_absent_ones() {
    let rig = Rig::with_account(&[], true);
    rig.fault("stale-all");
    let report = rig.doctor_in_service(&[]);
    report.mode("degraded").says("HM203").does_not_say("HM221");
    rig.mend(&report, "HM203");
    rig.doctor_in_service(&[])
        .mode("scoped")
        .does_not_say("HM203");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_stale_bus_without_a_private_door_is_stale_too() {
    let rig = Rig::with_account(&[], true);
    rig.fault("stale-bus");
    rig.doctor_in_service(&[])
        .mode("degraded")
        .says("HM203")
        .does_not_say("HM221");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_mute_manager_is_found_out_within_the_deadline() {
    let rig = Rig::with_account(&[], true);
    rig.fault("hung-all");
    let report = rig.doctor_in_service(&[]);
    report.mode("degraded").says("HM204");
    rig.mend(&report, "HM204");
    rig.doctor_in_service(&[])
        .mode("scoped")
        .does_not_say("HM204");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_frozen_manager_is_mute_and_a_frozen_bus_daemon_is_not() {
    let rig = Rig::with_account(&[], true);
    rig.fault("freeze-bus");
    rig.doctor_in_service(&[]).mode("scoped");
    rig.fault("thaw");
    rig.fault("freeze-manager");
    rig.doctor_in_service(&[]).mode("degraded").says("HM204");
    rig.fault("thaw");
    rig.doctor_in_service(&[]).mode("scoped");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_system_bus_that_was_restarted_under_the_user_manager_is_seen_and_mended() {
    let rig = Rig::with_account(&[], true);
    rig.sh("systemctl restart dbus");
    let report = rig.doctor_in_service(&[]);
    report.mode("scoped").says("HM208");
    rig.mend(&report, "HM208");
    rig.doctor_in_service(&[])
        .mode("scoped")
        .does_not_say("HM208");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b09_a_runtime_directory_of_somebody_else_is_named_and_not_used() {
    let rig = Rig::with_account(&[], true);
    let report = rig.doctor_in_service(&["-E", "XDG_RUNTIME_DIR=/run/user/0"]);
    report.mode("scoped");
    rig.sh("mkdir -p /run/foreign && chmod 755 /run/foreign");
    let report = rig.doctor_in_service(&["-E", "XDG_RUNTIME_DIR=/run/foreign"]);
    report.mode("scoped").says("HM241");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_runtime_directory_that_others_may_write_into_is_not_used() {
    let rig = Rig::with_account(&[], true);
    rig.sh("mkdir -p /run/open && chown svc: /run/open && chmod 777 /run/open");
    let report = rig.doctor_in_service(&["-E", "XDG_RUNTIME_DIR=/run/open"]);
    report.mode("scoped").says("HM242");
    rig.sh("chmod 777 /run/user/$(id -u svc)");
    let report = rig.doctor_in_service(&[]);
    report.says("HM242").mode("degraded");
    rig.mend(&report, "HM242");
    rig.doctor_in_service(&[])
        .mode("scoped")
        .does_not_say("HM242");
}
