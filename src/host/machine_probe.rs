//! The probe of the machine: what `/proc`, `/sys` and a few files of `/run` and `/etc` say. Reads only,
//! asks nobody, and each read stands alone: one that fails leaves one gap.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::clock::Now;

use super::container::{self, Marks};
use super::facts::{
    Boot, CgroupFacts, CgroupLayout, ClockFacts, Environment, Fact, Machine, Memory, Namespaces,
};
use super::proc::{self, Mount};

/// Inode of the initial pid namespace, fixed by the kernel (`PROC_PID_INIT_INO`).
const INITIAL_PID: u64 = 0xEFFF_FFFC;
/// Inode of the initial user namespace (`PROC_USER_INIT_INO`).
const INITIAL_USER: u64 = 0xEFFF_FFFD;

/// Looks at the machine. `environ` is our own environment, `now` the time that counts as now.
#[must_use]
pub fn machine(environ: &Environment, now: Now) -> Machine {
    let own = text("/proc/self/mountinfo");
    let no_proc = own
        .as_ref()
        .is_err_and(|error| error.kind() == ErrorKind::NotFound);
    let mounts = own.map_or_else(|_| Vec::new(), |text| proc::mounts(&text));
    let init_mounts = text("/proc/1/mountinfo")
        .ok()
        .map(|text| proc::mounts(&text));
    let seen = (!no_proc).then_some(mounts.as_slice());
    let chroot = container::is_chroot(seen, init_mounts.as_deref());
    let kernel = line("/proc/sys/kernel/osrelease");
    let namespaces = namespaces(&mounts, chroot.clone());
    let marks = marks(environ, kernel.known().cloned(), &namespaces);
    Machine {
        init: line("/proc/1/comm"),
        systemd_booted: std::fs::symlink_metadata("/run/systemd/system")
            .is_ok_and(|found| found.is_dir()),
        container: container::kind(&marks, &chroot),
        cgroup: cgroup(&mounts),
        namespaces,
        boot: boot(now),
        clock: clock(now),
        memory: memory(),
        kernel,
        os: ["/etc/os-release", "/usr/lib/os-release"]
            .into_iter()
            .find_map(|path| proc::os_name(&text(path).ok()?)),
    }
}

