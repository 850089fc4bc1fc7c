//! The dispatching process and the policy: HM301 to HM308, HM341.

use super::{ClearedBy, Entry, Severity};

/// Entries of the dispatching process.
pub(super) const PROCESS: &[Entry] = &[
    Entry {
        code: "HM301",
        slug: "restart-kills-jobs",
        severity: Severity::Warning,
        title: "A restart kills the jobs that run",
        explanation: "\
The jobs live in the cgroup of the service that starts them. When systemd stops or restarts the \
service, it kills what is left in that cgroup: a restart in the middle of the night, an update, or a \
job that restarts its own dispatcher, ends every job that runs at that moment.

The way out is a scope for each job, outside of the service's cgroup; the finding that stands above \
this one says what is in the way. Where no scope can be had at all, KillMode=process in the unit has \
systemd kill only the main process and leave the jobs alone. The price: stopping the service does not \
stop its jobs either.

Outside of a scope a job also ends less thoroughly when it is cancelled, reaches its limit or loses its \
worker: a process that it started, that cleared its environment and left its process group goes on, and so \
does one that moved to a session of its own and outlived a run that ended well. In a scope both end with it.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM302",
        slug: "jobs-refused",
        severity: Severity::Error,
        title: "Every job is refused",
        explanation: "\
The operator asked for restart-safe scopes only (cron.require_restart_safe_scope), and none can be made \
on this host. So no job runs, each with an error that says so. This is what was asked for; it is not \
what anybody wants for long.

The same holds while what is written of that setting cannot be read: a value that is neither true nor \
false, a file that names the setting and does not parse, a file that cannot be read at all. Until it can \
be read it counts as on; hermes config check names the line.

Mend what is in the way, which the finding above this one names. To have jobs run in the meantime, at \
the risk that a restart kills them, set in config.yaml of the home:

  cron:
    require_restart_safe_scope: false",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM303",
        slug: "long-lived-refused",
        severity: Severity::Info,
        title: "Long-lived workers are refused",
        explanation: "\
Workers that are made to run for hours, such as those of the Kanban board, are never started where a \
restart of the service would kill them, whatever the configuration says. No scope can be made here, so \
they are refused. Ordinary jobs are not concerned.

If you use no such workers there is nothing to do. Otherwise mend what keeps jobs from being scoped.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM304",
        slug: "agent-refuses-silently",
        severity: Severity::Error,
        title: "Hermes Agent launches no job on this host",
        explanation: "\
Up to version 0.21.2, Hermes Agent hands each job to systemd-run --user --scope and knows nothing else. \
Where that fails, the job fails before it starts. Nothing is logged as an error, the service is active \
and running, the schedule moves on, and the ledger fills with rows that failed without a start. People \
have found this out after days.

Mend what keeps the scope from being made: the finding above this one. Or update Hermes Agent: later \
versions run such jobs inside the service, where only a restart kills them. For root's system units \
there is usually no user manager at all; this program uses PID 1 for those.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM305",
        slug: "unsupervised",
        severity: Severity::Warning,
        title: "Nothing starts the dispatcher again",
        explanation: "\
The dispatcher runs, but no service manager started it: it was launched from a terminal or put in the \
background. If it crashes, or the host reboots, nothing brings it back, and all schedules stand still \
until somebody notices. Some installers fall back to this without saying so when they cannot reach the \
service manager.

Run it as a unit. With a unit that is installed already, start that; the one that runs by hand must be \
ended first, or the two will fight for the home's lock.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM306",
        slug: "desktop-backend-only",
        severity: Severity::Warning,
        title: "Jobs are run by a desktop application's backend",
        explanation: "\
The only process that ticks this home was started by a desktop application and ends with it. While the \
application is closed, or nobody is logged in, no job fires; what was missed is made up for, or not, \
when it is opened again.

For jobs that must run on time, run a dispatcher of its own as a service. The desktop's backend stands \
down while that owns the home.",
        cleared_by: ClearedBy::Nothing,
    },
    Entry {
        code: "HM307",
        slug: "unit-hides-runtime-dir",
        severity: Severity::Warning,
        title: "ProtectHome= hides the runtime directory",
        explanation: "\
ProtectHome= hides /home and /root from a service, and /run/user with them. There lie the sockets of \
the user manager, so the service cannot reach it, although the account's own shell can.

ProtectHome=read-only still protects the files and lets sockets be used; with it, the home must lie \
outside of /home and /root, or be named in ReadWritePaths=. ProtectHome=no works too.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM308",
        slug: "unit-forbids-unix-sockets",
        severity: Severity::Warning,
        title: "RestrictAddressFamilies= leaves out Unix sockets",
        explanation: "\
The unit lists the kinds of socket that the service may open, and AF_UNIX is not among them. D-Bus runs \
over Unix sockets, so no service manager can be reached; logging and name look-ups suffer as well. \
A serve cannot listen for its clients then, and ends right after each start.

Add AF_UNIX to the list. The other usual ways to harden a unit do not stand in the way.",
        cleared_by: ClearedBy::Remedy,
    },
];

/// Entries of launches that failed.
pub(super) const LAUNCHES: &[Entry] = &[
    Entry {
        code: "HM331",
        slug: "property-rejected",
        severity: Severity::Error,
        title: "systemd does not know a property that the dispatcher asks for",
        explanation: "\
The dispatcher hands properties along when it asks for a scope: limits, and what to do when memory runs \
out. This systemd is older than one of them and refuses the whole request, so no job launches. It has \
nothing to do with the bus, with linger, or with variables; setting those changes nothing.

This program drops what is refused and asks again. Versions of Hermes Agent differ in what they ask \
for: update it, or update systemd. The words of systemd are in the evidence.",
        cleared_by: ClearedBy::GoodRun,
    },
    Entry {
        code: "HM332",
        slug: "launch-failed",
        severity: Severity::Warning,
        title: "The last job did not launch",
        explanation: "\
The newest execution that ended failed before anything ran. Where its words are those of systemd or its \
tools, the summary says what they mean, and the evidence quotes them; words that are not known are quoted \
as they are, and no meaning is made up for them.

If what they speak of is still so, another finding names it and this one stands under it. If not, the \
host was mended since, or the failure passed by itself: the next good run clears this.",
        cleared_by: ClearedBy::GoodRun,
    },
];

/// Entries of the policy.
pub(super) const POLICY: &[Entry] = &[Entry {
    code: "HM341",
    slug: "policy-without-effect",
    severity: Severity::Info,
    title: "Restart-safe scopes are required, without effect",
    explanation: "\
cron.require_restart_safe_scope keeps jobs of a supervised dispatcher from running where a restart \
would kill them. It says nothing about a dispatcher that no service manager supervises: there, jobs run \
in process and end with it. Hermes Agent up to 0.21.2 does not know the key.

Run the dispatcher as a service for the setting to mean something.",
    cleared_by: ClearedBy::Nothing,
}];
