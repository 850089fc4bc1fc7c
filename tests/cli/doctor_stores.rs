//! What `hermes cron doctor` finds in homes, through the binary. The host's own checks are left out:
//! they depend on where the tests run.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::writer::Writer;

/// The groups that look at homes.
const HOMES: &str = "config,stores,scheduler,jobs,ledger,loops,sessions";
/// Half a minute after the last tick of the sample home.
const NOW: &str = "2026-11-29T22:40:30Z";
/// The same, in seconds since 1970.
const EPOCH: i64 = 1_795_992_030;
/// A pid that no process can have.
const GONE: &str = "4194305";

struct Seen {
    code: Option<i32>,
    document: Value,
}

impl Seen {
    /// Code and subject's last part of every finding.
    fn findings(&self) -> Vec<(String, String)> {
        let findings = self.document["findings"].as_array().expect("findings");
        let mut told: Vec<_> = findings
            .iter()
            .map(|finding| {
                let name = finding["subject"]["name"].as_str().expect("a name");
                let last = name.rsplit('/').next().unwrap_or(name);
                (text(&finding["code"]), last.to_owned())
            })
            .collect();
        told.sort();
        told
    }

    fn codes(&self) -> Vec<String> {
        self.findings().into_iter().map(|(code, _)| code).collect()
    }

