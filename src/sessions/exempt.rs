//! Why a session is kept. Every question is asked and every answer shown; none decides by its place.

use serde::Serialize;

use super::limits::Law;
use super::moment::Moment;
use super::schedule::{Asked, Schedule};
use super::session::{Owner, Session};
use crate::output::human::span;

/// What kind of reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Another surface owns it, or nobody knows who does.
    NotOurs,
    /// A live client uses it.
    Attached,
    /// Its client may still come back.
    Grace,
    /// A turn runs and makes progress.
    TurnFresh,
    /// A turn was told to stop and has time to.
    TurnStopping,
    /// A prompt waits for the user.
    PromptWaiting,
    /// It still starts.
    Starting,
    /// Others work for it.
    Delegated,
    /// serve is the sole driver of a live loop or heartbeat of it.
    SoleDriver,
}

/// How long a reason can hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Until this moment, unless it is renewed. Awake seconds.
    Until(f64),
    /// Until something happens that has a limit of its own.
    Event(&'static str),
    /// For ever: somebody lifted the limit.
    Unbounded,
}

/// One answer to one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    /// Which question.
    pub kind: Kind,
    /// Whether it keeps the session; false is an answer that was overruled or could not be had.
    pub keeps: bool,
    /// In words.
    pub text: String,
    /// How long it can hold.
    pub bound: Bound,
}

impl Reason {
    fn keeps(kind: Kind, text: impl Into<String>, bound: Bound) -> Self {
        Self {
            kind,
            keeps: true,
            text: text.into(),
            bound,
        }
    }
}

