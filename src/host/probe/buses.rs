//! The bus part of the second stage: one single-threaded runtime on a thread of its own, and one allowance
//! of time for all that is asked.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::bounded::{Started, start};
use crate::bus::{
    Failure, FailureKind, LogindReport, Patience, Placement, SessionBusReport, SystemBusReport,
};
use crate::clock::Clock;
use crate::host::bus_probe::{
    BusFacts, Managers, Places, Subject, linger_marker, probe, runtime_dir,
};
use crate::host::facts::{Fact, Gap, GapKind, ManagerKind, UnitFacts};
use crate::host::unit_probe::{dispatcher_units, from_unit};

/// What the buses say.
pub(super) struct Answers {
    /// Doors, logind, linger.
    pub(super) facts: BusFacts,
    /// Units as their managers describe them.
    pub(super) units: Vec<UnitFacts>,
    /// Why the managers could not be asked for theirs.
    pub(super) gap: Option<Gap>,
}

/// What the buses may still take in this run: all of them together, however often and whatever they are
/// asked. What is mute is waited for once.
#[derive(Debug)]
pub(super) struct Allowance(Duration);

/// Questions that are under way, and since when.
pub(super) struct Asked {
    answers: Started<Option<Answers>>,
    since: Duration,
    within: Duration,
}

/// What of the wait for answers is kept to bring home those that there are.
const SLACK: Duration = Duration::from_millis(100);

impl Allowance {
    /// The allowance of a run that ends in so much time.
    pub(super) fn of(deadline: Duration) -> Self {
        Self(Patience::default().total.min(deadline))
    }

    /// Starts to ask. `named` are units to ask for beside those that look like a dispatcher's.
    pub(super) fn ask(
        &self,
        clock: &dyn Clock,
        subject: Subject,
        named: Vec<(String, ManagerKind)>,
    ) -> Asked {
        let within = self.0.saturating_sub(SLACK);
        let answers = start("buses", move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .ok()?;
            Some(runtime.block_on(answers(&subject, &named, within)))
        });
        Asked {
            answers,
            since: clock.now().monotonic,
            within: self.0,
        }
    }

    /// Waits for the answers, and takes from the allowance what that took.
    pub(super) fn wait(&mut self, clock: &dyn Clock, asked: Asked) -> Option<Answers> {
        let answers = asked.answers.wait(asked.within).flatten();
        let took = clock.now().monotonic.saturating_sub(asked.since);
        self.0 = self.0.saturating_sub(took);
        answers
    }
}

async fn answers(subject: &Subject, named: &[(String, ManagerKind)], within: Duration) -> Answers {
    let until = Instant::now() + within;
    let patience = Patience {
        total: within,
        stage: Patience::default().stage.min(within),
    };
    let (facts, managers) = probe(subject, &Places::default(), patience).await;
    let units = timeout_at(until, dispatcher_units(&managers)).await;
    let (mut units, gap) = match units {
        Ok(Fact::Known(units)) => (units, None),
        Ok(Fact::Unknown(gap)) => (Vec::new(), Some(gap)),
        Err(_) => (Vec::new(), Some(late_gap())),
    };
    for (name, manager) in named {
        let known = |unit: &UnitFacts| unit.name == *name && unit.manager == Some(*manager);
        if !units.iter().any(known) {
            let asking = one(&managers, name, *manager);
            units.extend(timeout_at(until, asking).await.ok().flatten());
        }
    }
    Answers { facts, units, gap }
}

async fn one(managers: &Managers, name: &str, manager: ManagerKind) -> Option<UnitFacts> {
    let client = match manager {
        ManagerKind::System => managers.system.as_ref(),
        ManagerKind::User => managers.user.as_ref(),
    };
    // What its manager has not loaded does not run; whether it is installed its file tells.
    let idle = || UnitFacts {
        name: name.to_owned(),
        manager: Some(manager),
        active_state: Some("inactive".to_owned()),
        ..UnitFacts::default()
    };
    let asked = client?.unit(name).await.ok()?;
    Some(asked.map_or_else(idle, |unit| from_unit(&unit, manager)))
}

/// Why nothing is known of units then.
pub(super) fn late_gap() -> Gap {
    Gap {
        kind: GapKind::Deadline,
        why: "the buses did not answer in time".to_owned(),
        would_tell: Vec::new(),
    }
}

/// What is left to say of buses that never answered.
pub(super) fn late(subject: &Subject) -> BusFacts {
    let places = Places::default();
    let mute = || Failure::said(FailureKind::Mute, "no answer before the deadline over all");
    BusFacts {
        runtime_dir: runtime_dir(subject, &places),
        session_bus: SessionBusReport {
            uid: subject.uid,
            doors: Vec::new(),
            placement: Placement::Unknown(mute()),
            not_tried: Some(mute()),
        },
        system_bus: SystemBusReport {
            doors: Vec::new(),
            logind: LogindReport {
                failure: Some(mute()),
                ..LogindReport::default()
            },
            user_manager: None,
            user_manager_failure: Some(mute()),
        },
        linger_marker: linger_marker(&places.linger, subject.name.as_deref().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;

    /// However often the buses are asked, what is mute takes a second and a half of the run, and no more.
    #[test]
    fn mute_buses_are_waited_for_once_and_not_at_each_question() {
        let clock = ManualClock::at(jiff::Timestamp::UNIX_EPOCH);
        let mut buses = Allowance::of(Duration::from_secs(10));
        let mut waited = Vec::new();
        for took in [600, 700, 5_000, 5_000] {
            let asked = Asked {
                answers: start("test", || None),
                since: clock.now().monotonic,
                within: buses.0,
            };
            waited.push(asked.within.as_millis());
            clock.advance(Duration::from_millis(took).min(asked.within));
            assert!(buses.wait(&clock, asked).is_none());
        }
        assert_eq!(waited, [1_500, 900, 200, 0]);
        assert_eq!(Allowance::of(Duration::from_millis(50)).0.as_millis(), 50);
    }
}
