//! What serve reads of its own tables: at a start, and when a client resumes or lists.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::record::{Card, Found, Loaded, Message, StoredTimer, Theirs, Tick, state};
use super::{Store, failed};
use crate::db::Columns;
use crate::error::Result;
use crate::sessions::rows::{self, Maker, Registry};

/// How many messages come with a session.
const WINDOW: u32 = 200;
/// How many rows of the routing index are looked at.
const ROUTES: u32 = 10_000;

const CARD: &str =
    "SELECT id, source, title, cwd, model, parent_id, hidden, agent_session, preview,
    message_count, started_at, last_active, ended_at, end_reason FROM hermes_sessions";
const MESSAGE: &str = "SELECT id, session_id, role, origin, text, at, state FROM hermes_messages";

fn card(row: &Row<'_>) -> rusqlite::Result<Card> {
    Ok(Card {
        id: row.get(0)?,
        source: row.get(1)?,
        title: row.get(2)?,
        cwd: row.get(3)?,
        model: row.get(4)?,
        parent_id: row.get(5)?,
        hidden: row.get(6)?,
        agent_session: row.get(7)?,
        preview: row.get(8)?,
        message_count: row.get::<_, i64>(9)?.try_into().unwrap_or(0),
        started_at: row.get(10)?,
        last_active: row.get(11)?,
        ended_at: row.get(12)?,
        end_reason: row.get(13)?,
    })
}

/// The word of a small set that a column holds.
fn word(row: &Row<'_>, at: usize, words: &[&'static str]) -> rusqlite::Result<&'static str> {
    let text: String = row.get(at)?;
    let found = words.iter().find(|word| **word == text);
    Ok(found.or(words.first()).copied().unwrap_or_default())
}

fn message(row: &Row<'_>) -> rusqlite::Result<Message> {
    let states = [
        state::DONE,
        state::QUEUED,
        state::RUNNING,
        state::INTERRUPTED,
        state::ERROR,
    ];
    Ok(Message {
        id: row.get(0)?,
        session_id: row.get(1)?,
        role: word(row, 2, &["user", "assistant"])?,
        origin: word(row, 3, &["user", "loop", "heartbeat", "agent"])?,
        text: row.get(4)?,
        at: row.get(5)?,
        state: word(row, 6, &states)?,
    })
}

