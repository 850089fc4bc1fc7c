//! `hermes session reap`.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Args, ValueEnum};
use hermes::db;
use hermes::error::{Error, Kind, Result};
use hermes::output::layout::{self, Step};
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use hermes::server::client::Client;
use hermes::sessions::listing;
use hermes::sessions::plan::{Plan, Row, Verdict};
use serde_json::{Value, json};

use crate::asking;
use crate::exit::Exit;
use crate::r#loop::look;
use crate::when::When;

/// Let the reapers run now, or show what they would do with each session, and why
#[derive(Args, Debug)]
#[command(after_help = "\
A client that idles longer than the grace wants its keepalive raised together with it \
    (dashboard.ws_orphan_reap_grace_s).

Examples:
  hermes session reap --dry-run
  hermes session reap --reaper idle
  hermes session reap --dry-run --reaper idle --json")]
pub(super) struct Reap {
    /// Only show the plan; nothing is written
    #[arg(long)]
    dry_run: bool,
    /// Ask only this reaper; may be given again
    #[arg(long, value_name = "REAPER")]
    reaper: Vec<Name>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The reapers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Nobody came back within the grace
    Orphan,
    /// Nobody used it for hours
    Idle,
    /// Too many are held
    Cap,
}

impl Reap {
    /// Prints the plan.
    pub(super) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        if let Some(mut client) = asking::serve(runtime)? {
            return self.ask(&mut client, runtime);
        }
        if !self.dry_run {
            return Err(Error::new(
                Kind::Unavailable,
                "only a running serve can reap, and none can be asked",
            )
            .with_hint("--dry-run shows the plan from the store"));
        }
        if !self.reaper.is_empty() && self.reaper.iter().all(|name| *name == Name::Cap) {
            let message =
                "the cap cannot be judged from the store: which sessions are held is not seen";
            return Err(Error::new(Kind::Unavailable, message));
        }
        let view = look(runtime)?;
        let (plan, unseen) = listing::sweep(&view);
        if self.json {
            let mut rows = json!(plan.rows);
            dated(&mut rows, 0.0);
            let document = json!({
                "schema": "hermes.session.reap/1",
                "dry_run": true,
                "sessions": rows,
                "left_out": plan.left_out,
                "lifted": plan.lifted,
                "unseen": unseen,
            });
            json::print(&mut runtime.out, &document)?;
        } else {
            print(&plan, &unseen, runtime)?;
        }
        Ok(Exit::OK)
    }
}

impl Reap {
    /// Serve knows more than the store: who is attached, what runs.
    fn ask(&self, client: &mut Client, runtime: &mut Runtime) -> Result<Exit> {
        let named = (!self.reaper.is_empty()).then_some(self.reaper.as_slice());
        let all = [Name::Orphan, Name::Idle, Name::Cap];
        let (mut rows, mut left) = (Vec::new(), Vec::new());
        let mut answer = Value::Null;
        for name in named.unwrap_or(&all) {
            let params = json!({"reaper": name.word(), "dry_run": self.dry_run});
            answer = client.call("session.reap", &params)?;
            let list = |path: &str| answer.pointer(path).and_then(Value::as_array).cloned();
            rows.extend(
                list("/plan/rows")
                    .unwrap_or_default()
                    .into_iter()
                    .map(|row| (*name, row)),
            );
            left.extend(list("/not_reaped").unwrap_or_default());
        }
        left.sort_by_key(Value::to_string);
        left.dedup();
        let seen = Self::unasked(&rows, runtime)?;
        if self.json {
            let mut rows: Value = rows.into_iter().map(|(_, row)| row).collect();
            dated(&mut rows, ahead(&answer));
            let document = json!({
                "schema": "hermes.session.reap/1",
                "dry_run": self.dry_run,
                "sessions": rows,
                "left_out": seen,
                "lifted": answer.pointer("/plan/lifted"),
                "not_reaped": left,
                "unseen": [],
            });
            json::print(&mut runtime.out, &document)?;
        } else {
            let still: Vec<String> = left.iter().map(|one| text(one, "session")).collect();
            self.show(&rows, &still, &answer, runtime)?;
            left_out(&seen, runtime)?;
            let lifted = answer.pointer("/plan/lifted").and_then(Value::as_array);
            for line in lifted.into_iter().flatten().filter_map(Value::as_str) {
                runtime.out.note(line);
            }
            for one in &left {
                let line = format!(
                    "{} is still there: {}",
                    text(one, "session"),
                    text(one, "because")
                );
                runtime.out.warn(&human::printable(&line));
            }
        }
        Ok(if left.is_empty() {
            Exit::OK
        } else {
            Exit::FAILED
        })
    }
}

