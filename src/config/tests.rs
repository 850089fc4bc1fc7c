//! Layers, files and settings together.

use std::path::Path;
use std::time::Duration;

use super::*;
use crate::home::Home;

fn nothing(_: &str) -> Option<String> {
    None
}

fn home(yaml: Option<&str>, toml: Option<&str>) -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("config.yaml", yaml), ("config.toml", toml)] {
        if let Some(text) = text {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
    }
    let home = Home::at(dir.path());
    (dir, home)
}

#[test]
fn each_layer_lies_over_the_ones_before_and_knows_its_place() {
    let yaml = "cron:\n  max_parallel_jobs: 2\n  output_retention: 5\nloops:\n  max_ticks: 7\n";
    let toml = "[cron]\nmax_parallel_jobs = 3\n\n[serve]\nport = 1000\n";
    let (_dir, home) = home(Some(yaml), Some(toml));
    let environment = |name: &str| (name == "HERMES_CRON_MAX_PARALLEL").then(|| "4".to_owned());
    let flags = [("serve.port", "2000".to_owned())];
    let config = Config::load(&home, &environment, &flags);
    assert_eq!(config.problems(), []);
    let jobs = config.get("cron.max_parallel_jobs").unwrap();
    assert_eq!(jobs.current.value, Value::Count(4));
    assert_eq!(
        jobs.current.origin.name.as_deref(),
        Some("HERMES_CRON_MAX_PARALLEL")
    );
    let below: Vec<_> = jobs
        .overridden
        .iter()
        .map(|s| (s.origin.source, s.value.clone()))
        .collect();
    assert_eq!(
        below,
        [
            (Source::Toml, Value::Count(3)),
            (Source::Yaml, Value::Count(2)),
            (Source::Default, Value::Count(8)),
        ]
    );
    let retention = &config.get("cron.output_retention").unwrap().current.origin;
    assert_eq!(
        retention.file.as_deref(),
        Some(home.join("config.yaml").as_path())
    );
    assert_eq!(retention.at.unwrap().line, 3);
    assert_eq!(
        config.get("serve.port").unwrap().current.origin.source,
        Source::Flag
    );
    let settings = Settings::of(&config);
    assert_eq!(settings.serve.port, 2000);
    assert_eq!(settings.loops.max_ticks, Some(7));
}

#[test]
fn the_defaults_are_what_the_documents_say() {
    let settings = Settings::default();
    assert_eq!(settings.cron.max_parallel_jobs, Some(8));
    assert!(settings.cron.catch_up_missed && settings.cron.builtin_provider);
    assert_eq!(
        settings.cron.completed_retention,
        Some(Duration::from_secs(7 * 86_400))
    );
    assert_eq!(settings.sessions.max_live, Some(16));
    assert_eq!(
        settings.sessions.orphan_grace,
        Some(Duration::from_secs(20))
    );
    assert_eq!(
        settings.sessions.idle_ttl,
        Some(Duration::from_secs(6 * 3600))
    );
    assert_eq!(settings.heartbeats.max_beats, Some(100));
    assert_eq!(settings.loops.self_paced_ceiling, Duration::from_secs(900));
    assert_eq!(settings.serve.port, 9119);
    assert!(!settings.heartbeats.default_prompt.is_empty());
    assert!(settings.serve.cron && !settings.serve.passive);
}

#[test]
fn zeros_lift_limits_and_pairs_agree() {
    let yaml = "max_live_sessions: 0\ncron: {max_parallel_jobs: 0, output_retention: -3}\n\
                loops: {min_interval_seconds: 1, self_paced_floor_seconds: 2000}\n\
                dashboard: {ws_orphan_reap_grace_s: -1}\n";
    let (_dir, home) = home(Some(yaml), None);
    let config = Config::load(&home, &nothing, &[]);
    let raised: Vec<_> = config
        .problems()
        .iter()
        .filter(|problem| problem.kind == ProblemKind::Raised)
        .map(|problem| problem.message.as_str())
        .collect();
    assert_eq!(
        raised,
        [
            "cron.output_retention is -3, and counts as 0",
            "loops.min_interval_seconds is 1, and counts as 5",
            "dashboard.ws_orphan_reap_grace_s is -1, and counts as 0",
        ]
    );
    let settings = Settings::of(&config);
    assert_eq!(settings.sessions.max_live, None);
    assert_eq!(settings.cron.max_parallel_jobs, None);
    assert_eq!(settings.cron.output_retention, None);
    assert_eq!(settings.sessions.orphan_grace, None);
    assert_eq!(settings.loops.min_interval, Duration::from_secs(5));
    assert_eq!(settings.loops.self_paced_ceiling, Duration::from_secs(2000));
}

#[test]
fn another_name_counts_where_the_first_is_not_written() {
    let (_dir, first) = home(Some("gateway: {max_live_sessions: 3}"), None);
    let config = Config::load(&first, &nothing, &[]);
    assert_eq!(config.count("max_live_sessions"), Some(3));
    let both = "max_live_sessions: 4\ngateway: {max_live_sessions: 3}";
    let (_dir, second) = home(Some(both), None);
    assert_eq!(
        Config::load(&second, &nothing, &[]).count("max_live_sessions"),
        Some(4)
    );
}

