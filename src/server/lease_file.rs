//! Our entries in `runtime/active_sessions.json`. They tell Hermes Agent that a session has an owner: it
//! opens any id of a session's shape, and would drive the timer of one of ours beside us.
//!
//! The file is changed under its lock, read whole and replaced whole; entries of others stay as they are,
//! but for those of dead processes on sessions of ours. It is never waited for: whoever has the lock
//! longer than we look makes us look again.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::instance::Identity;
use crate::clock::Clock;
use crate::error::{Context as _, Error, Kind, Result};
use crate::files::{self, Replace};
use crate::home::Home;
use crate::host::facts::{Machine, Role};
use crate::host::liveness::{self, Liveness};
use crate::host::liveness_probe::liveness;
use crate::sessions::rows::REGISTRY_LARGEST;
use crate::sessions::store::Theirs;

/// How long a command waits for the lock, which everybody holds for a moment only.
const PATIENCE: Duration = Duration::from_secs(5);
/// What we are called in it.
const SURFACE: &str = "serve";
const FILE: Replace<'static> = Replace {
    prefix: ".active_sessions_",
    mode: 0o600,
    durable: false,
};

/// The leases of this serve.
pub(crate) struct Leases {
    home: Home,
    machine: Machine,
    clock: std::sync::Arc<dyn Clock>,
    pid: u32,
    process_start: Option<f64>,
    held: BTreeMap<String, Value>,
    reclaimed: BTreeSet<String>,
    stale: bool,
    told: bool,
    /// The file when it had our own entries alone: inode, length and time of its last change.
    alone: Option<(u64, u64, i64, i64)>,
}

impl Leases {
    /// No leases yet.
    pub(crate) fn new(
        home: Home,
        machine: Machine,
        own: &Identity,
        clock: std::sync::Arc<dyn Clock>,
    ) -> Self {
        let process_start = own
            .start_ticks
            .and_then(|ticks| process_start(ticks, &machine));
        Self {
            home,
            machine,
            clock,
            pid: own.pid,
            process_start,
            held: BTreeMap::new(),
            reclaimed: BTreeSet::new(),
            stale: false,
            told: false,
            alone: None,
        }
    }

    /// A session is held from now on, under this runtime id; none lets it go.
    pub(crate) fn note(&mut self, stored_id: String, live_id: Option<&str>) {
        self.stale = true;
        let Some(live_id) = live_id else {
            self.held.remove(&stored_id);
            return;
        };
        let now = self.clock.now().wall.as_duration().as_secs_f64();
        let entry = json!({
            "lease_id": uuid::Uuid::new_v4().simple().to_string(),
            "session_id": stored_id,
            "surface": SURFACE,
            "pid": self.pid,
            "process_start_time": self.process_start,
            "started_at": now,
            "updated_at": now,
            "metadata": {"live_session_id": live_id},
        });
        self.held.insert(stored_id, entry);
    }

    /// Lets all go.
    pub(crate) fn give_back(&mut self) {
        self.stale |= !self.held.is_empty();
        self.held.clear();
    }

    /// Whether the file does not say what is held.
    pub(crate) fn is_stale(&self) -> bool {
        self.stale
    }

    /// Brings the file up to date. That it could not be is said once, and tried again by the next call.
    pub(crate) fn save(&mut self) {
        if !self.stale {
            return;
        }
        match self.write() {
            Ok(true) => {
                (self.stale, self.told) = (false, false);
                self.reclaimed.clear();
            }
            Ok(false) => {}
            Err(error) => {
                if !std::mem::replace(&mut self.told, true) {
                    let error = super::turn::words(&error);
                    tracing::warn!("Hermes Agent cannot see which sessions are ours: {error}.");
                }
            }
        }
    }

    /// False where somebody has the lock.
    fn write(&self) -> Result<bool> {
        let path = self.home.join("runtime/active_sessions.json");
        if self.held.is_empty() && !path.exists() {
            return Ok(true);
        }
        files::make_private(&self.home.join("runtime"))?;
        let Some(_lock) = files::try_lock(&self.home.join("runtime/active_sessions.lock"))? else {
            return Ok(false);
        };
        let mut document = read(&self.home)?;
        let entries = entries(&mut document)?;
        entries.retain(|entry| !self.makes_room(entry));
        let taken: BTreeSet<String> = entries.iter().filter_map(session).collect();
        let free = self.held.iter().filter(|(id, _)| !taken.contains(*id));
        entries.extend(free.map(|(_, entry)| entry.clone()));
        FILE.write(&path, document.to_string().as_bytes())?;
        Ok(true)
    }

