//! serve under a service manager, by the units that `hermes service print` prints.

use super::Rig;

const HOME: &str = "/var/lib/agent";

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn the_unit_of_the_system_starts_reloads_restarts_and_stops_serve() {
    let rig = Rig::with_account(&[], true);
    let words = ["hermes", "service", "print", "--system", "--home", HOME];
    let unit = rig.exec(&["--user", "svc"], &words);
    assert!(unit.status.success());
    let unit = String::from_utf8_lossy(&unit.stdout).into_owned();
    rig.sh(&format!(
        "cat >/etc/systemd/system/hermes.service <<'X'\n{unit}X\n\
         systemctl daemon-reload && systemctl enable -q hermes.service"
    ));
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
