//! The process that ticks a home: another home, a second one beside it, its clock.

use super::{serving, ways};
use crate::doctor::check::homes::{self, each};
use crate::doctor::check::{Check, Group, Outcome};
use crate::doctor::evidence::{Evidence, HomeEvidence, Part, Read};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity, argv};
use crate::host::facts::{Fact, ManagerKind, Program};
use crate::host::liveness::Liveness;
use crate::host::locks::Holder;
use crate::host::scheduler_owner::{reaches, stand_bys};
use crate::output::human;

/// The checks of the process behind the ticker.
pub(in crate::doctor::check) const CHECKS: &[Check] = &[
    Check {
        id: "scheduler-process",
        group: Group::Scheduler,
        title: "one process ticks this home, and it is the one that is meant",
        codes: &["HM408", "HM409", "HM411", "HM412"],
        reads: &[
            Part::Dispatcher,
            Part::Units,
            Part::Processes,
            Part::Records,
            Part::Jobs,
        ],
        run: process,
    },
    Check {
        id: "scheduler-clock",
        group: Group::Scheduler,
        title: "the scheduler's clock and zone are those of now",
        codes: &["HM413", "HM414"],
        reads: &[
            Part::Clock,
            Part::Dispatcher,
            Part::Units,
            Part::Processes,
            Part::Config,
            Part::Zone,
            Part::Files,
            Part::Ticker,
            Part::Ledger,
        ],
        run: clock,
    },
];

fn process(evidence: &Evidence) -> Outcome {
    let mut outcome = each(evidence, |home, outcome| {
        second(evidence, home, outcome);
        stand_by(evidence, home, outcome);
        storm(evidence, home, outcome);
        stale_pid(evidence, home, outcome);
    });
    if outcome.not_applicable.is_none() {
        elsewhere(evidence, &mut outcome);
    }
    outcome
}

/// The dispatcher serves a home that is not among those that are read.
fn elsewhere(evidence: &Evidence, outcome: &mut Outcome) {
    let dispatcher = &evidence.facts.dispatcher;
    let Some(process) = &dispatcher.process else {
        return;
    };
    let path = match &dispatcher.home {
        Fact::Known(path) => path,
        Fact::Unknown(gap) => {
            outcome.could_not(format!("which home {} serves", serving::name(process)), gap);
            return;
        }
    };
    let ours = |home: &HomeEvidence| reaches(process.program, path, &home.home);
    if evidence.homes.iter().any(ours) {
        return;
    }
    let Some(home) = evidence.homes.first() else {
        return;
    };
    let count = |store: &Read<usize>| match store {
        Read::Got(count) => human::count(*count, "job", "jobs"),
        Read::Absent => "no jobs".to_owned(),
        Read::Unreadable(trouble) => trouble.words(),
    };
    let here = home.jobs.clone().map(|store| store.jobs.len());
    let there = &evidence.elsewhere;
    let other = path.display().to_string();
    outcome.find(
        Finding::new(
            "HM408",
            homes::subject(home),
            format!("{} serves another home, {other}", serving::name(process)),
        )
        .because_of("HM316")
        .seen(Observation::new(
            "list",
            home.path("cron/jobs.json"),
            count(&here),
        ))
        .seen(Observation::new(
            "list",
            format!("{other}/cron/jobs.json"),
            count(there),
        ))
        .remedy(
            Remedy::user(
                ["hermes", "cron", "list", "--home", &other],
                "shows the jobs of the home that is served",
            )
            .verify(["hermes", "cron", "doctor", "--home", &other]),
        ),
    );
}

