//! How a job will be launched: one pure decision that `serve`, the dispatcher, `cron list` and the
//! doctor share. No I/O, and nothing is remembered: whoever asks brings the facts.

use serde::{Deserialize, Serialize};

use super::facts::{
    AgentView, DispatchFacts, KillMode, Launcher, Sandbox, Seat, SystemManager, Tri, UserManager,
};
use super::flips::{Flip, flips};
use super::forecast::{Forecast, forecast};

/// How a worker runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// As a plain child of a dispatcher that no service manager supervises.
    InProcess,
    /// Outside of the dispatcher's cgroup: a restart of the dispatcher leaves it alone.
    Scoped,
    /// As a process of its own inside the dispatcher's cgroup.
    Degraded,
    /// Not at all.
    Refused,
}

impl Mode {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::InProcess => "in_process",
            Self::Scoped => "scoped",
            Self::Degraded => "degraded",
            Self::Refused => "refused",
        }
    }
}

/// What is to be launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A cron job.
    Job,
    /// A worker made to run for hours: it is always fail-closed.
    LongLived,
}

/// What the operator asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Policy {
    /// `cron.require_restart_safe_scope`: rather no run than one that a restart would kill.
    pub require_restart_safe_scope: bool,
    /// What was written of it cannot be read. We take it for on; Hermes Agent takes it for off.
    #[serde(default)]
    pub is_unread: bool,
}

impl Policy {
    /// Whether our own dispatcher takes it so.
    #[must_use]
    pub fn is_strict(self) -> bool {
        self.require_restart_safe_scope || self.is_unread
    }
}

/// How a worker is placed outside of the dispatcher's cgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// A transient scope around the worker's own process.
    Scope,
    /// A transient service that the manager itself starts.
    Service,
}

/// Whose unit the worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Manager {
    /// PID 1's.
    System,
    /// The user manager's.
    User,
}

impl Manager {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
        }
    }
}

/// Whether a running job outlives a restart of the dispatcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Survival {
    /// It does.
    Survives,
    /// It is killed.
    Dies,
    /// `KillMode` of the unit is not known.
    Unknown,
    /// Nothing runs that could.
    NothingRuns,
}

impl Survival {
    /// As yes or no; `None` where neither can be said.
    #[must_use]
    pub fn known(self) -> Option<bool> {
        match self {
            Self::Survives => Some(true),
            Self::Dies => Some(false),
            Self::Unknown | Self::NothingRuns => None,
        }
    }
}

/// One step of the way to a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The dispatcher sits in a service and was started by its manager.
    Supervised,
    /// Its cgroup is hidden; `INVOCATION_ID` alone says that a manager started it.
    SupervisedByVariable,
    /// It does not sit in a service.
    NotInService,
    /// It has no `INVOCATION_ID`.
    NoInvocationId,
    /// It is not the gateway, which alone hands jobs to workers of their own.
    NotGateway,
    /// PID 1 answers, and places the workers of root.
    SystemManagerPlaces,
    /// PID 1 does not answer.
    SystemManagerSilent,
    /// The user manager answers, and can place a process.
    UserManagerPlaces,
    /// It lost the system bus: it starts services, but moves no process.
    UserManagerServicesOnly,
    /// It does not run.
    UserManagerNotRunning,
    /// It, or what lies before it, is stuck.
    UserManagerStuck,
    /// It was started and failed, or must not be started.
    UserManagerFailing,
    /// There is no systemd that could place anything.
    NoSystemd,
    /// `ProtectHome=` of the unit hides the way to it.
    HomeHidden,
    /// `RestrictAddressFamilies=` of the unit forbids the way to it.
    UnixSocketsForbidden,
    /// The environment names no runtime directory, and this version derives none.
    VariablesMissing,
    /// There is no `bus` socket, on which Hermes Agent insists.
    BusSocketMissing,
    /// There is no `systemd-run` on its `PATH`.
    SystemdRunMissing,
    /// `require_restart_safe_scope` is on.
    PolicyRequiresScope,
    /// What was written of `require_restart_safe_scope` cannot be read.
    PolicyUnread,
    /// A worker made to run for hours is never run where a restart would kill it.
    LongLivedFailsClosed,
    /// This version launches nothing where no scope can be made.
    VersionHasNoFallback,
}

