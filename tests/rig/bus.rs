//! The doors to the user manager: stale, mute, foreign, open to all, half open, and without a system bus
//! behind them.

use super::cure::every_cure;
use super::{HOME, Rig};

const CURED: [&str; 2] = ["degraded", "scoped"];

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn stale_sockets_are_told_from_absent_ones() {
    let rig = Rig::with_account(&[], true);
    let look = || rig.doctor_in_service(&[]);
    for kind in ["stale-bus", "stale-all"] {
        rig.fault(kind);
        look().does_not_say("HM221").does_not_say("HM201");
        rig.cured("HM203", CURED, look);
    }
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_mute_manager_is_found_out_within_the_deadline() {
    let rig = Rig::with_account(&[], true);
    let look = || rig.doctor_in_service(&[]);
    for kind in ["hung-bus", "hung-all"] {
        rig.fault(kind);
        rig.cured("HM204", CURED, look);
    }
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b15_a_directory_without_sockets_is_a_manager_that_does_not_run() {
    let empty = || {
        let rig = Rig::with_account(&[], false);
        rig.fault("no-bus");
        rig
    };
    // As WSL leaves it: the variable is right, the directory is there, nobody ever logged in.
    let look = |rig: &Rig| {
        let named = format!("XDG_RUNTIME_DIR=/run/user/{}", rig.sh("id -u svc"));
        let report = rig.doctor_in_service(&["-E", &named]);
        report.does_not_say("HM245").does_not_say("HM203");
        report
    };
    every_cure("HM201", CURED, empty, look);
    every_cure("HM221", CURED, empty, look);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b15_with_linger_on_the_directory_without_sockets_is_restarted() {
    let rig = Rig::with_account(&[], true);
    rig.fault("no-bus");
    let look = || rig.doctor_in_service(&[]);
    look().does_not_say("HM221").does_not_say("HM203");
    rig.cured("HM201", CURED, look);
}

/// Waits until somebody listens at the bus: the file is there a moment before.
fn listens(rig: &Rig) {
    rig.until("grep -q \"00010000 .* /run/user/$(id -u svc)/bus\" /proc/net/unix");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_message_bus_without_a_manager_is_no_manager() {
    let rig = Rig::with_account(&[], true);
    rig.fault("no-bus");
    rig.sh(
        "uid=$(id -u svc); systemd-run -q --unit=lone-bus -p User=svc dbus-daemon --session --nofork \
         --address=unix:path=/run/user/$uid/bus",
    );
    listens(&rig);
    rig.cured("HM206", CURED, || rig.doctor_in_service(&[]));
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_bus_daemon_that_hangs_or_is_gone_leaves_the_private_door() {
    let rig = Rig::with_account(&[], true);
    let look = || rig.doctor_in_service(&[]);
    rig.fault("freeze-bus");
    rig.cured("HM209", ["scoped", "scoped"], look);
    rig.sh("rm /run/user/$(id -u svc)/bus");
    look().mode("scoped").does_not_say("HM201");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_system_bus_that_was_restarted_under_the_user_manager_is_seen_and_mended() {
    let rig = Rig::with_account(&[], true);
    rig.restart_system_bus();
    let look = || rig.doctor_in_service(&[]);
    assert_eq!(look().at("/dispatch/cron/mechanism"), "service");
    rig.cured("HM208", ["scoped", "scoped"], look);
    assert_eq!(look().at("/dispatch/cron/mechanism"), "scope");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b09_a_runtime_directory_of_somebody_else_is_named_and_not_used() {
    let rig = Rig::with_account(&[], true);
    rig.must(&["add-user", "other", "--system", "--linger"]);
    let uid = rig.sh("id -u other");
    rig.sh("mkdir -p /run/user/0 /run/foreign && chmod 700 /run/user/0 && chmod 755 /run/foreign");
    // In a unit the wrong one is replaced; the remedy is run.
    rig.unit("Environment=XDG_RUNTIME_DIR=/run/foreign");
    rig.sh("systemctl start agent.service");
    rig.until("test -S /var/lib/agent/run/serve.sock");
    rig.cured("HM241", ["scoped", "scoped"], || rig.doctor_of_unit());
    // A shell is asked again.
    for directory in [&format!("/run/user/{uid}"), "/run/user/0", "/run/foreign"] {
        let named = format!("XDG_RUNTIME_DIR={directory}");
        let report = rig.doctor_in_service(&["-E", &named]);
        report.mode("scoped").says("HM241");
        assert!(report.summary("HM241").contains(directory));
        rig.cure(&report, "HM241");
    }
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b20_the_own_directory_that_somebody_else_was_given_is_given_back() {
    let rig = Rig::with_account(&[], true);
    rig.sh("chown nobody /run/user/$(id -u svc)");
    let look = || rig.doctor_in_service(&[]);
    assert!(look().summary("HM241").contains("uid 65534"));
    rig.cured("HM241", CURED, look);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_runtime_directory_that_others_may_write_into_is_not_used() {
    let rig = Rig::with_account(&[], true);
    rig.must(&["add-user", "other", "--system", "--linger"]);
    // With a socket in it that leads to another account's manager.
    rig.sh(
        "mkdir -p /run/open/systemd && chown svc: /run/open && chmod 777 /run/open && \
         ln -s /run/user/$(id -u other)/bus /run/open/bus && \
         ln -s /run/user/$(id -u other)/systemd/private /run/open/systemd/private",
    );
    let open = ["-E", "XDG_RUNTIME_DIR=/run/open"];
    rig.cured("HM242", ["scoped", "scoped"], || {
        rig.doctor_in_service(&open)
    });
    rig.sh("chmod 777 /run/user/$(id -u svc)");
    rig.cured("HM242", CURED, || rig.doctor_in_service(&[]));
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b19_a_socket_that_may_not_be_used_says_nothing_of_the_manager() {
    let rig = Rig::with_account(&[], true);
    rig.sh("chmod 000 /run/user/$(id -u svc)/systemd/private /run/user/$(id -u svc)/bus");
    let look = || rig.doctor_in_service(&[]);
    look().does_not_say("HM201").does_not_say("HM221");
    rig.cured("HM207", ["scoped", "scoped"], look);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_manager_that_answers_outranks_a_directory_that_is_named() {
    let rig = Rig::with_account(&[], true);
    rig.sh("install -d -o svc -m 0700 /tmp/xr");
    let report = rig.doctor_in_service(&["-E", "XDG_RUNTIME_DIR=/tmp/xr"]);
    report.mode("scoped").says("HM247").does_not_say("HM201");
    rig.cure(&report, "HM247");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_runtime_directory_that_is_none_is_not_used() {
    let rig = Rig::with_account(&[], true);
    rig.sh("ln -s /run/user/$(id -u svc) /run/link");
    let named = "XDG_RUNTIME_DIR=/run/link";
    rig.unit(&format!("Environment={named}"));
    rig.sh("systemctl start agent.service");
    rig.until(&format!("test -S {HOME}/run/serve.sock"));
    rig.cured("HM244", ["scoped", "scoped"], || rig.doctor_of_unit());
    let report = rig.doctor_in_service(&["-E", named]);
    report.mode("scoped").says("HM244");
    rig.cure(&report, "HM244");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_door_that_hangs_up_is_made_anew() {
    let rig = Rig::with_account(&[], true);
    rig.fault("no-bus");
    rig.sh(
        "uid=$(id -u svc); systemd-run -q --unit=hangs-up -p User=svc perl -MIO::Socket::UNIX -e \
         'my $s = IO::Socket::UNIX->new(Local => shift, Listen => 9); while (my $c = $s->accept) { close $c }' \
         /run/user/$uid/bus",
    );
    listens(&rig);
    rig.cured("HM205", CURED, || rig.doctor_in_service(&[]));
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_private_door_that_is_closed_leaves_the_bus() {
    let rig = Rig::with_account(&[], true);
    rig.sh(
        "cd /run/user/$(id -u svc)/systemd && rm private && touch private && chown svc: private",
    );
    rig.cured("HM209", ["scoped", "scoped"], || rig.doctor_in_service(&[]));
}
