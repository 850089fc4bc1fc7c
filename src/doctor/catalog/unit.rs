//! Units and what they give to the dispatcher: HM309 to HM319.

use super::{ClearedBy, Entry, Severity};

/// Entries of units.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: "HM309",
        slug: "unit-needs-daemon-reload",
        severity: Severity::Warning,
        title: "The unit file has changed since systemd read it",
        explanation: "\
Somebody edited the unit or one of its drop-ins, and systemd still works with what it read before. The \
next restart starts the old version of the unit, and what you see in the file is not what is in force.

Have systemd read it again, then restart the unit at a good moment.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM310",
        slug: "unit-not-loaded",
        severity: Severity::Error,
        title: "systemd cannot load the unit",
        explanation: "\
The unit is known by name, and its file is missing, cannot be parsed, or has a setting that systemd \
refuses. It cannot be started. LoadError in the evidence has systemd's own words;

  systemd-analyze verify UNIT

names the line. A program that was uninstalled or moved often leaves such a unit behind.

A unit that runs this program can be written anew, as 'hermes service print' prints it; what the old file \
said besides is then kept under another name, and not in force. Where drop-ins are laid over the unit, one \
of those may be what is wrong.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM311",
        slug: "unit-masked",
        severity: Severity::Warning,
        title: "The unit is masked",
        explanation: "\
A masked unit is linked to /dev/null: nothing can start it, neither boot nor hand nor another unit. \
Somebody did that on purpose, often to keep a second scheduler away. Make sure that the reason is gone \
before lifting it.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM312",
        slug: "unit-condition-failed",
        severity: Severity::Warning,
        title: "A condition of the unit does not hold",
        explanation: "\
Lines such as ConditionPathExists= make systemd skip the start of a unit when they do not hold. It is \
not an error for systemd: the unit is simply inactive, and boot goes on. The summary names the condition; \
systemd asks no further than the first that does not hold, so that another may come after it.

Make it true. Where it is no longer meant, drop it: an empty Condition line in a drop-in takes all of them \
away, and those that hold are named again after it.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM313",
        slug: "unit-failed",
        severity: Severity::Error,
        title: "The unit failed and does not run",
        explanation: "\
The dispatcher ended in a way that systemd calls a failure, and is not started again: Restart= does not \
ask for it, or it failed so often that systemd gave up (start-limit-hit). No job fires until it runs.

The journal of the unit has its last words:

  journalctl -u UNIT -n 50

Common results: exit-code (it ended with an error), oom-kill (out of memory), timeout (it did not say \
that it was ready, or did not stop in time), signal (something killed it).",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM314",
        slug: "unit-restarting",
        severity: Severity::Warning,
        title: "systemd restarts the dispatcher again and again",
        explanation: "\
The dispatcher runs now, but systemd has had to restart it several times, the last time minutes ago. \
Between two lives no job fires, and jobs that are not scoped die with each of them. If it goes on, \
systemd will give up and leave the unit failed.

Look at the last lines before each restart:

  journalctl -u UNIT",
        cleared_by: ClearedBy::GoodRun,
    },
    Entry {
        code: "HM315",
        slug: "unit-not-enabled",
        severity: Severity::Warning,
        title: "The unit does not start at boot",
        explanation: "\
The dispatcher runs from a unit that was started by hand. Nothing starts it at the next boot: schedules \
stand still from then on, until somebody starts it again. Transient units, made with systemd-run, are \
gone after a boot altogether; write a unit file for those.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM316",
        slug: "home-differs",
        severity: Severity::Info,
        title: "Shell and service use different homes",
        explanation: "\
The dispatcher serves one home, and commands in this shell look at another: HERMES_HOME differs, or is \
set for one of them only. Jobs that you create here are then never run by that service, and its jobs do \
not show up in your lists.

This report judges the dispatcher's home. Set HERMES_HOME in the shell, or give --home, to work on the \
same one.",
        cleared_by: ClearedBy::Nothing,
    },
    Entry {
        code: "HM317",
        slug: "programs-missing",
        severity: Severity::Warning,
        title: "Programs that the dispatcher or its jobs call are not on its PATH",
        explanation: "\
What the dispatcher calls by bare name is looked for in the PATH of the service, not in that of your \
shell, and these programs are in none of its directories. Hermes Agent places its workers with \
systemd-run: without it, jobs run degraded or not at all. Without date, head and ls hardly any script \
works. A unit without Environment=PATH= gets a short \
list from systemd; generated units may list even less.

Give the unit the PATH that it needs. Jobs inherit it, so programs that they call are found too.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM318",
        slug: "unit-not-running",
        severity: Severity::Error,
        title: "The unit is installed and does not run",
        explanation: "\
A unit that would run the dispatcher is installed and sound, and it is not running; nor is any other \
dispatcher. No job fires.

Start it, and enable it if it is to start at boot.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM319",
        slug: "root-dispatcher",
        severity: Severity::Info,
        title: "The dispatcher runs as root",
        explanation: "\
A system unit without User= runs as root, and so does what a shell of root's started. Whatever a job or an \
agent does, it does with root's rights: a prompt that went wrong can change any file of this host.

Root has no user manager, except while it is logged in or lingers, and a scope that was made there would die \
at root's logout. So this program lets PID 1 place root's workers; that needs neither linger nor a session \
bus, and survives restarts. Hermes Agent does not do that: as root it depends on root's user manager.

Give the dispatcher an account of its own, and the home to that account; then set User= in the unit:\n\n  \
useradd --system --create-home bot\n  cp -a HOME /home/bot/.hermes && chown -R bot: /home/bot/.hermes\n  \
systemctl edit UNIT\n  systemctl restart UNIT\n\n\
Where root's rights are what the jobs need, nothing is to be done.",
        cleared_by: ClearedBy::Person,
    },
];
