//! A serve that a real manager runs, by the unit that `hermes service print` prints. Its clock is the
//! test's: a pass over the jobs begins when the test lets a minute go by.

use std::cell::Cell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};

use super::{HOME, Rig};

/// The unit.
pub(super) const UNIT: &str = "hermes.service";

/// Writes the printed unit of the system, enabled and not started, for an account.
pub(super) fn print(rig: &Rig, user: &str) {
    let who = if user == "root" {
        &[][..]
    } else {
        &["--user", user]
    };
    let words = ["hermes", "service", "print", "--system", "--home", HOME];
    let unit = rig.exec(who, &words);
    assert!(unit.status.success(), "{unit:?}");
    let unit = String::from_utf8_lossy(&unit.stdout).into_owned();
    rig.sh(&format!(
        "cat >/etc/systemd/system/{UNIT} <<'X'\n{unit}X\n\
         systemctl daemon-reload && systemctl enable -q {UNIT}"
    ));
}

/// A serve of the rig's home.
pub(super) struct Service<'a> {
    rig: &'a Rig,
    now: Cell<Timestamp>,
}

impl<'a> Service<'a> {
    /// The printed unit, with more lines of the operator's.
    pub(super) fn of(rig: &'a Rig, user: &str, lines: &str) -> Self {
        print(rig, user);
        rig.sh(&format!(
            "mkdir -p /etc/systemd/system/{UNIT}.d && cat >/etc/systemd/system/{UNIT}.d/more.conf <<'X'\n\
             [Service]\nEnvironment=__HERMES_CLOCK={HOME}/clock.sock\nEnvironmentFile=/etc/clock\n{lines}\nX\n\
             systemctl daemon-reload"
        ));
        // On a whole minute, where a pass begins: the next one is a minute away.
        let now = Timestamp::now() + SignedDuration::from_mins(1);
        let now = Timestamp::from_second(now.as_second() / 60 * 60).expect("a minute");
        let now = Cell::new(now);
        let service = Self { rig, now };
        service.set();
        service
    }

    /// The same without its lines on the account's manager, as in a unit that somebody wrote who did not
    /// think of it: without linger, there is none. A stop leaves so many seconds to jobs.
    pub(super) fn without_manager(rig: &'a Rig, lines: &str, drain: u32) -> Self {
        let service = Self::of(rig, "svc", lines);
        rig.sh(&format!(
            "sed -i /user@/d /etc/systemd/system/{UNIT}; systemctl daemon-reload"
        ));
        service.configure(&format!("agent:\n  cron_drain_timeout: {drain}"));
        service
    }

    /// Writes its configuration.
    pub(super) fn configure(&self, lines: &str) {
        let file = format!("{HOME}/config.yaml");
        self.rig
            .sh(&format!("echo '{lines}' >{file}; chown svc: {file}"));
    }

    /// Has the manager do something with it, to its end.
    pub(super) fn systemctl(&self, words: &str) -> &Self {
        self.rig.sh(&format!("systemctl {words} {UNIT}"));
        self
    }

    /// What the manager knows of it.
    pub(super) fn show(&self, what: &str) -> String {
        self.rig.sh(&format!("systemctl show -P {what} {UNIT}"))
    }

    /// Its process.
    pub(super) fn pid(&self) -> String {
        self.show("MainPID")
    }

    /// The next pass over the jobs begins.
    pub(super) fn minute(&self) -> &Self {
        self.seconds(60)
    }

    /// The same, where it may be killed in that pass.
    pub(super) fn minute_if_it_lives(&self) {
        self.pass_by(60);
        let _no_answer_from_the_dead = self.try_order("advance 60");
    }

    /// The time by its clock.
    pub(super) fn now(&self) -> Timestamp {
        self.now.get()
    }

    /// Lets time go by.
    fn seconds(&self, seconds: u8) -> &Self {
        self.pass_by(seconds);
        self.order(&format!("advance {seconds}"));
        self
    }

    /// The next life of it begins so much later.
    fn pass_by(&self, seconds: u8) {
        self.now
            .set(self.now.get() + SignedDuration::from_secs(seconds.into()));
        self.set();
    }

    /// A person has it run the job, a second later: in the same minute, unless a pass is asked for.
    pub(super) fn by_hand(&self) -> &Self {
        let output = self.asked_by_hand();
        assert!(output.status.success(), "{output:?}");
        self
    }

    /// The same, whatever comes of it.
    pub(super) fn asked_by_hand(&self) -> std::process::Output {
        self.seconds(1);
        let words = ["hermes", "cron", "run", "probe", "--home", HOME];
        self.rig.exec(&["--user", "svc"], &words)
    }

    /// Waits until no job runs.
    pub(super) fn settle(&self) -> &Self {
        self.order("settle");
        self
    }

    /// What this process of it said, waited for until it has said something like that.
    pub(super) fn says(&self, pid: &str, words: &str) -> String {
        let journal = format!("journalctl -q -u {UNIT} _PID={pid} -o cat --no-pager");
        self.rig.must(&[
            "exec",
            "timeout",
            "60",
            "bash",
            "-euc",
            &format!("grep -qm1 '{words}' < <({journal} -n all -f); {journal}"),
        ])
    }

    /// Where the next life of it begins in time.
    fn set(&self) {
        let line = format!("__HERMES_NOW={}\n", self.now.get());
        std::fs::write(self.path("/etc/clock"), line).expect("the clock's file");
    }

    fn order(&self, order: &str) {
        assert_eq!(self.try_order(order).expect("an answer"), "ok\n", "{order}");
    }

    fn try_order(&self, order: &str) -> std::io::Result<String> {
        let path = self.path(&format!("{HOME}/clock.sock"));
        let mut clock = BufReader::new(UnixStream::connect(path)?);
        clock.get_mut().write_all(format!("{order}\n").as_bytes())?;
        let mut answer = String::new();
        clock.read_line(&mut answer)?;
        Ok(answer)
    }

    /// A file inside; the way to it is another after a reboot.
    fn path(&self, inside: &str) -> PathBuf {
        PathBuf::from(self.rig.must(&["root"])).join(inside.trim_start_matches('/'))
    }
}
