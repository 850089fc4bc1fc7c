//! Jobs under a real manager: in a scope, in a service, degraded, refused; and what a stop of their
//! dispatcher does to them.

use std::path::PathBuf;

use rusqlite::Connection;

use super::{HOME, Rig};

/// A unit that makes one pass, as the account, or as root.
pub(super) fn install(rig: &Rig, user: &str, more: &str) {
    rig.sh(&format!(
        "cat >/etc/systemd/system/pass.service <<'X'\n[Service]\nType=simple\nUser={user}\n\
         Environment=HERMES_HOME={HOME} HERMES_TIMEZONE=UTC\nExecStart=/usr/local/bin/hermes cron tick\n\
         SuccessExitStatus=0 1 2\n{more}\nX\nsystemctl daemon-reload"
    ));
}

/// Makes the job due, and its script wait until it is let go.
pub(super) fn arm(rig: &Rig, script: &str) {
    rig.sh(&format!(
        "cd {HOME} && printf '%s\\n' '#!/bin/sh' '{script}' >scripts/ok.sh && rm -f go began && mkfifo go began && \
         sed -i 's/\"next_run_at\": *\"[^\"]*\"/\"next_run_at\":\"'$(date -u -d '-30 seconds' +%Y-%m-%dT%H:%M:%S.%6N)'+00:00\"/' \
         cron/jobs.json && chown -R svc: {HOME}"
    ));
}

pub(super) const WAITS: &str = "echo >began; read go <go; echo done";

/// Waits for the script's first sign of life.
pub(super) fn began(rig: &Rig) {
    rig.sh(&format!("timeout 60 cat {HOME}/began >/dev/null"));
}

/// Starts a job that waits, and waits for it.
pub(super) fn begin(rig: &Rig) {
    arm(rig, WAITS);
    rig.sh("systemctl start pass.service");
    began(rig);
}

/// Lets the script end, and waits for the job to be marked.
pub(super) fn let_go(rig: &Rig, status: &str) {
    rig.sh(&format!("timeout 60 sh -c 'echo >{HOME}/go'"));
    marked(rig, status);
}

fn marked(rig: &Rig, status: &str) {
    rig.sh(&format!(
        "timeout 60 sh -c 'until grep -q \"last_status.: .{status}\" {HOME}/cron/jobs.json; do :; done'"
    ));
}

/// Rows of the ledger, read where it lies.
pub(super) fn rows(rig: &Rig, sql: &str) -> Vec<Vec<String>> {
    let root = PathBuf::from(rig.must(&["root"]));
    let path = root
        .join(HOME.trim_start_matches('/'))
        .join("cron/executions.db");
    // SQLite would follow the link to the container's root by its name, and end up on the host.
    let copy = tempfile::NamedTempFile::new().expect("a file");
    std::fs::copy(path, copy.path()).expect("the ledger");
    let connection = Connection::open(copy.path()).expect("the ledger");
    let mut select = connection.prepare(sql).expect("a query");
    let columns = select.column_count();
    let read = |row: &rusqlite::Row<'_>| -> rusqlite::Result<Vec<String>> {
        let text = |index| {
            row.get::<_, Option<String>>(index)
                .map(Option::unwrap_or_default)
        };
        (0..columns).map(text).collect()
    };
    let rows = select.query_map([], read).expect("rows");
    rows.collect::<rusqlite::Result<_>>().expect("rows")
}

/// Runs one pass of the unit to its end.
pub(super) fn pass(rig: &Rig) {
    rig.sh("systemctl start pass.service; while systemctl is-active -q pass.service; do :; done");
}

