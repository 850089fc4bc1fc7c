//! What external workers left in `cron/external-workers`: payloads, acknowledgements, last words.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::files;
use crate::doctor::evidence::Read;
use crate::doctor::evidence::home::WorkerFiles;

/// Executions that are looked at.
const MOST: usize = 200;

#[derive(Deserialize)]
struct Payload {
    profile_home: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Ready {
    pid: Option<u32>,
}

/// Reads what lies in this directory.
pub(super) fn look(directory: &Path) -> Read<Vec<WorkerFiles>> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => return files::failed(&error),
    };
    let mut found: BTreeMap<String, WorkerFiles> = BTreeMap::new();
    for entry in entries.flatten() {
        let path = entry.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let ending = path.extension().and_then(|ending| ending.to_str());
        let (Some(stem), Some(ending)) = (stem, ending) else {
            continue;
        };
        if found.len() >= MOST && !found.contains_key(stem) {
            break;
        }
        let worker = found.entry(stem.to_owned()).or_default();
        stem.clone_into(&mut worker.execution);
        let modified = files::stat(&path).got().map(|stat| stat.modified);
        worker.modified = worker.modified.max(modified);
        let text = files::text(&path);
        let text = text.got().map(String::as_str).unwrap_or_default();
        match ending {
            "json" => {
                worker.payload = true;
                let payload = serde_json::from_str::<Payload>(text).ok();
                worker.home = payload.and_then(|payload| payload.profile_home);
            }
            "ready" => {
                let ready = serde_json::from_str::<Ready>(text).ok();
                worker.pid = ready.and_then(|ready| ready.pid);
            }
            "stderr" => {
                let last = text.lines().rev().find(|line| !line.trim().is_empty());
                worker.last_words = last.map(|line| line.trim().to_owned());
            }
            _ => {}
        }
    }
    Read::Got(found.into_values().collect())
}
