//! The file system under a home: its kind, its room, whether it can be written.

use std::path::Path;

use rustix::fs::{StatVfsMountFlags, statfs, statvfs};

use crate::doctor::evidence::home::Disk;
use crate::doctor::evidence::read::{Read, Trouble};

/// Looks at the file system of the first of these paths that is there.
pub(super) fn look(paths: &[&Path]) -> Read<Disk> {
    let mut last = Read::Absent;
    for path in paths {
        last = disk(path);
        if !last.is_absent() {
            break;
        }
    }
    last
}

fn disk(path: &Path) -> Read<Disk> {
    let (room, system) = match (statvfs(path), statfs(path)) {
        (Ok(room), Ok(system)) => (room, system),
        (Err(errno), _) | (_, Err(errno)) => {
            let error = std::io::Error::from(errno);
            return if error.kind() == std::io::ErrorKind::NotFound {
                Read::Absent
            } else {
                Read::Unreadable(Trouble::of_io(&error))
            };
        }
    };
    // Some file systems make inodes as they go and count none.
    let counted = room.f_files > 0;
    Read::Got(Disk {
        kind: name(system.f_type),
        read_only: room.f_flag.contains(StatVfsMountFlags::RDONLY),
        free: room.f_bavail.saturating_mul(room.f_frsize),
        total: room.f_blocks.saturating_mul(room.f_frsize),
        free_inodes: counted.then_some(room.f_favail),
        total_inodes: counted.then_some(room.f_files),
    })
}

/// Names of the magic numbers in `linux/magic.h` and of the network file systems' own headers.
fn name(magic: i64) -> String {
    let name = match magic {
        0xef53 => "ext4",
        0x5846_5342 => "xfs",
        0x9123_683e => "btrfs",
        0x794c_7630 => "overlay",
        0x0102_1994 => "tmpfs",
        0x2fc1_2fc1 => "zfs",
        0x6969 => "nfs",
        0x517b => "smb",
        0xff53_4d42 => "cifs",
        0xfe53_4d42 => "smb2",
        0x0102_1997 => "9p",
        0x5346_414f => "afs",
        0x00c3_6400 => "ceph",
        0x6573_5546 => "fuse",
        0xf2f5_2010 => "f2fs",
        0x7371_7368 => "squashfs",
        other => return format!("{other:#x}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_path_that_is_there_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let none = dir.path().join("none");
        assert!(look(&[&none]).is_absent());
        let disk = look(&[&none, dir.path()]);
        let disk = disk.got().unwrap();
        assert!(disk.total >= disk.free && !disk.read_only);
    }

    #[test]
    fn network_file_systems_are_known() {
        for (magic, kind) in [(0x6969, "nfs"), (0xff53_4d42, "cifs"), (0x0102_1997, "9p")] {
            assert_eq!(name(magic), kind);
        }
        assert_eq!(name(1), "0x1");
    }
}
