//! What an attempt at a door of the bus said, as plain data: stages, outcomes, and every refusal by
//! its own name. Owns no I/O and no judgement of what a refusal means for dispatch.

use serde::{Deserialize, Serialize};

use super::polkit::Right;

/// A door through which a service manager can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Door {
    /// The manager's own socket, `systemd/private`: no bus daemon between.
    Private,
    /// The user's message bus, `bus` in the runtime directory.
    SessionBus,
    /// The host's message bus.
    SystemBus,
}

/// How far a dial got. The order is the order in which the stages are passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// A runtime directory that may be believed.
    RuntimeDir,
    /// Something at the socket's path, and it is a socket.
    Socket,
    /// The kernel connected us to a listener of a trusted owner.
    Connect,
    /// The other end let us in (SASL EXTERNAL).
    Authenticate,
    /// The bus daemon gave us a name. A private socket has no such stage.
    Hello,
    /// The service manager itself answered a question.
    ManagerAnswers,
    /// The manager can move a foreign process into a scope.
    ManagerCanPlace,
}

/// Why a stage was not passed. One kind can occur at more than one stage (`Mute`, `Closed`), so a
/// refusal is named by stage and kind together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// Nothing there (`ENOENT`).
    Absent,
    /// Something on the way is not a directory (`ENOTDIR`), or the runtime directory is none.
    NotADirectory,
    /// A path that does not start at the root.
    NotAbsolute,
    /// Owned by somebody else.
    ForeignOwner,
    /// Group or others may write into it.
    InsecureMode,
    /// The path exists and is not a socket.
    NotASocket,
    /// Longer than a socket address can hold.
    PathTooLong,
    /// A socket file without a listener (`ECONNREFUSED`): left behind by a daemon that is gone.
    Refused,
    /// `EACCES` or `EPERM`.
    PermissionDenied,
    /// The listener lives and its queue is full (`EAGAIN`): it accepts nobody.
    BacklogFull,
    /// Unix sockets are forbidden here (`EAFNOSUPPORT`), as by `RestrictAddressFamilies=`.
    AddressFamilyForbidden,
    /// The listener belongs to an account that is neither ours nor root.
    ForeignPeer,
    /// The other end hung up.
    Closed,
    /// The other end spoke something that is not the protocol.
    Garbage,
    /// The other end understood and refused us.
    Rejected,
    /// No answer until the deadline.
    Mute,
    /// The bus is alive and nobody on it is the service manager.
    NoManager,
    /// An error reply other than those named here.
    ErrorReply,
    /// The user manager has no connection to the system bus (any more), so it cannot ask PID 1.
    LostSystemBus,
    /// There is no system bus to ask PID 1 through, or it does not answer.
    NoSystemBus,
    /// PID 1 does not answer.
    InitMute,
    /// Could not be found out; the text says why.
    Unknown,
    /// Any other error of the system.
    Other,
}

/// One refusal: its kind, and all that was seen of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The name of the refusal.
    pub kind: FailureKind,
    /// The error number of the system, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<i32>,
    /// What was seen or said, in words; of foreign origin, so it must be escaped before printing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Failure {
    /// A refusal of which only the kind is known.
    #[must_use]
    pub fn of(kind: FailureKind) -> Self {
        Self {
            kind,
            errno: None,
            text: None,
        }
    }

    /// A refusal with what was seen of it.
    #[must_use]
    pub fn said(kind: FailureKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            errno: None,
            text: Some(text.into()),
        }
    }
}

/// One stage that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageReport {
    /// Which stage.
    pub stage: Stage,
    /// `None`: passed.
    pub failure: Option<Failure>,
    /// How long it took, in milliseconds, rounded up.
    pub ms: u32,
}

/// What the service manager said of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManagerFacts {
    /// `Version`, as printed: `252.39-1~deb12u1`.
    pub version: String,
    /// `SystemState`: `running`, `degraded`, `starting`, …; `None` where it was not told.
    pub state: Option<String>,
    /// Process of the manager, where the door tells it.
    pub pid: Option<u32>,
}

/// One door, stage by stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoorReport {
    /// Which door.
    pub door: Door,
    /// The socket that was dialled.
    pub path: String,
    /// The stages that were tried, in order; all but the last passed.
    pub stages: Vec<StageReport>,
    /// What the manager said, where it answered.
    pub manager: Option<ManagerFacts>,
}

impl DoorReport {
    /// The stage and refusal at which this door stopped.
    #[must_use]
    pub fn refusal(&self) -> Option<(Stage, &Failure)> {
        self.stages
            .iter()
            .find_map(|tried| tried.failure.as_ref().map(|why| (tried.stage, why)))
    }

