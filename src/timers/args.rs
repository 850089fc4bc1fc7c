//! The text after `/loop`: control words, and `[every] [INTERVAL] PROMPT [--times N] [--until …]`.
//!
//! Owns the reading of a text and nothing else: the floor under an interval and what a bare `/loop`
//! does are for those who have the configuration and the session.

use super::python::{digit, int, is_space, strip};

/// A text that sets a loop, as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoopArgs {
    /// The cadence in seconds, as written (no floor applied); `None` is self-paced.
    pub interval_seconds: Option<u128>,
    /// What every wake-up asks for; never empty.
    pub prompt: String,
    /// How many wake-ups there are to be; 0 is no limit.
    pub times: u128,
    /// The condition that ends the loop; empty is none.
    pub until: String,
}

/// Why a text sets no loop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoopArgsError {
    /// Nothing but white space.
    #[error("nothing to repeat: the text is empty")]
    Empty,
    /// A cadence or an option, but no prompt.
    #[error("nothing to repeat: a cadence or an option without a prompt")]
    MissingPrompt,
    /// `--times` with something else than a whole number of at least 1.
    #[error("--times wants a whole number of at least 1, not `{0}`")]
    Times(String),
}

impl LoopArgsError {
    /// The stable word for this error in JSON.
    #[must_use]
    pub fn category(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::MissingPrompt => "missing_prompt",
            Self::Times(_) => "times",
        }
    }
}

/// What a `/loop` text asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopCommand {
    /// No text at all: the status of a loop, or a loop on the session's standing task.
    Bare,
    /// `status`.
    Status,
    /// `pause`.
    Pause,
    /// `resume`.
    Resume,
    /// `stop`, `clear` or `cancel`.
    Stop,
    /// `help`, `--help` or `-h`.
    Help,
    /// Anything else.
    Set(LoopArgs),
}

/// Reads the whole text after `/loop`. A control word counts only where it is the whole text.
///
/// # Errors
/// [`LoopArgsError`], where the text is no control word and sets no loop.
pub fn loop_command(text: &str) -> Result<LoopCommand, LoopArgsError> {
    Ok(match strip(text).to_lowercase().as_str() {
        "" => LoopCommand::Bare,
        "status" => LoopCommand::Status,
        "pause" => LoopCommand::Pause,
        "resume" => LoopCommand::Resume,
        "stop" | "clear" | "cancel" => LoopCommand::Stop,
        "help" | "--help" | "-h" => LoopCommand::Help,
        _ => LoopCommand::Set(parse_loop_args(text)?),
    })
}

/// Reads a text that sets a loop. `--times` is taken out first, wherever it stands, then `--until`
/// up to the end; both want white space before them, so a text that begins with one is a prompt.
///
/// # Errors
/// [`LoopArgsError`], without a guess at what was meant.
pub fn parse_loop_args(text: &str) -> Result<LoopArgs, LoopArgsError> {
    let mut text = strip(text).to_owned();
    if text.is_empty() {
        return Err(LoopArgsError::Empty);
    }
    let mut args = LoopArgs::default();
    if let Some((before, after)) = split_at_flag(&text, "--times") {
        let end = after.find(is_space).unwrap_or(after.len());
        let (count, rest) = after.split_at(end);
        args.times = match int(count) {
            Some((false, times)) if times > 0 => times,
            _ => return Err(LoopArgsError::Times(count.to_owned())),
        };
        text = format!("{before}{rest}");
    }
    let mut text = strip(&text);
    if let Some((before, after)) = split_at_flag(text, "--until") {
        strip(after).clone_into(&mut args.until);
        text = strip(before);
    }
    let text = without_every(text);
    let (first, rest) = text.split_at(text.find(is_space).unwrap_or(text.len()));
    args.interval_seconds = loop_interval_token(first);
    let prompt = if args.interval_seconds.is_some() {
        strip(rest)
    } else {
        text
    };
    if prompt.is_empty() {
        return Err(LoopArgsError::MissingPrompt);
    }
    prompt.clone_into(&mut args.prompt);
    Ok(args)
}

/// The text before the first `<space>FLAG<space>…` and what follows its white space. One character
/// of white space goes with the flag; the rest of it stays where it was.
fn split_at_flag<'a>(text: &'a str, flag: &str) -> Option<(&'a str, &'a str)> {
    text.match_indices(flag).find_map(|(at, _)| {
        let before = text.get(..at)?;
        let space = before.chars().next_back().filter(|c| is_space(*c))?;
        let after = text.get(at + flag.len()..)?;
        let value = after.trim_start_matches(is_space);
        let parted = value.len() < after.len() && !value.is_empty();
        parted.then(|| (before.strip_suffix(space).unwrap_or(before), value))
    })
}

/// Drops one leading `every` that is followed by white space.
fn without_every(text: &str) -> &str {
    match (text.get(..5), text.get(5..)) {
        (Some(word), Some(rest))
            if word.eq_ignore_ascii_case("every") && rest.starts_with(is_space) =>
        {
            rest.trim_start_matches(is_space)
        }
        _ => text,
    }
}

/// The seconds of an interval such as `1h30m`, `45s` or `5M`: hours, minutes and seconds in this
/// order, each at most once, without spaces, in sum more than 0. Saturates at `u128::MAX`.
#[must_use]
pub fn loop_interval_token(token: &str) -> Option<u128> {
    let mut total = 0_u128;
    let mut rest = strip(token);
    for (unit, seconds) in [('h', 3600), ('m', 60), ('s', 1)] {
        let digits = rest.find(|c| digit(c).is_none()).unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let mut tail = tail.chars();
        if number.is_empty() || tail.next().is_none_or(|c| !is_unit(c, unit)) {
            continue;
        }
        total = total.saturating_add(int(number)?.1.saturating_mul(seconds));
        rest = tail.as_str();
    }
    (rest.is_empty() && total > 0).then_some(total)
}

/// A unit letter in any case; U+017F is a lower-case `s` to those who fold by Unicode.
fn is_unit(c: char, unit: char) -> bool {
    c.eq_ignore_ascii_case(&unit) || (unit == 's' && c == '\u{17f}')
}

/// An interval as people write it: `1h30m`, `45s`; rounded to whole seconds (half to even), never
/// less than `0s`.
#[must_use]
pub fn loop_format_interval(seconds: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to what a u64 holds"
    )]
    let total = seconds.round_ties_even().clamp(0.0, 1e18) as u64;
    let parts = [
        (total / 3600, 'h'),
        (total / 60 % 60, 'm'),
        (total % 60, 's'),
    ];
    let mut text = String::new();
    for (count, unit) in parts {
        if count > 0 {
            text.push_str(&count.to_string());
            text.push(unit);
        }
    }
    if text.is_empty() { "0s".into() } else { text }
}
