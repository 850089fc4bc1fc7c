//! `hermes session reap`.

use clap::{Args, ValueEnum};
use hermes::db;
use hermes::error::{Error, Kind, Result};
use hermes::output::{human, json, table};
use hermes::runtime::Runtime;
use hermes::sessions::listing;
use hermes::sessions::plan::{Plan, Row, Verdict};
use serde_json::json;

use crate::exit::Exit;
use crate::r#loop::look;

/// Show what the reapers would do with each session, and why
#[derive(Args, Debug)]
#[command(after_help = "\
A client that idles longer than the grace wants its keepalive raised together with it
(dashboard.ws_orphan_reap_grace_s).

Examples:
  hermes session reap --dry-run
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
            let document = json!({
                "schema": "hermes.session.reap/1",
                "dry_run": true,
                "sessions": plan.rows,
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

fn print(plan: &Plan, unseen: &[String], runtime: &mut Runtime) -> Result<()> {
    if plan.rows.is_empty() {
        runtime.out.line("No session is open.")?;
    } else {
        let rows = plan.rows.iter().map(row).collect();
        let headings = ["session", "verdict", "because", "holder", "next check"];
        let text = table::table(&runtime.out, &headings, rows);
        runtime.out.line(&text)?;
    }
    for (why, count) in &plan.left_out {
        runtime
            .out
            .line(&format!("left out  {count}  {}", human::printable(why)))?;
    }
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

fn row(row: &Row) -> Vec<String> {
    let verdict = match row.verdict {
        Verdict::Keep if row.unbounded => "keep, unbounded".to_owned(),
        Verdict::Keep => "keep".to_owned(),
        Verdict::Interrupt(reaper) => format!("interrupt ({})", reaper.word()),
        Verdict::Reap(reaper) => format!("reap ({})", reaper.word()),
    };
    let next = row
        .next_check
        .and_then(db::instant)
        .map(|at| at.to_string());
    vec![
        human::printable(&row.stored_id),
        verdict,
        human::printable(&row.because),
        row.holder
            .as_deref()
            .map_or("-".to_owned(), human::printable),
        next.unwrap_or_else(|| "-".to_owned()),
    ]
}
