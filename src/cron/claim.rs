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

/// Who holds a claim, as its `by` names him: `host:pid`, or the name that a machine was given; in the claim
/// of a run a token stands behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder<'a> {
    /// The host, or the machine's name.
    pub host: &'a str,
    /// The process; a machine that was given a name has none.
    pub pid: Option<u32>,
    /// What tells its runs from each other: 32 hex digits.
    pub token: Option<&'a str>,
}

impl<'a> Holder<'a> {
    /// Reads a `by`, or the name of a machine.
    #[must_use]
    pub fn parse(by: &'a str) -> Self {
        let number = |text: &str| text.parse::<u32>().ok();
        let (machine, token) = match by.rsplit_once(':') {
            Some((machine, token)) if number(token).is_none() => (machine, Some(token)),
            _ => (by, None),
        };
        let pid = machine
            .rsplit_once(':')
            .and_then(|(host, pid)| Some((host, number(pid)?)));
        Self {
            host: pid.map_or(machine, |(host, _)| host),
            pid: pid.map(|(_, pid)| pid),
            token,
        }
    }

    /// The process, where it is one of this host.
    #[must_use]
    pub fn pid_on(self, host: &str) -> Option<u32> {
        self.pid.filter(|_| self.host == host)
    }

    /// The same claim in the hands of another process of the host.
    #[must_use]
    pub fn handed_to(self, pid: u32) -> String {
        format!("{}:{pid}:{}", self.host, self.token.unwrap_or_default())
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

/// Whether a job is to fire: switched on, not paused, not at its end.
#[must_use]
pub fn is_armed(job: &Job<'_>) -> bool {
    job.is_enabled() && !job.has_pause_marker() && !job.is_terminal()
}

/// What stands against a claim of a job, if anything does.
#[must_use]
pub fn obstacle(
    job: &Job<'_>,
    claimant: Claimant<'_>,
    now: Timestamp,
    zone: &TimeZone,
) -> Option<Obstacle> {
    if !claimant.manual && !is_armed(job) {
        return Some(Obstacle::NotArmed);
    }
    let held = job.fire_claim().filter(|held| {
        held.by != claimant.by && is_fresh(held.at, now, zone) && !claimant.holder_is_gone
    })?;
    Some(Obstacle::Held {
        by: held.by.to_owned(),
        at: held.at.to_owned(),
    })
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
    if let Some(obstacle) = obstacle(&Job::read(job), claimant, now, zone) {
        return Err(obstacle);
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
    fn a_holder_is_read_in_one_way() {
        let holder = |host, pid, token| Holder { host, pid, token };
        for (by, read) in [
            ("box:42:00ff", holder("box", Some(42), Some("00ff"))),
            ("box:42", holder("box", Some(42), None)),
            ("build-7:00ff", holder("build-7", None, Some("00ff"))),
            ("build-7", holder("build-7", None, None)),
            ("a:b:42:00ff", holder("a:b", Some(42), Some("00ff"))),
            ("box:-1", holder("box", None, Some("-1"))),
            ("", holder("", None, None)),
        ] {
            assert_eq!(Holder::parse(by), read, "{by}");
        }
        let digits = format!("box:42:{}", "1".repeat(32));
        assert_eq!(Holder::parse(&digits).pid, Some(42));
        assert_eq!(Holder::parse("box:42:ff").pid_on("box"), Some(42));
        assert_eq!(Holder::parse("boxer:42:ff").pid_on("box"), None);
        assert_eq!(Holder::parse("box:42:ff").handed_to(7), "box:7:ff");
        assert_eq!(Holder::parse("build-7:ff").handed_to(7), "build-7:7:ff");
    }

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
        // Of this very moment, and our own.
        let mut new = held("2026-06-17T10:00:00+00:00");
        assert!(matches!(ask(&mut new, TICKER), Err(Obstacle::Held { .. })));
        let ours = Claimant {
            by: "h:9:bb",
            ..TICKER
        };
        assert_eq!(ask(&mut new, ours), Ok(()));
        let pair = ("h:1:aa", "h:7:cc", Settles::Naive(now()));
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
