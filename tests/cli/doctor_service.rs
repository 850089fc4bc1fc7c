//! The environment of the service is not the shell's: which programs its jobs find, and in what the two
//! differ.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::common::jobs::{NOW, job, script};

/// The report on this home, whose service has this `PATH`.
fn report(sandbox: &Sandbox, path: &str, words: &[&str]) -> (Value, String) {
    let facts = sandbox.recorded("healthy", |facts| {
        let environ = &mut facts["dispatcher"]["environ"]["known"]["variables"];
        environ["PATH"] = path.into();
        environ["TZ"] = "Asia/Tokyo".into();
        let shell = &mut facts["shell"]["environ"]["known"]["variables"];
        shell["PATH"] = "/usr/bin:/bin:/home/bot/bin".into();
        shell["XDG_RUNTIME_DIR"] = "/run/user/1001".into();
    });
    let run = |format: &[&str]| {
        let mut command = sandbox.doctor_on(&facts);
        let output = command.args(words).args(format).output().expect("it runs");
        String::from_utf8(output.stdout).expect("text")
    };
    let document = serde_json::from_str(&run(&["--json"])).expect("one document");
    (document, run(&[]))
}

fn summaries(report: &Value, code: &str) -> Vec<String> {
    let findings = report["findings"].as_array().expect("findings").iter();
    let found = findings.filter(|found| found["code"] == code);
    found
        .map(|found| found["summary"].as_str().expect("a summary").to_owned())
        .collect()
}

/// A home with these jobs, each a script of this text.
fn home(scripts: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    let jobs: Vec<_> = scripts
        .iter()
        .map(|(name, text)| {
            script(&sandbox, name, text);
            job(
                &format!("{:0>12}", name.len()),
                &json!({"name": name, "script": name}),
            )
        })
        .collect();
    sandbox.write("cron/jobs.json", json!({"jobs": jobs}).to_string());
    sandbox
}

#[test]
fn b31_b32_what_jobs_call_is_looked_for_on_the_services_path() {
    let sandbox = home(&[
        ("a.sh", "date\nls | head -1\nhermes x"),
        ("ab.sh", "echo hi"),
    ]);
    sandbox.write("scripts/abc", "#!/usr/bin/env no-such-program\n");
    sandbox.write("scripts/abcd", "#!/opt/none/perl\n");
    let more = ["abc", "abcd"].map(|name| {
        job(
            &format!("{name:0>12}"),
            &json!({"name": name, "script": name}),
        )
    });
    let text = std::fs::read_to_string(sandbox.home().join("cron/jobs.json")).expect("jobs");
    let mut store: Value = serde_json::from_str(&text).expect("JSON");
    store["jobs"].as_array_mut().expect("jobs").extend(more);
    sandbox.write("cron/jobs.json", store.to_string());
    let only = ["--only", "jobs-needs"];
    let (bad, _) = report(&sandbox, "/opt/none", &only);
    let not = "not on the service's PATH";
    let wanted = [
        format!("job 'a.sh' needs 'bash', 'date', 'head', 'ls', which are {not}"),
        format!("job 'ab.sh' needs 'bash', which is {not}"),
        format!("job 'abc' needs 'no-such-program', which is {not}"),
        "job 'abcd' needs '/opt/none/perl', which is not there".to_owned(),
    ];
    assert_eq!(summaries(&bad, "HM517"), wanted);
    let (good, _) = report(&sandbox, "/opt/none:/usr/bin:/bin", &only);
    assert_eq!(summaries(&good, "HM517"), wanted[2..]);
}

#[test]
fn b31_an_empty_path_is_the_directory_of_the_job_to_the_doctor_and_to_the_run() {
    let sandbox = home(&[("a.sh", "echo fine")]);
    let id = format!("{:0>12}", "a.sh".len());
    let said = |words: &[&str], path: &str| {
        let mut command = sandbox.hermes();
        command.env("PATH", path).env("__HERMES_NOW", NOW);
        let output = command.args(words).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text)
    };
    let both = |path: &str| {
        let (_, text) = said(&["doctor", "--only", "jobs-needs", "--json"], path);
        let document: Value = serde_json::from_str(&text).expect("one document");
        let (code, _) = said(&["cron", "run", &id], path);
        (summaries(&document, "HM517"), code)
    };
    let missing = "job 'a.sh' needs 'bash', which is not on the service's PATH";
    for path in ["", "/nowhere", "/nowhere:"] {
        assert_eq!(both(path), (vec![missing.to_owned()], Some(1)), "{path:?}");
    }
    let (_, text) = said(&["doctor", "-v", "--only", "jobs-needs"], "");
    assert!(text.contains("PATH is set, and empty"), "{text}");
    std::os::unix::fs::symlink("/bin/bash", sandbox.home().join("bash")).expect("a link");
    for path in ["", "/nowhere:", ":/nowhere", "/nowhere::/none"] {
        assert_eq!(both(path), (Vec::new(), Some(0)), "{path:?}");
    }
    assert_eq!(both("/nowhere").1, Some(1));
}

#[test]
fn b32_hermes_agent_finds_its_own_name_on_the_services_path_alone() {
    let sandbox = home(&[("a.sh", "hermes x")]);
    let facts = sandbox.recorded("healthy", |facts| {
        facts["dispatcher"]["program"] = "hermes_agent".into();
        facts["dispatcher"]["environ"]["known"]["variables"]["PATH"] = "/opt/none".into();
    });
    let words = ["--only", "HM517", "--json"];
    let output = sandbox
        .doctor_on(&facts)
        .args(words)
        .output()
        .expect("it runs");
    let document = serde_json::from_slice(&output.stdout).expect("one document");
    let found = summaries(&document, "HM517");
    assert!(found[0].contains("'hermes'"), "{found:?}");
}

#[test]
fn in_what_the_shell_differs_from_the_service_is_stated() {
    let sandbox = home(&[]);
    let (document, text) = report(&sandbox, "/usr/bin:/bin:/opt/x", &["--only", "host"]);
    let differs = document["dispatch"]["shell_differs"]
        .as_array()
        .expect("a list");
    let texts: Vec<_> = differs.iter().map(|found| found["text"].as_str()).collect();
    for wanted in [
        "PATH has /home/bot/bin only here, and lacks /opt/x",
        "XDG_RUNTIME_DIR is set only here",
        "TZ is not set here",
    ] {
        assert!(texts.contains(&Some(wanted)), "{texts:?}");
        assert!(text.contains(wanted), "{text}");
    }
    assert!(!text.contains("Asia/Tokyo"), "{text}");
    assert!(text.contains("\n  this shell "), "{text}");
}
