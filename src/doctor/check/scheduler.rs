//! Does anything tick the jobs of a home, and does it get through.

mod absent;
pub(super) mod hosts;
pub(super) mod quiet;
pub(super) mod serving;
pub(super) mod ways;

use self::absent::{ending, nobody};
use self::serving::Beating;
use self::ways::{restart, start};
use super::homes::{self, each};
use super::{Check, Group, Outcome};
use crate::cron::tick_ends::TickEnds;
use crate::doctor::evidence::{Evidence, HomeEvidence, Part, Read};
use crate::doctor::finding::{Finding, Observation, Severity};
use crate::host::locks::Holder;
use crate::host::scheduler_owner::{self, Scheduler};
use crate::output::human;

/// The checks of the ticker.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "scheduler-ticker",
        group: Group::Scheduler,
        title: "something ticks the jobs of each home",
        codes: &["HM402", "HM403", "HM404", "HM405", "HM407"],
        reads: &[
            Part::Machine,
            Part::Dispatcher,
            Part::Units,
            Part::Processes,
            Part::Records,
            Part::Config,
            Part::Locks,
            Part::Jobs,
            Part::Ticker,
            Part::Owners,
        ],
        run: ticker,
    },
    Check {
        id: "scheduler-success",
        group: Group::Scheduler,
        title: "ticks end well",
        codes: &["HM406"],
        reads: &[
            Part::Dispatcher,
            Part::Units,
            Part::Processes,
            Part::Records,
            Part::Locks,
            Part::Ticker,
            Part::Owners,
        ],
        run: success,
    },
];

/// Beyond this a tick that holds its lock hangs, in seconds; the slowest ones that were measured took
/// under a minute.
const HUNG: i64 = 600;

/// How many jobs wait for a tick; `None` where the store cannot be read, so that there may be some.
fn waiting(home: &HomeEvidence) -> Option<usize> {
    match &home.jobs {
        Read::Got(store) => Some(store.armed().count()),
        Read::Absent => Some(0),
        Read::Unreadable(_) => None,
    }
}

fn ticker(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        let waiting = waiting(home);
        if waiting == Some(0) || !home.settings().cron.builtin_provider {
            return;
        }
        if let Some(stopping) = serving::records(evidence, home).and_then(scheduler_owner::stopping)
        {
            outcome.find(ending(evidence, home, (stopping, &count(waiting))));
            return;
        }
        let (ticking, _) = serving::runs(evidence, home);
        let beating = serving::beating(evidence, home);
        match beating {
            Beating::Fresh | Beating::Ahead(_) => saw(evidence, home, "ticking", outcome),
            Beating::Unreadable => {
                let marker = ("cron/ticker_heartbeat", &home.ticker.heartbeat);
                homes::content(home, marker, outcome);
            }
            _ if ticking && let Some(age) = starting(evidence, home) => {
                let words = format!("starting for {}", human::duration(age));
                saw(evidence, home, &words, outcome);
            }
            _ if ticking && let Some(root) = passed_over(evidence, home) => {
                outcome.find(unowned(evidence, (home, root), &count(waiting)));
            }
            Beating::Stale(age) if ticking => stalled(evidence, home, age, outcome),
            Beating::Never if ticking => silent(evidence, home, outcome),
            // A tick by hand beside it: how it stands itself is known when that is old.
            Beating::Orphaned if ticking => saw(
                evidence,
                home,
                "ticked by a process that has ended",
                outcome,
            ),
            state => nobody(evidence, home, (state, waiting), outcome),
        }
    })
}

/// What was seen of a home: of which, where there are several.
fn saw(evidence: &Evidence, home: &HomeEvidence, words: &str, outcome: &mut Outcome) {
    outcome.saw(match evidence.homes.len() {
        1 => words.to_owned(),
        _ => format!("{}: {words}", home.home.profile()),
    });
}

/// For how many seconds what is to tick this home has been starting (B33): it need not have ticked yet.
fn starting(evidence: &Evidence, home: &HomeEvidence) -> Option<i64> {
    let age = oldest(evidence, home)?;
    (age <= serving::FRESH).then_some(age.max(0))
}

/// How many seconds ago the oldest was started of those that tick this home; where one of them does not
/// tell, nothing is made of the others.
fn oldest(evidence: &Evidence, home: &HomeEvidence) -> Option<i64> {
    let servers = serving::servers(evidence, home).into_iter();
    let ticking = servers.filter(|process| serving::ticks(process));
    let ages = ticking.map(|process| serving::age(evidence, process));
    ages.collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// The root, whose gateway serves this profile too and ticks at home: it goes round its profiles every
/// minute, and does not come by here.
fn passed_over<'a>(evidence: &'a Evidence, home: &HomeEvidence) -> Option<&'a HomeEvidence> {
    let multiplexed = matches!(
        serving::owner(evidence, home),
        Some(Scheduler::Gateway {
            multiplexed: true,
            ..
        })
    );
    let root = home.home.root();
    let mut homes = evidence.homes.iter();
    let root = homes.find(|other| other.home == root && serving::is_ticked(evidence, other))?;
    (multiplexed && !home.tick_lock.is_held()).then_some(root)
}

fn count(waiting: Option<usize>) -> String {
    waiting.map_or_else(
        || "jobs that cannot be counted".to_owned(),
        |count| human::count(count, "job", "jobs"),
    )
}

