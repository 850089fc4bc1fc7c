//! Units that get in their own way, are in the way of nothing, or cannot be started.

use super::Rig;
use super::cure::every_cure;

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn protect_home_hides_the_way_to_the_user_manager() {
    for value in ["yes", "tmpfs"] {
        let rig = Rig::with_account(&[], true);
        rig.unit(&format!("ProtectHome={value}"));
        rig.cured("HM307", ["degraded", "scoped"], || rig.doctor_of_unit());
    }
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn restricted_address_families_forbid_the_way() {
    let rig = Rig::with_account(&[], true);
    rig.unit("RestrictAddressFamilies=AF_INET AF_INET6");
    rig.cured("HM308", ["degraded", "scoped"], || rig.doctor_of_unit());
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn the_usual_hardening_is_in_the_way_of_nothing() {
    let rig = Rig::with_account(&[], true);
    let hardening = [
        "NoNewPrivileges=yes",
        "PrivateTmp=yes",
        "ProtectSystem=strict",
        "ProtectControlGroups=yes",
        "PrivateUsers=yes",
        "PrivateNetwork=yes",
        "RestrictNamespaces=yes",
        "SystemCallFilter=@system-service",
        "ProtectProc=invisible",
        "MemoryDenyWriteExecute=yes",
    ];
    let options: Vec<_> = hardening.iter().flat_map(|line| ["-p", line]).collect();
    rig.doctor_in_service(&options).mode("scoped");
    rig.unit(&hardening.join("\n"));
    let report = rig.doctor_of_unit();
    report
        .mode("scoped")
        .does_not_say("HM307")
        .does_not_say("HM308");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_root_unit_has_the_system_manager_whatever_directory_it_is_told() {
    let rig = Rig::with_account(&[], true);
    let report = rig.doctor(&["--service"], &["--shell"]);
    report.mode("scoped").says("HM319");
    assert_eq!(report.at("/dispatch/cron/manager"), "system");
    let uid = rig.sh("id -u svc");
    let variable = format!("XDG_RUNTIME_DIR=/run/user/{uid}");
    let report = rig.doctor(&["--service", "-E", &variable], &["--shell"]);
    report.mode("scoped").says("HM319");
    assert_eq!(report.at("/dispatch/cron/manager"), "system");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_masked_unit_is_found_with_and_without_the_file_that_the_mask_hides() {
    let rig = Rig::with_account(&[], true);
    rig.unit("");
    rig.sh("mkdir -p /usr/local/lib/systemd/system && \
         mv /etc/systemd/system/agent.service /usr/local/lib/systemd/system/hermes.service && \
         rm /etc/systemd/system/multi-user.target.wants/agent.service && \
         systemctl daemon-reload && systemctl mask -q hermes.service");
    let named = || rig.doctor(&[], &["--unit", "hermes"]);
    let report = named();
    report
        .says("HM311")
        .mode("scoped")
        .forecast("scoped", "stopped");
    // The mask is seen by who names no unit, too.
    rig.doctor(&[], &[]).says("HM311");
    rig.cured("HM311", ["scoped", "scoped"], named);

    rig.sh(
        "rm /usr/local/lib/systemd/system/hermes.service && systemctl daemon-reload && \
         systemctl mask -q hermes.service",
    );
    rig.cured("HM311", ["in_process", "in_process"], || {
        rig.doctor(&[], &[])
    });
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn what_keeps_a_unit_from_running_is_mended_by_what_is_printed() {
    let rig = Rig::with_account(&[], true);
    rig.unit("");
    let look = || rig.doctor_of_unit();
    let scoped = ["scoped", "scoped"];
    rig.cured("HM318", scoped, look);
    rig.sh("systemctl disable -q agent.service");
    rig.cured("HM315", scoped, look);
    rig.sh("echo '# changed' >>/etc/systemd/system/agent.service");
    rig.cured("HM309", scoped, look);
    rig.sh("mkdir /run/systemd/system/agent.service.d && \
         printf '[Service]\\nRestart=no\\n' >/run/systemd/system/agent.service.d/no.conf && \
         systemctl daemon-reload && systemctl kill -s KILL agent.service");
    rig.until("systemctl is-failed -q agent.service");
    rig.cured("HM313", scoped, look);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_unit_that_systemd_has_to_restart_again_and_again_is_said() {
    let rig = Rig::with_account(&[], true);
    rig.unit("RestartSec=0\nStartLimitBurst=100");
    rig.sh("systemctl start agent.service");
    for killed in 1..=3 {
        rig.doctor_of_unit().does_not_say("HM314");
        rig.sh("systemctl kill -s KILL agent.service");
        rig.until(&format!(
            "systemctl show -P NRestarts agent.service | grep -qx {killed} && \
             systemctl is-active -q agent.service"
        ));
    }
    rig.doctor_of_unit().mode("scoped").says("HM314");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_serve_in_a_unit_is_judged_as_what_it_is() {
    let rig = Rig::with_account(&[], true);
    rig.unit("");
    rig.sh("systemctl start agent.service");
    rig.until("test -S /var/lib/agent/run/serve.sock");
    for who in [&[][..], &["--user", "svc"], &["--user", "svc", "--xdg"]] {
        let report = rig.doctor(who, &[]);
        report.mode("scoped");
        assert_eq!(report.at("/dispatch/viewpoint"), "serve", "{who:?}");
        assert_eq!(report.at("/dispatch/unit"), "agent.service", "{who:?}");
    }
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_unit_that_is_installed_disabled_and_stopped_is_no_good_news() {
    let installed = || {
        let rig = Rig::with_account(&[], true);
        rig.unit("");
        rig.sh("systemctl disable -q agent.service");
        rig
    };
    every_cure(
        "HM318",
        ["scoped", "scoped"],
        installed,
        Rig::doctor_of_unit,
    );
    every_cure(
        "HM315",
        ["scoped", "scoped"],
        installed,
        Rig::doctor_of_unit,
    );
}
