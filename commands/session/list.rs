//! `hermes session list`.

use clap::Args;
use hermes::error::Result;
use hermes::output::layout::{self, Step};
use hermes::output::{human, json, wrap};
use hermes::runtime::Runtime;
use hermes::sessions::ending;
use hermes::sessions::listing::{SessionLine, past as past_line, sessions};
use serde_json::{Value, json};

use crate::asking;
use crate::exit::Exit;
use crate::r#loop::look_back;
use crate::when::{When, instant};

/// List the open sessions of a home: who holds each, and what drives its timers
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes session list
  hermes session list --all
  hermes session list --json")]
pub(super) struct List {
    /// Show those that have ended, too, when and why: the newest thousand
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Ended sessions that are shown.
const MOST: u32 = 1_000;

impl List {
    /// Prints them, the newest use first.
    pub(super) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let view = look_back(runtime, if self.all { MOST } else { 0 })?;
        let mut lines = sessions(&view);
        if let Some(mut client) = asking::serve(runtime)? {
            held_by_serve(&mut lines, &asking::live(&mut client)?);
        }
        let ended: u64 = view.ended.values().sum();
        let mut left_out = view.ended;
        if self.all {
            for one in &view.past {
                let why = one.end_reason.as_deref().unwrap_or("no reason");
                if let Some(count) = left_out.get_mut(why) {
                    *count = count.saturating_sub(1);
                }
            }
            left_out.retain(|_, count| *count > 0);
            lines.extend(view.past.into_iter().map(past_line));
        }
        let left: u64 = left_out.values().sum();
        if self.json {
            let document = json!({
                "schema": "hermes.session.list/1",
                "sessions": lines,
                "left_out": left_out,
                "gaps": view.gaps,
            });
            json::print(&mut runtime.out, &document)?;
            return Ok(Exit::OK);
        }
        for gap in &view.gaps {
            runtime.out.warn(gap);
        }
        if lines.is_empty() {
            let none = if self.all || ended == 0 {
                "There are no sessions."
            } else {
                "No session is open."
            };
            runtime.out.line(none)?;
        } else {
            print(&lines, runtime)?;
        }
        if left > 0 {
            let left = usize::try_from(left).unwrap_or(usize::MAX);
            let (one, many) = ("session that has ended is", "sessions that have ended are");
            let way = if self.all { "" } else { ": --all" };
            let left = human::count(left, one, many);
            runtime.out.note(&format!("{left} not shown{way}"));
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
            // Serve knows a new one before the store does.
            if let Some(title) = row.get("title").and_then(Value::as_str) {
                line.title = Some(title.to_owned());
            }
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

/// Who holds it, or when and why it ended.
fn holder(line: &SessionLine, when: &When) -> String {
    if line.ended_at.is_none() {
        return line.holder.clone().unwrap_or_default();
    }
    let why = ending::words(line.end_reason.as_deref());
    format!("ended {}: {why}", when.ago(instant(line.ended_at.as_ref())))
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
        holder(line, when),
        timers.join("; "),
        line.owner.to_owned(),
        line.source.clone(),
    ]
}
