//! The claim that a running job holds in its record: who runs it, and that he still does. Pure
//! changes; the shape and the lifetimes are the other program's, whose schedulers read it too.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::finish::Settles;
use super::job::Job;
use super::job_list::JobList;
use super::stamp::Stamp;
use crate::clock::iso;

/// A claim that was not renewed for so long is nobody's.
pub const LIFE: SignedDuration = SignedDuration::from_secs(300);

/// What stands against a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The job is gone.
    Gone,
    /// It was paused, or has ended, since it was found due.
    NotArmed,
    /// Somebody runs it.
    Held {
        /// Who.
        by: String,
        /// Since when, or renewed when.
        at: String,
    },
}

impl Obstacle {
    /// In words.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Gone => "it was removed before it could start".to_owned(),
            Self::NotArmed => "it was paused, or ended, before it could start".to_owned(),
            Self::Held { by, at } => format!("a run of it is still going on, by {by} since {at}"),
        }
    }
}

/// Who asks, and what he knows.
#[derive(Clone, Copy, Debug)]
pub struct Claimant<'a> {
    /// `machine:32 hex digits`.
    pub by: &'a str,
    /// Whoever holds the claim now is known to be gone.
    pub holder_is_gone: bool,
    /// A person asks: a paused job runs too.
    pub manual: bool,
}

/// Takes the claim of a job.
///
/// # Errors
/// What stands against it; the job is as it was.
pub fn take(
    jobs: &mut JobList<'_>,
    id: &str,
    claimant: Claimant<'_>,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<(), Obstacle> {
    let job = jobs.find(id).ok_or(Obstacle::Gone)?;
    {
        let view = Job::read(job);
        let armed = view.is_enabled() && !view.has_pause_marker() && !view.is_terminal();
        if !claimant.manual && !armed {
            return Err(Obstacle::NotArmed);
        }
        if let Some(held) = view.fire_claim()
            && held.by != claimant.by
            && is_fresh(held.at, now, zone)
            && !claimant.holder_is_gone
        {
            return Err(Obstacle::Held {
                by: held.by.to_owned(),
                at: held.at.to_owned(),
            });
        }
    }
    job.insert(
        "fire_claim".into(),
        json!({ "at": iso(now, zone), "by": claimant.by }),
    );
    Ok(())
}

/// Hands a claim on to the worker that runs the job now, so that whoever looks at it sees the process
/// that lives or not; the slot is off the schedule for good. Says whether the claim was the one given.
pub fn hand_on(
    jobs: &mut JobList<'_>,
    id: &str,
    (from, to, settles): (&str, &str, Settles),
    now: Timestamp,
    zone: &TimeZone,
) -> bool {
    if !renew(jobs, id, from, now, zone) {
        return false;
    }
    if let Some(job) = jobs.find(id) {
        job.insert(
            "fire_claim".into(),
            json!({ "at": iso(now, zone), "by": to }),
        );
        settles.settle(job, zone);
    }
    true
}

/// A claim of the future is as stale as one of long ago.
fn is_fresh(at: &str, now: Timestamp, zone: &TimeZone) -> bool {
    let at = Stamp::parse(at).and_then(|stamp| stamp.instant(zone));
    at.is_some_and(|at| at <= now && now.duration_since(at) < LIFE)
}

/// Renews our claim, and says whether it did; somebody else's, or none, stays as it is.
pub fn renew(jobs: &mut JobList<'_>, id: &str, by: &str, now: Timestamp, zone: &TimeZone) -> bool {
    let ours = jobs.find(id).filter(|job| {
        let held = job.get("fire_claim").and_then(|held| held.get("by"));
        held.and_then(Value::as_str) == Some(by)
    });
    let Some(job) = ours else { return false };
    job.insert(
        "fire_claim".into(),
        json!({ "at": iso(now, zone), "by": by }),
    );
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(job: &Value) -> JobList<'static> {
        vec![job.as_object().unwrap().clone()].into()
    }

    fn now() -> Timestamp {
        "2026-06-17T10:00:00Z".parse().unwrap()
    }

    fn ask(jobs: &mut JobList<'_>, claimant: Claimant<'_>) -> Result<(), Obstacle> {
        take(jobs, "a", claimant, now(), &TimeZone::UTC)
    }

    const TICKER: Claimant<'static> = Claimant {
        by: "h:1:aa",
        holder_is_gone: false,
        manual: false,
    };

    #[test]
    fn b62_a_job_that_was_paused_or_removed_meanwhile_does_not_start() {
        let mut paused =
            jobs(&json!({"id": "a", "enabled": false, "state": "paused", "paused_at": "x"}));
        assert_eq!(ask(&mut paused, TICKER), Err(Obstacle::NotArmed));
        assert_eq!(
            ask(
                &mut paused,
                Claimant {
                    manual: true,
                    ..TICKER
                }
            ),
            Ok(())
        );
        assert_eq!(ask(&mut JobList::default(), TICKER), Err(Obstacle::Gone));
    }

    #[test]
    fn b97_a_claim_holds_while_it_is_renewed_and_its_holder_lives() {
        let held = |at: &str| {
            jobs(&json!({"id": "a", "enabled": true, "state": "scheduled",
                "fire_claim": {"at": at, "by": "h:9:bb"}, "pending_slot": {}}))
        };
        let mut fresh = held("2026-06-17T09:56:00+00:00");
        assert!(matches!(
            ask(&mut fresh, TICKER),
            Err(Obstacle::Held { .. })
        ));
        assert_eq!(
            ask(
                &mut fresh,
                Claimant {
                    holder_is_gone: true,
                    ..TICKER
                }
            ),
            Ok(())
        );
        assert!(
            fresh.got(0).unwrap().contains_key("pending_slot"),
            "until a worker has the row, the slot can still be restored"
        );
        let pair = ("h:1:aa", "h:7:cc", Settles::Whichever);
        assert!(hand_on(&mut fresh, "a", pair, now(), &TimeZone::UTC));
        assert_eq!(fresh.got(0).unwrap()["fire_claim"]["by"], "h:7:cc");
        assert!(!fresh.got(0).unwrap().contains_key("pending_slot"));
        for stale in [
            "2026-06-17T09:55:00+00:00",
            "2026-06-17T11:00:00+00:00",
            "nonsense",
        ] {
            assert_eq!(ask(&mut held(stale), TICKER), Ok(()), "{stale}");
        }
    }

    #[test]
    fn b102_a_long_run_renews_its_claim_and_nobody_elses() {
        let mut held = jobs(&json!({"id": "a", "fire_claim": {"at": "x", "by": "h:1:aa"}}));
        assert!(!renew(&mut held, "a", "h:2:bb", now(), &TimeZone::UTC));
        assert!(renew(&mut held, "a", "h:1:aa", now(), &TimeZone::UTC));
        assert_eq!(
            held.got(0).unwrap()["fire_claim"]["at"],
            "2026-06-17T10:00:00+00:00"
        );
    }
}
