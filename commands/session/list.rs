//! `hermes session list`.

use clap::Args;
use hermes::error::Result;
use hermes::output::{human, json, table};
use hermes::runtime::Runtime;
use hermes::sessions::listing::{SessionLine, sessions};
use serde_json::{Value, json};

use crate::asking;
use crate::exit::Exit;
use crate::r#loop::look;

/// List the open sessions of a home: who holds each, and what drives its timers
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  hermes session list\n  hermes session list --json")]
pub(super) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    /// Prints them, the newest use first.
    pub(super) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let view = look(runtime)?;
        let mut lines = sessions(&view);
        if let Some(mut client) = asking::serve(runtime)? {
            held_by_serve(&mut lines, &asking::live(&mut client)?);
        }
        let ended: u64 = view.ended.values().sum();
        if self.json {
            let document = json!({
                "schema": "hermes.session.list/1",
                "sessions": lines,
                "left_out": view.ended,
                "gaps": view.gaps,
            });
            json::print(&mut runtime.out, &document)?;
            return Ok(Exit::OK);
        }
        for gap in &view.gaps {
            runtime.out.warn(gap);
        }
        if lines.is_empty() {
            runtime.out.line("No session is open.")?;
        } else {
            let headings = [
                "session",
                "source",
                "owner",
                "holder",
                "last used",
                "timers",
                "title",
            ];
            let rows = lines.iter().map(row).collect();
            let text = table::table(&runtime.out, &headings, rows);
            runtime.out.line(&text)?;
        }
        if ended > 0 {
            runtime
                .out
                .note(&format!("Sessions that have ended are left out: {ended}."));
        }
        Ok(Exit::OK)
    }
}

/// What serve says of the sessions that it holds.
fn held_by_serve(lines: &mut [SessionLine], live: &[Value]) {
    for row in live {
        let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
        let clients = row
            .get("clients")
            .and_then(Value::as_u64)
            .unwrap_or_default();
        if let Some(line) = lines
            .iter_mut()
            .find(|line| line.session == text("session_key"))
        {
            line.holder = Some(format!("serve: {}, {clients} clients", text("status")));
        }
    }
}

fn row(line: &SessionLine) -> Vec<String> {
    let or_dash =
        |text: Option<&String>| text.map_or("-".to_owned(), |text| human::printable(text));
    let timers = line.timers.join("; ");
    vec![
        human::printable(&line.session),
        human::printable(&line.source),
        line.owner.to_owned(),
        or_dash(line.holder.as_ref()),
        or_dash(line.last_used_at.as_ref()),
        or_dash(Some(&timers).filter(|text| !text.is_empty())),
        or_dash(line.title.as_ref()),
    ]
}
