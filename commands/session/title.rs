//! `hermes session title`.

use clap::Args;
use hermes::error::{Error, Kind, Result};
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use hermes::server::offline;
use serde_json::{Value, json};

use crate::asking;
use crate::exit::Exit;

/// Show what a session is known by, or give it another title
///
/// A title is one of the names by which commands take a session. One of Hermes Agent's is titled there.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes session title 20260101_09
  hermes session title 20260101_09 'the build'")]
pub(super) struct Title {
    /// The session: its id or the begin of it, or its title
    session: String,
    /// The new title
    #[arg(value_name = "TITLE")]
    new: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Title {
    /// Shows or sets it.
    pub(super) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let title = self.new.as_deref().map(str::trim);
        if title.is_some_and(str::is_empty) {
            return Err(Error::usage("an empty title is none"));
        }
        let home = runtime.one_home()?;
        let mut serve = asking::serve(runtime)?;
        let held = match &mut serve {
            Some(client) => asking::held(client, &self.session)?,
            None => None,
        };
        let (session, title) = match (serve, held) {
            (Some(mut client), Some(held)) => {
                let params = json!({"session_id": held.id, "title": title});
                let answer = client.call("session.title", &params)?;
                let title = answer.get("title").and_then(Value::as_str);
                (held.stored, title.map(str::to_owned))
            }
            // Nobody holds it: it is not opened for its name.
            _ => match title {
                None => offline::title(&home, &self.session)?,
                Some(title) => {
                    let session = offline::set_title(runtime, &home, &self.session, title)?;
                    (session, Some(title.to_owned()))
                }
            },
        };
        if self.json {
            let document = json!({
                "schema": "hermes.session.title/1",
                "session": session,
                "title": title,
            });
            json::print(&mut runtime.out, &document)?;
            return Ok(Exit::OK);
        }
        let title = title.ok_or_else(|| {
            Error::new(Kind::NotFound, format!("session '{session}' has no title"))
                .with_hint(format!("give it one: hermes session title {session} TITLE"))
        })?;
        runtime.out.line(&human::printable(&title))?;
        Ok(Exit::OK)
    }
}
