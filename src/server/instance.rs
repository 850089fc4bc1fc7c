//! One serve a home: the lock that makes it so, and the record by which it names itself.
//!
//! The lock is an flock on `run/serve.lock`, held for life; the record beside it is only for people
//! and programs that want to know who holds it, and is never what decides.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::farewell::Farewell;
use super::guard::{Guard, Named};
use crate::clock::{Clock as _, Now, SystemClock};
use crate::error::{Error, Kind, Result};
use crate::files::{self, Lock, Replace};
use crate::home::Home;
use crate::host::facts::{Environment, Machine, Role};
use crate::host::{cgroup, liveness_probe, machine_probe, process_probe, records};
use crate::output::human::span;

/// The lock that a serve holds for life.
pub(super) const LOCK: &str = "serve.lock";
/// Whoever orders while no serve runs holds this one first, and only then the other.
const ORDERS: &str = "orders.lock";
/// How long an order is waited for: longer than the store may stay locked.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a lock is waited for that no serve seems to hold: whoever waits for our turn meanwhile has
/// [`PATIENCE`], and must not run out of it.
const MOMENT: Duration = Duration::from_secs(2);

/// How files of a serve are written.
pub(super) const PRIVATE: Replace<'static> = Replace {
    prefix: ".serve_",
    mode: 0o600,
    durable: false,
};

/// The one serve of a home.
#[derive(Debug)]
pub(crate) struct Instance {
    lock: Arc<Lock>,
    directory: PathBuf,
    published: Vec<PathBuf>,
    record: Value,
}

/// The home while an order is carried out on it. The home is let go before the next may order.
#[derive(Debug)]
pub(crate) struct Order {
    _home: Lock,
    _turn: Lock,
}

/// Waits until no order is carried out.
fn nobody_orders(directory: &Path) -> Result<Lock> {
    let lock = files::wait_lock_for(&directory.join(ORDERS), PATIENCE)?;
    lock.ok_or_else(|| {
        let long = span(PATIENCE.as_secs_f64());
        Error::new(
            Kind::Busy,
            format!("a command changes a timer of this home, for more than {long} already"),
        )
        .with_hint("look for a loop, heartbeat or session command that hangs, and try again")
    })
}

/// Whether the record names a serve that lives, as far as can be told.
fn is_named(directory: &Path) -> bool {
    let text = std::fs::read_to_string(directory.join("serve.json"));
    let Some(found) = text.ok().and_then(|text| records::record(&text).ok()) else {
        return false;
    };
    let machine = machine(SystemClock.now());
    let serves = |role| role == Role::Serve;
    !liveness_probe::liveness(&found.identity, &machine, serves).is_over()
}

/// What a serve tells of itself.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// Its pid.
    pub(crate) pid: u32,
    /// Its start, in clock ticks since boot.
    pub(crate) start_ticks: Option<u64>,
    /// Its start, in seconds since 1970.
    pub(crate) started_at: f64,
    /// `<boot id>:<start of PID 1>`.
    pub(crate) boot: Option<String>,
    /// Inode of its pid namespace.
    pub(crate) pid_namespace: Option<u64>,
}

impl Identity {
    /// This process.
    pub(crate) fn own(machine: &Machine, now: Now) -> Self {
        let pid = std::process::id();
        let context = process_probe::Context::of(&machine.boot);
        let seen = process_probe::process(pid, &context);
        let ticks = seen
            .as_ref()
            .and_then(|process| process.start_ticks.known().copied());
        let boot = liveness_probe::boot_mark(machine).map(|mark| {
            let start = mark.init_start.map(|start| start.to_string());
            format!("{}:{}", mark.id, start.unwrap_or_default())
        });
        Self {
            pid,
            start_ticks: ticks,
            started_at: now.wall.as_duration().as_secs_f64(),
            boot,
            pid_namespace: machine.namespaces.pid_inode,
        }
    }
}

/// The machine, by an environment that names nothing of it.
pub(crate) fn machine(now: Now) -> Machine {
    machine_probe::machine(&Environment::default(), now)
}

/// Where a serve can be reached.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    /// The address that it listens at.
    pub(crate) host: String,
    /// The port.
    pub(crate) port: u16,
}

impl Instance {
    /// Takes the home; `None` where another serve has it.
    pub(crate) fn take(home: &Home) -> Result<Option<Self>> {
        let directory = home.run_dir();
        prepare(home, &directory)?;
        // Whoever orders without a serve is not taken for one: he is waited for.
        let _nobody_orders = nobody_orders(&directory)?;
        let path = directory.join(LOCK);
        let mut lock = files::try_lock(&path)?;
        if lock.is_none() && !is_named(&directory) {
            // Of a serve that was killed an agent's process that was just being started may have the
            // lock for a moment; of one that begins, the record is still to come.
            lock = files::wait_lock_for(&path, MOMENT)?;
        }
        Ok(lock.map(|lock| Self::with(lock, directory)))
    }