    /// Our own entries are written anew; one of a dead process on a session that we hold, or take back,
    /// goes.
    fn makes_room(&self, entry: &Value) -> bool {
        let wanted = |id: String| self.held.contains_key(&id) || self.reclaimed.contains(&id);
        let wanted = || session(entry).is_some_and(wanted);
        self.is_ours(entry) || wanted() && self.life(entry).is_some_and(|life| life.is_over())
    }

    fn is_ours(&self, entry: &Value) -> bool {
        let same = entry.get("pid").and_then(Value::as_u64) == Some(u64::from(self.pid));
        same && entry.get("surface").and_then(Value::as_str) == Some(SURFACE)
    }

    fn life(&self, entry: &Value) -> Option<Liveness> {
        let pid = entry.get("pid").and_then(Value::as_u64)?;
        let recorded = liveness::Identity {
            pid: u32::try_from(pid).ok()?,
            started_at: entry.get("process_start_time").and_then(Value::as_f64),
            ..liveness::Identity::default()
        };
        Some(liveness(&recorded, &self.machine, |role| {
            role != Role::Other
        }))
    }

    /// What other processes have, or had, among the sessions asked for; a registry that is not there
    /// names nobody.
    ///
    /// # Errors
    /// When it cannot be read: then any session may be somebody's.
    pub(crate) fn others(&self, asked: impl Fn(&str) -> bool) -> Result<Others> {
        let mut document = read(&self.home)?;
        let mut others = Others::default();
        for entry in std::mem::take(entries(&mut document)?) {
            // The cheap questions first: most are ours.
            let Some(id) = session(&entry).filter(|id| asked(id)) else {
                continue;
            };
            if self.is_ours(&entry) {
                continue;
            }
            if self.life(&entry).is_some_and(|life| life.is_over()) {
                others.left.insert(id);
                continue;
            }
            let surface = entry.get("surface").and_then(Value::as_str);
            let pid = entry.get("pid").map(Value::to_string).unwrap_or_default();
            let since = entry.get("started_at").and_then(Value::as_f64);
            #[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
            let holder = Theirs {
                holder: format!("{}, pid {pid}", surface.unwrap_or("a process")),
                since: since.map(|at| at as i64),
            };
            others.held.insert(id, holder);
        }
        Ok(others)
    }

    /// The same for all sessions, for one who looks again and again: a file that has not changed since
    /// it had our own entries alone is not read.
    ///
    /// # Errors
    /// As [`Self::others`].
    pub(crate) fn look(&mut self) -> Result<Others> {
        let path = self.home.join("runtime/active_sessions.json");
        let found = match std::fs::metadata(&path) {
            Ok(found) => found,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Others::default());
            }
            Err(error) => {
                let failed = format!("failed to look at {}", path.display());
                return Err(Error::io(failed, error));
            }
        };
        let stamp = (found.ino(), found.len(), found.mtime(), found.mtime_nsec());
        if self.alone == Some(stamp) {
            return Ok(Others::default());
        }
        let others = self.others(|_| true)?;
        self.alone = (others == Others::default()).then_some(stamp);
        Ok(others)
    }

    /// Left-over entries of these sessions go with the next [`Self::save`].
    pub(crate) fn reclaim(&mut self, sessions: impl IntoIterator<Item = String>) {
        self.reclaimed.extend(sessions);
        self.stale |= !self.reclaimed.is_empty();
    }
}

/// What other processes have to do with sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Others {
    /// Sessions that such a process holds, or may hold, and who that is.
    pub(crate) held: BTreeMap<String, Theirs>,
    /// Sessions that one held which has ended.
    pub(crate) left: BTreeSet<String>,
}

