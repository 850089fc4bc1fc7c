//! Places at which a test can kill this process, or have it panic, to see what is left. Only in builds with debug
//! assertions; a release has none of it.

#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicU32, Ordering};

/// Names the place at which the process kills itself; `PLACE:3` is the third time that it comes there.
pub const VARIABLE: &str = "__HERMES_FAULT";

/// How often it came to the place that is named.
#[cfg(debug_assertions)]
static TIMES: AtomicU32 = AtomicU32::new(0);

/// Dies here by SIGKILL if the environment names this place.
#[cfg(debug_assertions)]
pub fn point(place: &str) {
    #[expect(
        clippy::disallowed_methods,
        reason = "no handle to the world reaches every such place"
    )]
    let named = std::env::var(VARIABLE).unwrap_or_default();
    let (named, time) = named.split_once(':').unwrap_or((&named, "1"));
    if named == place && TIMES.fetch_add(1, Ordering::Relaxed) + 1 == time.parse().unwrap_or(1) {
        let own = rustix::process::getpid();
        let _it_does_not_return = rustix::process::kill_process(own, rustix::process::Signal::KILL);
    }
}

/// Nothing, in a release.
#[cfg(not(debug_assertions))]
pub fn point(_place: &str) {}

/// Panics if the environment asks for it, as a defect of ours would.
///
/// # Panics
/// When it is asked to.
#[cfg(debug_assertions)]
#[expect(
    clippy::disallowed_methods,
    reason = "a test wants to see what a panic does to the whole process"
)]
pub fn defect() {
    let asked = std::env::var(VARIABLE).is_ok_and(|named| named == "defect");
    assert!(!asked, "a defect that was asked for");
}

/// Nothing, in a release.
#[cfg(not(debug_assertions))]
pub fn defect() {}
