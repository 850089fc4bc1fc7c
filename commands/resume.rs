//! `hermes resume`: lifts the emergency stop of a home.

use clap::Args;
use hermes::cron::stop::NAME;
use hermes::cron::stop_file;
use hermes::error::{Error, Kind, Result};
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use serde_json::json;

use crate::exit::Exit;

/// Lift the emergency stop of a home
///
/// Schedules fire again from the next tick on. Slots that were missed meanwhile are made up for as each
/// job says, at most once.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes resume
  hermes resume --profile ops --dry-run")]
pub(crate) struct Resume {
    /// Only show what would be lifted
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Resume {
    /// Lifts the stop.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let home = runtime.one_home()?;
        let now = runtime.clock.wall();
        let found = stop_file::in_force(&home, now);
        let own = home.join(NAME);
        if let Some(found) = &found
            && found.path != own
        {
            return Err(Error::new(
                Kind::Refused,
                format!(
                    "the stop is that of the root home ({}), and holds for all its profiles",
                    found.path.display()
                ),
            )
            .with_hint("lift it there: hermes resume --profile default"));
        }
        // One whose end is past goes as well: it is only clutter.
        let lifted = if self.dry_run {
            found.is_some()
        } else {
            stop_file::lift(&home)?
        };
        if self.json {
            let document = json!({
                "schema": "hermes.resume/1",
                "dry_run": self.dry_run,
                "file": own,
                "lifted": lifted,
            });
            json::print(&mut runtime.out, &document)?;
            return Ok(Exit::OK);
        }
        let path = human::printable(&own.display().to_string());
        let line = match (found.is_some(), self.dry_run) {
            (false, _) => "No stop is in force.".to_owned(),
            (true, true) => format!("Would lift the stop ({path})."),
            (true, false) => format!("Lifted the stop ({path}): schedules fire again."),
        };
        runtime.out.line(&line)?;
        // Another one, of the root, may hold all the same.
        if !self.dry_run
            && let Some(other) = stop_file::in_force(&home, now)
        {
            runtime.out.warn(&human::printable(&other.text()));
        }
        Ok(Exit::OK)
    }
}
