//! Whether a process that was written down somewhere still lives. A judgement over what was recorded
//! and what was observed; owns no I/O (`liveness_probe` observes).
//!
//! A pid is a number that is used again. Alive is a process of that number with the recorded start, in
//! the recorded boot. Gone is what `kill(pid, 0)` calls ESRCH, never a missing `/proc/PID`: `hidepid`
//! hides what lives. Whatever cannot be checked is unverified, and an unverified owner is never dead.

use serde::{Deserialize, Serialize};

/// How far two readings of one start may lie apart, in seconds: 200 ticks of 100 Hz, the tolerance
/// that Hermes Agent gives owners of claims.
const TOLERANCE: f64 = 2.0;

/// One boot of one machine or container. Containers share the boot id of their host, so the start of
/// their PID 1 belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootMark {
    /// The kernel's boot id.
    pub id: String,
    /// Start of PID 1, in clock ticks since boot.
    pub init_start: Option<u64>,
}

impl BootMark {
    /// Reads `<boot id>:<start of PID 1>`, the form of Hermes Agent's host records.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (id, start) = text.trim().split_once(':')?;
        let dashed = id.len() == 36 && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        dashed.then(|| Self {
            id: id.to_ascii_lowercase(),
            init_start: start.parse().ok(),
        })
    }
}

/// What was recorded of a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// Its pid.
    pub pid: u32,
    /// Its start, in clock ticks since boot.
    pub start_ticks: Option<u64>,
    /// Its start, in seconds since 1970: worth less, because the wall clock is set now and then.
    pub started_at: Option<f64>,
    /// The boot in which it ran.
    pub boot: Option<BootMark>,
    /// Inode of its pid namespace.
    pub pid_namespace: Option<u64>,
}

/// What `kill(pid, 0)` said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// It exists: no error, or EPERM.
    Exists,
    /// ESRCH.
    Gone,
    /// It could not be asked.
    Unasked(String),
}

/// What is observed of the pid now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// What `kill(pid, 0)` said.
    pub signal: Signal,
    /// Start of the process that has the pid, if it can be read.
    pub start_ticks: Option<u64>,
    /// The same in seconds since 1970.
    pub started_at: Option<f64>,
    /// It has ended and waits for its parent to notice.
    pub zombie: bool,
    /// Whether its command line is of the kind that the record speaks of; `None`: unreadable.
    pub kin: Option<bool>,
    /// This boot.
    pub boot: Option<BootMark>,
    /// Inode of our pid namespace.
    pub pid_namespace: Option<u64>,
    /// Clock ticks a second.
    pub ticks_per_second: u64,
}

/// The judgement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Liveness {
    /// It lives, and it is the one that was recorded.
    Alive,
    /// It has ended.
    Dead(Death),
    /// Its pid belongs to somebody else now: it has ended.
    Reused,
    /// It cannot be told. Never to be taken for dead.
    Unverified(Doubt),
}

/// How it is known that a process has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Death {
    /// No process has the pid.
    Gone,
    /// It has ended, and its parent has not noticed yet.
    Zombie,
    /// The machine was booted again since.
    Rebooted,
}

/// Why it cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// The pid is one of another pid namespace, where we cannot ask.
    OtherNamespace,
    /// Same boot, another PID 1: an earlier life of this container, or a container beside it. Who alone
    /// holds the home's lock may take it for ended.
    OtherInit,
    /// The pid lives, and no start was recorded, or none can be read.
    StartUnknown,
    /// The pid lives with another wall time of start, as after the clock was set.
    ClockMoved,
    /// The pid could not be asked for.
    Unasked(String),
}

impl Liveness {
    /// It lives for certain.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        matches!(self, Self::Alive)
    }

    /// It has ended for certain.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Dead(_) | Self::Reused)
    }
}

/// Judges.
#[must_use]
pub fn judge(recorded: &Identity, seen: &Observation) -> Liveness {
    if let Some(elsewhere) = other_boot(recorded, seen) {
        return elsewhere;
    }
    match &seen.signal {
        Signal::Gone => return Liveness::Dead(Death::Gone),
        Signal::Unasked(why) => return Liveness::Unverified(Doubt::Unasked(why.clone())),
        Signal::Exists => {}
    }
    match same_start(recorded, seen) {
        Start::Other => Liveness::Reused,
        Start::Same if seen.zombie => Liveness::Dead(Death::Zombie),
        Start::Same => Liveness::Alive,
        _ if seen.kin == Some(false) => Liveness::Reused,
        Start::Moved => Liveness::Unverified(Doubt::ClockMoved),
        Start::Unknown => Liveness::Unverified(Doubt::StartUnknown),
    }
}

/// What the boot and the namespace alone decide.
fn other_boot(recorded: &Identity, seen: &Observation) -> Option<Liveness> {
    if let (Some(then), Some(now)) = (&recorded.boot, &seen.boot) {
        if then.id != now.id {
            return Some(Liveness::Dead(Death::Rebooted));
        }
        if let (Some(then), Some(now)) = (then.init_start, now.init_start)
            && then != now
        {
            return Some(Liveness::Unverified(Doubt::OtherInit));
        }
    }
    match (recorded.pid_namespace, seen.pid_namespace) {
        (Some(then), Some(now)) if then != now => Some(Liveness::Unverified(Doubt::OtherNamespace)),
        _ => None,
    }
}

/// How a recorded start compares with the one that is seen.
enum Start {
    Same,
    Other,
    Moved,
    Unknown,
}

fn same_start(recorded: &Identity, seen: &Observation) -> Start {
    if let (Some(then), Some(now)) = (recorded.start_ticks, seen.start_ticks) {
        let tolerance = 2 * seen.ticks_per_second.max(1);
        return if then.abs_diff(now) <= tolerance {
            Start::Same
        } else {
            Start::Other
        };
    }
    match (recorded.started_at, seen.started_at) {
        (Some(then), Some(now)) if (then - now).abs() <= TOLERANCE => Start::Same,
        (Some(_), Some(_)) => Start::Moved,
        _ => Start::Unknown,
    }
}

#[cfg(test)]
mod tests;
