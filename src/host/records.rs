//! The records by which serves and gateways name themselves, parsed. Pure; whether the process that
//! they name still lives is asked by the caller.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Deserialize;

use super::command;
use super::facts::Stopping;
use super::liveness::{BootMark, Identity};

/// A record as it stands in a file, before anybody looked for its process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Who.
    pub identity: Identity,
    /// The home that it names.
    pub home: Option<PathBuf>,
    /// Program and subcommand that it was started with; other arguments may be secret.
    pub command: Vec<String>,
    /// Its role, where it names one: `gateway`, `serve`, `desktop-serve`.
    pub role: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// Profiles that it serves.
    pub profiles: Vec<String>,
    /// `gateway_state`.
    pub state: Option<String>,
    /// `exit_reason`.
    pub exit_reason: Option<String>,
    /// It was told to stop.
    pub stopping: Option<Stopping>,
    /// When it was written, in seconds since 1970.
    pub updated_at: Option<f64>,
}

/// All names that these records use, of either program.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Raw {
    pid: Option<u32>,
    #[serde(alias = "startTime", alias = "start_ticks")]
    start_time: Option<serde_json::Value>,
    #[serde(alias = "createTime", alias = "create_time")]
    started_at: Option<f64>,
    #[serde(alias = "bootEpoch", alias = "boot")]
    boot_epoch: Option<String>,
    pid_namespace: Option<u64>,
    #[serde(alias = "home")]
    hermes_home: Option<PathBuf>,
    argv: Option<serde_json::Value>,
    role: Option<String>,
    #[serde(alias = "code_version")]
    version: Option<String>,
    #[serde(alias = "served_profiles")]
    profiles: Option<Vec<String>>,
    gateway_state: Option<String>,
    exit_reason: Option<String>,
    stopping: Option<Stopping>,
    #[serde(alias = "updatedAt")]
    updated_at: Option<String>,
}

/// Parses a record; a bare number is one too, as old gateways wrote it.
///
/// # Errors
/// A fragment that says what is wrong with it.
pub fn record(text: &str) -> Result<Record, String> {
    let text = text.trim().trim_start_matches('\u{feff}');
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    if let Ok(pid) = text.parse() {
        return Ok(Record {
            identity: Identity {
                pid,
                ..Identity::default()
            },
            ..Record::default()
        });
    }
    let raw: Raw = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let pid = raw.pid.filter(|pid| *pid > 0).ok_or("it names no pid")?;
    Ok(Record {
        identity: Identity {
            pid,
            start_ticks: raw.start_time.as_ref().and_then(ticks),
            started_at: raw.started_at,
            boot: raw.boot_epoch.as_deref().and_then(BootMark::parse),
            pid_namespace: raw.pid_namespace,
        },
        home: raw.hermes_home,
        command: raw.argv.as_ref().map(words).unwrap_or_default(),
        role: raw.role,
        version: raw.version,
        profiles: raw.profiles.unwrap_or_default(),
        state: raw.gateway_state,
        exit_reason: raw.exit_reason,
        stopping: raw.stopping,
        updated_at: raw
            .updated_at
            .and_then(|text| text.parse::<Timestamp>().ok())
            .map(|at| at.as_duration().as_secs_f64()),
    })
}

/// The first words of a command line.
fn words(argv: &serde_json::Value) -> Vec<String> {
    let words = argv.as_array().into_iter().flatten();
    let words: Vec<String> = words
        .filter_map(|word| Some(word.as_str()?.to_owned()))
        .collect();
    command::read(&words, None).map_or_else(Vec::new, |command| command.words)
}

/// Ticks are whole; some writers give them a fraction of zero.
fn ticks(value: &serde_json::Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let text = value.to_string();
        let (whole, fraction) = text.split_once('.')?;
        let zero = fraction.bytes().all(|byte| byte == b'0');
        zero.then(|| whole.parse().ok()).flatten()
    })
}

/// The starts of `gateway-starts.log`, one epoch a line, oldest first, the newest `most` of them.
#[must_use]
pub fn starts(text: &str, most: usize) -> Vec<f64> {
    let all: Vec<f64> = text
        .lines()
        .filter_map(|line| line.trim().parse().ok())
        .filter(|epoch: &f64| epoch.is_finite())
        .collect();
    let skip = all.len().saturating_sub(most);
    all.into_iter().skip(skip).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn records_of_a_gateway() {
        let text = r#"{"pid": 4242, "kind": "hermes-gateway", "argv": ["hermes"], "start_time": 100000, "hermes_home": "/h"}"#;
        let found = record(text).unwrap();
        assert_eq!(found.identity.pid, 4242);
        assert_eq!(found.identity.start_ticks, Some(100_000));
        assert_eq!(found.home, Some("/h".into()));
        let bare = record("4242\n").unwrap();
        assert_eq!(bare.identity.pid, 4242);
        assert_eq!(bare.identity.start_ticks, None);
    }

    #[test]
    fn state_of_a_gateway() {
        let text = r#"{"pid":7,"start_time":null,"gateway_state":"running","exit_reason":null,
            "updated_at":"2026-11-29T22:31:59.120912+00:00","code_version":"0.22.2.post1","served_profiles":["ops"]}"#;
        let found = record(text).unwrap();
        assert_eq!(found.state.as_deref(), Some("running"));
        assert_eq!(found.version.as_deref(), Some("0.22.2.post1"));
        assert_eq!(found.profiles, ["ops"]);
        assert!(found.updated_at.is_some_and(|at| at > 1.79e9));
    }

    #[test]
    fn host_record() {
        let text = r#"{"role":"gateway","home":"/h","pid":4242,"createTime":1795991512.66,"startTime":100000,
            "bootEpoch":"00000000-0000-0000-0000-000000000000:22","host":"","port":null,"profiles":["default"]}"#;
        let found = record(text).unwrap();
        assert_eq!(found.role.as_deref(), Some("gateway"));
        assert_eq!(found.identity.start_ticks, Some(100_000));
        assert_eq!(found.identity.boot.unwrap().init_start, Some(22));
        assert!(found.identity.started_at.is_some());
    }

    #[test]
    fn what_is_no_record_says_why() {
        assert_eq!(record(" \n").unwrap_err(), "it is empty");
        assert_eq!(record("{}").unwrap_err(), "it names no pid");
        assert_eq!(record("{\"pid\": 0}").unwrap_err(), "it names no pid");
        assert!(record("{\"pid\": ").unwrap_err().contains("line 1"));
    }

    #[test]
    fn the_newest_starts_are_kept() {
        assert_eq!(starts("1.5\njunk\n2\n3.5\nnan\n", 2), [2.0, 3.5]);
        assert!(starts("", 2).is_empty());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,80}", number in any::<f64>()) {
            drop((record(&text), starts(&text, 3)));
            drop(record(&format!("{{\"pid\":1,\"start_time\":{number:?},\"updated_at\":{text:?}}}")));
        }
    }
}
