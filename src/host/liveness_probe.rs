//! Observes the process that a record names, for the judgement in `liveness`. Touches only what a
//! confined process may still read: `kill(pid, 0)`, `stat` and `cmdline`.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::command;
use super::facts::{Machine, Role};
use super::liveness::{BootMark, Identity, Liveness, Observation, Signal, judge};
use super::process_probe::{command_line, started_at, stat};

/// The boot of this machine or container, as records name it.
#[must_use]
pub fn boot_mark(machine: &Machine) -> Option<BootMark> {
    Some(BootMark {
        id: machine.boot.id.known()?.clone(),
        init_start: machine.boot.init_start.known().copied(),
    })
}

/// Looks for the recorded process and judges whether it lives. `kin` says whether a role is of the kind
/// that the record speaks of.
#[must_use]
pub fn liveness(recorded: &Identity, machine: &Machine, kin: fn(Role) -> bool) -> Liveness {
    judge(recorded, &observe(recorded.pid, machine, kin))
}

/// Observes a pid.
#[must_use]
pub fn observe(pid: u32, machine: &Machine, kin: fn(Role) -> bool) -> Observation {
    let name = pid.to_string();
    let signal = signal(pid);
    // `/proc` of another pid namespace would speak of somebody else.
    let visible = machine.namespaces.proc_is_ours && signal == Signal::Exists;
    let stat = visible.then(|| stat(&name)).flatten();
    let argv = if visible {
        command_line(&name)
    } else {
        Vec::new()
    };
    let role = command::read(&argv, None).map_or(Role::Other, |command| command.role);
    Observation {
        signal,
        start_ticks: stat.as_ref().map(|stat| stat.start_ticks),
        started_at: stat
            .as_ref()
            .map(|stat| started_at(&machine.boot, stat.start_ticks)),
        zombie: stat.as_ref().is_some_and(super::proc::Stat::is_zombie),
        kin: (!argv.is_empty()).then(|| kin(role)),
        boot: boot_mark(machine),
        pid_namespace: machine.namespaces.pid_inode,
        ticks_per_second: machine.boot.ticks_per_second,
    }
}

/// Observes a pid for a record that names its start and its boot, and nothing else. Needs no look at
/// the machine, so it costs two reads.
#[must_use]
pub fn observe_here(pid: u32, boot: Option<BootMark>) -> Observation {
    let signal = signal(pid);
    let name = pid.to_string();
    let stat = (signal == Signal::Exists).then(|| stat(&name)).flatten();
    Observation {
        start_ticks: stat.as_ref().map(|stat| stat.start_ticks),
        started_at: None,
        zombie: stat.as_ref().is_some_and(super::proc::Stat::is_zombie),
        kin: None,
        boot,
        pid_namespace: None,
        ticks_per_second: rustix::param::clock_ticks_per_second(),
        signal,
    }
}

fn signal(pid: u32) -> Signal {
    let known = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let Some(pid) = known else {
        return Signal::Gone;
    };
    match test_kill_process(pid) {
        Ok(()) | Err(Errno::PERM) => Signal::Exists,
        Err(Errno::SRCH) => Signal::Gone,
        Err(error) => Signal::Unasked(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command as Process, Stdio};

    use super::*;
    use crate::clock::{Clock, SystemClock};
    use crate::host::facts::Environment;
    use crate::host::liveness::Death;
    use crate::host::machine_probe::machine;

    fn this_machine() -> Machine {
        machine(&Environment::default(), SystemClock.now())
    }

    fn own() -> Identity {
        let pid = std::process::id();
        Identity {
            pid,
            start_ticks: stat(&pid.to_string()).map(|stat| stat.start_ticks),
            ..Identity::default()
        }
    }

    #[test]
    fn we_are_alive_and_nobody_else() {
        let machine = this_machine();
        let own = Identity {
            boot: boot_mark(&machine),
            pid_namespace: machine.namespaces.pid_inode,
            ..own()
        };
        assert_eq!(liveness(&own, &machine, |_| true), Liveness::Alive);
        let earlier = Identity {
            start_ticks: Some(1),
            ..own
        };
        assert_eq!(liveness(&earlier, &machine, |_| true), Liveness::Reused);
    }

    #[test]
    fn b106_our_pid_without_a_start_is_judged_by_its_command_line() {
        let bare = Identity {
            pid: std::process::id(),
            ..Identity::default()
        };
        let gateway = |role| role == Role::Gateway;
        assert_eq!(
            liveness(&bare, &this_machine(), gateway),
            Liveness::Reused,
            "a test is no gateway"
        );
    }

    #[test]
    fn b105_an_ended_process_is_gone_once_it_is_reaped() {
        #[expect(
            clippy::disallowed_methods,
            reason = "a test needs a process that ends"
        )]
        let mut child = Process::new("/bin/true")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let machine = this_machine();
        let recorded = Identity {
            pid: child.id(),
            start_ticks: stat(&child.id().to_string()).map(|stat| stat.start_ticks),
            ..Identity::default()
        };
        child.wait().unwrap();
        assert_eq!(
            liveness(&recorded, &machine, |_| true),
            Liveness::Dead(Death::Gone)
        );
    }

    #[test]
    fn pid_zero_and_absurd_pids_are_nobody() {
        assert_eq!(signal(0), Signal::Gone);
        assert_eq!(signal(u32::MAX), Signal::Gone);
        assert_eq!(signal(1), Signal::Exists);
    }
}
