//! The facts of a host, as one plain struct: what the decision and every check read. Filled by the
//! probes, once; nothing else touches the world. It can be written down and read back, so that tests
//! judge hosts that they are not on.
//!
//! A fact that could not be had is [`Fact::Unknown`] with its reason. It is never a default.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::runtime_dir::RuntimeDir;
use crate::bus::{LingerMarker, SessionBusReport, SystemBusReport};

/// Something that was looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact<T> {
    /// It is so.
    Known(T),
    /// It could not be found out.
    Unknown(Gap),
}

/// Why something could not be found out, and what would let it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// What stood in the way.
    pub kind: GapKind,
    /// The same in words, a fragment: `environ of pid 812 belongs to uid 990`.
    pub why: String,
    /// What would let it be found out: a command, or nothing where no command can.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub would_tell: Vec<String>,
}

/// What stood in the way of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapKind {
    /// The kernel or a mode said no.
    Permission,
    /// No answer within the deadline.
    Deadline,
    /// The source of the fact is not there: no `/proc`, another pid namespace, no bus.
    Hidden,
    /// Anything else that went wrong.
    Failed,
}

impl<T> Fact<T> {
    /// The value, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }

    /// The gap, if it is not.
    pub fn gap(&self) -> Option<&Gap> {
        match self {
            Self::Known(_) => None,
            Self::Unknown(gap) => Some(gap),
        }
    }

    /// An unknown for want of permission.
    pub fn denied(why: impl Into<String>) -> Self {
        Self::unknown(GapKind::Permission, why)
    }

    /// An unknown because its source is not there.
    pub fn hidden(why: impl Into<String>) -> Self {
        Self::unknown(GapKind::Hidden, why)
    }

    /// An unknown of this kind.
    pub fn unknown(kind: GapKind, why: impl Into<String>) -> Self {
        Self::Unknown(Gap {
            kind,
            why: why.into(),
            would_tell: Vec::new(),
        })
    }

    /// The fact about the value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Fact<U> {
        match self {
            Self::Known(value) => Fact::Known(f(value)),
            Self::Unknown(gap) => Fact::Unknown(gap),
        }
    }
}

/// All that is known of the host, the account, and the process that dispatches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The machine, or the container that looks like one.
    pub machine: Machine,
    /// The account that dispatches.
    pub account: AccountFacts,
    /// This process: the shell's point of view.
    pub shell: ProcessFacts,
    /// The process that dispatches, or would.
    pub dispatcher: Dispatcher,
    /// Other processes of the two programs that serve a home, the dispatcher excepted.
    pub others: Vec<ProcessFacts>,
    /// Units that run, or would run, a dispatcher of this account.
    pub units: Fact<Vec<UnitFacts>>,
    /// The runtime directory as the dispatcher's environment and uid make it.
    pub runtime_dir: RuntimeDir,
    /// The way to the user manager of the account.
    pub session_bus: SessionBusReport,
    /// The system bus, PID 1 and logind.
    pub system_bus: SystemBusReport,
    /// The marker file of linger.
    pub linger_marker: LingerMarker,
}

/// The machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Name of PID 1, if it can be seen.
    pub init: Fact<String>,
    /// systemd is the running init: `/run/systemd/system` is a directory.
    pub systemd_booted: bool,
    /// A container, and which kind.
    pub container: Fact<Container>,
    /// The cgroup hierarchies that are mounted.
    pub cgroup: CgroupFacts,
    /// Pid and user namespaces.
    pub namespaces: Namespaces,
    /// This boot.
    pub boot: Boot,
    /// The clocks.
    pub clock: ClockFacts,
    /// Memory and swap.
    pub memory: Memory,
    /// Release of the kernel.
    pub kernel: String,
}

/// What kind of container this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Container {
    /// None: a machine or a virtual machine.
    None,
    /// Docker.
    Docker,
    /// Podman.
    Podman,
    /// LXC or LXD.
    Lxc,
    /// systemd-nspawn.
    Nspawn,
    /// Windows Subsystem for Linux, first kind: no kernel of its own.
    Wsl1,
    /// Windows Subsystem for Linux, second kind.
    Wsl2,
    /// A chroot.
    Chroot,
    /// Another one, by the name that it gives itself.
    Other(String),
}

/// Which cgroup hierarchies there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CgroupFacts {
    /// How `/sys/fs/cgroup` is laid out.
    pub layout: CgroupLayout,
    /// Controllers of the unified hierarchy.
    pub controllers: Vec<String>,
}

/// The layouts of `/sys/fs/cgroup`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CgroupLayout {
    /// Version 2 only.
    Unified,
    /// Version 1, with version 2 for systemd alone.
    Hybrid,
    /// Version 1 only.
    Legacy,
    /// Not mounted.
    None,
}

/// What can be seen from here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespaces {
    /// This is the initial pid namespace.
    pub initial_pid: Fact<bool>,
    /// This is the initial user namespace.
    pub initial_user: Fact<bool>,
    /// `/proc` hides the processes of other users (`hidepid`).
    pub hidepid: bool,
    /// What the file system's root of this process is not the machine's.
    pub chroot: Fact<bool>,
}

/// This boot: containers share the host's boot id, so the start of PID 1 belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Boot {
    /// `/proc/sys/kernel/random/boot_id`.
    pub id: Fact<String>,
    /// Start of PID 1, in clock ticks since boot.
    pub init_start: Fact<u64>,
    /// Wall time of boot, in seconds since 1970, now that the clock is what it is.
    pub booted_at: f64,
    /// Clock ticks a second.
    pub ticks_per_second: u64,
}

