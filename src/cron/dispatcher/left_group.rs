//! What a run left in its process group: it has no mark, where it cleared its environment. The number of a
//! group can be somebody else's by now, so more must fit than the number. What left the group as well is not
//! found.

use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use crate::child::leftovers::{ROUNDS, kill_if, processes};
use crate::child::spawn::Watch;
use crate::host::proc::{Stat, stat};

/// How long the leader of a group that is being killed is waited for.
const LEADER: Duration = Duration::from_secs(3);

/// A process group, and when whoever made it began, in clock ticks since boot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// Its number: the pid of its leader.
    pub(super) number: u32,
    /// No process in it is older.
    pub(super) since: u64,
}

/// Kills what is left in a group whose leader the kernel kills with its parent, which is gone. Returns how many
/// it killed.
///
/// No pid is given anew as long as there is a group of that number. One that was given anew leads, for the most
/// part, a group that has its leader, or a session; neither is touched.
#[must_use]
pub(super) fn kill_left_in(group: Group) -> usize {
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
    is_in && !found.is_zombie() && is_our_users(number) && session.is_some_and(is_old)
}

/// Whether a process is of the account that runs the jobs: nobody else's is killed on a likeness.
fn is_our_users(number: u32) -> bool {
    let owner = fs_err::metadata(format!("/proc/{number}")).map(|process| process.uid());
    owner.is_ok_and(|uid| uid == rustix::process::geteuid().as_raw())
}

fn stat_of(number: u32) -> Option<Stat> {
    stat(&fs_err::read(format!("/proc/{number}/stat")).ok()?)
}
