//! Zones by their names. `jiff` lists the whole database before it looks one up, and that is more than
//! all else that a short command does; a name as it is written there is a path in it.

use std::io::ErrorKind;
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

/// The zone that a process has which was given this `TZ`: a name, a file, or the rules themselves; `None`
/// where it is none of them, or a file that only the process itself finds.
#[must_use]
pub fn of_variable(text: &str) -> Option<TimeZone> {
    let text = text.strip_prefix(':').unwrap_or(text);
    if text.is_empty() {
        return Some(TimeZone::UTC);
    }
    let in_path = text.rsplit_once("zoneinfo/").map(|(_, name)| name);
    let by_name = named(in_path.unwrap_or(text)).ok();
    by_name
        .or_else(|| TimeZone::posix(text).ok())
        .or_else(|| of_file(text))
}

/// The rules of a file that is named in full.
fn of_file(text: &str) -> Option<TimeZone> {
    let path = Path::new(text);
    let rules = path.is_absolute().then(|| std::fs::read(path).ok())??;
    TimeZone::tzif(text, &rules).ok()
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

/// The same where nothing leads there: rules without a name, or none, which is UTC.
#[must_use]
pub fn of_host_file() -> Option<TimeZone> {
    of_host().or_else(|| match std::fs::read(LOCALTIME) {
        Ok(rules) => TimeZone::tzif(LOCALTIME, &rules).ok(),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(TimeZone::UTC),
        Err(_) => None,
    })
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

    #[test]
    fn a_variable_is_a_name_a_file_or_the_rules_themselves() {
        let berlin = TimeZone::get("Europe/Berlin").ok();
        for text in [
            "Europe/Berlin",
            ":Europe/Berlin",
            "/usr/share/zoneinfo/Europe/Berlin",
            ":../zoneinfo/Europe/Berlin",
        ] {
            assert_eq!(of_variable(text), berlin, "{text}");
        }
        assert_eq!(of_variable(""), Some(TimeZone::UTC));
        assert_eq!(of_variable(":"), Some(TimeZone::UTC));
        let rules = of_variable("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        for at in ["2026-01-15T12:00:00Z", "2026-07-15T12:00:00Z"] {
            let at = at.parse().unwrap();
            assert_eq!(rules.to_offset(at), berlin.as_ref().unwrap().to_offset(at));
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::copy("/usr/share/zoneinfo/Asia/Tokyo", file.path()).unwrap();
        let tokyo = of_variable(file.path().to_str().unwrap()).unwrap();
        let at = "2026-01-15T12:00:00Z".parse().unwrap();
        assert_eq!(tokyo.to_offset(at).seconds(), 9 * 3600);
        for text in ["Nowhere/At_All", "Nonsense", "some/file", "/nowhere"] {
            assert_eq!(of_variable(text), None, "{text}");
        }
    }
}
