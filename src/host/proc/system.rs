//! The files of `/proc` that speak of the whole system, and `/etc/os-release`.

/// The bytes of one key of `/proc/meminfo`.
#[must_use]
pub fn key_bytes(meminfo: &str, key: &str) -> Option<u64> {
    let value = meminfo
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let mut words = value.split_ascii_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    match words.next() {
        Some("kB") => number.checked_mul(1024),
        None => Some(number),
        Some(_) => None,
    }
}

/// Names of the swap devices and files of `/proc/swaps`.
#[must_use]
pub fn swaps(text: &str) -> Vec<String> {
    text.lines()
        .skip(1)
        .filter_map(|line| line.split_ascii_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// The lines of `/proc/self/uid_map`: a uid here, the uid of the parent namespace, how many in a row.
#[must_use]
pub fn uid_map(text: &str) -> Vec<[u32; 3]> {
    let line = |line: &str| {
        let mut words = line.split_ascii_whitespace().map(str::parse);
        let mut next = || words.next()?.ok();
        Some([next()?, next()?, next()?])
    };
    text.lines().filter_map(line).collect()
}

/// Whether `/proc/self/uid_map` is that of the initial user namespace: every number maps to itself.
#[must_use]
pub fn initial_user_namespace(uid_map: &str) -> Option<bool> {
    let mut lines = uid_map.lines();
    let words: Vec<u64> = lines
        .next()?
        .split_ascii_whitespace()
        .map(|word| word.parse().ok())
        .collect::<Option<_>>()?;
    Some(words == [0, 0, u64::from(u32::MAX)] && lines.next().is_none())
}

/// `btime` of `/proc/stat`: boot, in seconds since 1970.
#[must_use]
pub fn boot_time(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    line.trim().parse().ok()
}

/// `PRETTY_NAME` of `/etc/os-release`, else `NAME`, without quotes.
#[must_use]
pub fn os_name(text: &str) -> Option<String> {
    let value = |key: &str| {
        let found = text
            .lines()
            .find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))?;
        let bare = found
            .strip_prefix(['"', '\''])
            .and_then(|inner| inner.strip_suffix(['"', '\'']))
            .unwrap_or(found);
        (!bare.is_empty()).then(|| bare.to_owned())
    };
    value("PRETTY_NAME").or_else(|| value("NAME"))
}
