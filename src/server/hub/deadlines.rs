//! The one table of what is due: by session, on two clocks. Awake time for graces and turns, wall
//! time for schedules.

use std::collections::{BTreeSet, HashMap};

use crate::sessions::moment::Moment;

/// Whose deadline it is: a session, or serve itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Whose {
    /// A session, by its runtime id.
    Session(String),
    /// Serve.
    Chore(Chore),
}

/// What serve does now and then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Chore {
    /// The look at all sessions.
    Maintenance,
    /// The cap, soon after a session was made or resumed.
    Cap,
    /// The sign of life in the store.
    Life,
    /// The end of sessions that an earlier serve left open.
    Sweep,
    /// Another try at a store that could not be read.
    Load,
}

/// Microseconds, so that deadlines have an order. Floats of this size are exact to a quarter of one,
/// so that a moment and the same moment computed differently are one deadline.
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

/// The table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deadlines {
    awake: BTreeSet<(i64, Whose)>,
    wall: BTreeSet<(i64, Whose)>,
    of: HashMap<Whose, (Option<i64>, Option<i64>)>,
}

impl Deadlines {
    /// Sets both deadlines of one; infinite is none.
    pub(crate) fn set(&mut self, whose: Whose, awake: Option<f64>, wall: Option<f64>) {
        let finite = |at: Option<f64>| at.filter(|at| at.is_finite()).map(micros);
        let new = (finite(awake), finite(wall));
        let old = self.of.get(&whose).copied().unwrap_or_default();
        if old == new {
            return;
        }
        if let Some(at) = old.0 {
            self.awake.remove(&(at, whose.clone()));
        }
        if let Some(at) = old.1 {
            self.wall.remove(&(at, whose.clone()));
        }
        if let Some(at) = new.0 {
            self.awake.insert((at, whose.clone()));
        }
        if let Some(at) = new.1 {
            self.wall.insert((at, whose.clone()));
        }
        if new == (None, None) {
            self.of.remove(&whose);
        } else {
            self.of.insert(whose, new);
        }
    }

    /// Takes out what is due, each once, the longest due first.
    pub(crate) fn take_due(&mut self, now: Moment) -> Vec<Whose> {
        let mut due = Vec::new();
        for (set, now) in [(&self.awake, now.awake), (&self.wall, now.wall)] {
            let reached = set.iter().take_while(|(at, _)| *at <= micros(now));
            due.extend(reached.map(|(_, whose)| whose.clone()));
        }
        let mut seen = std::collections::HashSet::new();
        due.retain(|whose| seen.insert(whose.clone()));
        for whose in &due {
            self.set(whose.clone(), None, None);
        }
        due
    }

    /// Seconds until something is due; none where nothing ever is.
    pub(crate) fn idle_for(&self, now: Moment) -> Option<f64> {
        let first = |set: &BTreeSet<(i64, Whose)>, now: f64| {
            #[expect(clippy::cast_precision_loss, reason = "microseconds fit")]
            set.first().map(|(at, _)| *at as f64 / 1e6 - now)
        };
        [first(&self.awake, now.awake), first(&self.wall, now.wall)]
            .into_iter()
            .flatten()
            .min_by(f64::total_cmp)
            .map(|seconds| seconds.max(0.0))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.of.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(name: &str) -> Whose {
        Whose::Session(name.to_owned())
    }

    fn at(wall: f64, awake: f64) -> Moment {
        Moment { wall, awake }
    }

    #[test]
    fn both_clocks_count_and_what_is_due_is_taken_once() {
        let mut table = Deadlines::default();
        table.set(session("a"), Some(10.0), Some(1000.0));
        table.set(session("b"), None, Some(990.0));
        table.set(Whose::Chore(Chore::Cap), Some(f64::INFINITY), None);
        assert_eq!(table.len(), 2);
        assert_eq!(table.idle_for(at(980.0, 5.0)), Some(5.0));
        assert_eq!(table.idle_for(at(980.0, 0.0)), Some(10.0));
        assert!(table.take_due(at(980.0, 9.9)).is_empty());
        assert_eq!(
            table.take_due(at(990.0, 10.0)),
            [session("a"), session("b")]
        );
        assert_eq!(table.idle_for(at(0.0, 0.0)), None);
    }

    #[test]
    fn a_deadline_is_due_at_its_own_moment() {
        let mut table = Deadlines::default();
        for moment in [1_800_000_000.1, 1_800_000_000.123_456_7, 0.3] {
            table.set(session("a"), None, Some(moment));
            assert_eq!(table.take_due(at(moment, 0.0)).len(), 1, "{moment}");
        }
    }
}