impl Reap {
    /// What serve does not judge, counted: ended sessions, and open ones that it does not hold.
    fn unasked(rows: &[(Name, Value)], runtime: &Runtime) -> Result<BTreeMap<String, u64>> {
        let view = look(runtime)?;
        let ended = view.ended.iter();
        let mut seen: BTreeMap<String, u64> = ended
            .map(|(why, count)| (format!("ended: {why}"), *count))
            .collect();
        let judged: BTreeSet<&str> = rows
            .iter()
            .filter_map(|(_, row)| row.get("stored_id")?.as_str())
            .collect();
        for line in listing::sessions(&view) {
            if !judged.contains(line.session.as_str()) {
                let why = format!("open, not held by serve, of {}", line.owner);
                *seen.entry(why).or_insert(0) += 1;
            }
        }
        Ok(seen)
    }
}

impl Reap {
    /// What serve would do with each session, or did.
    fn show(
        &self,
        rows: &[(Name, Value)],
        still: &[String],
        answer: &Value,
        runtime: &mut Runtime,
    ) -> Result<()> {
        if rows.is_empty() {
            return runtime.out.line("Serve holds no session.");
        }
        let wall = answer.pointer("/now/wall").and_then(Value::as_f64);
        let when = When::of(runtime)?.by(wall.and_then(db::instant));
        let clock = (when, ahead(answer));
        // More than one reaper may mean the same session.
        let mut meant = [BTreeSet::new(), BTreeSet::new()];
        let rows = rows
            .iter()
            .map(|(name, row)| {
                let verdict = verdict(row);
                let id = text(row, "stored_id");
                let is_still_there = still.contains(&id);
                let word = match (verdict.as_str(), self.dry_run) {
                    ("reap", true) => "would be reaped",
                    ("reap", false) if is_still_there => "not reaped",
                    ("reap", false) => "reaped",
                    ("interrupt", true) => "its turn would be stopped",
                    ("interrupt", false) => "its turn is told to stop",
                    _ => verdict.as_str(),
                };
                match verdict.as_str() {
                    "reap" if self.dry_run || !is_still_there => meant[0].insert(id),
                    "interrupt" => meant[1].insert(id),
                    _ => false,
                };
                asked_row(*name, (row, word), &clock)
            })
            .collect();
        table(rows, runtime)?;
        runtime.out.line(&self.sum(meant.map(|of| of.len())))
    }

    fn sum(&self, [reaped, stopped]: [usize; 2]) -> String {
        let sessions = human::count(reaped, "session", "sessions");
        let turns = human::count(stopped, "turn", "turns");
        match (self.dry_run, stopped) {
            (true, 0) => format!("Would reap {sessions}; nothing was done."),
            (true, _) => format!("Would reap {sessions} and stop {turns}; nothing was done."),
            (false, 0) => format!("Reaped {sessions}."),
            (false, _) => format!("Reaped {sessions}, and told {turns} to stop."),
        }
    }
}

/// How far serve's wall clock is ahead of the awake time that it counts, in seconds.
fn ahead(answer: &Value) -> f64 {
    let clock = |name: &str| answer.pointer(name).and_then(Value::as_f64);
    let clocks = clock("/now/wall").zip(clock("/now/awake"));
    clocks.map_or(0.0, |(wall, awake)| wall - awake)
}

