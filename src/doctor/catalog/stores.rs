//! 8xx: files, databases, disks.

use super::ClearedBy::{Nothing, Person, Remedy};
use super::Entry;
use crate::doctor::finding::Severity::{Error, Info, Warning};

/// The entries, in the order of their codes.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: "HM802",
        slug: "store-unreadable",
        severity: Error,
        title: "a store cannot be read",
        explanation: "A directory, a FIFO, a loop of links or something else that is no file lies where a store \
should be, or the account of the service may not read it. Unreadable is never taken for empty: nothing is \
written over it.",
        cleared_by: Person,
    },
    Entry {
        code: "HM803",
        slug: "jobs-damaged",
        severity: Error,
        title: "the job store is damaged or gone",
        explanation: "cron/jobs.json is not what it should be: cut off, empty, no JSON, or of another shape; line \
and column say where reading ended. Or it is missing although runs are kept. No job fires, and every change of \
a job is refused, so that what is left is not overwritten.\n\n\
If a usable copy lies beside it, the newest is named with the number of its jobs. Compare before you copy: jobs \
that were made since are not in it. Otherwise mend the file at the place that is named, and prove it with:\n\n  \
python3 -m json.tool cron/jobs.json",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM804",
        slug: "jobs-odd",
        severity: Info,
        title: "the job store is odd, and can be read",
        explanation: "A byte order mark that an editor left, a bare list, a map instead of a list, or a raw control \
character. This program and Hermes Agent read it all the same, and the next change of a job writes it in its \
usual form. Other tools, and older versions, may not: some have taken such a file for an empty one.",
        cleared_by: Person,
    },
    Entry {
        code: "HM805",
        slug: "wrong-owner",
        severity: Error,
        title: "the service may not use a file of its home",
        explanation: "Owner and mode of the path do not let the uid of the service do what it must. Mostly a command \
was run as root in the home of another account, so that a file was written anew as root's: every tick then \
fails, while the heartbeat stays fresh. Give the file back, and run commands as the account of the service \
(sudo -u) from then on.\n\n\
Judged by owner and mode alone; access control lists are not looked at.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM806",
        slug: "read-only",
        severity: Error,
        title: "the home cannot be written",
        explanation: "The file system under the home is mounted read-only. Nothing can be recorded, so nothing is \
dispatched. A kernel that met errors on a disk mounts it so: look at its log before you mount it for writing \
again. In a unit, ReadOnlyPaths= and ProtectHome=read-only do the same for the service alone.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM807",
        slug: "disk-nearly-full",
        severity: Warning,
        title: "the disk is nearly full",
        explanation: "Little room or few inodes are left where the home lies. On a full disk a store cannot be \
replaced, so the old one stays and the tick fails; databases fail in worse ways. With next to nothing left this \
is an error. Old outputs of jobs are a good place to begin.",
        cleared_by: Person,
    },
    Entry {
        code: "HM808",
        slug: "output-large",
        severity: Warning,
        title: "outputs of jobs pile up",
        explanation: "One job has kept very many outputs. cron.output_retention, 50 unless set, keeps the newest of \
each job; a value of 0 or less keeps all.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM809",
        slug: "database-damaged",
        severity: Error,
        title: "a database is damaged",
        explanation: "The database was read as a copy in memory, and is malformed, cut off, empty, or no database at \
all; the kind is told apart because the remedies differ. Nothing was changed.\n\n\
Stop everything that uses it first: copying or moving the file under a live process can cost that process its \
locks. Then put it aside; 'sqlite3 FILE .recover' gets out what can be got. Without cron/executions.db only the \
history of runs is lost; without state.db the sessions are.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM811",
        slug: "database-locked",
        severity: Warning,
        title: "a database is held by a writer",
        explanation: "A process kept a lock for writing through two looks. Writers of these stores are done within \
milliseconds, so one that goes on holding is stuck, or something else, such as a backup, has the store. Others \
wait five seconds for it and then fail with 'database is locked'.",
        cleared_by: Person,
    },
    Entry {
        code: "HM812",
        slug: "newer-format",
        severity: Warning,
        title: "a store was written by a newer program",
        explanation: "Its format, or the version of its schema, is newer than what this program knows. What was read \
from it may be incomplete, and nothing will be written to it that its own program might misread. Update this \
program.",
        cleared_by: Person,
    },
    Entry {
        code: "HM813",
        slug: "locks-unreliable",
        severity: Warning,
        title: "the home lies where locks may not hold",
        explanation: "The home is on a network or user-space file system. The locks that keep two schedulers apart, \
and those of the databases, may not hold there, or not between hosts, and a lock whose holder has gone may stay. \
Databases have been damaged that way. Put the home on a local disk; copies of it can go anywhere.",
        cleared_by: Nothing,
    },
    Entry {
        code: "HM814",
        slug: "home-moved",
        severity: Info,
        title: "the home was written somewhere else",
        explanation: "Records in this home name another home as their own: it was copied or moved, or it is reached \
by two names. That does no harm by itself. But a copy of a home that is still served elsewhere has the same jobs, \
and two schedulers then do everything twice.",
        cleared_by: Nothing,
    },
];