    /// Whether `stage` was reached and passed.
    #[must_use]
    pub fn passed(&self, stage: Stage) -> bool {
        self.stages
            .iter()
            .any(|tried| tried.stage == stage && tried.failure.is_none())
    }

    /// Whether the manager answered through this door.
    #[must_use]
    pub fn answers(&self) -> bool {
        self.passed(Stage::ManagerAnswers)
    }
}

/// Whether the user manager can move a foreign process into a scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// It holds a connection to the system bus, so it can ask PID 1.
    Able,
    /// It cannot, and why.
    Unable(Failure),
    /// Could not be found out, and why.
    Unknown(Failure),
}

/// What logind knows of one account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogindUser {
    /// Its `Linger` property.
    pub linger: Option<bool>,
    /// `State`: `active`, `online`, `lingering`, `closing`, `offline`.
    pub state: Option<String>,
    /// Its sessions.
    pub sessions: Vec<LogindSession>,
}

/// One login session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogindSession {
    /// Its id.
    pub id: String,
    /// `Class`: `user`, `manager`, `background`, `greeter`, …
    pub class: Option<String>,
    /// `Type`: `tty`, `x11`, `wayland`, `unspecified`.
    pub r#type: Option<String>,
    /// `State`: `active`, `online`, `closing`.
    pub state: Option<String>,
    /// The process that opened it.
    pub leader: Option<u32>,
}

impl LogindSession {
    /// Whether somebody logged in by it. From systemd 256 on the user manager itself is listed as a
    /// session, of class `manager` or `manager-early`.
    #[must_use]
    pub fn is_login(&self) -> bool {
        !self
            .class
            .as_deref()
            .is_some_and(|class| class.starts_with("manager"))
    }
}

/// What logind answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogindReport {
    /// Why logind itself could not be asked.
    pub failure: Option<Failure>,
    /// State of its unit file, where it could not be asked: `masked`, `static`, …
    pub file_state: Option<String>,
    /// The account; `None`: logind knows nothing of it (not logged in, not lingering).
    pub user: Option<LogindUser>,
    /// `KillUserProcesses` of logind.conf, as logind applies it.
    pub kill_user_processes: Option<bool>,
    /// Whether who asks may turn the account's linger on. Asked for nobody who may anyway, nor where it is
    /// on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_linger: Option<Right>,
}

/// The file that means linger, `/var/lib/systemd/linger/USER`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LingerMarker {
    /// It is there.
    Present,
    /// It is not.
    Absent,
    /// There is not even the directory: no logind has ever kept a linger here.
    NoDirectory,
    /// Could not be looked at.
    Unknown(Failure),
}

/// Everything about one account's way to its user manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionBusReport {
    /// The account.
    pub uid: u32,
    /// Both doors; none where no runtime directory may be believed.
    pub doors: Vec<DoorReport>,
    /// Whether the user manager can place a process from outside `user@UID.service`.
    pub placement: Placement,
    /// Why the account's doors could not be tried at all (no privilege to become that account).
    pub not_tried: Option<Failure>,
}

impl SessionBusReport {
    /// The door that answers, the private one first: it needs no bus daemon.
    #[must_use]
    pub fn answering(&self) -> Option<&DoorReport> {
        self.doors.iter().find(|door| door.answers())
    }
}

/// The host's bus, PID 1 and logind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemBusReport {
    /// The bus, and PID 1 behind it.
    pub doors: Vec<DoorReport>,
    /// logind, over the same bus.
    pub logind: LogindReport,
    /// `user@UID.service` of the account in question.
    pub user_manager: Option<UserManagerUnit>,
    /// Why the user manager's unit could not be asked for.
    pub user_manager_failure: Option<Failure>,
}

/// `user@UID.service`, as PID 1 sees it. One that is not loaded is told of only if it is masked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserManagerUnit {
    /// `LoadState`: `loaded`, `masked`, `not-found`.
    pub load_state: String,
    /// `ActiveState`.
    pub active_state: String,
    /// `SubState`.
    pub sub_state: String,
    /// `Result` of its last run.
    pub result: String,
    /// Its process.
    pub main_pid: Option<u32>,
    /// When it became active, in microseconds since 1970.
    pub active_enter_us: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_is_no_login() {
        let session = |class: Option<&str>| LogindSession {
            id: "c1".to_owned(),
            class: class.map(str::to_owned),
            r#type: None,
            state: None,
            leader: None,
        };
        assert!(session(Some("user")).is_login());
        assert!(session(None).is_login(), "unknown is not nobody");
        assert!(!session(Some("manager-early")).is_login());
        assert!(!session(Some("manager")).is_login());
    }
}