    fn summary(&self, code: &str) -> String {
        let findings = self.document["findings"].as_array().expect("findings");
        let found = findings.iter().find(|finding| finding["code"] == code);
        text(&found.unwrap_or_else(|| panic!("no {code}: {:?}", self.codes()))["summary"])
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// The doctor over this home. It is named, lest a serve that happens to run on the host of the tests
/// chooses its own.
fn command(sandbox: &Sandbox, home: &Path) -> assert_cmd::Command {
    let mut command = unnamed(sandbox);
    command.arg("--home").arg(home);
    command
}

/// The doctor over the home that the environment names: it need not be there.
fn unnamed(sandbox: &Sandbox) -> assert_cmd::Command {
    let mut command = sandbox.hermes();
    command
        .env("__HERMES_NOW", NOW)
        .args(["cron", "doctor", "--only", HOMES]);
    command
}

fn doctor(sandbox: &Sandbox) -> Seen {
    doctor_of(sandbox, &sandbox.home())
}

fn doctor_of(sandbox: &Sandbox, home: &Path) -> Seen {
    seen(&mut command(sandbox, home))
}

fn seen(command: &mut assert_cmd::Command) -> Seen {
    let output = command.arg("--json").output().expect("it runs");
    Seen {
        code: output.status.code(),
        document: serde_json::from_slice(&output.stdout).expect("one document"),
    }
}

/// A home with a job that has just run, in the eyes of a ticker that is this very test.
fn healthy() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("cron/jobs.json", jobs(&[job("00000000000a")]));
    sandbox.write(
        "cron/ticker_heartbeat",
        format!("{}.5 {}", EPOCH - 30, std::process::id()),
    );
    sandbox.write("cron/ticker_last_success", format!("{}.5", EPOCH - 30));
    sandbox
}

fn job(id: &str) -> Value {
    json!({"id": id, "name": format!("job {id}"), "no_agent": false, "prompt": "hi",
        "schedule": {"kind": "interval", "minutes": 30, "display": "every 30m"},
        "repeat": {"times": null, "completed": 0}, "enabled": true, "state": "scheduled",
        "created_at": "2026-11-29T22:30:00+00:00", "next_run_at": "2026-11-29T23:00:00+00:00",
        "last_run_at": null, "last_status": null, "deliver": "local"})
}

fn jobs(jobs: &[Value]) -> String {
    json!({"jobs": jobs, "updated_at": "x"}).to_string()
}

#[test]
fn b142_a_healthy_home_ends_with_0_and_quiet_prints_nothing() {
    let sandbox = healthy();
    let seen = doctor(&sandbox);
    assert_eq!(seen.findings(), [], "{:#}", seen.document["findings"]);
    assert_eq!(seen.code, Some(0));
    command(&sandbox, &sandbox.home())
        .arg("--quiet")
        .assert()
        .code(0)
        .stdout("");
}

#[test]
fn b142_a_warning_ends_with_1_and_an_error_with_2() {
    let sandbox = healthy();
    let mut failed = job("00000000000a");
    failed["last_status"] = "error".into();
    sandbox.write("cron/jobs.json", jobs(&[failed.clone()]));
    let seen = doctor(&sandbox);
    assert_eq!(
        (seen.codes(), seen.code),
        (vec!["HM511".to_owned()], Some(1))
    );
    failed["next_run_at"] = Value::Null;
    sandbox.write("cron/jobs.json", jobs(&[failed]));
    assert_eq!(doctor(&sandbox).code, Some(2));
}

#[test]
fn b141_a_fleet_with_five_faults_has_five_findings_under_their_jobs() {
    let sandbox = healthy();
    let with = |id: &str, key: &str, value: Value| {
        let mut job = job(id);
        job[key] = value;
        job
    };
    let mut script = with("04", "script", "gone.sh".into());
    script["no_agent"] = true.into();
    sandbox.write(
        "cron/jobs.json",
        jobs(&[
            with("01", "last_status", "error".into()),
            with("02", "next_run_at", "2026-11-29T15:40:00+00:00".into()),
            with("03", "next_run_at", Value::Null),
            script,
            with("05", "workdir", "/no/such/directory".into()),
            job("06"),
        ]),
    );
    let seen = doctor(&sandbox);
    let wanted = [
        ("HM501", "02"),
        ("HM502", "03"),
        ("HM509", "04"),
        ("HM510", "05"),
        ("HM511", "01"),
    ];
    let wanted = wanted.map(|(code, id)| (code.to_owned(), id.to_owned()));
    assert_eq!(seen.findings(), wanted);
    assert_eq!(seen.summary("HM501"), "job 'job 02' is OVERDUE by 7h");
    assert_eq!(seen.code, Some(2));
}

#[test]
fn the_sample_home_is_told_in_full() {
    let sandbox = Sandbox::with_sample_home();
    // Its pids are those of nobody, also on the host that runs the test.
    for file in [
        "cron/ticker_heartbeat",
        "runtime/active_sessions.json",
        "gateway.pid",
        "gateway.lock",
    ] {
        let path = sandbox.home().join(file);
        let text = std::fs::read_to_string(&path).expect("a file of the sample");
        std::fs::write(&path, text.replace("4242", GONE)).expect("the file");
    }
    let seen = doctor(&sandbox);
    let home = ".hermes";
    let wanted = [
        ("HM402", home),
        ("HM412", "gateway.pid"),
        ("HM416", home),
        ("HM509", "a49f6beb5b17"),
        ("HM509", "f645462fda68"),
        ("HM511", "f645462fda68"),
        ("HM513", "f645462fda68"),
        ("HM614", "external-workers"),
        ("HM701", "20260101_090000_aaaaaa"),
        ("HM705", "20260101_091500_bbbbbb"),
        ("HM711", "20260101_090000_aaaaaa"),
        ("HM814", home),
    ];
    let wanted: Vec<_> = wanted
        .map(|(code, name)| (code.to_owned(), name.to_owned()))
        .into();
    assert_eq!(seen.findings(), wanted, "{:#}", seen.document["findings"]);
    assert_eq!(seen.code, Some(2));
    assert_eq!(
        seen.summary("HM402"),
        format!(
            "this home was ticked a moment ago (4 jobs), and nothing that ticks it runs now: the one that did, \
             pid {GONE}, is gone"
        )
    );
}

#[test]
fn b57_a_damaged_store_is_placed_and_left_as_it_is() {
    let sandbox = healthy();
    let whole = jobs(&[job("00000000000a")]);
    sandbox.write("cron/jobs.json.bak", &whole);
    let cut = format!("{{\n \"jobs\": {}", &whole[8..whole.len() / 2]);
    let path = sandbox.write("cron/jobs.json", &cut);
    let seen = doctor(&sandbox);
    assert!(
        seen.summary("HM803").contains("(line 2, column "),
        "{}",
        seen.summary("HM803")
    );
    let found = format!("{:#}", seen.document["findings"]);
    assert!(found.contains("a usable copy: 1 job"), "{found}");
    assert_eq!(std::fs::read_to_string(path).expect("the store"), cut);
    assert_eq!(seen.code, Some(2));
}

#[test]
fn no_home_and_an_empty_home_are_results_of_their_own() {
    let sandbox = Sandbox::new();
    let seen = seen(&mut unnamed(&sandbox));
    assert_eq!(
        (seen.codes(), seen.code),
        (vec!["HM401".to_owned()], Some(0))
    );
    assert!(seen.summary("HM401").ends_with("there is no home"));
    let named = doctor(&sandbox);
    assert_eq!(named.document["error"]["kind"], "usage");
    assert_eq!(named.code, Some(64), "a slip of the pen is not green");
    std::fs::create_dir(sandbox.home()).expect("a home");
    let seen = doctor(&sandbox);
    assert!(
        seen.summary("HM401")
            .contains("the home has no jobs, no timers")
    );
}

#[test]
fn b42_each_profile_under_the_root_is_looked_at() {
    let sandbox = healthy();
    sandbox.write("profiles/ops/cron/jobs.json", jobs(&[job("00000000000b")]));
    let seen = doctor(&sandbox);
    assert_eq!(seen.findings(), [("HM407".to_owned(), "ops".to_owned())]);
}

#[test]
fn b104_a_database_that_a_writer_holds_is_told_as_locked() {
    let sandbox = healthy();
    let path = sandbox.home().join("state.db");
    hermes::db::connect_or_create(&path)
        .expect("a database")
        .execute_batch("CREATE TABLE state_meta(key TEXT, value TEXT)")
        .expect("a table");
    let writer = Writer::hold(&path);
    let seen = doctor(&sandbox);
    assert_eq!(
        seen.findings(),
        [("HM811".to_owned(), "state.db".to_owned())]
    );
    writer.commit();
    assert_eq!(doctor(&sandbox).codes(), [""; 0]);
}

#[test]
fn names_from_the_store_cannot_write_to_the_terminal() {
    let sandbox = healthy();
    let mut odd = job("00000000000a");
    odd["name"] = "\u{1b}[2Jrm -rf '$HOME'\nerror HM999".into();
    odd["next_run_at"] = Value::Null;
    sandbox.write("cron/jobs.json", jobs(&[odd]));
    for format in [&["--verbose"][..], &["--plain"], &[]] {
        let output = command(&sandbox, &sandbox.home())
            .args(format)
            .output()
            .expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(
            !text.lines().any(|line| line.starts_with("error HM999")),
            "{text}"
        );
        assert!(text.contains("HM502"), "{text}");
    }
}

#[test]
fn only_the_named_home_is_judged() {
    let sandbox = healthy();
    let other = sandbox.user_home().join("other");
    std::fs::create_dir_all(other.join("cron")).expect("a home");
    std::fs::write(other.join("cron/jobs.json"), "7").expect("a store");
    let seen = doctor_of(&sandbox, &other);
    assert!(
        seen.codes().contains(&"HM803".to_owned()),
        "{:?}",
        seen.codes()
    );
    let named = |finding: &(String, String)| finding.1 == "jobs.json" || finding.1 == "other";
    assert!(seen.findings().iter().all(named), "{:?}", seen.findings());
    assert!(other.join("cron/jobs.json").exists());
}

#[test]
fn what_python_reads_beyond_json_is_no_damage_and_survives_a_change() {
    let sandbox = healthy();
    let odd = r#""last_error":"cut \ud83d","cost":NaN,"limits":[Infinity,-Infinity,1e400],"#;
    let store = jobs(&[job("aaaaaaaaaaaa")]).replacen('{', "{\"top\":NaN,", 1);
    let store = store.replacen("\"id\":", &format!("{odd}\"id\":"), 1);
    let path = sandbox.write("cron/jobs.json", &store);
    let seen = doctor(&sandbox);
    assert_eq!(seen.code, Some(0), "{:?}", seen.codes());
    assert!(seen.summary("HM804").contains("kept as it is"));
    sandbox
        .hermes()
        .args(["cron", "edit", "aaaaaaaaaaaa", "--name", "renamed"])
        .assert()
        .code(0);
    let written = std::fs::read_to_string(path).expect("the store");
    for kept in [
        r#""last_error": "cut \ud83d""#,
        r#""cost": NaN"#,
        "Infinity,",
        "-Infinity",
        "1e+400",
        r#""top": NaN"#,
        r#""name": "renamed""#,
    ] {
        assert!(written.contains(kept), "{kept}: {written}");
    }
}

#[test]
fn b60_what_is_odd_about_a_store_has_the_same_words_in_the_list_and_in_the_doctor() {
    let sandbox = healthy();
    let store = jobs(&[job("aaaaaaaaaaaa")]).replacen("\"id\":", "\"note\":\"a\tb\",\"id\":", 1);
    sandbox.write("cron/jobs.json", format!("\u{feff}{store}"));
    let column = store.find('\t').expect("a tab") + 1;
    let odd = format!(
        "it starts with a byte order mark; a raw control character stands at line 1, column {column}"
    );
    let told = sandbox
        .hermes()
        .args(["cron", "list"])
        .output()
        .expect("a list");
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.contains(&odd), "{told}");
    assert!(doctor(&sandbox).summary("HM804").ends_with(&odd));
}
