//! Linger: on, off, half on, forgotten, and what follows from it.

use super::cure::every_cure;
use super::job::{WAITS, arm, began, facts, runs};
use super::service::Service;
use super::{HOME, Rig, report::Report};

const CURED: [&str; 2] = ["degraded", "scoped"];

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b08_a_service_account_without_linger_runs_degraded_and_the_remedy_makes_it_scoped() {
    let rig = Rig::with_account(&[], false);
    let look = || rig.doctor_in_service(&[]);
    let report = look();
    assert_eq!(report.at("/dispatch/long_lived/mode"), "refused");
    assert_eq!(report.at("/dispatch/flips_to/mode"), "scoped");
    // The directory is named and absent: for this row of the table it is the same.
    let uid = rig.sh("id -u svc");
    let named = format!("XDG_RUNTIME_DIR=/run/user/{uid}");
    rig.doctor_in_service(&["-E", &named])
        .mode("degraded")
        .says("HM221");
    rig.cured("HM221", CURED, look);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b03_with_linger_the_variables_do_not_matter_to_us() {
    let rig = Rig::with_account(&[], true);
    rig.doctor_in_service(&[])
        .mode("scoped")
        .does_not_say("HM221")
        .does_not_say("HM245");
    let uid = rig.sh("id -u svc");
    let named = format!("XDG_RUNTIME_DIR=/run/user/{uid}");
    rig.doctor_in_service(&["-E", &named]).mode("scoped");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b21_a_marker_that_logind_has_not_noticed_is_said() {
    let forgotten = || {
        let rig = Rig::with_account(&[], false);
        rig.sh("mkdir -p /var/lib/systemd/linger && touch /var/lib/systemd/linger/svc");
        rig
    };
    every_cure("HM222", CURED, forgotten, |rig| rig.doctor_in_service(&[]));
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_marker_that_was_removed_behind_logind_s_back_is_made_anew() {
    let rig = Rig::with_account(&[], true);
    rig.sh("rm /var/lib/systemd/linger/svc");
    // logind looks at the marker whenever it is asked, so that the two never disagree.
    let look = || rig.doctor_in_service(&[]);
    look().does_not_say("HM223");
    rig.cured("HM224", ["scoped", "scoped"], look);
}

/// What the doctor says of who may set linger, and whether it prints `sudo` for that.
fn right(report: &Report) -> (String, bool) {
    let finding = report.says("HM221").finding("HM221").expect("it");
    let mut seen = finding["evidence"].as_array().into_iter().flatten();
    let right = seen.find(|seen| seen["kind"] == "right").expect("who may");
    let right = right["observed"].as_str().unwrap_or_default().to_owned();
    (right, finding["remedies"][0]["needs"] == "root")
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b21_polkit_is_asked_who_may_set_linger_and_is_not_started_for_that() {
    let rig = Rig::with_account(&[], false);
    let look = || rig.doctor_in_service(&[]);
    let service = "/usr/share/dbus-1/system-services/org.freedesktop.PolicyKit1.service";
    if rig.sh(&format!("test -e {service} || echo none")) == "none" {
        let alone = "only root may set it: there is no polkit".to_owned();
        assert_eq!(right(&look()), (alone, true));
        rig.cured("HM221", CURED, look);
        return;
    }
    let (told, sudo) = right(&look());
    assert!(
        told.contains("does not run and is not started") && sudo,
        "{told}"
    );
    rig.sh("! systemctl is-active -q polkit");
    let rule = "/etc/polkit-1/rules.d/10-linger.rules";
    for (result, wanted) in [
        ("NO", "only root"),
        ("AUTH_ADMIN", "root may set it, and svc with a pass"),
    ] {
        rig.sh(&format!(
            "mkdir -p /etc/polkit-1/rules.d; echo 'polkit.addRule(function(action) {{ \
             if (action.id.endsWith(\"set-self-linger\")) return polkit.Result.{result}; }});' >{rule}; \
             systemctl restart polkit"
        ));
        let (told, sudo) = right(&look());
        assert!(told.starts_with(wanted) && sudo, "{told}");
    }
    rig.sh(&format!("rm {rule}; systemctl restart polkit"));
    let (told, sudo) = right(&look());
    assert!(told.starts_with("svc may set it: polkit allows"), "{told}");
    // The account itself does what is printed.
    assert!(!sudo, "{told}");
    rig.cured("HM221", CURED, look);
}

/// Hermes Agent's gateway as far as B17 goes: it writes down each of its starts.
const GATEWAY: &str = r#"open(my $f, ">>", "$ENV{HERMES_HOME}/gateway-starts.log"); print $f time, "\n"; close $f; sleep"#;

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b17_a_user_manager_that_is_restarted_again_and_again_is_said() {
    // A host that booted in the last ten minutes starts everything anew, and that is no sign.
    let rig = Rig::with_account(&["--booted-ago", "3600"], true);
    rig.sh(&format!(
        "root=/opt/agent; mkdir -p $root/bin $root/lib/python3.11/site-packages/hermes_agent-0.22.2.dist-info; \
         ln -s /usr/bin/perl $root/bin/python3; printf '%s' '{GATEWAY}' >$root/bin/hermes; \
         units=$(getent passwd svc | cut -d: -f6)/.config/systemd/user; mkdir -p $units; \
         cat >$units/agent.service <<'X'\n[Service]\nEnvironment=HERMES_HOME={HOME}\n\
         ExecStart=/opt/agent/bin/python3 /opt/agent/bin/hermes gateway run\n\
         [Install]\nWantedBy=default.target\nX\n\
         chown -R svc: ${{units%/.config/*}}; \
         runuser -u svc -- env XDG_RUNTIME_DIR=/run/user/$(id -u svc) systemctl --user daemon-reload; \
         runuser -u svc -- env XDG_RUNTIME_DIR=/run/user/$(id -u svc) systemctl --user enable -q --now agent.service"
    ));
    let starts = |number: usize| {
        rig.until(&format!(
            "test $(cat {HOME}/gateway-starts.log | wc -l) -eq {number}"
        ));
    };
    let look = || rig.doctor(&["--user", "svc"], &[]);
    for number in 1..=2 {
        starts(number);
        look().mode("scoped").does_not_say("HM210");
        // The second of its start is what the manager and the log have in common.
        rig.until("test $(date +%s) -gt $(tail -1 /var/lib/agent/gateway-starts.log)");
        rig.sh("systemctl restart user@$(id -u svc)");
    }
    starts(3);
    let report = look();
    report.mode("scoped").says("HM210");
    for code in ["HM221", "HM222", "HM224", "HM225"] {
        report.does_not_say(code);
    }
    assert!(report.summary("HM210").contains("3 starts"));
    rig.follow_all(&report, "HM411");
    // A system unit, as the explanation advises, is not touched by it.
    rig.sh(&format!(
        "runuser -u svc -- env XDG_RUNTIME_DIR=/run/user/$(id -u svc) systemctl --user disable -q --now agent.service; \
         cat >/etc/systemd/system/agent.service <<'X'\n[Service]\nUser=svc\nEnvironment=HERMES_HOME={HOME}\n\
         ExecStart=/opt/agent/bin/python3 /opt/agent/bin/hermes gateway run\n\
         [Install]\nWantedBy=multi-user.target\nX\n\
         systemctl daemon-reload; systemctl enable -q --now agent.service"
    ));
    starts(4);
    rig.sh("systemctl restart user@$(id -u svc)");
    let report = rig.doctor_of_unit();
    report.mode("scoped").does_not_say("HM210");
    starts(4);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b21_a_manager_that_was_stopped_is_forgotten_by_logind_and_brought_back() {
    let rig = Rig::with_account(&[], true);
    let look = || rig.doctor_in_service(&[]);
    rig.sh("systemctl stop user@$(id -u svc)");
    look().does_not_say("HM221");
    if rig.logind_leads() {
        // The directory stays, and what lies in it.
        rig.cured("HM203", CURED, look);
        return;
    }
    rig.cured("HM222", CURED, look);
    // Started by hand it serves, while logind still says that it knows nobody.
    rig.sh("systemctl stop user@$(id -u svc)");
    rig.until("! loginctl show-user svc");
    rig.sh("systemctl start user@$(id -u svc)");
    rig.cured("HM222", ["scoped", "scoped"], look);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b24_a_masked_user_manager_is_not_answered_with_linger() {
    let rig = Rig::with_account(&[], true);
    rig.sh("uid=$(id -u svc); systemctl stop user@$uid; systemctl mask -q user@.service");
    let look = || rig.doctor_in_service(&[]);
    look().does_not_say("HM221");
    // Setting it once more ends well and changes nothing.
    rig.sh("loginctl enable-linger svc");
    rig.cured("HM202", CURED, look);
    rig.sh("uid=$(id -u svc); systemctl stop user@$uid; systemctl mask -q user@$uid.service");
    rig.cured("HM202", CURED, look);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b24_a_user_manager_that_was_killed_is_brought_back() {
    let rig = Rig::with_account(&[], true);
    rig.sh("systemctl kill -s KILL user@$(id -u svc)");
    rig.until("systemctl is-failed -q user@$(id -u svc)");
    let look = || rig.doctor_in_service(&[]);
    look().does_not_say("HM221");
    rig.cured("HM202", CURED, look);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b24_a_user_manager_that_fails_to_start_is_not_answered_with_linger() {
    let rig = Rig::with_account(&[], true);
    rig.sh(
        "mkdir -p /etc/systemd/system/user@.service.d && touch /run/broken && \
         printf '[Service]\\nExecStartPre=test ! -e /run/broken\\n' \
         >/etc/systemd/system/user@.service.d/fails.conf && systemctl daemon-reload; \
         ! systemctl restart user@$(id -u svc)",
    );
    let look = || rig.doctor_in_service(&[]);
    let report = look();
    report.says("HM202").does_not_say("HM221");
    assert!(report.summary("HM202").contains("exit-code"));
    let told = report.finding("HM202").expect("it").to_string();
    assert!(told.contains("journalctl -b -u user@"), "{told}");
    // What its journal speaks of is mended; then the remedy has its effect.
    rig.sh("rm /run/broken");
    rig.cured("HM202", CURED, look);
}

/// Waits until the serve of `agent.service` is older than what two starts may differ by chance.
fn is_old(rig: &Rig) {
    rig.until("test $(( $(date +%s) - $(stat -c %Y /var/lib/agent/run/serve.json) )) -gt 3");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b07_a_bus_that_appears_later_is_found_by_the_next_look() {
    let rig = Rig::with_account(&[], false);
    rig.unit("");
    rig.sh("systemctl start agent.service");
    rig.until("test -S /var/lib/agent/run/serve.sock");
    let look = || rig.doctor_of_unit();
    let pid = look().mode("degraded").at("/dispatch/pid").clone();
    is_old(&rig);
    for (linger, mode) in [("on", "scoped"), ("off", "degraded"), ("on", "scoped")] {
        rig.must(&["linger", "svc", linger]);
        let report = look();
        report.mode(mode);
        assert_eq!(report.at("/dispatch/pid"), &pid, "the same serve");
    }
    rig.cured("HM211", ["scoped", "scoped"], look);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b16_a_directory_that_is_made_anew_under_the_dispatcher_is_said() {
    let rig = Rig::with_account(&[], true);
    let uid = rig.sh("id -u svc");
    rig.unit(&format!("Environment=XDG_RUNTIME_DIR=/run/user/{uid}"));
    rig.sh("systemctl start agent.service");
    rig.until("test -S /var/lib/agent/run/serve.sock");
    let look = || rig.doctor_of_unit();
    look().mode("scoped").does_not_say("HM243");
    is_old(&rig);
    rig.sh(&format!("systemctl restart user@{uid}"));
    rig.cured("HM243", ["scoped", "scoped"], look);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b07_linger_turned_on_and_off_under_serve_shows_at_its_next_job() {
    let rig = Rig::with_account(&[], false);
    let serve = Service::of(&rig, "svc", "");
    arm(&rig, "echo ran");
    serve.systemctl("start").settle();
    let pid = serve.pid();
    let last = || {
        let told = runs(&rig);
        let [status, mode, ..] = facts(&told[0]);
        assert_eq!(status, "completed");
        mode.to_owned()
    };
    // All in the minute for which the host is not asked again unless something shows.
    let mode = || {
        serve.by_hand().settle();
        last()
    };
    // The printed unit wants the account's manager, and has it for now.
    assert_eq!(last(), "scoped");
    rig.sh("systemctl stop user@$(id -u svc)");
    assert_eq!(mode(), "degraded");
    rig.must(&["linger", "svc", "on"]);
    assert_eq!(mode(), "scoped");

    // A scope ends with its manager.
    arm(&rig, WAITS);
    serve.minute();
    began(&rig);
    rig.must(&["linger", "svc", "off"]);
    serve.settle();
    assert_eq!(
        facts(&runs(&rig)[0]),
        ["unknown", "scoped", "scope", "user", "user_manager_stopped"]
    );
    arm(&rig, "echo ran");
    assert_eq!(mode(), "degraded");
    rig.must(&["linger", "svc", "on"]);
    assert_eq!(mode(), "scoped");
    assert_eq!(serve.pid(), pid, "all in one life of serve");
}
