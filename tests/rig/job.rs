//! The job of the rig's home: due, begun, let go; and what the ledger keeps of it.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{HOME, Rig};

/// A script that waits until it is let go.
pub(super) const WAITS: &str = "echo >began; read go <go; echo done";

/// Makes the job due, by now and by any later time.
pub(super) fn due(rig: &Rig) {
    due_at(rig, Timestamp::now());
}

/// The same, by the clock of a serve.
pub(super) fn due_at(rig: &Rig, now: Timestamp) {
    let slot = now - SignedDuration::from_secs(30);
    let slot = slot.strftime("%Y-%m-%dT%H:%M:%S.%6f+00:00");
    rig.sh(&format!(
        "cd {HOME} && sed -i 's/\"next_run_at\": *\"[^\"]*\"/\"next_run_at\":\"{slot}\"/' \
         cron/jobs.json && chown --reference . cron/jobs.json"
    ));
}

/// The same, with this script.
pub(super) fn arm(rig: &Rig, script: &str) {
    rig.sh(&format!(
        "cd {HOME} && printf '%s\\n' '#!/bin/sh' '{script}' >scripts/ok.sh && rm -f go began && \
         mkfifo go began && chown --reference . go began scripts/ok.sh"
    ));
    due(rig);
}

/// Waits for the script's first sign of life.
pub(super) fn began(rig: &Rig) {
    rig.sh(&format!("timeout 60 cat {HOME}/began >/dev/null"));
}

/// Lets the script end.
pub(super) fn let_go(rig: &Rig) {
    rig.sh(&format!("timeout 60 sh -c 'echo >{HOME}/go'"));
}

/// Waits for the end of the newest run, whoever waits for it besides.
pub(super) fn ended(rig: &Rig) {
    let words = "timeout 60 hermes cron logs a1b2c3d4e5f6 --follow --home";
    rig.sh(&format!("{words} {HOME} >/dev/null 2>&1"));
}

/// All runs, the newest first, as `hermes cron runs` tells them.
pub(super) fn runs(rig: &Rig) -> Vec<Value> {
    told(rig, &["runs", "--limit", "100"])
}

/// All incidents that are open.
pub(super) fn incidents(rig: &Rig) -> Vec<Value> {
    told(rig, &["incidents"])
}

/// All slots that were not run.
pub(super) fn slots_not_run(rig: &Rig) -> Vec<Value> {
    let text = rig.must(&["exec", "hermes", "cron", "runs", "--json", "--home", HOME]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let told = document["homes"][0]["slots_not_run"].as_array();
    told.cloned().unwrap_or_default()
}

fn told(rig: &Rig, what: &[&str]) -> Vec<Value> {
    let asks = [
        &["exec", "hermes", "cron"],
        what,
        &["--json", "--home", HOME],
    ];
    let text = rig.must(&asks.concat());
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let told = document["homes"][0][what[0]].as_array();
    told.cloned().unwrap_or_default()
}

/// How a run ended, was dispatched, was placed, by whose manager, and why it ended so.
pub(super) fn facts(run: &Value) -> [&str; 5] {
    let facts = ["mode", "mechanism", "manager", "cause"].map(|name| &run["facts"][name]);
    let [mode, mechanism, manager, cause] = facts;
    [&run["status"], mode, mechanism, manager, cause].map(|value| value.as_str().unwrap_or(""))
}
