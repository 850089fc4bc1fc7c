//! `cmdline`, `environ`, `limits` and `fdinfo` of one process.

use crate::host::facts::FileId;

/// The words of `/proc/PID/cmdline`. A process that rewrote its title has blanks where NULs were, and
/// then everything is one word.
#[must_use]
pub fn command_line(bytes: &[u8]) -> Vec<String> {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    bytes
        .split(|byte| *byte == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// The pairs of `/proc/PID/environ`, in order; where a name occurs twice the first one counts, as it
/// does for `getenv`. Words without `=`, and names that are not UTF-8, are passed over.
#[must_use]
pub fn environ(bytes: &[u8]) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for word in bytes.split(|byte| *byte == 0) {
        let Some(equals) = word.iter().position(|byte| *byte == b'=') else {
            continue;
        };
        let (name, value) = word.split_at(equals);
        let Ok(name) = std::str::from_utf8(name) else {
            continue;
        };
        if !name.is_empty() && !pairs.iter().any(|(known, _)| known == name) {
            let value = String::from_utf8_lossy(value.get(1..).unwrap_or_default());
            pairs.push((name.to_owned(), value.into_owned()));
        }
    }
    pairs
}

/// The soft limit of open files from `/proc/PID/limits`; `Some(None)` is no limit.
#[must_use]
pub fn descriptors_limit(text: &str) -> Option<Option<u64>> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    match line.split_ascii_whitespace().next()? {
        "unlimited" => Some(None),
        number => Some(Some(number.parse().ok()?)),
    }
}

/// The files that one descriptor holds an flock on, from the `lock:` lines of `/proc/PID/fdinfo/FD`:
/// `lock:\t1: FLOCK  ADVISORY  WRITE 4242 00:36:1234 0 EOF`.
#[must_use]
pub fn held_flocks(text: &str) -> Vec<FileId> {
    text.lines()
        .filter_map(|line| line.strip_prefix("lock:"))
        .filter_map(|line| {
            let mut words = line.split_ascii_whitespace().skip(1);
            (words.next()? == "FLOCK").then_some(())?;
            words.find_map(file_id)
        })
        .collect()
}

/// `major:minor:inode`, the first two in hexadecimal.
fn file_id(word: &str) -> Option<FileId> {
    let mut parts = word.split(':');
    let mut hexadecimal = || u32::from_str_radix(parts.next()?, 16).ok();
    let device = (hexadecimal()?, hexadecimal()?);
    let inode = parts.next()?.parse().ok()?;
    parts.next().is_none().then_some(FileId { device, inode })
}
