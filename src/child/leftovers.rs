//! Finds and kills what a child left running, by a mark in its environment: a process group can be left
//! (`setsid`), and its number can be somebody else's by now.

use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::spawn::pid;

/// More rounds than a fork bomb deserves.
pub(crate) const ROUNDS: u32 = 5;

/// Kills every process whose environment has this variable with this value. Repeats while it finds
/// some, since a process that is being killed may just have forked. Returns how many it killed.
#[must_use]
pub fn kill_marked(name: &str, value: &str) -> usize {
    let mark = format!("{name}={value}");
    let mut killed = 0;
    for _ in 0..ROUNDS {
        let found = marked(mark.as_bytes());
        if found.is_empty() {
            break;
        }
        killed += found
            .into_iter()
            .filter(|number| kill(*number, mark.as_bytes()))
            .count();
    }
    killed
}

fn marked(mark: &[u8]) -> Vec<u32> {
    processes()
        .filter(|number| has_mark(*number, mark))
        .collect()
}

/// All processes but this one.
pub(crate) fn processes() -> impl Iterator<Item = u32> {
    let entries = fs_err::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|number| *number != std::process::id())
}

fn has_mark(number: u32, mark: &[u8]) -> bool {
    let environment = fs_err::read(format!("/proc/{number}/environ")).unwrap_or_default();
    environment
        .split(|byte| *byte == 0)
        .any(|pair| pair == mark)
}

fn kill(number: u32, mark: &[u8]) -> bool {
    kill_if(number, || has_mark(number, mark))
}

/// Kills a process that is meant. Holds it first and looks again, so that a number that was handed on in
/// between is spared.
pub(crate) fn kill_if(number: u32, is_meant: impl Fn() -> bool) -> bool {
    let Some(held) = pid(number).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
        return false;
    };
    is_meant() && pidfd_send_signal(&held, Signal::KILL).is_ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test starts what it wants killed"
    )]
    fn what_left_its_group_is_found_by_its_mark() {
        let value = format!("mark-{}", std::process::id());
        let mut child = Command::new("/usr/bin/setsid")
            .args(["/bin/sh", "-c", "echo up; read line"])
            .env("HERMES_TEST_MARK", &value)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        assert_eq!(line, "up\n");
        assert_eq!(kill_marked("HERMES_TEST_MARK", "another"), 0);
        assert!(kill_marked("HERMES_TEST_MARK", &value) >= 1);
        assert!(!child.wait().unwrap().success());
    }
}
