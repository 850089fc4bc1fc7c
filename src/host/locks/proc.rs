//! The kernel's texts about locks and mounts, parsed. Pure.

use super::super::facts::FileId;

/// Which mechanism a lock belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// `flock(2)`.
    Flock,
    /// `fcntl(2)`: of a process, or of an open file description.
    Posix,
    /// Leases, delegations and whatever comes.
    Other,
}

/// One line of `/proc/locks`, or of a `lock:` entry of an fdinfo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockLine {
    /// Which mechanism.
    pub kind: LockKind,
    /// A write lock.
    pub exclusive: bool,
    /// Waits for another lock, holds nothing.
    pub waiting: bool,
    /// The process that took it; 0 or less where it has no pid here.
    pub pid: i64,
    /// The file.
    pub file: FileId,
}

/// The lines of `/proc/locks` that can be understood.
#[must_use]
pub fn locks(text: &str) -> Vec<LockLine> {
    text.lines().filter_map(lock).collect()
}

fn lock(line: &str) -> Option<LockLine> {
    let mut words = line.split_whitespace().skip(1).peekable();
    let waiting = words.next_if_eq(&"->").is_some();
    let kind = match words.next()? {
        "FLOCK" => LockKind::Flock,
        "POSIX" | "OFDLCK" => LockKind::Posix,
        _ => LockKind::Other,
    };
    let exclusive = words.nth(1)? == "WRITE";
    let pid = words.next()?.parse().ok()?;
    let mut file = words.next()?.splitn(3, ':');
    let major = u32::from_str_radix(file.next()?, 16).ok()?;
    let minor = u32::from_str_radix(file.next()?, 16).ok()?;
    let inode = file.next()?.parse().ok()?;
    Some(LockLine {
        kind,
        exclusive,
        waiting,
        pid,
        file: FileId {
            device: (major, minor),
            inode,
        },
    })
}

/// What `/proc/PID/fdinfo/FD` says of a descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FdInfo {
    /// The mount its file was opened on.
    pub mount: Option<u64>,
    /// The inode as the kernel's table of locks has it (since 5.14).
    pub inode: Option<u64>,
    /// Locks that this descriptor has.
    pub locks: Vec<LockLine>,
}

/// Parses an fdinfo.
#[must_use]
pub fn fdinfo(text: &str) -> FdInfo {
    let mut info = FdInfo::default();
    for line in text.lines() {
        match line.split_once(':') {
            Some(("mnt_id", value)) => info.mount = value.trim().parse().ok(),
            Some(("ino", value)) => info.inode = value.trim().parse().ok(),
            Some(("lock", value)) => info.locks.extend(lock(value.trim())),
            _ => {}
        }
    }
    info
}

/// File systems on which a lock may not be kept among all who see the file, or not at all.
const REMOTE: [&str; 14] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "ceph",
    "afs",
    "lustre",
    "gfs2",
    "ocfs2",
    "virtiofs",
    "glusterfs",
    "beegfs",
];

/// One mount of this namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Its id, as fdinfo has it.
    pub id: u64,
    /// Major and minor number of its superblock's device.
    pub device: (u32, u32),
    /// The kind of file system, such as `ext4`.
    pub kind: String,
    /// Where it is mounted, with octal escapes as the kernel writes them.
    pub point: String,
}

impl Mount {
    /// Whether locks on it are known to all who see its files: no network, no FUSE.
    #[must_use]
    pub fn is_local(&self) -> bool {
        !REMOTE.contains(&self.kind.as_str()) && !self.kind.starts_with("fuse")
    }
}

/// The lines of a mountinfo that can be understood.
#[must_use]
pub fn mounts(text: &str) -> Vec<Mount> {
    text.lines().filter_map(mount).collect()
}

fn mount(line: &str) -> Option<Mount> {
    let (head, tail) = line.split_once(" - ")?;
    let mut head = head.split(' ');
    let id = head.next()?.parse().ok()?;
    let (major, minor) = head.nth(1)?.split_once(':')?;
    Some(Mount {
        id,
        device: (major.parse().ok()?, minor.parse().ok()?),
        point: head.nth(1)?.to_owned(),
        kind: tail.split(' ').next()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_of_each_kind_are_understood() {
        let found = locks(
            "1: FLOCK  ADVISORY  WRITE 22796 fe:00:5497079 0 EOF\n\
             1: -> FLOCK  ADVISORY  READ 22797 fe:00:5497079 0 EOF\n\
             2: POSIX  ADVISORY  READ 5 103:02:77 1073741826 1073742335\n\
             3: OFDLCK ADVISORY  READ -1 00:06:1 0 EOF\n\
             4: LEASE  ACTIVE    READ 6 00:06:1 0 EOF\n\
             nonsense\n",
        );
        assert_eq!(found.len(), 5);
        assert_eq!(
            found[0].file,
            FileId {
                device: (0xfe, 0),
                inode: 5_497_079
            }
        );
        assert!(found[0].exclusive && !found[0].waiting);
        assert!(!found[1].exclusive && found[1].waiting);
        assert_eq!(found[2].file.device, (0x103, 2));
        assert_eq!((found[3].kind, found[3].pid), (LockKind::Posix, -1));
        assert_eq!(found[4].kind, LockKind::Other);
    }

    #[test]
    fn an_fdinfo_names_mount_inode_and_locks() {
        let info = fdinfo(
            "pos:\t0\nflags:\t02100001\nmnt_id:\t27\nino:\t10010658\n\
             lock:\t1: FLOCK  ADVISORY  WRITE 22927 fe:00:10010658 0 EOF\n",
        );
        assert_eq!((info.mount, info.inode), (Some(27), Some(10_010_658)));
        assert_eq!(
            (info.locks[0].pid, info.locks[0].kind),
            (22927, LockKind::Flock)
        );
        assert_eq!(fdinfo("pos:\t0\n"), FdInfo::default());
    }

    #[test]
    fn b41_a_home_on_a_network_file_system_is_seen() {
        let found = mounts(
            "22 27 0:21 / /proc rw,relatime - proc proc rw\n\
             27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw\n\
             40 27 0:51 /h /home/a\\040b rw - nfs4 srv:/h rw\n\
             41 27 0:52 / /mnt rw - fuse.sshfs a:/ rw\n",
        );
        assert_eq!(found[1].device, (254, 0));
        assert_eq!(found[2].point, "/home/a\\040b");
        let local: Vec<_> = found.iter().map(Mount::is_local).collect();
        assert_eq!(local, [true, true, false, false]);
    }

    proptest! {
        #[test]
        fn any_text_is_parsed(text in "\\PC{0,200}", lines in "([0-9]+: (-> )?[A-Z]* [A-Z]* [A-Z]* [0-9:a-f -]*\n?){0,4}") {
            for text in [&text, &lines] {
                prop_assert!(locks(text).len() <= text.lines().count());
                prop_assert!(mounts(text).len() <= text.lines().count());
                prop_assert!(fdinfo(text).locks.len() <= text.lines().count());
            }
        }
    }
}
