//! The plan of a reaper's run: what each session gets, and every reason why. `session reap
//! --dry-run` prints it; the real run executes it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::exempt::{Bound, Kept, Kind, Reason, kept, reasons};
use super::limits::{Law, Limits};
use super::moment::Moment;
use super::reaper::{Claim, Reaper, cap, idle, orphan, sweep};
use super::session::Session;

/// What a session gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It stays.
    Keep,
    /// Its turn is stopped; it is looked at again.
    Interrupt(Reaper),
    /// It is removed.
    Reap(Reaper),
}

/// One session in the plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Its runtime id.
    pub id: String,
    /// Its id in the store.
    pub stored_id: String,
    /// What it gets.
    pub verdict: Verdict,
    /// The first reason that keeps or condemns it.
    pub because: String,
    /// Who holds it.
    pub holder: Option<String>,
    /// When it is looked at again, where that is known. Awake seconds.
    pub next_check: Option<f64>,
    /// Whether something keeps it without any bound.
    pub unbounded: bool,
    /// All reasons, the overruled ones too.
    pub reasons: Vec<Reason>,
    /// What each reaper claims.
    pub claims: Vec<(Reaper, Claim)>,
}

/// The plan.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Plan {
    /// The sessions judged, in the order in which they were given.
    pub rows: Vec<Row>,
    /// How many were left out, by why.
    pub left_out: BTreeMap<String, u64>,
    /// What the zeros among the limits mean.
    pub lifted: Vec<&'static str>,
}

/// Judges sessions by some of the reapers. Ended sessions are left out and counted.
#[must_use]
pub fn plan(sessions: &[Session], which: &[Reaper], law: &Law, now: Moment) -> Plan {
    let mut left_out = BTreeMap::new();
    let mut judged: Vec<Session> = Vec::with_capacity(sessions.len());
    for session in sessions {
        if let Some(end) = &session.ended {
            *left_out.entry(format!("ended: {end}")).or_insert(0) += 1;
        } else {
            judged.push(session.clone());
        }
    }
    let claims: Vec<(Reaper, Vec<Claim>)> = which
        .iter()
        .map(|reaper| (*reaper, ask(*reaper, &judged, &law.limits, now)))
        .collect();
    let mut rows: Vec<Row> = Vec::with_capacity(judged.len());
    for (index, session) in judged.iter().enumerate() {
        let own: Vec<(Reaper, Claim)> = claims
            .iter()
            .filter_map(|(reaper, all)| all.get(index).map(|claim| (*reaper, claim.clone())))
            .collect();
        rows.push(row(session, own, law, now));
    }
    evict(&mut rows);
    Plan {
        rows,
        left_out,
        lifted: law.limits.lifted(),
    }
}

/// The verdict of one reaper on one session. The cap has none for a single session.
#[must_use]
pub fn judge(session: &Session, reaper: Reaper, law: &Law, now: Moment) -> Option<Row> {
    plan(std::slice::from_ref(session), &[reaper], law, now)
        .rows
        .pop()
}

fn ask(reaper: Reaper, sessions: &[Session], limits: &Limits, now: Moment) -> Vec<Claim> {
    match reaper {
        Reaper::Orphan => orphan::claims(sessions, limits, now),
        Reaper::Idle => idle::claims(sessions, limits, now),
        Reaper::Cap => cap::claims(sessions, limits, now),
        Reaper::Sweep => sweep::claims(sessions, limits, now),
    }
}

fn row(session: &Session, claims: Vec<(Reaper, Claim)>, law: &Law, now: Moment) -> Row {
    let reasons = reasons(session, law, now);
    let keeping: Vec<&Reason> = reasons.iter().filter(|reason| reason.keeps).collect();
    let unbounded = keeping
        .iter()
        .any(|reason| reason.bound == Bound::Unbounded);
    let condemned = claims.iter().find_map(|(reaper, claim)| match claim {
        Claim::Take(why) => Some((Verdict::Reap(*reaper), why.clone())),
        Claim::Interrupt(why) => Some((Verdict::Interrupt(*reaper), why.clone())),
        Claim::Pass { .. } | Claim::Surplus { .. } => None,
    });
    let passed = claims.iter().find_map(|(_, claim)| match claim {
        Claim::Pass { why, .. } => Some(why.clone()),
        _ => None,
    });
    // A schedule protects its session, but no turn of it that makes no progress.
    let interrupts = matches!(condemned, Some((Verdict::Interrupt(_), _)));
    let veto = keeping
        .iter()
        .find(|reason| !interrupts || reason.kind != Kind::SoleDriver);
    let (verdict, because) = match (condemned, veto) {
        (_, Some(reason)) => (Verdict::Keep, reason.text.clone()),
        (Some((verdict, why)), None) => (verdict, why),
        (None, None) => (
            Verdict::Keep,
            passed.unwrap_or_else(|| "within the cap".to_owned()),
        ),
    };
    let next_check = next_check(session, &claims, law, now);
    Row {
        id: session.id.clone(),
        stored_id: session.stored_id.clone(),
        verdict,
        because,
        holder: session.holder(),
        next_check,
        unbounded,
        reasons,
        claims,
    }
}

fn next_check(
    session: &Session,
    claims: &[(Reaper, Claim)],
    law: &Law,
    now: Moment,
) -> Option<f64> {
    match kept(session, law, now) {
        Kept::Until(at) => Some(at),
        Kept::Open => None,
        Kept::No => claims
            .iter()
            .filter_map(|(_, claim)| match claim {
                Claim::Pass { next_check, .. } => *next_check,
                _ => None,
            })
            .filter(|at| *at > now.awake)
            .min_by(f64::total_cmp),
    }
}

/// The cap takes as many as there are too many, of those that nothing keeps, oldest use first.
fn evict(rows: &mut [Row]) {
    let mut surplus: Vec<(usize, usize, usize)> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        for (_, claim) in &row.claims {
            if let Claim::Surplus { place, excess } = claim {
                surplus.push((*place, index, *excess));
            }
        }
    }
    surplus.sort_unstable();
    let mut left = surplus.first().map_or(0, |(_, _, excess)| *excess);
    // Sessions that another reaper takes anyway free their slots too.
    for (_, index, _) in &surplus {
        if rows
            .get(*index)
            .is_some_and(|row| matches!(row.verdict, Verdict::Reap(_)))
        {
            left = left.saturating_sub(1);
        }
    }
    for (_, index, excess) in surplus {
        let Some(row) = rows.get_mut(index).filter(|_| left > 0) else {
            break;
        };
        if row.verdict == Verdict::Keep && !row.reasons.iter().any(|reason| reason.keeps) {
            row.verdict = Verdict::Reap(Reaper::Cap);
            row.because = format!("{excess} more than the cap, and used longest ago");
            left -= 1;
        }
    }
}
