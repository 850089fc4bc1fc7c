//! The zone that what is shown of jobs goes by: that of the serve that ticks, whatever the shell has.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{hermes, job, script, store, stored, with};
use crate::common::serving::{self, Serving};

const ID: &str = "aaaaaaaaaaaa";

/// A serve that goes by UTC, and looks at it from a shell of another zone.
fn shells(serve_tz: &str) -> (Sandbox, Serving) {
    let daily = json!({"kind": "cron", "expr": "0 9 * * *", "display": "0 9 * * *"});
    let more = json!({"schedule": daily, "next_run_at": "2026-06-17T09:00:00+00:00"});
    let sandbox = with(&[job(ID, &more)]);
    serving::configure(&sandbox, "");
    script(&sandbox, "ok.sh", "true");
    sandbox.write("config.yaml", "");
    let mut command = serving::command(&sandbox, "2026-06-17T06:55:10Z", &[]);
    let child = command.env("TZ", serve_tz).spawn().expect("serve starts");
    let mut serve = Serving::ready(&sandbox, child);
    serve.clock("settle");
    (sandbox, serve)
}

fn from_tokyo(sandbox: &Sandbox, words: &[&str]) -> String {
    let mut command = hermes(sandbox, words);
    command.env("__HERMES_NOW", "2026-06-17T06:56:00Z");
    let output = command.env("TZ", "Asia/Tokyo").output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn b72_what_is_shown_of_jobs_goes_by_the_zone_of_the_serve_that_ticks_and_says_whose_it_is() {
    for (tz, name, next) in [
        ("UTC", "UTC", "2026-06-17T09:00:00+00:00"),
        ("", "UTC", "2026-06-17T09:00:00+00:00"),
        (
            "CET-1CEST,M3.5.0,M10.5.0/3",
            "CET-1CEST,M3.5.0,M10.5.0/3",
            "2026-06-17T09:00:00+02:00",
        ),
    ] {
        let (sandbox, serve) = shells(tz);
        assert_eq!(stored(&sandbox)[0]["next_run_at"], next, "{tz}");
        let source = format!("TZ of serve pid {}", serve.pid());
        for verb in ["list", "status"] {
            let said = from_tokyo(&sandbox, &["cron", verb]);
            let zone = format!("{name}, from {source}");
            assert!(said.contains(&zone), "{tz} {verb}: {said}");
            assert!(
                !said.contains("the next pass sets it"),
                "{tz} {verb}: {said}"
            );
            let told = from_tokyo(&sandbox, &["cron", verb, "--json"]);
            let told: Value = serde_json::from_str(&told).expect("a document");
            let home = &told["homes"][0];
            assert_eq!(home["zone"], name, "{home}");
            assert_eq!(home["zone_source"], source, "{home}");
        }
        let said = from_tokyo(&sandbox, &["cron", "show", ID]);
        assert!(said.contains(&source), "{tz}: {said}");
        assert!(!said.contains("the next pass sets it"), "{tz}: {said}");
        let said = from_tokyo(&sandbox, &["cron", "doctor", "--json"]);
        assert!(!said.contains("\"HM504\""), "{tz}: {said}");
        let did = from_tokyo(&sandbox, &["cron", "tick", "--dry-run", "--json"]);
        let told: Value = serde_json::from_str(&did).expect("a document");
        assert_eq!(told["changes"], json!([]), "{tz}");
    }
}

#[test]
fn a_slot_of_another_zone_than_serves_is_told_by_the_doctor_in_a_shell_of_that_zone() {
    let (sandbox, _serve) = shells("UTC");
    let tokyo = json!({"kind": "cron", "expr": "0 9 * * *", "display": "0 9 * * *"});
    let more = json!({"schedule": tokyo, "next_run_at": "2026-06-18T09:00:00+09:00"});
    store(&sandbox, &[job(ID, &more)]);
    let said = from_tokyo(&sandbox, &["cron", "doctor", "--json"]);
    assert!(said.contains("\"HM504\""), "{said}");
}

#[test]
fn a_zone_of_serve_that_cannot_be_told_is_said_to_be_so() {
    let (sandbox, serve) = shells("some/file");
    let why = format!("serve pid {} has TZ 'some/file'", serve.pid());
    for verb in ["list", "status"] {
        let said = from_tokyo(&sandbox, &["cron", verb]);
        assert!(
            said.contains("cannot be told") && said.contains(&why),
            "{said}"
        );
        let told = from_tokyo(&sandbox, &["cron", verb, "--json"]);
        let told: Value = serde_json::from_str(&told).expect("a document");
        let home = &told["homes"][0];
        assert!(home["zone"].is_null(), "{home}");
        assert!(home["warnings"].to_string().contains(&why), "{home}");
    }
    let said = from_tokyo(&sandbox, &["cron", "doctor", "--json"]);
    assert!(
        said.contains("which names no zone that is known here"),
        "{said}"
    );
}
