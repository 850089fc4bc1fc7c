//! The files of a gateway, and the account's registry of running programs.

use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;

use super::{files, markers};
use crate::doctor::evidence::gateway::{GatewayFiles, GatewayState, HostRecord, PidRecord};
use crate::doctor::evidence::read::Trouble;
use crate::home::Home;

/// How many starts are kept: the newest tell of a restart loop.
const STARTS: usize = 64;

/// Reads the gateway's files of this home, and the entries of the registry that name it.
pub(super) fn look(home: &Home, registry: Option<&Path>) -> GatewayFiles {
    GatewayFiles {
        pid: files::text(&home.join("gateway.pid")).and_then(|text| pid_record(&text)),
        lock: files::text(&home.join("gateway.lock")).and_then(|text| pid_record(&text)),
        state: files::text(&home.join("gateway_state.json")).and_then(|text| state(&text)),
        starts: starts(&home.join("gateway-starts.log")),
        hosts: registry.map_or_else(Vec::new, |registry| hosts(registry, home)),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Record {
    pid: u32,
    start_time: Option<u64>,
    kind: Option<String>,
    hermes_home: Option<String>,
    gateway_state: Option<String>,
    updated_at: Option<String>,
    code_version: Option<String>,
    exit_reason: Option<String>,
    served_profiles: Option<Vec<String>>,
}

impl Record {
    fn read(text: &str) -> Result<Self, Trouble> {
        serde_json::from_str(text).map_err(|error| json_trouble(&error))
    }

    fn who(&mut self) -> PidRecord {
        PidRecord {
            pid: self.pid,
            start_ticks: self.start_time,
            kind: self.kind.take(),
            home: self.hermes_home.take(),
        }
    }
}

/// What `serde_json` found wrong, with its place.
pub(super) fn json_trouble(error: &serde_json::Error) -> Trouble {
    let slug = match error.classify() {
        serde_json::error::Category::Eof => "truncated",
        serde_json::error::Category::Data => "wrong-shape",
        _ => "not-json",
    };
    let text = error.to_string();
    // The place is kept apart from the words.
    let what = text.split(" at line ").next().unwrap_or_default();
    Trouble::damaged(slug, what).at(error.line(), error.column())
}

fn pid_record(text: &str) -> Result<PidRecord, Trouble> {
    if let Ok(pid) = text.trim().parse() {
        return Ok(PidRecord {
            pid,
            ..PidRecord::default()
        });
    }
    Ok(Record::read(text)?.who())
}

fn state(text: &str) -> Result<GatewayState, Trouble> {
    let mut record = Record::read(text)?;
    Ok(GatewayState {
        who: record.who(),
        state: record.gateway_state,
        updated_at: record.updated_at.and_then(|at| at.parse().ok()),
        version: record.code_version,
        exit_reason: record.exit_reason,
        served_profiles: record.served_profiles.unwrap_or_default(),
    })
}

fn starts(log: &Path) -> Vec<Timestamp> {
    let text = files::text(log);
    let lines = text.got().map(String::as_str).unwrap_or_default().lines();
    let mut newest: Vec<Timestamp> = lines
        .rev()
        .take(STARTS)
        .filter_map(|line| markers::epoch(line.trim()).ok())
        .collect();
    newest.reverse();
    newest
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Host {
    role: String,
    home: String,
    pid: u32,
    start_time: Option<u64>,
    boot_epoch: Option<String>,
    #[serde(default)]
    profiles: Vec<String>,
    updated_at: Option<String>,
}

fn hosts(registry: &Path, home: &Home) -> Vec<HostRecord> {
    let ours = [home.path().to_path_buf(), home.root().path().to_path_buf()];
    ["gateway", "serve", "desktop-serve"]
        .iter()
        .filter_map(|role| {
            let text = files::text(&registry.join(format!("host-{role}.json")));
            let host: Host = serde_json::from_str(text.got()?).ok()?;
            let record = HostRecord {
                role: host.role,
                boot: host.boot_epoch,
                profiles: host.profiles,
                updated_at: host.updated_at.and_then(|at| at.parse().ok()),
                who: PidRecord {
                    pid: host.pid,
                    start_ticks: host.start_time,
                    kind: None,
                    home: Some(host.home),
                },
            };
            let names = record.who.home.as_deref().map(Path::new);
            names
                .is_some_and(|named| ours.iter().any(|path| path == named))
                .then_some(record)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_file_is_a_number_or_a_record() {
        assert_eq!(pid_record(" 42\n").unwrap().pid, 42);
        let text =
            r#"{"pid": 4242, "kind": "hermes-gateway", "start_time": 100000, "hermes_home": "/h"}"#;
        let record = pid_record(text).unwrap();
        assert_eq!(record.start_ticks, Some(100_000));
        assert_eq!(record.home.as_deref(), Some("/h"));
        let trouble = pid_record("{\n\"pid\": ").unwrap_err();
        assert_eq!((trouble.slug, trouble.at), ("truncated", Some((2, 7))));
        assert_eq!(
            pid_record("{\"pid\": \"x\"}").unwrap_err().slug,
            "wrong-shape"
        );
    }

    #[test]
    fn only_entries_of_this_home_count() {
        let dir = tempfile::tempdir().unwrap();
        let text = r#"{"role":"gateway","home":"/h","pid":7,"startTime":1,"bootEpoch":"b:22","profiles":["default"]}"#;
        std::fs::write(dir.path().join("host-gateway.json"), text).unwrap();
        assert_eq!(hosts(dir.path(), &Home::at("/h"))[0].who.pid, 7);
        assert_eq!(hosts(dir.path(), &Home::at("/h/profiles/ops")).len(), 1);
        assert!(hosts(dir.path(), &Home::at("/other")).is_empty());
    }
}
