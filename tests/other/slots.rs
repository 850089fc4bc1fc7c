//! Several schedulers of both programs on one home: one run a slot.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::Other;
use crate::common::Sandbox;
use crate::common::jobs::{job, script, settled, with};
use crate::common::serving::{self, Serving};

/// Rounds, each one slot of each job.
const ROUNDS: i64 = 60;
/// In whose middle serve is killed, and the passive one takes over.
const TAKE_OVER: i64 = ROUNDS / 2;
const JOBS: [&str; 6] = [
    "aaaaaaaaaaaa",
    "bbbbbbbbbbbb",
    "cccccccccccc",
    "dddddddddddd",
    "eeeeeeeeeeee",
    "ffffffffffff",
];

/// A home in which every job has a slot each minute, and leaves a line in a file of its own.
fn busy_home() -> Sandbox {
    let jobs: Vec<Value> = JOBS
        .iter()
        .enumerate()
        .map(|(index, id)| {
            let schedule = if index % 2 == 0 {
                json!({"kind": "interval", "minutes": 1, "display": "every 1m"})
            } else {
                json!({"kind": "cron", "expr": "* * * * *", "display": "* * * * *"})
            };
            let more = json!({
                "schedule": schedule, "script": format!("{id}.sh"),
                "next_run_at": "2026-06-17T10:01:00+00:00",
            });
            job(id, &more)
        })
        .collect();
    let sandbox = with(&jobs);
    serving::configure(&sandbox, "");
    for id in JOBS {
        let file = runs_of(&sandbox, id);
        script(
            &sandbox,
            &format!("{id}.sh"),
            &format!("echo ran >>{}", file.display()),
        );
    }
    sandbox
}

fn runs_of(sandbox: &Sandbox, id: &str) -> std::path::PathBuf {
    sandbox.user_home().join(format!("runs-{id}"))
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path)
        .unwrap_or_default()
        .lines()
        .count()
}

/// A pass by hand, begun.
fn pass(sandbox: &Sandbox, at: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_hermes"))
        .env_clear()
        .env("HOME", sandbox.user_home())
        .env("PATH", "/usr/bin:/bin")
        .env("TZ", "UTC")
        .env("__HERMES_NOW", at)
        .args(["cron", "tick"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

fn count(sandbox: &Sandbox, sql: &str) -> i64 {
    let ledger = Connection::open(sandbox.home().join("cron/executions.db")).expect("the ledger");
    ledger.query_row(sql, [], |row| row.get(0)).expect("a row")
}

#[test]
#[ignore = "needs the package of the other program"]
fn two_serves_passes_by_hand_and_the_other_programs_scheduler_give_one_run_a_slot() {
    let sandbox = busy_home();
    let begin: Timestamp = "2026-06-17T10:00:01Z".parse().expect("an instant");
    let mut serve = Some(Serving::at(&sandbox, &begin.to_string()));
    // Its clock stands at the moment at which it takes over.
    let later = begin + SignedDuration::from_mins(TAKE_OVER - 1);
    let passive = serving::command(&sandbox, &later.to_string(), &["--passive"]).spawn();
    let mut passive = Some(passive.expect("it starts"));
    let mut others = [Other::start(&sandbox), Other::start(&sandbox)];
    for round in 1..=ROUNDS {
        let now = begin + SignedDuration::from_mins(round);
        if round == TAKE_OVER {
            serve.take().expect("a serve").kill();
            let next = Serving::ready(&sandbox, passive.take().expect("the passive one"));
            serve = Some(next);
        }
        let at = now.to_string().replace('Z', "+00:00");
        for other in &mut others {
            other.begin(&json!({"do": "tick", "at": at}));
        }
        let by_hand = [pass(&sandbox, &at), pass(&sandbox, &at)];
        let serve = serve.as_mut().expect("a serve");
        serve.clock("advance 60");
        serve.clock("settle");
        for mut pass in by_hand {
            pass.wait().expect("its end");
        }
        for other in &mut others {
            other.answer();
        }
        settled(&sandbox);
        for id in JOBS {
            let ran = lines(&runs_of(&sandbox, id));
            assert_eq!(i64::try_from(ran).ok(), Some(round), "{id} at {at}");
        }
    }
    let open = "SELECT count(*) FROM executions WHERE status IN ('claimed', 'running')";
    assert_eq!(count(&sandbox, open), 0);
    let twice = "SELECT count(*) FROM (SELECT 1 FROM executions WHERE status = 'completed' \
                 GROUP BY job_id, scheduled_instant HAVING count(*) > 1)";
    assert_eq!(count(&sandbox, twice), 0);
    let ours = count(
        &sandbox,
        "SELECT count(*) FROM execution_facts WHERE worker_pid IS NOT NULL",
    );
    let all = count(
        &sandbox,
        "SELECT count(*) FROM executions WHERE status = 'completed'",
    );
    assert_eq!(
        usize::try_from(all).ok(),
        usize::try_from(ROUNDS).ok().map(|n| n * JOBS.len())
    );
    assert!(
        ours > 0 && ours < all,
        "both programs took part: {ours} of {all}"
    );
}
