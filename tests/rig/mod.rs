//! A real systemd: each test boots one of its own, in a container that goes with the test. They want
//! root and some packages, so plain `cargo test` leaves them out; `tests/run rig` runs them.

#![expect(clippy::disallowed_methods, reason = "the rig is a program")]

mod agent;
mod bus;
mod cron;
mod cure;
mod faults;
mod home;
mod host;
mod hung;
mod job;
mod kills;
mod linger;
mod old;
mod report;
mod restart;
mod serve;
mod service;
mod session;
mod silence;
mod start;
mod table;
mod unit;
mod vm;
mod ways;

use std::cell::RefCell;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use report::{Report, over};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rig/systemd-rig");

/// Names the directory whose systemd is booted, where it is not to be this machine's.
const ROOT: &str = "HERMES_RIG_ROOT";

/// A home with one armed job, owned by the service account.
const HOME: &str = "/var/lib/agent";

/// What remedies need of it, for root, who runs them all.
const SUDO: &str = r#"#!/bin/sh
if [ "$1" = -u ]; then
    user=${2#\#}
    shift 2
    exec setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups -- "$@"
fi
exec "$@"
"#;

const JOBS: &str = r#"{"jobs":[{"id":"a1b2c3d4e5f6","name":"probe","prompt":"","script":"ok.sh",
"no_agent":true,"schedule":{"kind":"interval","minutes":30,"display":"every 30m"},
"repeat":{"times":null,"completed":0},"enabled":true,"state":"scheduled","deliver":"local",
"created_at":"2026-01-01T00:00:00+00:00","next_run_at":"2099-01-01T00:00:00+00:00"}],
"updated_at":"2026-01-01T00:00:00+00:00"}"#;

/// A machine that is gone when the test is.
pub(crate) struct Rig {
    name: String,
    running: RefCell<Vec<Child>>,
}

impl Rig {
    /// Boots one, with more options of `up`.
    pub(crate) fn up(options: &[&str]) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let rig = Self {
            name: format!("hermes-{}-{number}", std::process::id()),
            running: RefCell::default(),
        };
        let bind = format!("{}:/usr/local/bin/hermes", env!("CARGO_BIN_EXE_hermes"));
        let mut words = vec!["up", "--bind-ro", bind.as_str()];
        // Another distribution's root instead of this machine's: another systemd.
        let root = std::env::var(ROOT).unwrap_or_default();
        if !root.is_empty() {
            words.extend(["--root", root.as_str()]);
        }
        words.extend(options);
        rig.must(&words);
        rig.sh(&format!(
            "printf '%s' '{SUDO}' >/usr/local/bin/sudo && chmod +x /usr/local/bin/sudo"
        ));
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

    /// Restarts the system bus, and waits until logind is back on it: for a moment nobody has its name. That
    /// of 257 runs on and does not come back by itself.
    pub(crate) fn restart_system_bus(&self) {
        let ping = "org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.DBus.Peer Ping";
        let units = if self.logind_leads() {
            "dbus && systemctl restart systemd-logind"
        } else {
            "dbus"
        };
        self.sh(&format!("systemctl restart {units} && busctl call {ping}"));
    }

    /// Runs a script of root's inside, which must work.
    pub(crate) fn sh(&self, script: &str) -> String {
        self.must(&["exec", "sh", "-euc", script])
    }

    /// Whether logind takes part in the start of a user manager, and keeps the account in mind when it
    /// ends: 257 does, 252 does not.
    pub(crate) fn logind_leads(&self) -> bool {
        let version = self.sh("systemctl --version | sed -n '1s/^systemd \\([0-9]*\\).*/\\1/p'");
        version.parse::<u32>().expect("a version") >= 256
    }

    /// Breaks something.
    pub(crate) fn fault(&self, kind: &str) {
        self.must(&["fault", kind, "svc"]);
    }

    /// A command inside, and what came of it.
    pub(crate) fn exec(&self, who: &[&str], words: &[&str]) -> Output {
        self.script(&[&["exec"], who, words].concat())
    }

    /// Starts a command inside that ends with the rig.
    pub(crate) fn leave_running(&self, who: &[&str], words: &[&str]) {
        let child = Command::new(SCRIPT)
            .args(["--name", &self.name, "exec"])
            .args(who)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.running
            .borrow_mut()
            .push(child.expect("the rig's script"));
    }

    /// The report of a doctor that is run inside, as somebody.
    pub(crate) fn doctor(&self, who: &[&str], words: &[&str]) -> Report {
        let doctor = ["hermes", "cron", "doctor", "--json", "--home", HOME];
        Self::read(&self.exec(who, &[&doctor, words].concat())).by(who)
    }

    /// The report of a doctor that root runs inside by a command of the test's own.
    pub(crate) fn doctor_by(&self, words: &[&str]) -> Report {
        Self::read(&self.exec(&[], words))
    }

    pub(crate) fn read(output: &Output) -> Report {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let document = serde_json::from_str(&text);
        let document = document.unwrap_or_else(|error| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            over(&format!("no report ({error}): {text}{stderr}"))
        });
        Report::of(document, output.status.code())
    }

    /// The doctor as the service account, in a service of its own: what a unit with `User=` sees.
    pub(crate) fn doctor_in_service(&self, properties: &[&str]) -> Report {
        let who = [&["--user", "svc", "--service"], properties].concat();
        self.doctor(&who, &["--shell"])
    }

    /// Writes `agent.service`, enabled and not started: our serve, as `svc`, with more lines.
    pub(crate) fn unit(&self, lines: &str) {
        self.sh(&format!(
            "cat >/etc/systemd/system/agent.service <<'X'\n[Unit]\nDescription=agent\n[Service]\nUser=svc\n\
             Environment=HERMES_HOME={HOME}\nExecStart=/usr/local/bin/hermes serve --port 0\nRestart=always\n\
             {lines}\n[Install]\nWantedBy=multi-user.target\nX\n\
             systemctl daemon-reload && systemctl enable -q agent.service"
        ));
    }

    /// The doctor as root, of that unit.
    pub(crate) fn doctor_of_unit(&self) -> Report {
        self.doctor(&[], &["--unit", "agent.service"])
    }

    /// Waits until something holds; the script ends when it does.
    pub(crate) fn until(&self, condition: &str) {
        self.sh(&format!("timeout 60 sh -c 'until {condition}; do :; done'"));
    }

    /// The doctor as the service account in a unit that is written for it: for hosts whose manager
    /// only root can reach, and only by its private socket.
    pub(crate) fn doctor_in_unit(&self) -> Report {
        self.sh(&format!(
            "cat >/etc/systemd/system/look.service <<'X'\n[Service]\nType=oneshot\nUser=svc\n\
             SuccessExitStatus=0 1 2 3\nStandardOutput=file:/run/look.json\n\
             ExecStart=/usr/local/bin/hermes cron doctor --json --shell --home {HOME}\nX\n\
             rm -f /run/look.json && systemctl daemon-reload && systemctl start look.service"
        ));
        let document = serde_json::from_str(&self.sh("cat /run/look.json")).expect("a report");
        Report::of(document, None).by(&["--user", "svc", "--service"])
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let leads = !std::thread::panicking() && self.logind_leads();
        let _gone_already = self.script(&["down"]);
        for child in self.running.get_mut() {
            let _killed_with_it = child.wait();
        }
        if !std::thread::panicking() {
            ways::row_is_done(leads);
        }
    }
}
