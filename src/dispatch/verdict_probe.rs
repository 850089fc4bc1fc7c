//! What dispatch turns on, for this very process: asked of the host, good for a minute in both
//! directions, and dropped at once when a launch contradicts it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::derive::derive;
use super::facts::DispatchFacts;
use crate::clock::Clock;
use crate::error::Result;
use crate::host::choose::Choice;
use crate::host::probe::{Caller, complete, observe};

/// How long a verdict is good, as in Hermes Agent.
pub const LIFE: Duration = Duration::from_secs(60);
/// Longest time that asking may take.
const DEADLINE: Duration = Duration::from_secs(3);

/// What was found out.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The facts of the decision.
    pub facts: DispatchFacts,
    /// The runtime directory that may be believed.
    pub runtime_dir: Option<String>,
    /// Memory of the machine, in bytes.
    pub memory: Option<u64>,
}

/// Asks, and remembers for a while.
#[derive(Debug)]
pub struct Verdicts {
    caller: Caller,
    cached: Mutex<Option<(Verdict, Duration)>>,
}

impl Verdicts {
    /// For this process.
    #[must_use]
    pub fn new(caller: Caller) -> Self {
        Self {
            caller,
            cached: Mutex::new(None),
        }
    }

    /// The verdict of now. Blocks for some milliseconds, for seconds where a bus hangs.
    ///
    /// # Errors
    /// When the host cannot be looked at.
    pub fn get(&self, clock: &dyn Clock) -> Result<Verdict> {
        let now = clock.now().monotonic;
        if let Some((verdict, until)) = &*self.cached()
            && now < *until
        {
            return Ok(verdict.clone());
        }
        let verdict = self.ask()?;
        *self.cached() = Some((verdict.clone(), now + LIFE));
        Ok(verdict)
    }

    /// A launch has shown that it no longer holds.
    pub fn forget(&self) {
        *self.cached() = None;
    }

    fn ask(&self) -> Result<Verdict> {
        let choice = Choice {
            pid: Some(std::process::id()),
            ..Choice::default()
        };
        let facts = complete(observe(&choice, &self.caller)?, &Arc::default(), DEADLINE)?;
        let (derived, _guesses) = derive(&facts);
        Ok(Verdict {
            facts: derived,
            runtime_dir: facts.runtime_dir.path.clone(),
            memory: facts.machine.memory.total,
        })
    }

    fn cached(&self) -> std::sync::MutexGuard<'_, Option<(Verdict, Duration)>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use crate::runtime::{Options, Runtime};

    #[test]
    fn a_verdict_is_good_for_a_minute_and_can_be_dropped() {
        let runtime = Runtime::from_process(Options::default()).unwrap();
        let verdicts = Verdicts::new(Caller::of(&runtime));
        let clock = ManualClock::at(jiff::Timestamp::UNIX_EPOCH);
        verdicts.get(&clock).unwrap();
        let until = |verdicts: &Verdicts| verdicts.cached().as_ref().map(|(_, until)| *until);
        let first = until(&verdicts);
        clock.advance(Duration::from_secs(59));
        verdicts.get(&clock).unwrap();
        assert_eq!(until(&verdicts), first, "still good");
        clock.advance(Duration::from_secs(1));
        verdicts.get(&clock).unwrap();
        assert!(until(&verdicts) > first, "asked again");
        verdicts.forget();
        assert_eq!(until(&verdicts), None);
    }
}
