//! Places at which a test can kill this process, stop it, or have it panic, to see what is left, and a pace that a
//! test can quicken. Only in builds with debug assertions; a release has none of it.

use std::time::Duration;

#[cfg(debug_assertions)]
use std::{
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

#[cfg(debug_assertions)]
use rustix::process::{Signal, getpid, kill_process};

/// Names the place at which the process kills itself; `PLACE:3` is the third time that it comes there.
/// `PLACE=WORDS` has it say these words on stderr first, `PLACE~` is stopped only, until SIGCONT, and at
/// `PLACE!` it panics, as a defect of ours would.
///
/// `@DIRECTORY` names a directory of such places instead: whoever comes to one first, of all processes, takes
/// its entry away and is the only one. `PLACE+` is a second entry of the same place.
pub const VARIABLE: &str = "__HERMES_FAULT";

/// Milliseconds between two stamps of progress, instead of as many as there are.
pub const PACE_VARIABLE: &str = "__HERMES_PACE";

/// How often it came to the place that is named.
#[cfg(debug_assertions)]
static TIMES: AtomicU32 = AtomicU32::new(0);

/// Dies here by SIGKILL if the environment names this place.
///
/// # Panics
/// Where that was asked for.
#[cfg(debug_assertions)]
pub fn point(place: &str) {
    let asked = variable(VARIABLE).unwrap_or_default();
    let fall = match asked.strip_prefix('@') {
        Some(directory) => taken_from(Path::new(directory), place),
        None => Fall::at(place, &asked).filter(|fall| {
            let time: u32 = fall.time.parse().unwrap_or(1);
            TIMES.fetch_add(1, Ordering::Relaxed) + 1 == time
        }),
    };
    if let Some(fall) = fall {
        let _nobody_may_listen =
            std::io::Write::write_all(&mut std::io::stderr(), fall.words.as_bytes());
        assert!(fall.signal.is_some(), "a defect that was asked for");
        let _a_kill_does_not_return = fall.signal.map(|signal| kill_process(getpid(), signal));
    }
}

/// What is asked for at a place.
#[cfg(debug_assertions)]
struct Fall {
    /// None: it panics.
    signal: Option<Signal>,
    time: String,
    words: String,
}

#[cfg(debug_assertions)]
impl Fall {
    fn at(place: &str, asked: &str) -> Option<Self> {
        let (named, words) = asked.split_once('=').unwrap_or((asked, ""));
        let (named, signal) = match (named.strip_suffix('~'), named.strip_suffix('!')) {
            (Some(named), _) => (named, Some(Signal::STOP)),
            (_, Some(named)) => (named, None),
            (None, None) => (named, Some(Signal::KILL)),
        };
        let (named, time) = named.split_once(':').unwrap_or((named, "1"));
        let (time, words) = (time.to_owned(), words.to_owned());
        (named.trim_end_matches('+') == place).then_some(Self {
            signal,
            time,
            words,
        })
    }
}

/// What an entry of this place asks for, which is gone then for anybody who comes later.
#[cfg(debug_assertions)]
fn taken_from(directory: &Path, place: &str) -> Option<Fall> {
    let mut entries = fs_err::read_dir(directory).into_iter().flatten().flatten();
    entries.find_map(|entry| {
        let fall = Fall::at(place, &entry.file_name().to_string_lossy())?;
        fs_err::remove_file(entry.path()).is_ok().then_some(fall)
    })
}

/// A pace, or the one that the environment names instead.
#[cfg(debug_assertions)]
#[must_use]
pub fn paced(pace: Duration) -> Duration {
    let named = variable(PACE_VARIABLE).and_then(|named| named.parse().ok());
    named.map_or(pace, Duration::from_millis)
}

/// The pace as it is, in a release.
#[cfg(not(debug_assertions))]
#[must_use]
pub fn paced(pace: Duration) -> Duration {
    pace
}

#[cfg(debug_assertions)]
#[expect(
    clippy::disallowed_methods,
    reason = "no handle to the world reaches every such place"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Nothing, in a release.
#[cfg(not(debug_assertions))]
pub fn point(_place: &str) {}

/// Panics if the environment asks for it, as a defect of ours would.
///
/// # Panics
/// When it is asked to.
#[cfg(debug_assertions)]
pub fn defect() {
    let asked = variable(VARIABLE).is_some_and(|named| named == "defect");
    assert!(!asked, "a defect that was asked for");
}

/// Nothing, in a release.
#[cfg(not(debug_assertions))]
pub fn defect() {}
