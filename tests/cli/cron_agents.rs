//! Jobs whose agent does not behave: silent, slow, dying, flooding, deaf to SIGTERM, leaving others
//! behind. Each costs its own run and nothing else.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::agent::{self, Alive};
use crate::common::cost::{MIB, disk};
use crate::common::jobs::{NOW, agent, document, hermes, job, said, script, store, stored, with};
use crate::common::serving::{self, Serving};

const ID: &str = "aaaaaaaaaaaa";

/// A home with a job that asks an agent, which does this, with `more` in `[agent]` of the configuration.
fn home(steps: &[&str], more: &str) -> Sandbox {
    let asks = json!({"no_agent": false, "script": null, "prompt": "ask: how is it?"});
    let sandbox = with(&[job(ID, &asks)]);
    agent(&sandbox, steps, more);
    sandbox
}

/// Runs the job to its end; what is on record of that.
fn run(sandbox: &Sandbox) -> Value {
    let (_, told, _) = document(sandbox, &["cron", "run", ID]);
    let (_, runs, _) = document(sandbox, &["cron", "runs"]);
    let mut runs = runs["homes"][0]["runs"].as_array().expect("runs").iter();
    let run = runs.find(|run| run["id"] == told["execution"]);
    run.expect("the run").clone()
}

/// Runs the job, which fails with these words, for this cause where one is on record.
fn fails(sandbox: &Sandbox, error: &str, cause: &Value) {
    let run = run(sandbox);
    assert_eq!(
        (&run["status"], &run["error"]),
        (&json!("failed"), &json!(error))
    );
    assert_eq!(&run["facts"]["cause"], cause, "{run}");
    assert_eq!(stored(sandbox)[0]["last_error"], error);
}

/// The document of the last run.
fn answer(sandbox: &Sandbox) -> String {
    let folder = sandbox.home().join("cron/output").join(ID);
    let documents = std::fs::read_dir(folder).expect("documents").flatten();
    let newest = documents.map(|document| document.path()).max();
    std::fs::read_to_string(newest.expect("a document")).expect("text")
}

#[test]
fn an_agent_that_falls_silent_is_ended_at_its_limit_and_so_is_what_left_its_group() {
    let declares = "complain HERMES_PROGRESS: half of it is done";
    let steps = ["child leave; say I begin; stall", declares, "stall"];
    let sandbox = home(&steps, "inactivity_timeout = 3");
    let alive = Alive::of(&sandbox);
    let error = "agent was silent for 3s: HERMES_PROGRESS: half of it is done";
    fails(&sandbox, error, &json!("time_limit"));
    alive.ended();
    assert!(answer(&sandbox).contains("I begin"));
}

#[test]
fn an_agent_that_is_slow_is_not_silent_and_has_a_limit_of_its_own() {
    let slow = "gründlich, Schritt für Schritt, über mehr als drei Sekunden, weil gut Ding Weile haben will";
    let drips = [format!("drip {slow}")];
    let drips = drips.each_ref().map(String::as_str);
    let sandbox = home(&drips, "inactivity_timeout = 3");
    assert_eq!(run(&sandbox)["status"], "completed");
    assert!(answer(&sandbox).contains(slow));

    let sandbox = home(&drips, "timeout = 3");
    let error = "agent ran longer than its time limit of 3s";
    fails(&sandbox, error, &json!("time_limit"));
    assert!(answer(&sandbox).contains("\ngr"));
}

#[test]
fn an_agent_that_dies_is_told_by_its_status_or_its_signal_and_its_last_words() {
    let sandbox = home(&["say partly", "complain no credit", "exit 3"], "");
    fails(
        &sandbox,
        "agent exited with code 3: no credit",
        &json!(null),
    );
    assert!(answer(&sandbox).contains("partly"));
    agent::does(&sandbox, &["crash SIGKILL"]);
    fails(&sandbox, "agent was killed by signal 9", &json!("signal"));
}

#[test]
fn an_agent_that_ignores_sigterm_is_killed_with_its_group() {
    let stays = "child ignore SIGTERM; say I stay; stall";
    let sandbox = home(&["ignore SIGTERM", stays, "stall"], "timeout = 3");
    let alive = Alive::of(&sandbox);
    let error = "agent ran longer than its time limit of 3s";
    fails(&sandbox, error, &json!("time_limit"));
    alive.ended();
    assert!(answer(&sandbox).contains("I stay"));
}