impl Store {
    /// What a start has to know. Turns that the last serve did not finish are marked interrupted.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn load(&mut self) -> Result<Loaded> {
        self.find_all().map_err(|error| failed("read", error))
    }

    fn find_all(&mut self) -> rusqlite::Result<Loaded> {
        let connection = &self.connection;
        let next_message: i64 = connection.query_row(
            "SELECT coalesce(max(id), 0) + 1 FROM hermes_messages",
            [],
            |row| row.get(0),
        )?;
        let interrupted = connection.execute(
            "UPDATE hermes_messages SET state = ?1 WHERE state = ?2",
            [state::INTERRUPTED, state::RUNNING],
        )?;
        Ok(Loaded {
            next_message,
            revived: found(connection, &live(connection, None)?)?,
            interrupted,
        })
    }

    /// One session by its id, where something of it waits to be done: see [`Loaded::revived`].
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn find_live(&self, id: &str) -> Result<Option<Found>> {
        live(&self.connection, Some(id))
            .and_then(|ids| found(&self.connection, &ids))
            .map(|mut found| found.pop())
            .map_err(|error| failed("read", error))
    }

    /// One session, by its id or, where no id is that, by its title.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn find(&self, name: &str) -> Result<Option<Found>> {
        let look = || {
            let id: Option<String> = self
                .connection
                .query_row(
                    "SELECT id FROM hermes_sessions WHERE id = ?1 OR title = ?1
                     ORDER BY id = ?1 DESC, last_active DESC LIMIT 1",
                    [name],
                    |row| row.get(0),
                )
                .optional()?;
            let ids: Vec<String> = id.into_iter().collect();
            Ok(found(&self.connection, &ids)?.pop())
        };
        look().map_err(|error| failed("read", error))
    }

    /// A session that is Hermes Agent's, by its id, and who has it by its registry.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn theirs(&self, id: &str, registry: &Registry) -> Result<Option<Theirs>> {
        let found = rows::session_by_id(&self.connection, id);
        let found = found.map_err(|error| failed("read", error))?;
        Ok(found
            .filter(|session| session.maker == Maker::HermesAgent)
            .map(|session| {
                let lease = registry.newest(id);
                let pid = lease.and_then(|lease| lease.pid);
                let pid = pid.map(|pid| format!(", pid {pid}")).unwrap_or_default();
                let since = lease.and_then(|lease| lease.started_at);
                Theirs {
                    holder: format!("Hermes Agent ({}{pid})", session.source),
                    since: since.or(session.started_at).map(Timestamp::as_second),
                }
            }))
    }

    /// Whether a session of this very id is ours.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn is_ours(&self, id: &str) -> Result<bool> {
        self.connection
            .prepare_cached("SELECT 1 FROM hermes_sessions WHERE id = ?1")
            .and_then(|mut query| query.exists([id]))
            .map_err(|error| failed("read", error))
    }

    /// The sessions used last.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn list(&self, most: u32, hidden: bool, title: Option<&str>) -> Result<Vec<Card>> {
        let sql = format!(
            "{CARD} WHERE (?1 OR NOT hidden) AND (?2 IS NULL OR title LIKE '%' || ?2 || '%')
             ORDER BY last_active DESC LIMIT ?3"
        );
        let look = || {
            self.connection
                .prepare_cached(&sql)?
                .query_map(params![hidden, title, most], card)?
                .collect::<rusqlite::Result<_>>()
        };
        look().map_err(|error| failed("read", error))
    }

    /// The newest messages of a session, oldest first.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn history(&self, id: &str, most: u32) -> Result<Vec<Message>> {
        messages(&self.connection, id, most).map_err(|error| failed("read", error))
    }

    /// The newest wake-ups of a session's timers, or of one kind of them, newest first.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn ticks(&self, id: &str, kind: Option<&str>, most: u32) -> Result<Vec<Tick>> {
        ticks_of(&self.connection, id, kind, most).map_err(|error| failed("read", error))
    }

    /// Sessions of ours that nobody ended: not used since `before`, begun before it, without a
    /// message that waits and without an armed timer.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn left_open(&self, before: f64, most: u32) -> Result<Vec<Card>> {
        let sql = format!(
            "{CARD} AS s WHERE ended_at IS NULL AND last_active < ?1 AND started_at < ?1
             AND NOT EXISTS (SELECT 1 FROM hermes_messages
                WHERE session_id = s.id AND state IN ('queued', 'running'))
             AND NOT EXISTS (SELECT 1 FROM state_meta
                WHERE key IN ('loop:' || s.id, 'heartbeat:' || s.id)
                AND value LIKE '%\"active\"%') LIMIT ?2"
        );
        let look = || {
            self.connection
                .prepare_cached(&sql)?
                .query_map(params![before, most], card)?
                .collect::<rusqlite::Result<_>>()
        };
        look().map_err(|error| failed("read", error))
    }
}

/// The newest wake-ups of a session's timers, newest first; none in a store without our tables.
///
/// # Errors
/// When SQLite refuses.
pub fn ticks_of(
    connection: &Connection,
    id: &str,
    kind: Option<&str>,
    most: u32,
) -> rusqlite::Result<Vec<Tick>> {
    if Columns::of(connection, "hermes_ticks")?.is_none() {
        return Ok(Vec::new());
    }
    connection
        .prepare_cached(
            "SELECT session_id, kind, number, missed, claimed_at, ended_at, outcome, detail
             FROM hermes_ticks WHERE session_id = ?1 AND (?2 IS NULL OR kind = ?2)
             ORDER BY id DESC LIMIT ?3",
        )?
        .query_map(params![id, kind, most], tick)?
        .collect()
}

/// What only we know of heartbeats, by their sessions.
///
/// # Errors
/// When SQLite refuses.
pub fn own_of_heartbeats(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    if Columns::of(connection, "hermes_timers")?.is_none() {
        return Ok(BTreeMap::new());
    }
    let sql = "SELECT session_id, own FROM hermes_timers WHERE kind = 'heartbeat'";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    connection.prepare(sql)?.query_map([], row)?.collect()
}

/// Why sessions are not driven, by their ids.
///
/// # Errors
/// When SQLite refuses.
pub fn not_driven(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    if Columns::of(connection, "hermes_timers")?.is_none() {
        return Ok(BTreeMap::new());
    }
    let sql = "SELECT session_id, not_driven FROM hermes_timers WHERE not_driven IS NOT NULL";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    connection.prepare(sql)?.query_map([], row)?.collect()
}

fn tick(row: &Row<'_>) -> rusqlite::Result<Tick> {
    let outcomes = ["finished", "failed", "interrupted", "cut", "given back"];
    Ok(Tick {
        session_id: row.get(0)?,
        kind: word(row, 1, &["loop", "heartbeat"])?,
        number: row.get::<_, i64>(2)?.try_into().unwrap_or(0),
        missed: row.get::<_, i64>(3)?.try_into().unwrap_or(0),
        claimed_at: row.get(4)?,
        ended_at: row.get(5)?,
        outcome: word(row, 6, &outcomes)?,
        detail: row.get(7)?,
    })
}

