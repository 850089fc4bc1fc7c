//! Everything about a directory that a reader could change: names, kinds, contents, modes, owners,
//! inodes, sizes and times of last change, to the nanosecond. Access times are left out: the kernel
//! keeps them, and where the doctor may it asks it not to.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// One entry, as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    inode: u64,
    mode: u32,
    owner: (u32, u32),
    links: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    content: Option<Vec<u8>>,
}

/// The directory and all that is in it, by path.
pub(crate) fn tree(root: &Path) -> BTreeMap<PathBuf, Entry> {
    let mut found = BTreeMap::new();
    collect(root, &mut found);
    found
}

fn collect(path: &Path, found: &mut BTreeMap<PathBuf, Entry>) {
    let Ok(meta) = std::fs::symlink_metadata(path) else {
        return;
    };
    let content = match meta.file_type() {
        kind if kind.is_file() => std::fs::read(path).ok(),
        kind if kind.is_symlink() => {
            let target = std::fs::read_link(path).expect("a link");
            Some(target.into_os_string().into_encoded_bytes())
        }
        _ => None,
    };
    let entry = Entry {
        inode: meta.ino(),
        mode: meta.mode(),
        owner: (meta.uid(), meta.gid()),
        links: meta.nlink(),
        size: meta.size(),
        modified: (meta.mtime(), meta.mtime_nsec()),
        changed: (meta.ctime(), meta.ctime_nsec()),
        content,
    };
    found.insert(path.to_path_buf(), entry);
    if meta.is_dir() {
        for child in std::fs::read_dir(path).into_iter().flatten() {
            collect(&child.expect("an entry").path(), found);
        }
    }
}

/// What differs, for the message of a test; nothing where nothing does.
pub(crate) fn differences(
    before: &BTreeMap<PathBuf, Entry>,
    after: &BTreeMap<PathBuf, Entry>,
) -> Vec<String> {
    let mut found = Vec::new();
    for (path, entry) in before {
        match after.get(path) {
            None => found.push(format!("{} is gone", path.display())),
            Some(now) if now != entry => {
                let (mut was, mut is) = (entry.clone(), now.clone());
                let same = was.content == is.content;
                (was.content, is.content) = (None, None);
                let path = path.display();
                found.push(format!(
                    "{path}: same content {same}: {was:?} became {is:?}"
                ));
            }
            Some(_) => {}
        }
    }
    let new = after.keys().filter(|path| !before.contains_key(*path));
    found.extend(new.map(|path| format!("{} is new", path.display())));
    found
}