#[test]
fn an_agent_that_floods_takes_bounded_memory_and_disk_and_its_end_is_kept() {
    let floods = [
        "flood stderr 100000000",
        "flood stdout 100000000",
        "say done",
    ];
    let sandbox = home(&floods, "");
    // Less memory than the flood, for the command and for the worker that it starts.
    let limited = format!("ulimit -d {}; exec \"$@\"", 64 << 10);
    let mut shell = assert_cmd::Command::new("/bin/sh");
    shell
        .args([
            "-c",
            &limited,
            "sh",
            env!("CARGO_BIN_EXE_hermes"),
            "cron",
            "run",
            ID,
        ])
        .env_clear()
        .env("HERMES_HOME", sandbox.home())
        .env("PATH", "/usr/bin:/bin")
        .env("__HERMES_NOW", NOW);
    let done = shell.output().expect("it runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    let answer = answer(&sandbox);
    assert!(answer.trim_end().ends_with("xxxdone"));
    assert!(answer.len() as u64 <= 2 * MIB, "{} bytes", answer.len());
    let bytes = disk(&sandbox.home());
    assert!(bytes <= 16 * MIB, "{bytes} bytes");
}

#[test]
fn an_answer_that_is_no_text_is_shown_as_far_as_it_is_one() {
    let sandbox = home(&["bytes 63 c3 a9 ff fe 20", "say so", "bytes e2 82"], "");
    assert_eq!(run(&sandbox)["status"], "completed");
    assert!(answer(&sandbox).ends_with("c\u{e9}\u{fffd}\u{fffd} so\n\u{fffd}\n"));
    let (code, log, err) = said(&sandbox, &["cron", "logs", ID]);
    assert!(code == 0 && log.contains(" so"), "{log}{err}");
}

#[test]
fn a_child_that_holds_the_outputs_open_does_not_keep_its_run_open() {
    let steps = ["child leave; tell left; wait go", "wait left", "say done"];
    let sandbox = home(&steps, "");
    let alive = Alive::of(&sandbox);
    sandbox.fifo("left");
    let go = sandbox.fifo("go");
    assert_eq!(run(&sandbox)["status"], "completed");
    assert!(answer(&sandbox).ends_with("done\n"));
    // The run ended by itself, so what it left running is meant to run.
    assert!(!alive.ends_within(0));
    std::fs::write(go, "go").expect("it listens");
    alive.ended();
}

#[test]
fn neither_the_agent_nor_the_script_of_a_job_gets_a_secret_of_serve() {
    let asks = json!({"no_agent": false, "script": null, "prompt": "ask: how is it?"});
    let prints = json!({"script": "env.sh"});
    let sandbox = with(&[job(ID, &asks), job("bbbbbbbbbbbb", &prints)]);
    script(&sandbox, "env.sh", "env");
    agent(
        &sandbox,
        &["environment"],
        "env = [\"HERMES_*\", \"VISIBLE\"]",
    );
    let token = "HERMES_DASHBOARD_SESSION_TOKEN";
    let mut serve = serving::command(&sandbox, NOW, &[]);
    serve.env(token, "t".repeat(40)).env("VISIBLE", "yes");
    let serve = Serving::ready(&sandbox, serve.spawn().expect("it starts"));
    assert_eq!(serve.token, "t".repeat(40));
    for id in [ID, "bbbbbbbbbbbb"] {
        let (code, out, err) = said(&sandbox, &["cron", "run", id]);
        assert!(code == 0 && out.contains("VISIBLE=yes"), "{out}{err}");
        assert!(!out.contains(token), "{out}");
    }
    drop(serve);
    for words in [&["cron", "run", ID][..], &["agent", "check", "--json"]] {
        let mut command = hermes(&sandbox, words);
        command.env(token, "t".repeat(40)).env("VISIBLE", "yes");
        let output = command.output().expect("it runs");
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(out.contains("VISIBLE=yes"), "{out}");
        assert!(!out.contains(token), "{out}");
    }
}

#[test]
fn the_variables_of_a_job_s_own_file_reach_its_agent() {
    let sandbox = home(&["environment"], "");
    let file = sandbox.write("job.env", "OF_THE_JOB=yes\nHERMES_JOB_ID=other\n");
    let more = json!({
        "no_agent": false, "script": null, "prompt": "ask: how is it?",
        "x_hermes": {"env_file": file},
    });
    store(&sandbox, &[job(ID, &more)]);
    assert_eq!(run(&sandbox)["status"], "completed");
    let answer = answer(&sandbox);
    assert!(answer.contains("OF_THE_JOB=yes"), "{answer}");
    assert!(answer.contains(&format!("HERMES_JOB_ID={ID}")), "{answer}");
}

#[test]
fn the_silence_of_a_job_s_agent_has_a_setting_of_its_own_and_its_own_goes_before_it() {
    let sandbox = home(
        &["say I begin", "stall"],
        "\n[cron]\ninactivity_timeout_seconds = 1.5",
    );
    fails(&sandbox, "agent was silent for 2s", &json!("time_limit"));
    let both = "inactivity_timeout = 1\n\n[cron]\ninactivity_timeout_seconds = 600";
    agent(&sandbox, &["say I begin", "stall"], both);
    fails(&sandbox, "agent was silent for 1s", &json!("time_limit"));
    let shown = |sandbox: &Sandbox, key: &str| {
        let (code, shown, _) = said(sandbox, &["config", "show", "agent"]);
        assert_eq!(code, 0, "{shown}");
        let words = shown.lines().map(|line| line.split_whitespace());
        let mut found = words.filter_map(|mut words| (words.next()? == key).then(|| words.next()));
        found.next().flatten().map(str::to_owned)
    };
    let key = "agent.inactivity_timeout";
    assert_eq!(shown(&sandbox, key).as_deref(), Some("1"));
    let unset = home(&[], "");
    assert_eq!(shown(&unset, key).as_deref(), Some("600"));
    assert_eq!(shown(&unset, "agent.timeout").as_deref(), Some("1800"));
}
