//! Zones by their names. `jiff` lists the whole database before it looks one up, and that is more than
//! all else that a short command does; a name as it is written there is a path in it.

use std::path::Path;

use jiff::tz::TimeZone;

/// Where the files of the zones are, the first place in which `jiff` looks.
const DATABASE: &str = "/usr/share/zoneinfo";
/// Leads to the file of the host's zone.
const LOCALTIME: &str = "/etc/localtime";

/// The zone of this name, in whatever letters.
///
/// # Errors
/// When there is no such zone.
pub fn named(name: &str) -> Result<TimeZone, jiff::Error> {
    in_database(name).map_or_else(|| TimeZone::get(name), Ok)
}

/// The host's zone.
#[must_use]
pub fn system() -> TimeZone {
    linked().unwrap_or_else(TimeZone::system)
}

/// The zone whose file is where its name says, in the letters of the name.
fn in_database(name: &str) -> Option<TimeZone> {
    if name.eq_ignore_ascii_case("UTC") {
        return Some(TimeZone::UTC);
    }
    // What is no name of a zone to `jiff` is none here, though there is a file.
    let odd = |part: &str| matches!(part, "" | "." | "..");
    let copies = matches!(name.split('/').next(), Some("posix" | "right"));
    if copies || name.split('/').any(odd) || is_set("TZDIR") {
        return None;
    }
    let rules = std::fs::read(Path::new(DATABASE).join(name)).ok()?;
    TimeZone::tzif(name, &rules).ok()
}

/// The zone to which the host's link leads, for this process.
fn linked() -> Option<TimeZone> {
    if is_set("TZ") {
        return None;
    }
    of_host()
}

/// The zone to which the host's link leads, whatever this process was told by `TZ`.
#[must_use]
pub fn of_host() -> Option<TimeZone> {
    let target = std::fs::read_link(LOCALTIME).ok()?;
    let (_, name) = target.to_str()?.rsplit_once("zoneinfo/")?;
    in_database(name)
}

#[expect(
    clippy::disallowed_methods,
    reason = "`jiff` goes by the same variables of this process"
)]
fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_the_same_as_those_of_the_whole_database() {
        let odd = [
            "",
            "/",
            "Europe",
            "Europe/",
            "/Europe/Berlin",
            "Europe//Berlin",
            "Europe/./Berlin",
            "../zoneinfo/Europe/Berlin",
            "posix/Europe/Berlin",
            "right/UTC",
            "posixrules",
            "tzdata.zi",
            "Nowhere/At_All",
            "Etc/Unknown",
            "utc",
            "europe/BERLIN",
        ];
        let all = jiff::tz::db().available().map(|name| name.to_string());
        for name in all.chain(odd.map(str::to_owned)) {
            assert_eq!(named(&name).ok(), TimeZone::get(&name).ok(), "{name}");
        }
        assert_eq!(system(), TimeZone::system());
    }
}
