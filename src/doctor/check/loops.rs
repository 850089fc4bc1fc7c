//! Timers of sessions: is each armed loop and heartbeat driven, and by whom.

mod budget;
pub(super) mod driver;

use jiff::Timestamp;

use self::driver::{Driver, driver};
use super::homes::{self, Few, each};
use super::{Check, Group, Outcome};
use crate::db;
use crate::doctor::evidence::stores::State;
use crate::doctor::evidence::{Evidence, HomeEvidence, Part};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity, Subject};
use crate::output::human;
use crate::sessions::rows::Maker;
use crate::timers::loop_row::LoopRow;
use crate::timers::row::Status;

/// The checks of timers.
pub(super) const CHECKS: &[Check] = &[Check {
    id: "loops",
    group: Group::Loops,
    title: "every armed loop and heartbeat is driven",
    codes: &[
        "HM701", "HM702", "HM703", "HM704", "HM705", "HM706", "HM707",
    ],
    reads: &[
        Part::Dispatcher,
        Part::Units,
        Part::Processes,
        Part::Records,
        Part::Config,
        Part::Ticker,
        Part::Owners,
        Part::State,
        Part::Registry,
    ],
    run: loops,
}];

/// The floor of a self-paced loop, in seconds: no cadence is taken for shorter.
const FLOOR: f64 = 60.0;

/// What loops and heartbeats have in common for a judge.
pub(super) struct Timer<'a> {
    /// `loop` or `heartbeat`.
    pub(super) kind: &'static str,
    /// The stored session.
    pub(super) session: &'a str,
    /// What it asks for.
    prompt: &'a str,
    /// Seconds between two wake-ups.
    cadence: f64,
    /// When it is due.
    due: Option<Timestamp>,
    /// Since when a wake-up is out and not answered.
    awaiting: Option<Timestamp>,
    /// A messaging gateway drives it.
    pub(super) routed: bool,
    /// Why our serve left it without a driver, where it did.
    left: Option<&'a str>,
    /// Whether our serve made the session.
    own: bool,
}

fn loops(evidence: &Evidence) -> Outcome {
    let mut armed = 0;
    let mut outcome = each(evidence, |home, outcome| {
        let Some(state) = homes::state(home, outcome) else {
            return;
        };
        let mut found = Few::default();
        found.extend(budget::of_heartbeats(home, state, outcome));
        for timer in timers(home, state, &mut found) {
            judge(evidence, home, (state, &timer), outcome, &mut found);
        }
        found.tell(outcome, home);
    });
    for home in &evidence.homes {
        if let Some(state) = home.databases.state.got() {
            armed += timers(home, state, &mut Few::default()).len();
        }
    }
    if outcome.findings.is_empty() && outcome.not_applicable.is_none() {
        outcome.note = Some(human::count(armed, "armed timer", "armed timers"));
    }
    outcome
}

/// The armed timers; rows that cannot be read are findings, as are budgets nearly used.
fn timers<'a>(home: &HomeEvidence, state: &'a State, found: &mut Few) -> Vec<Timer<'a>> {
    let mut timers = Vec::new();
    for stored in &state.loops {
        match &stored.row {
            Err(why) => found.extend(Some(unreadable(
                home,
                ("loop", &stored.session_id),
                &why.to_string(),
            ))),
            Ok(row) if row.status == Status::Active => {
                found.extend(budget::of_loop(home, &stored.session_id, row));
                timers.push(of_loop(state, &stored.session_id, row));
            }
            Ok(_) => {}
        }
    }
    for stored in &state.heartbeats {
        let session = &stored.session_id;
        match &stored.row {
            Err(why) => found.extend(Some(unreadable(
                home,
                ("heartbeat", session),
                &why.to_string(),
            ))),
            Ok(row) if row.status == Status::Active => {
                let anchor = row.last_fired_at.max(row.created_at);
                let cadence = seconds(row.interval_seconds);
                timers.push(Timer {
                    kind: "heartbeat",
                    session,
                    prompt: &row.prompt,
                    cadence: cadence.max(FLOOR),
                    due: (anchor > 0.0)
                        .then(|| db::instant(anchor + cadence))
                        .flatten(),
                    awaiting: None,
                    routed: driver::is_routed(state, session),
                    left: left(state, session),
                    own: is_own(state, session),
                });
            }
            Ok(_) => {}
        }
    }
    timers
}

fn seconds(whole: u64) -> f64 {
    f64::from(u32::try_from(whole).unwrap_or(u32::MAX))
}