    /// Takes the home when the holder lets go, however that ended: the kernel wakes us.
    pub(crate) fn wait(home: &Home) -> Result<Self> {
        let directory = home.run_dir();
        let path = directory.join(LOCK);
        prepare(home, &directory)?;
        let lock = files::wait_lock(&path)?;
        // What was waited for may have been removed meanwhile, and be nobody's lock any more. Once: not all
        // file systems have a number for a file that stays. Then our own lock would stand in our way.
        if !matches!(lock.is_at(&path), Ok(None | Some(false))) {
            return Ok(Self::with(lock, directory));
        }
        drop(lock);
        prepare(home, &directory)?;
        Ok(Self::with(files::wait_lock(&path)?, directory))
    }

    /// Takes the home for as long as an order takes; `None` where a serve has it.
    pub(crate) fn take_for_order(home: &Home) -> Result<Option<Order>> {
        let directory = home.run_dir();
        prepare(home, &directory)?;
        let turn = nobody_orders(&directory)?;
        let lock = files::try_lock(&directory.join(LOCK))?;
        Ok(lock.map(|lock| Order {
            _home: lock,
            _turn: turn,
        }))
    }

    fn with(lock: Lock, directory: PathBuf) -> Self {
        Self {
            lock: Arc::new(lock),
            directory,
            published: Vec::new(),
            record: Value::Null,
        }
    }

    /// Who notices that the home is taken away.
    pub(crate) fn guard(&self) -> Guard {
        let named = Named::of(&self.record);
        Guard::new(Arc::clone(&self.lock), self.directory.clone(), named)
    }

    /// Path of a file of this serve.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Writes `serve.json` and `serve.token`.
    pub(crate) fn publish(
        &mut self,
        home: &Home,
        identity: &Identity,
        reach: &Reach,
        token: &str,
    ) -> Result<()> {
        let record = json!({
            "role": "serve",
            "pid": identity.pid,
            "start_ticks": identity.start_ticks,
            "started_at": identity.started_at,
            "boot": identity.boot,
            "pid_namespace": identity.pid_namespace,
            "home": home.path(),
            "profiles": [home.profile()],
            "version": env!("CARGO_PKG_VERSION"),
            "host": reach.host,
            "port": reach.port,
            "socket": self.path("serve.sock"),
        });
        self.write("serve.token", token.as_bytes())?;
        self.write("serve.json", record.to_string().as_bytes())?;
        self.record = record;
        Ok(())
    }

    /// What tells others that this serve stops.
    pub(super) fn farewell(&self) -> Farewell {
        Farewell::new(self.guard(), self.path("serve.json"), self.record.clone())
    }

    fn write(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let path = self.path(name);
        // A file of a dead serve may have another mode.
        let _not_there = std::fs::remove_file(&path);
        PRIVATE.write(&path, content)?;
        self.published.push(path);
        Ok(())
    }

    /// Takes back at the end what was published; the lock file stays, as lock files do.
    ///
    /// # Errors
    /// When the home was taken away: what is there now may be another's.
    pub(crate) fn withdraw(mut self) -> Result<()> {
        if self.guard().is_lost() {
            return Err(Error::new(
                Kind::Unavailable,
                format!("{} was taken away from serve", self.path(LOCK).display()),
            )
            .with_hint("leave the directory alone while a serve runs"));
        }
        self.published.push(self.path("serve.sock"));
        for path in &self.published {
            let _gone_already = std::fs::remove_file(path);
        }
        Ok(())
    }
}

fn prepare(home: &Home, directory: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let failed = |error| Error::io(format!("failed to make {}", directory.display()), error);
    let mut builder = std::fs::DirBuilder::new();
    builder.mode(0o700);
    // A profile that was deleted is not brought back by a serve that was still configured for it.
    if home.root() != *home && !home.path().is_dir() {
        return Err(Error::new(
            Kind::NotFound,
            format!("the profile '{}' does not exist", home.profile()),
        )
        .with_hint(format!("its home would be {}", home.path().display())));
    }
    builder.recursive(true).create(directory).map_err(failed)
}

/// Who holds a home.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Held {
    pid: Option<u32>,
    unit: Option<String>,
    age: Option<f64>,
    port: Option<u64>,
    version: Option<String>,
}

impl Held {
    /// Reads who holds the home, from the record of the holder and from `/proc`.
    pub(crate) fn look(home: &Home, now: Now) -> Self {
        let Ok(text) = std::fs::read_to_string(home.run_dir().join("serve.json")) else {
            return Self::default();
        };
        let Ok(found) = records::record(&text) else {
            return Self::default();
        };
        let port = serde_json::from_str::<Value>(&text)
            .ok()
            .and_then(|record| record.get("port")?.as_u64());
        let context = process_probe::Context::of(&machine(now).boot);
        let process = process_probe::process(found.identity.pid, &context);
        let unit = process
            .as_ref()
            .and_then(|process| cgroup::unit(process.cgroup.known()?))
            .map(|unit| unit.name);
        Self {
            pid: Some(found.identity.pid),
            unit,
            age: found
                .identity
                .started_at
                .map(|at| now.wall.as_duration().as_secs_f64() - at),
            port,
            version: found.version,
        }
    }

