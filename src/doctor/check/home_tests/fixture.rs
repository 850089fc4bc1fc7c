//! A healthy home on a disk, and the evidence of it on the example's host.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::db;
use crate::doctor::catalog;
use crate::doctor::check::{self, Outcome, Unchecked};
use crate::doctor::evidence::Evidence;
use crate::doctor::finding::Finding;
use crate::doctor::gather::{self, Scope};
use crate::doctor::sample;
use crate::home::Home;
use crate::host::Facts;
use crate::host::facts::example::{NOW, UID};
use crate::host::facts::{Fact, Viewpoint};
use crate::host::locks::LockTable;

mod sessions;

/// A pid that no process can have.
pub(super) const GONE: u32 = 4_194_305;

/// The tables of the ledger.
const LEDGER: &str = "CREATE TABLE IF NOT EXISTS executions(id TEXT PRIMARY KEY, job_id TEXT,
    source TEXT, process_id TEXT, pid INTEGER, process_started_at INTEGER, status TEXT,
    handoff_pending INTEGER DEFAULT 0, handoff_started_at REAL, claimed_at TEXT, started_at TEXT,
    finished_at TEXT, error TEXT, delivery_outcome TEXT, scheduled_instant TEXT, progress_at TEXT);
    CREATE TABLE IF NOT EXISTS cron_incidents(id TEXT PRIMARY KEY, job_id TEXT, error_sig TEXT,
    state TEXT, failure_type TEXT, first_seen_at TEXT, last_seen_at TEXT, acked_at TEXT,
    alerted_at TEXT, closed_at TEXT, error TEXT, output_file TEXT);";

/// The tables of `state.db` that matter here.
const STATE: &str = "CREATE TABLE IF NOT EXISTS schema_version(version INTEGER);
    CREATE TABLE IF NOT EXISTS sessions(id TEXT PRIMARY KEY, source TEXT, started_at REAL,
    ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 1, last_activity_at REAL,
    pinned INTEGER DEFAULT 0);
    CREATE TABLE IF NOT EXISTS state_meta(key TEXT PRIMARY KEY, value TEXT);
    CREATE TABLE IF NOT EXISTS gateway_heartbeats(backend_id TEXT PRIMARY KEY, pid INTEGER,
    started_at REAL, last_heartbeat REAL, profile TEXT, host TEXT);
    CREATE TABLE IF NOT EXISTS gateway_routing(scope TEXT, session_key TEXT, entry_json TEXT,
    updated_at REAL);
    CREATE TABLE IF NOT EXISTS session_turn_leases(conversation_id TEXT, holder TEXT,
    acquired_at REAL, expires_at REAL);";

/// A home, and the host it is on.
pub(super) struct Fixture {
    dir: tempfile::TempDir,
    /// The home belongs to the account of the service, whoever runs the test.
    pub(super) owned: bool,
    pub(super) facts: Facts,
    pub(super) now: Timestamp,
}

