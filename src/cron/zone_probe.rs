//! The zone of a home as a serve that runs reads it; and notices that it has changed while a scheduler runs: another `timezone` in the
//! configuration, another link at `/etc/localtime`, new rules in a file of the zone database. A look
//! costs a few calls of `stat`; files are read only where one of them has changed.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::zone::{Zone, ZoneVariables};
use crate::config::{Config, State};
use crate::home::Home;
use crate::runtime::Environ;

/// Where the host's zone is told.
const LOCALTIME: &str = "/etc/localtime";
/// Where the files of the zones are.
const ZONES: &str = "/usr/share/zoneinfo";

/// The zone in which the serve of a home reads schedules, by what it was told when it began, as far as that
/// can be read.
///
/// # Errors
/// Why it cannot be told: a fragment.
pub fn of_serve(
    home: &Home,
    pid: Option<u32>,
    told: Option<&ZoneVariables>,
) -> Result<Zone, String> {
    let serve = pid.map_or_else(|| "serve".to_owned(), |pid| format!("serve pid {pid}"));
    let Some(told) = told else {
        // Its variables cannot be read; the configuration can.
        let zone = Zone::of(&Config::load(home, &|_| None, &[]));
        let why = format!("the environment of {serve} cannot be read");
        return zone.told().map(|_| zone.clone()).ok_or(why);
    };
    let config = Config::load(home, &|name| told.get(name), &[]);
    let zone = Zone::of_process(&config, told.tz.as_deref());
    let tz = told.tz.as_deref().unwrap_or_default().escape_debug();
    let why = || match &told.tz {
        Some(_) => format!("{serve} has TZ '{tz}', which names no zone that is known here"),
        None => format!("{serve} goes by {LOCALTIME}, which cannot be read"),
    };
    zone.map(|zone| zone.said_by(&serve)).ok_or_else(why)
}

/// What tells one version of a file from another, of the name and of what it leads to.
type Mark = [Option<(i64, i64, u64, u64)>; 2];

/// Looks after the zone of one home.
#[derive(Debug)]
pub struct ZoneProbe {
    home: Home,
    /// As it was at the start: a running process has no other.
    environ: Environ,
    zone: Zone,
    configuration: Vec<Mark>,
    rules: Vec<Mark>,
}

impl ZoneProbe {
    /// Looks after the zone that a scheduler began with.
    #[must_use]
    pub fn begin(home: &Home, environ: &Environ, zone: &Zone) -> Self {
        let mut probe = Self {
            home: home.clone(),
            environ: environ.clone(),
            zone: zone.clone(),
            configuration: Vec::new(),
            rules: Vec::new(),
        };
        probe.configuration = marks(&probe.configuration_files());
        probe.rules = marks(&probe.rules_files());
        probe
    }

    /// The zone, where it is another one now, or its rules are. A configuration that cannot be read
    /// says nothing of it: the zone stays, and the next look reads again.
    pub fn look(&mut self) -> Option<Zone> {
        let configuration = marks(&self.configuration_files());
        let new_rules = marks(&self.rules_files()) != self.rules;
        if configuration == self.configuration && !new_rules {
            return None;
        }
        if new_rules {
            // Both remember for some minutes what they have read.
            jiff::tz::reset_system_time_zone_cache();
            jiff::tz::db().reset();
        }
        let variable = |name: &str| self.environ.text(name).map(str::to_owned);
        let config = Config::load(&self.home, &variable, &[]);
        if config
            .files()
            .iter()
            .any(|file| file.state == State::Failed)
        {
            return None;
        }
        let zone = Zone::of(&config);
        let is_new =
            zone.zones != self.zone.zones || (new_rules && zone.told() == self.zone.told());
        self.configuration = configuration;
        self.zone = zone;
        self.rules = marks(&self.rules_files());
        is_new.then(|| self.zone.clone())
    }

    fn configuration_files(&self) -> Vec<PathBuf> {
        ["config.yaml", "config.toml"]
            .map(|name| self.home.join(name))
            .into()
    }

    /// Whatever says what the zone is: the host's link, or the file that `TZ` names, and the rules.
    fn rules_files(&self) -> Vec<PathBuf> {
        let named = self.environ.text("TZ").map(|tz| tz.trim_start_matches(':'));
        let database = self.environ.text("TZDIR").unwrap_or(ZONES);
        let in_database = |name: &str| Path::new(database).join(name);
        let mut files = vec![named.map_or_else(|| PathBuf::from(LOCALTIME), in_database)];
        let zones = [&self.zone.zones.configured, &self.zone.zones.system];
        files.extend(
            zones
                .into_iter()
                .filter_map(|zone| zone.iana_name().map(in_database)),
        );
        files
    }
}

