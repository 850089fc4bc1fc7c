//! Places at which a test can kill this process, to see what is left. Only in builds with debug
//! assertions; a release has none of it.

/// Names the place at which the process kills itself.
pub const VARIABLE: &str = "__HERMES_FAULT";

/// Dies here by SIGKILL if the environment names this place.
#[cfg(debug_assertions)]
pub fn point(place: &str) {
    #[expect(
        clippy::disallowed_methods,
        reason = "no handle to the world reaches every such place"
    )]
    let named = std::env::var(VARIABLE).is_ok_and(|named| named == place);
    if named {
        let own = rustix::process::getpid();
        let _it_does_not_return = rustix::process::kill_process(own, rustix::process::Signal::KILL);
    }
}

/// Nothing, in a release.
#[cfg(not(debug_assertions))]
pub fn point(_place: &str) {}
