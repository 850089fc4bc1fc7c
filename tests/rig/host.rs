//! Hosts of every kind: without a systemd, without a bus, in a chroot, on the old cgroups, after a boot.

use serde_json::Value;

use super::cure::every_cure;
use super::{HOME, Rig};

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn without_any_systemd_jobs_run_in_process() {
    let rig = Rig::with_account(&["--mode", "bare"], false);
    // systemd-run is the other program's need, not ours.
    rig.sh("rm -f /usr/bin/systemd-run");
    let report = rig.doctor(&["--user", "svc"], &["--shell"]);
    report.mode("in_process").says("HM101");
    report.does_not_say("HM102").does_not_say("HM103");
    assert_eq!(report.at("/dispatch/long_lived/mode"), "in_process");
    assert!(report.exit().is_some_and(|code| code <= 3));
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn logind_masked_is_unmasked_and_then_linger_is_the_next_step() {
    let masked = || Rig::with_account(&["--no-logind"], false);
    let look = |rig: &Rig| rig.doctor_in_service(&[]);
    // Where logind has no part in it, a manager that is started by hand serves until the next boot.
    every_cure("HM105", ["degraded", "degraded"], masked, look);
    let rig = masked();
    let report = look(&rig);
    assert!(report.says("HM105").summary("HM105").contains("masked"));
    if !rig.logind_leads() {
        rig.sh("systemctl start user@$(id -u svc)");
        look(&rig).mode("scoped").says("HM105").says("HM224");
    }
    rig.cure(&look(&rig), "HM105");
    look(&rig).does_not_say("HM105");
    rig.cure(&look(&rig), "HM221");
    look(&rig).mode("scoped").does_not_say("HM221");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn without_linger_a_restart_can_be_told_to_leave_jobs_alone() {
    let degraded = || {
        let rig = Rig::with_account(&[], false);
        rig.unit("");
        rig.sh("systemctl start agent.service");
        rig.until(&format!("test -S {HOME}/run/serve.sock"));
        rig
    };
    every_cure(
        "HM221",
        ["degraded", "scoped"],
        degraded,
        Rig::doctor_of_unit,
    );
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn without_a_system_bus_the_doctor_still_answers_and_leads_all_the_way() {
    let rig = Rig::with_account(&["--no-dbus"], false);
    let look = || rig.doctor_in_unit();
    rig.cured("HM103", ["degraded", "degraded"], look);
    // The rig masks logind with the bus.
    rig.cured("HM105", ["degraded", "degraded"], look);
    rig.cured("HM221", ["degraded", "scoped"], look);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_user_manager_whose_system_bus_is_gone_starts_services() {
    let rig = Rig::with_account(&[], true);
    rig.sh("systemctl mask -q --now dbus.socket dbus.service");
    let look = || rig.doctor_in_unit();
    assert_eq!(look().at("/dispatch/cron/mechanism"), "service");
    rig.cured("HM103", ["scoped", "scoped"], look);
    rig.cured("HM208", ["scoped", "scoped"], look);
    assert_eq!(look().at("/dispatch/cron/mechanism"), "scope");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_chroot_is_called_one_with_or_without_proc_and_is_none_once_run_is_there() {
    let rig = Rig::with_account(&[], true);
    rig.sh(
        "mkdir -p /srv/ch && mount --bind / /srv/ch && touch /srv/ch/usr/local/bin/hermes && \
         mount --bind /usr/local/bin/hermes /srv/ch/usr/local/bin/hermes",
    );
    let look = || {
        let doctor = "exec chroot --userspec=svc /srv/ch hermes cron doctor --json --shell \
                      --home /var/lib/agent";
        rig.doctor_by(&["sh", "-c", doctor])
    };
    look()
        .mode("in_process")
        .says("HM102")
        .does_not_say("HM101");
    rig.sh("mount -t proc proc /srv/ch/proc");
    look()
        .mode("in_process")
        .says("HM102")
        .does_not_say("HM101");
    // What the explanation of the code asks for.
    rig.sh("mount --rbind /run /srv/ch/run");
    look().does_not_say("HM102").does_not_say("HM101");
    // And this machine is none.
    rig.doctor(&[], &["--shell"]).does_not_say("HM102");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn cgroup_version_1_is_read_by_its_systemd_line() {
    let rig = Rig::with_account(&["--cgroup", "v1"], true);
    rig.doctor_in_service(&[]).mode("scoped").says("HM106");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn what_is_forecast_of_a_reboot_comes_true() {
    let rig = Rig::with_account(&[], false);
    rig.unit("");
    rig.sh("systemctl start agent.service");
    let serving = |mode: &str| {
        rig.until("test -S /var/lib/agent/run/serve.sock");
        let report = rig.doctor_of_unit();
        report.mode(mode).forecast(mode, mode);
        assert_eq!(report.at("/dispatch/unit"), "agent.service");
        assert_ne!(report.at("/dispatch/pid"), &Value::Null, "it runs");
    };
    serving("degraded");
    rig.must(&["reboot"]);
    serving("degraded");
    rig.must(&["linger", "svc", "on"]);
    serving("scoped");
    rig.must(&["reboot"]);
    serving("scoped");
}
