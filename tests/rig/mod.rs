//! A real systemd: each test boots one of its own, in a container that goes with the test. They want
//! root and some packages, so plain `cargo test` leaves them out; `tests/run rig` runs them.

#![expect(clippy::disallowed_methods, reason = "the rig is a program")]

mod bus;
mod cron;
mod hung;
mod linger;
mod serve;
mod service;

use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rig/systemd-rig");

/// A home with one armed job, owned by the service account.
const HOME: &str = "/var/lib/agent";

const JOBS: &str = r#"{"jobs":[{"id":"a1b2c3d4e5f6","name":"probe","prompt":"","script":"ok.sh",
"no_agent":true,"schedule":{"kind":"interval","minutes":30,"display":"every 30m"},
"repeat":{"times":null,"completed":0},"enabled":true,"state":"scheduled","deliver":"local",
"created_at":"2026-01-01T00:00:00+00:00","next_run_at":"2099-01-01T00:00:00+00:00"}],
"updated_at":"2026-01-01T00:00:00+00:00"}"#;

/// A machine that is gone when the test is.
pub(crate) struct Rig {
    name: String,
}

impl Rig {
    /// Boots one, with more options of `up`.
    pub(crate) fn up(options: &[&str]) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let rig = Self {
            name: format!("hermes-{}-{number}", std::process::id()),
        };
        let bind = format!("{}:/usr/local/bin/hermes", env!("CARGO_BIN_EXE_hermes"));
        let words = [&["up", "--bind-ro", bind.as_str()], options].concat();
        rig.must(&words);
        rig
    }

    /// The usual one: a service account `svc` and a home of its own with a job in it.
    pub(crate) fn with_account(options: &[&str], linger: bool) -> Self {
        let rig = Self::up(options);
        let words: &[&str] = if linger { &["--linger"] } else { &[] };
        rig.must(&[&["add-user", "svc", "--system"], words].concat());
        rig.sh(&format!(
            "mkdir -p {HOME}/cron {HOME}/scripts && cat >{HOME}/cron/jobs.json <<'X'\n{JOBS}\nX\n\
             printf '#!/bin/sh\\necho ok\\n' >{HOME}/scripts/ok.sh && chmod +x {HOME}/scripts/ok.sh && \
             chown -R svc: {HOME} && chmod 700 {HOME}"
        ));
        rig
    }

    fn script(&self, words: &[&str]) -> Output {
        Command::new(SCRIPT)
            .args(["--name", &self.name])
            .args(words)
            .output()
            .expect("the rig's script")
    }

    /// Does something that must work.
    pub(crate) fn must(&self, words: &[&str]) -> String {
        let output = self.script(words);
        assert!(
            output.status.success(),
            "{words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Runs a script of root's inside, which must work.
    pub(crate) fn sh(&self, script: &str) -> String {
        self.must(&["exec", "sh", "-euc", script])
    }

    /// Breaks something.
    pub(crate) fn fault(&self, kind: &str) {
        self.must(&["fault", kind, "svc"]);
    }

    /// A command inside, and what came of it.
    pub(crate) fn exec(&self, who: &[&str], words: &[&str]) -> Output {
        self.script(&[&["exec"], who, words].concat())
    }

    /// The report of a doctor that is run inside, as somebody.
    pub(crate) fn doctor(&self, who: &[&str], words: &[&str]) -> Report {
        let doctor = ["hermes", "cron", "doctor", "--json", "--home", HOME];
        let output = self.exec(who, &[&doctor, words].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let document = serde_json::from_str(&text);
        let document = document.unwrap_or_else(|error| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            unreachable_report(&format!("no report ({error}): {text}{stderr}"))
        });
        Report {
            document,
            exit: output.status.code(),
        }
    }

    /// The doctor as the service account, in a service of its own: what a unit with `User=` sees.
    pub(crate) fn doctor_in_service(&self, properties: &[&str]) -> Report {
        let who = [&["--user", "svc", "--service"], properties].concat();
        self.doctor(&who, &["--shell"])
    }

    /// Runs the first remedy of a finding, as whoever must run it, and then its verification.
    pub(crate) fn mend(&self, report: &Report, code: &str) {
        let finding = report.finding(code).unwrap_or_else(|| report.lacks(code));
        let remedy = &finding["remedies"][0];
        let as_root = remedy["needs"] == "root";
        let who: &[&str] = if as_root {
            &[]
        } else {
            &["--user", "svc", "--xdg"]
        };
        let words = |part: &str| -> Vec<String> {
            let words = remedy[part]
                .as_array()
                .expect("words")
                .iter()
                .filter_map(Value::as_str);
            let words: Vec<_> = words
                .skip_while(|word| *word == "sudo")
                .map(str::to_owned)
                .collect();
            assert!(!words.is_empty(), "{code} has no {part}");
            words
        };
        self.attempt(who, &words("argv"), 1);
        // What a remedy starts may need a moment: the verification is asked again until it succeeds.
        self.attempt(who, &words("verify"), 100);
    }

    fn attempt(&self, who: &[&str], words: &[String], times: u32) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut told = String::new();
        for _ in 0..times {
            let output = self.exec(who, &words);
            if output.status.success() {
                return;
            }
            told = format!(
                "{words:?} ended with {:?}: {}{}",
                output.status.code(),
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        unreachable_report(&told)
    }

    /// The doctor as the service account in a unit that is written for it: for hosts whose manager
    /// only root can reach, and only by its private socket.
    pub(crate) fn doctor_in_unit(&self) -> Report {
        self.sh(&format!(
            "cat >/etc/systemd/system/look.service <<'X'\n[Service]\nType=oneshot\nUser=svc\n\
             SuccessExitStatus=0 1 2 3\nStandardOutput=file:/run/look.json\n\
             ExecStart=/usr/local/bin/hermes cron doctor --json --shell --home {HOME}\nX\n\
             systemctl daemon-reload && systemctl start look.service"
        ));
        let document = serde_json::from_str(&self.sh("cat /run/look.json")).expect("a report");
        Report {
            document,
            exit: None,
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _gone_already = self.script(&["down"]);
    }
}

#[expect(
    clippy::panic,
    reason = "the test ends here, with all that was printed"
)]
fn unreachable_report(told: &str) -> ! {
    panic!("{told}")
}

/// A report.
pub(crate) struct Report {
    document: Value,
    exit: Option<i32>,
}

impl Report {
    /// The findings with this code.
    pub(crate) fn finding(&self, code: &str) -> Option<&Value> {
        self.document["findings"]
            .as_array()?
            .iter()
            .find(|finding| finding["code"] == code)
    }

    fn lacks(&self, code: &str) -> ! {
        unreachable_report(&format!("there is no {code}: {:#}", self.document))
    }

    /// It says this.
    pub(crate) fn says(&self, code: &str) -> &Self {
        if self.finding(code).is_none() {
            self.lacks(code);
        }
        self
    }

    /// It does not say this.
    pub(crate) fn does_not_say(&self, code: &str) -> &Self {
        assert!(
            self.finding(code).is_none(),
            "{code} is there: {:#}",
            self.document
        );
        self
    }

    /// How a job would be launched.
    pub(crate) fn mode(&self, mode: &str) -> &Self {
        assert_eq!(
            self.document["dispatch"]["cron"]["mode"], mode,
            "{:#}",
            self.document
        );
        self
    }

    /// What the document says at a place.
    pub(crate) fn at(&self, pointer: &str) -> &Value {
        self.document.pointer(pointer).unwrap_or(&Value::Null)
    }

    /// The exit status.
    pub(crate) fn exit(&self) -> Option<i32> {
        self.exit
    }
}