/// Sessions that a messaging gateway answers for.
fn gateway_owned(connection: &Connection) -> rusqlite::Result<HashSet<String>> {
    let routes = rows::routing(connection, ROUTES)?.unwrap_or_default();
    let live = routes
        .into_iter()
        .filter_map(|route| route.entry.ok())
        .filter(|entry| !entry.suspended && entry.has_origin);
    Ok(live.filter_map(|entry| entry.session_id).collect())
}

fn messages(connection: &Connection, id: &str, most: u32) -> rusqlite::Result<Vec<Message>> {
    let sql = format!("{MESSAGE} WHERE session_id = ?1 ORDER BY id DESC LIMIT ?2");
    let mut newest = connection
        .prepare_cached(&sql)?
        .query_map(params![id, most], message)?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    newest.reverse();
    Ok(newest)
}

/// Open sessions with an armed timer that serve drives, or a message that waits: their ids, the newest
/// use first.
fn live(connection: &Connection, only: Option<&str>) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached(
            "SELECT id FROM hermes_sessions AS s
             WHERE ended_at IS NULL AND (?1 IS NULL OR id = ?1) AND (
               EXISTS (SELECT 1 FROM hermes_messages WHERE session_id = s.id AND state = 'queued')
               OR EXISTS (SELECT 1 FROM state_meta AS m LEFT JOIN hermes_timers AS t
                   ON t.session_id = s.id AND m.key = t.kind || ':' || s.id
                   WHERE m.key IN ('loop:' || s.id, 'heartbeat:' || s.id)
                   AND t.not_driven IS NULL AND m.value LIKE '%\"active\"%'))
             ORDER BY last_active DESC",
        )?
        .query_map([only], |row| row.get(0))?
        .collect()
}

/// The timers of one kind, by their sessions.
fn timers(
    connection: &Connection,
    ids: &str,
    kind: &str,
) -> rusqlite::Result<HashMap<String, StoredTimer>> {
    connection
        .prepare_cached(
            "SELECT w.value, coalesce(m.value, ''), coalesce(t.own, '{}'), t.not_driven
             FROM json_each(?1) AS w JOIN state_meta AS m ON m.key = ?2 || ':' || w.value
             LEFT JOIN hermes_timers AS t ON t.session_id = w.value AND t.kind = ?2",
        )?
        .query_map([ids, kind], |row| {
            let timer = StoredTimer {
                text: row.get(1)?,
                own: row.get(2)?,
                not_driven: row.get(3)?,
            };
            Ok((row.get(0)?, timer))
        })?
        .collect()
}

/// The newest messages of each session, oldest first.
fn windows(connection: &Connection, ids: &str) -> rusqlite::Result<HashMap<String, Vec<Message>>> {
    // A window function over all of them takes twice as long.
    let mut query = connection.prepare_cached(
        "SELECT m.id, m.session_id, m.role, m.origin, m.text, m.at, m.state
         FROM json_each(?1) AS w JOIN hermes_messages AS m ON m.id IN (
           SELECT id FROM hermes_messages WHERE session_id = w.value ORDER BY id DESC LIMIT ?2)",
    )?;
    let mut windows: HashMap<String, Vec<Message>> = HashMap::new();
    for message in query.query_map(params![ids, WINDOW], message)? {
        let message = message?;
        let window = windows.entry(message.session_id.clone()).or_default();
        window.push(message);
    }
    for window in windows.values_mut() {
        window.sort_by_key(|message| message.id);
    }
    Ok(windows)
}

/// These sessions with all that belongs to them, in this order: a query for each table, not for each
/// session.
fn found(connection: &Connection, ids: &[String]) -> rusqlite::Result<Vec<Found>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = serde_json::Value::from(ids).to_string();
    let sql = format!("{CARD} WHERE id IN (SELECT value FROM json_each(?1))");
    let mut cards: HashMap<String, Card> = connection
        .prepare_cached(&sql)?
        .query_map([&wanted], |row| {
            card(row).map(|card| (card.id.clone(), card))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut windows = windows(connection, &wanted)?;
    let mut loops = timers(connection, &wanted, "loop")?;
    let mut heartbeats = timers(connection, &wanted, "heartbeat")?;
    let owned = gateway_owned(connection)?;
    let found = ids.iter().filter_map(|id| {
        Some(Found {
            card: cards.remove(id)?,
            messages: windows.remove(id).unwrap_or_default(),
            looping: loops.remove(id),
            heartbeat: heartbeats.remove(id),
            gateway_owned: owned.contains(id),
        })
    });
    Ok(found.collect())
}