/// The clocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockFacts {
    /// Wall time of the probe, in seconds since 1970.
    pub wall: f64,
    /// Awake time since boot, in seconds.
    pub monotonic: f64,
    /// Time since boot, in seconds.
    pub boottime: f64,
    /// Name of the host's zone, if it has one.
    pub zone: Option<String>,
    /// When `/etc/localtime` was last changed, in seconds since 1970.
    pub localtime_changed_at: Option<f64>,
}

/// Memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// `MemTotal`, in bytes.
    pub total: Option<u64>,
    /// The swap devices, by name.
    pub swaps: Vec<String>,
}

/// The account that dispatches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountFacts {
    /// Its uid.
    pub uid: u32,
    /// Its primary gid, where known.
    pub gid: Option<u32>,
    /// Its name; `None` where the user database has none.
    pub name: Option<String>,
    /// Its home directory.
    pub home: Option<PathBuf>,
}

impl AccountFacts {
    /// The name, or the number where there is none.
    #[must_use]
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.uid.to_string())
    }
}

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
    /// What it is, by its command line.
    pub role: Role,
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
    /// How many there are in all.
    pub count: usize,
}

impl Environment {
    /// The names whose values are kept: none of them is a secret.
    pub const KEPT: [&'static str; 44] = [
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
    ];

    /// A value, if it is set and not empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Our selection of these variables.
    pub fn select<'a>(all: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut selected = Self::default();
        for (name, value) in all {
            selected.count += 1;
            if Self::KEPT.contains(&name) {
                selected.variables.insert(name.to_owned(), value.to_owned());
            }
        }
        selected
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

/// The process that dispatches a home's jobs, or would.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dispatcher {
    /// Whose point of view this is.
    pub viewpoint: Viewpoint,
    /// Why this one was chosen, in words.
    pub chosen_because: String,
    /// Which program.
    pub program: Program,
    /// Its version, as it calls itself; unknown is judged as the newest.
    pub version: Fact<String>,
    /// Where the version comes from, in words.
    pub version_source: Option<String>,
    /// The process, where one runs. For a unit that does not run it is absent.
    pub process: Option<ProcessFacts>,
    /// Environment that the process has, or that the unit will give it.
    pub environ: Fact<Environment>,
    /// Where the environment comes from, in words.
    pub environ_source: String,
    /// Name of the unit that owns it, if a unit does.
    pub unit: Option<UnitFacts>,
    /// It was spawned by a desktop application and ends with it.
    pub desktop: bool,
    /// The home that it serves, where that is known.
    pub home: Fact<PathBuf>,
}

/// Whose point of view is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Viewpoint {
    /// A running serve.
    Serve,
    /// A running gateway.
    Gateway,
    /// An installed unit that is not running.
    Unit,
    /// A process that was named.
    Pid,
    /// This shell: nothing else was found, or it was asked for.
    Shell,
}

/// Which program launches the jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// This one.
    Ours,
    /// Hermes Agent.
    HermesAgent,
}

/// Which manager a unit belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ManagerKind {
    /// PID 1.
    System,
    /// The user's.
    User,
}

/// One service unit, as its manager describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnitFacts {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub manager: Option<ManagerKind>,
    /// Everything below was read over the bus; `false`: only the unit file or the cgroup told.
    pub asked: bool,
    /// `LoadState`.
    pub load_state: Option<String>,
    /// `LoadError`, where loading failed.
    pub load_error: Option<String>,
    /// `ActiveState`.
    pub active_state: Option<String>,
    /// `SubState`.
    pub sub_state: Option<String>,
    /// `UnitFileState`: enabled, disabled, masked, …
    pub file_state: Option<String>,
    /// `Result` of the last run.
    pub result: Option<String>,
    /// `ConditionResult`.
    pub condition_result: Option<bool>,
    /// `Type`.
    pub service_type: Option<String>,
    /// `KillMode`.
    pub kill_mode: Option<String>,
    /// `User`; empty for none.
    pub user: Option<String>,
    /// Names and values of `Environment` of our selection.
    pub environment: Environment,
    /// `EnvironmentFiles`, paths only.
    pub environment_files: Vec<String>,
    /// The first words of `ExecStart`: program and subcommands.
    pub exec: Vec<String>,
    /// `Restart`.
    pub restart: Option<String>,
    /// `NRestarts`.
    pub restarts: Option<u32>,
    /// `MainPID`, if it runs.
    pub main_pid: Option<u32>,
    /// `ControlGroup`.
    pub control_group: Option<String>,
    /// `FragmentPath`.
    pub fragment: Option<String>,
    /// `DropInPaths`.
    pub drop_ins: Vec<String>,
    /// `NeedDaemonReload`.
    pub need_daemon_reload: Option<bool>,
    /// `ProtectHome`, as the manager prints it.
    pub protect_home: Option<String>,
    /// `RestrictAddressFamilies` keeps Unix sockets away from it.
    pub unix_sockets_forbidden: Option<bool>,
    /// `LimitNOFILE`, soft.
    pub limit_nofile: Option<u64>,
    /// `OOMPolicy`.
    pub oom_policy: Option<String>,
    /// When it last became active, in seconds since 1970.
    pub active_since: Option<f64>,
    /// `MemoryMax`, in bytes; `None` for no limit.
    pub memory_max: Option<u64>,
    /// `TimeoutStopUSec`, in seconds.
    pub stop_timeout: Option<f64>,
}