fn marks(files: &[PathBuf]) -> Vec<Mark> {
    let tell = |file: Metadata| (file.ctime(), file.ctime_nsec(), file.size(), file.ino());
    files
        .iter()
        .map(|file| {
            let (name, target) = (fs_err::symlink_metadata(file), fs_err::metadata(file));
            [name.ok().map(tell), target.ok().map(tell)]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(yaml: &str) -> (tempfile::TempDir, Home) {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        std::fs::write(home.join("config.yaml"), yaml).unwrap();
        (directory, home)
    }

    fn begin(home: &Home, environ: &Environ) -> ZoneProbe {
        let variable = |name: &str| environ.text(name).map(str::to_owned);
        let zone = Zone::of(&Config::load(home, &variable, &[]));
        ZoneProbe::begin(home, environ, &zone)
    }

    #[test]
    fn the_zone_of_a_serve_is_its_own_word_or_that_of_a_file_or_cannot_be_told() {
        let (_directory, silent) = home("");
        let said = |home: &Home, told: Option<(Option<&str>, Option<&str>)>| {
            let told = told.map(|(named, tz)| ZoneVariables {
                named: named.map(str::to_owned),
                tz: tz.map(str::to_owned),
            });
            of_serve(home, Some(7), told.as_ref()).map(|zone| zone.words())
        };
        let own = |word: &str| Ok(word.to_owned());
        let tokyo = Some((None, Some("Asia/Tokyo")));
        assert_eq!(
            said(&silent, tokyo),
            own("Asia/Tokyo, from TZ of serve pid 7")
        );
        let named = Some((Some("Asia/Tokyo"), Some("UTC")));
        let words = "Asia/Tokyo, from HERMES_TIMEZONE of serve pid 7";
        assert_eq!(said(&silent, named), own(words));
        let why = said(&silent, None).unwrap_err();
        assert_eq!(why, "the environment of serve pid 7 cannot be read");
        assert!(said(&silent, Some((None, Some("no/zone")))).is_err());
        let (_directory, written) = home("timezone: Europe/Berlin\n");
        for told in [None, tokyo] {
            let words = said(&written, told).unwrap();
            assert!(words.starts_with("Europe/Berlin, from ") && words.ends_with("config.yaml:1"));
        }
    }

    #[test]
    fn b72_another_zone_in_the_configuration_is_noticed_once() {
        let (_directory, home) = home("timezone: Europe/Berlin\n");
        let mut probe = begin(&home, &Environ::default());
        assert!(probe.look().is_none(), "nothing has changed");
        std::fs::write(home.join("config.yaml"), "timezone: Asia/Tokyo\n").unwrap();
        assert_eq!(
            probe.look().map(|zone| zone.name).as_deref(),
            Some("Asia/Tokyo")
        );
        assert!(probe.look().is_none(), "it is said once");
        std::fs::write(home.join("config.yaml"), "timezone: Asia/Tokyo\n# x\n").unwrap();
        assert!(probe.look().is_none(), "the same zone in another file");
    }

    #[test]
    fn a_configuration_that_is_being_written_moves_no_zone() {
        let (_directory, home) = home("timezone: Europe/Berlin\n");
        let mut probe = begin(&home, &Environ::default());
        std::fs::write(home.join("config.yaml"), "timezone: [Asia\n").unwrap();
        assert!(probe.look().is_none());
        std::fs::write(home.join("config.yaml"), "timezone: Asia/Tokyo\n").unwrap();
        assert_eq!(
            probe.look().map(|zone| zone.name).as_deref(),
            Some("Asia/Tokyo")
        );
    }

    #[test]
    fn the_variable_of_the_start_goes_before_the_file() {
        let (_directory, home) = home("timezone: Europe/Berlin\n");
        let pair = ("HERMES_TIMEZONE".into(), "America/New_York".into());
        let mut probe = begin(&home, &[pair].into_iter().collect());
        std::fs::write(home.join("config.yaml"), "timezone: Asia/Tokyo\n").unwrap();
        assert!(probe.look().is_none());
    }

    #[test]
    fn new_rules_are_noticed() {
        let (directory, home) = home("timezone: Europe/Berlin\n");
        let database = directory.path().join("zones/Europe");
        std::fs::create_dir_all(&database).unwrap();
        std::fs::write(database.join("Berlin"), "one").unwrap();
        let zones = directory.path().join("zones");
        let pair = ("TZDIR".into(), zones.clone().into_os_string());
        let mut probe = begin(&home, &[pair].into_iter().collect());
        assert!(probe.look().is_none());
        std::fs::write(zones.join("new"), "two").unwrap();
        std::fs::rename(zones.join("new"), database.join("Berlin")).unwrap();
        assert_eq!(
            probe.look().map(|zone| zone.name).as_deref(),
            Some("Europe/Berlin")
        );
        assert!(probe.look().is_none(), "it is said once");
    }
}
