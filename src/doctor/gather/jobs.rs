//! Reads `cron/jobs.json` for the doctor, with the same eyes as everybody else (`cron::jobs_text`), and
//! keeps of each job the few fields that a check asks for.

mod view;

use std::path::Path;

use super::files;
use crate::cron::jobs_text::{ErrorKind, JobsText, JobsTextError, ShapeNote};
use crate::doctor::evidence::jobs::{Backup, Job, JobStore};
use crate::doctor::evidence::read::{Read, Trouble};

/// Far above any store that could still be ticked.
const LARGEST: u64 = 256 << 20;
/// Copies that are looked at.
const COPIES: usize = 8;

/// Reads the store.
pub(super) fn look(path: &Path) -> Read<JobStore> {
    read(text(path))
}

/// The text of the store, yet to be read.
pub(super) fn text(path: &Path) -> Read<Vec<u8>> {
    files::bytes(path, LARGEST)
}

/// Reads the text of a store.
pub(super) fn read(text: Read<Vec<u8>>) -> Read<JobStore> {
    text.and_then(|bytes| parse(&bytes))
}

fn parse(bytes: &[u8]) -> Result<JobStore, Trouble> {
    let text = JobsText::new(bytes).map_err(|error| trouble(&error))?;
    let read = text.kept::<Job>().map_err(|error| trouble(&error))?;
    let mut store = JobStore {
        jobs: read.jobs,
        ..JobStore::default()
    };
    for note in read.notes {
        match note {
            ShapeNote::Dropped(count) => store.dropped = count,
            odd => store.oddities.push(odd),
        }
    }
    Ok(store)
}

fn trouble(error: &JobsTextError) -> Trouble {
    let slug = match error.kind {
        ErrorKind::Empty => "empty",
        ErrorKind::Encoding => "not-utf-8",
        ErrorKind::Truncated => "truncated",
        ErrorKind::Syntax => "not-json",
        ErrorKind::Shape => "wrong-shape",
    };
    Trouble::damaged(slug, error.what.clone()).at(error.line, error.column)
}

/// Copies of the store beside it, the newest first: what an editor, a person or a helper left.
pub(super) fn backups(cron: &Path) -> Vec<Backup> {
    let Ok(entries) = std::fs::read_dir(cron) else {
        return Vec::new();
    };
    let mut found: Vec<(jiff::Timestamp, String)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_copy = name.starts_with("jobs.json") && name != "jobs.json";
            let is_rest = name.starts_with(".jobs_");
            if !(is_copy || is_rest) {
                return None;
            }
            let stat = *files::stat(&entry.path()).got()?;
            Some((stat.modified, name))
        })
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.truncate(COPIES);
    found
        .into_iter()
        .filter_map(|(modified, name)| {
            let jobs = match look(&cron.join(&name)) {
                Read::Got(store) => Ok(store.jobs.len()),
                Read::Unreadable(trouble) => Err(trouble),
                Read::Absent => return None,
            };
            Some(Backup {
                name,
                modified,
                jobs,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests;
