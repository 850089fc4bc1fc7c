//! The configuration of a home, in the terms of the hub.

use jiff::tz::TimeZone;

use super::hub::Settings;
use crate::agent;
use crate::clock::zones;
use crate::config::{self, Config};
use crate::error::Result;
use crate::home::Home;
use crate::runtime::Environ;
use crate::sessions::limits::{Law, Limits, Rules};
use crate::timers::event::TimerRules;

/// What a start and a reload read.
pub(crate) struct Read {
    /// For the hub.
    pub(crate) hub: Settings,
    /// Of the backend.
    pub(crate) serve: config::settings::Serve,
    /// The judge of `--until`.
    pub(crate) judge: Vec<String>,
    /// The token that the operator chose.
    pub(crate) token: Option<String>,
    /// What is wrong with the files.
    pub(crate) problems: Vec<String>,
    /// All of it, as it stands in the files.
    pub(crate) config: Config,
}

/// Reads the configuration.
pub(crate) fn read(home: &Home, environ: &Environ, flags: &[(&'static str, String)]) -> Read {
    let variable = |name: &str| environ.text(name).map(str::to_owned);
    read_as(Config::load(home, &variable, flags))
}

/// What a configuration says.
fn read_as(config: Config) -> Read {
    let settings = config::Settings::of(&config);
    let sessions = &settings.sessions;
    // A session runs one turn at a time, so both are caps of the same.
    let most_turns = [
        Some(settings.serve.max_parallel_turns),
        sessions.max_concurrent,
    ];
    let most_turns = most_turns.into_iter().flatten().min().unwrap_or(u64::MAX);
    let problems = config.problems().iter().map(ToString::to_string);
    Read {
        hub: Settings {
            law: Law {
                limits: Limits::of(sessions),
                rules: Rules::default(),
            },
            rules: TimerRules::of(&settings),
            max_turns: usize::try_from(most_turns).unwrap_or(usize::MAX),
            beat_interval: settings.heartbeats.default_interval.as_secs(),
            beat_prompt: settings.heartbeats.default_prompt.clone(),
            life: settings
                .serve
                .heartbeat_refresh
                .map(|every| every.as_secs_f64()),
            sweep: sessions.startup_orphan_sweep,
            agent: agent(&config).map_err(|error| super::turn::words(&error)),
            zone: zone(settings.timezone.as_deref()),
        },
        judge: settings.loops.judge.clone(),
        token: config.text("serve.token").map(str::to_owned),
        problems: problems.collect(),
        serve: settings.serve,
        config,
    }
}

impl Read {
    /// Whether a file is there and nothing of it could be read.
    pub(crate) fn is_broken(&self) -> bool {
        let mut files = self.config.files().iter();
        files.any(|file| file.state == config::State::Failed)
    }

    /// Names of the settings that differ from those of `before`.
    pub(crate) fn changed(&self, before: &Config) -> Vec<&'static str> {
        let pairs = self.config.settings().iter().zip(before.settings());
        pairs
            .filter(|(new, old)| new.current.value != old.current.value)
            .map(|(new, _)| new.key.name)
            .collect()
    }
}

fn agent(config: &Config) -> Result<agent::AgentCommand> {
    agent::Settings::of(config)?.resolve()
}

fn zone(name: Option<&str>) -> TimeZone {
    name.and_then(|name| zones::named(name).ok())
        .unwrap_or_else(zones::system)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layer, layer::Format};

    fn of(text: &str) -> Read {
        let layer = Layer::of_text(Format::Toml, "config.toml".as_ref(), text);
        read_as(Config::of_layers(Vec::new(), vec![layer]))
    }

    #[test]
    fn settings_that_are_described_are_honoured() {
        let read = of("[agent.turn_liveness]\ntimeout_s = 77\n[loops]\nmin_interval_seconds = 1\n");
        assert!((read.hub.law.limits.stall - 77.0).abs() < 1e-9);
        assert!((read.hub.rules.floor - 5.0).abs() < 1e-9);
        assert_eq!(read.hub.max_turns, 4);
        assert_eq!(of("max_concurrent_sessions = 2\n").hub.max_turns, 2);
        assert_eq!(of("max_concurrent_sessions = 0\n").hub.max_turns, 4);
        assert_eq!(of("max_concurrent_sessions = 9\n").hub.max_turns, 4);
    }

    #[test]
    fn what_changed_is_named() {
        let (old, new) = (
            of(""),
            of("[serve]\nport = 1\n[heartbeats]\nmax_beats = 3\n"),
        );
        assert_eq!(
            new.changed(&old.config),
            ["heartbeats.max_beats", "serve.port"]
        );
        assert!(new.changed(&new.config).is_empty());
    }
}
