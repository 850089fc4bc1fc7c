//! A ticker that goes by its agenda does what one does that reads all jobs at each pass.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::due::Policy;
use super::super::job_list::tests::written;
use super::super::jobs_file::Change;
use super::super::jobs_text::JobsText;
use super::super::next::Zones;
use super::super::odd_jobs::{self, World};
use super::super::scan::{Found, InFlight, scan};
use super::*;

/// What a pass does, and the store behind it; nothing in it where the pass does nothing.
#[derive(Debug, Default, PartialEq)]
struct Did {
    orders: Vec<(String, Option<Timestamp>, bool)>,
    held: usize,
    records: String,
    written: Option<String>,
}

/// A home, and what surrounds it.
struct Home {
    text: String,
    /// Grows with each write of somebody else, also of the same text.
    version: usize,
    now: Timestamp,
    world: World,
    in_flight: InFlight,
    zones: Zones,
    most: Option<usize>,
}

/// What the ticker with an agenda has seen.
type Seen = Looked<usize>;

impl Home {
    fn new(jobs: Vec<RawJob>, now: Timestamp, most: Option<usize>) -> Self {
        let mut home = Self {
            text: String::new(),
            version: 0,
            now,
            world: World::default(),
            in_flight: InFlight::new(),
            zones: Zones::of(TimeZone::get("Europe/Berlin").unwrap()),
            most,
        };
        home.put(jobs);
        home
    }

    fn jobs(&self) -> Vec<RawJob> {
        let text = JobsText::new(self.text.as_bytes()).unwrap();
        text.raw().unwrap().jobs
    }

    /// Somebody else writes.
    fn put(&mut self, jobs: Vec<RawJob>) {
        self.text = written(&JobList::from(jobs), "t");
        self.version += 1;
    }

