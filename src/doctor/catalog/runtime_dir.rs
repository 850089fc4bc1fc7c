//! Linger and the runtime directory: HM221 to HM246.

use super::{ClearedBy, Entry, Severity};

/// Entries of linger and the runtime directory.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: "HM221",
        slug: "linger-off",
        severity: Severity::Warning,
        title: "Linger is off and there is no user manager",
        explanation: "\
The user manager of an account starts with its first login and ends with its last logout. An account \
that nobody logs in to, as service accounts are, has none, unless linger is on: then logind keeps one \
from boot to shutdown. Without a user manager there is nobody who could put a job into a scope of its \
own, so a restart of the dispatcher kills the jobs that run, and long-lived workers are refused.

Turn linger on, as root:

  loginctl enable-linger ACCOUNT

It takes effect at once, survives reboots, and lies in /var/lib/systemd/linger. An account may turn it \
on for itself, by name, where polkit allows it: polkit is asked for that where it runs, and is not started \
for the question. The dispatcher need not be restarted, unless it is \
Hermes Agent up to 0.21.2.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM222",
        slug: "linger-forgotten",
        severity: Severity::Warning,
        title: "Linger is on, but logind knows nothing of the user",
        explanation: "\
The marker of linger is in /var/lib/systemd/linger, and logind does not know the account. This comes \
about when the user manager was stopped or killed, when the marker was made by hand, or when the user \
manager cannot be started. logind looks at the markers only when it starts and when linger is set, so \
nothing brings the manager back before the next boot.

Setting linger once more, though it is set, has logind look again.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM223",
        slug: "linger-disagrees",
        severity: Severity::Warning,
        title: "The marker of linger and logind disagree",
        explanation: "\
The marker in /var/lib/systemd/linger is what counts at the next boot; logind's own word is what counts \
now. One says yes, the other no. What works today may be gone after a reboot, or the reverse.

Set it the way you want it, and both will agree.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM224",
        slug: "login-holds-manager",
        severity: Severity::Warning,
        title: "Only a login keeps the user manager",
        explanation: "\
All works now, because somebody is logged in to the account, or because its user manager was started by \
hand. Linger is off, so the manager ends with the last logout, and all scopes with it: jobs that run at \
that moment are killed, and later ones run degraded or not at all. After a reboot it does not come back \
by itself either.

This is the case that nobody notices while testing it over ssh. Turn linger on.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM225",
        slug: "stops-at-logout",
        severity: Severity::Warning,
        title: "The dispatcher stops at the last logout",
        explanation: "\
The dispatcher is a unit of the user manager, and linger is off. The manager, and with it the \
dispatcher, runs only while somebody is logged in to the account: it stops at the last logout, and does \
not start at boot although it is enabled. systemctl shows it as active and running all the while.

Turn linger on. Note that su and sudo -u open no login session: entered that way, the account may have \
no user manager at all, and systemctl --user cannot connect.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM241",
        slug: "runtime-dir-foreign",
        severity: Severity::Info,
        title: "The runtime directory belongs to somebody else",
        explanation: "\
XDG_RUNTIME_DIR names a directory of another account. It is inherited through su, sudo -u and runuser, \
so a command that was started from root's shell carries root's directory along. Its sockets lead to the \
wrong manager, or are closed.

This program does not believe it, uses /run/user/UID of the account if that is sound, and never hands \
the wrong one on. Other programs may use it and fail. Take the variable, and DBUS_SESSION_BUS_ADDRESS \
that goes with it, out of the unit or the shell; or enter the account by ssh or machinectl shell, which \
set both rightly.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM242",
        slug: "runtime-dir-insecure",
        severity: Severity::Warning,
        title: "Others may write into the runtime directory",
        explanation: "\
The mode of the runtime directory lets other accounts create files in it. Anybody could put a socket \
there and be handed the work of this account, so the directory is not used, and no worker is placed.

logind makes the directory with mode 0700. Something has changed it since; setting it back is enough, \
but look at the sockets in it first.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM243",
        slug: "runtime-dir-recreated",
        severity: Severity::Warning,
        title: "The runtime directory was made anew under the dispatcher",
        explanation: "\
The dispatcher started, and later the user manager went away and came back, or only went. The runtime \
directory was removed with it. Sockets and files that the dispatcher had open there lead nowhere, and \
scopes that its jobs ran in are gone.

This happens shortly after boot on WSL, and elsewhere after a last logout with linger off. Restart the \
dispatcher so that it sees the new directory, and see to it that the manager stays: linger, or whatever \
the other findings name.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM244",
        slug: "runtime-dir-unusable",
        severity: Severity::Warning,
        title: "The runtime directory is no directory",
        explanation: "\
XDG_RUNTIME_DIR is a relative path, a file, or a symbolic link. A link could be turned to lead \
elsewhere at any moment, so it is not followed. The conventional /run/user/UID is used instead, if it \
is sound.

Take the variable out of the unit or the shell, or let it name the real directory.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM245",
        slug: "variables-missing",
        severity: Severity::Error,
        title: "The bus exists, and the dispatcher cannot see it",
        explanation: "\
Units with User= get HOME, USER and LOGNAME from systemd, and neither XDG_RUNTIME_DIR nor \
DBUS_SESSION_BUS_ADDRESS, with linger as without. Hermes Agent up to 0.21.2 needs at least one of them \
to find the user manager. In your shell both are set, so that everything works there.

Name them in the unit. The environment of a process is fixed when it starts, so it has to be restarted \
afterwards. This program, and later versions of Hermes Agent, derive both from their own uid.",
        cleared_by: ClearedBy::Remedy,
    },
    Entry {
        code: "HM246",
        slug: "switched-without-login",
        severity: Severity::Info,
        title: "This shell was switched to the account without a login",
        explanation: "\
su, sudo -u and runuser change the uid and open no session with logind: no runtime directory is made \
and no user manager is started, and the variables of the account you came from stay in place. By ssh \
the same account has all of it, which makes this look like magic.

Enter the account by ssh, or by

  machinectl shell ACCOUNT@

or turn linger on, which gives it a user manager whoever comes in how.",
        cleared_by: ClearedBy::Nothing,
    },
    Entry {
        code: "HM247",
        slug: "runtime-dir-without-manager",
        severity: Severity::Info,
        title: "No user manager answers in the named runtime directory",
        explanation: "\
XDG_RUNTIME_DIR names a directory that is sound, and in which no user manager answers; in the \
conventional /run/user/UID it does. An answer counts more than a name, so that one is used, by the doctor \
and when a worker is placed. A program that trusts the variable alone finds no manager: Hermes Agent is \
one.

Take the variable out of the unit or the shell, or let it name the real directory.",
        cleared_by: ClearedBy::Remedy,
    },
];
