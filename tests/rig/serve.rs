//! serve under a service manager, by the units that `hermes service print` prints.

use super::{HOME, Rig, service};

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn the_unit_of_the_system_starts_reloads_restarts_and_stops_serve() {
    let rig = Rig::with_account(&[], true);
    service::print(&rig, "svc");
    // Type=notify: this returns when serve says that it is ready, and fails where it does not.
    rig.sh("systemctl start hermes.service");
    let show = |what: &str| rig.sh(&format!("systemctl show -P {what} hermes.service"));
    assert_eq!(show("ActiveState"), "active");
    assert!(
        show("StatusText").contains("sessions"),
        "{}",
        show("StatusText")
    );
    let pid = show("MainPID");
    let record = rig.sh(&format!("cat {HOME}/run/serve.json"));
    assert!(record.contains(&format!("\"pid\":{pid}")), "{record}");

    rig.sh("systemctl reload hermes.service");
    assert_eq!(show("MainPID"), pid, "a reload keeps the process");

    // A second one does not make the manager try again and again.
    let second = rig.exec(
        &["--user", "svc"],
        &["hermes", "serve", "--port", "0", "--home", HOME],
    );
    assert_eq!(second.status.code(), Some(78));
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(said.contains("in hermes.service"), "{said}");

    rig.sh("systemctl restart hermes.service");
    assert_ne!(show("MainPID"), pid);
    rig.sh("systemctl stop hermes.service");
    assert_eq!(show("Result"), "success");
    rig.sh(&format!("test ! -e {HOME}/run/serve.json"));
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn the_unit_of_the_account_starts_reloads_restarts_and_stops_serve() {
    let rig = Rig::with_account(&[], true);
    let words = ["hermes", "service", "print", "--user", "--home", HOME];
    let unit = rig.exec(&["--user", "svc"], &words);
    assert!(unit.status.success());
    let unit = String::from_utf8_lossy(&unit.stdout).into_owned();
    rig.sh(&format!(
        "units=$(getent passwd svc | cut -d: -f6)/.config/systemd/user; mkdir -p $units
         cat >$units/hermes.service <<'X'\n{unit}X\nchown -R svc: ${{units%/.config/*}}"
    ));
    let systemctl = |words: &str| {
        rig.sh(&format!(
            "runuser -u svc -- env XDG_RUNTIME_DIR=/run/user/$(id -u svc) systemctl --user {words}"
        ))
    };
    systemctl("daemon-reload");
    systemctl("enable -q --now hermes.service");
    let show = |what: &str| systemctl(&format!("show -P {what} hermes.service"));
    assert_eq!(show("ActiveState"), "active");
    assert!(show("StatusText").contains("sessions"));
    let pid = show("MainPID");
    let record = rig.sh(&format!("cat {HOME}/run/serve.json"));
    assert!(record.contains(&format!("\"pid\":{pid}")), "{record}");
    systemctl("reload hermes.service");
    assert_eq!(show("MainPID"), pid, "a reload keeps the process");

    // A stand-by of the same home has started while it waits, and takes over.
    rig.sh(
        "units=$(getent passwd svc | cut -d: -f6)/.config/systemd/user; \
         sed 's|hermes serve|hermes serve --passive|' $units/hermes.service >$units/stand-by.service",
    );
    systemctl("daemon-reload");
    systemctl("start stand-by.service");
    let status = systemctl("show -P StatusText stand-by.service");
    assert!(status.contains(&format!("pid {pid}")), "{status}");
    systemctl("stop hermes.service");
    assert_eq!(show("Result"), "success");
    let second = systemctl("show -P MainPID stand-by.service");
    // Without quotes: the condition is quoted itself.
    rig.until(&format!("grep -q pid.:{second}, {HOME}/run/serve.json"));
    systemctl("stop stand-by.service");

    // Killed, it is started again.
    systemctl("start hermes.service");
    let pid = show("MainPID");
    rig.sh(&format!("kill -KILL {pid}"));
    rig.until(&format!(
        "grep pid.: {HOME}/run/serve.json | grep -vq pid.:{pid},"
    ));
    systemctl("stop hermes.service");
    rig.sh(&format!("test ! -e {HOME}/run/serve.json"));
}
