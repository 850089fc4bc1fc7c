//! `hermes session close`.

use clap::Args;
use hermes::error::{Error, Kind, Result};
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use serde_json::json;

use crate::asking;
use crate::exit::Exit;

/// Close a session that serve holds; its transcript stays
#[derive(Args, Debug)]
#[command(after_help = "\
A loop or heartbeat of it stays in the store and is driven by nobody until the session is resumed.

Examples:
  hermes session close 20260101_09
  hermes session close --dry-run 20260101_09")]
pub(super) struct Close {
    /// The session: its id or the begin of it, or its title
    session: String,
    /// Only show which session that is, and what it does
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Close {
    /// Closes it.
    pub(super) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let mut client = asking::needed(runtime, "no session is held")?;
        let held = asking::held(&mut client, &self.session)?.ok_or_else(|| {
            let message = format!("serve holds no session '{}'", self.session);
            Error::new(Kind::NotFound, message).with_hint("hermes session list")
        })?;
        let said = asking::command(&mut client, &held, "/status")?;
        if !self.dry_run {
            client.call("session.close", &json!({"session_id": held.id}))?;
        }
        if self.json {
            let document = json!({
                "schema": "hermes.session.close/1",
                "session": held.stored,
                "dry_run": self.dry_run,
            });
            json::print(&mut runtime.out, &document)?;
            return Ok(Exit::OK);
        }
        let word = if self.dry_run {
            "would close"
        } else {
            "closed"
        };
        for line in said.lines() {
            runtime.out.note(&human::printable(line));
        }
        runtime.out.line(&format!("{word} {}", held.stored))?;
        Ok(Exit::OK)
    }
}