fn read(home: &Home) -> Result<Value> {
    let path = home.join("runtime/active_sessions.json");
    let failed = || format!("failed to read {}", path.display());
    match files::read_regular(&path, REGISTRY_LARGEST) {
        Ok(text) => serde_json::from_slice(&text).context(Kind::Invalid, failed()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(json!({})),
        Err(error) => Err(Error::io(failed(), error)),
    }
}

/// Takes left-over leases of one session out, by their ids: for a command, which waits for the lock.
pub(super) fn remove(home: &Home, of: &str, leases: &[&str]) -> Result<()> {
    let lock = home.join("runtime/active_sessions.lock");
    let Some(_lock) = files::wait_lock_for(&lock, PATIENCE)? else {
        let message = format!("somebody holds {} for long", lock.display());
        return Err(Error::new(Kind::Busy, message).with_hint("try again"));
    };
    let mut document = read(home)?;
    entries(&mut document)?.retain(|entry| {
        let lease = entry.get("lease_id").and_then(Value::as_str);
        session(entry).as_deref() != Some(of) || !lease.is_some_and(|id| leases.contains(&id))
    });
    let path = home.join("runtime/active_sessions.json");
    FILE.write(&path, document.to_string().as_bytes())
}

/// Start of a process as Hermes Agent computes it, which compares it to the millisecond: the kernel's
/// whole second of the boot, and the ticks since.
fn process_start(ticks: u64, machine: &Machine) -> Option<f64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let booted = text.lines().find_map(|line| line.strip_prefix("btime "))?;
    let booted: f64 = booted.trim().parse().ok()?;
    #[expect(clippy::cast_precision_loss, reason = "ticks since boot fit a double")]
    let since = ticks as f64 / machine.boot.ticks_per_second.max(1) as f64;
    Some(booted + since)
}

fn session(entry: &Value) -> Option<String> {
    entry.get("session_id")?.as_str().map(str::to_owned)
}

/// The entries of a registry; an older one is a bare list.
fn entries(document: &mut Value) -> Result<&mut Vec<Value>> {
    let list = match document {
        Value::Array(entries) => return Ok(entries),
        Value::Object(object) => list_of(object),
        _ => None,
    };
    list.ok_or_else(|| Error::new(Kind::Invalid, "active_sessions.json has no list of entries"))
}

