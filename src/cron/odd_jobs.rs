//! Tests: jobs of every kind that a store may hold, sound and odd, made of throws of dice.

use std::collections::{HashMap, HashSet};

use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::due::Witness;
use super::job::RawJob;
use super::stamp::Stamp;

/// The throws for one job.
pub(super) fn throws() -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), 40)
}

/// Instants near changes of the clock, and one of summer.
pub(super) fn start() -> impl Strategy<Value = Timestamp> {
    let near = [
        "2026-03-28T22:00:00Z",
        "2026-10-24T21:30:00Z",
        "2026-06-17T10:00:30Z",
    ];
    prop::sample::select(near.map(|text| text.parse().unwrap()).to_vec())
}

/// What the ledger and the process table say.
#[derive(Clone, Debug, Default)]
pub(super) struct World {
    pub(super) done: HashMap<(String, Timestamp), Timestamp>,
    pub(super) dead: HashSet<String>,
    pub(super) open: HashSet<String>,
}

impl Witness for World {
    fn completed(&self, job_id: &str, slot: Timestamp) -> Option<Timestamp> {
        self.done.get(&(job_id.to_owned(), slot)).copied()
    }

    fn is_dead(&self, owner: &str) -> bool {
        self.dead.contains(owner)
    }

    fn is_open(&self, job_id: &str) -> bool {
        self.open.contains(job_id)
    }

    fn done_ahead(&self, now: Timestamp) -> Vec<String> {
        let slots = self.done.keys();
        let ahead = slots.filter(|(_, slot)| *slot > now);
        ahead.map(|(id, _)| id.clone()).collect()
    }
}

struct Dice<'a>(std::slice::Iter<'a, u16>);

impl Dice<'_> {
    fn throw(&mut self, sides: u16) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0) % sides)
    }

    fn of<T: Clone>(&mut self, values: &[T]) -> T {
        let sides = u16::try_from(values.len()).unwrap();
        values[self.throw(sides)].clone()
    }

    /// A stamp from some hours before to days after, mostly of whole minutes.
    fn stamp(&mut self, base: Timestamp) -> Value {
        let minutes = self.of(&[
            -4000, -200, -31, -6, -2, -1, 0, 1, 2, 5, 29, 60, 200, 1500, 9000,
        ]);
        let at = base + SignedDuration::from_mins(minutes);
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        match self.throw(12) {
            0..=6 => Stamp::of(at, &berlin).to_string().into(),
            7 | 8 => Stamp::with_offset(at, Offset::UTC).to_string().into(),
            9 => {
                let text = Stamp::of(at, &berlin).to_string();
                text[..19].into()
            }
            10 => Value::Null,
            _ => self.of(&[json!("junk"), json!(""), json!(7), json!(null)]),
        }
    }

    fn schedule(&mut self, base: Timestamp) -> Value {
        let expressions = [
            "*/5 * * * *",
            "30 2 * * *",
            "0 9 * * 1-5",
            "0 0 1 * *",
            "15 * * * *",
            "0 0 30 2 *",
        ];
        match self.throw(12) {
            0..=3 => json!({"kind": "interval", "minutes": self.of(&[1, 5, 30, 1440])}),
            4..=7 => json!({"kind": "cron", "expr": self.of(&expressions)}),
            8 | 9 => json!({"kind": "once", "run_at": self.stamp(base)}),
            10 => json!({"kind": self.of(&["cron", "interval"]), "expr": "bogus"}),
            _ => self.of(&[
                json!(null),
                json!({}),
                json!("text"),
                json!({"kind": "new"}),
            ]),
        }
    }

    fn claim(&mut self, base: Timestamp) -> Value {
        json!({"at": self.stamp(base), "by": self.of(&["h:1", "h:2", "h:3"]), "scheduled_at": self.stamp(base)})
    }
}

/// One job, near an instant; of five in eight all is well but its times.
pub(super) fn job(throws: &[u16], base: Timestamp) -> RawJob {
    let mut dice = Dice(throws.iter());
    let mut job = json!({
        "id": dice.of(&["a", "b", "c", "d", "e", "f", "g", "h"]),
        "schedule": dice.schedule(base),
        "enabled": true, "state": "scheduled", "repeat": {"times": null, "completed": 0},
        "next_run_at": dice.stamp(base), "last_run_at": dice.stamp(base),
        "last_status": dice.of(&[json!("ok"), json!("error"), json!(null)]),
    });
    let job = job.as_object_mut().unwrap();
    let well = dice.throw(8) < 5;
    let mut odd = |key: &str, of: u16, value: &mut dyn FnMut(&mut Dice<'_>) -> Value| {
        if dice.throw(of) == 0 && !well {
            job.insert(key.into(), value(&mut dice));
        }
    };
    odd("id", 8, &mut |dice| {
        dice.of(&[json!(null), json!(7), json!("")])
    });
    odd("job_id", 8, &mut |_| json!("older"));
    odd("enabled", 4, &mut |dice| {
        dice.of(&[json!(false), json!(0), json!(1)])
    });
    odd("state", 3, &mut |dice| {
        dice.of(&[
            json!("paused"),
            json!("completed"),
            json!("error"),
            json!(null),
        ])
    });
    odd("pending_slot", 3, &mut |dice| dice.claim(base));
    odd("fire_claim", 3, &mut |dice| dice.claim(base));
    odd("run_claim", 3, &mut |dice| dice.claim(base));
    odd("paused_at", 6, &mut |dice| dice.stamp(base));
    odd("quota_hold_until", 3, &mut |dice| dice.stamp(base));
    odd("repeat", 5, &mut |dice| {
        dice.of(&[
            json!({"times": 1, "completed": 1}),
            json!({"completed": -1}),
            json!([1]),
        ])
    });
    odd("x_hermes", 4, &mut |_| json!({"catch_up": "skip"}));
    if dice.throw(3) == 0 {
        // One that failed a while ago, and waits for a slot that may be too far off.
        let ago = SignedDuration::from_mins(dice.of(&[1, 31, 200, 1500]));
        let ahead = SignedDuration::from_mins(dice.of(&[29, 60, 200, 1500, 9000]));
        job.insert("last_status".into(), "error".into());
        job.insert("last_run_at".into(), (base - ago).to_string().into());
        job.insert("next_run_at".into(), (base + ahead).to_string().into());
    }
    if dice.throw(8) == 0 {
        job.insert("manual_run_at".into(), job["next_run_at"].clone());
    }
    job.clone()
}
