//! The doors to the user manager: HM201 to HM211.

use super::{ClearedBy, Entry, Severity};

/// Entries of the session bus.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: "HM201",
        slug: "user-manager-not-running",
        severity: Severity::Warning,
        title: "The user manager does not run",
        explanation: "\
A job survives a restart of the dispatcher only if it sits in a scope of its own, and scopes are made \
by the service manager of the account: systemd --user, which PID 1 knows as user@UID.service. It should \
run, because linger is on or because the account's runtime directory is there, and it does not.

Usually it was stopped or killed: nothing starts it again before the next login or boot, linger or not. \
On WSL the directory is made without any login, so that variables and directory look right and only \
the sockets are missing.

Start it by hand as root. If it ends again at once, its journal says why:

  journalctl -b -u user@UID.service",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM202",
        slug: "user-manager-failed",
        severity: Severity::Warning,
        title: "The user manager failed, or is masked",
        explanation: "\
PID 1 tried to start the account's user manager and it failed, or it must not try because the unit is \
masked. Turning linger on once more changes nothing: linger asks for exactly this unit.

A failure has a cause in its journal. Frequent ones: a module of PAM that refuses the account, a home \
directory that is not mounted yet, a container in which user managers cannot be started.

  journalctl -b -u user@UID.service

Mend that, then restart the unit. A mask was set by somebody on purpose; ask before lifting it.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM203",
        slug: "session-bus-stale",
        severity: Severity::Warning,
        title: "The sockets of the user manager are stale",
        explanation: "\
The socket files are there and nobody listens on them: whoever made them died without removing them, \
or something else put files in their place. Programs that only look whether the file exists believe \
that all is well, and fail at every launch.

Restarting the user manager makes the sockets anew. Whatever runs under it ends with the restart, \
running jobs in scopes included.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM204",
        slug: "session-bus-mute",
        severity: Severity::Warning,
        title: "The user manager does not answer",
        explanation: "\
The socket accepts a connection, and then nothing comes: the daemon behind it is stopped, is stuck, or \
has so many connections waiting that it takes no more. This program gives up after half a second for \
each step. Others do not: systemd-run waits for 90 seconds and gdbus for ever, and a scheduler that \
calls them stands still as long.

The evidence names the step that stayed silent. Restarting the user manager clears it, and ends \
everything that runs under it:

  systemctl restart user@UID.service",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM205",
        slug: "session-bus-refuses",
        severity: Severity::Warning,
        title: "The door to the user manager turns us away",
        explanation: "\
Somebody listens, and hung up, refused the account, spoke something else than D-Bus, or belongs to an \
account that must not be trusted. A user's bus lets in nobody but its owner, not even root, so this is \
what a process sees that runs under another uid than the directory was made for.

Check in the evidence whose socket it is. If it is the account's own, restarting its user manager makes \
it anew.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM206",
        slug: "session-bus-without-manager",
        severity: Severity::Warning,
        title: "The session bus lives without a user manager",
        explanation: "\
A message bus answers at the account's address, but no service manager is connected to it. Such a bus \
was started by hand or by a desktop, with dbus-launch or dbus-run-session. It carries messages between \
programs and cannot make scopes.

Start the real user manager; it brings a bus of its own at the same address.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM207",
        slug: "session-bus-denied",
        severity: Severity::Warning,
        title: "The account may not use the sockets of its user manager",
        explanation: "\
The kernel says that this process may not connect to the socket, or not even look at it. That says \
nothing of the manager behind it: it may be perfectly well, so its state is unknown, not down.

The evidence shows who owns the directory, who asks, and what the two variables say. Typical causes: \
variables inherited through sudo or su from another account, a directory whose owner or mode was \
changed, or a security module. Compare the ids first.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM208",
        slug: "user-manager-lost-system-bus",
        severity: Severity::Warning,
        title: "The user manager lost the system bus",
        explanation: "\
To move a process from a system service into a scope, the user manager asks PID 1 over the system bus. \
It connects to that bus once, when it starts. If the bus was restarted since, as updates of dbus do, \
the connection is gone for good, and every scope for a process from outside fails. All else looks well: \
the sockets answer, the manager answers, and scopes made from a login's own services work.

This program notices and starts its workers as services of the user manager instead; they survive a \
restart too, but do not inherit the sandbox and the groups of the dispatcher. Hermes Agent has no such \
way.

Re-executing the user manager connects it again. Scopes and services that run survive that.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM209",
        slug: "session-bus-half-open",
        severity: Severity::Info,
        title: "One of the two doors to the user manager is closed",
        explanation: "\
Two sockets lead to a user manager: its own, systemd/private, and the message bus of the account. One \
answers, the other does not. For this program one is enough. Hermes Agent insists on a socket named \
bus, and systemd-run of version 257 and later uses only the other, so for those it may be the one that \
counts.

The bus belongs to dbus-daemon or dbus-broker. A minimal host may not have installed the package that \
gives each user one: dbus-user-session on Debian and Ubuntu.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM210",
        slug: "user-manager-restarting",
        severity: Severity::Warning,
        title: "The user manager is being restarted",
        explanation: "\
The dispatcher has started several times within minutes, and the user manager that it lives on was \
started in between. It is not the dispatcher that fails: the ground under it goes away, and linger is \
on already.

On WSL this happens when the distribution is stopped as soon as the last command has ended, and started \
by the next one. Keep one session open, or run the dispatcher as a system unit with User= set, which \
does not depend on the user manager. Elsewhere, look who stops it:

  journalctl -b -u user@UID.service",
        cleared_by: ClearedBy::Nothing,
    },
    Entry {
        code: "HM211",
        slug: "dispatcher-before-bus",
        severity: Severity::Info,
        title: "The dispatcher started before there was a user manager",
        explanation: "\
At boot, system units and user managers start side by side. This dispatcher was first, so for a moment \
there was no bus for it to see. This program and later versions of Hermes Agent look again within a \
minute, and nothing is lost. Hermes Agent up to 0.21.2 looks only once: it has to be restarted.

To keep the order, let the unit wait for the manager:

  [Unit]
  Wants=user@UID.service
  After=user@UID.service",
        cleared_by: ClearedBy::Remedy,
    },
];
