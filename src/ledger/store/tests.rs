//! The ledger as it is written: claims, ends, and what never changes again.

use super::*;
use crate::ledger::{Cause, Outcome, Slot, SlotAt, SlotRange, rows};

fn owner(pid: u32) -> Owner {
    Owner {
        process_id: format!("{pid:032x}"),
        pid,
        start_ticks: Some(77),
    }
}

fn now() -> Timestamp {
    "2026-06-17T10:00:00Z".parse().unwrap()
}

fn ledger(directory: &tempfile::TempDir) -> Ledger {
    Ledger::open(&directory.path().join("executions.db"), TimeZone::UTC).unwrap()
}

fn claim(id: &str, slot: Option<Timestamp>) -> Claim<'_> {
    Claim {
        id,
        job_id: "job1",
        source: "builtin",
        slot: slot.map(SlotAt::from),
    }
}

#[test]
fn a_slot_is_claimed_once_across_connections() {
    let directory = tempfile::tempdir().unwrap();
    let (mut first, mut second) = (ledger(&directory), ledger(&directory));
    let slot = Some(now());
    assert_eq!(
        first.claim(&claim("a", slot), &owner(1), now()).unwrap(),
        Claimed::Ours
    );
    let taken = second.claim(&claim("b", slot), &owner(2), now()).unwrap();
    assert_eq!(
        taken,
        Claimed::SlotTaken {
            execution_id: "a".into(),
            status: "claimed".into(),
            owner: owner(1)
        }
    );
    // A run that is no slot's never collides.
    for id in ["m1", "m2"] {
        assert_eq!(
            second.claim(&claim(id, None), &owner(2), now()).unwrap(),
            Claimed::Ours
        );
    }
}

#[test]
fn a_slot_without_an_offset_is_on_record_and_its_row_names_none() {
    let directory = tempfile::tempdir().unwrap();
    let (mut first, mut second) = (ledger(&directory), ledger(&directory));
    let naive = |id| Claim {
        slot: Some(SlotAt {
            at: now(),
            is_naive: true,
        }),
        ..claim(id, None)
    };
    let ours = first.claim(&naive("a"), &owner(1), now()).unwrap();
    assert_eq!(ours, Claimed::Ours);
    let row = first
        .read(|c| rows::execution_by_id(c, "a"))
        .unwrap()
        .unwrap();
    assert_eq!(row.scheduled_instant, None);
    let slot = first.read(|c| rows::slot_of(c, &row)).unwrap();
    assert_eq!(slot, naive("a").slot);
    let slots = first.slots_of("job1", 5).unwrap();
    assert_eq!(slots[0].execution_id.as_deref(), Some("a"));
    for status in ["claimed", "failed", "run"] {
        let taken = second.claim(&naive("b"), &owner(2), now()).unwrap();
        let Claimed::SlotTaken {
            execution_id,
            status: stands,
            ..
        } = taken
        else {
            panic!("{status}: taken twice")
        };
        assert_eq!((execution_id.as_str(), stands.as_str()), ("a", status));
        if status == "claimed" {
            let end = End {
                ok: false,
                error: None,
                delivery: None,
            };
            assert!(first.finish("a", &owner(1), end, now()).unwrap());
            let known = first.read(|c| rows::slots_without_row(c, 5)).unwrap();
            assert_eq!(known.unwrap().len(), 1, "no row names it");
        } else {
            // The row goes with a thousand newer ones.
            let sql = "DELETE FROM executions";
            first.read(|c| c.execute(sql, [])).unwrap();
        }
    }
}

#[test]
fn one_worker_adopts_and_only_it_ends_the_row() {
    let directory = tempfile::tempdir().unwrap();
    let mut ledger = ledger(&directory);
    let (serve, worker, other) = (owner(1), owner(2), owner(3));
    ledger
        .claim(&claim("a", Some(now())), &serve, now())
        .unwrap();
    assert!(
        !ledger.adopt("a", &worker, now()).unwrap(),
        "not offered yet"
    );
    assert!(ledger.offer("a", &serve, now()).unwrap());
    assert!(ledger.adopt("a", &worker, now()).unwrap());
    assert!(
        !ledger.adopt("a", &other, now()).unwrap(),
        "adopted already"
    );
    let end = End {
        ok: true,
        error: None,
        delivery: None,
    };
    assert!(
        !ledger.finish("a", &serve, end, now()).unwrap(),
        "no longer serve's"
    );
    assert!(ledger.finish("a", &worker, end, now()).unwrap());
    assert!(
        !ledger.finish("a", &worker, end, now()).unwrap(),
        "an end is written once"
    );
    let row = ledger
        .read(|c| rows::execution_by_id(c, "a"))
        .unwrap()
        .unwrap();
    assert_eq!(row.status, crate::ledger::Status::Completed);
    assert_eq!(ledger.slots_of("job1", 5).unwrap()[0].outcome, Outcome::Run);
}