    /// The holder in words.
    pub(crate) fn words(&self) -> String {
        let Some(pid) = self.pid else {
            return "another serve, which left no record".to_owned();
        };
        let mut words = format!("pid {pid}");
        if let Some(unit) = &self.unit {
            let _infallible = write!(words, " in {unit}");
        }
        if let Some(age) = self.age {
            let _infallible = write!(words, ", for {}", span(age));
        }
        if let Some(port) = self.port {
            let _infallible = write!(words, ", port {port}");
        }
        if let Some(version) = &self.version {
            let _infallible = write!(words, ", version {version}");
        }
        words
    }

    /// The refusal to start beside it.
    pub(crate) fn refusal(&self, home: &Home) -> Error {
        let home = home.path().display();
        Error::new(
            Kind::Busy,
            format!("another serve has the home {home}: {}", self.words()),
        )
        .with_hint("use that one: hermes session list")
        .with_hint("or wait for its end and take over: hermes serve --passive")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A serve of this home that has said where it is.
    pub(in crate::server) fn published(home: &Home, now: Now) -> (Instance, Identity) {
        let mut instance = Instance::take(home).unwrap().unwrap();
        let identity = Identity::own(&machine(now), now);
        let reach = Reach {
            host: "127.0.0.1".to_owned(),
            port: 9119,
        };
        instance.publish(home, &identity, &reach, "secret").unwrap();
        (instance, identity)
    }

    #[test]
    fn a_home_has_one_serve_and_the_second_learns_which() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let now = SystemClock.now();
        let (first, identity) = published(&home, now);
        assert!(Instance::take(&home).unwrap().is_none());
        let words = Held::look(&home, now).words();
        let pid = std::process::id();
        assert!(words.starts_with(&format!("pid {pid}")), "{words}");
        assert!(words.contains("port 9119"), "{words}");
        let record = std::fs::read_to_string(home.join("run/serve.json")).unwrap();
        assert!(!record.contains("secret"));
        let found = records::record(&record).unwrap();
        assert_eq!(found.identity.start_ticks, identity.start_ticks);
        assert!(found.identity.boot.is_some());
        assert!(is_named(&home.run_dir()), "it is not waited for");
        let gone = json!({"pid": std::process::id(), "start_ticks": 1}).to_string();
        std::fs::write(home.join("run/serve.json"), gone).unwrap();
        assert!(!is_named(&home.run_dir()), "that one was killed");
        first.withdraw().unwrap();
        assert!(!is_named(&home.run_dir()));
        assert!(!home.join("run/serve.json").exists());
        assert!(!home.join("run/serve.token").exists());
        assert!(Instance::take(&home).unwrap().is_some());
    }

    #[test]
    fn an_order_is_waited_for_and_refused_beside_a_serve() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let order = Instance::take_for_order(&home).unwrap().unwrap();
        std::thread::scope(|scope| {
            let serve = scope.spawn(|| Instance::take(&home).unwrap());
            let orders = home.run_dir().join(ORDERS);
            while !is_waited_for(&orders) {
                std::thread::yield_now();
            }
            drop(order);
            let serve = serve.join().unwrap();
            assert!(serve.is_some(), "an order is no other serve");
            assert!(Instance::take_for_order(&home).unwrap().is_none());
        });
        assert!(Instance::take_for_order(&home).unwrap().is_some());
    }

    #[test]
    fn a_lock_that_no_record_explains_does_not_cost_others_their_turn() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        drop(Instance::take(&home).unwrap());
        let _nobody_said = files::try_lock(&home.run_dir().join(LOCK)).unwrap();
        let began = SystemClock.now().monotonic;
        std::thread::scope(|scope| {
            let serve = scope.spawn(|| Instance::take(&home).unwrap());
            let lock = home.run_dir().join(LOCK);
            while !is_waited_for(&lock) {
                std::thread::yield_now();
            }
            // It holds the turn, and lets it go in time.
            assert!(Instance::take_for_order(&home).unwrap().is_none());
            assert!(serve.join().unwrap().is_none());
        });
        assert!(SystemClock.now().monotonic < began + PATIENCE);
    }

    /// Whether somebody waits for an flock on a file; the kernel shows him behind an arrow.
    fn is_waited_for(path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let inode = std::fs::metadata(path).unwrap().ino();
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        let waits = |line: &str| line.contains("->") && line.contains(&format!(":{inode} "));
        locks.lines().any(waits)
    }

    #[test]
    fn a_profile_that_is_gone_stays_gone() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path().join("profiles/ops"));
        assert_eq!(Instance::take(&home).unwrap_err().kind(), Kind::NotFound);
        assert!(!home.path().exists());
    }
}
