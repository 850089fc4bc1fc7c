//! What `hermes loop` and `hermes heartbeat` have in common: lists and one timer.

use clap::Args;
use hermes::error::{Error, Kind, Result};
use hermes::output::{human, json, table};
use hermes::runtime::Runtime;
use hermes::sessions::listing::TimerLine;
use serde_json::json;

use crate::exit::Exit;
use crate::r#loop::{Lines, look};

/// A list of timers.
#[derive(Args, Debug)]
pub(crate) struct List {
    /// Show those that have ended, too
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One timer.
#[derive(Args, Debug)]
pub(crate) struct Of {
    /// The stored session, or the beginning of its id
    session: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    /// Prints the timers that `lines` reads.
    pub(crate) fn run(self, kind: &str, lines: Lines, runtime: &mut Runtime) -> Result<Exit> {
        let view = look(runtime)?;
        let (shown, ended): (Vec<_>, Vec<_>) = lines(&view)
            .into_iter()
            .partition(|line| self.all || !matches!(line.state, "done" | "cleared"));
        if self.json {
            let document = json!({
                "schema": format!("hermes.{kind}.list/1"),
                (format!("{kind}s")): shown,
                "left_out": { "ended": ended.len() },
                "gaps": view.gaps,
            });
            json::print(&mut runtime.out, &document)?;
            return Ok(Exit::OK);
        }
        for gap in &view.gaps {
            runtime.out.warn(gap);
        }
        if shown.is_empty() {
            runtime.out.line(&format!("No {kind} is set."))?;
        } else {
            let rows = shown.iter().map(row).collect();
            let headings = ["session", "state", "every", "fired", "next", "prompt"];
            let text = table::table(&runtime.out, &headings, rows);
            runtime.out.line(&text)?;
        }
        if !ended.is_empty() {
            let one = format!("{kind} that has ended is left out; --all shows it.");
            let many = format!("{kind}s that have ended are left out; --all shows them.");
            runtime.out.note(&human::count(ended.len(), &one, &many));
        }
        Ok(Exit::OK)
    }
}

fn row(line: &TimerLine) -> Vec<String> {
    vec![
        human::printable(&line.session),
        state(line),
        line.every.clone(),
        fired(line),
        line.next_due_at.clone().unwrap_or_else(|| "-".to_owned()),
        human::printable(line.prompt.lines().next().unwrap_or_default()),
    ]
}

/// The state with its reason, except where it is just active.
fn state(line: &TimerLine) -> String {
    match &line.because {
        Some(why) if line.state != "active" => format!("{}: {}", line.state, human::printable(why)),
        _ => line.state.to_owned(),
    }
}

fn fired(line: &TimerLine) -> String {
    match line.of {
        Some(of) => format!("{} of {of}", line.fired),
        None if line.unbounded => format!("{}, unbounded", line.fired),
        None => line.fired.to_string(),
    }
}

impl Of {
    /// Prints the timer of the session.
    pub(crate) fn run(self, kind: &str, lines: Lines, runtime: &mut Runtime) -> Result<Exit> {
        let view = look(runtime)?;
        let line = find(kind, &self.session, lines(&view))?;
        if self.json {
            let document = json!({ "schema": format!("hermes.{kind}.status/1"), kind: line });
            json::print(&mut runtime.out, &document)?;
        } else {
            let none = "-".to_owned();
            let state = match &line.because {
                Some(why) => format!("{}: {why}", line.state),
                None => line.state.to_owned(),
            };
            for (name, value) in [
                ("session", &line.session),
                ("state", &state),
                ("every", &line.every),
                ("fired", &fired(&line)),
                ("last", line.last_fired_at.as_ref().unwrap_or(&none)),
                ("next", line.next_due_at.as_ref().unwrap_or(&none)),
                ("prompt", &line.prompt),
            ] {
                let line = format!("{name:<8} {}", human::printable(value));
                runtime.out.line(&line)?;
            }
        }
        Ok(Exit::OK)
    }
}

/// The timer of the session with this id, or the only one whose session begins with it.
fn find(kind: &str, session: &str, lines: Vec<TimerLine>) -> Result<TimerLine> {
    let mut like: Vec<TimerLine> = lines
        .into_iter()
        .filter(|line| line.session.starts_with(session))
        .collect();
    if let Some(exact) = like.iter().position(|line| line.session == session) {
        like = vec![like.swap_remove(exact)];
    }
    if like.len() > 1 {
        let names: Vec<String> = like.into_iter().map(|line| line.session).collect();
        let message = format!(
            "'{session}' could be several sessions: {}",
            names.join(", ")
        );
        return Err(Error::new(Kind::NotFound, message));
    }
    like.pop().ok_or_else(|| {
        let message = format!("session '{session}' has no {kind}");
        Error::new(Kind::NotFound, message)
            .with_hint(format!("hermes {kind} list --all lists them"))
    })
}