#[test]
fn the_first_cause_of_an_end_stays() {
    let directory = tempfile::tempdir().unwrap();
    let mut ledger = ledger(&directory);
    ledger.claim(&claim("a", None), &owner(1), now()).unwrap();
    assert!(
        ledger
            .record_cause("a", &Cause::Oom, "killed at its limit", now())
            .unwrap()
    );
    let why = (&Cause::CannotTell, "gone");
    assert!(ledger.finish_dead("a", &owner(1), why, now()).unwrap());
    let facts = ledger.read(|c| rows::facts(c, 10)).unwrap().unwrap();
    assert_eq!(facts[0].cause, Some(Cause::Oom));
}

#[test]
fn a_slot_that_ran_is_never_marked_missed() {
    let directory = tempfile::tempdir().unwrap();
    let mut ledger = ledger(&directory);
    ledger
        .claim(&claim("a", Some(now())), &owner(1), now())
        .unwrap();
    let missed = |at: Timestamp| Slot {
        job_id: "job1".into(),
        scheduled_at: utc(at),
        outcome: Outcome::Missed,
        reason: Some("nobody was there".into()),
        execution_id: None,
    };
    let earlier = now() - jiff::SignedDuration::from_hours(1);
    ledger
        .record_slots(&[missed(now()), missed(earlier)], now())
        .unwrap();
    let slots = ledger.slots_of("job1", 5).unwrap();
    assert_eq!(slots[0].outcome, Outcome::Running);
    assert_eq!(slots[1].outcome, Outcome::Missed);
}

#[test]
fn ended_rows_are_kept_within_bounds() {
    let directory = tempfile::tempdir().unwrap();
    let mut ledger = ledger(&directory);
    let end = End {
        ok: false,
        error: Some("no"),
        delivery: None,
    };
    for number in 0..KEPT + 5 {
        let id = format!("{number:04}");
        let at = now() + jiff::SignedDuration::from_secs(number.into());
        ledger.claim(&claim(&id, None), &owner(1), at).unwrap();
        ledger.finish(&id, &owner(1), end, at).unwrap();
    }
    let reach = ledger.read(rows::reach).unwrap().unwrap();
    assert_eq!(reach.rows, i64::from(KEPT));
    assert!(
        ledger
            .read(|c| rows::execution_by_id(c, "0004"))
            .unwrap()
            .is_none()
    );
    assert!(
        ledger
            .read(|c| rows::execution_by_id(c, "0005"))
            .unwrap()
            .is_some()
    );
}

#[test]
fn a_row_that_nobody_adopted_is_inherited_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut ledger = ledger(&directory);
    let (dead, heir, second) = (owner(1), owner(2), owner(3));
    ledger
        .claim(&claim("a", Some(now())), &dead, now())
        .unwrap();
    assert!(
        !ledger.inherit("a", &owner(9), &heir, now()).unwrap(),
        "not that one's row"
    );
    assert!(ledger.inherit("a", &dead, &heir, now()).unwrap());
    assert!(ledger.offer("a", &heir, now()).unwrap());
    assert!(!ledger.inherit("a", &heir, &second, now()).unwrap(), "once");
}

#[test]
fn a_good_end_has_no_cause_beside_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut ledger = ledger(&directory);
    for (id, ok, delivery) in [
        ("a", true, "delivered"),
        ("b", false, "delivered"),
        ("c", true, "failed"),
    ] {
        ledger.claim(&claim(id, None), &owner(1), now()).unwrap();
        ledger
            .record_cause(id, &Cause::GatewayRestart, "it was stopped", now())
            .unwrap();
        if delivery == "failed" {
            ledger.record_delivery_error(id, "no mailer").unwrap();
            ledger.record_delivery_error(id, "no mailer").unwrap();
        }
        let end = End {
            ok,
            error: None,
            delivery: Some(delivery),
        };
        assert!(ledger.finish(id, &owner(1), end, now()).unwrap());
        let facts = ledger.read(|c| rows::facts_of(c, id)).unwrap().unwrap();
        assert_eq!(facts.cause.is_none(), ok, "{id}");
        let detail = match id {
            "a" => None,
            "b" => Some("it was stopped"),
            _ => Some("it was stopped; no mailer"),
        };
        assert_eq!(facts.detail.as_deref(), detail, "{id}");
    }
}

#[test]
fn slots_in_a_row_that_were_left_out_are_not_called_missed() {
    let directory = tempfile::tempdir().unwrap();
    let mut ledger = ledger(&directory);
    for (outcome, stands) in [
        (Outcome::Missed, Outcome::Missed),
        (Outcome::Skipped, Outcome::Skipped),
        (Outcome::Missed, Outcome::Skipped),
    ] {
        let range = SlotRange {
            job_id: "job1".into(),
            first_at: utc(now()),
            last_at: utc(now()),
            count: Some(1),
            outcome,
            reason: None,
        };
        ledger.record_unrun(&[], &[range], now()).unwrap();
        let sql = "SELECT outcome FROM cron_slot_ranges";
        let word: String = ledger
            .read(|c| c.query_row(sql, [], |row| row.get(0)))
            .unwrap();
        assert_eq!(word, stands.word());
    }
}
