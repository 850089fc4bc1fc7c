//! Linger: on, off, half on, forgotten, and what follows from it.

use super::Rig;

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b08_a_service_account_without_linger_runs_degraded_and_the_remedy_makes_it_scoped() {
    let rig = Rig::with_account(&[], false);
    let report = rig.doctor_in_service(&[]);
    report.mode("degraded").says("HM221");
    assert_eq!(report.at("/dispatch/long_lived/mode"), "refused");
    assert_eq!(report.at("/dispatch/flips_to/mode"), "scoped");
    rig.mend(&report, "HM221");
    rig.doctor_in_service(&[])
        .mode("scoped")
        .does_not_say("HM221");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b03_with_linger_the_variables_do_not_matter_to_us() {
    let rig = Rig::with_account(&[], true);
    rig.doctor_in_service(&[])
        .mode("scoped")
        .does_not_say("HM245");
    let with = rig.doctor_in_service(&["-E", "XDG_RUNTIME_DIR=/run/user/999"]);
    with.mode("scoped");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b21_a_marker_that_logind_has_not_noticed_is_said() {
    let rig = Rig::with_account(&[], false);
    rig.sh("mkdir -p /var/lib/systemd/linger && touch /var/lib/systemd/linger/svc");
    let report = rig.doctor_in_service(&[]);
    report.mode("degraded").says("HM222");
    rig.mend(&report, "HM222");
    // logind has linger before the manager has its socket.
    rig.sh("timeout 30 sh -c 'until test -S /run/user/'$(id -u svc)'/systemd/private; do :; done'");
    rig.doctor_in_service(&[])
        .mode("scoped")
        .does_not_say("HM222");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b24_a_masked_user_manager_is_not_answered_with_linger() {
    let rig = Rig::with_account(&[], true);
    rig.sh("uid=$(id -u svc); systemctl stop user@$uid; systemctl mask user@$uid");
    let report = rig.doctor_in_service(&[]);
    report.mode("degraded").says("HM202").does_not_say("HM221");
    rig.mend(&report, "HM202");
    rig.doctor_in_service(&[]).mode("scoped");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b24_a_user_manager_that_was_killed_is_brought_back() {
    let rig = Rig::with_account(&[], true);
    rig.sh("uid=$(id -u svc); systemctl kill -s KILL user@$uid; \
            until systemctl is-failed -q user@$uid; do :; done");
    let report = rig.doctor_in_service(&[]);
    report.mode("degraded").does_not_say("HM221");
    let code = if report.finding("HM202").is_some() {
        "HM202"
    } else {
        "HM222"
    };
    rig.mend(&report, code);
    rig.doctor_in_service(&[]).mode("scoped");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b14_a_login_session_that_holds_the_bus_is_said() {
    let rig = Rig::with_account(&[], false);
    rig.must(&["add-user", "alice"]);
    rig.sh("chown -R alice: /var/lib/agent");
    let report = rig.doctor(&["--user", "alice", "--login"], &["--shell"]);
    // A login session is no supervision, and it is what keeps the user manager.
    report.mode("in_process");
    assert_ne!(report.at("/dispatch/after_logout"), "scoped");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b07_a_bus_that_appears_later_is_found_by_the_next_look() {
    let rig = Rig::with_account(&[], false);
    rig.doctor_in_service(&[]).mode("degraded");
    rig.must(&["linger", "svc", "on"]);
    rig.doctor_in_service(&[]).mode("scoped");
    rig.must(&["linger", "svc", "off"]);
    rig.doctor_in_service(&[]).mode("degraded");
}
