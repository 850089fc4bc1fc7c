//! What `hermes loop` and `hermes heartbeat` have in common: lists and one timer.

use clap::Args;
use hermes::error::{Error, Kind, Result};
use hermes::output::layout::{self, Step};
use hermes::output::{human, json, wrap};
use hermes::runtime::Runtime;
use hermes::sessions::listing::TimerLine;
use serde_json::json;

use crate::exit::Exit;
use crate::r#loop::{Lines, look};
use crate::when::{When, instant};

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
            print(&shown, runtime)?;
        }
        if !ended.is_empty() {
            let one = format!("{kind} that has ended is left out; --all shows it.");
            let many = format!("{kind}s that have ended are left out; --all shows them.");
            runtime.out.note(&human::count(ended.len(), &one, &many));
        }
        Ok(Exit::OK)
    }
}

/// The timers as a table, and below it why those are as they are that are not just active.
fn print(shown: &[TimerLine], runtime: &mut Runtime) -> Result<()> {
    let when = When::of(runtime)?;
    let rows = shown.iter().map(|line| row(line, &when)).collect();
    let headings = ["session", "state", "every", "fired", "next", "prompt"];
    let narrow = [
        Step::Cut("prompt"),
        Step::Drop("fired"),
        Step::Drop("every"),
    ];
    let text = layout::rows(&runtime.out, &headings, &narrow, rows);
    runtime.out.line(&text)?;
    for line in shown.iter().filter(|line| line.state != "active") {
        if let Some(why) = &line.because {
            let text = human::printable(&format!("{} {}: {why}", line.session, line.state));
            let text = wrap::hanging(&text, runtime.out.width, "", "  ");
            runtime.out.line(&text)?;
        }
    }
    Ok(())
}

fn row(line: &TimerLine, when: &When) -> Vec<String> {
    vec![
        line.session.clone(),
        line.state.to_owned(),
        line.every.clone(),
        fired(line),
        when.next(instant(line.next_due_at.as_ref())),
        line.prompt.lines().next().unwrap_or_default().to_owned(),
    ]
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
            let when = When::of(runtime)?;
            let state = match &line.because {
                Some(why) => format!("{}: {why}", line.state),
                None => line.state.to_owned(),
            };
            let pairs = [
                ("session", line.session.clone()),
                ("state", state),
                ("every", line.every.clone()),
                ("fired", fired(&line)),
                ("last", when.whole(instant(line.last_fired_at.as_ref()))),
                ("next", when.whole(instant(line.next_due_at.as_ref()))),
                ("prompt", line.prompt),
            ];
            let text = layout::pairs(&runtime.out, &pairs);
            runtime.out.line(&text)?;
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
