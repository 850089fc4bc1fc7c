//! The store of our sessions, for writing.
//!
//! Theory of operation. `state.db` is Hermes Agent's, and its `sessions` and `messages` carry
//! triggers, full-text indexes and counters that only it keeps in step. So ours go into tables of ours
//! beside them ([`schema`]), and nothing of its own is written but three things that it shares on
//! purpose: the rows of timers in `state_meta` (`loop:ID`, `heartbeat:ID`), for ids that we minted, and
//! our own sign of life in `gateway_heartbeats` where that table exists. A file that we make has only
//! our tables and an empty `state_meta`; Hermes Agent adds the rest when it comes. The price is that
//! its own lists do not show our sessions; the gain is that nothing of it can be harmed.
//!
//! A timer's row is written by compare-and-swap on its text, in one transaction with what only we know
//! of it: of two that claim a tick one wins.

pub mod names;
mod read;
mod record;
pub mod schema;
#[cfg(test)]
mod tests;
mod write;

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, params};

pub use read::{not_driven, own_of_heartbeats, ticks_of};
pub use record::{Backend, Card, Found, Loaded, Message, StoredTimer, Theirs, Tick, Write, state};

use crate::db;
use crate::error::{Error, Kind, Result};
use crate::timers::driver::{Save, Saved};

/// The store, open for writing.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
}

fn failed(what: &str, error: rusqlite::Error) -> Error {
    Error::new(Kind::Io, format!("failed to {what} state.db")).with_source(error)
}

/// A new store is its owner's alone; that it is there already, or cannot be made, SQLite says better.
fn make_private(path: &Path) {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = std::fs::OpenOptions::new();
    let _opened = options.write(true).create_new(true).mode(0o600).open(path);
}

impl Store {
    /// One that answers nothing.
    #[cfg(test)]
    pub(crate) fn without_tables() -> Self {
        let connection = Connection::open_in_memory().unwrap();
        Self { connection }
    }

    /// Opens the store, and makes what it lacks.
    ///
    /// # Errors
    /// When it cannot be opened, is no database, or stayed locked past [`db::BUSY`].
    pub fn open(path: &Path) -> Result<Self> {
        make_private(path);
        let connection = db::connect_or_create(path).map_err(|damage| {
            Error::new(Kind::Io, format!("failed to open {}", path.display()))
                .with_source(damage)
                .with_hint("hermes cron doctor --only stores says what is wrong with it")
        })?;
        connection
            .execute_batch(schema::STATEMENTS)
            .map_err(|error| failed("prepare", error))?;
        Ok(Self { connection })
    }