impl Fixture {
    /// A home in which all is well: a job by the hour and one by the interval, both ran on time, a loop
    /// that our serve drives, fresh markers.
    pub(super) fn healthy() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut fixture = Self {
            facts: Facts::example(),
            now: db::instant(NOW).unwrap(),
            owned: true,
            dir,
        };
        fixture.settle();
        fixture.jobs(&[fixture.job("00000000000a"), fixture.hourly()]);
        for (job, minutes) in [("00000000000a", 20), ("00000000000b", 60)] {
            fixture.run(job, minutes, "completed");
        }
        let due = fixture.epoch(200);
        fixture.own_session("20261129_120000_aaaaaa");
        fixture.timer("loop:20261129_120000_aaaaaa", &looping(due));
        fixture.beat(30, std::process::id());
        fixture.write("cron/ticker_last_success", &fixture.epoch(-30).to_string());
        std::fs::create_dir_all(fixture.path("cron/output")).unwrap();
        std::fs::create_dir_all(fixture.path("scripts")).unwrap();
        let agent = "[agent]\ncommand = [\"/bin/cat\"]\n";
        fixture.write("config.toml", agent);
        fixture.write("config.yaml", "timezone: Europe/Berlin\n");
        fixture.modified("config.yaml", -86_400);
        fixture
    }

    /// Makes the example's host serve this very directory, as the account that owns it.
    fn settle(&mut self) {
        let path = self.home().path().to_path_buf();
        // Root would be a finding of its own: then the home is given to the example's account.
        let uid = match rustix::process::getuid().as_raw() {
            0 => UID,
            own => own,
        };
        let facts = &mut self.facts;
        // Enough for as many workers as run at once by default.
        facts.machine.memory.total = Some(64 << 30);
        facts.account.uid = uid;
        facts.account.gid = Some(uid);
        facts.caller = facts.account.clone();
        facts.home.path.clone_from(&path);
        facts.homes[0].path.clone_from(&path);
        facts.dispatcher.home = Fact::Known(path.clone());
        facts.shell.uid = Fact::Known(uid);
        facts.shell.home = Fact::Known(path.clone());
        if let Some(process) = &mut facts.dispatcher.process {
            process.uid = Fact::Known(uid);
            process.home = Fact::Known(path);
        }
    }

    pub(super) fn home(&self) -> Home {
        Home::at(self.dir.path())
    }

    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    pub(super) fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Sets the time of a file to this many seconds from now.
    pub(super) fn modified(&self, relative: &str, seconds: i64) {
        let file = std::fs::File::open(self.path(relative)).unwrap();
        let at = std::time::Duration::from_secs_f64(self.epoch(seconds));
        file.set_modified(std::time::UNIX_EPOCH + at).unwrap();
    }

    /// This many seconds from now, since 1970.
    pub(super) fn epoch(&self, seconds: i64) -> f64 {
        let at = self.now + SignedDuration::from_secs(seconds);
        at.as_duration().as_secs_f64()
    }

    /// This many minutes ago, as the stores write it.
    pub(super) fn ago(&self, minutes: i64) -> String {
        let at = self.now - SignedDuration::from_mins(minutes);
        crate::cron::stamp::Stamp::of(at, &Self::zone()).to_string()
    }

    pub(super) fn zone() -> jiff::tz::TimeZone {
        jiff::tz::TimeZone::get("Europe/Berlin").unwrap()
    }

    /// A healthy job every half hour, which ran 20 minutes ago.
    pub(super) fn job(&self, id: &str) -> Value {
        json!({
            "id": id, "name": format!("job-{id}"), "prompt": "hi", "enabled": true,
            "state": "scheduled", "deliver": "local", "repeat": {"times": null, "completed": 1},
            "schedule": {"kind": "interval", "minutes": 30, "display": "every 30m"},
            "created_at": self.ago(60 * 24), "next_run_at": self.ago(-10),
            "last_run_at": self.ago(20), "last_status": "ok", "failure_streak": 0,
        })
    }

    /// A healthy job at every full hour; now is one, and it has just run for it.
    pub(super) fn hourly(&self) -> Value {
        let mut job = self.job("00000000000b");
        job["schedule"] = json!({"kind": "cron", "expr": "0 * * * *", "display": "0 * * * *"});
        job["next_run_at"] = self.ago(-60).into();
        job["last_run_at"] = self.ago(60).into();
        job
    }

    /// A one-shot at this many minutes ago.
    pub(super) fn once(&self, minutes_ago: i64) -> Value {
        let mut job = self.job("00000000000c");
        let at = self.ago(minutes_ago);
        job["schedule"] = json!({"kind": "once", "run_at": at, "display": "once"});
        job["repeat"] = json!({"times": 1, "completed": 0});
        job["next_run_at"] = at.into();
        job["last_run_at"] = Value::Null;
        job["last_status"] = Value::Null;
        job
    }

    pub(super) fn jobs(&self, jobs: &[Value]) {
        let text = json!({"jobs": jobs, "updated_at": "x"}).to_string();
        self.write("cron/jobs.json", &text);
    }

    /// The healthy half-hourly job with these fields changed, alone in the store.
    pub(super) fn only_job(&self, change: impl FnOnce(&mut Value)) {
        let mut job = self.job("00000000000a");
        change(&mut job);
        self.jobs(&[job]);
    }

    /// Runs SQL in a database, which is made with its tables where it is not there.
    pub(super) fn sql(&self, database: &str, sql: &str) {
        let path = self.path(database);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let tables = if database == "state.db" {
            STATE
        } else {
            LEDGER
        };
        let connection = db::connect_or_create(&path).unwrap();
        connection.execute_batch(tables).unwrap();
        connection.execute_batch(sql).unwrap();
    }

    /// A row of the ledger: claimed for its slot so many minutes ago, ended a minute later.
    pub(super) fn run(&self, job: &str, minutes: i64, status: &str) {
        let ended = matches!(status, "completed" | "failed" | "unknown");
        let end = ended.then(|| self.ago(minutes - 1));
        self.row(
            job,
            &json!({"status": status, "claimed_at": self.ago(minutes), "started_at": self.ago(minutes),
                "finished_at": end, "scheduled_instant": self.ago(minutes), "delivery_outcome": "suppressed"}),
        );
    }

    /// A row of the ledger with these columns.
    pub(super) fn row(&self, job: &str, columns: &Value) {
        let text = |value: &Value| match value {
            Value::Null => "NULL".to_owned(),
            Value::String(text) => format!("'{}'", text.replace('\'', "''")),
            other => other.to_string(),
        };
        let columns = columns.as_object().unwrap();
        let names: Vec<_> = columns.keys().map(String::as_str).collect();
        let values: Vec<_> = columns.values().map(text).collect();
        let sql = format!(
            "INSERT INTO executions(id, job_id, source, process_id, {}) VALUES (lower(hex(randomblob(16))), '{job}', 'builtin', 'p', {})",
            names.join(", "),
            values.join(", ")
        );
        self.sql("cron/executions.db", &sql);
    }

    /// A heartbeat of the ticker this many seconds ago.
    pub(super) fn beat(&self, seconds: i64, pid: u32) {
        let text = format!("{} {pid}", self.epoch(-seconds));
        self.write("cron/ticker_heartbeat", &text);
    }

    /// No process of either program runs, and no ticker beats.
    pub(super) fn no_server(&mut self) {
        let facts = &mut self.facts;
        facts.dispatcher.viewpoint = Viewpoint::Shell;
        facts.dispatcher.process = None;
        facts.dispatcher.unit = None;
        facts.others.clear();
        std::fs::remove_file(self.path("cron/ticker_heartbeat")).ok();
    }

    /// The evidence, gathered as the doctor gathers it.
    pub(super) fn evidence(&self) -> Evidence {
        if rustix::process::getuid().is_root() && self.owned {
            give(self.dir.path(), UID);
        }
        let homes: Vec<_> = self
            .facts
            .homes
            .iter()
            .map(|home| Home::at(&home.path))
            .collect();
        let scope = Scope {
            facts: &self.facts,
            locks: &LockTable::new(),
            now: self.now,
        };
        let mut evidence = Evidence::new(self.now, self.facts.clone());
        evidence.elsewhere = gather::elsewhere(&homes, &self.facts);
        evidence.with_homes(gather::homes(&homes, scope))
    }

    fn outcomes(&self) -> Vec<Outcome> {
        let evidence = self.evidence();
        // Whatever a test breaks, the report on it is one of the schema.
        sample::judged(&evidence);
        super::reads::hold(&evidence);
        check::all()
            .map(|check| {
                let outcome = (check.run)(&evidence);
                for finding in &outcome.findings {
                    holds_what_it_promises(finding);
                    assert!(
                        check.codes.contains(&finding.code),
                        "{} in {}",
                        finding.code,
                        check.id
                    );
                }
                outcome
            })
            .collect()
    }

    /// All findings of all checks.
    pub(super) fn all_findings(&self) -> Vec<Finding> {
        let outcomes = self.outcomes().into_iter();
        outcomes.flat_map(|outcome| outcome.findings).collect()
    }

    /// What could not be checked and matters.
    pub(super) fn unchecked(&self) -> Vec<Unchecked> {
        let outcomes = self.outcomes().into_iter();
        let unchecked = outcomes.flat_map(|outcome| outcome.unchecked);
        unchecked.filter(|unchecked| unchecked.matters).collect()
    }

    /// The findings of this code.
    pub(super) fn findings(&self, code: &str) -> Vec<Finding> {
        let all = self.all_findings().into_iter();
        all.filter(|finding| finding.code == code).collect()
    }

    /// The only finding of this code, beside symptoms that name it as their cause.
    pub(super) fn one(&self, code: &str) -> Finding {
        let all = self.all_findings();
        let (hits, rest): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|finding| finding.code == code);
        let alone = rest.iter().all(|other| other.causes.contains(&code));
        assert!(alone, "beside {code}: {:?}", codes(&rest));
        assert_eq!(hits.len(), 1, "{hits:#?}");
        hits.into_iter().next().unwrap()
    }
}

