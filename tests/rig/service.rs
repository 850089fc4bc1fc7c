//! Units that get in their own way, and hosts that have no systemd to ask.

use super::Rig;

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn protect_home_hides_the_way_to_the_user_manager() {
    let rig = Rig::with_account(&[], true);
    install(&rig, "ProtectHome=yes");
    rig.doctor(&[], &["--unit", "agent.service"])
        .says("HM307")
        .mode("degraded");
    rig.sh("sed -i /ProtectHome/d /etc/systemd/system/agent.service && systemctl daemon-reload");
    rig.doctor(&[], &["--unit", "agent.service"])
        .does_not_say("HM307")
        .mode("scoped");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn restricted_address_families_forbid_the_way() {
    let rig = Rig::with_account(&[], true);
    install(&rig, "RestrictAddressFamilies=AF_INET AF_INET6");
    let report = rig.doctor(&[], &["--unit", "agent.service"]);
    report.says("HM308").mode("degraded");
    rig.mend(&report, "HM308");
    rig.doctor(&[], &["--unit", "agent.service"])
        .does_not_say("HM308");
}

fn install(rig: &Rig, line: &str) {
    rig.sh(&format!(
        "cat >/etc/systemd/system/agent.service <<'X'\n[Unit]\nDescription=agent\n[Service]\nUser=svc\n\
         Environment=HERMES_HOME=/var/lib/agent\nExecStart=/usr/local/bin/hermes serve\n{line}\n\
         [Install]\nWantedBy=multi-user.target\nX\nsystemctl daemon-reload && systemctl enable -q agent.service"
    ));
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b02_a_root_unit_has_the_system_manager() {
    let rig = Rig::with_account(&[], false);
    let report = rig.doctor(&["--service"], &["--shell"]);
    report.mode("scoped").says("HM319");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn logind_masked_leaves_what_runs_alone() {
    let rig = Rig::with_account(&["--no-logind"], false);
    let report = rig.doctor_in_service(&[]);
    report.mode("degraded").says("HM105");
    rig.sh("systemctl start user@$(id -u svc)");
    rig.doctor_in_service(&[]).mode("scoped");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn without_a_system_bus_the_doctor_still_answers() {
    let rig = Rig::with_account(&["--no-dbus"], false);
    rig.doctor_in_unit().mode("degraded").says("HM103");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn without_any_systemd_jobs_run_in_process() {
    let rig = Rig::with_account(&["--mode", "bare"], false);
    let report = rig.doctor(&["--user", "svc"], &["--shell"]);
    report.mode("in_process").says("HM101");
    assert!(report.exit().is_some());
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_chroot_is_called_one() {
    let rig = Rig::with_account(&[], false);
    rig.sh(
        "mkdir -p /srv/ch && mount --bind / /srv/ch && mount -t proc proc /srv/ch/proc && \
         mount --bind /usr/local/bin/hermes /srv/ch/usr/local/bin/hermes",
    );
    let report = rig.doctor(&[], &["--shell"]);
    report.does_not_say("HM102");
    let doctor = [
        "chroot", "/srv/ch", "hermes", "cron", "doctor", "--json", "--shell",
    ];
    let output = rig.exec(&[], &doctor);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("HM102"), "{text}");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn cgroup_version_1_is_read_by_its_systemd_line() {
    let rig = Rig::with_account(&["--cgroup", "v1"], true);
    rig.doctor_in_service(&[]).mode("scoped").says("HM106");
}
