//! Changes of people against runs of the ticker on one store: no update is lost, nothing that was
//! removed comes back.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};

use hermes::cron::claim::{self, Claimant};
use hermes::cron::edit;
use hermes::cron::finish::{self, Run, Settles};
use hermes::cron::jobs_file::{Change, JobsFile};
use hermes::cron::next::Zones;
use hermes::home::Home;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{NOW, hermes, home, job, store, stored, with};

/// Jobs that stay, are paused, and are removed.
const STAYS: &str = "aaaaaaaaaaaa";
const PAUSED: &str = "bbbbbbbbbbbb";
const REMOVED: &str = "cccccccccccc";
const CREATED: &str = "dddddddddddd";

fn now() -> Timestamp {
    NOW.parse().expect("an instant")
}

/// A moment of its own for each step of each seed: so many turns are given away before it.
fn wait(seed: u64, step: u64) {
    let mixed = (seed * 31 + step).wrapping_mul(6_364_136_223_846_793_005) >> 33;
    for _ in 0..mixed % 64 {
        std::thread::yield_now();
    }
}

/// What the ticker and a worker do to a job: claim, hand on, mark. Whether it could be claimed.
fn run(file: &JobsFile, id: &str, seed: u64) -> bool {
    let zone = TimeZone::UTC;
    let (by, worker) = (format!("h:1:{id}"), format!("h:2:{id}"));
    let claimed = file.update(now(), |jobs| {
        let claimant = Claimant {
            by: &by,
            holder_is_gone: false,
            manual: false,
        };
        Ok(match claim::take(jobs, id, claimant, now(), &zone) {
            Ok(()) => Change::Write(true),
            Err(_) => Change::Nothing(false),
        })
    });
    if !claimed.expect("a claim") {
        return false;
    }
    wait(seed, 7);
    let handed = file.update(now(), |jobs| {
        let hands = (by.as_str(), worker.as_str(), Settles::Naive(now()));
        Ok(if claim::hand_on(jobs, id, hands, now(), &zone) {
            Change::Write(true)
        } else {
            Change::Nothing(false)
        })
    });
    let claim = if handed.expect("a store") {
        &worker
    } else {
        &by
    };
    wait(seed, 8);
    let marked = file.update(now(), |jobs| {
        let Some(job) = jobs.find(id) else {
            return Ok(Change::Nothing(()));
        };
        let run = Run {
            ok: true,
            error: None,
            delivery_error: None,
            with_agent: false,
            manual: false,
            claim: Some(claim),
            monitor_digest: None,
            settles: Settles::Naive(now()),
        };
        finish::mark(job, &run, now(), &zone);
        Ok(Change::Write(()))
    });
    marked.expect("a store");
    true
}

/// A person creates, pauses and removes while the ticker runs all three jobs; which of them it could.
fn together(file: &JobsFile, seed: u64) -> [bool; 3] {
    let zones = Zones::of(TimeZone::UTC);
    let begin = Barrier::new(3);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            begin.wait();
            wait(seed, 1);
            let created = job(CREATED, &json!({}));
            let create = file.update(now(), |jobs| {
                jobs.push(created.as_object().expect("an object").clone());
                Ok(Change::Write(()))
            });
            create.expect("a store");
            wait(seed, 2);
            let pause = file.update(now(), |jobs| {
                let job = jobs.find(PAUSED).expect("the job");
                edit::pause(job, Some("enough"), now(), &zones).map(Change::Write)
            });
            pause.expect("a store");
        });
        scope.spawn(|| {
            begin.wait();
            wait(seed, 3);
            let remove = file.update(now(), |jobs| {
                Ok(Change::WriteAfterBackup(jobs.remove(REMOVED)))
            });
            assert!(remove.expect("a store"));
        });
        begin.wait();
        [STAYS, PAUSED, REMOVED].map(|id| {
            wait(seed, 4);
            run(file, id, seed)
        })
    })
}