impl Reason {
    /// One sentence, without a full stop.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Supervised => "the dispatcher runs in a service",
            Self::SupervisedByVariable => {
                "a service manager started the dispatcher (INVOCATION_ID); its cgroup is hidden"
            }
            Self::NotInService => "the dispatcher does not run in a service",
            Self::NoInvocationId => "no service manager started the dispatcher (no INVOCATION_ID)",
            Self::NotGateway => "the dispatcher is not a gateway, so it runs jobs inside itself",
            Self::SystemManagerPlaces => "PID 1 places the workers of root",
            Self::SystemManagerSilent => "PID 1 does not answer",
            Self::UserManagerPlaces => "the user manager answers and can place a process",
            Self::UserManagerServicesOnly => {
                "the user manager lost the system bus: it starts services, but moves no process"
            }
            Self::UserManagerNotRunning => "the user manager does not run",
            Self::UserManagerStuck => {
                "the user manager cannot be reached, though something is there"
            }
            Self::UserManagerFailing => "the user manager fails to start",
            Self::NoSystemd => "there is no systemd here that could place a worker",
            Self::HomeHidden => "ProtectHome= of the unit hides /run/user",
            Self::UnixSocketsForbidden => {
                "RestrictAddressFamilies= of the unit forbids Unix sockets"
            }
            Self::VariablesMissing => {
                "the environment names no runtime directory, and this version derives none"
            }
            Self::BusSocketMissing => "there is no bus socket, on which Hermes Agent insists",
            Self::SystemdRunMissing => "there is no systemd-run on the dispatcher's PATH",
            Self::PolicyRequiresScope => "cron.require_restart_safe_scope is on",
            Self::PolicyUnread => {
                "what the configuration says of cron.require_restart_safe_scope cannot be read, and \
                 until it can it counts as on"
            }
            Self::LongLivedFailsClosed => "long-lived workers run restart-safe or not at all",
            Self::VersionHasNoFallback => {
                "Hermes Agent up to 0.21.2 launches nothing where no scope can be made"
            }
        }
    }
}

/// Where a worker would be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// How.
    pub(super) mechanism: Mechanism,
    /// By whom.
    pub(super) manager: Manager,
    /// What says so.
    pub(super) reason: Reason,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What was to be launched.
    pub kind: Kind,
    /// What the operator asked for.
    pub policy: Policy,
    /// The facts that it was decided on.
    pub facts: DispatchFacts,
    /// How a worker will run.
    pub mode: Mode,
    /// How it is placed, where it is.
    pub mechanism: Option<Mechanism>,
    /// By whom, where it is.
    pub manager: Option<Manager>,
    /// The steps of the way there.
    pub reasons: Vec<Reason>,
    /// Whether a restart of the dispatcher leaves it alone.
    pub survives_restart: Survival,
    /// What becomes of it.
    pub forecast: Forecast,
    /// The smallest sets of changes that lead to a better mode, the best first.
    pub flips: Vec<Flip>,
}

/// Decides.
#[must_use]
pub fn decide(facts: DispatchFacts, policy: Policy, kind: Kind) -> Decision {
    let mode = mode(facts, policy, kind);
    let place = match mode {
        Mode::Scoped => place(facts).ok(),
        _ => None,
    };
    Decision {
        kind,
        policy,
        facts,
        mode,
        mechanism: place.map(|place| place.mechanism),
        manager: place.map(|place| place.manager),
        reasons: reasons(facts, policy, kind),
        survives_restart: survival(facts, mode),
        forecast: forecast(facts, policy, kind),
        flips: flips(facts, policy, kind),
    }
}

/// The mode alone.
#[must_use]
pub fn mode(facts: DispatchFacts, policy: Policy, kind: Kind) -> Mode {
    if supervision(facts, kind).is_err() {
        return Mode::InProcess;
    }
    if place(facts).is_ok() {
        return Mode::Scoped;
    }
    match why_refused(facts, policy, kind) {
        Some(_) => Mode::Refused,
        None => Mode::Degraded,
    }
}

/// What says that a service manager supervises the dispatcher, or what says that none does.
pub(super) fn supervision(facts: DispatchFacts, kind: Kind) -> Result<Reason, Reason> {
    let in_service = matches!(facts.seat, Seat::SystemService | Seat::UserService);
    let by_variable = match facts.seat {
        Seat::Hidden => Reason::SupervisedByVariable,
        _ => Reason::Supervised,
    };
    match facts.launcher {
        Launcher::Ours if !in_service && facts.seat != Seat::Hidden => Err(Reason::NotInService),
        _ if !facts.invocation_id => Err(Reason::NoInvocationId),
        Launcher::Ours => Ok(by_variable),
        // Hermes Agent never looks at its cgroup.
        _ if !facts.gateway && kind == Kind::Job => Err(Reason::NotGateway),
        _ if in_service => Ok(Reason::Supervised),
        _ => Ok(Reason::SupervisedByVariable),
    }
}

