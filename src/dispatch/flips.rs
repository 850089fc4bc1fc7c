//! The smallest set of changes that leads to a better mode. Pure: a change is a name and what it does
//! to the facts, so that a report can promise it and `--what-if` can try it.

use serde::{Deserialize, Serialize};

use super::facts::{
    AgentView, DispatchFacts, KillMode, Launcher, Sandbox, Seat, SystemManager, Tri, UserManager,
};
use super::mode::{Kind, Mode, Policy, mode};

/// Something that an operator can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Change {
    /// Turn linger on: the user manager runs from now on, login or not.
    #[serde(rename = "linger=on")]
    LingerOn,
    /// Bring up the user manager and its bus.
    #[serde(rename = "bus=up")]
    BusUp,
    /// Re-execute the user manager, so that it connects to the system bus again.
    #[serde(rename = "user-manager=reconnected")]
    UserManagerReconnected,
    /// Bring PID 1 to answer.
    #[serde(rename = "system-manager=up")]
    SystemManagerUp,
    /// Let the unit see `/run/user` and use Unix sockets.
    #[serde(rename = "sandbox=open")]
    SandboxOpen,
    /// Restart the dispatcher, so that it gets the environment of its unit.
    #[serde(rename = "dispatcher=restarted")]
    DispatcherRestarted,
    /// Name the runtime directory and the bus in the unit, and restart the dispatcher.
    #[serde(rename = "variables=set")]
    VariablesSet,
    /// Put `systemd-run` on the dispatcher's `PATH`.
    #[serde(rename = "systemd-run=found")]
    SystemdRunFound,
    /// Run the dispatcher in a service.
    #[serde(rename = "supervised=yes")]
    Supervised,
    /// Do not require a scope.
    #[serde(rename = "require-scope=off")]
    ScopeNotRequired,
    /// Update Hermes Agent.
    #[serde(rename = "program=updated")]
    ProgramUpdated,
    /// Let this program dispatch.
    #[serde(rename = "program=hermes")]
    ProgramSwitched,
}

/// A set of changes and what it leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flip {
    /// The mode then.
    pub mode: Mode,
    /// All of these are needed.
    pub by: Vec<Change>,
}

impl Change {
    /// All changes, in the order in which they are preferred.
    pub const ALL: [Self; 12] = [
        Self::LingerOn,
        Self::BusUp,
        Self::UserManagerReconnected,
        Self::SystemManagerUp,
        Self::SandboxOpen,
        Self::DispatcherRestarted,
        Self::VariablesSet,
        Self::SystemdRunFound,
        Self::Supervised,
        Self::ScopeNotRequired,
        Self::ProgramUpdated,
        Self::ProgramSwitched,
    ];

    /// Its stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LingerOn => "linger=on",
            Self::BusUp => "bus=up",
            Self::UserManagerReconnected => "user-manager=reconnected",
            Self::SystemManagerUp => "system-manager=up",
            Self::SandboxOpen => "sandbox=open",
            Self::DispatcherRestarted => "dispatcher=restarted",
            Self::VariablesSet => "variables=set",
            Self::SystemdRunFound => "systemd-run=found",
            Self::Supervised => "supervised=yes",
            Self::ScopeNotRequired => "require-scope=off",
            Self::ProgramUpdated => "program=updated",
            Self::ProgramSwitched => "program=hermes",
        }
    }

    /// The change of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|change| change.name() == name)
    }

    /// Whether it can change what this program does: some only help Hermes Agent.
    fn matters_to(self, launcher: Launcher) -> bool {
        launcher != Launcher::Ours
            || !matches!(
                self,
                Self::DispatcherRestarted | Self::VariablesSet | Self::SystemdRunFound
            )
    }

    /// What an operator does, an imperative fragment.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::LingerOn => "turn linger on",
            Self::BusUp => "bring up the user manager and its bus",
            Self::UserManagerReconnected => "re-execute the user manager",
            Self::SystemManagerUp => "bring PID 1 to answer",
            Self::SandboxOpen => "let the unit see /run/user and use Unix sockets",
            Self::DispatcherRestarted => "restart the dispatcher",
            Self::VariablesSet => "name the runtime directory and the bus in the unit",
            Self::SystemdRunFound => "put systemd-run on the dispatcher's PATH",
            Self::Supervised => "run the dispatcher in a service",
            Self::ScopeNotRequired => "turn cron.require_restart_safe_scope off",
            Self::ProgramUpdated => "update Hermes Agent",
            Self::ProgramSwitched => "let this program dispatch",
        }
    }

    /// The facts and the policy after it.
    #[must_use]
    pub fn apply(self, mut facts: DispatchFacts, mut policy: Policy) -> (DispatchFacts, Policy) {
        match self {
            Self::LingerOn => linger_on(&mut facts),
            Self::BusUp => bus_up(&mut facts),
            Self::UserManagerReconnected => {
                if facts.user_manager == UserManager::ServicesOnly {
                    facts.user_manager = UserManager::Places;
                }
            }
            Self::SystemManagerUp => {
                if facts.system_manager == SystemManager::Silent {
                    facts.system_manager = SystemManager::Answers;
                }
            }
            Self::SandboxOpen => facts.sandbox = Sandbox::Open,
            Self::DispatcherRestarted => {
                if facts.agent_view == AgentView::NoVariablesYet {
                    facts.agent_view = AgentView::Clear;
                }
            }
            Self::VariablesSet => {
                if facts.agent_view == AgentView::NoVariables {
                    facts.agent_view = AgentView::Clear;
                }
            }
            Self::SystemdRunFound => {
                if facts.agent_view == AgentView::NoSystemdRun {
                    facts.agent_view = AgentView::Clear;
                }
            }
            Self::Supervised => supervised(&mut facts),
            Self::ScopeNotRequired => policy = Policy::default(),
            Self::ProgramUpdated => {
                if facts.launcher == Launcher::AgentWithoutFallback {
                    facts.launcher = Launcher::Agent;
                }
            }
            Self::ProgramSwitched => facts.launcher = Launcher::Ours,
        }
        (facts, policy)
    }
}