pub(super) const FACTS: &str =
    "SELECT e.status, f.mode, f.mechanism, f.manager, f.cause, e.error FROM executions e
    LEFT JOIN execution_facts f ON f.execution_id = e.id ORDER BY e.claimed_at DESC, e.rowid DESC";

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b112_a_scoped_job_survives_a_stop_of_its_dispatcher_and_finishes_its_own_row() {
    let rig = Rig::with_account(&[], true);
    install(&rig, "svc", "");
    begin(&rig);
    rig.sh("systemctl stop pass.service");
    let cgroups = rig.sh("cat /proc/[0-9]*/cgroup | grep hermes-worker-");
    assert!(cgroups.contains("user@"), "{cgroups}");
    let_go(&rig, "ok");
    assert_eq!(
        rows(&rig, FACTS)[0][..4],
        ["completed", "scoped", "scope", "user"]
    );
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_scoped_job_survives_sigkill_of_its_dispatcher() {
    let rig = Rig::with_account(&[], true);
    install(&rig, "svc", "");
    begin(&rig);
    rig.sh("systemctl kill -s KILL pass.service");
    let_go(&rig, "ok");
    assert_eq!(rows(&rig, FACTS)[0][..2], ["completed", "scoped"]);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_degraded_job_dies_with_its_dispatcher_and_the_ledger_says_so() {
    let rig = Rig::with_account(&[], false);
    install(&rig, "svc", "");
    begin(&rig);
    rig.sh("systemctl stop pass.service");
    let left =
        rig.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'scripts/ok.s[h]' || true");
    assert_eq!(left, "0", "what the job started is gone");
    // The worker wrote its end itself, or the next pass does.
    pass(&rig);
    let row = &rows(&rig, FACTS)[0];
    assert_eq!(
        (row[0].as_str(), row[1].as_str(), row[4].as_str()),
        ("unknown", "degraded", "gateway_restart")
    );
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn with_kill_mode_process_a_degraded_job_survives() {
    let rig = Rig::with_account(&[], false);
    install(&rig, "svc", "KillMode=process");
    begin(&rig);
    rig.sh("systemctl stop pass.service");
    let_go(&rig, "ok");
    assert_eq!(rows(&rig, FACTS)[0][..2], ["completed", "degraded"]);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b08_fail_closed_refuses_with_the_remedy() {
    let rig = Rig::with_account(&[], false);
    rig.sh(&format!("printf 'cron:\\n  require_restart_safe_scope: true\\n' >{HOME}/config.yaml; chown svc: {HOME}/config.yaml"));
    install(&rig, "svc", "");
    arm(&rig, "echo ran");
    pass(&rig);
    let row = &rows(&rig, FACTS)[0];
    assert_eq!(row[0], "failed");
    assert!(
        row[5].contains("refused") && row[5].contains("linger"),
        "{row:?}"
    );
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b02_a_root_unit_gets_a_scope_of_the_system_manager() {
    let rig = Rig::with_account(&[], false);
    install(&rig, "root", "");
    arm(&rig, "echo ran");
    // Root runs nothing out of a home of somebody else.
    rig.sh("chown -R root: /var/lib/agent");
    pass(&rig);
    assert_eq!(
        rows(&rig, FACTS)[0][..4],
        ["completed", "scoped", "scope", "system"]
    );
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn after_a_restart_of_the_system_bus_a_job_is_scoped_by_the_service_mechanism() {
    let rig = Rig::with_account(&[], true);
    install(&rig, "svc", "");
    rig.sh("systemctl restart dbus");
    begin(&rig);
    rig.sh("systemctl stop pass.service");
    let_go(&rig, "ok");
    assert_eq!(
        rows(&rig, FACTS)[0][..4],
        ["completed", "scoped", "service", "user"]
    );
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_mute_manager_does_not_hold_up_the_job() {
    let rig = Rig::with_account(&[], true);
    install(&rig, "svc", "");
    rig.fault("hung-all");
    arm(&rig, "echo ran");
    pass(&rig);
    assert_eq!(rows(&rig, FACTS)[0][..2], ["completed", "degraded"]);
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn linger_turned_on_and_off_shows_at_the_next_job() {
    let rig = Rig::with_account(&[], false);
    install(&rig, "svc", "");
    let mode = |script: &str| {
        arm(&rig, script);
        pass(&rig);
        rows(&rig, FACTS)[0][1].clone()
    };
    assert_eq!(mode("echo 1"), "degraded");
    rig.must(&["linger", "svc", "on"]);
    assert_eq!(mode("echo 2"), "scoped");
    rig.must(&["linger", "svc", "off"]);
    assert_eq!(mode("echo 3"), "degraded");
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_user_manager_that_stops_takes_the_scope_along_and_the_ledger_says_so() {
    let rig = Rig::with_account(&[], true);
    install(&rig, "svc", "");
    begin(&rig);
    rig.must(&["linger", "svc", "off"]);
    rig.sh("while systemctl is-active -q pass.service; do :; done");
    let row = &rows(&rig, FACTS)[0];
    assert_eq!(
        (row[0].as_str(), row[1].as_str(), row[4].as_str()),
        ("unknown", "scoped", "user_manager_stopped")
    );
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_reboot_in_the_middle_of_a_job_is_called_one() {
    let rig = Rig::with_account(&[], true);
    install(&rig, "svc", "");
    begin(&rig);
    rig.must(&["reboot"]);
    pass(&rig);
    let row = rows(&rig, FACTS).into_iter().last().expect("a row");
    assert_eq!((row[0].as_str(), row[4].as_str()), ("unknown", "reboot"));
}
