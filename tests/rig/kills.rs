//! SIGKILL of serve and of workers at each step of the handover, under a real manager and for each way in which
//! a worker is placed: no slot runs twice, none vanishes without a record, no row stays open, and nothing of a
//! killed run stays behind, no process and no unit.

use std::collections::BTreeMap;

use serde_json::Value;

use super::faults::Faults;
use super::job::{due_at, facts, runs, slots_not_run};
use super::service::{Service, UNIT};
use super::{HOME, Rig};

/// Leaves a line, and what would outlive it: found by no mark, and in a unit of its own by no group either.
const WORK: &str =
    "echo $HERMES_EXECUTION_ID >>begun; OUT env -i /bin/sleep 43210 >/dev/null 2>&1 & echo done";

/// What is to be seen of a slot at whose run somebody was killed.
#[derive(Clone, Copy)]
struct Seen {
    /// How often its job began.
    began: &'static [&'static str],
    /// How its row ends.
    ends: &'static [&'static str],
    /// Whether it was the second offer that a worker adopted, where that is certain.
    twice: Option<bool>,
}

const RAN: Seen = Seen {
    began: &["1"],
    ends: &["completed"],
    twice: Some(false),
};
const RAN_SECOND: Seen = Seen {
    twice: Some(true),
    ..RAN
};
const RAN_EITHER: Seen = Seen { twice: None, ..RAN };
const CUT_SHORT: Seen = Seen {
    ends: &["unknown"],
    ..RAN
};
const NEVER_BEGAN: Seen = Seen {
    began: &["0"],
    ..CUT_SHORT
};
const NOT_LAUNCHED: Seen = Seen {
    ends: &["failed"],
    ..NEVER_BEGAN
};
/// A restart kills what has just begun, sooner or later.
const TAKEN_ALONG: Seen = Seen {
    began: &["0", "1"],
    ends: &["completed", "unknown"],
    ..RAN
};

type Places = &'static [(&'static str, Seen)];

/// Who is killed where, and what is to be seen of the slot then.
const EVERYWHERE: Places = &[
    ("scan.saved", RAN),
    ("dispatcher.claimed", RAN),
    ("dispatcher.row", RAN),
    ("dispatcher.offered", RAN),
    ("worker.placed", RAN_SECOND),
    ("worker.payload", RAN_SECOND),
    ("worker.placed worker.placed+", NOT_LAUNCHED),
    ("worker.won", NEVER_BEGAN),
    ("worker.adopted", NEVER_BEGAN),
    ("worker.acknowledged", NEVER_BEGAN),
    ("worker.ran", CUT_SHORT),
    ("worker.saved", RAN),
    ("worker.delivered", RAN),
    ("worker.marked", RAN),
    ("worker.saved dispatcher.booked", RAN),
];

/// The same, where a worker outlives its dispatcher, and where it does not.
const IN_A_UNIT: Places = &[
    ("dispatcher.spawned", RAN),
    ("dispatcher.answered", RAN),
    ("dispatcher.answered worker.ran", CUT_SHORT),
];
const IN_NONE: Places = &[
    ("dispatcher.spawned", TAKEN_ALONG),
    ("dispatcher.answered", TAKEN_ALONG),
];

/// On the way into a scope, and into a service.
const TO_A_SCOPE: Places = &[("worker.asks", RAN_SECOND), ("worker.asked", RAN_SECOND)];
const TO_A_SERVICE: Places = &[
    ("worker.asks_service", RAN_SECOND),
    // The manager may come too late to its program.
    ("worker.asked_service", RAN_EITHER),
    ("worker.handed_on", RAN),
];

/// A serve whose jobs are placed in one way.
struct Bench<'a> {
    rig: &'a Rig,
    serve: Service<'a>,
    faults: Faults<'a>,
    /// By a manager of the account.
    managed: bool,
}

impl<'a> Bench<'a> {
    fn of(rig: &'a Rig, serve: Service<'a>, managed: bool) -> Self {
        let work = WORK.replace("OUT", if managed { "setsid" } else { "" });
        rig.sh(&format!(
            "cd {HOME} && printf '%s\\n' '#!/bin/sh' '{work}' >scripts/ok.sh && chown --reference . scripts/ok.sh"
        ));
        let faults = Faults::of(rig);
        serve.systemctl("start").settle();
        Self {
            rig,
            serve,
            faults,
            managed,
        }
    }