/// One interleaving, and what must be true after it.
fn interleaved(seed: u64) {
    let sandbox = with(&[STAYS, PAUSED, REMOVED].map(|id| job(id, &json!({}))));
    let file = JobsFile::new(&Home::at(sandbox.home()), TimeZone::UTC);
    let ran = together(&file, seed);
    let kept = stored(&sandbox);
    let find = |id: &str| kept.iter().find(|job| job["id"] == id);
    assert!(find(REMOVED).is_none(), "seed {seed}: it came back");
    assert!(find(CREATED).is_some(), "seed {seed}: it is lost");
    let paused = find(PAUSED).expect("the paused one");
    assert_eq!(
        (
            &paused["state"],
            &paused["enabled"],
            &paused["paused_reason"]
        ),
        (&json!("paused"), &json!(false), &json!("enough")),
        "seed {seed}"
    );
    for (id, ran) in [(STAYS, ran[0]), (PAUSED, ran[1])] {
        let job: &Value = find(id).expect("a job");
        assert_eq!(
            job["repeat"]["completed"],
            u32::from(ran),
            "seed {seed}: {id}"
        );
        assert!(job["fire_claim"].is_null(), "seed {seed}: {id}");
        assert_eq!(job["future_key"].to_string(), "[1.5]");
    }
    assert!(ran[0], "nobody keeps this one from running");
}

/// So many interleavings, on four homes at a time.
fn interleavings(most: u32) {
    let next = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= most {
                        break;
                    }
                    interleaved(u64::from(seed));
                }
            });
        }
    });
}

#[test]
fn b59_no_update_is_lost_between_people_and_the_ticker() {
    interleavings(1000);
}

/// The same by processes: each minute what was created before is due, and ticked twice at once, while others
/// are created, paused and removed.
fn by_processes(rounds: u32) {
    let sandbox = home();
    let due = json!({"next_run_at": "2026-06-17T10:00:00+00:00"});
    store(&sandbox, &[job(STAYS, &due)]);
    for round in 0..rounds {
        let now = now() + SignedDuration::from_mins(i64::from(round));
        let run = |words: &[&str]| {
            let mut command = hermes(&sandbox, words);
            let command = command.env("__HERMES_NOW", now.to_string());
            let output = command.output().expect("it runs");
            assert!(output.status.success(), "{words:?}: {output:?}");
        };
        let (name, doomed) = (format!("new {round}"), format!("doomed {round}"));
        let script = ["--script", "ok.sh", "--no-agent", "--name"];
        let create = |name: &str| {
            let words = ["cron", "create", "every 1m"].into_iter().chain(script);
            run(&words.chain([name]).collect::<Vec<_>>());
        };
        create(&doomed);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| run(&["cron", "tick"]));
            }
            scope.spawn(|| create(&name));
            scope.spawn(|| {
                run(&["cron", "remove", &doomed, "--yes"]);
            });
            scope.spawn(|| {
                let word = if round % 2 == 0 { "pause" } else { "resume" };
                run(&["cron", word, STAYS]);
            });
        });
        is_as_asked(&sandbox, round);
    }
}

fn is_as_asked(sandbox: &Sandbox, round: u32) {
    let kept = stored(sandbox);
    let named = |name: String| kept.iter().find(|job| job["name"] == name.as_str());
    for earlier in 0..=round {
        let job = named(format!("new {earlier}"));
        let job = job.unwrap_or_else(|| panic!("round {round}: new {earlier} is lost"));
        // One run a slot, of whichever pass, and each is counted.
        let ran = &job["repeat"]["completed"];
        assert_eq!(ran, &json!(round - earlier), "round {round}: {job}");
        assert!(job["fire_claim"].is_null(), "round {round}: {job}");
        assert!(
            named(format!("doomed {earlier}")).is_none(),
            "round {round}: it came back"
        );
    }
    let job = kept.iter().find(|job| job["id"] == STAYS).expect("the job");
    assert_eq!(job["enabled"], round % 2 == 1, "round {round}");
}

#[test]
fn b59_no_update_is_lost_between_processes() {
    by_processes(30);
}
