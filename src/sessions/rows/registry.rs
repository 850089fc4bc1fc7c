//! `runtime/active_sessions.json`: which process has which stored session live.

use std::io::ErrorKind;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::db;
use crate::files;
use crate::home::Home;

/// More than this is no registry of sessions.
pub const LARGEST: u64 = 16 << 20;

/// One entry of the registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveLease {
    /// 32 hex digits.
    pub lease_id: String,
    /// The stored session.
    pub session_id: String,
    /// Where it is live: `tui`, `desktop`, `gateway`.
    pub surface: Option<String>,
    /// The process that has it.
    pub pid: Option<i64>,
    /// When that process began.
    pub process_start_time: Option<Timestamp>,
    /// When it was taken.
    pub started_at: Option<Timestamp>,
    /// When it was last renewed.
    pub updated_at: Option<Timestamp>,
    /// The id of the session inside that process, eight hex digits.
    pub live_session_id: Option<String>,
}

/// What the registry holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registry {
    /// Its entries.
    pub leases: Vec<LiveLease>,
    /// What is wrong with entries that could not be read: place in the list, and why.
    pub unreadable: Vec<(usize, String)>,
}

impl Registry {
    /// The lease of a session that was renewed last.
    #[must_use]
    pub fn newest(&self, session_id: &str) -> Option<&LiveLease> {
        let leases = self.leases.iter();
        leases
            .filter(|lease| lease.session_id == session_id)
            .max_by_key(|lease| lease.updated_at.or(lease.started_at))
    }

    /// Reads the text of a registry.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        let entries = value
            .get("entries")
            .and_then(Value::as_array)
            .ok_or("no list of entries")?;
        let mut registry = Self::default();
        for (place, entry) in entries.iter().enumerate() {
            match entry.as_object().ok_or("not an object").and_then(lease) {
                Ok(lease) => registry.leases.push(lease),
                Err(why) => registry.unreadable.push((place, why.to_owned())),
            }
        }
        Ok(registry)
    }
}

fn lease(entry: &Map<String, Value>) -> Result<LiveLease, &'static str> {
    let text = |name| entry.get(name).and_then(Value::as_str).map(str::to_owned);
    let at = |name| {
        entry
            .get(name)
            .and_then(Value::as_f64)
            .and_then(db::instant)
    };
    Ok(LiveLease {
        lease_id: text("lease_id").unwrap_or_default(),
        session_id: text("session_id").ok_or("no session_id")?,
        surface: text("surface"),
        pid: entry.get("pid").and_then(Value::as_i64),
        process_start_time: at("process_start_time"),
        started_at: at("started_at"),
        updated_at: at("updated_at"),
        live_session_id: entry
            .get("metadata")
            .and_then(|metadata| metadata.get("live_session_id"))
            .and_then(Value::as_str)
            .map(str::to_owned),
    })
}

/// Reads the registry of a home; none where there is none. It is replaced by renaming, so no lock
/// is needed to read it whole.
pub fn read_registry(home: &Home) -> Result<Option<Registry>, String> {
    let path = home.join("runtime/active_sessions.json");
    match files::read_regular(&path, LARGEST) {
        Ok(text) => Registry::parse(&text).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}
