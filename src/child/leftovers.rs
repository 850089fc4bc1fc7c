//! Finds and kills what a child left running: by a mark in its environment, since a process group can be left
//! (`setsid`); and by its group, since an environment can be cleared. The number of a group can be somebody
//! else's by now, so more must fit than the number. What did both is not found.

use std::time::Duration;

use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::spawn::{Watch, pid};
use crate::host::proc::{Stat, stat};

/// More rounds than a fork bomb deserves.
const ROUNDS: u32 = 5;
/// How long the leader of a group that is being killed is waited for.
const LEADER: Duration = Duration::from_secs(3);

/// A process group, and when whoever made it began, in clock ticks since boot.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Its number: the pid of its leader.
    pub number: u32,
    /// No process in it is older.
    pub since: u64,
}

/// Kills what is left in a group whose leader the kernel kills with its parent, which is gone. Returns how many
/// it killed.
///
/// No pid is given anew as long as there is a group of that number. One that was given anew leads, for the most
/// part, a group that has its leader, or a session; neither is touched.
#[must_use]
pub fn kill_left_in(group: Group) -> usize {
    if let Ok(Some(leader)) = Watch::of(group.number)
        && !leader.ends_within(LEADER)
    {
        return 0;
    }
    let mut killed = 0;
    for _ in 0..ROUNDS {
        let found: Vec<_> = processes()
            .filter(|number| is_left_in(*number, group))
            .collect();
        if found.is_empty() {
            break;
        }
        let holds = |number: &u32| kill_if(*number, || is_left_in(*number, group));
        killed += found.iter().filter(|number| holds(number)).count();
    }
    killed
}

fn is_left_in(number: u32, group: Group) -> bool {
    let Some(found) = stat_of(number) else {
        return false;
    };
    let is_in = found.group == group.number && found.start_ticks >= group.since;
    // A session that began after the run is somebody else's.
    let session = (found.session != group.number).then(|| stat_of(found.session));
    let is_old =
        |leader: Option<Stat>| leader.is_none_or(|leader| leader.start_ticks <= group.since);
    is_in && !found.is_zombie() && session.is_some_and(is_old)
}

fn stat_of(number: u32) -> Option<Stat> {
    stat(&fs_err::read(format!("/proc/{number}/stat")).ok()?)
}

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
fn processes() -> impl Iterator<Item = u32> {
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

/// Holds the process first and looks again, so that a number that was handed on in between is spared.
fn kill_if(number: u32, is_meant: impl Fn() -> bool) -> bool {
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
