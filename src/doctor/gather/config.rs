//! The configuration as the dispatcher of the home has it, the zone that follows from it, and the agent.

use std::ffi::OsStr;

use crate::agent::{self, runner};
use crate::clock::zones;
use crate::config::{Config, Source};
use crate::cron::next::Zones;
use crate::doctor::evidence::home::{AgentSeen, ZoneSeen};
use crate::home::Home;
use crate::host::Facts;
use crate::host::facts::{Fact, Gap, GapKind};

/// Reads the configuration of a home, under the environment of its dispatcher.
pub(super) fn look(home: &Home, facts: &Facts) -> Config {
    let environ = facts.dispatcher.environ.known();
    let variable = |name: &str| {
        let value = environ?.variables.get(name)?;
        Some(value.clone())
    };
    Config::load(home, &variable, &[])
}

/// The zones of a home, as its dispatcher has them.
pub(super) fn zone(config: &Config, facts: &Facts) -> ZoneSeen {
    let host = hosts(facts);
    let asked = config.text("timezone");
    match asked.map(|name| (name, zones::named(name))) {
        Some((name, Ok(configured))) => ZoneSeen {
            zones: Zones {
                configured,
                system: host.zones.system,
            },
            name: name.to_owned(),
            source: source(config),
            unknown: None,
        },
        // A name that nothing knows is a problem of the configuration, and sets nothing.
        _ => host,
    }
}

/// The host's zone, as the dispatcher asks for it: by its `TZ`, where it has one.
fn hosts(facts: &Facts) -> ZoneSeen {
    let named = facts.machine.clock.zone.as_deref();
    let system = named
        .and_then(|name| zones::named(name).ok())
        .unwrap_or_else(zones::system);
    let name = named.or(system.iana_name()).unwrap_or("the host's zone");
    let seen = ZoneSeen {
        name: name.to_owned(),
        zones: Zones::of(system),
        source: "the host's own zone".to_owned(),
        unknown: None,
    };
    let dispatcher = &facts.dispatcher;
    let environ = match &dispatcher.environ {
        Fact::Known(environ) => environ,
        Fact::Unknown(gap) => {
            return ZoneSeen {
                unknown: Some(gap.clone()),
                ..seen
            };
        }
    };
    let Some(tz) = environ.variables.get("TZ") else {
        return seen;
    };
    let source = match &dispatcher.process {
        Some(process) => format!("TZ of pid {}", process.pid),
        None => format!("TZ, {}", dispatcher.environ_source),
    };
    match zones::of_variable(tz) {
        Some(zone) => ZoneSeen {
            name: zone.iana_name().unwrap_or(tz).to_owned(),
            zones: Zones::of(zone),
            source,
            unknown: None,
        },
        None => ZoneSeen {
            unknown: Some(Gap {
                kind: GapKind::Failed,
                why: format!("{source} is '{tz}', which names no zone that is known here"),
                would_tell: Vec::new(),
            }),
            ..seen
        },
    }
}

/// What chose the zone, in words.
fn source(config: &Config) -> String {
    let Some(origin) = config
        .get("timezone")
        .map(|setting| &setting.current.origin)
    else {
        return String::new();
    };
    let name = origin.name.as_deref().unwrap_or("timezone");
    let layer = match origin.source {
        Source::Yaml => "config.yaml",
        Source::Toml => "config.toml",
        Source::Environment => "the environment of the dispatcher",
        Source::Flag => "a flag",
        Source::Default => "the defaults",
    };
    format!("{name} in {layer}")
}

/// The agent that prompts are given to.
pub(super) fn agent(config: &Config, facts: &Facts) -> AgentSeen {
    let settings = match agent::Settings::of(config) {
        Ok(settings) => settings,
        Err(error) => return AgentSeen::Unusable(error.in_full(), Vec::new()),
    };
    if !settings.is_configured() {
        return AgentSeen::NotConfigured;
    }
    let environ = facts.dispatcher.environ.known();
    let path = environ
        .and_then(|environ| environ.get("PATH"))
        .map(OsStr::new);
    let found = settings
        .resolve()
        .and_then(|agent| runner::find_programs(&agent, path));
    match found {
        Ok(program) => AgentSeen::Found(program),
        Err(error) => {
            AgentSeen::Unusable(error.message().to_owned(), error.hints_in_line().collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layer;
    use crate::config::layer::Format;
    use crate::host::facts::Environment;

    fn config(yaml: &str) -> Config {
        let layer = Layer::of_text(Format::Yaml, "config.yaml".as_ref(), yaml);
        Config::of_layers(Vec::new(), vec![layer])
    }

    #[test]
    fn b65_the_zone_and_what_chose_it() {
        let mut facts = Facts::example();
        facts.machine.clock.zone = Some("America/New_York".to_owned());
        let named = zone(&config("timezone: Europe/Berlin\n"), &facts);
        assert_eq!(named.name, "Europe/Berlin");
        assert_eq!(named.source, "timezone in config.yaml");
        let empty = zone(&config(""), &facts);
        assert_eq!(empty.name, "America/New_York");
        assert_eq!(empty.zones.configured.iana_name(), Some("America/New_York"));
        let unknown = zone(&config("timezone: Mars/Olympus\n"), &facts);
        assert_eq!(unknown.name, "America/New_York");
    }

    #[test]
    fn the_zone_is_the_one_that_the_dispatcher_asks_its_host_for() {
        let mut facts = Facts::example();
        facts.machine.clock.zone = Some("America/New_York".to_owned());
        facts.dispatcher.process = None;
        facts.dispatcher.environ_source = "what a.service gives".to_owned();
        let mut asks = |tz: &str| {
            let environ = Environment::select([("TZ", tz)].into_iter());
            facts.dispatcher.environ = Fact::Known(environ);
            zone(&config(""), &facts)
        };
        let tokyo = asks("Asia/Tokyo");
        assert_eq!(tokyo.source, "TZ, what a.service gives");
        assert_eq!((tokyo.name.as_str(), tokyo.unknown), ("Asia/Tokyo", None));
        assert_eq!(asks("").name, "UTC");
        let why = asks("no/zone").unknown.unwrap().why;
        assert!(why.contains("names no zone"), "{why}");
        facts.dispatcher.environ = Fact::denied("environment of pid 7");
        assert!(zone(&config(""), &facts).unknown.is_some());
        assert!(zone(&config("timezone: UTC\n"), &facts).unknown.is_none());
    }

    #[test]
    fn an_agent_is_found_or_told_why_not() {
        let facts = Facts::example();
        assert_eq!(agent(&config(""), &facts), AgentSeen::NotConfigured);
    }
}
