//! `hermes cron tick`: one pass over the jobs, or what it would do at an instant.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use hermes::cron::dispatcher::{Dispatcher, Fate, Parts};
use hermes::cron::ticker::{Pass, Ticker};
use hermes::error::{Context, Error, Kind, Result};
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use serde_json::{Value, json};

use crate::cron::desk::{Desk, is_ours_to_run};
use crate::cron::list::worst;
use crate::cron::outlook::Outlook;
use crate::cron::runs::unreadable;
use crate::exit::Exit;
use crate::homes::heading;

/// Longest wait for jobs that a pass has started: their own limits end them earlier.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// One real pass.
fn pass(runtime: &mut Runtime, as_json: bool) -> Result<Exit> {
    let home = runtime.one_home()?;
    is_ours_to_run(runtime, &home, "cron tick")?;
    let desk = Desk::of(runtime, home);
    let say = |sentence: &str| eprint_line(sentence);
    let parts = Parts {
        zone: desk.zone_of_pass(runtime)?,
        ..Parts::of(runtime, &desk.home, &desk.config, Box::new(say))?
    };
    let reactor = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context(Kind::Internal, "there is no event loop")?;
    let mut ticker = Ticker::once(Arc::new(Dispatcher::new(parts)));
    let (pass, met) = reactor.block_on(async {
        let pass = ticker.tick().await?;
        let left_out = ticker.take_left_out();
        ticker.drain_all(LONGEST).await;
        let runs = ticker.take_fates();
        Ok::<_, Error>((pass, Met { left_out, runs }))
    })?;
    tell(runtime, &pass, &met, as_json)
}

/// The jobs that a pass met, and what became of them.
struct Met {
    /// Those that it did not hand out.
    left_out: Vec<(String, Fate)>,
    /// Those that it did.
    runs: Vec<(String, Fate)>,
}

/// What became of the pass. A job that failed is no failure of the pass; one that could not be
/// launched is.
fn tell(
    runtime: &mut Runtime,
    pass: &Pass,
    Met { left_out, runs }: &Met,
    as_json: bool,
) -> Result<Exit> {
    if as_json {
        let [left_out, runs] = [left_out, runs].map(|fates| {
            let fates = fates.iter().map(|(job, fate)| fate_json(job, fate));
            fates.collect::<Vec<_>>()
        });
        let (word, why) = match pass {
            Pass::Busy => ("busy", None),
            Pass::Standing(why) => ("standing", Some(why)),
            Pass::Done(_) => ("done", None),
        };
        let document = json!({"schema": "hermes.cron-tick/1", "pass": word, "reason": why, "runs": runs,
                "left_out": left_out});
        json::print(&mut runtime.out, &document)?;
    } else {
        match pass {
            Pass::Busy => runtime
                .out
                .note("Another scheduler is at it; nothing was done."),
            Pass::Done(0) if runs.is_empty() => runtime.out.line("nothing is due")?,
            // Why it stands was said by the ticker.
            Pass::Standing(_) | Pass::Done(_) => {}
        }
        for (job, fate) in left_out.iter().chain(runs) {
            let line = format!("{job}  {}", fate_text(fate));
            runtime.out.line(&human::printable(&line))?;
        }
    }
    let lost = |(_, fate): &(String, Fate)| matches!(fate, Fate::NotLaunched { .. });
    Ok(match pass {
        _ if runs.iter().any(lost) => Exit::ERROR,
        Pass::Standing(_) => Exit::FAILED,
        Pass::Busy | Pass::Done(_) => Exit::OK,
    })
}

fn fate_text(fate: &Fate) -> String {
    match fate {
        Fate::Skipped(why) => format!("skipped: {why}"),
        Fate::Waits(why) => format!("waits: {why}"),
        Fate::Refused(why) => format!("refused: {why}"),
        // The reason says so itself.
        Fate::NotLaunched {
            error,
            refused: true,
            ..
        } => error.clone(),
        Fate::NotLaunched { error, .. } => format!("not launched: {error}"),
        Fate::Ended {
            execution_id,
            ok: true,
            ..
        } => format!("ok ({execution_id})"),
        Fate::Ended {
            execution_id,
            error,
            ..
        } => {
            format!(
                "failed ({execution_id}): {}",
                error.as_deref().unwrap_or("no reason")
            )
        }
    }
}

/// The word for what became of a job.
pub(super) fn outcome(fate: &Fate) -> &'static str {
    match fate {
        Fate::Skipped(_) => "skipped",
        Fate::Waits(_) => "waits",
        Fate::Refused(_) | Fate::NotLaunched { refused: true, .. } => "refused",
        Fate::NotLaunched { .. } => "not_launched",
        Fate::Ended { ok: true, .. } => "ok",
        Fate::Ended { .. } => "failed",
    }
}

fn fate_json(job: &str, fate: &Fate) -> Value {
    json!({"job_id": job, "outcome": outcome(fate), "execution_id": fate.execution_id(),
        "reason": fate.error()})
}

/// A sentence for the operator, on stderr: one that cannot be told is lost, and the run goes on.
fn eprint_line(sentence: &str) {
    use std::io::Write as _;
    let _nobody_to_tell = writeln!(std::io::stderr(), "{sentence}");
}

/// Run what is due once, and wait for it
///
/// One pass, as the scheduler of 'hermes serve' makes one each minute: for hosts where something else
/// keeps the time. It honours the lock, so it does nothing while another scheduler is at it. With
/// --dry-run it only shows which jobs are due and what the pass would change.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  hermes cron tick
  hermes cron tick --dry-run
  hermes cron tick --dry-run --at 2026-06-17T09:00:30
  hermes cron tick --dry-run --json")]
pub(crate) struct Tick {
    /// Only show it: nothing is run and nothing is written
    #[arg(long)]
    dry_run: bool,
    /// Look at this instant instead of now
    #[arg(long, value_name = "TIME", requires = "dry_run")]
    at: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Tick {
    /// Scans the jobs and shows the outcome.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        if !self.dry_run {
            return pass(runtime, self.json);
        }
        let desks = Desk::all(runtime)?;
        let several = desks.len() > 1;
        let mut homes = Vec::new();
        let mut exits = Vec::new();
        for desk in &desks {
            if several && !self.json {
                heading(runtime, &desk.home)?;
            }
            let outlook = match Outlook::of(runtime, desk, self.at.as_deref()) {
                Ok(outlook) => outlook,
                Err(error) if several => {
                    exits.push(Exit::FAILED);
                    homes.push(unreadable(&desk.home, &error));
                    if !self.json {
                        runtime.out.error(&error);
                    }
                    continue;
                }
                Err(error) => return Err(error),
            };
            exits.push(outlook.exit());
            if !self.json {
                runtime.out.print(&outlook.page())?;
            }
            outlook.warn(runtime);
            homes.push(outlook.document());
            if let (true, Some(Value::Object(home))) = (several, homes.last_mut()) {
                home.insert("home".into(), json!(desk.home.path()));
                home.insert("profile".into(), json!(desk.home.profile()));
            }
        }
        if self.json {
            let document = match homes.pop() {
                Some(only) if !several => only,
                last => json!({"homes": homes.into_iter().chain(last).collect::<Vec<_>>()}),
            };
            json::print(&mut runtime.out, &document)?;
        }
        Ok(worst(exits.into_iter()))
    }
}