/// Where a worker can be placed, or why nowhere.
pub(super) fn place(facts: DispatchFacts) -> Result<Place, Reason> {
    if facts.sandbox == Sandbox::NoUnixSockets {
        return Err(Reason::UnixSocketsForbidden);
    }
    match facts.launcher {
        Launcher::Ours if facts.root => place_by_init(facts.system_manager),
        Launcher::Ours => place_by_user_manager(facts),
        Launcher::Agent | Launcher::AgentWithoutFallback => place_by_agent(facts),
    }
}

fn place_by_init(manager: SystemManager) -> Result<Place, Reason> {
    match manager {
        SystemManager::Answers => Ok(Place {
            mechanism: Mechanism::Scope,
            manager: Manager::System,
            reason: Reason::SystemManagerPlaces,
        }),
        SystemManager::Silent => Err(Reason::SystemManagerSilent),
        SystemManager::Impossible => Err(Reason::NoSystemd),
    }
}

fn place_by_user_manager(facts: DispatchFacts) -> Result<Place, Reason> {
    if facts.sandbox == Sandbox::HomeHidden {
        return Err(Reason::HomeHidden);
    }
    let by = |mechanism, reason| Place {
        mechanism,
        manager: Manager::User,
        reason,
    };
    match facts.user_manager {
        UserManager::Places => Ok(by(Mechanism::Scope, Reason::UserManagerPlaces)),
        UserManager::ServicesOnly => Ok(by(Mechanism::Service, Reason::UserManagerServicesOnly)),
        UserManager::NotRunning => Err(Reason::UserManagerNotRunning),
        UserManager::Stuck => Err(Reason::UserManagerStuck),
        UserManager::Failing => Err(Reason::UserManagerFailing),
        UserManager::Impossible => Err(Reason::NoSystemd),
    }
}

/// Hermes Agent knows `systemd-run --user --scope` and nothing else, for root too.
fn place_by_agent(facts: DispatchFacts) -> Result<Place, Reason> {
    let old = facts.launcher == Launcher::AgentWithoutFallback;
    let place = place_by_user_manager(facts)?;
    if place.mechanism == Mechanism::Service {
        return Err(Reason::UserManagerServicesOnly);
    }
    match facts.agent_view {
        AgentView::NoSystemdRun => Err(Reason::SystemdRunMissing),
        AgentView::NoBusSocket => Err(Reason::BusSocketMissing),
        AgentView::NoVariables | AgentView::NoVariablesYet if old => Err(Reason::VariablesMissing),
        _ => Ok(place),
    }
}

/// Why a supervised worker that cannot be placed is not run at all.
fn why_refused(facts: DispatchFacts, policy: Policy, kind: Kind) -> Option<Reason> {
    if facts.launcher == Launcher::AgentWithoutFallback {
        return Some(Reason::VersionHasNoFallback);
    }
    if kind == Kind::LongLived {
        return Some(Reason::LongLivedFailsClosed);
    }
    if policy.is_unread && facts.launcher == Launcher::Ours {
        return Some(Reason::PolicyUnread);
    }
    policy
        .require_restart_safe_scope
        .then_some(Reason::PolicyRequiresScope)
}

fn reasons(facts: DispatchFacts, policy: Policy, kind: Kind) -> Vec<Reason> {
    let supervised = match supervision(facts, kind) {
        Ok(reason) => reason,
        Err(reason) => return vec![reason],
    };
    match place(facts) {
        Ok(place) => vec![supervised, place.reason],
        Err(reason) => [supervised, reason]
            .into_iter()
            .chain(why_refused(facts, policy, kind))
            .collect(),
    }
}

pub(super) fn survival(facts: DispatchFacts, mode: Mode) -> Survival {
    match mode {
        Mode::Scoped => Survival::Survives,
        Mode::InProcess => Survival::Dies,
        Mode::Refused => Survival::NothingRuns,
        Mode::Degraded => match facts.kill_mode {
            KillMode::Process | KillMode::None => Survival::Survives,
            KillMode::ControlGroup | KillMode::Mixed => Survival::Dies,
            KillMode::Unknown => Survival::Unknown,
        },
    }
}

/// Whether linger keeps the user manager, as a word for reports.
#[must_use]
pub fn linger_word(linger: Tri) -> &'static str {
    match linger {
        Tri::Yes => "on",
        Tri::No => "off",
        Tri::Unknown => "unknown",
    }
}
