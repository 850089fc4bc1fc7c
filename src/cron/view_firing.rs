//! Whether anything will fire in a home, and how: over who schedules it, when somebody last ticked, the
//! emergency stop, and the way jobs would be dispatched. Pure.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::stop_file::InForce;
use super::tick_ends::{FRESH, TickEnds};
use super::zone::ZoneVariables;
use crate::dispatch::{Decision, Mode};
use crate::host::facts::{Program, Viewpoint};
use crate::host::scheduler_owner::Scheduler;
use crate::output::human;

/// What was seen of a home.
#[derive(Clone, Debug)]
pub struct Situation {
    /// Who fires its schedules.
    pub scheduler: Scheduler,
    /// When somebody last ticked.
    pub last_tick: Option<Timestamp>,
    /// When a tick last went well.
    pub last_success: Option<Timestamp>,
    /// The last tick that failed, if no good one came after it.
    pub last_error: Option<(Timestamp, String)>,
    /// The emergency stop.
    pub stop: Option<InForce>,
    /// How jobs would be dispatched; none where the host could not be looked at.
    pub dispatch: Option<Dispatch>,
    /// For how many seconds the scheduler has been running, where its process is seen.
    pub running_for: Option<i64>,
    /// Our serve ticks: neither `serve.cron` nor `--no-cron` keeps it from that.
    pub serve_ticks: bool,
    /// What our serve was told of the zone, where it ticks and its environment can be read.
    pub serve_zone: Option<ZoneVariables>,
    /// Our serve was told to stop, and waits for so many jobs.
    pub stopping: Option<u64>,
    /// Why no job that is armed would do its work, where that was looked at.
    pub all_in_vain: Option<String>,
}

/// How jobs would be dispatched, and by whom.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// Which program.
    pub program: Program,
    /// Whose point of view this is.
    pub viewpoint: Viewpoint,
    /// The decision.
    pub decision: Decision,
}

/// Whether anything will fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Firing {
    /// It will.
    Yes,
    /// Nothing will, and this is why: fragments, at least one.
    No(Vec<String>),
    /// It cannot be told, and this is why.
    CannotTell(String),
}

impl Firing {
    /// As yes or no; none where it cannot be told.
    #[must_use]
    pub fn known(&self) -> Option<bool> {
        match self {
            Self::Yes => Some(true),
            Self::No(_) => Some(false),
            Self::CannotTell(_) => None,
        }
    }

    /// Why not, as fragments.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        match self {
            Self::Yes => Vec::new(),
            Self::No(reasons) => reasons.clone(),
            Self::CannotTell(why) => vec![why.clone()],
        }
    }
}

impl Situation {
    /// Whether anything will fire.
    #[must_use]
    pub fn firing(&self, now: Timestamp) -> Firing {
        let mut reasons = Vec::new();
        if let Some(stop) = &self.stop {
            reasons.push(format!("an emergency stop is {}", stop.stop.in_force(now)));
        }
        reasons.extend(self.all_in_vain.clone());
        let fresh = self
            .last_tick
            .map(|beat| now.duration_since(beat).as_secs() <= FRESH);
        let is_starting = self.running_for.is_some_and(|age| age <= FRESH);
        match (&self.scheduler, fresh) {
            (Scheduler::None { .. }, _) => {
                reasons.push(format!("no scheduler is alive ({})", self.tick_words(now)));
            }
            (Scheduler::Serve { .. }, _) if let Some(jobs) = self.stopping => {
                reasons.push(stopping_words(jobs));
            }
            (Scheduler::Serve { .. }, _) if !self.serve_ticks => {
                reasons.push("serve was told not to tick (serve.cron, or --no-cron)".to_owned());
            }
            (Scheduler::CannotTell { why }, Some(false) | None) if reasons.is_empty() => {
                return Firing::CannotTell(format!(
                    "whether a scheduler is alive cannot be told: {why} ({})",
                    self.tick_words(now)
                ));
            }
            (Scheduler::CannotTell { .. }, _) | (_, Some(true)) => {}
            _ if is_starting => {}
            (_, None) if self.running_for.is_none() => {}
            (_, None) => reasons.push(format!(
                "the scheduler runs, but has never ticked ({})",
                self.tick_words(now)
            )),
            (_, Some(false)) => reasons.push(format!(
                "the scheduler runs, but does not tick ({})",
                self.tick_words(now)
            )),
        }
        if self.scheduler.runs() != Some(false) && fresh == Some(true) {
            reasons.extend(self.failing(is_starting, now));
        }
        if let Some(dispatch) = &self.dispatch
            && dispatch.decision.mode == Mode::Refused
        {
            reasons.push(format!("every job would be refused: {}", dispatch.why()));
        }
        if reasons.is_empty() {
            Firing::Yes
        } else {
            Firing::No(reasons)
        }
    }

