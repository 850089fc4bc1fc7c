//! What becomes of the dispatcher and its mode after the last logout, and after a reboot. Pure.

use serde::{Deserialize, Serialize};

use super::facts::{AgentView, DispatchFacts, Launcher, Seat, SystemManager, Tri, UserManager};
use super::mode::{Kind, Mode, Policy, mode};

/// What is to be expected of a later moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outlook {
    /// The dispatcher runs, and launches so.
    Mode(Mode),
    /// No dispatcher runs any more.
    Stopped,
    /// Cannot be said from what is known.
    Unknown,
}

impl Outlook {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Mode(mode) => mode.word(),
            Self::Stopped => "stopped",
            Self::Unknown => "unknown",
        }
    }
}

/// The two moments at which a mode that is good today goes bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Forecast {
    /// After the account's last login session has ended.
    pub after_logout: Outlook,
    /// After a reboot, before anybody logs in.
    pub after_reboot: Outlook,
}

/// Both forecasts.
#[must_use]
pub fn forecast(facts: DispatchFacts, policy: Policy, kind: Kind) -> Forecast {
    Forecast {
        after_logout: after_logout(facts, policy, kind),
        after_reboot: after_reboot(facts, policy, kind),
    }
}

/// Why it cannot be said what becomes of the dispatcher after a logout, where it cannot.
#[must_use]
pub fn unknown_after_logout(facts: DispatchFacts) -> &'static str {
    match facts.seat {
        Seat::Session => "whether logind ends the processes of a session is not known",
        _ => NO_LINGER,
    }
}

/// The same for a reboot.
#[must_use]
pub fn unknown_after_reboot(facts: DispatchFacts) -> &'static str {
    match (facts.seat, facts.enabled) {
        (Seat::SystemService | Seat::UserService, Tri::Unknown) => {
            "whether its unit is enabled is not known"
        }
        (Seat::SystemService | Seat::UserService, _) => NO_LINGER,
        _ => "what starts it is not seen from here",
    }
}

/// Why no forecast can be made that depends on linger.
const NO_LINGER: &str = "whether the account lingers is not known";

fn after_logout(facts: DispatchFacts, policy: Policy, kind: Kind) -> Outlook {
    let bound_to_manager = matches!(facts.seat, Seat::UserService | Seat::UserScope);
    let in_mode = |facts| Outlook::Mode(mode(facts, policy, kind));
    match facts.seat {
        Seat::SessionKilled => return Outlook::Stopped,
        Seat::Session => return Outlook::Unknown,
        _ => {}
    }
    let stays = in_mode(facts);
    let goes = if bound_to_manager {
        Outlook::Stopped
    } else {
        in_mode(without_user_manager(facts))
    };
    by_linger(facts.linger, stays, goes)
}

fn after_reboot(facts: DispatchFacts, policy: Policy, kind: Kind) -> Outlook {
    match facts.seat {
        Seat::SystemService | Seat::UserService => {}
        // What starts a container, or a service whose cgroup is hidden, is not seen from inside.
        Seat::Hidden => return Outlook::Unknown,
        _ if facts.system_manager == SystemManager::Impossible => return Outlook::Unknown,
        _ => return Outlook::Stopped,
    }
    let in_mode = |facts| Outlook::Mode(mode(facts, policy, kind));
    let with = in_mode(with_fresh_managers(facts));
    let without = match facts.seat {
        Seat::UserService => Outlook::Stopped,
        _ if facts.wants_user_manager => with,
        _ => in_mode(without_user_manager(with_fresh_managers(facts))),
    };
    match facts.enabled {
        Tri::No => Outlook::Stopped,
        Tri::Yes => by_linger(lingers_at_boot(facts), with, without),
        Tri::Unknown => Outlook::Unknown,
    }
}

/// Whether a boot starts the account's user manager without a login: logind does where it finds the
/// marker, and nobody else does.
fn lingers_at_boot(facts: DispatchFacts) -> Tri {
    match (facts.linger, facts.logind) {
        (Tri::No, _) | (_, Tri::No) => Tri::No,
        (linger, Tri::Yes) => linger,
        (_, Tri::Unknown) => Tri::Unknown,
    }
}

/// One of two outlooks; either, where they agree.
fn by_linger(linger: Tri, on: Outlook, off: Outlook) -> Outlook {
    match linger {
        Tri::Yes => on,
        Tri::No => off,
        Tri::Unknown if on == off => on,
        Tri::Unknown => Outlook::Unknown,
    }
}

fn without_user_manager(mut facts: DispatchFacts) -> DispatchFacts {
    if matches!(
        facts.user_manager,
        UserManager::Places | UserManager::ServicesOnly | UserManager::Stuck
    ) {
        facts.user_manager = UserManager::NotRunning;
    }
    facts
}

/// A boot clears what was stuck, not what fails by itself.
fn with_fresh_managers(mut facts: DispatchFacts) -> DispatchFacts {
    facts.user_manager = match facts.user_manager {
        UserManager::Failing => UserManager::Failing,
        UserManager::Impossible => UserManager::Impossible,
        _ => UserManager::Places,
    };
    if facts.system_manager == SystemManager::Silent {
        facts.system_manager = SystemManager::Answers;
    }
    if facts.launcher != Launcher::Ours && facts.agent_view == AgentView::NoVariablesYet {
        facts.agent_view = AgentView::Clear;
    }
    facts
}
