//! What the doctor prints as a way out of what it finds in a home is run, just as it is printed, and then
//! what it prints to show that it worked. What lasts as long as a terminal (`serve`) is run in `serves`
//! and in the rig.

#![expect(clippy::disallowed_methods, reason = "remedies are programs")]

mod processes;
mod rows;
mod serves;

use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::common::Sandbox;

/// A pid that no process can have.
const GONE: u32 = 4_194_305;

/// So many seconds from now, as the stores write it.
fn at(seconds: i64) -> String {
    let at = Timestamp::now() + SignedDuration::from_secs(seconds);
    at.strftime("%Y-%m-%dT%H:%M:%S+00:00").to_string()
}

/// A job that runs a script alone, every half hour, the next time in ten minutes.
fn job() -> Value {
    json!({"id": "00000000000a", "name": "a", "prompt": "", "script": "ok.sh", "no_agent": true,
        "schedule": {"kind": "interval", "minutes": 30, "display": "every 30m"},
        "repeat": {"times": null, "completed": 0}, "enabled": true, "state": "scheduled",
        "created_at": at(-86_400), "next_run_at": at(600), "last_run_at": null, "last_status": null,
        "deliver": "local"})
}

/// The store with that job, these fields changed.
fn changed(sandbox: &Sandbox, fields: &Value) {
    let mut job = job();
    for (key, value) in fields.as_object().expect("fields") {
        job[key] = value.clone();
    }
    store(sandbox, &[job]);
}

fn store(sandbox: &Sandbox, jobs: &[Value]) {
    let text = json!({"jobs": jobs, "updated_at": at(0)}).to_string();
    sandbox.write("cron/jobs.json", text);
}

/// A home that somebody ticks, with one healthy job.
fn healthy() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("scripts/ok.sh", "echo hi\n");
    let now = Timestamp::now().as_second();
    let beat = format!("{now}.5 {}", std::process::id());
    sandbox.write("cron/ticker_heartbeat", beat);
    sandbox.write("cron/ticker_last_success", format!("{now}.5"));
    changed(&sandbox, &json!({}));
    sandbox
}

