//! Who this process is: what it writes beside its rows, so that others can tell whether it lives.

use uuid::Uuid;

use super::process_probe;

/// This process, in this boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnIdentity {
    /// 32 hex digits, kept for the life of the process.
    pub process_id: String,
    /// Its pid.
    pub pid: u32,
    /// Its start, in clock ticks since boot.
    pub start_ticks: Option<u64>,
    /// The boot. Containers share the host's, so the start of PID 1 belongs to it.
    pub boot_id: Option<String>,
    /// Start of PID 1, in clock ticks since boot.
    pub init_start: Option<u64>,
}

/// Looks at itself. Each call makes another process id: keep the first.
#[must_use]
pub fn own_identity() -> OwnIdentity {
    let boot_id = fs_err::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    let start = |pid: &str| process_probe::stat(pid).map(|stat| stat.start_ticks);
    OwnIdentity {
        process_id: Uuid::new_v4().simple().to_string(),
        pid: std::process::id(),
        start_ticks: start("self"),
        boot_id: boot_id.map(|id| id.trim().to_owned()),
        init_start: start("1"),
    }
}
