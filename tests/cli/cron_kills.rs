//! SIGKILL of serve and of workers at any moment: no slot runs twice, none vanishes without a record, no
//! row stays open, and nothing of a killed run stays behind.

#![expect(
    clippy::disallowed_methods,
    reason = "the test looks at the ledger itself"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::process::Child;

use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::chance::Chance;
use crate::common::jobs::{job, script, settled, with, workers};
use crate::common::serving;

const BEGIN: &str = "2026-06-17T10:00:01Z";

/// Places at which a serve kills itself, and those at which each of its workers does.
const PLACES: [&str; 19] = [
    "scan.recorded",
    "scan.saved",
    "dispatcher.claimed",
    "dispatcher.row",
    "dispatcher.offered",
    "dispatcher.spawned",
    "dispatcher.answered",
    "worker.placed",
    "worker.payload",
    "worker.won",
    "worker.adopted",
    "worker.acknowledged",
    "worker.ran",
    "worker.saved",
    "worker.delivering",
    "worker.delivered",
    "worker.marked",
    "dispatcher.booked",
    "none",
];

/// Looks after which nothing more is expected to happen.
const LOOKS: u32 = 60_000;

/// What a job does: it says that it began, starts something that would outlive it, works, and says so.
const WORK: &str = "echo \"$HERMES_JOB_ID $HERMES_EXECUTION_ID\" >>\"$HERMES_HOME/begun\"; \
                    sleep 600 >/dev/null 2>&1 & \
                    head -c 300000 /dev/zero | md5sum; \
                    echo \"$HERMES_EXECUTION_ID\" >>\"$HERMES_HOME/done\"";

/// One life of a serve, which may end at any moment.
struct Life {
    child: Child,
    clock: Option<BufReader<UnixStream>>,
}

impl Life {
    /// Starts one; it may be dead before it is ready.
    fn begin(sandbox: &Sandbox, now: Timestamp, fault: Option<&str>) -> Self {
        let mut command = serving::command(sandbox, &now.to_string(), &[]);
        if let Some(fault) = fault {
            command.env("__HERMES_FAULT", fault);
        }
        let mut child = command.spawn().expect("serve starts");
        let stdout = BufReader::new(child.stdout.take().expect("its stdout"));
        let _ready_or_dead = stdout.lines().map_while(Result::ok).nth(1);
        let clock = UnixStream::connect(sandbox.user_home().join("clock.sock"));
        let clock = clock.ok().map(BufReader::new);
        Self { child, clock }
    }

    /// Orders its clock about; says whether it obeyed, or is dead by now.
    fn clock(&mut self, order: &str) -> bool {
        let Some(clock) = self.clock.as_mut() else {
            return false;
        };
        let asked = clock.get_mut().write_all(format!("{order}\n").as_bytes());
        let mut answer = String::new();
        asked.is_ok() && clock.read_line(&mut answer).is_ok() && answer == "ok\n"
    }

    fn kill(mut self) {
        let _it_may_be_dead = self.child.kill();
        self.child.wait().expect("its end");
    }

    fn stop(mut self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a pid"), Signal::TERM).expect("it lives");
        assert!(self.child.wait().expect("its end").success());
    }
}

/// Jobs with slots each minute and each other minute.
fn busy_home() -> Sandbox {
    let every = |minutes: u64| json!({"kind": "interval", "minutes": minutes, "display": "x"});
    let cron = |expr: &str| json!({"kind": "cron", "expr": expr, "display": expr});
    let schedules = [every(1), cron("* * * * *"), every(2), cron("*/3 * * * *")];
    let jobs: Vec<Value> = schedules
        .iter()
        .enumerate()
        .map(|(index, schedule)| {
            let more = json!({"schedule": schedule, "next_run_at": "2026-06-17T10:03:00+00:00"});
            job(&format!("{index}").repeat(12), &more)
        })
        .collect();
    let sandbox = with(&jobs);
    serving::configure(&sandbox, "");
    script(&sandbox, "ok.sh", WORK);
    sandbox
}

/// Kills the youngest worker, where there is one; whether there was.
fn kill_a_worker(sandbox: &Sandbox) -> bool {
    let youngest = workers(sandbox).into_iter().map(|(pid, _)| pid).max();
    let pid = youngest.and_then(|pid| i32::try_from(pid).ok());
    let pid = pid.and_then(Pid::from_raw);
    pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
}

