//! What the files of a home, and those beside it, say of the process that serves it. Plain data: each
//! record carries the judgement of whether its process still lives, made once for all commands.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Fact;
use crate::host::liveness::{BootMark, Liveness};
use crate::host::locks::Holder;

/// A file that may be there: `Known(None)` is "not there", never "not readable".
pub type Recorded<T> = Fact<Option<T>>;

/// What the files of one home say of who serves it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HomeRecords {
    /// The home.
    pub path: PathBuf,
    /// Its profile: `default` for the root's own.
    pub profile: String,
    /// Whether it is a directory.
    pub exists: Fact<bool>,
    /// Its owner's uid.
    pub owner: Option<u32>,
    /// `gateway.pid` of Hermes Agent.
    pub gateway_pid: Recorded<OwnerRecord>,
    /// The same record inside `gateway.lock`.
    pub gateway_lock: Recorded<OwnerRecord>,
    /// Whether somebody holds `gateway.lock`.
    pub gateway_lock_held: Holder,
    /// `gateway_state.json` of Hermes Agent.
    pub gateway_state: Recorded<GatewayState>,
    /// `run/serve.json` of our serve.
    pub serve: Recorded<OwnerRecord>,
    /// Whether somebody holds `run/serve.lock`.
    pub serve_lock_held: Holder,
    /// Starts of the gateway, in seconds since 1970, oldest first (`gateway-starts.log`).
    pub gateway_starts: Vec<f64>,
    /// The file of this home that was written last, by its own time.
    pub newest_file: Option<NewestFile>,
}

impl HomeRecords {
    /// Whether a gateway of this root serves one of its profiles, too. What it serves it writes down;
    /// where it has not, it serves all profiles, which is its rule.
    #[must_use]
    pub fn gateway_serves(&self, profile: &str) -> bool {
        let state = self.gateway_state.known().and_then(Option::as_ref);
        let named = state.map_or(&[][..], |state| state.served_profiles.as_slice());
        named.is_empty() || named.iter().any(|name| name == profile)
    }
}

/// A record by which a process names itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnerRecord {
    /// Its pid.
    pub pid: u32,
    /// Its start, in clock ticks since boot.
    #[serde(default)]
    pub start_ticks: Option<u64>,
    /// Its start, in seconds since 1970.
    #[serde(default)]
    pub started_at: Option<f64>,
    /// The boot that it belongs to.
    #[serde(default)]
    pub boot: Option<BootMark>,
    /// Inode of its pid namespace.
    #[serde(default)]
    pub pid_namespace: Option<u64>,
    /// The home that it names.
    #[serde(default)]
    pub home: Option<PathBuf>,
    /// The version that it names.
    #[serde(default)]
    pub version: Option<String>,
    /// Program and subcommand that it was started with, by its own word.
    #[serde(default)]
    pub command: Vec<String>,
    /// It was told to stop, by its own word.
    #[serde(default)]
    pub stopping: Option<Stopping>,
    /// Whether that process lives.
    pub liveness: Liveness,
}

/// A serve that was told to stop, and waits for jobs before it does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stopping {
    /// Since when, in seconds since 1970.
    pub since: f64,
    /// For so many.
    pub jobs: u64,
}

/// `gateway_state.json`: what the gateway said of itself last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatewayState {
    /// Who wrote it.
    pub owner: OwnerRecord,
    /// `gateway_state`: starting, running, degraded, draining, stopped, …
    pub state: Option<String>,
    /// `exit_reason`.
    pub exit_reason: Option<String>,
    /// The profiles that it serves beside its own.
    pub served_profiles: Vec<String>,
    /// When it was written, in seconds since 1970.
    pub updated_at: Option<f64>,
}

/// `host-<role>.json`: one process of a role for each account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostRecord {
    /// gateway, serve or desktop-serve.
    pub role: String,
    /// The file.
    pub path: PathBuf,
    /// Who wrote it.
    pub owner: OwnerRecord,
    /// The profiles that it serves.
    pub profiles: Vec<String>,
}

/// The file of a home that was written last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewestFile {
    /// Its path.
    pub path: PathBuf,
    /// When, in seconds since 1970.
    pub modified_at: f64,
}
