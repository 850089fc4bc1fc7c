//! One pass over `/proc`: the serves, gateways and workers of both programs. Of thousands of processes
//! it reads the command line and no more; the details come of those that match.

use super::command;
use super::facts::{ProcessFacts, Role};
use super::proc;
use super::process_probe::{Context, process, read_command_line, stat};

/// A process tree deeper than this is not followed.
const DEPTH: usize = 64;

/// All serves, gateways and workers that `/proc` shows, by pid, our own process excepted.
///
/// # Errors
/// When `/proc` cannot be listed.
pub fn census(context: &Context) -> std::io::Result<Vec<ProcessFacts>> {
    let own = std::process::id();
    let mut pids: Vec<u32> = Vec::new();
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let name = entry?.file_name();
        if let Some(name) = name.to_str()
            && name.bytes().all(|byte| byte.is_ascii_digit())
            && let Ok(pid) = name.parse()
            && pid != own
        {
            read_command_line(name, &mut bytes);
            if speaks(&bytes) && matches(&proc::command_line(&bytes)) {
                pids.push(pid);
            }
        }
    }
    pids.sort_unstable();
    let details = pids.into_iter().filter_map(|pid| process(pid, context));
    Ok(details
        .filter(|process| process.role != Role::Other)
        .collect())
}

/// Whether a command line holds a word without which it is neither program's: most do not, and are not
/// even split.
fn speaks(bytes: &[u8]) -> bool {
    [&b"hermes"[..], b"gateway", b"cron.scheduler"]
        .iter()
        .any(|word| bytes.windows(word.len()).any(|window| window == *word))
}

/// Whether a command line is worth a closer look.
fn matches(argv: &[String]) -> bool {
    command::read(argv, None).is_some_and(|command| command.role != Role::Other)
}

/// The nearest of these processes that `pid` descends from.
#[must_use]
pub fn ancestor(pid: u32, of: &[ProcessFacts]) -> Option<u32> {
    let mut next = pid;
    for _ in 0..DEPTH {
        next = stat(&next.to_string())?.ppid;
        if of.iter().any(|process| process.pid == next) {
            return Some(next);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_line_that_matches_also_speaks() {
        for line in [
            "python3\0/v/bin/hermes\0serve\0",
            "hermes\0worker\0",
            "python3\0-m\0gateway.run\0",
            "python3\0-m\0cron.scheduler\0--external-worker-file\0/x\0",
        ] {
            assert!(matches(&proc::command_line(line.as_bytes())), "{line}");
            assert!(speaks(line.as_bytes()), "{line}");
        }
        assert!(!speaks(b"sleep\0infinity\0"));
        assert!(!matches(&proc::command_line(b"vim\0hermes serve\0")));
    }
}
