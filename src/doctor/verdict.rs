//! The verdict: one word and one exit code out of all that was found and all that could not be found
//! out. Pure.
//!
//! Only findings at or above the threshold count. An error goes before a gap, a gap before a warning:
//! what is broken is broken whatever else may come to light, but a warning is not the whole truth
//! while something that could be worse was not seen.

use serde::Serialize;

use super::finding::Severity;

/// What counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// The least severity that sets the exit code: `--fail-on`.
    pub fail_on: Severity,
    /// Every gap counts, not only those that could change the verdict: `--strict`.
    pub strict: bool,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            fail_on: Severity::Warning,
            strict: false,
        }
    }
}

/// All that the verdict is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The worst finding.
    pub worst: Option<Severity>,
    /// Something that could change the verdict could not be found out.
    pub incomplete: bool,
    /// Something else could not be found out.
    pub other_gaps: bool,
    /// A check broke down: a defect of this program.
    pub broken: bool,
}

/// The verdict in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing at or above the threshold was found.
    Ok,
    /// The worst that was found is worth knowing, and that was asked for.
    Info,
    /// The worst that was found is a warning.
    Warning,
    /// Something does not work.
    Error,
    /// No error, but something that could change the verdict could not be found out.
    Incomplete,
    /// A check broke down.
    Internal,
}

impl Status {
    /// The exit code: one of the table that every command shares.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Info | Self::Warning => 1,
            Self::Error => 2,
            Self::Incomplete => 3,
            Self::Internal => 70,
        }
    }

    /// The word, as in the JSON document.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Incomplete => "incomplete",
            Self::Internal => "internal",
        }
    }
}

/// Judges. A defect of ours goes before all else: what a broken check would have said is not known.
#[must_use]
pub fn judge(seen: Seen, thresholds: Thresholds) -> Status {
    let counted = seen.worst.filter(|worst| *worst >= thresholds.fail_on);
    let incomplete = seen.incomplete || (thresholds.strict && seen.other_gaps);
    match counted {
        _ if seen.broken => Status::Internal,
        Some(Severity::Error) => Status::Error,
        _ if incomplete => Status::Incomplete,
        Some(Severity::Warning) => Status::Warning,
        Some(Severity::Info) => Status::Info,
        None => Status::Ok,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Severity::{Error, Info, Warning};

    fn code(worst: Option<Severity>, gaps: (bool, bool), fail_on: Severity, strict: bool) -> u8 {
        let seen = Seen {
            worst,
            incomplete: gaps.0,
            other_gaps: gaps.1,
            broken: false,
        };
        judge(seen, Thresholds { fail_on, strict }).exit_code()
    }

    #[test]
    fn the_table_of_exit_codes() {
        let (none, matters, other) = ((false, false), (true, false), (false, true));
        for (worst, gaps, fail_on, strict, expected) in [
            (None, none, Warning, false, 0),
            (Some(Info), none, Warning, false, 0),
            (Some(Info), none, Info, false, 1),
            (Some(Warning), none, Info, false, 1),
            (Some(Warning), none, Warning, false, 1),
            (Some(Warning), none, Error, false, 0),
            (Some(Error), none, Error, false, 2),
            (Some(Error), none, Warning, false, 2),
            (Some(Error), none, Info, true, 2),
            // Error before gap before warning before nothing.
            (Some(Error), matters, Warning, false, 2),
            (Some(Error), matters, Error, true, 2),
            (Some(Warning), matters, Warning, false, 3),
            (Some(Warning), matters, Error, false, 3),
            (Some(Info), matters, Info, false, 3),
            (None, matters, Warning, false, 3),
            // Other gaps count when asked for.
            (None, other, Warning, false, 0),
            (None, other, Warning, true, 3),
            (Some(Warning), other, Warning, false, 1),
            (Some(Warning), other, Warning, true, 3),
            (Some(Error), other, Warning, true, 2),
        ] {
            let got = code(worst, gaps, fail_on, strict);
            assert_eq!(got, expected, "{worst:?} {gaps:?} {fail_on:?} {strict}");
        }
    }

    #[test]
    fn a_broken_check_is_never_a_verdict() {
        let seen = Seen {
            worst: Some(Error),
            broken: true,
            ..Seen::default()
        };
        assert_eq!(judge(seen, Thresholds::default()).exit_code(), 70);
    }
}
