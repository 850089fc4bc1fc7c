//! Where timers differ from Hermes Agent on purpose: data that a test and the documentation read.

/// One intended difference.
#[derive(Debug, Clone, Copy)]
pub struct Difference {
    /// A stable word for it.
    pub id: &'static str,
    /// What differs.
    pub what: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// The list. Everything that is not in it behaves as the other program does.
pub const DIFFERENCES: &[Difference] = &[
    Difference {
        id: "loop-numbers-saturate",
        what: "a number in a /loop text above 2^128-1 counts as 2^128-1",
        reason: "the other program computes with integers of any length; no such wait ever ends",
    },
    Difference {
        id: "loop-interval-digits",
        what: "an interval of more than 4300 digits is no interval, and so part of the prompt",
        reason: "the other program raises an exception there",
    },
    Difference {
        id: "heartbeat-unit-folding",
        what: "a heartbeat unit with a letter that only folds to ASCII (`ſ`, `ı`) is a usage error",
        reason: "the other program matches it and then fails on a missing key",
    },
    Difference {
        id: "heartbeat-infinite",
        what: "a heartbeat cadence too large for a float is a usage error",
        reason: "the other program raises an exception there",
    },
    Difference {
        id: "fixed-cadence-on-a-grid",
        what: "a fixed loop or heartbeat keeps its phase; the next slot never moves with a turn's end",
        reason: "a cadence counted from the turn's end drifts by the length of every turn",
    },
    Difference {
        id: "missed-are-told",
        what: "a wake-up says how many slots passed unserved before it",
        reason: "skipped slots are otherwise invisible",
    },
    Difference {
        id: "lost-wake-up",
        what: "a wake-up without an answer for two cadences and without a live turn is armed again",
        reason: "the other program waits for its answer for ever",
    },
    Difference {
        id: "fuse",
        what: "more than 10 fires in a minute, or 10 failures in a row, pause a timer with the reason",
        reason: "a timer that does harm has to stop by itself",
    },
    Difference {
        id: "heartbeat-budget",
        what: "a heartbeat pauses after `heartbeats.max_beats` beats without a message of the user",
        reason: "an armed heartbeat would otherwise keep its session for ever",
    },
    Difference {
        id: "budget-resumed",
        what: "resuming a loop that used up its tick budget grants the budget once more",
        reason: "the other program pauses again after a single wake-up",
    },
    Difference {
        id: "marker-emphasis",
        what: "the completion marker may be wrapped in `*` or backticks",
        reason: "agents that write Markdown emphasise it, and mean it",
    },
    Difference {
        id: "digest-more-times",
        what: "the digest of an answer also ignores compound durations, days, weeks, AM/PM and date forms",
        reason: "a report that only counts time has not changed",
    },
];

#[cfg(test)]
mod tests {
    use super::DIFFERENCES;

    #[test]
    fn every_difference_has_an_id_of_its_own_and_a_reason() {
        for (at, one) in DIFFERENCES.iter().enumerate() {
            assert!(!one.what.is_empty() && !one.reason.is_empty(), "{}", one.id);
            assert!(
                DIFFERENCES
                    .iter()
                    .skip(at + 1)
                    .all(|other| other.id != one.id),
                "{}",
                one.id
            );
        }
    }
}