fn is_own(state: &State, session: &str) -> bool {
    let session = state.session(session);
    session.is_some_and(|session| session.maker == Maker::Serve)
}

fn left<'a>(state: &'a State, session: &str) -> Option<&'a str> {
    state.left.get(session).map(String::as_str)
}

fn of_loop<'a>(state: &'a State, session: &'a str, row: &'a LoopRow) -> Timer<'a> {
    let cadence = row.interval_seconds.max(row.current_delay).max(FLOOR);
    let awaiting = row
        .awaiting_response
        .then(|| db::instant(row.last_fired_at));
    Timer {
        kind: "loop",
        session,
        prompt: &row.prompt,
        cadence,
        due: db::instant(row.next_due_at),
        awaiting: awaiting.flatten(),
        routed: row.is_routed(),
        left: left(state, session),
        own: is_own(state, session),
    }
}

fn subject(kind: &str, session: &str) -> Subject {
    Subject::new(kind, session)
}

fn row(home: &HomeEvidence, (kind, session): (&str, &str), observed: String) -> Observation {
    Observation::new(
        "row",
        format!("{} {kind}:{session}", home.path("state.db")),
        observed,
    )
}

/// The command that stops a timer.
fn stop(home: &HomeEvidence, (kind, session): (&str, &str)) -> Remedy {
    Remedy::user(homes::on(home, [kind, "stop"], (session, &[])), "stops it")
        .verify(homes::verify(home))
}

