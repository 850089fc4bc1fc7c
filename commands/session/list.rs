//! `hermes session list`.

use clap::Args;
use hermes::error::Result;
use hermes::output::layout::{self, Step};
use hermes::output::{human, json, wrap};
use hermes::runtime::Runtime;
use hermes::sessions::listing::{SessionLine, sessions};
use serde_json::{Value, json};

use crate::asking;
use crate::exit::Exit;
use crate::r#loop::look;
use crate::when::{When, instant};

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
            print(&lines, runtime)?;
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
            line.holder = Some(format!(
                "serve: {}, {}",
                text("status"),
                clients_in_words(clients)
            ));
        }
    }
}

fn clients_in_words(clients: u64) -> String {
    let clients = usize::try_from(clients).unwrap_or(usize::MAX);
    human::count(clients, "client", "clients")
}

const HEADINGS: [&str; 7] = [
    "session",
    "title",
    "last used",
    "holder",
    "timers",
    "owner",
    "source",
];

/// What goes first where there is no room.
const NARROW: [Step<'_>; 4] = [
    Step::Cut("title"),
    Step::Drop("source"),
    Step::Drop("owner"),
    Step::Drop("holder"),
];

/// The sessions as a table, and below it why timers are not driven.
fn print(lines: &[SessionLine], runtime: &mut Runtime) -> Result<()> {
    let when = When::of(runtime)?;
    let rows = lines.iter().map(|line| row(line, &when)).collect();
    let text = layout::rows(&runtime.out, &HEADINGS, &NARROW, rows);
    runtime.out.line(&text)?;
    for line in lines {
        for timer in line.timers.iter().filter(|timer| timer.contains(": ")) {
            let text = human::printable(&format!("{} {timer}", line.session));
            let text = wrap::hanging(&text, runtime.out.width, "", "  ");
            runtime.out.line(&text)?;
        }
    }
    Ok(())
}

fn row(line: &SessionLine, when: &When) -> Vec<String> {
    // The reasons stand below.
    let short = |timer: &String| {
        let state = timer.split_once(": ").map(|(state, _)| state.to_owned());
        state.unwrap_or_else(|| timer.clone())
    };
    let timers: Vec<_> = line.timers.iter().map(short).collect();
    vec![
        line.session.clone(),
        line.title.clone().unwrap_or_default(),
        when.ago(instant(line.last_used_at.as_ref())),
        line.holder.clone().unwrap_or_default(),
        timers.join("; "),
        line.owner.to_owned(),
        line.source.clone(),
    ]
}
