//! Readers of `state.db` about sessions, and of the registry of live ones: typed rows, no opinions.
//!
//! Every reader is bounded, tolerates columns that are not there and values of an odd type, and
//! answers `None` for a table that is not there: absent is not empty. Conversations themselves are
//! never read.

mod leases;
mod past;
mod registry;
mod work;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params};
use serde::{Deserialize, Serialize};

use crate::db::{self, Columns, Fields};

pub use leases::{Lease, compression_locks, turn_leases};
pub use past::{ended, ended_sessions};
pub use registry::{LARGEST as REGISTRY_LARGEST, LiveLease, Registry, read_registry};
pub use work::{delegations, last_messages};

const SESSION: [&str; 25] = [
    "id",
    "source",
    "created_source",
    "session_key",
    "chat_id",
    "chat_type",
    "thread_id",
    "model",
    "parent_session_id",
    "started_at",
    "ended_at",
    "end_reason",
    "message_count",
    "title",
    "last_activity_at",
    "last_activity_description",
    "last_activity_provenance",
    "cwd",
    "profile_name",
    "handoff_state",
    "handoff_platform",
    "handoff_error",
    "archived",
    "pinned",
    "hidden",
];

/// One row of `sessions`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSession {
    /// `YYYYMMDD_HHMMSS_` and six hex digits.
    pub id: String,
    /// Where it lives now: `tui`, `desktop`, a messaging platform.
    pub source: String,
    /// Where it was begun.
    pub created_source: Option<String>,
    /// The key of a messaging gateway's session.
    pub session_key: Option<String>,
    /// The chat it belongs to.
    pub chat_id: Option<String>,
    /// The kind of that chat.
    pub chat_type: Option<String>,
    /// The thread in that chat.
    pub thread_id: Option<String>,
    /// The model it talks to.
    pub model: Option<String>,
    /// The session it was branched or delegated from.
    pub parent_session_id: Option<String>,
    /// When it was begun.
    pub started_at: Option<Timestamp>,
    /// When it ended; none while it is open.
    pub ended_at: Option<Timestamp>,
    /// Why it ended, such as `ws_orphan_reap`.
    pub end_reason: Option<String>,
    /// How many messages it has.
    pub message_count: i64,
    /// What a person knows it by.
    pub title: Option<String>,
    /// When something last happened in it.
    pub last_activity_at: Option<Timestamp>,
    /// What that was.
    pub last_activity_description: Option<String>,
    /// Who saw it.
    pub last_activity_provenance: Option<String>,
    /// Its working directory.
    pub cwd: Option<String>,
    /// The profile it belongs to.
    pub profile_name: Option<String>,
    /// How far a move to another platform got.
    pub handoff_state: Option<String>,
    /// The platform it moves to.
    pub handoff_platform: Option<String>,
    /// What went wrong with that.
    pub handoff_error: Option<String>,
    /// Put away by a person.
    pub archived: bool,
    /// Kept by a person.
    pub pinned: bool,
    /// Not shown to a person.
    pub hidden: bool,
    /// Who made it.
    pub maker: Maker,
}

/// The program that made a session, and has it in a table of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Maker {
    /// Hermes Agent: `sessions`.
    #[default]
    HermesAgent,
    /// Our serve: `hermes_sessions`.
    Serve,
}

fn session(row: Fields<'_>) -> StoredSession {
    StoredSession {
        id: row.text_or_empty("id"),
        source: row.text_or_empty("source"),
        created_source: row.text("created_source"),
        session_key: row.text("session_key"),
        chat_id: row.text("chat_id"),
        chat_type: row.text("chat_type"),
        thread_id: row.text("thread_id"),
        model: row.text("model"),
        parent_session_id: row.text("parent_session_id"),
        started_at: row.instant("started_at"),
        ended_at: row.instant("ended_at"),
        end_reason: row.text("end_reason"),
        message_count: row.integer("message_count").unwrap_or(0),
        title: row.text("title"),
        last_activity_at: row.instant("last_activity_at"),
        last_activity_description: row.text("last_activity_description"),
        last_activity_provenance: row.text("last_activity_provenance"),
        cwd: row.text("cwd"),
        profile_name: row.text("profile_name"),
        handoff_state: row.text("handoff_state"),
        handoff_platform: row.text("handoff_platform"),
        handoff_error: row.text("handoff_error"),
        archived: row.flag("archived"),
        pinned: row.flag("pinned"),
        hidden: row.flag("hidden"),
        maker: Maker::HermesAgent,
    }
}