/// A finding that a remedy clears has one, and each says how to see that it worked.
fn holds_what_it_promises(finding: &Finding) {
    let entry = catalog::find(finding.code).unwrap();
    let more = finding.summary.ends_with("more of the same kind");
    if finding.code < "HM400" || more {
        return;
    }
    let clears = entry.cleared_by == catalog::ClearedBy::Remedy;
    assert!(!clears || !finding.remedies.is_empty(), "{finding:?}");
    let mends = finding
        .remedies
        .iter()
        .any(|remedy| !only_looks(&remedy.argv));
    assert!(!clears || mends, "a look clears nothing: {finding:?}");
    let told = finding
        .remedies
        .iter()
        .all(|remedy| !remedy.verify.is_empty());
    assert!(told, "{finding:?}");
    assert!(!finding.evidence.is_empty(), "{finding:?}");
}

/// Whether a command changes nothing, and so can clear nothing.
fn only_looks(argv: &[String]) -> bool {
    let words: Vec<_> = argv.iter().map(String::as_str).collect();
    match words.as_slice() {
        []
        | ["hermes", "--version", ..]
        | ["hermes", "cron", "list" | "runs" | "doctor" | "show", ..] => true,
        ["hermes", rest @ ..] => rest.contains(&"--dry-run"),
        ["sh", "-c", line] => line.starts_with("command -v"),
        ["timedatectl", verb, ..] => *verb == "status",
        [program, ..] => ["ls", "du", "ps", "lsof", "journalctl"].contains(program),
    }
}

/// The codes of findings, in their order.
pub(super) fn codes(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.code).collect()
}

/// A loop of five minutes that is due then, in seconds since 1970.
pub(super) fn looping(due: f64) -> Value {
    json!({
        "prompt": "check the build", "status": "active", "mode": "interval",
        "interval_seconds": 300.0, "current_delay": 300.0, "times": 0, "until": "",
        "max_ticks": 100, "ticks_fired": 1, "created_at": due - 900.0,
        "last_fired_at": due - 300.0, "next_due_at": due, "awaiting_response": false,
        "last_response_digest": "", "paused_reason": null, "last_stop_reason": null, "route": {},
    })
}

/// The start of this process, in clock ticks.
pub(super) fn own_start() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after = text.rsplit_once(')').unwrap().1;
    after.split_whitespace().nth(19).unwrap().parse().unwrap()
}

/// Gives a tree to an account.
fn give(path: &Path, uid: u32) {
    std::os::unix::fs::lchown(path, Some(uid), Some(uid)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in std::fs::read_dir(path).unwrap().map(Result::unwrap) {
            give(&entry.path(), uid);
        }
    }
}

/// Copies a directory with all that is in it.
pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&target, mode).unwrap();
        }
    }
}
