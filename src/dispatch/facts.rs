//! The facts that dispatch turns on, and no others: small, copied, and few enough to be gone through
//! one by one. `derive` makes them from the facts of the host.

use serde::{Deserialize, Serialize};

/// Which program launches, as far as it changes the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Launcher {
    /// This program.
    Ours,
    /// Hermes Agent up to 0.21.2: without a scope it launches nothing.
    AgentWithoutFallback,
    /// Hermes Agent after 0.21.2, or of a version that is not known.
    Agent,
}

/// Where in the cgroup tree the dispatcher sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seat {
    /// In a service of PID 1.
    SystemService,
    /// In a service of the user manager.
    UserService,
    /// The cgroup reads `/`, or cannot be read.
    Hidden,
    /// In a scope of the user manager: started by a desktop, or by hand.
    UserScope,
    /// In a login session whose processes are killed at logout.
    SessionKilled,
    /// In a login session whose processes are left alone at logout.
    SessionSpared,
    /// In a login session; what logout does to it is not known.
    Session,
    /// Anywhere else.
    Elsewhere,
}

/// The user manager, as somebody outside of its cgroup meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UserManager {
    /// It answers, and can place a process.
    Places,
    /// It answers, and can start services, but no longer place a process: it lost the system bus.
    ServicesOnly,
    /// It does not run.
    NotRunning,
    /// Something is in the way that a restart of the manager clears: a stale socket, a mute daemon.
    Stuck,
    /// It was started and failed, or must not be started.
    Failing,
    /// There is no systemd.
    Impossible,
}

/// The manager that is PID 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemManager {
    /// It answers.
    Answers,
    /// It runs and does not answer.
    Silent,
    /// PID 1 is not systemd.
    Impossible,
}

/// What Hermes Agent sees of the user manager, from where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentView {
    /// All that it needs.
    Clear,
    /// Its environment names no runtime directory that may be believed; old versions derive none.
    NoVariables,
    /// The same, but its unit names one by now: a restart brings it.
    NoVariablesYet,
    /// The manager answers, but there is no `bus` socket, which it insists on.
    NoBusSocket,
    /// There is no `systemd-run` on its `PATH`.
    NoSystemdRun,
}

/// What the unit keeps away from the dispatcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// Nothing that matters here.
    Open,
    /// `ProtectHome=` hides `/run/user`.
    HomeHidden,
    /// `RestrictAddressFamilies=` forbids Unix sockets.
    NoUnixSockets,
}

/// What a stop of the unit does to the processes that it owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KillMode {
    /// All are killed.
    ControlGroup,
    /// The main one gets SIGTERM, the rest SIGKILL.
    Mixed,
    /// Only the main one is killed.
    Process,
    /// None is killed.
    None,
    /// Not known.
    Unknown,
}

/// A yes, a no, or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tri {
    /// It is so.
    Yes,
    /// It is not.
    No,
    /// Not known.
    Unknown,
}

impl Tri {
    /// Yes or no.
    #[must_use]
    pub fn of(value: bool) -> Self {
        if value { Self::Yes } else { Self::No }
    }

    /// `None` where it is not known.
    #[must_use]
    pub fn known(self) -> Option<bool> {
        match self {
            Self::Yes => Some(true),
            Self::No => Some(false),
            Self::Unknown => None,
        }
    }
}

/// All that the decision turns on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and the tests go through every combination"
)]
pub struct DispatchFacts {
    /// Which program launches.
    pub launcher: Launcher,
    /// It runs as a gateway. Hermes Agent asks this of itself; it says nothing of ours.
    pub gateway: bool,
    /// Where it sits.
    pub seat: Seat,
    /// Its environment has `INVOCATION_ID`.
    pub invocation_id: bool,
    /// It runs as uid 0.
    pub root: bool,
    /// The user manager of its account.
    pub user_manager: UserManager,
    /// PID 1.
    pub system_manager: SystemManager,
    /// What Hermes Agent sees of the user manager.
    pub agent_view: AgentView,
    /// What the unit keeps away from it.
    pub sandbox: Sandbox,
    /// What a stop of the unit does to its processes.
    pub kill_mode: KillMode,
    /// logind keeps the user manager without a login.
    pub linger: Tri,
    /// logind runs, and reads the marker of linger: now, and at a boot.
    pub logind: Tri,
    /// The unit itself pulls in the user manager at boot.
    pub wants_user_manager: bool,
    /// The unit is started at boot, or at the start of its manager.
    pub enabled: Tri,
}