/// Two processes that tick one home.
fn second(evidence: &Evidence, home: &HomeEvidence, outcome: &mut Outcome) {
    let ticking: Vec<_> = serving::servers(evidence, home)
        .into_iter()
        .filter(|process| serving::ticks(process))
        .collect();
    let [first, second, ..] = ticking.as_slice() else {
        return;
    };
    let both = first.program != second.program
        && [first.program, second.program].contains(&Some(Program::Ours));
    let mut finding = Finding::new(
        "HM409",
        homes::subject(home),
        format!(
            "{} processes would tick this home: {}",
            ticking.len(),
            ticking
                .iter()
                .map(|process| serving::name(process))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    if let Some(remedy) = ways::end_one(evidence, home, &ticking) {
        finding = finding.remedy(remedy);
    }
    for process in &ticking {
        let uid = process
            .uid
            .known()
            .map_or(String::new(), |uid| format!(", uid {uid}"));
        let age = serving::age(evidence, process);
        let age = age.map_or(String::new(), |age| {
            format!(", for {}", human::duration(age))
        });
        finding = finding.seen(Observation::new(
            "process",
            format!("pid {}", process.pid),
            format!("{}{uid}{age}", serving::name(process)),
        ));
    }
    // Ours stands back where a gateway of the other program ticks: known, and no harm.
    outcome.find(if both {
        finding.severity(Severity::Info)
    } else {
        finding
    });
}

/// A serve that waits for the end of the one that ticks is no second one, and no fault.
fn stand_by(evidence: &Evidence, home: &HomeEvidence, outcome: &mut Outcome) {
    for process in stand_bys(&evidence.facts, &home.home) {
        outcome.saw(format!("pid {} stands by", process.pid));
    }
}

/// So many starts within so many seconds are a loop.
const STARTS: usize = 3;
const WINDOW: i64 = 15 * 60;

fn storm(evidence: &Evidence, home: &HomeEvidence, outcome: &mut Outcome) {
    let Some(records) = serving::records(evidence, home) else {
        return;
    };
    let recent: Vec<_> = records
        .gateway_starts
        .iter()
        .filter_map(|start| crate::db::instant(*start))
        .filter(|start| {
            let age = evidence.now.duration_since(*start).as_secs();
            (0..=WINDOW).contains(&age)
        })
        .collect();
    if recent.len() < STARTS {
        return;
    }
    let mut finding = Finding::new(
        "HM411",
        homes::subject(home),
        format!(
            "the gateway was started {} times in the last {}",
            recent.len(),
            human::duration(WINDOW)
        ),
    )
    .because_of("HM314")
    .because_of("HM210");
    for start in recent.iter().rev().take(5) {
        let path = home.path("gateway-starts.log");
        let words = format!("start {}", human::relative(*start, evidence.now));
        finding = finding.seen(Observation::new("read", path, words));
    }
    outcome.find(finding.remedy(why(evidence, home)));
}

/// What shows why the gateway ended each time: the journal of its unit, else that of its account.
fn why(evidence: &Evidence, home: &HomeEvidence) -> Remedy {
    let effect = "shows why it ended each time; the finding goes when it has lived for a while";
    let verify = homes::verify(home);
    let of = format!("_UID={}", evidence.facts.account.uid);
    let mut words = argv(["journalctl", "-n", "50"]);
    match ways::unit(evidence, home) {
        None => words.push(of),
        // A service account may not read the journal, not even what was said of its own units: so root
        // does. The first is what its manager says of the unit, the other what the unit says itself.
        Some(unit) if unit.manager == Some(ManagerKind::User) => {
            let said = |field: &str| format!("{field}={}", unit.name);
            words.extend([of.clone(), said("USER_UNIT"), "+".to_owned()]);
            words.extend([of, said("_SYSTEMD_USER_UNIT")]);
        }
        Some(unit) => words.extend(argv(["-u", &unit.name])),
    }
    Remedy::root(words, effect).verify(verify)
}

/// A pid file whose process has ended.
fn stale_pid(evidence: &Evidence, home: &HomeEvidence, outcome: &mut Outcome) {
    let Some(records) = serving::records(evidence, home) else {
        return;
    };
    let owner = match &records.gateway_pid {
        Fact::Known(Some(owner)) => owner,
        Fact::Known(None) => return,
        Fact::Unknown(gap) => {
            let path = home.path("gateway.pid");
            outcome.could_not(format!("whom {path} names"), gap);
            return;
        }
    };
    if !owner.liveness.is_over() {
        return;
    }
    let lock = match &records.gateway_lock_held {
        holder if holder.is_held() => return,
        Holder::CannotTell { why } => format!("cannot tell: {why}"),
        _ => "free".to_owned(),
    };
    let path = home.path("gateway.pid");
    let now = match owner.liveness {
        Liveness::Reused => "which is another process now",
        _ => "which has ended",
    };
    outcome.find(
        Finding::new(
            "HM412",
            homes::file(home, "gateway.pid"),
            format!("gateway.pid names pid {}, {now}", owner.pid),
        )
        .seen(Observation::new(
            "read",
            &path,
            format!("pid {}", owner.pid),
        ))
        .seen(Observation::new("lock", home.path("gateway.lock"), lock))
        .remedy(
            Remedy::user(["rm", &path], "removes the left-over file")
                .verify(["test", "!", "-e", &path]),
        ),
    );
}

fn clock(evidence: &Evidence) -> Outcome {
    let mut outcome = each(evidence, |home, outcome| {
        backwards(evidence, home, outcome);
        match homes::unread_config(home) {
            Some(gap) => outcome.could_not("whether the zone was changed since", &gap),
            None => zone(evidence, home, outcome),
        }
    });
    if outcome.findings.is_empty()
        && let Some(home) = evidence.homes.iter().find(|home| home.exists())
    {
        outcome.note = Some(format!("{} ({})", home.zone.name, home.zone.source));
    }
    outcome
}

/// How far ahead a stamp may be, in seconds.
const AHEAD: i64 = 60;

/// Stamps that only a clock that was set back explains.
fn backwards(evidence: &Evidence, home: &HomeEvidence, outcome: &mut Outcome) {
    let ticker = &home.ticker;
    let mut stamps = vec![
        (
            "cron/ticker_heartbeat",
            ticker.heartbeat.got().map(|beat| beat.at),
        ),
        ("cron/ticker_last_success", ticker.success.got().copied()),
    ];
    let troubles = [ticker.heartbeat.trouble(), ticker.success.trouble()];
    for trouble in troubles.into_iter().flatten() {
        outcome.could_not("whether the clock went backwards", &trouble.gap());
    }
    let ledger = homes::ledger(home, outcome);
    let claimed = ledger.and_then(|ledger| {
        let stamps = ledger
            .rows()
            .take(50)
            .filter_map(|row| row.claimed_at.as_ref()?.at);
        stamps.max()
    });
    stamps.push(("cron/executions.db", claimed));
    let ahead: Vec<_> = stamps
        .into_iter()
        .filter_map(|(file, at)| Some((file, at?)))
        .filter(|(_, at)| at.duration_since(evidence.now).as_secs() > AHEAD)
        .collect();
    let Some((_, furthest)) = ahead.iter().max_by_key(|(_, at)| *at) else {
        return;
    };
    let by = human::duration(furthest.duration_since(evidence.now).as_secs());
    let mut finding = Finding::new(
        "HM413",
        homes::subject(home),
        format!("the clock went backwards: the newest stamp is {by} ahead of it"),
    )
    .because_of("HM110");
    for (file, at) in &ahead {
        let words = format!("{at}, {}", human::relative(*at, evidence.now));
        finding = finding.seen(Observation::new("read", home.path(file), words));
    }
    outcome.find(
        finding.remedy(
            Remedy::user(
                ["timedatectl", "status"],
                "says whether the clock is synchronised",
            )
            .verify(homes::verify(home)),
        ),
    );
}

/// The zone has been changed under a running scheduler, which read it at its start.
fn zone(evidence: &Evidence, home: &HomeEvidence, outcome: &mut Outcome) {
    let servers = serving::servers(evidence, home);
    let Some(process) = servers.into_iter().find(|process| serving::ticks(process)) else {
        return;
    };
    // Ours looks for another zone at each of its passes.
    if process.program == Some(Program::Ours) {
        return;
    }
    let Some(started) = process
        .started_at
        .known()
        .copied()
        .and_then(crate::db::instant)
    else {
        return;
    };
    let hosts = home.config.text("timezone").is_none();
    let changed = evidence.facts.machine.clock.localtime_changed_at;
    let localtime = changed
        .and_then(crate::db::instant)
        .filter(|at| hosts && *at > started);
    let config = home.file("config.yaml");
    if let (Some(trouble), false) = (config.trouble(), hosts) {
        let what = format!("when {} was changed", home.path("config.yaml"));
        outcome.could_not(what, &trouble.gap());
    }
    let config = config.got().map(|stat| stat.modified);
    let config = config.filter(|at| !hosts && *at > started && *at <= evidence.now);
    let (file, at, severity) = match (localtime, config) {
        (Some(at), _) => ("/etc/localtime".to_owned(), at, Severity::Warning),
        (None, Some(at)) => (home.path("config.yaml"), at, Severity::Info),
        (None, None) => return,
    };
    let finding = Finding::new(
        "HM414",
        homes::subject(home),
        format!(
            "{file} is newer than {}: a restart is needed for a changed zone ({})",
            serving::name(process),
            home.zone.name
        ),
    )
    .severity(severity)
    .seen(Observation::new(
        "stat",
        &file,
        format!("changed {}", human::relative(at, evidence.now)),
    ))
    .seen(Observation::new(
        "process",
        format!("pid {}", process.pid),
        format!("started {}", human::relative(started, evidence.now)),
    ));
    outcome.find(ways::restart(evidence, home, finding));
}
