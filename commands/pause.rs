//! `hermes pause`: the emergency stop of a home.

use std::path::Path;

use clap::Args;
use hermes::config::Config;
use hermes::cron::edit;
use hermes::cron::stop::Stop;
use hermes::cron::stop_file;
use hermes::cron::zone::Zone;
use hermes::error::{Error, Kind, Result};
use hermes::home::Home;
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::exit::Exit;

/// Stop all schedules of a home, at once
///
/// Sets the emergency stop that Hermes Agent honours as well: no job, loop or heartbeat fires until it is
/// lifted ('hermes resume') or ends by itself (--for). What runs already goes on. The stop of a root home
/// holds for its profiles too. A stop that is in force already is replaced, with its reason and its end, and that is
/// said. Hermes Agent knows of no end: to it a stop holds until its file is gone,
/// which our serve removes when the end has come.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes pause --reason 'the database moves' --for 2h
  hermes pause --profile ops
  hermes pause --dry-run")]
pub(crate) struct Pause {
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Let it end by itself after so long, like 90s, 2h or 1d
    #[arg(long = "for", value_name = "TIME", value_parser = length)]
    length: Option<u64>,
    /// Only show what would be set
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Pause {
    /// Sets the stop.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let home = runtime.one_home()?;
        if home.is_missing() {
            let path = home.path().display();
            return Err(Error::new(
                Kind::NotFound,
                format!("there is no home at {path}, so nothing to stop"),
            ));
        }
        let now = runtime.clock.wall();
        let length = self
            .length
            .and_then(|seconds| i64::try_from(seconds).ok().map(SignedDuration::from_secs));
        let stop = Stop::begin(now, self.reason.as_deref(), length);
        let path = home.join(hermes::cron::stop::NAME);
        let before = stop_file::in_force(&home, now).filter(|found| found.path == path);
        let before = before.map(|found| found.stop);
        if !self.dry_run {
            let zone = zone(runtime, &home);
            stop_file::set(&home, &stop, &zone)?;
        }
        self.tell(runtime, (&stop, before.as_ref()), (&path, now))
    }

    /// Says what was set, and what it replaces.
    fn tell(
        &self,
        runtime: &mut Runtime,
        (stop, before): (&Stop, Option<&Stop>),
        (path, now): (&Path, Timestamp),
    ) -> Result<Exit> {
        if self.json {
            let document = json!({
                "schema": "hermes.pause/1",
                "dry_run": self.dry_run,
                "file": path,
                "reason": stop.reason,
                "since": stop.since,
                "until": stop.until,
                "replaces": before.map(|before| json!({
                    "reason": before.reason,
                    "since": before.since,
                    "until": before.until,
                })),
            });
            json::print(&mut runtime.out, &document)?;
            return Ok(Exit::OK);
        }
        let verb = if self.dry_run {
            "Would stop"
        } else {
            "Stopped"
        };
        let until = stop.until.map_or_else(
            || "until it is lifted: hermes resume".to_owned(),
            |until| {
                format!(
                    "for {}",
                    human::duration(until.duration_since(now).as_secs())
                )
            },
        );
        let path = human::printable(&path.display().to_string());
        runtime.out.line(&format!(
            "{verb} all schedules of this home, {until} ({path})."
        ))?;
        if let Some(before) = before {
            let word = if self.dry_run {
                "would replace"
            } else {
                "replaced"
            };
            let before = before.told(now);
            runtime
                .out
                .line(&format!("This {word} the stop that was {before}."))?;
        }
        if stop.until.is_some() {
            runtime.out.note(
                "Hermes Agent knows of no end: to it the stop holds until serve, or 'hermes resume', lifts it.",
            );
        }
        Ok(Exit::OK)
    }
}

/// A stop that ends as it begins is none.
fn length(text: &str) -> Result<u64> {
    match edit::seconds(text)? {
        0 => Err(Error::usage("a stop of no length stops nothing")),
        seconds => Ok(seconds),
    }
}

fn zone(runtime: &Runtime, home: &Home) -> jiff::tz::TimeZone {
    let environ = &runtime.environ;
    let variable = |name: &str| environ.text(name).map(str::to_owned);
    Zone::of(&Config::load(home, &variable, &[]))
        .zones
        .configured
}
