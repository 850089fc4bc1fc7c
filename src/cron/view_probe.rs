//! Looks at who schedules a home, at the markers of its ticker, at its emergency stop, and at the way
//! jobs would be dispatched. Reads only.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::markers::{beat, epoch, tick_error};
use super::stop_file;
use super::view_firing::{Dispatch, Situation};
use super::zone::ZoneVariables;
use crate::config::{Config, Settings};
use crate::dispatch::{Kind, Policy, decide, derive};
use crate::error::Result;
use crate::files::open_regular;
use crate::home::Home;
use crate::host::facts::Facts;
use crate::host::process_probe::{command_line, environment};
use crate::host::scheduler_owner::{Scheduler, processes, scheduler, stopping};
use crate::host::{Caller, Choice, complete, observe};

/// Longest look at the host: a bus may hang.
const DEADLINE: Duration = Duration::from_millis(2500);
/// A marker is a line.
const LONGEST: u64 = 1 << 16;

/// Looks at a home. What cannot be looked at is "cannot tell", never an error: the jobs can be listed
/// all the same.
#[must_use]
pub fn look(caller: &Caller, home: &Home, config: &Config, now: Timestamp) -> Situation {
    let settings = Settings::of(config);
    let facts = facts(caller, home, Some(home.profile()));
    let scheduler = match &facts {
        Ok(facts) => who(caller, facts, home),
        Err(error) => Scheduler::CannotTell {
            why: error.to_string(),
        },
    };
    let running_for = facts
        .as_ref()
        .ok()
        .and_then(|facts| running_for(facts, &scheduler, now));
    let serve_ticks = settings.serve.cron && !must_not_tick(&scheduler);
    let serve_zone = facts
        .as_ref()
        .ok()
        .filter(|_| serve_ticks)
        .and_then(|facts| serve_zone(facts, &scheduler));
    let stopping = facts.as_ref().ok().and_then(|facts| {
        let mut records = facts.homes.iter();
        let records = records.find(|records| records.path == home.path())?;
        Some(stopping(records)?.1.jobs)
    });
    let dispatch = facts.ok().map(|facts| {
        let (derived, _guesses) = derive(&facts);
        Dispatch {
            program: facts.dispatcher.program,
            viewpoint: facts.dispatcher.viewpoint,
            decision: decide(derived, Policy::seen(config), Kind::Job),
        }
    });
    let marker = |name: &str| text(&home.cron().join(name));
    let last_success = marker("ticker_last_success").and_then(|text| epoch(&text));
    let last_error = marker("ticker_last_error")
        .and_then(|text| tick_error(&text))
        .map(|error| (error.at, error.text));
    Situation {
        scheduler,
        last_tick: marker("ticker_heartbeat").and_then(|text| Some(beat(&text)?.at)),
        last_success,
        last_error: last_error.filter(|(failed, _)| Some(*failed) > last_success),
        stop: stop_file::in_force(home, now),
        dispatch,
        running_for,
        serve_ticks,
        serve_zone,
        stopping,
        all_in_vain: None,
    }
}

/// What our serve, where it runs and ticks, was told of the zone.
fn serve_zone(facts: &Facts, scheduler: &Scheduler) -> Option<ZoneVariables> {
    let Scheduler::Serve { pid: Some(pid) } = scheduler else {
        return None;
    };
    let seen = processes(facts).find(|process| process.pid == *pid);
    // By its lock alone it is known, where its file has another name.
    let environ = seen.map_or_else(|| environment(*pid), |process| process.environ.clone());
    let environ = environ.known()?;
    // An empty one says something too.
    Some(ZoneVariables::of(|name| {
        environ.variables.get(name).cloned()
    }))
}

/// For how many seconds the process that schedules has been running.
fn running_for(facts: &Facts, scheduler: &Scheduler, now: Timestamp) -> Option<i64> {
    let pid = scheduler.pid()?;
    let mut seen = processes(facts).filter(|process| process.pid == pid);
    let started = crate::db::instant(*seen.next()?.started_at.known()?)?;
    Some(now.duration_since(started).as_secs())
}

/// Whether the serve was told by its command line not to tick.
fn must_not_tick(scheduler: &Scheduler) -> bool {
    let Scheduler::Serve { pid: Some(pid) } = scheduler else {
        return false;
    };
    let words = command_line(&pid.to_string());
    words.iter().any(|word| word == "--no-cron")
}

/// Who fires the schedules of a home, alone.
#[must_use]
pub fn scheduler_of(caller: &Caller, home: &Home) -> Scheduler {
    match facts(caller, home, Some(home.profile())) {
        Ok(facts) => who(caller, &facts, home),
        Err(error) => Scheduler::CannotTell {
            why: error.to_string(),
        },
    }
}

fn facts(caller: &Caller, home: &Home, profile: Option<&str>) -> Result<Facts> {
    let choice = Choice {
        home: Some(home.root().path().to_path_buf()),
        profile: profile.map(str::to_owned),
        ..Choice::default()
    };
    complete(observe(&choice, caller)?, &Arc::default(), DEADLINE)
}

/// The records of the home itself first; for a profile those of its root as well, whose gateway may
/// serve it.
fn who(caller: &Caller, facts: &Facts, home: &Home) -> Scheduler {
    let of = |facts: &Facts| {
        let records = facts
            .homes
            .iter()
            .find(|records| records.path == home.path())?;
        Some(scheduler(facts, records))
    };
    let unknown = || Scheduler::CannotTell {
        why: format!("{} was not looked at in time", home.path().display()),
    };
    let first = of(facts).unwrap_or_else(unknown);
    // Which profiles a gateway of the root serves is in the records of that one.
    let by_root = matches!(
        first,
        Scheduler::Gateway {
            multiplexed: true,
            ..
        }
    );
    if (first.runs() == Some(true) && !by_root) || home.root() == *home {
        return first;
    }
    let all = self::facts(caller, home, None).ok();
    all.and_then(|facts| of(&facts)).unwrap_or(first)
}

fn text(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let mut text = String::new();
    open_regular(path)
        .ok()?
        .take(LONGEST)
        .read_to_string(&mut text)
        .ok()?;
    Some(text)
}
