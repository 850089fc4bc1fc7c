//! Which kind of container this is, by the marks that container managers leave. Pure: the marks are
//! collected by `machine_probe`.

use super::facts::{Container, Fact};
use super::proc::Mount;

/// Marks of a container, as they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// `/run/systemd/container`, written by systemd as PID 1 of a container.
    pub systemd: Option<String>,
    /// `/run/host/container-manager`, by the container interface of systemd.
    pub manager: Option<String>,
    /// `container` of our environment, or of PID 1's.
    pub variable: Option<String>,
    /// `/.dockerenv` is there.
    pub dockerenv: bool,
    /// `/run/.containerenv` is there.
    pub containerenv: bool,
    /// Another manager that left a mark of its own: `kubernetes`, `openvz`.
    pub other: Option<&'static str>,
    /// Release of the kernel.
    pub kernel: Option<String>,
    /// Text of `/proc/1/cgroup`.
    pub init_cgroup: Option<String>,
    /// This is the initial pid namespace.
    pub initial_pid: Option<bool>,
}

/// Judges the marks. `chroot` is what [`is_chroot`] said.
#[must_use]
pub fn kind(marks: &Marks, chroot: &Fact<bool>) -> Fact<Container> {
    let named = [&marks.systemd, &marks.manager, &marks.variable];
    let name = named
        .into_iter()
        .flatten()
        .map(|name| name.trim())
        .find(|name| !name.is_empty());
    if let Some(name) = name {
        return Fact::Known(by_name(name, marks));
    }
    // A file system that was made as an image keeps its marks also as the root of a machine.
    let machine = marks.initial_pid == Some(true) && chroot.known() == Some(&false);
    let left_over = Marks {
        dockerenv: marks.dockerenv && !machine,
        containerenv: marks.containerenv && !machine,
        ..marks.clone()
    };
    if let Some(container) = by_files(&left_over) {
        return Fact::Known(container);
    }
    if chroot.known() == Some(&true) {
        return Fact::Known(Container::Chroot);
    }
    match marks.initial_pid {
        Some(true) => Fact::Known(Container::None),
        Some(false) => Fact::Known(Container::Other("unnamed".to_owned())),
        None => {
            Fact::hidden("no container manager left a mark, and the pid namespace cannot be seen")
        }
    }
}

fn by_name(name: &str, marks: &Marks) -> Container {
    match name {
        "docker" => Container::Docker,
        "podman" => Container::Podman,
        "lxc" | "lxc-libvirt" | "lxd" | "incus" => Container::Lxc,
        "systemd-nspawn" => Container::Nspawn,
        "wsl" => wsl(marks).unwrap_or(Container::Wsl2),
        // Podman sets it for images of other builders too, and `oci` is all that they say.
        "oci" => by_files(marks).unwrap_or_else(|| Container::Other("oci".to_owned())),
        other => Container::Other(other.to_owned()),
    }
}

fn by_files(marks: &Marks) -> Option<Container> {
    let group = marks.init_cgroup.as_deref().unwrap_or_default();
    let in_group = |words: &[&str]| words.iter().any(|word| group.contains(word));
    if marks.containerenv {
        Some(Container::Podman)
    } else if marks.dockerenv {
        Some(Container::Docker)
    } else if let Some(other) = marks.other {
        Some(Container::Other(other.to_owned()))
    } else if in_group(&["/kubepods"]) {
        Some(Container::Other("kubernetes".to_owned()))
    } else if in_group(&["/docker/", "/docker-"]) {
        Some(Container::Docker)
    } else if in_group(&["/libpod-"]) {
        Some(Container::Podman)
    } else if in_group(&["/lxc/", "/lxc.payload"]) {
        Some(Container::Lxc)
    } else if in_group(&["/machine.slice/systemd-nspawn@"]) {
        Some(Container::Nspawn)
    } else {
        wsl(marks)
    }
}

/// The first kind calls its kernel `…-Microsoft`; the second is a real one, `…-microsoft-standard`.
fn wsl(marks: &Marks) -> Option<Container> {
    let kernel = marks.kernel.as_deref()?;
    if kernel.ends_with("-Microsoft") {
        Some(Container::Wsl1)
    } else if kernel.to_ascii_lowercase().contains("microsoft") || kernel.contains("WSL") {
        Some(Container::Wsl2)
    } else {
        None
    }
}

