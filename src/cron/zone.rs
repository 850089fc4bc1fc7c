//! Which zone the schedules are read in, and who said so.

use jiff::tz::TimeZone;

use super::next::Zones;
use crate::config::{Config, Origin};
use crate::error::{Error, Kind, Result};

/// Who says it where nobody was asked.
const HOST: &str = "the host";

/// The zones of a home, with where they come from.
#[derive(Clone, Debug)]
pub struct Zone {
    /// For schedules and for stamps without an offset.
    pub zones: Zones,
    /// The name of the configured zone, as far as it has one.
    pub name: String,
    /// Who said so, as a phrase: `HERMES_TIMEZONE`, a file, or the host.
    pub origin: String,
    /// A configured name that is no zone; the host's rules are used instead, as the other program
    /// does.
    pub unknown: Option<String>,
}

impl Zone {
    /// The zone that the configuration names, else the host's with its rules. Never a frozen
    /// offset.
    #[must_use]
    pub fn of(config: &Config) -> Zone {
        let named = config.text("timezone").filter(|name| !name.is_empty());
        let Some(name) = named else {
            return Zone::host(None);
        };
        let Ok(configured) = TimeZone::get(name) else {
            return Zone::host(Some(name.to_owned()));
        };
        let origin = config
            .get("timezone")
            .map(|setting| &setting.current.origin);
        let origin = origin.map_or_else(|| "the configuration".to_owned(), said);
        let zones = Zones {
            configured,
            system: TimeZone::system(),
        };
        Zone {
            zones,
            name: name.to_owned(),
            origin,
            unknown: None,
        }
    }

    /// A zone that was asked for by name; `None` where there is no such zone.
    #[must_use]
    pub fn named(name: &str, origin: &str) -> Option<Zone> {
        let configured = TimeZone::get(name).ok()?;
        let zones = Zones {
            configured,
            system: TimeZone::system(),
        };
        Some(Zone {
            zones,
            name: name.to_owned(),
            origin: origin.to_owned(),
            unknown: None,
        })
    }

    /// The name to tell a worker; `None` where it asks its host, as we did.
    #[must_use]
    pub fn told(&self) -> Option<&str> {
        (self.origin != HOST).then_some(self.name.as_str())
    }

    fn host(unknown: Option<String>) -> Zone {
        let zone = TimeZone::system();
        let name = zone.iana_name().unwrap_or("the host's rules").to_owned();
        let (zones, origin) = (Zones::of(zone), HOST.to_owned());
        Zone {
            zones,
            name,
            origin,
            unknown,
        }
    }
}

/// The zone that a worker was told; the host's where it was told none.
///
/// # Errors
/// When no zone has this name here.
pub fn handed_on(name: Option<&str>) -> Result<TimeZone> {
    match name {
        None => Ok(TimeZone::system()),
        Some(name) => TimeZone::get(name).map_err(|error| {
            Error::new(
                Kind::Invalid,
                format!("there is no time zone '{}'", name.escape_debug()),
            )
            .with_source(error)
        }),
    }
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
