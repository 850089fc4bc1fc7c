//! What this process may have of the machine. Below a certain point the doctor would take its own want
//! for a fault of the home: what it cannot open for lack of a descriptor looks unreadable.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::output::human;

/// Files that may be open at once: a database and what belongs to it, the sockets of the buses, and
/// what their event loop needs.
const DESCRIPTORS: u64 = 32;
/// What the limit is raised to where that is allowed: the usual one.
const USUAL: u64 = 1024;
/// Address space, in bytes: the program, its threads, a home of a usual size.
const MEMORY: u64 = 128 << 20;

/// Why too little is allowed for an honest answer, if that is so. A soft limit that is too low for us
/// is raised first, as far as it may be.
pub(super) fn too_low() -> Option<String> {
    descriptors(raised(getrlimit(Resource::Nofile)), open()).or_else(|| {
        let most = getrlimit(Resource::As).current?;
        memory(most)
    })
}

fn raised(limit: Rlimit) -> Option<u64> {
    let now = limit.current?;
    let want = limit.maximum.unwrap_or(USUAL).min(USUAL);
    let more = Rlimit {
        current: Some(want),
        maximum: limit.maximum,
    };
    if now < want && setrlimit(Resource::Nofile, more).is_ok() {
        return Some(want);
    }
    Some(now)
}

/// How many descriptors are open already, with the one that this takes.
fn open() -> u64 {
    let listed = std::fs::read_dir("/proc/self/fd").map(Iterator::count);
    listed.map_or(3, |count| u64::try_from(count).unwrap_or(u64::MAX))
}

fn descriptors(most: Option<u64>, open: u64) -> Option<String> {
    let most = most?;
    (most.saturating_sub(open) < DESCRIPTORS).then(|| {
        format!(
            "this process may have {most} files open at once (ulimit -n, RLIMIT_NOFILE), {open} of \
             which are, and needs {DESCRIPTORS} descriptors more"
        )
    })
}

fn memory(most: u64) -> Option<String> {
    (most < MEMORY).then(|| {
        format!(
            "this process may use {} of address space (ulimit -v, RLIMIT_AS), and needs {}",
            human::bytes(most),
            human::bytes(MEMORY)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_little_is_said_with_its_limit() {
        assert_eq!(descriptors(None, 3), None);
        assert_eq!(descriptors(Some(35), 3), None);
        let said = descriptors(Some(34), 3).unwrap();
        assert!(
            said.contains("34 files") && said.contains("ulimit -n"),
            "{said}"
        );
        assert!(descriptors(Some(3), 10).is_some());
        assert_eq!(memory(MEMORY), None);
        assert!(memory(60 << 20).unwrap().contains("60 MiB"));
    }
}