/// A small file as text, whatever its bytes.
fn text(path: impl AsRef<Path>) -> std::io::Result<String> {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// A file of one line.
fn line(path: &str) -> Fact<String> {
    match text(path) {
        Ok(text) => Fact::Known(text.trim().to_owned()),
        Err(error) => unreadable(path, &error),
    }
}

/// The gap that a failed read leaves.
pub(super) fn unreadable<T>(path: &str, error: &std::io::Error) -> Fact<T> {
    let why = format!("{path}: {error}");
    match error.kind() {
        ErrorKind::PermissionDenied => Fact::denied(why),
        ErrorKind::NotFound => Fact::hidden(why),
        _ => Fact::unknown(super::facts::GapKind::Failed, why),
    }
}

fn marks(environ: &Environment, kernel: Option<String>, seen: &Namespaces) -> Marks {
    let exists = |path: &str| std::fs::symlink_metadata(path).is_ok();
    let of_init = || {
        let bytes = std::fs::read("/proc/1/environ").ok()?;
        let mut pairs = proc::environ(&bytes).into_iter();
        pairs.find_map(|(name, value)| (name == "container").then_some(value))
    };
    Marks {
        systemd: text("/run/systemd/container").ok(),
        manager: text("/run/host/container-manager").ok(),
        variable: environ.get("container").map(str::to_owned).or_else(of_init),
        dockerenv: exists("/.dockerenv"),
        containerenv: exists("/run/.containerenv"),
        other: if environ.get("KUBERNETES_SERVICE_HOST").is_some()
            || exists("/run/secrets/kubernetes.io")
        {
            Some("kubernetes")
        } else if exists("/proc/vz") && !exists("/proc/bc") {
            Some("openvz")
        } else {
            None
        },
        kernel,
        init_cgroup: text("/proc/1/cgroup").ok(),
        initial_pid: seen.initial_pid.known().copied(),
    }
}

fn namespaces(mounts: &[Mount], chroot: Fact<bool>) -> Namespaces {
    let pid_namespace = namespace("/proc/self/ns/pid");
    let proc_mount = mounts.iter().rev().find(|mount| mount.point == "/proc");
    let hides = |value: &str| !matches!(value, "0" | "off" | "");
    Namespaces {
        pid_inode: pid_namespace.known().copied(),
        initial_pid: pid_namespace.map(|inode| inode == INITIAL_PID),
        initial_user: match namespace("/proc/self/ns/user") {
            Fact::Known(inode) => Fact::Known(inode == INITIAL_USER),
            Fact::Unknown(gap) => text("/proc/self/uid_map")
                .ok()
                .and_then(|map| proc::initial_user_namespace(&map))
                .map_or(Fact::Unknown(gap), Fact::Known),
        },
        hidepid: proc_mount
            .and_then(|mount| mount.option("hidepid"))
            .is_some_and(hides),
        proc_is_ours: std::fs::read_link("/proc/self")
            .is_ok_and(|link| link.to_str() == Some(&std::process::id().to_string())),
        chroot,
        uid_map: text("/proc/self/uid_map").map_or_else(|_| Vec::new(), |map| proc::uid_map(&map)),
    }
}

/// The inode in a link like `pid:[4026531836]`.
fn namespace(path: &str) -> Fact<u64> {
    match std::fs::read_link(path) {
        Ok(link) => {
            let link = link.to_string_lossy();
            let inode = link
                .split_once(":[")
                .and_then(|(_, rest)| rest.strip_suffix(']')?.parse().ok());
            inode.map_or_else(
                || Fact::hidden(format!("{path} leads to {link}")),
                Fact::Known,
            )
        }
        Err(error) => unreadable(path, &error),
    }
}

fn cgroup(mounts: &[Mount]) -> CgroupFacts {
    let below = || {
        mounts
            .iter()
            .filter(|mount| mount.point.starts_with("/sys/fs/cgroup"))
    };
    let unified = below().find(|mount| mount.kind == "cgroup2");
    let layout = match (unified, below().any(|mount| mount.kind == "cgroup")) {
        (Some(_), false) => CgroupLayout::Unified,
        (Some(_), true) => CgroupLayout::Hybrid,
        (None, true) => CgroupLayout::Legacy,
        (None, false) => CgroupLayout::None,
    };
    let controllers = unified
        .and_then(|mount| text(format!("{}/cgroup.controllers", mount.point)).ok())
        .unwrap_or_default();
    CgroupFacts {
        layout,
        controllers: controllers
            .split_ascii_whitespace()
            .map(str::to_owned)
            .collect(),
    }
}

fn boot(now: Now) -> Boot {
    let init = std::fs::read("/proc/1/stat");
    Boot {
        id: line("/proc/sys/kernel/random/boot_id"),
        init_start: match init.as_deref().map(proc::stat) {
            Ok(Some(stat)) => Fact::Known(stat.start_ticks),
            Ok(None) => Fact::hidden("/proc/1/stat does not parse"),
            Err(error) => unreadable("/proc/1/stat", error),
        },
        booted_at: seconds(now) - now.boottime.as_secs_f64(),
        ticks_per_second: rustix::param::clock_ticks_per_second(),
    }
}

/// The wall time in seconds since 1970.
fn seconds(now: Now) -> f64 {
    now.wall.as_duration().as_secs_f64()
}

fn clock(now: Now) -> ClockFacts {
    let zone = std::fs::read_link("/etc/localtime").ok().and_then(|link| {
        let link = link.to_string_lossy().into_owned();
        link.split_once("zoneinfo/")
            .map(|(_, name)| name.to_owned())
    });
    let named = || {
        text("/etc/timezone")
            .ok()
            .map(|name| name.trim().to_owned())
    };
    ClockFacts {
        wall: seconds(now),
        monotonic: now.monotonic.as_secs_f64(),
        boottime: now.boottime.as_secs_f64(),
        zone: zone.or_else(named).filter(|name| !name.is_empty()),
        localtime_changed_at: std::fs::symlink_metadata("/etc/localtime")
            .ok()
            .map(|found| modified(&found)),
    }
}

/// When a file was written, in seconds since 1970.
#[expect(
    clippy::cast_precision_loss,
    reason = "seconds since 1970 fit a double for as long as anybody will care"
)]
pub(super) fn modified(found: &std::fs::Metadata) -> f64 {
    found.mtime() as f64 + found.mtime_nsec() as f64 / 1e9
}

fn memory() -> Memory {
    Memory {
        total: text("/proc/meminfo")
            .ok()
            .and_then(|text| proc::key_bytes(&text, "MemTotal")),
        swaps: text("/proc/swaps").map_or_else(|_| Vec::new(), |text| proc::swaps(&text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, SystemClock};

    #[test]
    fn this_machine_is_described() {
        let now = SystemClock.now();
        let machine = machine(&Environment::default(), now);
        assert!(
            machine
                .kernel
                .known()
                .is_some_and(|release| !release.is_empty())
        );
        assert!(machine.boot.ticks_per_second >= 1);
        assert!(machine.memory.total.is_some_and(|bytes| bytes > 1 << 20));
        assert!(machine.namespaces.proc_is_ours);
        assert!(machine.boot.id.known().is_some_and(|id| id.len() == 36));
        assert!(machine.boot.booted_at < seconds(now));
    }

    #[test]
    fn facts_of_a_machine_survive_being_written_down() {
        let machine = machine(&Environment::default(), SystemClock.now());
        let text = serde_json::to_string(&machine).unwrap();
        let read: Machine = serde_json::from_str(&text).unwrap();
        assert_eq!(read.kernel, machine.kernel);
        assert_eq!(read.container, machine.container);
        assert_eq!(read.namespaces, machine.namespaces);
    }

    #[test]
    fn a_namespace_link_that_is_none_is_a_gap() {
        assert!(namespace("/proc/self/exe").gap().is_some());
        assert!(namespace("/nowhere/at/all").gap().is_some());
    }
}