/// What breaks a home, by the code that tells of it.
type Break = (&'static str, fn(&Sandbox));

const BREAKS: &[Break] = &[
    ("HM401", |sandbox| {
        std::fs::remove_dir_all(sandbox.home().join("cron")).expect("a home");
    }),
    ("HM401", |sandbox| {
        changed(
            sandbox,
            &json!({"enabled": false, "state": "paused", "paused_at": at(-60)}),
        );
    }),
    ("HM412", |sandbox| {
        sandbox.write(
            "gateway.pid",
            json!({"pid": GONE, "start_time": 1}).to_string(),
        );
    }),
    ("HM415", |sandbox| {
        sandbox.write("ESTOP", "");
    }),
    ("HM416", |sandbox| {
        let mut paused = job();
        paused["id"] = "00000000000b".into();
        paused["state"] = "paused".into();
        paused["enabled"] = false.into();
        paused["paused_at"] = at(-60).into();
        store(sandbox, &[job(), paused]);
    }),
    ("HM416", |sandbox| {
        let paused = ["00000000000b", "-0000000000c"].map(|id| {
            let mut paused = job();
            paused["id"] = id.into();
            paused["state"] = "paused".into();
            paused
        });
        store(sandbox, &[vec![job()], paused.to_vec()].concat());
    }),
    ("HM501", |sandbox| {
        changed(sandbox, &json!({"next_run_at": at(-7_200)}));
    }),
    ("HM502", |sandbox| {
        changed(sandbox, &json!({"next_run_at": null}));
    }),
    ("HM502", |sandbox| {
        changed(sandbox, &json!({"next_run_at": "soon"}));
    }),
    ("HM503", |sandbox| {
        changed(sandbox, &json!({"next_run_at": at(99_999)}));
    }),
    ("HM504", |sandbox| {
        let tomorrow = at(86_400);
        let day = tomorrow.get(..10).expect("a day");
        let schedule = json!({"kind": "cron", "expr": "0 9 * * *", "display": "0 9 * * *"});
        let next = format!("{day}T09:00:00+05:00");
        changed(sandbox, &json!({"schedule": schedule, "next_run_at": next}));
    }),
    ("HM505", |sandbox| {
        let then = at(-9_000);
        let schedule = json!({"kind": "once", "run_at": then, "display": "once"});
        let repeat = json!({"times": 1, "completed": 0});
        changed(
            sandbox,
            &json!({"schedule": schedule, "repeat": repeat, "next_run_at": then}),
        );
    }),
    ("HM506", |sandbox| {
        changed(
            sandbox,
            &json!({"enabled": false, "state": "completed", "next_run_at": null}),
        );
    }),
    ("HM507", |sandbox| {
        changed(
            sandbox,
            &json!({"schedule": {"kind": "cron", "expr": "99 * * * *"}}),
        );
    }),
    ("HM507", |sandbox| {
        changed(sandbox, &json!({"state": "error"}));
    }),
    ("HM508", |sandbox| {
        let mut odd = job();
        odd["id"] = "00000000000b".into();
        odd["origin"] = 3.into();
        store(sandbox, &[job(), odd]);
    }),
    ("HM509", |sandbox| {
        // It lies where the person is.
        std::fs::write(sandbox.user_home().join("no.sh"), "echo hi\n").expect("a script");
        changed(sandbox, &json!({"script": "no.sh"}));
    }),
    ("HM509", |sandbox| {
        changed(sandbox, &json!({"script": null}));
    }),
    ("HM510", |sandbox| {
        changed(sandbox, &json!({"workdir": "/no/such/place"}));
    }),
    ("HM511", |sandbox| {
        let last = json!({"last_status": "error", "last_error": "x", "last_run_at": at(-600)});
        changed(sandbox, &last);
    }),
    ("HM514", |sandbox| {
        let host = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned();
        let claim = json!({"at": at(-100), "by": format!("{host}:{GONE}:x")});
        changed(sandbox, &json!({"fire_claim": claim}));
    }),
    ("HM614", |sandbox| {
        sandbox.write("cron/external-workers/e9.json", "{}");
        sandbox.write("cron/external-workers/e9.stderr", "lost\n");
    }),
    ("HM803", |sandbox| {
        let good = json!({"jobs": [job()]}).to_string();
        sandbox.write("cron/jobs.json.bak", good);
        sandbox.write("cron/jobs.json", "{\"jobs\": [");
    }),
    ("HM808", |sandbox| {
        let old = SystemTime::now() - Duration::from_secs(40 * 86_400);
        for number in 0..=200 {
            let path = sandbox.write(&format!("cron/output/00000000000a/{number}.md"), "");
            let file = std::fs::File::open(path).expect("a file");
            file.set_modified(old).expect("a time");
        }
    }),
    ("HM809", |sandbox| {
        sandbox.write(
            "cron/executions.db",
            "this is no database, and long enough to be one\n",
        );
    }),
];

/// A program, as the person at this home runs it: this program is not on the `PATH`, and an editor may be.
fn run(sandbox: &Sandbox, words: &[String]) -> Output {
    command(sandbox, words).output().expect("it runs")
}

fn command(sandbox: &Sandbox, words: &[String]) -> Command {
    let bin = sandbox.user_home().join("bin");
    let (program, rest) = words.split_first().expect("a command");
    // A command is looked up on the PATH of the child.
    let mut command = Command::new("env");
    command
        .arg(program)
        .args(rest)
        .env_clear()
        .env("HOME", sandbox.user_home())
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("TZ", "UTC")
        .env("LC_ALL", "C.UTF-8")
        .current_dir(sandbox.user_home());
    command
}

fn words(value: &Value) -> Vec<String> {
    let words = value.as_array().into_iter().flatten();
    words
        .filter_map(|word| word.as_str().map(str::to_owned))
        .collect()
}

/// The findings of this code; the checks of the host are another matter.
fn found(sandbox: &Sandbox, code: &str) -> Vec<Value> {
    let mut command = sandbox.hermes();
    command.args(["doctor", "--json", "--only"]);
    command.arg("config,stores,scheduler,jobs,ledger,loops,sessions");
    let output = command.output().expect("it runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    let findings = document["findings"].as_array().expect("findings").clone();
    findings
        .into_iter()
        .filter(|found| found["code"] == code)
        .collect()
}

/// Whether the catalogue promises that a remedy clears it.
fn is_cleared(code: &str) -> bool {
    let words = ["explain", code, "--json"].map(str::to_owned);
    let output = Sandbox::new()
        .hermes()
        .args(words)
        .output()
        .expect("it runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    document.to_string().contains(r#""cleared_by":"remedy""#)
}

/// Whether it can be run here and now.
fn can_be_run(sandbox: &Sandbox, argv: &[String]) -> bool {
    let serves = argv
        .get(..2)
        .is_some_and(|words| words == [env!("CARGO_BIN_EXE_hermes"), "serve"]);
    let has_editor = sandbox.user_home().join("bin/vi").exists();
    match argv.first().map(String::as_str) {
        Some("vi") => has_editor,
        Some("kill") => false,
        _ => !serves,
    }
}

/// Does one way out of the finding at this place, and looks again; what went wrong, if anything. What is
/// printed to show that it worked must fail before and succeed after it, whatever else is wrong.
fn fault(sandbox: &Sandbox, (code, place, way): (&str, usize, usize)) -> Option<String> {
    let before = found(sandbox, code).remove(place);
    let remedy = &before["remedies"][way];
    let argv = words(&remedy["argv"]);
    if !can_be_run(sandbox, &argv) {
        return None;
    }
    let verify = words(&remedy["verify"]);
    if !verify.is_empty() && is_cleared(code) && run(sandbox, &verify).status.success() {
        return Some(format!("{code}: {verify:?} succeeds before {argv:?}"));
    }
    let done = run(sandbox, &argv);
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Some(format!("{code}: {argv:?}: {said}"));
    }
    if !is_cleared(code) {
        return None;
    }
    let same = |found: &Value| found["fingerprint"] == before["fingerprint"];
    if found(sandbox, code).iter().any(same) {
        return Some(format!("{code} is there after {argv:?}"));
    }
    let shown = run(sandbox, &verify);
    let said = String::from_utf8_lossy(&shown.stdout);
    let failed = !shown.status.success();
    failed.then(|| format!("{code}: {verify:?} after {argv:?}: {said}"))
}

fn ways(finding: &Value) -> usize {
    finding["remedies"].as_array().map_or(0, Vec::len)
}

#[test]
fn what_is_printed_as_a_way_out_of_a_home_is_one() {
    let mut faults = Vec::new();
    for (code, breaks) in BREAKS.iter().chain(rows::BREAKS) {
        let broken = || {
            let sandbox = healthy();
            breaks(&sandbox);
            sandbox
        };
        let before = found(&broken(), code);
        assert!(!before.is_empty(), "{code} is not found");
        assert!(ways(&before[0]) > 0, "{code} has no way out");
        for way in 0..ways(&before[0]) {
            faults.extend(fault(&broken(), (code, 0, way)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_is_printed_as_a_way_out_of_the_sample_home_is_one() {
    for code in [
        "HM412", "HM416", "HM509", "HM614", "HM701", "HM705", "HM711",
    ] {
        let before = found(&Sandbox::with_sample_home(), code);
        assert!(!before.is_empty(), "{code} is not found");
        for (place, finding) in before.iter().enumerate() {
            // The second way is to put the script back, which nobody has.
            let ways = if code == "HM509" { 1 } else { ways(finding) };
            for way in 0..ways {
                let sandbox = Sandbox::with_sample_home();
                sandbox.write("scripts/.keep", "");
                let fault = fault(&sandbox, (code, place, way));
                assert_eq!(fault, None);
            }
        }
    }
}

#[test]
fn what_is_printed_as_a_way_out_of_a_broken_timer_is_one_and_loses_nothing() {
    for (code, breaks) in rows::OF_SESSIONS {
        let sandbox = Sandbox::with_sample_home();
        breaks(&sandbox);
        let before = found(&sandbox, code);
        assert_eq!(
            (before.len(), ways(&before[0])),
            (1, 1),
            "{code}: {before:?}"
        );
        assert_eq!(fault(&sandbox, (code, 0, 0)), None);
        let kept = rows::kept(&sandbox);
        let unreadable: &[&str] = if *code == "HM704" {
            &[rows::UNREADABLE]
        } else {
            &[]
        };
        assert_eq!(kept, unreadable, "{code}");
    }
}
