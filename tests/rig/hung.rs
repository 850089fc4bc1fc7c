//! Hosts on which something hangs: whatever it is, the answer comes, and names it.

use super::Rig;

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_hung_logind_does_not_stand_in_the_way() {
    let rig = Rig::with_account(&[], true);
    rig.fault("freeze-logind");
    rig.cured("HM105", ["scoped", "scoped"], || rig.doctor_in_unit());
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_hung_system_bus_is_named_and_brought_back() {
    let rig = Rig::with_account(&[], true);
    rig.unit("");
    rig.fault("freeze-dbus");
    let look = || rig.doctor_of_unit();
    assert_eq!(look().at("/dispatch/cron/mechanism"), "service");
    rig.cured("HM103", ["scoped", "scoped"], look);
    // The bus is another one now, and the manager that runs has lost it.
    rig.cured("HM208", ["scoped", "scoped"], look);
    assert_eq!(look().at("/dispatch/cron/mechanism"), "scope");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_hung_init_is_named_and_let_go_on() {
    let rig = Rig::with_account(&[], true);
    rig.unit("");
    rig.sh("systemctl start agent.service");
    rig.until("test -S /var/lib/agent/run/serve.sock");
    rig.fault("freeze-pid1");
    let look = || rig.doctor_of_unit();
    assert_eq!(look().at("/dispatch/cron/mechanism"), "service");
    rig.doctor(&["--user", "svc"], &["--shell"]).says("HM104");
    rig.cured("HM104", ["scoped", "scoped"], look);
    assert_eq!(look().at("/dispatch/cron/mechanism"), "scope");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_frozen_manager_is_mute_until_it_is_restarted() {
    let rig = Rig::with_account(&[], true);
    rig.fault("freeze-manager");
    rig.cured("HM204", ["degraded", "scoped"], || {
        rig.doctor_in_service(&[])
    });
}