    /// Why nothing comes of the ticks, where they fail. What a scheduler that has just begun finds of an
    /// earlier one is no failure; an error of its own is.
    fn failing(&self, is_starting: bool, now: Timestamp) -> Option<String> {
        let failed = self.last_error.as_ref();
        if is_starting && failed.is_none() {
            return None;
        }
        let ends = TickEnds::of(self.last_success, failed.map(|(at, _)| *at), now);
        let fault = ends.fault().filter(|_| ends.is_failing())?;
        Some(match failed {
            Some((_, error)) => format!("{fault} ({error})"),
            None => fault,
        })
    }

    /// When somebody last ticked, in words.
    #[must_use]
    pub fn tick_words(&self, now: Timestamp) -> String {
        match self.last_tick {
            Some(beat) => format!("last tick {}", human::relative(beat, now)),
            None => "no tick is on record".to_owned(),
        }
    }

    /// Who schedules, in words.
    #[must_use]
    pub fn scheduler_words(&self) -> String {
        let of = |pid: Option<u32>| pid.map_or_else(String::new, |pid| format!(", pid {pid}"));
        match &self.scheduler {
            Scheduler::Gateway {
                pid,
                multiplexed: false,
            } => format!("a gateway of Hermes Agent{}", of(*pid)),
            Scheduler::Gateway {
                pid,
                multiplexed: true,
            } => format!("the root's gateway of Hermes Agent{}", of(*pid)),
            Scheduler::Serve { pid } => format!("hermes serve{}", of(*pid)),
            Scheduler::Desktop { pid } => {
                format!("the backend of a desktop application, pid {pid}")
            }
            Scheduler::None { stale } => match stale.first() {
                Some(stale) => format!(
                    "none ({} names pid {}, which is gone)",
                    stale.file, stale.pid
                ),
                None => "none".to_owned(),
            },
            Scheduler::CannotTell { why } => format!("cannot be told: {why}"),
        }
    }

    /// The facts for `--json`.
    #[must_use]
    pub fn to_json(&self, now: Timestamp) -> Value {
        let firing = self.firing(now);
        json!({
            "will_fire": firing.known(),
            "reasons": firing.reasons(),
            "scheduler": {
                "alive": self.scheduler.runs(),
                "pid": self.scheduler.pid(),
                "what": self.scheduler_words(),
            },
            "last_tick": self.last_tick,
            "last_good_tick": self.last_success,
            "last_tick_error": self.last_error.as_ref().map(|(at, error)| json!({"at": at, "error": error})),
            "stop": self.stop.as_ref().map(|stop| json!({
                "file": stop.path,
                "reason": stop.stop.reason,
                "since": stop.stop.since,
                "until": stop.stop.until,
            })),
            "dispatch": self.dispatch.as_ref().map(Dispatch::to_json),
        })
    }
}

/// What a serve does that was told to stop: it starts nothing more.
#[must_use]
pub fn stopping_words(jobs: u64) -> String {
    match jobs {
        0 => "serve is stopping".to_owned(),
        jobs => format!(
            "serve is stopping, and waits for {}",
            human::count(usize::try_from(jobs).unwrap_or(usize::MAX), "job", "jobs")
        ),
    }
}

impl Dispatch {
    /// Why this mode, in words.
    #[must_use]
    pub fn why(&self) -> String {
        let reasons = self.decision.reasons.iter().map(|reason| reason.text());
        reasons.collect::<Vec<_>>().join("; ")
    }

