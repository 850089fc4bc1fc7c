//! Facts of one process and of its environment. Plain data.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Fact, Program};
use crate::host::program_probe::LIBC_PATH;

/// One process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessFacts {
    /// Its pid, in our namespace.
    pub pid: u32,
    /// Its parent.
    pub ppid: Fact<u32>,
    /// The name of its parent.
    pub parent: Fact<String>,
    /// Its effective uid.
    pub uid: Fact<u32>,
    /// When it started, in clock ticks since boot: with the pid, its identity.
    pub start_ticks: Fact<u64>,
    /// The same in seconds since 1970.
    pub started_at: Fact<f64>,
    /// It has ended and waits for its parent to notice.
    pub zombie: bool,
    /// It lives in a pid namespace below ours: a container's, seen from outside.
    pub nested: bool,
    /// What it is, by its command line.
    pub role: Role,
    /// Which program it is; `None`: neither, or it cannot be told.
    pub program: Option<Program>,
    /// Its file is this very binary, so its version is ours.
    pub same_binary: bool,
    /// The profile that its command line names.
    pub profile: Option<String>,
    /// The home that it serves, by its environment, command line and account.
    pub home: Fact<PathBuf>,
    /// A desktop application started it, and it ends with that.
    pub desktop: Fact<bool>,
    /// The first words of its command line: program and subcommand, no more (the rest may be secret).
    pub command: Vec<String>,
    /// The program file.
    pub exe: Fact<PathBuf>,
    /// Its cgroup, from the `0::` line, or systemd's own hierarchy on version 1.
    pub cgroup: Fact<String>,
    /// Its environment at exec, our selection.
    pub environ: Fact<Environment>,
    /// Its descriptors.
    pub descriptors: Fact<Descriptors>,
    /// Uid of the login that it descends from; `None`: no login.
    pub loginuid: Fact<Option<u32>>,
    /// Files that it holds an flock on, by device and inode, as its own descriptors say.
    pub flocks: Fact<Vec<FileId>>,
}

/// What a process of interest is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// `hermes serve`, of either program.
    Serve,
    /// `hermes gateway run`.
    Gateway,
    /// `hermes worker`, or the other program's external worker.
    Worker,
    /// This doctor, or the shell that it was started from.
    Shell,
    /// Anything else.
    Other,
}

/// A file, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileId {
    /// Major and minor number of the superblock's device, as `/proc/locks` prints it.
    pub device: (u32, u32),
    /// The inode.
    pub inode: u64,
}

/// The variables of an environment that matter, values included. Names that may carry secrets are
/// never among them; the names of all others are kept without values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Variables of our selection.
    pub variables: BTreeMap<String, String>,
    /// Of [`Environment::SECRET`], those that are set and not empty.
    #[serde(default)]
    pub secrets: BTreeSet<String>,
    /// How many there are in all.
    pub count: usize,
}

impl Environment {
    /// The names whose values are kept: none of them is a secret.
    pub const KEPT: &'static [&'static str] = &[
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LC_ALL",
        "TZ",
        "XDG_RUNTIME_DIR",
        "DBUS_SESSION_BUS_ADDRESS",
        "XDG_STATE_HOME",
        "XDG_SESSION_ID",
        "INVOCATION_ID",
        "NOTIFY_SOCKET",
        "SUDO_USER",
        "SUDO_UID",
        "container",
        "WSL_DISTRO_NAME",
        "VIRTUAL_ENV",
        "HERMES_HOME",
        "HERMES_TIMEZONE",
        "HERMES_DESKTOP",
        "HERMES_PARENT_PID",
        "HERMES_UID",
        "HERMES_GID",
        "HERMES_HOME_MODE",
        "HERMES_MACHINE_ID",
        "HERMES_GATEWAY_LOCK_DIR",
        "HERMES_SUPERVISED_CHILD",
        "HERMES_S6_SUPERVISED_CHILD",
        "HERMES_GATEWAY_EXTERNAL_SUPERVISOR",
        "_HERMES_GATEWAY",
        "XPC_SERVICE_NAME",
        "HERMES_CRON_TIMEOUT",
        "HERMES_CRON_MAX_PARALLEL",
        "HERMES_CRON_SCRIPT_TIMEOUT",
        "HERMES_CRON_INFLIGHT_MAX_MINUTES",
        "HERMES_CRON_DRAIN_TIMEOUT",
        "HERMES_TUI_WS_ORPHAN_REAP_GRACE_S",
        "HERMES_TUI_WS_ORPHAN_ACTIVITY_STALE_S",
        "HERMES_TUI_SESSION_TTL_S",
        "HERMES_GATEWAY_HEARTBEAT_REFRESH_S",
        "TERMINAL_LOCAL_MEMORY_MAX_MB",
        "HERMES_SERVE_HEADLESS",
        "HERMES_KANBAN_DISPATCH_IN_GATEWAY",
        "_HERMES_CRON_EXTERNAL_WORKER",
        "KUBERNETES_SERVICE_HOST",
        "XDG_CONFIG_HOME",
    ];

    /// The names of which only the presence is kept.
    pub const SECRET: &'static [&'static str] =
        &["HERMES_DASHBOARD_SESSION_TOKEN", "OP_SERVICE_ACCOUNT_TOKEN"];

    /// A value, if it is set and not empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Where a program is looked for by its bare name. A `PATH` that is set and empty is one empty
    /// element, the working directory; where none is set, a libc looks in its own places.
    #[must_use]
    pub fn path(&self) -> &str {
        self.variables.get("PATH").map_or(LIBC_PATH, String::as_str)
    }

    /// Our selection of these variables.
    pub fn select<'a>(all: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut selected = Self::default();
        for (name, value) in all {
            selected.count += 1;
            selected.keep(name, value);
        }
        selected
    }

    fn keep(&mut self, name: &str, value: &str) {
        if Self::KEPT.contains(&name) {
            self.variables.insert(name.to_owned(), value.to_owned());
        } else if Self::SECRET.contains(&name) && !value.is_empty() {
            self.secrets.insert(name.to_owned());
        }
    }

    /// Lays later settings over these, as a program does that loads a `.env` file after its start.
    #[must_use]
    pub fn overlaid<'a>(mut self, over: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        for (name, value) in over {
            self.keep(name, value);
        }
        self
    }
}

/// Descriptors of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descriptors {
    /// How many are open.
    pub open: u64,
    /// The soft limit.
    pub limit: Option<u64>,
    /// Files that are open ten times or more, the most often opened first.
    pub repeated: Vec<(String, u64)>,
}