/// Lets a number of things happen, by the seed, and some looks more: the moment falls anywhere within a
/// handover. What happens is seen in the store, and in what the jobs write.
fn progress(sandbox: &Sandbox, chance: &mut Chance) {
    let seen = || {
        let files = ["cron/jobs.json", "cron/executions.db", "begun", "done"];
        files.map(|name| {
            let file = std::fs::metadata(sandbox.home().join(name)).ok();
            file.map(|file| (file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
        })
    };
    let (mut things, mut before) = (chance.below(16), seen());
    for _ in 0..LOOKS {
        let now = seen();
        if now != before {
            if things == 0 {
                break;
            }
            (things, before) = (things - 1, now);
        }
    }
    for _ in 0..chance.below(300) {
        seen();
    }
}

/// Lets a life work on what is due, and kills it, or one of its workers, in the middle.
fn one_life(sandbox: &Sandbox, now: &mut Timestamp, chance: &mut Chance) {
    let place = PLACES[usize::try_from(chance.below(PLACES.len() as u64)).expect("a place")];
    let fault = format!("{place}:{}", 1 + chance.below(4));
    let by_place = chance.below(2) == 0;
    let mut life = Life::begin(sandbox, *now, by_place.then_some(fault.as_str()));
    for _ in 0..chance.below(3) {
        *now += SignedDuration::from_mins(1);
        if !life.clock("advance 60") {
            break;
        }
    }
    progress(sandbox, chance);
    if chance.below(3) == 0 && kill_a_worker(sandbox) {
        // Serve learns of it, or does not come to it any more.
        progress(sandbox, chance);
    }
    life.kill();
    *now += SignedDuration::from_mins(i64::try_from(chance.below(3)).expect("minutes"));
}

fn rows<const N: usize>(sandbox: &Sandbox, sql: &str) -> Vec<[String; N]> {
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    let mut statement = ledger.prepare(sql).expect("a statement");
    let read = |row: &rusqlite::Row<'_>| {
        let mut values = [const { String::new() }; N];
        for (index, value) in values.iter_mut().enumerate() {
            *value = row.get::<_, Option<String>>(index)?.unwrap_or_default();
        }
        Ok(values)
    };
    let rows = statement.query_map([], read).expect("rows");
    rows.collect::<rusqlite::Result<_>>().expect("rows")
}

fn lines(sandbox: &Sandbox, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(sandbox.home().join(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Processes that carry this home in their environment.
fn left_behind(sandbox: &Sandbox) -> Vec<String> {
    let mark = format!("HERMES_HOME={}", sandbox.home().display());
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let has_mark = |path: &std::path::Path| {
        let environ = std::fs::read(path.join("environ")).unwrap_or_default();
        environ
            .split(|byte| *byte == 0)
            .any(|pair| pair == mark.as_bytes())
    };
    let found = entries
        .map(|entry| entry.path())
        .filter(|path| has_mark(path));
    let words = |path: std::path::PathBuf| std::fs::read_to_string(path.join("cmdline"));
    found.filter_map(|path| words(path).ok()).collect()
}

/// The slot of each run, as its own row has it: that of a slot names one run alone.
fn slots_of_runs(sandbox: &Sandbox) -> Vec<(String, (String, String))> {
    let sql = "SELECT id, job_id, scheduled_instant FROM executions";
    let found = rows(sandbox, sql).into_iter();
    found.map(|[id, job, slot]| (id, (job, slot))).collect()
}

fn killed(lives: u32, seed: u64) {
    let sandbox = busy_home();
    let mut now: Timestamp = BEGIN.parse().expect("an instant");
    let mut chance = Chance(seed);
    let mut slot_of: BTreeMap<String, (String, String)> = BTreeMap::new();
    for _ in 0..lives {
        one_life(&sandbox, &mut now, &mut chance);
        if sandbox.home().join("cron/executions.db").exists() {
            slot_of.extend(slots_of_runs(&sandbox));
        }
    }
    // Nobody kills any more: a handover's patience, and some passes.
    let mut last = Life::begin(&sandbox, now, None);
    for _ in 0..8 {
        now += SignedDuration::from_mins(1);
        assert!(last.clock("advance 60") && last.clock("settle"));
        settled(&sandbox);
    }
    assert!(last.clock("settle"));
    last.stop();
    slot_of.extend(slots_of_runs(&sandbox));
    judge(&sandbox, now, &slot_of);
}

fn judge(sandbox: &Sandbox, now: Timestamp, slot_of: &BTreeMap<String, (String, String)>) {
    let sql = "SELECT id, job_id, status FROM executions WHERE status IN ('claimed', 'running')";
    assert_eq!(rows::<3>(sandbox, sql), [[""; 3]; 0], "no row stays open");
    assert_eq!(left_behind(sandbox), [""; 0], "nothing stays behind");

    let (mut executions, mut slots) = (BTreeSet::new(), BTreeSet::new());
    for line in lines(sandbox, "begun") {
        let (job, id) = line.split_once(' ').expect("two words");
        assert!(executions.insert(id.to_owned()), "{id} ran twice");
        let slot = slot_of.get(id).unwrap_or_else(|| panic!("{id} has no row"));
        assert!(slot.0 == job && !slot.1.is_empty(), "{id}: {slot:?}");
        assert!(slots.insert(slot.clone()), "{slot:?} ran twice");
    }
    let ran = executions.len();
    assert!(ran > 20, "{ran} runs");

    let known: BTreeMap<(String, Timestamp), [String; 3]> = rows(
        sandbox,
        "SELECT job_id, scheduled_at, outcome, reason, execution_id FROM cron_slots",
    )
    .into_iter()
    .map(|[job, slot, outcome, reason, id]| {
        let slot = slot.parse().expect("an instant");
        ((job, slot), [outcome, reason, id])
    })
    .collect();
    let still = known
        .values()
        .filter(|[outcome, ..]| outcome == "running")
        .count();
    assert_eq!(still, 0, "no slot is called running");
    let last = now - SignedDuration::from_mins(1);
    let mut unknown = Vec::new();
    for (index, minutes) in [(0, 1), (1, 1), (2, 2), (3, 3)] {
        let job = format!("{index}").repeat(12);
        let mut slot: Timestamp = "2026-06-17T10:03:00Z".parse().expect("an instant");
        while slot < last {
            // A job that is armed again after a failure goes on in a cadence of its own: each period has a record.
            let next = slot + SignedDuration::from_mins(minutes);
            let period = (job.clone(), slot)..(job.clone(), next);
            if known.range(period).next().is_none() {
                unknown.push(format!("{index} {slot}"));
            }
            slot = next;
        }
    }
    let store = sandbox.home().join("cron/jobs.json");
    let store = std::fs::read_to_string(store).expect("the store");
    assert_eq!(
        unknown, [""; 0],
        "no slot vanishes without a record: {known:?} {store}"
    );
}

#[test]
fn slots_run_once_and_none_vanishes_whatever_is_killed() {
    killed(200, 1_000_003);
}
