//! `hermes cron next TEXT`: how a schedule text is read, and when it fires.

use clap::{Args, value_parser};
use hermes::config::Config;
use hermes::cron::next::{self, Fire};
use hermes::cron::refusal::ScheduleError;
use hermes::cron::schedule::{Reading, Schedule};
use hermes::cron::stamp::Stamp;
use hermes::cron::zone::Zone;
use hermes::cron::{warning, words};
use hermes::error::{Error, Result};
use hermes::output::{human, json};
use hermes::runtime::Runtime;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cron::desk::warn_of_settings;
use crate::exit::Exit;

/// Show how a schedule text is read, and when it fires
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  hermes cron next 'every weekday at 9am'
  hermes cron next '0 9 * * 1-5' --count 3 --tz Europe/Berlin
  hermes cron next 'every 30m' --last-run 2026-06-17T10:00:00+02:00
  hermes cron next '30 2 * * *' --from 2026-03-28 --json")]
pub(crate) struct Next {
    /// The schedule: a duration, days with a time, a cron expression, or an instant
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// How many instants to show
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = value_parser!(u32).range(1..=10_000))]
    count: u32,
    /// Count from this instant instead of now
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Zone to read the text in, instead of the configured one
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,
    /// When the job last ran: intervals and cron expressions count from there
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    last_run: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Next {
    /// Reads the text and shows what becomes of it.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let (zone, of_settings) = self.zone(runtime)?;
        let now = self.from.as_deref().map_or_else(
            || Ok(runtime.clock.wall()),
            |from| instant(from, &zone, "--from"),
        )?;
        if let Some(last) = &self.last_run {
            instant(last, &zone, "--last-run")?;
        }
        match Schedule::parse(&self.text, now, &zone.zones.configured) {
            Ok(reading) => self.show(runtime, (&zone, &of_settings), &reading, now),
            Err(error) => self.refuse(runtime, &error),
        }
    }

    /// The zone, and what of the configuration does not count, where that was asked.
    fn zone(&self, runtime: &mut Runtime) -> Result<(Zone, Vec<String>)> {
        if let Some(name) = &self.tz {
            let zone = Zone::named(name, "--tz").ok_or_else(|| {
                Error::usage(format!("there is no time zone '{name}'"))
                    .with_hint("zones have names like Europe/Berlin or UTC")
            });
            return Ok((zone?, Vec::new()));
        }
        let (home, _) = runtime.home()?;
        let environ = &runtime.environ;
        let variable = |name: &str| environ.text(name).map(str::to_owned);
        let config = Config::load(&home, &variable, &[]);
        let zone = Zone::of(&config).asked_by(environ.text("TZ"));
        warn_of_settings(runtime, &config, &zone);
        let warnings = [config.warnings(), zone.warnings()].concat();
        Ok((zone, warnings))
    }

    fn show(
        &self,
        runtime: &mut Runtime,
        (zone, of_settings): (&Zone, &[String]),
        reading: &Reading,
        now: Timestamp,
    ) -> Result<Exit> {
        let fires = self.fires(&reading.schedule, zone, now);
        let warnings = warning::warnings(reading, &self.text, now, &zone.zones.configured);
        if self.json {
            let next: Vec<String> = fires.iter().map(|fire| fire.text.clone()).collect();
            let all = [of_settings, &warnings].concat();
            let document = json!({
                "schedule": reading.to_json(),
                "zone": zone.to_json(),
                "next": next,
                "warnings": all,
            });
            json::print(&mut runtime.out, &document)?;
            return Ok(Exit::OK);
        }
        runtime.out.print(&page(reading, zone, &fires))?;
        for warning in &warnings {
            runtime.out.warn(&human::printable(warning));
        }
        Ok(Exit::OK)
    }

    /// The next instants. The first is what the store would hold; the others follow the cadence.
    fn fires(&self, schedule: &Schedule, zone: &Zone, now: Timestamp) -> Vec<Shown> {
        let zones = &zone.zones;
        let first = next::next_run(schedule, self.last_run.as_deref(), now, zones);
        let mut found = Vec::new();
        let mut stamp = first.as_deref().and_then(Stamp::parse);
        while let Some(at) = stamp
            && found.len() < usize::try_from(self.count).unwrap_or(usize::MAX)
        {
            let Some(instant) = at.instant(&zones.system) else {
                break;
            };
            found.push(Shown::of(&at, instant, zone));
            stamp = schedule
                .is_recurring()
                .then(|| next::next_fire(schedule, instant, &zones.configured))
                .flatten()
                .map(|Fire { stamp, .. }| stamp);
        }
        found
    }

    fn refuse(&self, runtime: &mut Runtime, error: &ScheduleError) -> Result<Exit> {
        if !self.json {
            return Err(
                Error::new(hermes::error::Kind::Invalid, error.message.clone())
                    .with_hint(error.hint.clone()),
            );
        }
        let document: Value = json!({"error": {
            "kind": "invalid",
            "category": error.category.as_str(),
            "message": error.message,
            "causes": [],
            "hint": error.hint,
            "hints": [error.hint],
        }});
        json::print(&mut runtime.out, &document)?;
        Ok(Exit::FAILED)
    }
}

/// The answer for people.
fn page(reading: &Reading, zone: &Zone, fires: &[Shown]) -> String {
    let form = match &reading.schedule {
        Schedule::Cron { expr, .. } => expr.clone(),
        Schedule::Interval { minutes } => format!("{minutes} minutes"),
        Schedule::Once { run_at, .. } => run_at.clone(),
    };
    let mut lines = vec![
        ("Schedule", format!("{}, {form}", reading.schedule.kind())),
        ("Means", words::say(&reading.schedule)),
        ("Zone", zone.words()),
    ];
    let labels = std::iter::once("Next").chain(std::iter::repeat(""));
    lines.extend(
        labels
            .zip(fires)
            .map(|(label, fire)| (label, fire.said.clone())),
    );
    if fires.is_empty() {
        lines.push(("Next", "never".to_owned()));
    }
    lines.iter().fold(String::new(), |page, (label, said)| {
        page + &format!("{label:8}  {}\n", human::printable(said))
    })
}

/// An instant as it is shown.
struct Shown {
    text: String,
    said: String,
}

impl Shown {
    fn of(at: &Stamp, instant: Timestamp, zone: &Zone) -> Shown {
        let here = instant.to_zoned_datetime(zone.zones.configured.clone());
        let said = if instant == Timestamp::MAX {
            // The last hours of the calendar stand all at this instant.
            at.to_string()
        } else {
            here.strftime("%a %Y-%m-%d %H:%M:%S %:z").to_string()
        };
        Shown {
            text: at.to_string(),
            said,
        }
    }
}

/// An instant that was typed; without an offset it is one of the configured zone.
pub(super) fn instant(text: &str, zone: &Zone, option: &str) -> Result<Timestamp> {
    Stamp::parse(text.trim())
        .and_then(|stamp| stamp.instant(&zone.zones.configured))
        .ok_or_else(|| {
            Error::usage(format!("{option} '{text}' is no date and time"))
                .with_hint("write 2026-06-17, 2026-06-17T10:00 or 2026-06-17T10:00:00+02:00")
        })
}