fn unreadable(home: &HomeEvidence, of: (&'static str, &str), why: &str) -> Finding {
    let (kind, session) = of;
    Finding::new(
        "HM704",
        subject(kind, session),
        format!("the {kind} of session {session} cannot be read: {why}"),
    )
    .seen(row(home, of, why.to_owned()))
    .remedy(
        Remedy::user(
            homes::on(home, [kind, "stop"], (session, &[])),
            "ends it, and keeps what is written there under another key",
        )
        .verify(homes::verify(home)),
    )
}

fn judge(
    evidence: &Evidence,
    home: &HomeEvidence,
    (state, timer): (&State, &Timer<'_>),
    outcome: &mut Outcome,
    found: &mut Few,
) {
    if let Some(finding) = ended(home, state, timer) {
        found.extend([finding]);
        return;
    }
    let driver = driver(evidence, home, timer);
    if let Driver::CannotTell(trouble) = &driver {
        outcome.could_not_and_it_matters(
            format!("who drives the {} of session {}", timer.kind, timer.session),
            &trouble.gap(),
        );
        return;
    }
    if let Driver::Several(pids) = &driver {
        found.extend([several(home, timer, pids)]);
    }
    match stuck(evidence, home, (state, timer)) {
        Some(finding) => found.extend([finding]),
        None => found.extend(undriven(evidence, home, timer, &driver)),
    }
}

/// The session is over, and its timer is still armed.
fn ended(home: &HomeEvidence, state: &State, timer: &Timer<'_>) -> Option<Finding> {
    let (kind, session) = (timer.kind, timer.session);
    let of = (kind, session);
    let (why, seen) = match state.session(session) {
        None => (
            "is not there any more".to_owned(),
            "no such session".to_owned(),
        ),
        Some(stored) => {
            let at = stored.ended_at?;
            let reason = stored.end_reason.as_deref().unwrap_or("unknown");
            (
                format!("has ended ({reason})"),
                format!("ended at {at}: {reason}"),
            )
        }
    };
    Some(
        Finding::new(
            "HM705",
            subject(kind, session),
            format!("the {kind} of session {session} is armed, but the session {why}"),
        )
        .seen(row(home, of, format!("active: {}", prompt(timer))))
        .seen(Observation::new(
            "row",
            format!("{} sessions {session}", home.path("state.db")),
            seen,
        ))
        .remedy(stop(home, of)),
    )
}

fn prompt(timer: &Timer<'_>) -> String {
    let first = timer.prompt.lines().next().unwrap_or_default();
    first.chars().take(60).collect()
}

fn several(home: &HomeEvidence, timer: &Timer<'_>, pids: &[i64]) -> Finding {
    let pids: Vec<_> = pids.iter().map(ToString::to_string).collect();
    let all = pids.join(", ");
    Finding::new(
        "HM707",
        subject(timer.kind, timer.session),
        format!(
            "two processes hold session {} and may both drive its {} (pids {all})",
            timer.session, timer.kind
        ),
    )
    .seen(Observation::new(
        "read",
        home.path("runtime/active_sessions.json"),
        format!("pids {all}"),
    ))
    .remedy(
        Remedy::user(
            ["kill", pids.last().map_or("PID", String::as_str)],
            "ends the second process; close the session there instead, if you can",
        )
        .until_reboot()
        .disruptive()
        .verify(homes::verify(home)),
    )
}

/// A wake-up is out, and nobody is left to answer it.
fn stuck(
    evidence: &Evidence,
    home: &HomeEvidence,
    (state, timer): (&State, &Timer<'_>),
) -> Option<Finding> {
    let since = timer.awaiting?;
    let age = evidence.now.duration_since(since).as_secs_f64();
    if age <= 2.0 * timer.cadence || has_turn(evidence, state, timer.session) {
        return None;
    }
    let (kind, session) = (timer.kind, timer.session);
    let ago = human::relative(since, evidence.now);
    Some(
        Finding::new(
            "HM702",
            subject(kind, session),
            format!("the {kind} of session {session} waits for the answer to a wake-up of {ago}"),
        )
        .seen(row(
            home,
            (kind, session),
            format!("awaiting_response, last_fired_at {since}"),
        ))
        .because_of("HM402")
        .remedy(
            Remedy::user(
                homes::on(home, ["loop", "resume"], (session, &[])),
                "gives the wake-up up that nobody will answer, and arms it again",
            )
            .verify(homes::verify(home)),
        ),
    )
}

/// Whether a turn of this session is under way: a lease that has not run out.
fn has_turn(evidence: &Evidence, state: &State, session: &str) -> bool {
    state.leases.iter().any(|lease| {
        lease.of == session && lease.expires_at.is_some_and(|until| until > evidence.now)
    })
}

fn undriven(
    evidence: &Evidence,
    home: &HomeEvidence,
    timer: &Timer<'_>,
    driver: &Driver,
) -> Option<Finding> {
    let (kind, session) = (timer.kind, timer.session);
    let due = timer.due?;
    let late = evidence.now.duration_since(due);
    let overdue = late.as_secs_f64() > timer.cadence && timer.awaiting.is_none();
    let is_there = driver.is_there();
    let ours = driver::our_serve(evidence, home).is_some();
    let when = if late.is_negative() {
        format!("next {}", human::relative(due, evidence.now))
    } else {
        format!("due {}", human::relative(due, evidence.now))
    };
    let of = (kind, session);
    if is_there && !overdue {
        // Our serve takes over what the application leaves.
        let desktop = matches!(driver, Driver::Holder { desktop: true, .. }) && !ours;
        return desktop.then(|| only_desktop(home, of, &driver.words()));
    }
    let summary = if overdue {
        let late = human::duration(late.as_secs());
        format!("the {kind} of session {session} is not driven: overdue by {late}")
    } else {
        format!("the {kind} of session {session} is armed, but nobody drives it ({when})")
    };
    let mut finding = Finding::new("HM701", subject(kind, session), summary)
        .severity(if overdue {
            Severity::Error
        } else {
            Severity::Warning
        })
        .seen(row(home, of, format!("active, {when}: {}", prompt(timer))))
        .seen(Observation::new(
            "driver",
            Driver::wanted(timer.routed),
            driver.words(),
        ));
    for cause in ["HM415", "HM403", "HM404"] {
        finding = finding.because_of(cause);
    }
    let start = if timer.routed {
        super::scheduler::ways::start(evidence, home, finding)
    } else if ours {
        // A second one would not start beside it. Without an agent it drives nothing.
        super::scheduler::ways::restart(evidence, home, finding.because_of("HM904"))
    } else {
        finding.remedy(
            Remedy::user(
                homes::ours(home, ["serve"]),
                "drives it for as long as this terminal lives",
            )
            .in_this_terminal()
            .verify(homes::verify(home)),
        )
    };
    Some(start.remedy(stop(home, of)))
}

fn only_desktop(home: &HomeEvidence, of: (&str, &str), words: &str) -> Finding {
    let (kind, session) = of;
    Finding::new(
        "HM706",
        subject(kind, session),
        format!("the {kind} of session {session} ends with the desktop application that drives it"),
    )
    .seen(Observation::new("driver", session, words))
    .remedy(
        Remedy::user(
            homes::ours(home, ["serve"]),
            "drives it without the application, for as long as this terminal lives",
        )
        .in_this_terminal()
        .verify(homes::verify(home)),
    )
}