#[test]
fn a_broken_file_is_a_problem_and_stops_nothing() {
    let (_dir, home) = home(
        Some("cron: [1\nx: 2\n"),
        Some("[serve]\nport = 5\nprot = 6\n"),
    );
    let config = Config::load(&home, &nothing, &[]);
    let kinds: Vec<_> = config.problems().iter().map(|p| p.kind).collect();
    assert_eq!(kinds, [ProblemKind::Unparsable, ProblemKind::Unknown]);
    assert_eq!(config.problems()[0].at.unwrap().line, 2);
    assert_eq!(config.count("serve.port"), Some(5));
    let states: Vec<_> = config.files().iter().map(|file| file.state).collect();
    assert_eq!(states, [State::Failed, State::Read]);
}

#[test]
fn an_unreadable_file_is_not_an_absent_one() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("config.yaml")).unwrap();
    std::fs::write(dir.path().join("config.toml"), [0xff, 0xfe]).unwrap();
    let config = Config::load(&Home::at(dir.path()), &nothing, &[]);
    let kinds: Vec<_> = config.problems().iter().map(|p| p.kind).collect();
    assert_eq!(kinds, [ProblemKind::Unreadable, ProblemKind::Unreadable]);
    let empty = tempfile::tempdir().unwrap();
    let config = Config::load(&Home::at(empty.path()), &nothing, &[]);
    assert_eq!(config.problems(), []);
    assert!(
        config
            .files()
            .iter()
            .all(|file| file.state == State::Absent)
    );
}

#[test]
fn an_ill_typed_value_is_named_and_the_layer_below_counts() {
    let yaml = "cron:\n  catch_up_missed: 'false'\n  output_retention: many\n";
    let (_dir, home) = home(Some(yaml), None);
    let environment = |name: &str| (name == "HERMES_CRON_TIMEOUT").then(|| "hunter2".to_owned());
    let config = Config::load(&home, &environment, &[]);
    let told: Vec<_> = config
        .problems()
        .iter()
        .map(|p| p.message.as_str())
        .collect();
    assert_eq!(
        told,
        [
            "cron.catch_up_missed is text, not true or false",
            "cron.output_retention is text, not a whole number",
            "HERMES_CRON_TIMEOUT is text, not a number",
        ]
    );
    assert_eq!(config.problems()[0].at.unwrap().line, 2);
    assert!(config.flag("cron.catch_up_missed"));
    assert_eq!(config.count("cron.output_retention"), Some(50));
    assert!(!format!("{:?}", config.problems()).contains("hunter2"));
}

#[test]
fn a_section_of_ours_is_handed_to_its_room() {
    let toml = "[agent]\npreset = \"claude\"\nenv = [\"A_*\"]\ntimeout = 60\n";
    let yaml = "agent: {preset: 7, restart_drain_timeout: 9}";
    let (_dir, home) = home(Some(yaml), Some(toml));
    let config = Config::load(&home, &nothing, &[]);
    assert_eq!(config.problems(), []);
    let section = serde_json::Value::Object(config.section("agent"));
    assert_eq!(
        section,
        serde_json::json!({"preset": "claude", "timeout": 60, "env": ["A_*"]})
    );
}

#[test]
fn dot_env_files_lie_over_the_environment_of_a_process() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    let shell = || -> dotenv::Environment {
        [("HERMES_TIMEZONE".to_owned(), "UTC".to_owned())]
            .into_iter()
            .collect()
    };
    assert_eq!(shell().under_home(&home).unwrap(), shell());
    std::fs::write(dir.path().join(".env"), "HERMES_TIMEZONE=Europe/Berlin\n").unwrap();
    std::fs::write(
        dir.path().join(".op.env"),
        "HERMES_TIMEZONE=Asia/Tokyo\nX=1\n",
    )
    .unwrap();
    let laid = shell().under_home(&home).unwrap();
    assert_eq!(laid.get("HERMES_TIMEZONE"), Some("Europe/Berlin"));
    assert_eq!(laid.get("X"), Some("1"));
    std::fs::write(dir.path().join(".env"), "OP_SERVICE_ACCOUNT_TOKEN=t\n").unwrap();
    assert_eq!(shell().under_home(&home).unwrap().get("X"), None);
    std::fs::remove_file(dir.path().join(".env")).unwrap();
    std::fs::create_dir(dir.path().join(".env")).unwrap();
    assert!(shell().under_home(&home).is_err());
}

#[test]
fn the_sample_home_has_no_problems() {
    let yaml = "timezone: Europe/Berlin\ncron:\n  catch_up_missed: true\n  output_retention: 50\n\
                loops:\n  min_interval_seconds: 30\n  max_ticks: 100\ndashboard:\n  \
                ws_orphan_reap_grace_s: 20\n  startup_orphan_sweep: true\nmax_live_sessions: 16\n";
    let layer = Layer::of_text(layer::Format::Yaml, Path::new("config.yaml"), yaml);
    assert_eq!(layer.problems, []);
    assert_eq!(layer.written.len(), 8);
}

#[test]
fn a_file_that_is_far_too_large_is_a_problem_and_not_read_in_part() {
    let text = format!(
        "[cron]\nmax_parallel_jobs = 3\n{}",
        "# a line\n".repeat(500_000)
    );
    let (_dir, home) = home(None, Some(&text));
    let config = Config::load(&home, &nothing, &[]);
    assert_eq!(config.count("cron.max_parallel_jobs"), Some(8));
    assert_eq!(config.files()[1].state, State::Failed);
    assert!(config.problems()[0].message.contains("larger than"));
}