    /// Lets a slot come due with these places armed, and then things take their course.
    fn slot(&self, places: &str) -> Value {
        let before = runs(self.rig).len();
        let pid = self.serve.pid();
        if self.managed {
            self.faults.in_services_too(&self.serve);
        }
        self.faults.arm(places);
        due_at(self.rig, self.serve.now());
        self.serve.minute_if_it_lives();
        self.faults.are_met();
        if places.contains("dispatcher.") || places.contains("scan.") {
            self.rig.until(&format!(
                "! systemctl show -P MainPID {UNIT} | grep -qx -e 0 -e {pid} && systemctl is-active -q {UNIT}"
            ));
        }
        // What is on offer is for half a minute.
        self.serve.settle().minute().settle();
        let told = runs(self.rig);
        let rows = told.len() - before;
        assert_eq!(rows, 1, "{places}: one row for its slot: {told:?}");
        told[0].clone()
    }

    fn shows(&self, way: [&str; 3], places: Places) {
        for (places, seen) in places {
            let run = self.slot(places);
            let [ended, mode, mechanism, manager, _] = facts(&run);
            assert!(seen.ends.contains(&ended), "{places}: {run}");
            // A worker that has just won its row has put nothing down yet.
            let is_known = !["", "unknown"].contains(&mode);
            let is_so = [mode, mechanism, manager] == way;
            assert!(!is_known || is_so, "{places}: {run}");
            // What handed its pipes on to a service did not run the job.
            let error = run["error"].as_str().unwrap_or_default();
            assert!(!error.contains("exited with 0 before"), "{places}: {run}");
            let id = run["id"].as_str().expect("an id");
            let began = format!("grep -cx {id} {HOME}/begun || true");
            let began = self.rig.sh(&began);
            assert!(seen.began.contains(&began.as_str()), "{places}: {run}");
            let noted = run["facts"]["detail"].as_str().unwrap_or_default();
            let twice = noted.starts_with("offered twice: the worker did not adopt its execution");
            let certain = seen.twice.unwrap_or(twice);
            assert_eq!(twice, certain, "{places}: {run}");
            let passed_by = slots_not_run(self.rig);
            assert_eq!(passed_by, [Value::Null; 0], "{places}: it has its run");
            let left = self.faults.left();
            assert_eq!(left, "", "{places}: nothing is left of {run}");
        }
    }

    /// Over all places: each run began once at most, and each slot has one row.
    fn once(&self) {
        let begun = self.rig.sh(&format!("sort {HOME}/begun | uniq -d"));
        assert_eq!(begun, "", "it ran twice");
        let mut rows = BTreeMap::new();
        for run in runs(self.rig) {
            let slot = run["scheduled_instant"].to_string();
            assert!(
                rows.insert(slot, run["id"].clone()).is_none(),
                "two rows of a slot"
            );
        }
    }
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn whoever_is_killed_in_a_handover_to_a_scope_no_slot_is_lost_or_run_twice() {
    let rig = Rig::with_account(&[], true);
    let serve = Service::of(&rig, "svc", &Faults::lines());
    let bench = Bench::of(&rig, serve, true);
    let way = ["scoped", "scope", "user"];
    for places in [EVERYWHERE, IN_A_UNIT, TO_A_SCOPE] {
        bench.shows(way, places);
    }
    bench.once();
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn whoever_is_killed_in_a_handover_to_a_service_no_slot_is_lost_or_run_twice() {
    let rig = Rig::with_account(&[], true);
    let serve = Service::of(&rig, "svc", &Faults::lines());
    let bench = Bench::of(&rig, serve, true);
    rig.restart_system_bus();
    let way = ["scoped", "service", "user"];
    for places in [EVERYWHERE, IN_A_UNIT, TO_A_SCOPE, TO_A_SERVICE] {
        bench.shows(way, places);
    }
    bench.once();
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn whoever_is_killed_in_a_degraded_handover_no_slot_is_lost_or_run_twice() {
    let rig = Rig::with_account(&[], false);
    let serve = Service::without_manager(&rig, &Faults::lines(), 0);
    let bench = Bench::of(&rig, serve, false);
    let way = ["degraded", "child", ""];
    for places in [EVERYWHERE, IN_NONE] {
        bench.shows(way, places);
    }
    bench.once();
}
