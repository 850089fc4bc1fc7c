//! A systemd that knows less: the user manager of another root, beside the system of this one. Only
//! `tests/run rig247` has such a root, so that the other steps leave this file out.

use std::path::PathBuf;

use rusqlite::Connection;

use super::job::{WAITS, arm, began, ended, facts, let_go, runs};
use super::service::Service;
use super::{HOME, Rig};

/// Names the directory.
const OLD: &str = "HERMES_RIG_OLD_ROOT";

/// What the ledger keeps of the properties of the one run.
fn properties(rig: &Rig) -> String {
    let root = PathBuf::from(rig.must(&["root"]));
    let path = root
        .join(HOME.trim_start_matches('/'))
        .join("cron/executions.db");
    // SQLite would follow the link to the container's root by its name, and end up on the host.
    let copy = tempfile::NamedTempFile::new().expect("a file");
    std::fs::copy(path, copy.path()).expect("the ledger");
    let connection = Connection::open(copy.path()).expect("the ledger");
    let select = "SELECT properties FROM execution_facts";
    let read = connection.query_row(select, [], |row| row.get(0));
    read.expect("a row")
}

#[test]
#[ignore = "boots a systemd: tests/run rig247"]
fn a_property_that_is_rejected_is_left_out_and_recorded_and_the_job_is_scoped() {
    let old = std::env::var(OLD).expect("HERMES_RIG_OLD_ROOT names a root; see tests/run rig247");
    let rig = Rig::with_account(&["--bind-ro", &format!("{old}:/opt/old")], false);
    rig.sh(
        "mkdir -p /etc/systemd/system/user@.service.d && \
         printf '%s\\n' '[Service]' 'Environment=LD_LIBRARY_PATH=/opt/old/lib/systemd' 'ExecStart=' \
         'ExecStart=/opt/old/lib/systemd/systemd --user' >/etc/systemd/system/user@.service.d/old.conf && \
         systemctl daemon-reload",
    );
    rig.must(&["linger", "svc", "on"]);
    let report = rig.doctor_in_service(&[]);
    report.mode("scoped");
    let serve = Service::of(&rig, "svc", "");
    arm(&rig, WAITS);
    serve.systemctl("start");
    began(&rig);
    serve.systemctl("stop");
    let_go(&rig);
    ended(&rig);
    assert_eq!(
        facts(&runs(&rig)[0]),
        ["completed", "scoped", "scope", "user", ""]
    );
    let recorded = properties(&rig);
    assert!(
        recorded.contains(r#""rejected":["OOMPolicy"]"#),
        "{recorded}"
    );
}
