//! The settings in the types of the rooms, validated: limits are options, pairs agree. Pure.

use std::time::Duration;

use super::Config;

/// All settings that this program acts on.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Name of the zone of schedules; none is the host's.
    pub timezone: Option<String>,
    /// Of the scheduler.
    pub cron: Cron,
    /// Of loops.
    pub loops: Loops,
    /// Of heartbeats.
    pub heartbeats: Heartbeats,
    /// Of sessions and their reapers.
    pub sessions: Sessions,
    /// Of the backend.
    pub serve: Serve,
}

/// Settings of the scheduler.
#[derive(Debug, Clone, PartialEq)]
pub struct Cron {
    /// Run a job once whose slot was missed beyond its grace.
    pub catch_up_missed: bool,
    /// Overdue jobs that one pass starts; none is no cap.
    pub max_catch_ups_per_tick: Option<usize>,
    /// Jobs that run at once; none is no cap.
    pub max_parallel_jobs: Option<u64>,
    /// Outputs kept of each job; none keeps all.
    pub output_retention: Option<u64>,
    /// After which a finished one-shot is dropped; none keeps it.
    pub completed_retention: Option<Duration>,
    /// Longest run of a script job.
    pub script_timeout: Option<Duration>,
    /// The built-in ticker is what ticks.
    pub builtin_provider: bool,
    /// Refuse a job rather than run it where a restart kills it.
    pub require_restart_safe_scope: bool,
    /// Why it is not known whether that is asked for; no job is run then where a restart kills it.
    pub scope_unread: Option<String>,
    /// Longest silence of a job's agent.
    pub inactivity_timeout: Option<Duration>,
    /// Name of this machine in claims.
    pub machine_id: Option<String>,
    /// What a stop leaves to running jobs.
    pub drain_timeout: Duration,
}

/// Settings of loops.
#[derive(Debug, Clone, PartialEq)]
pub struct Loops {
    /// A shorter interval is raised to this.
    pub min_interval: Duration,
    /// Ticks after which a loop pauses; none is no limit.
    pub max_ticks: Option<u64>,
    /// Shortest pause of a self-paced loop.
    pub self_paced_floor: Duration,
    /// Longest pause of a self-paced loop, never shorter than the shortest.
    pub self_paced_ceiling: Duration,
    /// Program and arguments that judge a loop's condition; empty is none.
    pub judge: Vec<String>,
}

/// Settings of heartbeats.
#[derive(Debug, Clone, PartialEq)]
pub struct Heartbeats {
    /// Beats without a message of the user after which it pauses; none is no limit.
    pub max_beats: Option<u64>,
    /// Between beats where nothing is named.
    pub default_interval: Duration,
    /// What a beat asks where nothing is named.
    pub default_prompt: String,
}

/// Settings of sessions and their reapers.
#[derive(Debug, Clone, PartialEq)]
pub struct Sessions {
    /// Kept live at most; none is no cap.
    pub max_live: Option<u64>,
    /// That may run turns at once; none is no cap.
    pub max_concurrent: Option<u64>,
    /// Awake time from a lost client to the reaping; none parks it for ever.
    pub orphan_grace: Option<Duration>,
    /// Silence after which a running turn no longer keeps an orphan; none never keeps it.
    pub orphan_activity_stale: Option<Duration>,
    /// Idle time after which a detached session is evicted; none is never.
    pub idle_ttl: Option<Duration>,
    /// End sessions that a dead backend left open, at start.
    pub startup_orphan_sweep: bool,
    /// Silence after which a turn counts as stuck.
    pub turn_stale: Option<Duration>,
}

/// Settings of the backend.
#[derive(Debug, Clone, PartialEq)]
pub struct Serve {
    /// Address to listen at.
    pub host: String,
    /// Port to listen at; 0 takes a free one.
    pub port: u16,
    /// Turns of sessions that run at once.
    pub max_parallel_turns: u64,
    /// Tick cron jobs.
    pub cron: bool,
    /// Wait for another scheduler instead of refusing to start.
    pub passive: bool,
    /// Between signs of life in the store; none gives one.
    pub heartbeat_refresh: Option<Duration>,
    /// Between pings to clients that are not on this host.
    pub ping_interval: Option<Duration>,
    /// That such a client has to answer.
    pub ping_timeout: Duration,
    /// What a stop leaves to turns of a chat.
    pub drain_timeout: Duration,
}

/// Longer than any sensible time, and still one that can be added to an instant.
const LONGEST: f64 = 100.0 * 365.0 * 86_400.0;

