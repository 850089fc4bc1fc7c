//! The text after `/heartbeat`: control words, and `[every] INTERVAL PROMPT`.

use super::python::{digit, is_space, strip};

/// The shortest cadence of a heartbeat, in seconds.
pub const MIN_INTERVAL_SECONDS: u128 = 60;

/// What a text says as a cadence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeartbeatInterval {
    /// A cadence of so many seconds, at least [`MIN_INTERVAL_SECONDS`].
    Seconds(u128),
    /// A cadence, but shorter than that.
    TooSmall,
    /// Not a cadence.
    Unreadable,
}

/// What a `/heartbeat` text asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeartbeatCommand {
    /// Nothing: the status of a heartbeat, or the default one.
    Bare,
    /// `status`.
    Status,
    /// `pause`.
    Pause,
    /// `resume`.
    Resume,
    /// `clear`, `stop` or `off`.
    Clear,
    /// A cadence and a prompt.
    Set {
        /// Seconds between two beats.
        interval_seconds: u128,
        /// What every beat asks for; never empty.
        prompt: String,
    },
}

/// Why a text sets no heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeartbeatArgsError {
    /// No cadence of one word where one has to be.
    #[error(
        "a heartbeat wants a cadence of one word and a prompt, such as `every 10m check the build`"
    )]
    Usage,
    /// A cadence below the floor.
    #[error("a heartbeat beats at most once a minute")]
    IntervalTooSmall,
    /// A cadence alone.
    #[error("a heartbeat wants a prompt after its cadence")]
    PromptRequired,
}

impl HeartbeatArgsError {
    /// The stable word for this error in JSON.
    #[must_use]
    pub fn category(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::IntervalTooSmall => "interval_too_small",
            Self::PromptRequired => "prompt_required",
        }
    }
}

/// Reads the whole text after `/heartbeat`. A control word counts only where it is the whole text.
///
/// # Errors
/// [`HeartbeatArgsError`], in this order: no cadence, too short, no prompt.
pub fn heartbeat_command(text: &str) -> Result<HeartbeatCommand, HeartbeatArgsError> {
    let text = strip(text);
    match text.to_lowercase().as_str() {
        "" => return Ok(HeartbeatCommand::Bare),
        "status" => return Ok(HeartbeatCommand::Status),
        "pause" => return Ok(HeartbeatCommand::Pause),
        "resume" => return Ok(HeartbeatCommand::Resume),
        "clear" | "stop" | "off" => return Ok(HeartbeatCommand::Clear),
        _ => {}
    }
    let (first, rest) = next_word(text);
    let (token, prompt) = if first.eq_ignore_ascii_case("every") && !rest.is_empty() {
        next_word(rest)
    } else {
        (first, rest)
    };
    match heartbeat_interval(token) {
        HeartbeatInterval::Unreadable => Err(HeartbeatArgsError::Usage),
        HeartbeatInterval::TooSmall => Err(HeartbeatArgsError::IntervalTooSmall),
        HeartbeatInterval::Seconds(_) if prompt.is_empty() => {
            Err(HeartbeatArgsError::PromptRequired)
        }
        HeartbeatInterval::Seconds(interval_seconds) => Ok(HeartbeatCommand::Set {
            interval_seconds,
            prompt: prompt.to_owned(),
        }),
    }
}

/// The first word and what follows it, without white space between.
fn next_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_at(text.find(is_space).unwrap_or(text.len()));
    (word, strip(rest))
}

/// Reads `[every] NUMBER[.NUMBER] UNIT`; spaces before the unit are fine here. A fraction of a
/// second is cut off after the multiplication.
#[must_use]
pub fn heartbeat_interval(text: &str) -> HeartbeatInterval {
    let text = strip(text);
    let (first, rest) = next_word(text);
    let text = if first.eq_ignore_ascii_case("every") {
        rest
    } else {
        text
    };
    let Some((number, unit)) = number_and_unit(text) else {
        return HeartbeatInterval::Unreadable;
    };
    match number.parse::<f64>().map(|value| value * f64::from(unit)) {
        Ok(seconds) if seconds.is_finite() => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "finite, not negative; `as` saturates"
            )]
            let seconds = seconds as u128;
            if seconds < MIN_INTERVAL_SECONDS {
                HeartbeatInterval::TooSmall
            } else {
                HeartbeatInterval::Seconds(seconds)
            }
        }
        _ => HeartbeatInterval::Unreadable,
    }
}

/// The number in ASCII digits, and the seconds of its unit.
fn number_and_unit(text: &str) -> Option<(String, u32)> {
    let mut number = String::new();
    let mut rest = text;
    take_digits(&mut rest, &mut number)?;
    if let Some(fraction) = rest.strip_prefix('.') {
        number.push('.');
        rest = fraction;
        take_digits(&mut rest, &mut number)?;
    }
    let unit = match strip(rest).to_ascii_lowercase().as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        "m" | "min" | "mins" | "minute" | "minutes" => 60,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
        "d" | "day" | "days" => 86_400,
        _ => return None,
    };
    Some((number, unit))
}

/// Moves leading digits of `rest` into `number`; `None` where there is none.
fn take_digits(rest: &mut &str, number: &mut String) -> Option<()> {
    let before = number.len();
    while let Some(value) = rest.chars().next().and_then(digit) {
        number.push(char::from(b'0' + value));
        let mut chars = rest.chars();
        chars.next();
        *rest = chars.as_str();
    }
    (number.len() > before).then_some(())
}

/// A cadence as people write it: the largest of `d`, `h`, `m`, `s` that divides it.
#[must_use]
pub fn heartbeat_format_interval(seconds: i64) -> String {
    for (size, unit) in [(86_400, 'd'), (3600, 'h'), (60, 'm')] {
        if seconds % size == 0 {
            return format!("{}{unit}", seconds / size);
        }
    }
    format!("{seconds}s")
}