/// Whether our root is another directory than PID 1's, by the mounts that each sees. `ours` is `None`
/// where there is no `/proc` at all, `init` where PID 1 cannot be looked at.
#[must_use]
pub fn is_chroot(ours: Option<&[Mount]>, init: Option<&[Mount]>) -> Fact<bool> {
    // Every init and every container's runtime mounts it first thing: only a root that was never booted
    // lacks it.
    let Some(ours) = ours else {
        return Fact::Known(true);
    };
    if ours.is_empty() {
        return Fact::hidden("/proc/self/mountinfo is empty or cannot be read");
    }
    let Some(root) = root(ours) else {
        // The root is always a mount point, unless it was moved into the middle of one.
        return Fact::Known(true);
    };
    let Some(init) = init else {
        return Fact::hidden("mountinfo of pid 1 cannot be read");
    };
    if let Some(same) = init.iter().find(|mount| mount.id == root.id) {
        return Fact::Known(same.point != "/");
    }
    // Another mount namespace, as under PrivateTmp: its mounts are copies with ids of their own.
    match self::root(init) {
        Some(theirs) => Fact::Known(theirs.device != root.device || theirs.root != root.root),
        None => Fact::hidden("pid 1 shows no root"),
    }
}

/// The mount that is seen at the root: the last one, if several lie upon each other.
fn root(mounts: &[Mount]) -> Option<&Mount> {
    mounts.iter().rev().find(|mount| mount.point == "/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::proc::mounts;

    fn judged(marks: &Marks) -> Option<Container> {
        kind(marks, &Fact::Known(false)).known().cloned()
    }

    #[test]
    fn managers_name_themselves() {
        let named = |name: &str| {
            judged(&Marks {
                systemd: Some(format!("{name}\n")),
                ..Marks::default()
            })
            .unwrap()
        };
        assert_eq!(named("docker"), Container::Docker);
        assert_eq!(named("lxc"), Container::Lxc);
        assert_eq!(named("systemd-nspawn"), Container::Nspawn);
        assert_eq!(named("acme"), Container::Other("acme".to_owned()));
    }

    #[test]
    fn files_tell_where_nobody_names_himself() {
        let docker = Marks {
            dockerenv: true,
            initial_pid: Some(false),
            ..Marks::default()
        };
        assert_eq!(judged(&docker), Some(Container::Docker));
        let podman = Marks {
            variable: Some("oci".to_owned()),
            containerenv: true,
            ..Marks::default()
        };
        assert_eq!(judged(&podman), Some(Container::Podman));
        let group = Marks {
            init_cgroup: Some("0::/../docker-4f.scope\n".to_owned()),
            ..Marks::default()
        };
        assert_eq!(judged(&group), Some(Container::Docker));
    }

    #[test]
    fn a_mark_on_the_root_of_a_machine_is_left_over_from_its_image() {
        let machine = Marks {
            dockerenv: true,
            initial_pid: Some(true),
            ..Marks::default()
        };
        assert_eq!(judged(&machine), Some(Container::None));
        // A container that shares the machine's pids has another root than PID 1.
        let shared = kind(&machine, &Fact::Known(true));
        assert_eq!(shared, Fact::Known(Container::Docker));
    }

    #[test]
    fn both_kinds_of_wsl() {
        let kernel = |release: &str| {
            judged(&Marks {
                kernel: Some(release.to_owned()),
                initial_pid: Some(true),
                ..Marks::default()
            })
        };
        assert_eq!(kernel("4.4.0-19041-Microsoft"), Some(Container::Wsl1));
        assert_eq!(
            kernel("5.15.90.1-microsoft-standard-WSL2"),
            Some(Container::Wsl2)
        );
        assert_eq!(kernel("6.1.0-18-amd64"), Some(Container::None));
    }

    #[test]
    fn no_mark_and_no_sight_is_cannot_tell() {
        assert!(kind(&Marks::default(), &Fact::Known(false)).gap().is_some());
        let inside = Marks {
            initial_pid: Some(false),
            ..Marks::default()
        };
        assert_eq!(
            judged(&inside),
            Some(Container::Other("unnamed".to_owned()))
        );
    }

    fn chroot(ours: &str, init: Option<&str>) -> Option<bool> {
        let init = init.map(mounts);
        is_chroot(Some(&mounts(ours)), init.as_deref())
            .known()
            .copied()
    }

    #[test]
    fn a_chroot_is_told_by_its_mounts() {
        let host =
            "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n90 27 8:1 / /srv/ch rw - ext4 /dev/sda1 rw\n";
        assert_eq!(chroot(host, Some(host)), Some(false));
        let bound = "90 27 8:1 / / rw - ext4 /dev/sda1 rw\n";
        assert_eq!(chroot(bound, Some(host)), Some(true));
        let plain = "91 27 0:21 / /proc rw - proc proc rw\n";
        assert_eq!(chroot(plain, Some(host)), Some(true));
        let private = "300 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
        assert_eq!(chroot(private, Some(host)), Some(false));
        let other_root = "300 1 8:1 /srv/image / rw - ext4 /dev/sda1 rw\n";
        assert_eq!(chroot(other_root, Some(host)), Some(true));
        assert_eq!(chroot(host, None), None);
        assert_eq!(chroot("", Some(host)), None);
        assert_eq!(is_chroot(None, None), Fact::Known(true), "no /proc");
    }
}
