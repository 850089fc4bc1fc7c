//! What a run left in its process group: it has no mark, where it cleared its environment. The number of a
//! group can be somebody else's by now, so all that was recorded of it must fit. What left the group as well is
//! not found.

use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use crate::child::leftovers::{ROUNDS, kill_if, processes};
use crate::child::spawn::Watch;
use crate::host::proc::Stat;
use crate::host::process_probe::stat;
use crate::ledger::Group;

/// How long the leader of a group that is being killed is waited for.
const LEADER: Duration = Duration::from_secs(3);

/// Kills what is left in a group of this boot whose leader the kernel kills with its parent, which is gone. Returns
/// how many it killed.
///
/// No pid is given anew as long as there is a group of that number: where its leader lives it is the recorded one,
/// or the number is somebody else's. Where it is gone, what was made in another session is somebody else's.
#[must_use]
pub(super) fn kill_left_in(group: Group) -> usize {
    if let Ok(Some(leader)) = Watch::of(group.number) {
        let is_its =
            stat_of(group.number).is_some_and(|found| found.start_ticks == group.leader_start);
        if !is_its || !leader.ends_within(LEADER) {
            return 0;
        }
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
    let is_in = |found: Stat| {
        (found.group, found.session) == (group.number, group.session)
            && found.start_ticks >= group.leader_start
            && !found.is_zombie()
    };
    stat_of(number).is_some_and(is_in) && is_our_users(number)
}

/// Whether a process is of the account that runs the jobs: nobody else's is killed on a likeness.
fn is_our_users(number: u32) -> bool {
    let owner = fs_err::metadata(format!("/proc/{number}")).map(|process| process.uid());
    owner.is_ok_and(|uid| uid == rustix::process::geteuid().as_raw())
}

fn stat_of(number: u32) -> Option<Stat> {
    stat(&number.to_string())
}
