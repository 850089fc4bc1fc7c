//! 5xx: jobs and their schedules.

use super::ClearedBy::{GoodRun, Person, Remedy};
use super::Entry;
use crate::doctor::finding::Severity::{Error, Info, Warning};

/// The entries, in the order of their codes.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: "HM501",
        slug: "job-overdue",
        severity: Error,
        title: "a job is overdue",
        explanation: "Its next run lies more than a quarter of an hour in the past. A scheduler that works \
moves that time on at every tick, so either nothing ticks, or the ticks fail, or this job is passed over. If \
one of these could be seen it is a finding of its own, and this one stands under it.\n\n\
When a scheduler runs again, it runs an overdue job once, however many of its times have passed, unless \
cron.catch_up_missed is false.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM502",
        slug: "no-next-run",
        severity: Error,
        title: "a job has no next run",
        explanation: "It is switched on and has a schedule, but its next_run_at is null, or is no time. Hand \
edits and migrations leave that behind. Some schedulers compute the time anew, others pass over the job at every \
tick for ever. Resuming the job computes it.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM503",
        slug: "next-run-off-schedule",
        severity: Warning,
        title: "a next run is not on its schedule",
        explanation: "The stored next run is none of the times that the schedule names, or lies further ahead \
than its interval; or a one-shot was moved and its next run still is the old time. The schedule was changed \
behind the scheduler's back. Depending on the version the job fires at the wrong time, or is put right without \
firing, so that one of its times is lost.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM504",
        slug: "next-run-wrong-offset",
        severity: Warning,
        title: "a next run was stored in another time zone",
        explanation: "The stored next run has an offset that the zone of the schedules does not have at that \
instant. Two processes use two zones: one wrote the time, the other will read it. Both wall clocks are shown. \
The usual reasons are a zone that was set in config.yaml after the service had started, and a service that \
falls back to UTC because it has no zone at all.\n\n\
Where the wall clock that was stored is one of the schedule's, the next pass of our own serve sets the run to the \
next such time of its zone, and records the slot that goes; Hermes Agent waits for the stored one, and then moves \
or runs it. Restart the scheduler, then resume the job.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM505",
        slug: "one-shot-missed",
        severity: Error,
        title: "a one-shot was missed",
        explanation: "It was to run once, its time has passed by more than the two minutes of grace, and it never \
ran. Whether a next run is still stored or not makes no difference: it is not waiting any more, it was missed. \
Run it now, or remove it.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM506",
        slug: "recurring-ended-itself",
        severity: Error,
        title: "a recurring job ended itself",
        explanation: "It is to run for ever, and was written back as completed and switched off. Nobody paused \
it. A scheduler that could not compute its next run, for want of its library or of a zone, has taken it for a \
job that is done. Switch it on again, and look whether its next run is right.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM507",
        slug: "schedule-unusable",
        severity: Error,
        title: "a schedule cannot be used",
        explanation: "The schedule is missing or cannot be understood, names a day that never comes such as the \
30th of February, or is an interval of nothing. Such a job never fires, or fires at every tick. A job in state \
'error' is told here too: a scheduler gave up on computing its next run.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM508",
        slug: "job-malformed",
        severity: Warning,
        title: "the record of a job is damaged",
        explanation: "A record has no id or one that another job has, a field holds the wrong kind of value, or \
an entry of the list is no record at all. One such record must not keep the others from firing, and in this \
program does not; older schedulers have been stopped by one. Entries that are no records are dropped at the next \
change of the store.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM509",
        slug: "script-missing",
        severity: Error,
        title: "the script of a job cannot be run",
        explanation: "A script is looked for in scripts/ of the home. It is not there, it is a directory, or it is \
a link that leads out of scripts/, which is refused. A job that is a script alone and names none fails in the \
same way. Every run of this job will fail until the file is in its place.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM510",
        slug: "workdir-unusable",
        severity: Error,
        title: "the working directory of a job cannot be used",
        explanation: "The directory is gone, is no directory, or did not answer within two seconds. It was looked \
at only when the job was made. One that does not answer is worse than one that is gone: a run that waits for \
it waits for ever, and others wait for the run. Dead network mounts and folders that a cloud client keeps in \
step are the usual ones.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM511",
        slug: "last-run-failed",
        severity: Warning,
        title: "the last run of a job failed",
        explanation: "The last run ended in an error, which is quoted; from the third in a row on this is an \
error. The time of the last good run comes from the ledger, because the record of the job keeps only its last \
run. It goes away with the next good run.",
        cleared_by: GoodRun,
    },
    Entry {
        code: "HM512",
        slug: "message-not-delivered",
        severity: Warning,
        title: "a job ran, and its message did not arrive",
        explanation: "A job counts as good when its work is done, not when its message has arrived. Here the work \
was done and the delivery failed, or nobody knows whether it arrived. The output is kept in cron/output.",
        cleared_by: GoodRun,
    },
    Entry {
        code: "HM513",
        slug: "run-late",
        severity: Warning,
        title: "the last run of a job was late",
        explanation: "The last slot was dispatched more than five minutes late. A catch-up is a run that was so \
late that it stands for every slot it missed: these are lost, however well that one run went. The slot that it \
was for is shown, so that yesterday's run is not taken for today's. The next run on time clears this.\n\n\
If missed runs should rather be left out, set cron.catch_up_missed to false.",
        cleared_by: GoodRun,
    },
    Entry {
        code: "HM514",
        slug: "claim-left-over",
        severity: Warning,
        title: "a job is held by a run that is over",
        explanation: "While a job runs, its record carries a claim that says by whom and since when. This one has \
an owner that has ended, was not renewed within its lifetime, or is stamped in the future. As long as it counts, \
the job is not started again, and runs by hand are refused with 'already being fired'. A slot that was taken off \
the schedule and never claimed is told here too.\n\n\
An owner on another host cannot be looked at; then only the age decides.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM515",
        slug: "would-catch-up",
        severity: Info,
        title: "overdue jobs would start with the scheduler",
        explanation: "No scheduler runs, and jobs are overdue. The next scheduler that starts will run each of \
them once: hermes serve and hermes cron tick so many in each pass as cron.max_catch_ups_per_tick says, the oldest \
first, Hermes Agent all at the same time. With many of them that is a burst of work on old data. \
hermes cron tick --dry-run shows what a pass would start now. Pause what should not run, or set \
cron.catch_up_missed to false, before you start it.",
        cleared_by: Person,
    },
    Entry {
        code: "HM516",
        slug: "marked-as-run",
        severity: Warning,
        title: "a job is marked as run, and never ran",
        explanation: "The record says when the job last ran, and the ledger, which reaches back further than \
that, has no run of it at that time. The time was written before the run, and the run never came. Do not trust \
the record; look at the output.",
        cleared_by: GoodRun,
    },
    Entry {
        code: "HM517",
        slug: "program-missing",
        severity: Warning,
        title: "a program that a job needs is not on the service's PATH",
        explanation: "What runs the job's script (by its ending, its first line, or the job's own word), or a program that the \
script calls by its bare name, is not on the PATH of the process that dispatches, though your shell may have it: a \
unit does not read your profile. Or the first line names a file that is not there or may not be executed. Of what \
a shell script calls, date, head, ls and hermes are looked for; one that sets PATH itself is believed. \
Add the directory to PATH in the unit, or name the program by its path.",
        cleared_by: Person,
    },
    Entry {
        code: "HM518",
        slug: "fire-failed",
        severity: Warning,
        title: "a job could not be fired",
        explanation: "The scheduler took the slot and failed before the job was started; the words of the failure \
are quoted. The slot is used up. It goes away with the next run.",
        cleared_by: GoodRun,
    },
    Entry {
        code: "HM519",
        slug: "job-unsupported",
        severity: Error,
        title: "a job needs what its scheduler does not do",
        explanation: "This program runs prompts and scripts and keeps their output. It does not deliver to chat \
platforms and knows no skills and no toolsets; those are parts of Hermes Agent. A job that needs one of them is \
refused with the reason, never half run. Change the job, or leave it to a gateway of Hermes Agent: where one \
runs, it keeps all jobs of the home.",
        cleared_by: Remedy,
    },
];
