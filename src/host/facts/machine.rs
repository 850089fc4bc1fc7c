//! Facts of the machine, or of the container that looks like one. Plain data.

use serde::{Deserialize, Serialize};

use super::Fact;

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
    pub kernel: Fact<String>,
    /// The distribution, as it calls itself (`PRETTY_NAME`).
    pub os: Option<String>,
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
    /// `/proc` shows the pids of our own namespace, so a pid found there can be asked for.
    pub proc_is_ours: bool,
    /// Inode of our pid namespace: with it a recorded pid is known to be one of ours.
    pub pid_inode: Option<u64>,
    /// The root of this process is not the machine's.
    pub chroot: Fact<bool>,
    /// Uids here, the uids of the parent namespace that they stand for, and how many in a row.
    #[serde(default)]
    pub uid_map: Vec<[u32; 3]>,
}

impl Namespaces {
    /// The uid of the parent user namespace that one of ours stands for.
    #[must_use]
    pub fn mapped(&self, uid: u32) -> Option<u32> {
        self.uid_map.iter().find_map(|[inside, outside, count]| {
            let beyond = uid.checked_sub(*inside)?;
            (beyond < *count).then(|| outside.checked_add(beyond))?
        })
    }
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