fn seconds(config: &Config, name: &str) -> Duration {
    scaled(config, name, 1.0)
}

fn scaled(config: &Config, name: &str, unit: f64) -> Duration {
    let number = config.number(name).unwrap_or(0.0) * unit;
    Duration::try_from_secs_f64(number.clamp(0.0, LONGEST)).unwrap_or_default()
}

/// A time whose zero means that there is no limit.
fn limit(time: Duration) -> Option<Duration> {
    Some(time).filter(|time| !time.is_zero())
}

fn cap(config: &Config, name: &str) -> Option<u64> {
    config.count(name).filter(|&count| count > 0)
}

impl Settings {
    /// Validates a configuration.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        Self {
            timezone: config.text("timezone").map(str::to_owned),
            cron: Cron::of(config),
            loops: Loops::of(config),
            heartbeats: Heartbeats {
                max_beats: cap(config, "heartbeats.max_beats"),
                default_interval: seconds(config, "heartbeats.default_interval"),
                default_prompt: config
                    .text("heartbeats.default_prompt")
                    .unwrap_or_default()
                    .to_owned(),
            },
            sessions: Sessions::of(config),
            serve: Serve::of(config),
        }
    }
}

impl Cron {
    fn of(config: &Config) -> Self {
        let provider = config.text("cron.provider").unwrap_or_default();
        Self {
            catch_up_missed: config.flag("cron.catch_up_missed"),
            max_catch_ups_per_tick: cap(config, "cron.max_catch_ups_per_tick")
                .map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
            max_parallel_jobs: cap(config, "cron.max_parallel_jobs"),
            output_retention: cap(config, "cron.output_retention"),
            completed_retention: limit(scaled(config, "cron.completed_retention_days", 86_400.0)),
            script_timeout: limit(seconds(config, "cron.script_timeout_seconds")),
            // A name that it does not know is the built-in ticker to Hermes Agent too.
            builtin_provider: provider != "chronos",
            require_restart_safe_scope: config.flag("cron.require_restart_safe_scope"),
            scope_unread: config
                .unknown("cron.require_restart_safe_scope")
                .map(ToString::to_string),
            inactivity_timeout: limit(seconds(config, "cron.inactivity_timeout_seconds")),
            machine_id: config.text("cron.machine_id").map(str::to_owned),
            drain_timeout: seconds(config, "agent.cron_drain_timeout"),
        }
    }
}

impl Loops {
    fn of(config: &Config) -> Self {
        let floor = seconds(config, "loops.self_paced_floor_seconds");
        Self {
            min_interval: seconds(config, "loops.min_interval_seconds"),
            max_ticks: cap(config, "loops.max_ticks"),
            self_paced_floor: floor,
            self_paced_ceiling: seconds(config, "loops.self_paced_ceiling_seconds").max(floor),
            judge: config.words("loops.judge").unwrap_or_default().to_vec(),
        }
    }
}

impl Sessions {
    fn of(config: &Config) -> Self {
        Self {
            max_live: cap(config, "max_live_sessions"),
            max_concurrent: cap(config, "max_concurrent_sessions"),
            orphan_grace: limit(seconds(config, "dashboard.ws_orphan_reap_grace_s")),
            orphan_activity_stale: limit(seconds(config, "dashboard.ws_orphan_activity_stale_s")),
            idle_ttl: limit(seconds(config, "serve.session_ttl_seconds")),
            startup_orphan_sweep: config.flag("dashboard.startup_orphan_sweep"),
            turn_stale: limit(seconds(config, "agent.turn_liveness.timeout_s")),
        }
    }
}

impl Serve {
    fn of(config: &Config) -> Self {
        Self {
            host: config.text("serve.host").unwrap_or_default().to_owned(),
            port: config
                .count("serve.port")
                .and_then(|port| u16::try_from(port).ok())
                .unwrap_or(0),
            max_parallel_turns: config.count("serve.max_parallel_turns").unwrap_or(4),
            cron: config.flag("serve.cron"),
            passive: config.flag("serve.passive"),
            heartbeat_refresh: limit(seconds(config, "serve.heartbeat_refresh_seconds")),
            ping_interval: limit(seconds(config, "dashboard.ws_ping_interval")),
            ping_timeout: seconds(config, "dashboard.ws_ping_timeout"),
            drain_timeout: seconds(config, "agent.restart_drain_timeout"),
        }
    }
}

impl Default for Settings {
    /// The settings where nobody says anything.
    fn default() -> Self {
        Self::of(&Config::of_layers(Vec::new(), Vec::new()))
    }
}