/// Nobody ticks this profile, while another home is ticked.
fn unowned(
    evidence: &Evidence,
    (home, neighbour): (&HomeEvidence, &HomeEvidence),
    jobs: &str,
) -> Finding {
    let finding = Finding::new(
        "HM407",
        homes::subject(home),
        format!(
            "no ticker owns the store of profile {} ({jobs}), while {} is ticked",
            home.home.profile(),
            neighbour.home.profile()
        ),
    )
    .seen(last_tick(evidence, home));
    // A gateway takes up a new profile at its start, and suffers no second one beside it; our serve has
    // one home, so that a profile wants one of its own.
    let gateway = matches!(
        serving::owner(evidence, neighbour),
        Some(Scheduler::Gateway { .. })
    );
    if !gateway {
        return start(evidence, home, finding);
    }
    let mut finding = restart(evidence, neighbour, finding);
    for remedy in &mut finding.remedies {
        remedy.verify = homes::verify(home);
    }
    finding
}

fn last_tick(evidence: &Evidence, home: &HomeEvidence) -> Observation {
    let path = home.path("cron/ticker_heartbeat");
    let observed = match &home.ticker.heartbeat {
        Read::Got(beat) => {
            let pid = beat
                .pid
                .map_or_else(String::new, |pid| format!(", by pid {pid}"));
            format!("last tick {}{pid}", human::relative(beat.at, evidence.now))
        }
        Read::Absent => "no heartbeat was ever written".to_owned(),
        Read::Unreadable(trouble) => trouble.words(),
    };
    Observation::new("read", path, observed)
}

/// A process that should tick is there, and its heartbeat is old.
fn stalled(evidence: &Evidence, home: &HomeEvidence, age: i64, outcome: &mut Outcome) {
    // A heartbeat that is older than every process that ticks was written under another clock, or by
    // another process: no more is known than how long these have run.
    let age = oldest(evidence, home).map_or(age, |oldest| age.min(oldest));
    let lock = home.path("cron/.tick.lock");
    let since = human::duration(age);
    let (finding, observed) = match &home.tick_lock {
        holder if holder.is_held() => {
            let who = holder.pids().first();
            let who = who.map_or_else(|| "nobody here".to_owned(), |pid| format!("pid {pid}"));
            let hung = age > HUNG;
            let words = if hung { "hangs" } else { "has been running" };
            let summary = format!("a tick {words} for {since}; {who} holds the tick lock");
            let severity = if hung {
                Severity::Error
            } else {
                Severity::Warning
            };
            let finding = Finding::new("HM404", homes::subject(home), summary).severity(severity);
            (finding, format!("held by {who}"))
        }
        Holder::CannotTell { why } => (dead(home, &since), format!("cannot tell: {why}")),
        _ => (dead(home, &since), "free".to_owned()),
    };
    let finding = finding
        .because_of("HM111")
        .seen(last_tick(evidence, home))
        .seen(Observation::new("lock", lock, observed));
    outcome.find(restart(evidence, home, finding));
}

fn dead(home: &HomeEvidence, since: &str) -> Finding {
    Finding::new(
        "HM403",
        homes::subject(home),
        format!("the process runs, but its ticker has been dead for {since}"),
    )
    .because_of("HM481")
}

/// A process that should tick is there and has never done so.
fn silent(evidence: &Evidence, home: &HomeEvidence, outcome: &mut Outcome) {
    let mut servers = serving::servers(evidence, home);
    servers.retain(|process| serving::ticks(process));
    let who = servers.first().map(|process| serving::name(process));
    let who = who.unwrap_or_else(|| "a process".to_owned());
    // B107: whoever waits for the lock schedules nothing, and says so nowhere.
    let holder = home.tick_lock.is_held().then(|| home.tick_lock.pids());
    let why = match holder {
        Some([pid, ..]) => format!("; not scheduling: pid {pid} holds the tick lock"),
        Some([]) => "; not scheduling: the tick lock is held from elsewhere".to_owned(),
        None => String::new(),
    };
    let summary = format!("{who} runs, but has never ticked here{why}");
    let mut finding =
        Finding::new("HM405", homes::subject(home), summary).seen(last_tick(evidence, home));
    if holder.is_some() {
        let lock = home.path("cron/.tick.lock");
        finding = finding.seen(Observation::new("lock", lock, "held"));
    }
    outcome.find(restart(evidence, home, finding));
}

fn success(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        let ticker = &home.ticker;
        let (beat, error) = (ticker.heartbeat.trouble(), ticker.error.trouble());
        let troubles = [beat, ticker.success.trouble(), error];
        if let Some(trouble) = troubles.into_iter().flatten().next() {
            outcome.could_not("whether ticks end well", &trouble.gap());
            return;
        }
        if serving::beating(evidence, home) != Beating::Fresh {
            return;
        }
        let words = ticker.error.got().map(|error| error.text.as_str());
        let good = ticker.success.got().copied();
        let failed = ticker.error.got().map(|error| error.at);
        let ends = TickEnds::of(good, failed, evidence.now);
        let Some(summary) = ends.fault() else { return };
        let severity = if ends.is_failing() {
            Severity::Error
        } else {
            Severity::Warning
        };
        let mut finding = Finding::new("HM406", homes::subject(home), summary)
            .severity(severity)
            .because_of("HM805")
            .because_of("HM802")
            .because_of("HM803")
            .because_of("HM806")
            .because_of("HM807")
            .because_of("HM481")
            .seen(last_tick(evidence, home));
        if let Some(words) = words.filter(|_| failed > good) {
            let path = home.path("cron/ticker_last_error");
            finding = finding.seen(Observation::new("read", path, words));
        }
        if let Some(holder) = lock(home) {
            finding = finding.seen(holder);
        }
        outcome.find(restart(evidence, home, finding));
    })
}

/// Who holds the tick lock, where somebody does.
fn lock(home: &HomeEvidence) -> Option<Observation> {
    let words = home.tick_holder.as_str();
    let path = || home.path("cron/.tick.lock");
    (!words.is_empty()).then(|| Observation::new("lock", path(), words))
}
