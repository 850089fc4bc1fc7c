//! Login sessions, and what ends with them.

use super::{HOME, Rig, report::Report};

/// A person, and no delay between the last logout and the end of the user manager.
fn person() -> Rig {
    let rig = Rig::with_account(&[], false);
    rig.must(&["add-user", "alice"]);
    rig.sh("mkdir -p /etc/systemd/logind.conf.d && \
         printf '[Login]\\nUserStopDelaySec=0\\n' >/etc/systemd/logind.conf.d/now.conf && \
         systemctl restart systemd-logind && chown -R alice: /var/lib/agent");
    rig
}

fn log_in(rig: &Rig) {
    rig.leave_running(&["--user", "alice", "--login"], &["sleep", "infinity"]);
    rig.until("test -S /run/user/$(id -u alice)/systemd/private");
}

fn log_out(rig: &Rig) {
    rig.sh("pkill -u alice sleep");
    rig.until("! systemctl list-units --plain --no-legend session-* | grep -q .");
}

/// The last logout takes the user manager along.
fn log_out_for_good(rig: &Rig) {
    log_out(rig);
    rig.until("test ! -e /run/user/$(id -u alice)");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_shell_is_no_service_by_whatever_door_it_came() {
    let rig = person();
    for door in [&[][..], &["--xdg"], &["--login"]] {
        let who = [&["--user", "alice"], door].concat();
        rig.doctor(&who, &["--shell"]).mode("in_process");
    }
    let who = ["--user", "alice", "--service"];
    rig.doctor(&who, &["--shell"])
        .mode("degraded")
        .says("HM221");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b14_a_login_session_that_holds_the_bus_is_said_and_linger_takes_its_place() {
    let rig = person();
    let look = || rig.doctor(&["--user", "alice", "--service"], &["--shell"]);
    log_in(&rig);
    let report = look();
    report.mode("scoped").says("HM224").does_not_say("HM221");
    assert_eq!(report.at("/dispatch/after_logout"), "degraded");
    log_out_for_good(&rig);
    look().mode("degraded").says("HM221");
    log_in(&rig);
    rig.cured("HM224", ["scoped", "scoped"], look);
    log_out(&rig);
    look().mode("scoped");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b13_b14_a_user_unit_without_linger_stops_at_the_last_logout() {
    let rig = person();
    log_in(&rig);
    rig.sh(
        "su alice -s /bin/sh -c 'mkdir -p ~/.config/systemd/user && cat >~/.config/systemd/user/hermes.service' <<'X'\n\
         [Service]\nEnvironment=HERMES_HOME=/var/lib/agent\nExecStart=/usr/local/bin/hermes serve --port 0\n\
         [Install]\nWantedBy=default.target\nX\n\
         su alice -s /bin/sh -c 'export XDG_RUNTIME_DIR=/run/user/$(id -u); systemctl --user daemon-reload; \
         systemctl --user enable -q --now hermes.service'",
    );
    let serving = || rig.until("test -S /var/lib/agent/run/serve.sock");
    let look = || -> Report { rig.doctor(&["--user", "alice"], &[]) };
    serving();
    let report = look();
    report
        .says("HM225")
        .mode("scoped")
        .forecast("stopped", "stopped");
    assert_eq!(report.at("/dispatch/unit"), "hermes.service");
    assert_eq!(report.exit(), Some(1), "it is a warning while it runs");
    // It comes true.
    log_out_for_good(&rig);
    let report = look();
    report.says("HM225").forecast("stopped", "stopped");
    assert_eq!(report.exit(), Some(2), "it is an error once nothing runs");
    rig.cure(&report, "HM225");
    serving();
    look()
        .mode("scoped")
        .does_not_say("HM225")
        .forecast("scoped", "scoped");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b23_a_shell_that_was_switched_without_a_login_is_told_so() {
    let rig = Rig::with_account(&[], true);
    rig.must(&["add-user", "alice"]);
    let switched = |from: &str| {
        let shell = format!(
            "echo $(id -u {from}) >/proc/self/loginuid && exec setpriv --reuid svc --clear-groups \
             hermes cron doctor --json --shell --home /var/lib/agent"
        );
        rig.doctor_by(&["sh", "-c", &shell])
    };
    let report = switched("alice");
    report.says("HM246");
    let uid = rig.sh("id -u alice");
    let summary = report.summary("HM246");
    assert!(
        summary.contains(&uid) && summary.contains("ssh, and 'machinectl shell svc@', open one")
    );
    switched("svc").does_not_say("HM246");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b34_a_serve_that_nothing_starts_again_is_replaced_by_a_unit() {
    let rig = person();
    rig.must(&["linger", "alice", "on"]);
    let by_hand = || {
        let serve = ["hermes", "serve", "--port", "0", "--home", HOME];
        rig.leave_running(&["--user", "alice", "--login"], &serve);
        rig.until("test -S /var/lib/agent/run/serve.sock");
    };
    let look = || rig.doctor(&[], &[]);
    let modes = ["in_process", "scoped"];
    // There is none: one of the account's own is written.
    by_hand();
    rig.cured("HM305", modes, look);
    assert_eq!(look().at("/dispatch/unit"), "hermes.service");
    // There is one.
    rig.sh(
        "runuser -u alice -- env XDG_RUNTIME_DIR=/run/user/$(id -u alice) \
         systemctl --user disable -q --now hermes.service && rm -r /home/alice/.config/systemd",
    );
    rig.unit("");
    rig.sh("sed -i s/User=svc/User=alice/ /etc/systemd/system/agent.service && systemctl daemon-reload");
    by_hand();
    rig.cured("HM305", modes, look);
    assert_eq!(look().at("/dispatch/unit"), "agent.service");
}