/// Sessions of our serve, which has a table of its own.
const OWN: [&str; 12] = [
    "id",
    "source",
    "model",
    "parent_id",
    "started_at",
    "ended_at",
    "end_reason",
    "message_count",
    "title",
    "last_active",
    "cwd",
    "hidden",
];

fn own_session(row: Fields<'_>) -> StoredSession {
    StoredSession {
        id: row.text_or_empty("id"),
        source: row.text_or_empty("source"),
        model: row.text("model"),
        parent_session_id: row.text("parent_id"),
        started_at: row.instant("started_at"),
        ended_at: row.instant("ended_at"),
        end_reason: row.text("end_reason"),
        message_count: row.integer("message_count").unwrap_or(0),
        title: row.text("title"),
        last_activity_at: row.instant("last_active"),
        cwd: row.text("cwd"),
        hidden: row.flag("hidden"),
        maker: Maker::Serve,
        ..StoredSession::default()
    }
}

/// A table of sessions.
struct Table {
    name: &'static str,
    columns: &'static [&'static str],
    /// The newest by this come first.
    newest: &'static str,
    read: fn(Fields<'_>) -> StoredSession,
}

const THEIRS: Table = Table {
    name: "sessions",
    columns: &SESSION,
    newest: "started_at",
    read: session,
};
const OURS: Table = Table {
    name: "hermes_sessions",
    columns: &OWN,
    newest: "last_active",
    read: own_session,
};

fn select(
    connection: &Connection,
    table: &Table,
    needed: &[&str],
    (condition, parameters): (&str, impl Params),
    most: u32,
) -> rusqlite::Result<Option<Vec<StoredSession>>> {
    let Some(columns) = Columns::of(connection, table.name)? else {
        return Ok(None);
    };
    if !columns.missing(needed).is_empty() {
        return Ok(Some(Vec::new()));
    }
    let order = columns.newest_first(table.newest);
    let sql = format!(
        "{} {condition}{order} LIMIT {most}",
        columns.select(table.columns)
    );
    db::rows(connection, &sql, parameters, table.read).map(Some)
}

/// The newest sessions.
pub fn sessions(
    connection: &Connection,
    most: u32,
) -> rusqlite::Result<Option<Vec<StoredSession>>> {
    select(connection, &THEIRS, &[], ("", []), most)
}

/// Sessions that have not ended.
pub fn open_sessions(
    connection: &Connection,
    most: u32,
) -> rusqlite::Result<Option<Vec<StoredSession>>> {
    open_of(connection, &THEIRS, most)
}

/// Those of our serve that have not ended.
pub fn own_open_sessions(
    connection: &Connection,
    most: u32,
) -> rusqlite::Result<Option<Vec<StoredSession>>> {
    open_of(connection, &OURS, most)
}

fn open_of(
    connection: &Connection,
    table: &Table,
    most: u32,
) -> rusqlite::Result<Option<Vec<StoredSession>>> {
    let condition = ("WHERE ended_at IS NULL", []);
    select(connection, table, &["ended_at"], condition, most)
}

