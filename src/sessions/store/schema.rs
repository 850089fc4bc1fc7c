//! The tables of ours in `state.db`. Hermes Agent knows none of them.
//!
//! - `hermes_sessions`: one row a session of ours; stamps are seconds since the epoch.
//! - `hermes_messages`: its transcript. `state` is `queued` (not yet asked), `running`, `done`,
//!   `interrupted` or `error`; `origin` is `user`, `loop`, `heartbeat` or `agent`.
//! - `hermes_timers`: what only we know of a timer whose row is in `state_meta`, and, where nobody
//!   drives it, why.
//! - `hermes_ticks`: the newest wake-ups of each timer and what became of them.
//!
//! `state_meta` is Hermes Agent's; it is made here only where the file is new, in its shape, so that
//! timers have their place.

/// How many wake-ups are kept of each timer.
pub const TICKS_KEPT: u32 = 200;

/// All statements. Everything is made only where it is not there.
pub(super) const STATEMENTS: &str = "
CREATE TABLE IF NOT EXISTS state_meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS hermes_sessions (
    id TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    title TEXT,
    cwd TEXT,
    model TEXT,
    parent_id TEXT,
    hidden INTEGER NOT NULL DEFAULT 0,
    agent_session TEXT,
    preview TEXT NOT NULL DEFAULT '',
    message_count INTEGER NOT NULL DEFAULT 0,
    started_at REAL NOT NULL,
    last_active REAL NOT NULL,
    ended_at REAL,
    end_reason TEXT
);
CREATE INDEX IF NOT EXISTS idx_hermes_sessions_active ON hermes_sessions(last_active DESC);
CREATE TABLE IF NOT EXISTS hermes_messages (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    role TEXT NOT NULL,
    origin TEXT NOT NULL,
    text TEXT NOT NULL,
    at REAL NOT NULL,
    state TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_hermes_messages_session ON hermes_messages(session_id, id);
CREATE INDEX IF NOT EXISTS idx_hermes_messages_open ON hermes_messages(state)
    WHERE state IN ('queued', 'running');
CREATE TABLE IF NOT EXISTS hermes_timers (
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    own TEXT NOT NULL DEFAULT '{}',
    not_driven TEXT,
    due_at REAL,
    PRIMARY KEY (session_id, kind)
);
CREATE TABLE IF NOT EXISTS hermes_ticks (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    number INTEGER NOT NULL,
    missed INTEGER NOT NULL,
    claimed_at REAL NOT NULL,
    ended_at REAL NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_hermes_ticks_timer ON hermes_ticks(session_id, kind, id DESC);
";
