//! The host: HM1xx.

use super::{ClearedBy, Entry, Severity};

/// Entries of the host.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: "HM101",
        slug: "no-systemd",
        severity: Severity::Info,
        title: "No systemd runs here",
        explanation: "\
Jobs can only be put outside of the dispatcher's own process group by a service manager, and the only \
one that this program knows is systemd. Containers, minimal distributions and other init systems have \
none, and that is fine: jobs run in process, as children of the dispatcher.

It follows that whatever stops the dispatcher stops the jobs that run at that moment, and that nothing \
on this host starts the dispatcher again unless the container's runtime or another supervisor does.

If the environment of the dispatcher has INVOCATION_ID all the same, it was handed down from a machine \
that does run systemd. Jobs are then degraded instead of in process. Start it without that variable to \
have the plain case:

  env -u INVOCATION_ID hermes serve",
        cleared_by: ClearedBy::Nothing,
    },
    Entry {
        code: "HM102",
        slug: "chroot",
        severity: Severity::Info,
        title: "This is a chroot",
        explanation: "\
The root directory of this process is not that of the machine. systemd runs outside, but its sockets \
under /run cannot be seen from here, so no worker can be placed and linger says nothing.

Bind /run into the chroot if the dispatcher really has to live in it, or run it outside:

  mount --bind /run /path/to/chroot/run",
        cleared_by: ClearedBy::Nothing,
    },
    Entry {
        code: "HM103",
        slug: "system-bus-down",
        severity: Severity::Warning,
        title: "The system bus does not answer",
        explanation: "\
The system bus carries the questions to logind and, what matters more, those of every user manager to \
PID 1. A user manager may not move a process out of system.slice itself: it asks PID 1 over this bus. \
Without the bus no scope can be made for a dispatcher that runs as a system service, although the user \
manager itself looks perfectly well.

This program then starts its workers as services of the user manager, which needs no bus. Hermes Agent \
cannot: its jobs run degraded, or not at all.

Starting the bus again mends it for user managers that start later. One that was running must be told \
to connect anew; that is HM208.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM104",
        slug: "init-mute",
        severity: Severity::Warning,
        title: "PID 1 does not answer",
        explanation: "\
The system bus works, but systemd itself stayed silent for longer than it ever should. Something \
stopped it, or it waits for a file system that does not come back. Nothing can be started, stopped or \
placed until it answers, and commands such as systemctl hang for 25 seconds and more.

If it was stopped by a signal it can be let go on. Otherwise the kernel's log usually names the disk or \
the mount that it waits for; a reboot may be the only way.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM105",
        slug: "logind-unavailable",
        severity: Severity::Warning,
        title: "logind does not answer",
        explanation: "\
logind makes the runtime directory of an account when it logs in, starts its user manager, and keeps \
both after the logout where linger is on. When it is masked or does not answer, linger can neither be \
read nor set: 'loginctl enable-linger' fails.

A user manager that runs already is not hurt. Up to some version of systemd (252 does, 257 no longer), \
root can start one without logind, until the next boot:

  systemctl start user@UID.service",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM106",
        slug: "cgroup-v1",
        severity: Severity::Info,
        title: "The cgroup hierarchy is of version 1",
        explanation: "\
Scopes work on the old hierarchy as they do on the new one, so jobs survive a restart here as anywhere. \
What is missing: user managers are given no controllers, so the memory limit of a worker is accepted \
and has no effect (HM107).

The kernel's command line decides it. On distributions that offer both, remove the setting that asks \
for the old one, and reboot:

  systemd.unified_cgroup_hierarchy=0",
        cleared_by: ClearedBy::Nothing,
    },
    Entry {
        code: "HM107",
        slug: "no-memory-limit",
        severity: Severity::Info,
        title: "No memory limit is in force for workers",
        explanation: "\
Each worker is given a memory limit, so that one job that runs wild is killed alone instead of taking \
the host along. The limit is enforced by the kernel's memory controller, and the manager that makes the \
scopes was not given it: systemd accepts the limit, shows it, and nothing enforces it.

Jobs run as they always would. To have the limit in force, the controller must reach the account's \
manager: on cgroup version 2 it does so by default; in a container the runtime has to delegate it.",
        cleared_by: ClearedBy::Nothing,
    },
    Entry {
        code: "HM108",
        slug: "memory-overcommitted",
        severity: Severity::Warning,
        title: "All workers together may use more memory than there is",
        explanation: "\
Every worker has a limit of its own: half of the machine's memory, 4 GiB at most. With the number of \
jobs that may run at once, these limits add up to more than the machine has. No single worker then ever \
reaches its limit, and nothing is killed; the machine slows down until nothing moves any more. Swap on \
zram does not help, since it lies in the same memory.

Lower cron.max_parallel_jobs, or give each worker less with TERMINAL_LOCAL_MEMORY_MAX_MB.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM109",
        slug: "wsl-without-systemd",
        severity: Severity::Info,
        title: "WSL runs without systemd",
        explanation: "\
The first kind of WSL cannot run systemd at all. The second can, once it is asked to in /etc/wsl.conf:

  [boot]
  systemd=true

and the distribution has been shut down from Windows with 'wsl.exe --shutdown'. Until then jobs run in \
process, and end with the dispatcher. Remember that WSL ends the whole distribution some time after its \
last session: no job fires while it is down.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM110",
        slug: "clock-behind",
        severity: Severity::Warning,
        title: "The clock is behind the newest file of the home",
        explanation: "\
A file of the home was written later than it is now, by its own time stamp. Either the clock was ahead \
and has been set back, as happens on machines without a battery and in virtual machines that were \
paused, or the home was copied from a machine whose clock is ahead.

Schedules compare times. With a clock that was set back, runs that were recorded as done lie in the \
future, and the next run seems far away: jobs stay silent until the clock has caught up. Check the \
clock first; if it is right, the odd file will soon be the past.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM111",
        slug: "clock-stepped",
        severity: Severity::Warning,
        title: "The clock was set while the scheduler ran",
        explanation: "\
A scheduler writes down when it started. Its start in ticks since boot, which no setting of the clock \
changes, gives another time by the clock of now: somebody, or the network's time, set the clock in between.

What a schedule compares changed under it. After a step forward everything in between is overdue at once; \
after a step back, runs that were recorded lie in the future, and claims and heartbeats look younger than \
they are. Start the scheduler after the clock is right (After=time-sync.target), and anew after a step.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM112",
        slug: "host-suspended",
        severity: Severity::Info,
        title: "The machine was suspended",
        explanation: "\
Since it booted the machine slept for a while: the clock that counts the time since boot is ahead of the \
one that counts only the time awake. No job fires on a machine that sleeps. Afterwards each job that was \
missed is run once, or not, by its catch-up policy, and deadlines of runs that were under way may seem \
long past.",
        cleared_by: ClearedBy::Nothing,
    },
];
