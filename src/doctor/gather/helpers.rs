//! `spawn-ledger.json`: the helper processes that a backend started, and who started them.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::files;
use crate::doctor::evidence::home::Helper;
use crate::doctor::evidence::read::{Read, Trouble};
use crate::host::proc::key_bytes;

/// Entries that are looked at.
const MOST: usize = 500;

#[derive(Deserialize)]
struct Entry {
    pid: u32,
    create_time: Option<f64>,
    purpose: Option<String>,
    spawner_pid: Option<u32>,
    spawner_create: Option<f64>,
}

/// Reads the ledger of helpers of a home.
pub(super) fn look(path: &Path) -> Read<Vec<Helper>> {
    files::text(path).and_then(|text| {
        let entries: Vec<Value> = serde_json::from_str(&text)
            .map_err(|error| Trouble::damaged("not-json", error.to_string()))?;
        let entries = entries.into_iter().take(MOST);
        // One that is odd stands for nothing, and stops no other.
        let known = entries.filter_map(|entry| serde_json::from_value(entry).ok());
        Ok(known.map(helper).collect())
    })
}

fn helper(entry: Entry) -> Helper {
    Helper {
        pid: entry.pid,
        started_at: entry.create_time,
        purpose: entry.purpose.unwrap_or_default(),
        spawner: entry.spawner_pid.map(|pid| (pid, entry.spawner_create)),
        resident: resident(entry.pid),
    }
}

/// What a process has in memory, in bytes.
fn resident(pid: u32) -> Option<u64> {
    let status = files::text(Path::new(&format!("/proc/{pid}/status")));
    key_bytes(status.got()?, "VmRSS")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_and_their_spawners_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("spawn-ledger.json");
        assert!(look(&path).is_absent());
        let pid = std::process::id();
        let text = format!(
            r#"[5, {{"pid": {pid}, "create_time": 1.5, "purpose": "slash", "spawner_pid": 7, "spawner_create": null, "argv": ["x"]}}]"#
        );
        std::fs::write(&path, text).unwrap();
        let helpers = look(&path);
        let helper = &helpers.got().unwrap()[0];
        assert_eq!((helper.pid, helper.spawner), (pid, Some((7, None))));
        assert!(helper.resident.is_some_and(|bytes| bytes > 0));
        std::fs::write(&path, "{}").unwrap();
        assert_eq!(look(&path).trouble().unwrap().slug, "not-json");
    }
}
