//! 7xx: loops, heartbeats, sessions.

use super::ClearedBy::{Person, Remedy};
use super::Entry;
use crate::doctor::finding::Severity::{Error, Info, Warning};

/// The entries, in the order of their codes.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: "HM701",
        slug: "timer-not-driven",
        severity: Error,
        title: "a loop or heartbeat is armed, and nobody drives it",
        explanation: "A loop fires only while some process looks after it: the messaging gateway, if the loop \
belongs to a chat, else the very process that holds its session. Here the one that should is not there, or the \
loop is overdue by more than its cadence although it is. Lists that only read the stored state show such a loop \
as active, with a next time that never comes.\n\n\
'hermes serve' of this program drives every loop of its home that belongs to no chat, with or without a client; \
without an agent it cannot, and the finding about that is the cause. If the loop is not needed any more, stop it.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM702",
        slug: "timer-stuck",
        severity: Error,
        title: "a loop waits for an answer that never comes",
        explanation: "A wake-up went out, and for more than two cadences neither an answer nor a turn under way has \
been seen: the process ended in the middle, or the answer was empty. As long as the loop waits for it, it is \
passed over at every look. Resuming the loop gives that wake-up up and arms it again, where no process that \
lives may have its session.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM703",
        slug: "loop-budget-low",
        severity: Info,
        title: "a loop or heartbeat has nearly used its budget",
        explanation: "A loop pauses when it has used its budget of wake-ups (loops.max_ticks, 100 unless set), a \
heartbeat of serve's after as many beats without a message of the user (heartbeats.max_beats, 100 unless set). This \
one has used nine tenths. That is a safety, not a fault; resume it when it has paused, or raise the budget.",
        cleared_by: Person,
    },
    Entry {
        code: "HM704",
        slug: "timer-unreadable",
        severity: Error,
        title: "the row of a loop or heartbeat cannot be read",
        explanation: "The row in state_meta is no JSON object, or a field holds what it cannot mean. Unreadable is \
not absent: nothing drives it, and nothing lists it. Stop it, which keeps what is written there under another key, \
and set it anew.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM705",
        slug: "timer-of-ended-session",
        severity: Error,
        title: "a loop or heartbeat is armed in a session that has ended",
        explanation: "The session was closed or reaped while its schedule was still armed, so that nothing can wake \
it any more. The reason that was recorded for the end is shown. Stop it, and set it anew in a session that \
lives.\n\n\
Where the reason is ws_orphan_reap its client was away for longer than the grace. Raise \
dashboard.ws_orphan_reap_grace_s, and the keepalive of the clients together with it: a client that looks less \
often than the grace lasts learns too late that its connection is gone.\n\n\
What stops it, by the id of its session:\n\n  hermes loop stop SESSION\n  hermes heartbeat stop SESSION",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM706",
        slug: "desktop-driver",
        severity: Info,
        title: "a loop is driven by a desktop application",
        explanation: "The session is held by the backend of a desktop application, which drives its loop well as \
long as it runs. When the application is closed the backend ends with it, and the loop stands still. If it \
should go on, let 'hermes serve' hold the session.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM707",
        slug: "two-drivers",
        severity: Warning,
        title: "two processes may drive one loop",
        explanation: "Two live processes hold the same stored session. In Hermes Agent the state of a loop is read \
and written without a lock, so that both can claim one wake-up. Close the session in one of them.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM710",
        slug: "backend-left-over",
        severity: Info,
        title: "backends that have ended still say that they live",
        explanation: "A backend writes a row every minute, and removes it at an orderly end only. These rows are of \
processes that have ended or have been silent for ten minutes. In Hermes Agent such a row keeps orphaned \
sessions from being swept for up to twelve hours; this program lets it protect nothing.",
        cleared_by: Person,
    },
    Entry {
        code: "HM711",
        slug: "lease-left-over",
        severity: Warning,
        title: "a lease on a session is left over",
        explanation: "One process at a time may have a session, and the registry says which. This entry is of a \
process that has ended, which the next access cleans up; or its process lives and the session has ended, so that \
nobody will give it back and the session stays refused to everybody else. To give it back, close the session; one \
that our serve made is ended by that, and a loop of it is driven by nobody then.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM712",
        slug: "session-cap-reached",
        severity: Warning,
        title: "all session slots are taken",
        explanation: "As many sessions are live as may be (max_concurrent_sessions or max_live_sessions), so that \
the next one is refused. Each holder is listed with surface, pid, age and last activity. Drafts without a message \
hold a slot in Hermes Agent though no view shows them.",
        cleared_by: Person,
    },
    Entry {
        code: "HM713",
        slug: "sessions-orphaned",
        severity: Info,
        title: "sessions are open that no process holds",
        explanation: "Their rows were never closed: the process that had them ended without doing so. They have \
been idle for longer than the idle limit, and nothing serves this home now. The next serve of the program that \
made them sweeps them; a dry run shows whose each is and why.",
        cleared_by: Person,
    },
    Entry {
        code: "HM714",
        slug: "helpers-orphaned",
        severity: Warning,
        title: "helper processes outlived their backend",
        explanation: "A backend starts helpers for its sessions and writes down which. The backend that started \
these has ended, and they live on, each with the memory that is shown. Nothing will end them, and nothing uses them. \
Pid and start time were compared, so that a pid that is used again is not taken for a helper.",
        cleared_by: Remedy,
    },
];