/// All reasons of a session, the overruled ones too.
#[must_use]
pub fn reasons(session: &Session, law: &Law, now: Moment) -> Vec<Reason> {
    [
        not_ours(session),
        attached(session, law, now.awake),
        grace(session, law, now.awake),
        turn(session, law, now.awake),
        prompt(session, law, now.awake),
        starting(session, law, now.awake),
        delegated(session),
        sole_driver(session, law, now.awake),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// For how long a set of reasons keeps a session, as far as can be told today.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kept {
    /// Nothing keeps it.
    No,
    /// Until this moment at most, if nothing happens. Awake seconds.
    Until(f64),
    /// Until something happens.
    Open,
}

/// For how long the session is kept from being removed, or, while a turn is to be stopped, from
/// that: a schedule protects its session, but no turn of it that makes no progress.
#[must_use]
pub fn kept(session: &Session, law: &Law, now: Moment) -> Kept {
    let mut kept = Kept::No;
    for reason in reasons(session, law, now) {
        let protects = reason.keeps && (session.turn.is_none() || reason.kind != Kind::SoleDriver);
        kept = match (protects, reason.bound, kept) {
            (false, _, kept) => kept,
            (true, Bound::Until(at), Kept::Until(other)) => Kept::Until(at.max(other)),
            (true, Bound::Until(at), Kept::No) => Kept::Until(at),
            (true, _, _) => return Kept::Open,
        };
    }
    kept
}

/// Whether anything keeps it.
#[must_use]
pub fn is_kept(session: &Session, law: &Law, now: Moment) -> bool {
    reasons(session, law, now).iter().any(|reason| reason.keeps)
}

fn not_ours(session: &Session) -> Option<Reason> {
    let text = match &session.owner {
        Owner::Ours => return None,
        Owner::Other(who) => format!("owned by {who}"),
        Owner::Unknown => "its owner is unknown; only owners reap".to_owned(),
    };
    Some(Reason::keeps(
        Kind::NotOurs,
        text,
        Bound::Event("its owner ends it"),
    ))
}

fn attached(session: &Session, law: &Law, now: f64) -> Option<Reason> {
    let client = session
        .clients
        .iter()
        .max_by(|a, b| a.1.last_used.total_cmp(&b.1.last_used))?;
    let (name, used) = (client.0, client.1.last_used);
    if law.limits.idle <= 0.0 {
        return Some(Reason::keeps(
            Kind::Attached,
            format!("{name} is attached"),
            Bound::Unbounded,
        ));
    }
    let until = used + law.limits.idle;
    (now < until).then(|| {
        let text = format!("{name} is attached and used it {} ago", span(now - used));
        Reason::keeps(Kind::Attached, text, Bound::Until(until))
    })
}

fn grace(session: &Session, law: &Law, now: f64) -> Option<Reason> {
    let detached = session.detached.as_ref()?;
    let until = detached.grace_from + session.grace(&law.limits);
    (now < until).then(|| {
        let gone = span(now - detached.since);
        let text = format!("its client left {gone} ago and may come back");
        Reason::keeps(Kind::Grace, text, Bound::Until(until))
    })
}

fn turn(session: &Session, law: &Law, now: f64) -> Option<Reason> {
    let turn = session.turn.as_ref()?;
    let asked = turn.by.words();
    if let Some(stop) = &turn.stop {
        let text = format!("turn told to stop, {}", stop.cause.words());
        return (now < stop.until)
            .then(|| Reason::keeps(Kind::TurnStopping, text, Bound::Until(stop.until)));
    }
    let until = turn.progress_at + law.limits.stale;
    (now < until).then(|| {
        let state = if turn.began {
            "running"
        } else {
            "waiting for its place"
        };
        let text = format!(
            "turn {state} since {}, asked by {asked}",
            span(now - turn.claimed_at)
        );
        Reason::keeps(Kind::TurnFresh, text, Bound::Until(until))
    })
}

fn prompt(session: &Session, law: &Law, now: f64) -> Option<Reason> {
    let since = match &session.waiting {
        Asked::Known(since) => (*since)?,
        Asked::Unreadable(why) => {
            let text = format!("cannot tell whether a prompt waits for the user: {why}");
            return Some(Reason::keeps(
                Kind::PromptWaiting,
                text,
                Bound::Event("it can be told"),
            ));
        }
    };
    let text = format!("a prompt waits for the user since {}", span(now - since));
    if law.limits.idle <= 0.0 {
        return Some(Reason::keeps(Kind::PromptWaiting, text, Bound::Unbounded));
    }
    let until = since + law.limits.idle;
    (now < until).then(|| Reason::keeps(Kind::PromptWaiting, text, Bound::Until(until)))
}

fn starting(session: &Session, law: &Law, now: f64) -> Option<Reason> {
    let until = session.starting_since? + law.limits.start;
    (now < until).then(|| Reason::keeps(Kind::Starting, "still starting", Bound::Until(until)))
}

fn delegated(session: &Session) -> Option<Reason> {
    let text = match &session.delegated {
        Asked::Known(0) => return None,
        Asked::Known(1) => "1 piece of delegated work runs".to_owned(),
        Asked::Known(n) => format!("{n} pieces of delegated work run"),
        Asked::Unreadable(why) => format!("cannot tell whether delegated work runs: {why}"),
    };
    Some(Reason::keeps(
        Kind::Delegated,
        text,
        Bound::Event("the delegated work ends"),
    ))
}

fn sole_driver(session: &Session, law: &Law, now: f64) -> Option<Reason> {
    let schedules = match &session.schedules {
        Asked::Known(schedules) => schedules,
        Asked::Unreadable(why) => {
            let text = format!("cannot tell whether a schedule is live: {why}");
            let bound = Bound::Event("it can be told");
            return Some(Reason {
                kind: Kind::SoleDriver,
                keeps: false,
                text,
                bound,
            });
        }
    };
    let live: Vec<&Schedule> = schedules
        .iter()
        .filter(|schedule| schedule.pins())
        .collect();
    let first = live.first()?;
    let names: Vec<&str> = live.iter().map(|schedule| schedule.kind.word()).collect();
    let unbounded = live.iter().any(|schedule| schedule.unbounded);
    let bound = if unbounded {
        Bound::Unbounded
    } else {
        Bound::Event("its budget is used up")
    };
    let mut text = format!("sole driver of its live {}", names.join(" and "));
    if let Some(due) = first.due_at.and_then(crate::db::instant) {
        text = format!("{text}, due at {due}");
    }
    let beaten = law.rules.settled_interrupt_beats_schedule && session.is_settled(now);
    if beaten {
        text.push_str("; overruled, as its turn did not stop and could never be claimed again");
    }
    Some(Reason {
        kind: Kind::SoleDriver,
        keeps: !beaten,
        text,
        bound,
    })
}