    /// Writes all of it, or nothing.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn write(&mut self, writes: &[Write]) -> Result<()> {
        let steps: Vec<Step<'_>> = writes.iter().map(Step::Write).collect();
        self.apply(&steps).map(drop)
    }

    /// Deletes a session of ours and all of it, for good; whether there was one. A session of Hermes
    /// Agent, and the rows of its timers, are left alone.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn delete(&mut self, session_id: &str) -> Result<bool> {
        let mut run = || {
            let transaction = db::immediate(&mut self.connection)?;
            let ours = write::delete(&transaction, session_id)?;
            transaction.commit()?;
            Ok(ours)
        };
        run().map_err(|error| failed("write to", error))
    }

    /// The sessions that a name may mean: see [`names::named`].
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn named(&self, name: &str, most: u32) -> Result<Vec<names::Named>> {
        names::named(&self.connection, name, most).map_err(|error| failed("read", error))
    }

    /// The row of a timer, whosever it is.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn timer_row(&self, session_id: &str, kind: &str) -> Result<Option<String>> {
        timer_row(&self.connection, session_id, kind).map_err(|error| failed("read", error))
    }

    /// Changes the row of a timer, if it still has this text, and nothing beside it.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn swap_row(
        &mut self,
        session_id: &str,
        kind: &str,
        from: &str,
        to: &str,
    ) -> Result<Saved> {
        let key = format!("{kind}:{session_id}");
        let mut run = || {
            let transaction = db::immediate(&mut self.connection)?;
            let saved = swap_text(&transaction, &key, Some(from), to)?;
            transaction.commit()?;
            Ok(saved)
        };
        run().map_err(|error| failed("write to", error))
    }

    /// Changes the row of a timer as [`Self::swap_row`] does, and keeps its former text under a key of its
    /// own.
    ///
    /// # Errors
    /// When SQLite refuses, or something lies under that key already: then nothing is changed.
    pub fn set_aside(
        &mut self,
        (session_id, kind): (&str, &str),
        (from, to): (&str, &str),
        key: &str,
    ) -> Result<Saved> {
        let row = format!("{kind}:{session_id}");
        let mut run = || {
            let transaction = db::immediate(&mut self.connection)?;
            let saved = swap_text(&transaction, &row, Some(from), to)?;
            if saved == Saved::Done {
                let sql = "INSERT INTO state_meta (key, value) VALUES (?1, ?2)";
                transaction.execute(sql, [key, from])?;
                transaction.commit()?;
            }
            Ok(saved)
        };
        run().map_err(|error| failed("write to", error))
    }

    /// Stores a timer, if its row still has the text that it is believed to have.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn save_timer(&mut self, session_id: &str, kind: &str, save: &Save) -> Result<Saved> {
        let step = Step::Timer {
            session_id,
            kind,
            save,
        };
        let saved = self.apply(&[step])?.saved.pop();
        Ok(saved.unwrap_or(Saved::Lost(None)))
    }

    /// Takes steps in their order and in one transaction.
    ///
    /// # Errors
    /// When SQLite refuses; then nothing of it is stored.
    pub fn apply(&mut self, steps: &[Step<'_>]) -> Result<Applied> {
        let mut run = || {
            let before = self.connection.total_changes();
            let transaction = db::immediate(&mut self.connection)?;
            let mut saved = Vec::new();
            for step in steps {
                match step {
                    Step::Write(write) => write::one(&transaction, write)?,
                    Step::Timer {
                        session_id,
                        kind,
                        save,
                    } => saved.push(swap(&transaction, session_id, kind, save)?),
                }
            }
            transaction.commit()?;
            Ok(Applied {
                saved,
                changed: self.connection.total_changes() > before,
            })
        };
        run().map_err(|error| failed("write to", error))
    }
}

/// What came of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// How each save of a timer went, in their order.
    pub saved: Vec<Saved>,
    /// Whether anything was written: one that writes nothing succeeds on a full disk too.
    pub changed: bool,
}

/// A part of a transaction.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    /// Something to be kept.
    Write(&'a Write),
    /// A timer, by compare-and-swap.
    Timer {
        /// The stored session.
        session_id: &'a str,
        /// `loop` or `heartbeat`.
        kind: &'a str,
        /// What is to be saved.
        save: &'a Save,
    },
}

/// The row of a timer, whosever it is.
///
/// # Errors
/// When SQLite refuses.
pub fn timer_row(
    connection: &Connection,
    session_id: &str,
    kind: &str,
) -> rusqlite::Result<Option<String>> {
    row(connection, &format!("{kind}:{session_id}"))
}

fn row(connection: &Connection, key: &str) -> rusqlite::Result<Option<String>> {
    connection
        .query_row(
            "SELECT coalesce(value, '') FROM state_meta WHERE key = ?1",
            [key],
            |row| row.get(0),
        )
        .optional()
}

fn swap_text(
    transaction: &Connection,
    key: &str,
    expected: Option<&str>,
    text: &str,
) -> rusqlite::Result<Saved> {
    let there = row(transaction, key)?;
    if there.as_deref() != expected {
        return Ok(Saved::Lost(there));
    }
    transaction.execute(
        "INSERT INTO state_meta (key, value) VALUES (?1, ?2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        [key, text],
    )?;
    Ok(Saved::Done)
}

fn swap(
    transaction: &Connection,
    session_id: &str,
    kind: &str,
    save: &Save,
) -> rusqlite::Result<Saved> {
    let key = format!("{kind}:{session_id}");
    let swapped = swap_text(transaction, &key, save.expected.as_deref(), &save.text)?;
    if swapped != Saved::Done {
        return Ok(swapped);
    }
    transaction.execute(
        "INSERT INTO hermes_timers (session_id, kind, own) VALUES (?1, ?2, ?3)
         ON CONFLICT (session_id, kind)
         DO UPDATE SET own = excluded.own, not_driven = NULL, due_at = NULL",
        params![session_id, kind, save.own],
    )?;
    Ok(Saved::Done)
}
