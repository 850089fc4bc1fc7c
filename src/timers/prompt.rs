//! What a wake-up says to the agent, and how the agent says that it is done.

use super::args::loop_format_interval;
use super::heartbeat_args::heartbeat_format_interval;
use super::heartbeat_row::HeartbeatRow;
use super::loop_row::{LoopRow, Mode};

/// An agent ends a loop with this word on a line of its own.
pub const COMPLETION_MARKER: &str = "LOOP_COMPLETE";

/// The text of a loop's wake-up; `row` already counts it. A prompt that is a slash command goes out
/// as it is, for whoever knows the command.
#[must_use]
pub fn loop_wake_text(row: &LoopRow, missed: u64) -> String {
    if row.prompt.starts_with('/') {
        return row.prompt.clone();
    }
    let cadence = match row.mode {
        Mode::Interval => format!("every {}", loop_format_interval(row.interval_seconds)),
        _ => "self-paced".to_owned(),
    };
    let mut text = format!("[loop: run {}, {cadence}]\n", row.ticks_fired);
    text.push_str(&missed_line(missed));
    text.push_str(&row.prompt);
    text.push_str("\n\nThis message comes from a timer, not from a person. Look at how things are now and do not rely on earlier runs; keep the report short.\n");
    let end = if row.until.is_empty() {
        "When there is nothing left to do or to watch".to_owned()
    } else {
        format!(
            "The loop ends when this holds: {}\nShow what speaks for or against it. When it holds",
            row.until
        )
    };
    text + &format!("{end}, write {COMPLETION_MARKER} on a line of its own.")
}

/// The text of a beat; `row` already counts it.
#[must_use]
pub fn heartbeat_text(row: &HeartbeatRow, missed: u64) -> String {
    if row.prompt.starts_with('/') {
        return row.prompt.clone();
    }
    let interval = i64::try_from(row.interval_seconds).unwrap_or(i64::MAX);
    let cadence = heartbeat_format_interval(interval);
    format!(
        "[heartbeat: beat {}, every {cadence}]\n{}{}",
        row.fire_count,
        missed_line(missed),
        row.prompt
    )
}

fn missed_line(missed: u64) -> String {
    match missed {
        0 => String::new(),
        1 => "1 run was missed before this one.\n".to_owned(),
        n => format!("{n} runs were missed before this one.\n"),
    }
}

/// Whether an answer has the completion marker on a line of its own, in any case, with an optional
/// full stop or exclamation mark, or emphasised as Markdown does.
#[must_use]
pub fn says_complete(answer: &str) -> bool {
    answer.split(is_line_end).any(|line| {
        let line = line.trim().trim_matches(['*', '`']);
        let line = line.strip_suffix(['.', '!']).unwrap_or(line);
        line.trim()
            .trim_matches(['*', '`'])
            .eq_ignore_ascii_case(COMPLETION_MARKER)
    })
}

/// Python's `str.splitlines`.
fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

#[cfg(test)]
mod tests {
    use super::says_complete;

    #[test]
    fn the_marker_stands_alone_on_its_line() {
        for yes in [
            "LOOP_COMPLETE",
            "done\n loop_complete \nbye",
            "LOOP_COMPLETE.",
            "LOOP_COMPLETE!",
            "a\u{2028}LOOP_COMPLETE",
            "**LOOP_COMPLETE**",
            "`LOOP_COMPLETE`",
            "```\nLOOP_COMPLETE\n```",
        ] {
            assert!(says_complete(yes), "{yes:?}");
        }
        for no in [
            "",
            "write LOOP_COMPLETE when done",
            "> LOOP_COMPLETE",
            "LOOP_COMPLETE: no",
            "not LOOP_COMPLETE",
            "LOOP_COMPLETE?",
            "LOOP COMPLETE",
        ] {
            assert!(!says_complete(no), "{no:?}");
        }
    }
}
