//! Facts of one service unit. Plain data.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Environment, Program, Role};

/// Which manager a unit belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ManagerKind {
    /// PID 1.
    System,
    /// The user's.
    User,
}

/// One condition of a unit's start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitCondition {
    /// As a unit file has it: `ConditionPathExists=!/x`.
    pub line: String,
    /// Whether it held when it was last checked; `None`: it was not.
    pub held: Option<bool>,
}

/// One service unit, as its manager describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnitFacts {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub manager: Option<ManagerKind>,
    /// What its command runs.
    pub role: Option<Role>,
    /// Which program its command runs.
    pub program: Option<Program>,
    /// The profile that its command names.
    #[serde(default)]
    pub profile: Option<String>,
    /// The home that its process serves, or would.
    #[serde(default)]
    pub home: Option<PathBuf>,
    /// Everything below was read over the bus; `false`: only the unit file or the cgroup told.
    pub asked: bool,
    /// `LoadState`.
    pub load_state: Option<String>,
    /// `LoadError`, where loading failed.
    pub load_error: Option<String>,
    /// `ActiveState`; that of a unit which its manager has not loaded is `inactive`.
    pub active_state: Option<String>,
    /// `SubState`.
    pub sub_state: Option<String>,
    /// `UnitFileState`: enabled, disabled, masked, …
    pub file_state: Option<String>,
    /// `Result` of the last run.
    pub result: Option<String>,
    /// `ConditionResult`.
    pub condition_result: Option<bool>,
    /// `Conditions`.
    #[serde(default)]
    pub conditions: Vec<UnitCondition>,
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
    /// `WorkingDirectory`, where the unit names one.
    pub working_directory: Option<String>,
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
    /// `Wants` and `Requires`: a unit may pull in `user@UID.service` itself.
    #[serde(default)]
    pub wants: Vec<String>,
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
