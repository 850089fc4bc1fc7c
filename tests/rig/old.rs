//! A systemd that knows less: the user manager of another root, beside the system of this one. Only
//! `tests/run rig247` has such a root, so that the other steps leave this file out.

use super::Rig;
use super::cron::{FACTS, begin, install, let_go, rows};

/// Names the directory.
const OLD: &str = "HERMES_RIG_OLD_ROOT";

const PROPERTIES: &str = "SELECT f.properties FROM execution_facts f";

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
    install(&rig, "svc", "");
    begin(&rig);
    rig.sh("systemctl stop pass.service");
    let_go(&rig, "ok");
    assert_eq!(
        rows(&rig, FACTS)[0][..4],
        ["completed", "scoped", "scope", "user"]
    );
    let recorded = &rows(&rig, PROPERTIES)[0][0];
    assert!(
        recorded.contains(r#""rejected":["OOMPolicy"]"#),
        "{recorded}"
    );
}