/// Without logind there is nobody who would read the marker.
fn linger_on(facts: &mut DispatchFacts) {
    if facts.linger == Tri::Yes || facts.logind != Tri::Yes {
        return;
    }
    facts.linger = Tri::Yes;
    if facts.user_manager == UserManager::NotRunning {
        facts.user_manager = UserManager::Places;
    }
}

fn bus_up(facts: &mut DispatchFacts) {
    if matches!(
        facts.user_manager,
        UserManager::NotRunning | UserManager::Stuck | UserManager::Failing
    ) {
        facts.user_manager = UserManager::Places;
    }
    if facts.agent_view == AgentView::NoBusSocket {
        facts.agent_view = AgentView::Clear;
    }
}

fn supervised(facts: &mut DispatchFacts) {
    let in_service = matches!(facts.seat, Seat::SystemService | Seat::UserService);
    let already = in_service && facts.invocation_id && facts.gateway;
    if facts.system_manager == SystemManager::Impossible || already {
        return;
    }
    facts.invocation_id = true;
    facts.gateway = true;
    if !in_service {
        facts.seat = Seat::SystemService;
        facts.kill_mode = KillMode::ControlGroup;
        facts.enabled = Tri::Yes;
    }
}

/// The smallest sets that lead to a better mode. Where another program would need fewer changes than
/// the one at hand, both sets are given; where nothing makes a refused job scoped, or a single step
/// would make it run at all, that is given too.
#[must_use]
pub(super) fn flips(facts: DispatchFacts, policy: Policy, kind: Kind) -> Vec<Flip> {
    let now = mode(facts, policy, kind);
    let wanted: &[Mode] = match now {
        Mode::Scoped => &[],
        Mode::InProcess | Mode::Degraded => &[Mode::Scoped],
        Mode::Refused if kind == Kind::LongLived => &[Mode::Scoped],
        Mode::Refused => &[Mode::Scoped, Mode::Degraded],
    };
    let effective: Vec<Change> = Change::ALL
        .into_iter()
        .filter(|change| change.matters_to(facts.launcher))
        .filter(|change| change.apply(facts, policy) != (facts, policy))
        .collect();
    let own: Vec<Change> = effective
        .iter()
        .copied()
        .filter(|change| *change != Change::ProgramSwitched)
        .collect();
    let mut found = Vec::new();
    for &mode in wanted {
        let asked = Asked {
            facts,
            policy,
            kind,
            mode,
        };
        let same_program = smallest(&asked, &own);
        let any_program = smallest(&asked, &effective);
        let fewer = |other: &Flip| {
            same_program
                .as_ref()
                .is_none_or(|own| other.by.len() < own.by.len())
        };
        let switched = any_program.filter(fewer);
        found.extend(same_program);
        found.extend(switched);
    }
    found
}

/// One search.
struct Asked {
    facts: DispatchFacts,
    policy: Policy,
    kind: Kind,
    mode: Mode,
}

impl Asked {
    fn now(&self) -> State {
        (self.facts, self.policy)
    }

    fn is_reached(&self, (facts, policy): State) -> bool {
        mode(facts, policy, self.kind) == self.mode
    }

    /// The first set of this size that leads there, in the order of preference.
    fn first(&self, from: State, among: &[Change], size: usize) -> Option<Vec<Change>> {
        if size == 0 {
            return self.is_reached(from).then(Vec::new);
        }
        among.iter().enumerate().find_map(|(at, change)| {
            let then = change.apply(from.0, from.1);
            let mut rest = self.first(then, among.get(at + 1..)?, size - 1)?;
            rest.insert(0, *change);
            Some(rest)
        })
    }
}

/// What changes change.
type State = (DispatchFacts, Policy);

/// The smallest set among these changes; of several, the one whose changes are preferred.
fn smallest(asked: &Asked, among: &[Change]) -> Option<Flip> {
    let all = among
        .iter()
        .fold(asked.now(), |now, change| change.apply(now.0, now.1));
    // No change of one program's surroundings takes anything away from a worker's place: what all
    // of them together do not reach, none of their subsets does.
    if asked.mode == Mode::Scoped && !asked.is_reached(all) {
        return None;
    }
    let by = (1..=among.len()).find_map(|size| asked.first(asked.now(), among, size))?;
    Some(Flip {
        mode: asked.mode,
        by,
    })
}
