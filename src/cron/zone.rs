//! Which zone the schedules are read in, and who said so.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::next::Zones;
use crate::clock::zones;
use crate::config::{Config, Origin, ProblemKind, Source};
use crate::error::{Error, Kind, Result};

/// Who says it where nobody was asked.
const HOST: &str = "the host";
/// Who says it where the host was asked by a process that has its own word.
const VARIABLE: &str = "TZ";

/// Who says it where a process was told by name.
const NAMED: &str = "HERMES_TIMEZONE";
/// What rules without a name are called.
const HOSTS: &str = "the host's rules";

/// The zones of a home, with where they come from.
#[derive(Clone, Debug)]
pub struct Zone {
    /// For schedules and for stamps without an offset.
    pub zones: Zones,
    /// The name of the configured zone, as far as it has one.
    pub name: String,
    /// Who said so, as a phrase: `HERMES_TIMEZONE`, a file, or the host.
    pub origin: String,
    /// What was configured over it and is no zone, with where: something else is used instead, as by
    /// the other program.
    pub unknown: Vec<String>,
}

/// What a process was told of the zone when it began: it has no other as long as it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZoneVariables {
    /// `HERMES_TIMEZONE`.
    pub named: Option<String>,
    /// `TZ`.
    pub tz: Option<String>,
}

impl ZoneVariables {
    /// By the environment of a process.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            named: variable(NAMED).filter(|name| !name.is_empty()),
            tz: variable(VARIABLE),
        }
    }

    /// The same as an environment that has nothing else.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.named.clone().filter(|_| name == NAMED)
    }
}

impl Zone {
    /// The zone that the configuration names, else the host's with its rules. Never a frozen
    /// offset.
    #[must_use]
    pub fn of(config: &Config) -> Zone {
        let unknown = unknown(config);
        let named = config.text("timezone");
        let named = named.and_then(|name| Some((name, zones::named(name).ok()?)));
        let Some((name, configured)) = named else {
            return Zone::host(unknown);
        };
        let origin = config
            .get("timezone")
            .map(|setting| &setting.current.origin);
        let origin = origin.map_or_else(|| "the configuration".to_owned(), said);
        let zones = Zones {
            configured,
            system: zones::system(),
        };
        Zone {
            zones,
            name: name.to_owned(),
            origin,
            unknown,
        }
    }

    /// A zone that was asked for by name; `None` where there is no such zone.
    #[must_use]
    pub fn named(name: &str, origin: &str) -> Option<Zone> {
        let configured = zones::named(name).ok()?;
        let zones = Zones {
            configured,
            system: zones::system(),
        };
        Some(Zone {
            zones,
            name: name.to_owned(),
            origin: origin.to_owned(),
            unknown: Vec::new(),
        })
    }

    /// The name to tell a worker; `None` where it asks its host, as we did.
    #[must_use]
    pub fn told(&self) -> Option<&str> {
        let is_hosts = matches!(self.origin.as_str(), HOST | VARIABLE);
        (!is_hosts).then_some(self.name.as_str())
    }

    /// Which zone it is and who said so, for people.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{}, from {}", self.name, self.origin)
    }

    /// The same for tools.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({"name": self.name, "source": self.origin})
    }

    /// What an operator should know of a zone that is not the one that was meant.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let words = self.words();
        let said = |what: &String| format!("{what}. Schedules are read in {words}.");
        self.unknown.iter().map(said).collect()
    }

    /// The same where the host is asked by this `TZ`: one that names no zone leaves UTC.
    #[must_use]
    pub fn asked_by(mut self, variable: Option<&str>) -> Zone {
        let Some(text) = variable.filter(|_| self.origin == HOST) else {
            return self;
        };
        if self.zones.configured.is_unknown() {
            let text = text.escape_debug();
            self.unknown
                .push(format!("TZ is '{text}', which is no time zone"));
            "UTC".clone_into(&mut self.name);
            return self;
        }
        self.name = called(&self.zones.configured, text);
        VARIABLE.clone_into(&mut self.origin);
        self
    }

    /// The zone of a home as a running process reads it, from its configuration under that process'
    /// `HERMES_TIMEZONE`, and its `TZ`. None where that cannot be told.
    pub(super) fn of_process(config: &Config, tz: Option<&str>) -> Option<Zone> {
        let zone = Zone::of(config);
        if zone.origin != HOST {
            return Some(zone);
        }
        let (configured, origin) = match tz {
            Some(tz) => (zones::of_variable(tz)?, VARIABLE),
            None => (zones::of_host_file()?, HOST),
        };
        Some(Zone {
            name: called(&configured, tz.unwrap_or(HOSTS)),
            zones: Zones::of(configured),
            origin: origin.to_owned(),
            unknown: zone.unknown,
        })
    }

    /// The same zone with the process whose word it is. A file of the home says the same to all of them.
    pub(super) fn said_by(mut self, process: &str) -> Zone {
        let is_its_own = [HOST, VARIABLE, NAMED].contains(&self.origin.as_str());
        if is_its_own {
            self.origin = format!("{} of {process}", self.origin);
        }
        self
    }

    /// Whether another one shows the same clock, this winter and this summer.
    #[must_use]
    pub fn is_like(&self, other: &Zone, now: Timestamp) -> bool {
        let half_a_year = SignedDuration::from_hours(182 * 24);
        let then = now.checked_add(half_a_year).unwrap_or(now);
        let (one, other) = (&self.zones.configured, &other.zones.configured);
        [now, then]
            .iter()
            .all(|at| one.to_offset(*at) == other.to_offset(*at))
    }

    fn host(unknown: Vec<String>) -> Zone {
        let zone = zones::system();
        let name = called(&zone, HOSTS);
        let (zones, origin) = (Zones::of(zone), HOST.to_owned());
        Zone {
            zones,
            name,
            origin,
            unknown,
        }
    }
}

