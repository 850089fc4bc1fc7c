//! `hermes cron incidents`: failures that repeat, and whether somebody took note.

use clap::{Args, Subcommand, ValueEnum, value_parser};
use hermes::cron::redact::redact;
use hermes::db::Stamp;
use hermes::error::Result;
use hermes::ledger::{Incident, IncidentState, rows};
use hermes::output::json;
use hermes::output::layout::{self, Step};
use hermes::runtime::Runtime;
use serde_json::{Value, json};

use super::desk::Desk;
use super::incident_orders::{Ack, Close};
use super::runs::unreadable;
use crate::exit::Exit;
use crate::homes::heading;

/// List incidents, the last seen first
///
/// The same failure of the same job is one incident, however often it repeats; a good run of the job
/// resolves it, and a person may close it. The same failure opens either again. Listing changes nothing.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  hermes cron incidents
  hermes cron incidents --state all --json
  hermes cron incidents ack a1b2c3_0123456789ab
  hermes cron incidents close --job nightly")]
pub(crate) struct Incidents {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    list: List,
}

/// List incidents, the last seen first
///
/// The same failure of the same job is one incident, however often it repeats; a good run of the job
/// resolves it, and a person may close it. The same failure opens either again. Listing changes nothing.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes cron incidents
  hermes cron incidents --state all --json
  hermes cron incidents ack a1b2c3_0123456789ab")]
struct List {
    /// Which ones
    #[arg(long, value_name = "STATE", default_value = "open")]
    state: State,
    /// How many to show
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    #[arg(value_parser = value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is done with one.
#[derive(Debug, Subcommand)]
enum Verb {
    List(List),
    Ack(Ack),
    Close(Close),
}

/// Which incidents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum State {
    /// Those that go on
    Open,
    /// Those that a good run ended
    Resolved,
    /// Those that a person closed, or that ended with their job
    Closed,
    /// All of them
    All,
}

/// Whether an incident goes on.
pub(crate) fn is_open(incident: &Incident) -> bool {
    State::Open.takes(&incident.state)
}

impl State {
    fn takes(self, state: &IncidentState) -> bool {
        match self {
            Self::All => true,
            Self::Open => !matches!(state, IncidentState::Resolved | IncidentState::Closed),
            Self::Resolved => *state == IncidentState::Resolved,
            Self::Closed => *state == IncidentState::Closed,
        }
    }
}

/// Incidents that are kept in mind while looking for some.
pub(crate) const MOST: u32 = 10_000;

impl Incidents {
    /// Prints them, or marks some.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        match self.verb {
            Some(Verb::Ack(ack)) => ack.run(runtime),
            Some(Verb::Close(close)) => close.run(runtime),
            Some(Verb::List(list)) => list.run(runtime),
            None => self.list.run(runtime),
        }
    }
}

impl List {
    /// Prints them.
    fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let mut homes = Vec::new();
        let mut exit = Exit::OK;
        let desks = Desk::all(runtime)?;
        let several = desks.len() > 1;
        for desk in desks {
            let most = usize::try_from(self.limit).unwrap_or(usize::MAX);
            let found = match all(&desk) {
                Ok(found) => found,
                Err(error) if several => {
                    exit = Exit::FAILED;
                    if self.json {
                        homes.push(unreadable(&desk.home, &error));
                    } else {
                        heading(runtime, &desk.home)?;
                        runtime.out.error(&error);
                    }
                    continue;
                }
                Err(error) => return Err(error),
            };
            let found: Vec<_> = found
                .into_iter()
                .filter(|incident| self.state.takes(&incident.state))
                .map(redacted)
                .take(most)
                .collect();
            if self.json {
                homes.push(json!({
                    "home": desk.home.path(),
                    "profile": desk.home.profile(),
                    "incidents": found.iter().map(to_json).collect::<Vec<_>>(),
                }));
                continue;
            }
            if several {
                heading(runtime, &desk.home)?;
            }
            print(runtime, &desk, &found)?;
        }
        if self.json {
            let document = json!({ "schema": "hermes.cron-incidents/1", "homes": homes });
            json::print(&mut runtime.out, &document)?;
        }
        Ok(exit)
    }
}

/// All that the ledger keeps.
pub(super) fn all(desk: &Desk) -> Result<Vec<Incident>> {
    let copy = desk.ledger()?;
    desk.read(copy.as_ref(), |copy| {
        copy.read(|c| rows::incidents(c, MOST))
    })
}

/// An incident for `--json`. Instants are as stored.
fn to_json(incident: &Incident) -> Value {
    let text = |stamp: &Option<Stamp>| stamp.as_ref().map(|stamp| stamp.text.clone());
    json!({
        "id": incident.id,
        "job_id": incident.job_id,
        "state": incident.state.word(),
        "failure_type": incident.failure_type,
        "first_seen_at": text(&incident.first_seen_at),
        "last_seen_at": text(&incident.last_seen_at),
        "acked_at": text(&incident.acked_at),
        "closed_at": text(&incident.closed_at),
        "closed_because": incident.closed_because,
        "error": incident.error,
        "output_file": incident.output_file,
    })
}

fn redacted(incident: Incident) -> Incident {
    Incident {
        error: redact(&incident.error, []),
        ..incident
    }
}

fn print(runtime: &mut Runtime, desk: &Desk, incidents: &[Incident]) -> Result<()> {
    if incidents.is_empty() {
        return runtime.out.line("No such incident is on record.");
    }
    let row = |incident: &Incident| {
        let ago = |stamp: &Option<Stamp>| {
            let ago = stamp.as_ref().map(|stamp| desk.ago(&stamp.text));
            ago.unwrap_or_default()
        };
        let seen = incident.acked_at.is_some();
        // Documents have the words of the ledger; its filter calls these two open.
        let state = match &incident.state {
            IncidentState::Detected => "open",
            IncidentState::Alerted => "open, told",
            other => other.word(),
        };
        vec![
            incident.id.clone(),
            incident.job_id.clone(),
            if let Some(because) = &incident.closed_because {
                format!("{state}, {because}")
            } else if seen {
                format!("{state}, seen")
            } else {
                state.to_owned()
            },
            incident.failure_type.clone(),
            ago(&incident.first_seen_at),
            ago(&incident.last_seen_at),
            incident.error.lines().next().unwrap_or_default().to_owned(),
        ]
    };
    let headings = ["incident", "job", "state", "kind", "first", "last", "error"];
    let rows = incidents.iter().map(row).collect();
    let narrow = [Step::Drop("first"), Step::Drop("kind")];
    let text = layout::rows(&runtime.out, &headings, &narrow, rows);
    runtime.out.line(&text)
}