/// Serve counts awake time, which means nothing to anybody else: its instants by the wall clock, as RFC 3339.
fn dated(value: &mut Value, ahead: f64) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(|one| dated(one, ahead)),
        Value::Object(all) => {
            for (key, one) in all.iter_mut() {
                let at = one
                    .as_f64()
                    .filter(|_| key == "until" || key == "next_check");
                match at.and_then(|at| db::instant(at + ahead)) {
                    Some(at) => *one = at.to_string().into(),
                    None => dated(one, ahead),
                }
            }
        }
        _ => {}
    }
}

fn text(value: &Value, key: &str) -> String {
    let text = value.get(key).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

fn verdict(row: &Value) -> String {
    match row.get("verdict") {
        Some(Value::String(word)) => word.clone(),
        Some(Value::Object(one)) => one.keys().next().cloned().unwrap_or_default(),
        _ => String::new(),
    }
}

fn table(rows: Vec<Vec<String>>, runtime: &mut Runtime) -> Result<()> {
    let headings = [
        "session",
        "reaper",
        "verdict",
        "because",
        "holder",
        "next check",
    ];
    let text = layout::rows(&runtime.out, &headings, &NARROW, rows);
    runtime.out.line(&text)
}

/// What goes first where there is no room.
const NARROW: [Step<'_>; 1] = [Step::Drop("holder")];

fn left_out(counts: &BTreeMap<String, u64>, runtime: &mut Runtime) -> Result<()> {
    for (why, count) in counts {
        let line = format!("left out  {count}  {}", human::printable(why));
        runtime.out.line(&line)?;
    }
    Ok(())
}

impl Name {
    fn word(self) -> &'static str {
        match self {
            Self::Orphan => "orphan",
            Self::Idle => "idle",
            Self::Cap => "cap",
        }
    }
}

fn asked_row(name: Name, (row, word): (&Value, &str), (when, ahead): &(When, f64)) -> Vec<String> {
    let unbounded = row.get("unbounded").and_then(Value::as_bool) == Some(true);
    let word = if unbounded && word == "keep" {
        "keep, unbounded"
    } else {
        word
    };
    let next = row.get("next_check").and_then(Value::as_f64);
    vec![
        text(row, "stored_id"),
        name.word().to_owned(),
        word.to_owned(),
        text(row, "because"),
        text(row, "holder"),
        when.next(next.and_then(|at| db::instant(at + ahead))),
    ]
}

fn print(plan: &Plan, unseen: &[String], runtime: &mut Runtime) -> Result<()> {
    if plan.rows.is_empty() {
        runtime.out.line("No session is open.")?;
    } else {
        let when = When::of(runtime)?;
        let rows = plan.rows.iter().map(|one| row(one, &when)).collect();
        let headings = ["session", "verdict", "because", "holder", "next check"];
        let text = layout::rows(&runtime.out, &headings, &NARROW, rows);
        runtime.out.line(&text)?;
    }
    left_out(&plan.left_out, runtime)?;
    for line in plan
        .lifted
        .iter()
        .copied()
        .chain(unseen.iter().map(String::as_str))
    {
        runtime.out.note(line);
    }
    Ok(())
}

fn row(row: &Row, when: &When) -> Vec<String> {
    let verdict = match row.verdict {
        Verdict::Keep if row.unbounded => "keep, unbounded".to_owned(),
        Verdict::Keep => "keep".to_owned(),
        Verdict::Interrupt(reaper) => format!("its turn would be stopped ({})", reaper.word()),
        Verdict::Reap(reaper) => format!("would be reaped ({})", reaper.word()),
    };
    vec![
        row.stored_id.clone(),
        verdict,
        row.because.clone(),
        row.holder.clone().unwrap_or_default(),
        when.next(row.next_check.and_then(db::instant)),
    ]
}
