//! What something costs: memory and disk, in bytes.

use std::path::Path;

/// A mebibyte.
pub(crate) const MIB: u64 = 1 << 20;

/// The most memory that a process has had at once.
pub(crate) fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kibibytes.expect("VmHWM").parse::<u64>().expect("a number") << 10
}

/// All that is in the files of a directory. What goes while it is looked at is not counted.
pub(crate) fn disk(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => disk(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