/// One session by its id, whosever it is.
pub fn session_by_id(connection: &Connection, id: &str) -> rusqlite::Result<Option<StoredSession>> {
    for table in [THEIRS, OURS] {
        let rows = select(connection, &table, &["id"], ("WHERE id = ?1", [id]), 1)?;
        if let Some(found) = rows.into_iter().flatten().next() {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// One row of `gateway_heartbeats`: a backend that says it lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendHeartbeat {
    /// `<profile>@<host>:<pid>:<8 hex digits>`.
    pub backend_id: String,
    /// Its pid, in its own namespace.
    pub pid: Option<i64>,
    /// When it registered.
    pub started_at: Option<Timestamp>,
    /// When it last said so.
    pub last_heartbeat: Option<Timestamp>,
    /// Its profile.
    pub profile: String,
    /// Its host name.
    pub host: String,
}

/// Backends that said they live, the last to say so first.
pub fn backend_heartbeats(
    connection: &Connection,
    most: u32,
) -> rusqlite::Result<Option<Vec<BackendHeartbeat>>> {
    let Some(columns) = Columns::of(connection, "gateway_heartbeats")? else {
        return Ok(None);
    };
    let wanted = [
        "backend_id",
        "pid",
        "started_at",
        "last_heartbeat",
        "profile",
        "host",
    ];
    let order = columns.newest_first("last_heartbeat");
    let sql = format!("{} {order} LIMIT {most}", columns.select(&wanted));
    let rows = db::rows(connection, &sql, [], |row| BackendHeartbeat {
        backend_id: row.text_or_empty("backend_id"),
        pid: row.integer("pid"),
        started_at: row.instant("started_at"),
        last_heartbeat: row.instant("last_heartbeat"),
        profile: row.text_or_empty("profile"),
        host: row.text_or_empty("host"),
    })?;
    Ok(Some(rows))
}

/// One row of `gateway_routing`: a session that a messaging gateway answers for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Routing {
    /// The part of the gateway it belongs to.
    pub scope: String,
    /// The gateway's key of the session.
    pub session_key: String,
    /// The entry itself, or why it is no JSON object.
    pub entry: Result<RoutingEntry, String>,
    /// When it was written.
    pub updated_at: Option<Timestamp>,
}

/// What an entry says that decides who drives the timers of its session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoutingEntry {
    /// The stored session.
    pub session_id: Option<String>,
    /// Put on hold.
    pub suspended: bool,
    /// Whether it knows the chat to answer in.
    pub has_origin: bool,
}

impl RoutingEntry {
    fn parse(text: &str) -> Result<Self, String> {
        let value: serde_json::Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let entry = value.as_object().ok_or("not a JSON object")?;
        let set = |name: &str| match entry.get(name) {
            None | Some(serde_json::Value::Null) => false,
            Some(serde_json::Value::Bool(flag)) => *flag,
            Some(serde_json::Value::Object(fields)) => !fields.is_empty(),
            Some(_) => true,
        };
        Ok(Self {
            session_id: entry
                .get("session_id")
                .and_then(serde_json::Value::as_str)
                .map(str::to_owned),
            suspended: set("suspended"),
            has_origin: set("origin"),
        })
    }
}

/// The routing index, the last written first.
pub fn routing(connection: &Connection, most: u32) -> rusqlite::Result<Option<Vec<Routing>>> {
    let Some(columns) = Columns::of(connection, "gateway_routing")? else {
        return Ok(None);
    };
    let wanted = ["scope", "session_key", "entry_json", "updated_at"];
    let order = columns.newest_first("updated_at");
    let sql = format!("{} {order} LIMIT {most}", columns.select(&wanted));
    let rows = db::rows(connection, &sql, [], |row| Routing {
        scope: row.text_or_empty("scope"),
        session_key: row.text_or_empty("session_key"),
        entry: RoutingEntry::parse(&row.text_or_empty("entry_json")),
        updated_at: row.instant("updated_at"),
    })?;
    Ok(Some(rows))
}

/// The version of the schema that the other program wrote; none without its table or row.
pub fn schema_version(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let Some(columns) = Columns::of(connection, "schema_version")? else {
        return Ok(None);
    };
    let sql = format!("{} LIMIT 1", columns.select(&["version"]));
    let version = connection
        .query_row(&sql, [], |row| Ok(Fields::of(row).integer("version")))
        .optional()?;
    Ok(version.flatten())
}

#[cfg(test)]
mod tests;
