//! `hermes session close`.

use clap::Args;
use hermes::error::Result;
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use hermes::server::offline;
use serde_json::json;

use crate::asking;
use crate::exit::Exit;

/// Close a session that serve holds, or that nobody holds any more; its transcript stays
#[derive(Args, Debug)]
#[command(after_help = "\
A loop or heartbeat of it stays in the store and is driven by nobody until the session is resumed. Of a \
    session of Hermes Agent's only the leases of dead processes are given back.

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
        let Some(mut client) = asking::serve(runtime)? else {
            let home = runtime.one_home()?;
            let closed = offline::close(runtime, &home, &self.session, self.dry_run)?;
            return self.tell(&closed.session, &closed.over, runtime);
        };
        let Some(held) = asking::held(&mut client, &self.session)? else {
            // It may be one of Hermes Agent's whose lease is left over.
            let home = runtime.one_home()?;
            let closed = offline::give_back(runtime, &home, &self.session, self.dry_run)?;
            return self.tell(&closed.session, &closed.over, runtime);
        };
        let said = asking::command(&mut client, &held, "/status")?;
        if !self.dry_run {
            client.call("session.close", &json!({"session_id": held.id}))?;
        }
        let said: Vec<String> = said.lines().map(str::to_owned).collect();
        self.tell(&held.stored, &said, runtime)
    }

    fn tell(&self, session: &str, said: &[String], runtime: &mut Runtime) -> Result<Exit> {
        if self.json {
            let document = json!({
                "schema": "hermes.session.close/1",
                "session": session,
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
        for line in said {
            runtime.out.note(&human::printable(line));
        }
        runtime.out.line(&format!("{word} {session}"))?;
        Ok(Exit::OK)
    }
}
