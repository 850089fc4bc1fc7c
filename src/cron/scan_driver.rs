//! One scan of the store: reads it under its lock, asks `due`, saves all changes at once, and records
//! what became of slots that do not run.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

use super::agenda::{self, Earlier};
use super::dispatcher::{Dispatcher, blocking};
use super::due::{Policy, Scene};
use super::fire_lock;
use super::job_list::JobList;
use super::jobs_file::Version;
use super::known_probe::Known;
use super::next::Zones;
use super::output::Document;
use super::scan::{Found, InFlight, scan};
use super::unrun::Gone;
use crate::error::Result;
use crate::fault;
use crate::home::Home;
use crate::host::locks::{Holder, LockTable};

/// What a scan needs.
pub(super) struct Scan {
    pub(super) dispatcher: Arc<Dispatcher>,
    pub(super) in_flight: InFlight,
    pub(super) now: Timestamp,
    /// The pass before this one, where it was a moment ago.
    pub(super) last_pass: Option<Timestamp>,
    /// From when to when an emergency stop kept passes from looking.
    pub(super) stopped: Option<(Timestamp, Timestamp)>,
    /// Jobs that wait for room: overdue ones do not join them.
    pub(super) waiting: usize,
    /// There will be a scan after this one.
    pub(super) is_kept: bool,
}

/// What a scan leaves for the next: of which version of the store none is known where it was not there.
pub(super) type Looked = agenda::Looked<Option<Version>>;

/// What is known beside the jobs.
pub(super) struct Stage {
    now: Timestamp,
    last_pass: Option<Timestamp>,
    zones: Zones,
    policy: Policy,
    machine: String,
    running: HashSet<String>,
    known: Known,
}

impl Stage {
    fn scene(&self) -> Scene<'_> {
        Scene {
            now: self.now,
            last_pass: self.last_pass,
            zones: &self.zones,
            policy: self.policy,
            machine: &self.machine,
            running: &self.running,
            witness: &self.known,
        }
    }
}

impl Scan {
    /// Gathers it, once for a pass: the ledger is read.
    pub(super) async fn stage(&self) -> Result<Stage> {
        let dispatcher = &self.dispatcher;
        let mut policy = Policy::of(&dispatcher.parts.settings);
        let most = policy.max_catch_ups;
        policy.inherits_before = self.is_kept.then_some(dispatcher.began);
        policy.max_catch_ups = most.map(|most| most.saturating_sub(self.waiting));
        Ok(Stage {
            now: self.now,
            last_pass: self.last_pass,
            zones: dispatcher.zones().zones,
            policy,
            machine: dispatcher.parts.machine.clone(),
            running: self.in_flight.keys().cloned().collect(),
            known: Known::of(dispatcher, self.now).await?,
        })
    }

    /// Asks the jobs that are awake, as they were seen, without the store: it has not changed. `false`:
    /// something happens to one of them.
    pub(super) async fn stays_so(stage: Stage, mut seen: Looked) -> Result<(Stage, Looked, bool)> {
        let ask = move || {
            let stays_so = seen.agenda.stays_so(&stage.scene());
            seen.at = stage.now;
            Ok((stage, seen, stays_so))
        };
        blocking(ask).await
    }

    /// Scans the store, in the light of what was seen of it before.
    pub(super) async fn run(
        self,
        stage: Stage,
        mut seen: Option<Looked>,
    ) -> Result<(Found, Option<Looked>)> {
        let (dispatcher, now, in_flight) = (Arc::clone(&self.dispatcher), self.now, self.in_flight);
        let (stopped, is_kept) = (self.stopped, self.is_kept);
        let ledger = dispatcher.ledger_door();
        let look = move |jobs: &mut JobList<'_>, version| {
            // Of a second round, over what somebody wrote past the lock, nothing is known.
            let scene = stage.scene();
            let earlier = Earlier::of(seen.take(), &version, (&scene, is_kept));
            let (change, records) = scan(jobs, (&scene, &in_flight, stopped), earlier, &mut new_id);
            // Before the store moves on: a slot that nobody runs must not vanish between the two.
            if !records.is_empty() {
                ledger.with(|ledger| ledger.record_unrun(&records.slots, &records.ranges, now))?;
            }
            fault::point("scan.recorded");
            Ok(change)
        };
        let ((mut found, gone), version) = dispatcher.with_version(look).await?;
        fault::point("scan.saved");
        for gone in gone {
            tell_of(&dispatcher, gone, now).await;
        }
        let looked = found.agenda.take().map(|agenda| Looked {
            at: now,
            version,
            agenda,
        });
        Ok((found, looked))
    }
}

/// Twelve digits of a random id.
fn new_id() -> String {
    let id = Uuid::new_v4().simple().to_string();
    id.chars().take(12).collect()
}

/// Longest wait for the lock of a job whose end is to be told: other jobs wait for this scan.
const FOR_A_DOCUMENT: Duration = Duration::from_secs(2);

/// Says that a one-shot is gone, in whatever way somebody may look for it. The scan goes on if it cannot.
async fn tell_of(dispatcher: &Dispatcher, gone: Gone, now: Timestamp) {
    let zone = dispatcher.zone();
    (dispatcher.parts.say)(&gone.sentence(&zone));
    let document = Document {
        job_id: &gone.job_id,
        name: &gone.name,
        execution_id: "none",
        mode: "none",
        outcome: gone.why.as_str(),
        seconds: 0,
        monitor_digest: None,
        body: &gone.body(&zone),
    };
    let home = &dispatcher.parts.home;
    let lock = fire_lock::take_within(&home.cron(), &gone.job_id, FOR_A_DOCUMENT).await;
    let saved = lock.and_then(|_lock| document.save(home, 0, now, &zone));
    if let Err(error) = &saved {
        let why = error.in_full();
        (dispatcher.parts.say)(&format!(
            "The document that tells of it was not kept: {why}."
        ));
    }
    let path = saved.ok().map(|path| path.to_string_lossy().into_owned());
    let told = dispatcher
        .with_ledger(move |ledger| {
            ledger.record_failure(&gone.job_id, &gone.error(), path.as_deref(), now)
        })
        .await;
    if let Err(error) = told {
        (dispatcher.parts.say)(&format!(
            "The ledger could not be told of it: {}.",
            error.in_full()
        ));
    }
}

/// A live gateway of the other program keeps all cron ticks of its home: it holds `gateway.lock` for
/// its life. The lock is looked at, never tried.
pub(super) fn other_scheduler(home: &Home) -> Option<String> {
    let path = home.join("gateway.lock");
    if !path.exists() {
        return None;
    }
    let holder = LockTable::new().holder(&path);
    match &holder {
        Holder::Held { pid, .. } if *pid != std::process::id() => Some(format!(
            "a gateway of Hermes Agent (pid {pid}) schedules this home"
        )),
        Holder::HeldByEndedTaker { .. } | Holder::HeldOutside => {
            Some("a gateway of Hermes Agent schedules this home".to_owned())
        }
        _ => None,
    }
}