    /// The mode and what becomes of a job at a restart, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let survives = match self.decision.survives_restart.known() {
            Some(true) => ", a running job survives a restart",
            Some(false) => ", a running job does not survive a restart",
            None => "",
        };
        let mode = self.decision.mode.word();
        format!("{mode}{survives} ({})", self.why())
    }

    fn to_json(&self) -> Value {
        json!({
            "mode": self.decision.mode.word(),
            "survives_restart": self.decision.survives_restart.known(),
            "reasons": self.decision.reasons.iter().map(|reason| reason.text()).collect::<Vec<_>>(),
            "viewpoint": self.viewpoint,
            "program": match self.program {
                Program::Ours => "hermes",
                Program::HermesAgent => "hermes-agent",
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;
    use crate::cron::stop::Stop;

    fn now() -> Timestamp {
        "2026-06-17T10:00:00Z".parse().unwrap()
    }

    fn served(last_tick: Option<i64>) -> Situation {
        Situation {
            scheduler: Scheduler::Serve { pid: Some(7) },
            last_tick: last_tick.map(|ago| now() - SignedDuration::from_secs(ago)),
            last_success: None,
            last_error: None,
            stop: None,
            dispatch: None,
            running_for: None,
            serve_ticks: true,
            serve_zone: None,
            stopping: None,
            all_in_vain: None,
        }
    }

    #[test]
    fn b35_a_scheduler_that_does_not_tick_fires_nothing() {
        assert_eq!(served(Some(60)).firing(now()), Firing::Yes);
        assert_eq!(
            served(None).firing(now()),
            Firing::Yes,
            "it may just have begun"
        );
        let Firing::No(reasons) = served(Some(25_200)).firing(now()) else {
            panic!("it is stalled");
        };
        assert!(reasons[0].contains("last tick 7h ago"), "{reasons:?}");
    }

    #[test]
    fn b33_a_scheduler_that_has_just_begun_is_starting_and_not_stalled() {
        let mut seen = served(Some(25_200));
        seen.running_for = Some(60);
        assert_eq!(seen.firing(now()), Firing::Yes);
        seen.last_tick = None;
        assert_eq!(seen.firing(now()), Firing::Yes);
        seen.running_for = Some(FRESH + 1);
        let reasons = seen.firing(now()).reasons();
        assert!(reasons[0].contains("has never ticked"), "{reasons:?}");
        seen.last_tick = Some(now() - SignedDuration::from_secs(25_200));
        assert_eq!(seen.firing(now()).known(), Some(false));
    }

    #[test]
    fn b40_a_scheduler_whose_ticks_fail_fires_nothing() {
        let ago = |ago| now() - SignedDuration::from_secs(ago);
        let mut seen = served(Some(20));
        seen.last_error = Some((ago(20), "OSError: no space".to_owned()));
        seen.last_success = Some(ago(100));
        assert_eq!(
            seen.firing(now()),
            Firing::Yes,
            "one failed, the next may not"
        );
        seen.last_success = Some(ago(347));
        let reasons = seen.firing(now()).reasons();
        assert_eq!(
            reasons,
            ["ticks have been failing for 5m 47s (OSError: no space)"]
        );
        seen.running_for = Some(60);
        seen.last_success = None;
        let reasons = seen.firing(now()).reasons();
        assert_eq!(reasons, ["no tick has ever ended well (OSError: no space)"]);
        // What stands there of a scheduler before it, hours ago.
        seen.last_error = None;
        seen.last_success = Some(ago(7200));
        assert_eq!(seen.firing(now()), Firing::Yes);
    }

    #[test]
    fn b52_without_a_scheduler_nothing_fires_however_fresh_the_heartbeat() {
        let mut seen = served(Some(10));
        seen.scheduler = Scheduler::None { stale: Vec::new() };
        assert_eq!(seen.firing(now()).known(), Some(false));
    }

    #[test]
    fn b45_what_cannot_be_told_is_neither_yes_nor_no_unless_somebody_ticks() {
        let mut seen = served(Some(600));
        seen.scheduler = Scheduler::CannotTell {
            why: "hidden".to_owned(),
        };
        assert_eq!(seen.firing(now()).known(), None);
        seen.last_tick = Some(now() - SignedDuration::from_secs(50));
        assert_eq!(seen.firing(now()), Firing::Yes);
    }

    #[test]
    fn where_every_job_is_refused_nothing_fires() {
        let mut seen = served(Some(5));
        seen.all_in_vain = Some("every armed job is refused".to_owned());
        assert_eq!(seen.firing(now()).known(), Some(false));
    }

    #[test]
    fn a_stop_and_a_serve_that_must_not_tick_are_told() {
        let mut seen = served(Some(5));
        seen.stop = Some(InForce {
            path: "/h/ESTOP".into(),
            stop: Stop::begin(now(), Some("rollout"), None),
        });
        assert!(seen.firing(now()).reasons()[0].contains("rollout"));
        seen.serve_ticks = false;
        assert_eq!(seen.firing(now()).reasons().len(), 2);
    }
}
