//! 6xx: the ledger of runs.

use super::ClearedBy::{GoodRun, Remedy};
use super::Entry;
use crate::doctor::finding::Severity::{Error, Info, Warning};

/// The entries, in the order of their codes.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: "HM601",
        slug: "jobs-never-launch",
        severity: Error,
        title: "jobs are dispatched and never start",
        explanation: "Three dispatches in a row and more have failed before anything ran: the row has no start. The \
scheduler is well, the jobs are well, and what cannot be done is to start a worker. On versions of Hermes Agent \
that demand a scope of their own for each worker this is what a missing user manager or a missing session bus \
looks like. The errors are quoted and counted; the findings about the session bus and linger say what is \
missing.",
        cleared_by: GoodRun,
    },
    Entry {
        code: "HM602",
        slug: "run-abandoned",
        severity: Warning,
        title: "a run is open, and its owner has ended",
        explanation: "The ledger says that a job is claimed or running, and the process that said so has ended: no \
process has its pid, or the one that has it started at another time. How the run ended is not known. Until \
the row is closed, further runs of the job may be refused. A scheduler closes such rows when it starts and \
every five minutes; where none runs, one tick by hand does.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM603",
        slug: "run-unverified",
        severity: Info,
        title: "a run is open, and its owner cannot be verified",
        explanation: "A process has the pid of the owner, but whether it is the owner cannot be told: its start was \
not recorded, or it ran in another container. An owner that cannot be checked is never taken for dead, so the \
row stays. After two hours without a sign of life this is a warning: look at the process yourself.",
        cleared_by: GoodRun,
    },
    Entry {
        code: "HM604",
        slug: "run-hung",
        severity: Warning,
        title: "a run shows no progress",
        explanation: "The owner lives, and nothing was heard from the run for longer than any run should take: three \
times HERMES_CRON_TIMEOUT, two hours at least. It may hang. Scripts of Hermes Agent show no progress while they \
run, so a long one looks the same; look before you end it.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM605",
        slug: "run-cut-short",
        severity: Warning,
        title: "runs were cut short",
        explanation: "Runs of this job were ended from outside in the last seven days: with the service that was \
restarted, with the user manager at a logout, by the kernel for want of memory, by a signal, with the machine. \
Causes and dispatch modes are counted. Hermes Agent records no cause: where the words of its error name one, it \
is told as 'by its error', and where they do not, the cause is 'not recorded'; nothing is guessed. A job that has run well since is told for your information only.\n\n\
A worker in a scope of its own is not touched by a restart of the service. The header of the report says which \
mode your jobs are dispatched in, and what would change it.",
        cleared_by: GoodRun,
    },
    Entry {
        code: "HM607",
        slug: "occurrence-missing",
        severity: Warning,
        title: "slots passed without a record",
        explanation: "The schedule names times at which the job should have fired, and the ledger, which reaches \
back further, has no row for them: not even a failed one. The times are computed from the schedule, in its zone \
and across changes of daylight saving time, not from the stored next run, which only ever shows the future. \
Only what the kept rows can prove is claimed. The ledger does not know of pauses: slots of a time in which the \
job was paused are counted too.\n\n\
Once the job has fired on time again, it is told for your information only.",
        cleared_by: GoodRun,
    },
    Entry {
        code: "HM608",
        slug: "slot-ahead-of-run",
        severity: Warning,
        title: "a slot is booked on a run that came before it",
        explanation: "A completed row names a slot that came after its end. A run by hand, or a lost slot, was \
booked as that slot. If the slot has passed, it did not run, whatever the row says. If it is still to come, it \
will be taken for done and left out. A good run that comes after it makes up for the slot, and clears this.",
        cleared_by: GoodRun,
    },
    Entry {
        code: "HM610",
        slug: "bookkeeping-lost",
        severity: Info,
        title: "a run is done, and its bookkeeping was lost",
        explanation: "The work came to its end, but the claim on the job was lost before the end could be written \
down, so that the row says 'failed'. Work and bookkeeping are two things: look at the output before you run it \
again, or it is done twice.",
        cleared_by: GoodRun,
    },
    Entry {
        code: "HM611",
        slug: "result-not-delivered",
        severity: Warning,
        title: "a run is done, and its result was not delivered",
        explanation: "The last run is complete and its output lies in cron/output, but its message failed, still \
waits after ten minutes, or was never recorded as sent. A service that ends between the work and the delivery \
leaves that behind.",
        cleared_by: GoodRun,
    },
    Entry {
        code: "HM612",
        slug: "one-shot-refiring",
        severity: Error,
        title: "a one-shot fires again and again",
        explanation: "A job that is to run once was started three times and more within five minutes. Something \
ends the run before it can be marked as done, and the scheduler starts it anew: typically the job restarts the \
very service that runs it. Pause it before anything else: a one-shot that is paused or has ended, and one that \
was last started more than a day ago, is the past.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM613",
        slug: "slot-run-twice",
        severity: Warning,
        title: "one slot was run twice",
        explanation: "Two runs were started for one slot of one job in the last seven days. Two schedulers on one \
home do that where their lock does not hold, and so does a restart of the service while the first run still \
goes on. The owners of both are shown.",
        cleared_by: GoodRun,
    },
    Entry {
        code: "HM614",
        slug: "worker-leftovers",
        severity: Info,
        title: "files of workers are left over",
        explanation: "A worker of Hermes Agent is handed its job in a file that it removes when it starts. These \
belong to no run under way: the worker never started, or the gateway ended in between. The last words of a \
worker, if it had any, say why. The files do no harm, but hold the text of jobs.",
        cleared_by: Remedy,
    },
];
