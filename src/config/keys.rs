//! The settings that we know: one table that drives reading, checking, showing and the docs. Pure.

use super::key::{Default, Key};
use super::value::Kind::{Choice, Count, Flag, Number, Port, Text, Words, Zone};

/// All settings, by name. Where ours differs from Hermes Agent's the help says so.
pub const KEYS: &[Key] = &[
    Key::theirs(
        "timezone",
        Zone,
        Default::Text(""),
        "time zone of schedules; empty is the host's",
    )
    .variable("HERMES_TIMEZONE"),
    // Hermes Agent's effective default is no cap at all; a backend that lives for months needs one.
    Key::theirs(
        "max_live_sessions",
        Count(0),
        Default::Count(16),
        "sessions kept live at most; 0 is no cap",
    )
    .also("gateway.max_live_sessions"),
    Key::theirs(
        "max_concurrent_sessions",
        Count(0),
        Default::Unset,
        "sessions that may run turns at once, beside serve.max_parallel_turns; unset or 0 is no cap",
    )
    .also("gateway.max_concurrent_sessions"),
    Key::theirs(
        "cron.catch_up_missed",
        Flag,
        Default::Flag(true),
        "run a job once whose slot was missed beyond its grace",
    ),
    // Half of the jobs that run at once: those that are on time find room beside an outage's.
    Key::ours(
        "cron.max_catch_ups_per_tick",
        Count(0),
        Default::Count(4),
        "overdue jobs that one pass starts, after an outage; 0 is no cap",
    ),
    Key::theirs(
        "cron.max_parallel_jobs",
        Count(0),
        Default::Count(8),
        "jobs that run at once; 0 is no cap (Hermes Agent has none unless it is written)",
    )
    .variable("HERMES_CRON_MAX_PARALLEL"),
    Key::theirs(
        "cron.output_retention",
        Count(0),
        Default::Count(50),
        "outputs kept of each job; 0 keeps all",
    ),
    Key::theirs(
        "cron.completed_retention_days",
        Number(0.0),
        Default::Number(7.0),
        "days after which a finished one-shot is dropped; 0 keeps it",
    ),
    Key::theirs(
        "cron.script_timeout_seconds",
        Number(0.0),
        Default::Number(3600.0),
        "longest run of a script job; 0 is no limit",
    )
    .variable("HERMES_CRON_SCRIPT_TIMEOUT"),
    Key::theirs(
        "cron.cleanup_timeout_seconds",
        Number(0.0),
        Default::Number(10.0),
        "longest clean-up after a run of Hermes Agent, which alone reads it",
    ),
    Key::theirs(
        "cron.provider",
        Text,
        Default::Text(""),
        "what ticks: empty or builtin for the ticker; others are Hermes Agent's",
    ),
    Key::theirs(
        "cron.require_restart_safe_scope",
        Flag,
        Default::Flag(false),
        "refuse a job rather than run it where a restart kills it",
    ),
    Key::theirs(
        "cron.retry_unreachable",
        Flag,
        Default::Flag(true),
        "run a job again after 5, 15 and 30 minutes if its model was unreachable: Hermes Agent alone reads it",
    ),
    Key::theirs(
        "cron.failure_repeat_alert_hours",
        Number(0.0),
        Default::Number(6.0),
        "hours before the same failure is told again: Hermes Agent alone reads it",
    ),
    Key::ours(
        "cron.inactivity_timeout_seconds",
        Number(0.0),
        Default::Number(600.0),
        "longest silence of a job's agent, unless agent.inactivity_timeout is set; 0 is no limit",
    )
    .variable("HERMES_CRON_TIMEOUT"),
    Key::ours(
        "cron.inflight_max_minutes",
        Number(0.0),
        Default::Number(30.0),
        "minutes after which a run that nobody waits for counts as stuck: Hermes Agent alone reads it",
    )
    .variable("HERMES_CRON_INFLIGHT_MAX_MINUTES"),
    Key::ours(
        "cron.machine_id",
        Text,
        Default::Text(""),
        "name of this machine in claims; empty is host and pid",
    )
    .variable("HERMES_MACHINE_ID"),
    Key::theirs(
        "loops.min_interval_seconds",
        Number(5.0),
        Default::Number(30.0),
        "a shorter interval of a loop is raised to this",
    ),
    Key::theirs(
        "loops.max_ticks",
        Count(0),
        Default::Count(100),
        "ticks after which a loop pauses; 0 is no limit",
    ),
    Key::theirs(
        "loops.self_paced_floor_seconds",
        Number(10.0),
        Default::Number(60.0),
        "shortest pause of a self-paced loop",
    ),
    Key::theirs(
        "loops.self_paced_ceiling_seconds",
        Number(10.0),
        Default::Number(900.0),
        "longest pause of a self-paced loop",
    ),
    Key::ours(
        "loops.judge",
        Words,
        Default::Unset,
        "program and arguments that judge whether a loop's condition is met",
    ),
    Key::ours(
        "heartbeats.max_beats",
        Count(0),
        Default::Count(100),
        "beats without a message of the user after which a heartbeat pauses; 0 is no limit",
    ),
    Key::ours(
        "heartbeats.default_interval",
        Number(60.0),
        Default::Number(600.0),
        "seconds between beats where none are named",
    ),
    Key::ours(
        "heartbeats.default_prompt",
        Text,
        Default::Text("Report what changed since your last report."),
        "what a beat asks where nothing is named",
    ),
    Key::theirs(
        "goals.max_turns",
        Count(0),
        Default::Count(20),
        "turns that a goal may take",
    ),
    Key::theirs(
        "dashboard.ws_orphan_reap_grace_s",
        Number(0.0),
        Default::Number(20.0),
        "awake seconds from a lost client to the reaping of its session; 0 parks it for ever",
    )
    .variable("HERMES_TUI_WS_ORPHAN_REAP_GRACE_S"),
    Key::theirs(
        "dashboard.ws_orphan_activity_stale_s",
        Number(0.0),
        Default::Number(600.0),
        "seconds of silence after which a running turn no longer keeps an orphan; 0 never keeps it",
    )
    .variable("HERMES_TUI_WS_ORPHAN_ACTIVITY_STALE_S"),
    Key::theirs(
        "dashboard.startup_orphan_sweep",
        Flag,
        Default::Flag(true),
        "end sessions that a dead backend left open, at start",
    ),
    Key::theirs(
        "dashboard.ws_ping_interval",
        Number(0.0),
        Default::Number(20.0),
        "seconds between pings to clients that are not on this host",
    ),
    Key::theirs(
        "dashboard.ws_ping_timeout",
        Number(0.0),
        Default::Number(20.0),
        "seconds that such a client has to answer; 0 is no limit",
    ),
    Key::theirs(
        "gateway.multiplex_profiles",
        Flag,
        Default::Flag(true),
        "one gateway of Hermes Agent serves all profiles",
    ),
    Key::theirs(
        "agent.restart_drain_timeout",
        Number(0.0),
        Default::Number(0.0),
        "seconds that a stop leaves to turns of a chat",
    ),
    Key::theirs(
        "agent.cron_drain_timeout",
        Number(0.0),
        Default::Number(30.0),
        "seconds that a stop leaves to cron jobs; 0 leaves none",
    )
    .variable("HERMES_CRON_DRAIN_TIMEOUT"),
    Key::theirs(
        "agent.restart_after_turn_timeout",
        Number(0.0),
        Default::Number(1800.0),
        "seconds that a restart waits for active work",
    ),
    Key::theirs(
        "agent.turn_liveness.timeout_s",
        Number(0.0),
        Default::Number(600.0),
        "seconds of silence after which a turn counts as stuck",
    ),
    Key::ours(
        "agent.preset",
        Choice(&["hermes", "claude", "codex"]),
        Default::Unset,
        "an agent whose command line is known",
    ),
    Key::ours(
        "agent.command",
        Words,
        Default::Unset,
        "program and arguments of a first turn",
    ),
    Key::ours(
        "agent.resume",
        Words,
        Default::Unset,
        "program and arguments of a later turn",
    ),
    Key::ours(
        "agent.prompt",
        Choice(&["stdin", "argument", "file"]),
        Default::Unset,
        "how the prompt reaches the agent",
    ),
    Key::ours(
        "agent.answer",
        Choice(&["text", "text-session", "json-result", "json-lines"]),
        Default::Unset,
        "where the answer is in what it prints",
    ),
    Key::ours(
        "agent.timeout",
        Count(0),
        Default::Count(1800),
        "longest turn in seconds; 0 is no limit",
    ),
    Key::ours(
        "agent.inactivity_timeout",
        Count(0),
        Default::Count(600),
        "longest silence in seconds; 0 is no limit; where it is unset, a job's is cron.inactivity_timeout_seconds",
    ),
    Key::ours(
        "agent.env",
        Words,
        Default::Unset,
        "variables that the agent gets beside the usual ones",
    ),
    Key::theirs(
        "display.busy_input_mode",
        Choice(&["interrupt", "queue", "steer"]),
        Default::Text("interrupt"),
        "what a prompt does while a turn of Hermes Agent runs; here it waits for the end of the turn",
    ),
    Key::theirs(
        "kanban.dispatch_in_gateway",
        Flag,
        Default::Flag(true),
        "the gateway of Hermes Agent starts Kanban tasks",
    )
    .variable("HERMES_KANBAN_DISPATCH_IN_GATEWAY"),
    Key::theirs(
        "kanban.dispatch_interval_seconds",
        Number(1.0),
        Default::Number(60.0),
        "seconds between looks at the Kanban board",
    ),
    Key::ours(
        "serve.host",
        Text,
        Default::Text("127.0.0.1"),
        "address to listen at",
    ),
    Key::ours(
        "serve.port",
        Port,
        Default::Count(9119),
        "port to listen at; 0 takes a free one",
    ),
    Key::ours(
        "serve.token",
        Text,
        Default::Unset,
        "what clients must present; unset is a new one at each start",
    )
    .variable("HERMES_DASHBOARD_SESSION_TOKEN")
    .secret(),
    Key::ours(
        "serve.max_parallel_turns",
        Count(1),
        Default::Count(4),
        "turns of sessions that run at once",
    ),
    Key::ours("serve.cron", Flag, Default::Flag(true), "tick cron jobs"),
    Key::ours(
        "serve.passive",
        Flag,
        Default::Flag(false),
        "wait while another scheduler has the home, instead of refusing to start",
    ),
    Key::ours(
        "serve.session_ttl_seconds",
        Number(0.0),
        Default::Number(21600.0),
        "idle seconds after which a detached session is evicted; 0 is never",
    )
    .variable("HERMES_TUI_SESSION_TTL_S"),
    Key::ours(
        "serve.heartbeat_refresh_seconds",
        Number(0.0),
        Default::Number(60.0),
        "seconds between signs of life in the store; 0 gives one",
    )
    .variable("HERMES_GATEWAY_HEARTBEAT_REFRESH_S"),
];

/// Settings of Hermes Agent in sections where we look for misspelt names: known, not read.
pub const THEIR_OTHERS: &[&str] = &[
    "cron.session_db_timeout_seconds",
    "cron.media_send_timeout_seconds",
    "cron.misfire_grace_minutes",
    "cron.preflight",
    "cron.model",
    "cron.model_provider",
    "cron.wrap_response",
    "cron.mirror_delivery",
    "cron.delivery",
    "cron.allow_agent_scheduling",
    "cron.chronos",
    "dashboard.turn_isolation",
    "dashboard.compute_host_heartbeat_secs",
    "dashboard.compute_host_respawn_max",
    "agent.turn_liveness.poll_s",
    "kanban.failure_limit",
    "kanban.dispatch_stale_timeout_seconds",
    "kanban.max_in_progress",
    "kanban.max_in_progress_per_profile",
    "kanban.reconcile_orphans",
];
