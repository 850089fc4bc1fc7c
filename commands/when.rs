//! When something was or will be, for people: by the wall clock of the home's zone, and how far off.

use hermes::config::Config;
use hermes::cron::zone::Zone;
use hermes::error::Result;
use hermes::output::human;
use hermes::runtime::Runtime;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The moment of a look, and the zone of the home.
pub(crate) struct When {
    now: Timestamp,
    zone: TimeZone,
}

impl When {
    /// For the one home that a command is about.
    pub(crate) fn of(runtime: &Runtime) -> Result<Self> {
        let home = runtime.one_home()?;
        let variable = |name: &str| runtime.environ.text(name).map(str::to_owned);
        let zone = Zone::of(&Config::load(&home, &variable, &[]));
        Ok(Self {
            now: runtime.clock.wall(),
            zone: zone.zones.configured,
        })
    }

    /// The same, by the clock of whoever says that it is this moment.
    pub(crate) fn by(self, now: Option<Timestamp>) -> Self {
        let now = now.unwrap_or(self.now);
        Self { now, ..self }
    }

    /// `in 29m (14:05)`, `due 3h ago`; nothing of what does not come.
    pub(crate) fn next(&self, at: Option<Timestamp>) -> String {
        let next = |at| human::ahead(at, self.now, &self.zone);
        at.map(next).unwrap_or_default()
    }

    /// `3h ago`; nothing of what never was.
    pub(crate) fn ago(&self, at: Option<Timestamp>) -> String {
        let ago = |at| human::relative(at, self.now);
        at.map(ago).unwrap_or_default()
    }

    /// `2026-06-01 14:05:00 +00:00 (3h ago)`; nothing of what never was.
    pub(crate) fn whole(&self, at: Option<Timestamp>) -> String {
        let whole = |at| human::when(at, self.now, &self.zone);
        at.map(whole).unwrap_or_default()
    }
}

/// An instant as documents have it.
pub(crate) fn instant(text: Option<&String>) -> Option<Timestamp> {
    text?.parse().ok()
}
