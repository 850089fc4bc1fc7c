//! What a gateway or serve left in files: who it says it is, since when, and for which home.

use jiff::Timestamp;

use super::read::Read;

/// The files of a gateway.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GatewayFiles {
    /// `gateway.pid`.
    pub pid: Read<PidRecord>,
    /// `gateway.lock`: the same record; the lock on the file is another matter.
    pub lock: Read<PidRecord>,
    /// `gateway_state.json`.
    pub state: Read<GatewayState>,
    /// `gateway-starts.log`, the newest last, a bounded number.
    pub starts: Vec<Timestamp>,
    /// `host-<role>.json` of the account's registry that name this home.
    pub hosts: Vec<HostRecord>,
}

/// Who a pid file says that it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PidRecord {
    /// Its pid.
    pub pid: u32,
    /// Its start, in clock ticks since boot; a bare number has none.
    pub start_ticks: Option<u64>,
    /// What it calls itself: `hermes-gateway`.
    pub kind: Option<String>,
    /// The home that it serves.
    pub home: Option<String>,
}

/// What a gateway last said of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatewayState {
    /// Who.
    pub who: PidRecord,
    /// `starting`, `running`, `degraded`, `draining`, `stopped`, …
    pub state: Option<String>,
    /// When it said so.
    pub updated_at: Option<Timestamp>,
    /// Its version.
    pub version: Option<String>,
    /// Why it ended, if it has.
    pub exit_reason: Option<String>,
    /// Profiles that it serves beside its own.
    pub served_profiles: Vec<String>,
}

/// One entry of the account's registry of running programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRecord {
    /// `gateway`, `serve`, `desktop-serve`.
    pub role: String,
    /// Who.
    pub who: PidRecord,
    /// Boot id and start of PID 1, as `<id>:<ticks>`.
    pub boot: Option<String>,
    /// Profiles that it serves.
    pub profiles: Vec<String>,
    /// When it was written.
    pub updated_at: Option<Timestamp>,
}
