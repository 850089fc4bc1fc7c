//! The ticker's markers, read with the same eyes as everybody else (`cron::markers`): what is no number
//! is told.

use std::path::Path;

use super::files;
use crate::cron::markers::{beat, epoch, tick_error};
use crate::doctor::evidence::home::Ticker;
use crate::doctor::evidence::read::{Read, Trouble};

/// Reads the markers in this `cron` directory.
pub(super) fn look(cron: &Path) -> Ticker {
    Ticker {
        heartbeat: marker(cron, "ticker_heartbeat", beat),
        success: marker(cron, "ticker_last_success", epoch),
        error: marker(cron, "ticker_last_error", tick_error),
        catch_ups: marker(cron, "catch_up_occurrences", |text| {
            text.trim().parse().ok()
        }),
    }
}

fn marker<T>(cron: &Path, name: &str, says: impl FnOnce(&str) -> Option<T>) -> Read<T> {
    files::text(&cron.join(name)).and_then(|text| says(&text).ok_or_else(|| odd(&text)))
}

fn odd(text: &str) -> Trouble {
    let first = text.split_ascii_whitespace().next().unwrap_or_default();
    let start: String = first.chars().take(40).collect();
    Trouble::damaged("not-a-number", format!("not a number: '{start}'"))
}