    fn with_scene<T>(&self, act: impl FnOnce(&Scene<'_>) -> T) -> T {
        let running = self.in_flight.keys().cloned().collect();
        act(&Scene {
            now: self.now,
            last_pass: None,
            zones: &self.zones,
            policy: Policy {
                max_catch_ups: self.most,
                ..Policy::default()
            },
            machine: "h:1",
            running: &running,
            witness: &self.world,
        })
    }

    fn look(&self, earlier: Earlier) -> (Did, Found) {
        let text = JobsText::new(self.text.as_bytes()).unwrap();
        let mut list = text.list().unwrap();
        let mut ids = 0;
        let mut new_id = || {
            ids += 1;
            format!("new{ids}")
        };
        let (change, records) = self.with_scene(|scene| {
            scan(
                &mut list,
                (scene, &self.in_flight, None),
                earlier,
                &mut new_id,
            )
        });
        let (is_written, (found, _)) = match change {
            Change::Nothing(carried) => (false, carried),
            Change::Write(carried) | Change::WriteAfterBackup(carried) => (true, carried),
        };
        let orders = found.orders.iter();
        let did = Did {
            orders: orders
                .map(|order| {
                    (
                        order.job_id.clone(),
                        order.slot.map(|slot| slot.at),
                        order.manual,
                    )
                })
                .collect(),
            held: found.held,
            records: if records.is_empty() {
                String::new()
            } else {
                format!("{records:?}")
            },
            written: is_written.then(|| written(&list, "t")),
        };
        (did, found)
    }

    /// A pass as the ticker has it; with how many jobs it read, where it read the store.
    fn pass(&self, seen: Option<Seen>) -> (Did, Option<Seen>, Option<u64>) {
        let mut seen = Looked::until(seen, self.now);
        if let Some(seen) = seen
            .as_mut()
            .filter(|seen| seen.rests(&self.version, self.now))
            && (!seen.agenda.has_awake() || self.with_scene(|scene| seen.agenda.stays_so(scene)))
        {
            let seen = std::mem::take(&mut seen.agenda);
            return (Did::default(), Some(self.seen(seen, self.version)), None);
        }
        let earlier = self.with_scene(|scene| Earlier::of(seen, &self.version, (scene, true)));
        let (did, mut found) = self.look(earlier);
        let version = self.version + usize::from(did.written.is_some());
        let agenda = found.agenda.take().unwrap();
        (did, Some(self.seen(agenda, version)), Some(found.judged))
    }

    fn seen(&self, agenda: Agenda, version: usize) -> Seen {
        Seen {
            agenda,
            version,
            at: self.now,
        }
    }

    /// A pass of both kinds, which do the same.
    fn both(&mut self, seen: &mut Option<Seen>) -> Option<u64> {
        let (full, _) = self.look(Earlier::default());
        let (did, next, read) = self.pass(seen.take());
        assert_eq!(did, full, "at {}: {}", self.now, self.text);
        *seen = next;
        for (id, ..) in &did.orders {
            self.in_flight.insert(id.clone(), "it runs".into());
        }
        if let Some(written) = did.written {
            self.text = written;
            self.version += 1;
        }
        read
    }

    /// A run ends, and what its worker writes.
    fn end(&mut self, ok: bool) {
        let Some(id) = self.in_flight.keys().min().cloned() else {
            return;
        };
        self.in_flight.remove(&id);
        let mut jobs = self.jobs();
        let Some(job) = jobs
            .iter_mut()
            .find(|job| job.get("id") == Some(&json!(id)))
        else {
            return;
        };
        let slot = job
            .get("last_dispatch")
            .and_then(|dispatch| dispatch["scheduled_at"].as_str());
        if let Some(slot) = slot.and_then(|slot| self.zones.instant(slot)) {
            self.world.done.insert((id, slot), self.now);
        }
        job.remove("pending_slot");
        job.insert("last_run_at".into(), self.now.to_string().into());
        job.insert("last_status".into(), if ok { "ok" } else { "error" }.into());
        self.put(jobs);
    }

    /// One thing that happens between two passes.
    fn happen(&mut self, what: u8, which: u16, throws: &[u16]) {
        let mut jobs = self.jobs();
        let (place, id) = (
            usize::from(which) % (jobs.len() + 1),
            format!("{}", (b'a' + (which % 8) as u8) as char),
        );
        match what {
            0..=5 => return self.end(!which.is_multiple_of(3)),
            6 => jobs.insert(place, odd_jobs::job(throws, self.now)),
            7 => drop(jobs.get(place).cloned().map(|job| jobs.push(job))),
            8 if place < jobs.len() => drop(jobs.remove(place)),
            9 if place < jobs.len() => jobs[place] = odd_jobs::job(throws, self.now),
            10 => jobs.rotate_left(place),
            11 => {
                // The same jobs, spelled in another way.
                let list = jobs
                    .iter()
                    .map(|job| Value::Object(job.clone()))
                    .collect::<Vec<_>>();
                self.text = json!({"jobs": list}).to_string();
                self.version += 1;
                return;
            }
            12 => {
                let owner = format!("h:{}", which % 4);
                if !self.world.dead.remove(&owner) {
                    self.world.dead.insert(owner);
                }
                return;
            }
            13 => {
                if !self.world.open.remove(&id) {
                    self.world.open.insert(id);
                }
                return;
            }
            14 => {
                // A slot is known as done that may not have come, and the store is an older one.
                let slot = jobs
                    .get(place)
                    .and_then(|job| job.get("next_run_at")?.as_str());
                if let Some(slot) = slot.and_then(|slot| self.zones.instant(slot)) {
                    let id = jobs[place].get("id").and_then(Value::as_str).unwrap_or("a");
                    self.world.done.insert((id.to_owned(), slot), slot);
                }
            }
            _ => drop(self.in_flight.remove(&id)),
        }
        self.put(jobs);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_pass_by_the_agenda_does_what_a_look_at_all_jobs_does(
        throws in prop::collection::vec(odd_jobs::throws(), 1..8), start in odd_jobs::start(),
        steps in prop::collection::vec((0..24_u8, any::<u16>(), odd_jobs::throws(), 0..24_usize), 1..40),
        most in prop::sample::select(vec![None, Some(1)]),
    ) {
        let jobs = throws.iter().map(|throws| odd_jobs::job(throws, start)).collect();
        let mut home = Home::new(jobs, start, most);
        let mut seen = None;
        for (what, which, throws, wait) in steps {
            home.both(&mut seen);
            if what < 16 {
                home.happen(what, which, &throws);
            }
            let minutes = [1, 1, 1, 1, 1, 0, 0, 2, 7, 30, 60, 600, 4000, -1, -90, -1500];
            let minutes = minutes.get(wait).copied().unwrap_or(1);
            home.now += SignedDuration::from_mins(minutes);
        }
    }
}

/// Jobs that wait for tomorrow.
fn waiting(count: usize, start: Timestamp) -> Vec<RawJob> {
    let job = |number: usize| {
        json!({
            "id": format!("j{number}"), "enabled": true, "state": "scheduled",
            "schedule": {"kind": "interval", "minutes": 1440}, "last_status": "ok",
            "next_run_at": (start + SignedDuration::from_hours(24)).to_string(),
            "last_run_at": start.to_string(), "repeat": {"times": null, "completed": 3},
        })
    };
    (0..count)
        .map(|number| job(number).as_object().unwrap().clone())
        .collect()
}

fn start() -> Timestamp {
    "2026-06-17T10:00:30Z".parse().unwrap()
}

/// A home with so many jobs that wait, after its first pass.
fn looked_at(count: usize) -> (Home, Option<Seen>) {
    let (mut home, mut seen) = (Home::new(waiting(count, start()), start(), None), None);
    assert_eq!(
        home.both(&mut seen),
        u64::try_from(count).ok(),
        "the first look"
    );
    (home, seen)
}

fn pass(home: &mut Home, seen: &mut Option<Seen>) -> Option<u64> {
    home.now += SignedDuration::from_mins(1);
    home.both(seen)
}

#[test]
fn one_that_is_due_each_minute_among_many_is_the_one_that_is_read() {
    let (mut home, mut seen) = looked_at(300);
    let mut jobs = home.jobs();
    jobs[40].insert("schedule".into(), json!({"kind": "interval", "minutes": 1}));
    jobs[40].insert(
        "next_run_at".into(),
        (start() + SignedDuration::from_mins(3)).to_string().into(),
    );
    home.put(jobs);
    assert_eq!(
        pass(&mut home, &mut seen),
        Some(1),
        "whoever changed it changed one"
    );
    assert_eq!(pass(&mut home, &mut seen), None);
    for _ in 0..5 {
        assert_eq!(pass(&mut home, &mut seen), Some(1), "it is due");
        home.end(true);
    }
    home.now += SignedDuration::from_secs(10);
    assert_eq!(home.both(&mut seen), Some(1), "what its worker wrote");
    assert_eq!(home.both(&mut seen), None);
}

#[test]
fn a_pass_does_not_read_again_what_it_wrote_itself() {
    let (mut home, mut seen) = looked_at(50);
    let mut jobs = home.jobs();
    // Both change in the same pass: one gets a slot, the other goes.
    jobs[10].insert("next_run_at".into(), Value::Null);
    let once = json!({"kind": "once", "run_at": "2026-06-01T10:00:00+00:00"});
    jobs[4].extend(
        json!({"schedule": once, "state": "completed", "last_run_at": "2026-06-01T10:00:00+00:00"})
            .as_object()
            .unwrap()
            .clone(),
    );
    home.put(jobs);
    assert_eq!(pass(&mut home, &mut seen), Some(2));
    assert_eq!(home.jobs().len(), 49);
    assert_eq!(pass(&mut home, &mut seen), None);
    // The places moved up with their jobs.
    let mut jobs = home.jobs();
    jobs[30].insert("name".into(), json!("x"));
    home.put(jobs);
    assert_eq!(pass(&mut home, &mut seen), Some(1));
}

#[test]
fn those_behind_a_job_that_was_removed_or_came_between_are_known() {
    let (mut home, mut seen) = looked_at(50);
    let mut jobs = home.jobs();
    jobs.remove(7);
    jobs.rotate_left(5);
    let mut fresh = jobs[0].clone();
    fresh.insert("id".into(), json!("new"));
    jobs.insert(20, fresh);
    home.put(jobs);
    assert_eq!(pass(&mut home, &mut seen), Some(1));
    home.now -= SignedDuration::from_mins(5);
    assert_eq!(
        home.both(&mut seen),
        Some(50),
        "where the clock was set back, all are read"
    );
}

#[test]
fn one_that_is_awake_is_asked_without_the_store_until_something_happens_to_it() {
    let (mut home, mut seen) = looked_at(50);
    let mut jobs = home.jobs();
    // It failed, was silent for too long, and a run of it goes on.
    jobs[9].extend(
        json!({
            "schedule": {"kind": "interval", "minutes": 5}, "last_status": "error",
            "last_run_at": "2026-06-17T08:00:00+00:00",
        })
        .as_object()
        .unwrap()
        .clone(),
    );
    home.world.open.insert("j9".into());
    home.put(jobs);
    assert_eq!(pass(&mut home, &mut seen), Some(1));
    for _ in 0..30 {
        assert_eq!(pass(&mut home, &mut seen), None);
    }
    assert_eq!(seen.as_ref().unwrap().agenda.awake.len(), 1);
    home.world.open.clear();
    assert_eq!(
        pass(&mut home, &mut seen),
        Some(1),
        "the ledger alone has changed"
    );
    assert!(home.in_flight.contains_key("j9"));
}

#[test]
fn what_is_kept_of_a_job_that_waits_is_small() {
    let (home, seen) = looked_at(1000);
    let agenda = seen.unwrap().agenda;
    assert!(agenda.awake.is_empty());
    assert_eq!(agenda.wakes.len(), 1000);
    let each = size_of::<Place>() + size_of::<Reverse<(Timestamp, usize)>>();
    assert!(each <= 64, "{each} bytes");
    assert!(agenda.rests(home.now));
}