/// The name of a zone; rules that have none are called so.
fn called(zone: &TimeZone, rules: &str) -> String {
    zone.iana_name().unwrap_or(rules).to_owned()
}

/// The zone that a worker was told; the host's where it was told none.
///
/// # Errors
/// When no zone has this name here.
pub fn handed_on(name: Option<&str>) -> Result<TimeZone> {
    let Some(name) = name else {
        return Ok(zones::system());
    };
    // Beside a serve it may be rules, as its `TZ` has them.
    zones::of_variable(name).ok_or_else(|| {
        let message = format!("there is no time zone '{}'", name.escape_debug());
        Error::new(Kind::Invalid, message)
    })
}

/// What the layers over the one that counts say of a zone that is none.
fn unknown(config: &Config) -> Vec<String> {
    let current = config.get("timezone");
    let current = current.map_or(Source::Default, |setting| setting.current.origin.source);
    let problems = config.problems().iter().filter(|problem| {
        let is_zone = matches!(problem.key.as_deref(), Some("timezone" | "HERMES_TIMEZONE"));
        is_zone && problem.kind == ProblemKind::IllTyped && problem.source() > current
    });
    problems.map(ToString::to_string).collect()
}

/// `config.yaml:3`, or the name of the variable or flag.
fn said(origin: &Origin) -> String {
    let file = origin.file.as_ref().map(|file| file.display().to_string());
    match (file, origin.at, &origin.name) {
        (Some(file), Some(place), _) => format!("{file}:{}", place.line),
        (Some(file), None, _) => file,
        (None, _, Some(name)) => name.clone(),
        (None, _, None) => "the configuration".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layer;
    use crate::config::layer::Format;

    fn zone(yaml: &str, variable: Option<&str>) -> Zone {
        let file = Layer::of_text(Format::Yaml, "config.yaml".as_ref(), yaml);
        let asked = |name: &str| {
            let value = variable.filter(|_| name == "HERMES_TIMEZONE")?;
            Some(value.to_owned())
        };
        let environment = Layer::of_environment(&asked);
        Zone::of(&Config::of_layers(Vec::new(), vec![file, environment]))
    }

    #[test]
    fn a_zone_that_is_none_is_told_unless_something_else_goes_before_it() {
        assert_eq!(zone("timezone: Asia/Tokyo\n", None).warnings(), [""; 0]);
        let said = zone("timezone: Mars/Base\n", None).warnings();
        assert!(
            said.len() == 1
                && said[0].starts_with("config.yaml:1:11: timezone is 'Mars/Base'")
                && said[0].ends_with("from the host."),
            "{said:?}"
        );
        let said = zone("timezone: Asia/Tokyo\n", Some("Mars/Base")).warnings();
        assert!(
            said[0].contains("HERMES_TIMEZONE is 'Mars/Base'")
                && said[0].ends_with("Asia/Tokyo, from config.yaml:1."),
            "{said:?}"
        );
        assert_eq!(
            zone("timezone: Mars/Base\n", Some("UTC")).warnings(),
            [""; 0]
        );
    }
}