fn list_of(object: &mut Map<String, Value>) -> Option<&mut Vec<Value>> {
    let entries = object.entry("entries").or_insert_with(|| json!([]));
    entries.as_array_mut()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::ManualClock;
    use crate::server::instance;

    fn leases(home: &Home) -> Leases {
        let clock = Arc::new(ManualClock::at("2026-06-01T23:00:00Z".parse().unwrap()));
        let machine = instance::machine(crate::clock::SystemClock.now());
        let own = Identity::own(&machine, clock.now());
        Leases::new(home.clone(), machine, &own, clock)
    }

    fn listed(home: &Home) -> Value {
        let text = std::fs::read(home.join("runtime/active_sessions.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    fn entry(lease: &str, session: &str, pid: u32) -> Value {
        json!({"lease_id": lease, "session_id": session, "surface": "tui", "pid": pid, "odd": [1]})
    }

    fn with(entries: &Value) -> (tempfile::TempDir, Home) {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        std::fs::create_dir(home.join("runtime")).unwrap();
        let text = json!({"entries": entries, "more": true}).to_string();
        std::fs::write(home.join("runtime/active_sessions.json"), text).unwrap();
        (directory, home)
    }

    /// No process has this pid.
    const DEAD: u32 = 4_194_304;

    #[test]
    fn ours_come_and_go_and_those_of_others_stay() {
        let theirs = entry("1", "theirs", std::process::id());
        let (_directory, home) = with(&json!([theirs, entry("2", "left", DEAD)]));
        let mut leases = leases(&home);
        leases.note("left".to_owned(), Some("aaaaaaaa"));
        leases.note("new".to_owned(), Some("bbbbbbbb"));
        leases.save();
        assert!(!leases.is_stale());
        let document = listed(&home);
        assert_eq!(document["more"], true);
        let entries = document["entries"].as_array().unwrap();
        let ids: Vec<_> = entries.iter().filter_map(session).collect();
        assert_eq!(ids, ["theirs", "left", "new"]);
        assert_eq!(entries[0], theirs);
        assert_eq!(entries[1]["metadata"]["live_session_id"], "aaaaaaaa");
        assert!(entries[1]["process_start_time"].is_number());
        leases.note("left".to_owned(), None);
        leases.save();
        assert_eq!(listed(&home)["entries"].as_array().unwrap().len(), 2);
        leases.give_back();
        leases.save();
        assert_eq!(listed(&home)["entries"], json!([theirs]));
    }

    #[test]
    fn a_session_of_another_process_stays_that_process_s() {
        let machine = instance::machine(crate::clock::SystemClock.now());
        let own = Identity::own(&machine, crate::clock::SystemClock.now());
        let mut theirs = entry("1", "both", own.pid);
        theirs["process_start_time"] = json!(process_start(own.start_ticks.unwrap(), &machine));
        let (_directory, home) = with(&json!([theirs, entry("2", "gone", DEAD)]));
        let mut leases = leases(&home);
        let others = leases.look().unwrap();
        let words = format!("tui, pid {}", std::process::id());
        assert_eq!(others.held["both"].holder, words);
        assert_eq!(others.held.len(), 1);
        assert_eq!(others.left, ["gone".to_owned()].into());
        assert_eq!(
            leases.others(|id| id == "gone").unwrap().held,
            BTreeMap::new()
        );
        leases.note("both".to_owned(), Some("aaaaaaaa"));
        leases.save();
        assert_eq!(listed(&home)["entries"][0], theirs);
        assert_eq!(listed(&home)["entries"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn what_a_dead_process_left_is_taken_back_and_a_file_of_ours_alone_is_not_read_again() {
        let (_directory, home) = with(&json!([entry("1", "left", DEAD), entry("2", "more", DEAD)]));
        let mut leases = leases(&home);
        assert_eq!(leases.look().unwrap().left.len(), 2);
        leases.reclaim(["left".to_owned()]);
        assert!(leases.is_stale());
        leases.save();
        assert_eq!(listed(&home)["entries"], json!([entry("2", "more", DEAD)]));
        assert_eq!(leases.look().unwrap().left, ["more".to_owned()].into());
        leases.reclaim(["more".to_owned()]);
        leases.note("ours".to_owned(), Some("aaaaaaaa"));
        leases.save();
        assert_eq!(leases.look().unwrap(), Others::default());
        assert!(leases.alone.is_some());
        let late = json!({"entries": [entry("3", "late", DEAD)]}).to_string();
        std::fs::write(home.join("runtime/active_sessions.json"), late).unwrap();
        assert_eq!(leases.look().unwrap().left, ["late".to_owned()].into());
    }

    #[test]
    fn a_command_takes_out_what_it_names_and_nothing_else() {
        let others = [entry("1", "a", DEAD), entry("2", "b", DEAD)];
        let (_directory, home) = with(&json!([others[0], entry("2", "a", DEAD), others[1]]));
        remove(&home, "a", &["2", "3"]).unwrap();
        assert_eq!(listed(&home), json!({"entries": others, "more": true}));
    }

    #[test]
    fn a_registry_that_cannot_be_read_or_is_locked_is_left_alone() {
        let (_directory, home) = with(&json!("no list"));
        let before = listed(&home);
        let mut leases = leases(&home);
        leases.note("new".to_owned(), Some("aaaaaaaa"));
        leases.save();
        assert!(leases.is_stale());
        assert_eq!(listed(&home), before);
        assert!(
            leases.look().is_err(),
            "it does not say that nobody has any"
        );
        assert_eq!(leases.alone, None);
        std::fs::write(home.join("runtime/active_sessions.json"), "{}").unwrap();
        let lock = files::try_lock(&home.join("runtime/active_sessions.lock")).unwrap();
        leases.save();
        assert!(leases.is_stale());
        drop(lock);
        leases.save();
        assert!(!leases.is_stale());
    }

    #[test]
    fn a_home_without_sessions_gets_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let mut leases = leases(&home);
        leases.note("a".to_owned(), None);
        leases.save();
        assert!(!leases.is_stale());
        assert!(!home.join("runtime").exists());
    }
}
