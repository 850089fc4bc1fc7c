//! 4xx: the ticker, its locks, its process.

use super::ClearedBy::{Person, Remedy};
use super::Entry;
use crate::doctor::finding::Severity::{Error, Info, Warning};

/// The entries, in the order of their codes.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: "HM401",
        slug: "nothing-scheduled",
        severity: Info,
        title: "nothing is scheduled here",
        explanation: "The home that was looked at has no jobs, no loops and no heartbeats, and nothing serves \
it; or there is no such home, or every job of it is paused. That is no fault. It is told because it is also what one sees when the wrong \
home was looked at: under sudo the home is root's, in a unit it is that of its User=.\n\n\
The report names the home and what chose it. If your jobs are in another one, name it:\n\n  \
hermes cron doctor --home DIR\n\n\
If this is the right one, make a first job and start a scheduler:\n\n  \
hermes cron create 'every 30m' 'say hello'\n  hermes serve",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM402",
        slug: "no-scheduler",
        severity: Error,
        title: "jobs wait, and nothing ticks them",
        explanation: "A job fires because some process looks at the job store every minute: 'hermes serve', or \
the gateway of Hermes Agent. None that serves this home could be found, and the heartbeat that each of them \
writes is missing or old. Nothing will fire until one runs. This is the most common reason for jobs that \
never fire.\n\n\
A plain 'hermes serve' of Hermes Agent does not count: it runs no ticker, only the backend that its desktop \
application starts does.\n\n\
Start the service, and see to it that it comes back after a reboot and does not end with your last logout; \
findings about linger and the unit say whether it will. As root, as the account, or by hand:\n\n  \
systemctl enable --now UNIT\n  systemctl --user enable --now UNIT\n  hermes serve --home HOME",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM403",
        slug: "ticker-dead",
        severity: Error,
        title: "the process runs, its ticker does not",
        explanation: "The process that should tick lives and may answer requests, but its heartbeat is older \
than three passes and nobody holds the tick lock: the part of it that looks at the jobs has ended or sleeps. \
From outside everything looks well; no job fires.\n\n\
Restart it. If it happens again, its log of the moment of the last heartbeat has the reason; a descriptor \
limit that was reached is a frequent one.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM404",
        slug: "tick-hung",
        severity: Error,
        title: "one tick runs and runs",
        explanation: "The heartbeat is old, and the tick lock is held: a tick began and has not come to its end. \
Up to ten minutes that may be a slow disk or very many jobs; after that it hangs. As long as the lock is held \
no other scheduler and no 'hermes cron tick' can run.\n\n\
The report names the process that holds the lock. Restart it; a dead network mount under the home or under a \
job's working directory is a frequent reason.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM405",
        slug: "never-ticked",
        severity: Error,
        title: "the process runs and has never ticked here",
        explanation: "A process that should tick this home has been running for longer than a first tick takes, \
and there is no heartbeat. Unknown is not healthy: either it serves another home, or its ticker never came \
up, or it may not write into cron/.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM406",
        slug: "ticks-failing",
        severity: Error,
        title: "it ticks, and the ticks fail",
        explanation: "The heartbeat is fresh: the ticker goes round. But the marker of the last good tick is old \
or missing, so each pass ends in an error, or is left out because somebody else holds the tick lock, and no job \
is dispatched. The error of the last pass is quoted, and whoever holds the lock is named with pid, command and age; where \
nobody holds it any more, the log of serve has who did. \
Typical ones are a job store that the service may not read, a full disk, and a damaged store; these are \
findings of their own, and this one then stands under them.\n\n\
Right after a start there may be no good tick yet; that is a warning and goes away by itself.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM407",
        slug: "store-unowned",
        severity: Error,
        title: "no ticker owns the store of a profile",
        explanation: "Each profile has a job store of its own. A gateway of Hermes Agent ticks all of them in \
turn; our serve ticks its own home alone. Here another profile is ticked and this one is not: no serve was \
started for it, or the gateway does not know the profile, or was started before it was made.\n\n\
Where a gateway ticks the others, restart that one. Do not start a second one for this profile: it is refused, \
and a unit that restarts it for ever does more harm than good. Where a serve of ours ticks the others, start \
one more with the home of this profile; 'hermes --profile NAME service print' makes its unit.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM408",
        slug: "other-home",
        severity: Warning,
        title: "the scheduler serves another home",
        explanation: "A scheduler runs, but its HERMES_HOME is not the home that was looked at. Jobs that you \
make here are never seen by it, and the other way round; both stores look well. The report shows both paths \
and how many jobs each holds.\n\n\
Say which one you mean with --home or HERMES_HOME, or change the home of the service.",
        cleared_by: Person,
    },
    Entry {
        code: "HM409",
        slug: "second-scheduler",
        severity: Warning,
        title: "two processes would tick one home",
        explanation: "Two schedulers on one home can fire one slot twice; what keeps them from it is one file \
lock, which does not hold on every file system. End the one that you do not need, by its unit where it has \
one.\n\n\
If one of them is this program and the other the gateway of Hermes Agent, no slot is fired twice: this program \
leaves cron to the gateway as long as that runs, and this is only for your information.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM411",
        slug: "restart-storm",
        severity: Warning,
        title: "the gateway starts again and again",
        explanation: "Three starts and more within a quarter of an hour. Jobs that start in such a short life are \
killed with it, and their slots are used up. Find out why it ends before you look at the jobs: the journal of \
the unit has it. An out-of-memory kill, a left-over pid file and a user manager that stops are frequent.",
        cleared_by: Person,
    },
    Entry {
        code: "HM412",
        slug: "stale-pid-file",
        severity: Warning,
        title: "a pid file is left over",
        explanation: "gateway.pid names a process that has ended, by pid and start time, and nobody holds the \
gateway's lock. It was not removed because the process was killed. Some versions of Hermes Agent take it for a \
second gateway and refuse to start until the start limit of the unit is reached. The doctor leaves it alone; \
remove it.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM413",
        slug: "clock-backwards",
        severity: Warning,
        title: "the clock went backwards",
        explanation: "A stamp that was written by this host lies in its future. The clock was ahead and has been \
set back, as on boards without a battery, or the home comes from a host whose clock is ahead. Until the time \
catches up, ages of heartbeats and claims cannot be trusted, and claims look younger than they are.\n\n\
See to it that the clock is synchronised before the service starts: After=time-sync.target.",
        cleared_by: Person,
    },
    Entry {
        code: "HM414",
        slug: "zone-changed",
        severity: Warning,
        title: "the time zone was changed under a running scheduler",
        explanation: "Hermes Agent reads its time zone once, at its start. Since then /etc/localtime, or the file \
that names the zone, was changed. It goes on in the old zone, while every command that you type uses the new \
one, so that next runs are stored hours off. Restart it: on a restart wall-clock times are kept.\n\n\
For config.yaml only the time of the change is known, not whether it was the zone that changed.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM415",
        slug: "emergency-stop",
        severity: Warning,
        title: "an emergency stop is in force",
        explanation: "Somebody ran 'hermes pause', or a file ESTOP was put into the home or into the root home \
above it. While it is there, no job and no timer fires, in this program and in Hermes Agent; runs under way go \
on. Everything that looks overdue meanwhile is so because of it.\n\n\
When what made it necessary is over:\n\n  hermes resume",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM416",
        slug: "some-jobs-paused",
        severity: Info,
        title: "some jobs of the home are paused",
        explanation: "Beside jobs that fire there are jobs that somebody paused: by 'hermes cron pause', or in \
Hermes Agent. They keep their schedule and fire at none of its slots until they are resumed. That is no fault, but \
a pause that was forgotten looks like a scheduler that fails.\n\n\
Which they are, since when and why:\n\n  hermes cron list --all\n\n\
To arm one again; its next run is counted from then on:\n\n  hermes cron resume JOB",
        cleared_by: Remedy,
    },
];
