//! The configuration of a home, in the terms of the hub.

use std::time::Duration;

use jiff::tz::TimeZone;

use super::hub::Settings;
use crate::agent;
use crate::config::{self, Config};
use crate::error::Result;
use crate::home::Home;
use crate::runtime::Environ;
use crate::sessions::limits::{Law, Limits, Rules};
use crate::timers::event::TimerRules;
use crate::timers::pacing::Pace;

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
}

/// Reads the configuration.
pub(crate) fn read(home: &Home, environ: &Environ, flags: &[(&'static str, String)]) -> Read {
    let variable = |name: &str| environ.text(name).map(str::to_owned);
    let config = Config::load(home, &variable, flags);
    let settings = config::Settings::of(&config);
    let (sessions, loops) = (&settings.sessions, &settings.loops);
    let max_ticks = loops.max_ticks.unwrap_or(0);
    let problems = config.problems().iter().map(|problem| {
        let key = problem.key.as_deref().unwrap_or("the configuration");
        format!("{key} {}", problem.message)
    });
    Read {
        hub: Settings {
            law: Law {
                limits: Limits {
                    grace: seconds(sessions.orphan_grace),
                    stale: seconds(sessions.orphan_activity_stale),
                    idle: seconds(sessions.idle_ttl),
                    cap: usize::try_from(sessions.max_live.unwrap_or(0)).unwrap_or(usize::MAX),
                    ..Limits::default()
                },
                rules: Rules::default(),
            },
            rules: TimerRules {
                floor: loops.min_interval.as_secs_f64(),
                pace: Pace::new(
                    loops.self_paced_floor.as_secs_f64(),
                    loops.self_paced_ceiling.as_secs_f64(),
                ),
                max_ticks,
                judge: !loops.judge.is_empty(),
                max_beats: settings.heartbeats.max_beats.unwrap_or(0),
            },
            max_turns: usize::try_from(settings.serve.max_parallel_turns).unwrap_or(usize::MAX),
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
        judge: loops.judge.clone(),
        token: config.text("serve.token").map(str::to_owned),
        problems: problems.collect(),
        serve: settings.serve,
    }
}

/// A limit in seconds; 0 is none.
fn seconds(limit: Option<Duration>) -> f64 {
    limit.map_or(0.0, |limit| limit.as_secs_f64())
}

fn agent(config: &Config) -> Result<agent::AgentCommand> {
    use crate::error::{Context as _, Kind};
    let section = serde_json::Value::Object(config.section("agent"));
    let settings: agent::Settings = serde_json::from_value(section).context(
        Kind::Invalid,
        "the section [agent] of config.toml cannot be read",
    )?;
    settings.resolve()
}

fn zone(name: Option<&str>) -> TimeZone {
    name.and_then(|name| TimeZone::get(name).ok())
        .unwrap_or_else(TimeZone::system)
}
