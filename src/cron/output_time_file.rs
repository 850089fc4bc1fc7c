//! Documents that name no run, as Hermes Agent leaves them: found by the time in their names, which is the wall
//! clock of whoever wrote them.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::output::Folder;
use crate::files::open_regular;
use crate::home::Home;
use crate::ledger::Execution;

/// How many characters of a name, or of a stamp, are a time to the second.
const SECOND: usize = "2026-06-17T10:00:00".len();
/// The head of a document, which names its run where ours wrote it.
const HEAD: u64 = 2048;

/// The documents of the job that were written while this run went on, by the same clock: the row has it too.
#[must_use]
pub fn during(home: &Home, run: &Execution) -> Vec<PathBuf> {
    let begun = run.claimed_at.as_ref().or(run.started_at.as_ref());
    let stamps = begun.zip(run.finished_at.as_ref());
    let Some((from, to)) =
        stamps.and_then(|(from, to)| Some((second(&from.text)?, second(&to.text)?)))
    else {
        return Vec::new();
    };
    let mut found = documents(home, &run.job_id);
    found.retain(|(name, _)| (from.as_str()..=to.as_str()).contains(&name.as_str()));
    found.retain(|(_, path)| !names_a_run(path));
    found.into_iter().map(|(_, path)| path).collect()
}

/// The newest document of a job.
#[must_use]
pub fn newest(home: &Home, job_id: &str) -> Option<PathBuf> {
    documents(home, job_id).pop().map(|(_, path)| path)
}

/// All documents of a job with the times of their names, the oldest first.
fn documents(home: &Home, job_id: &str) -> Vec<(String, PathBuf)> {
    let folder = Folder::of(home, job_id);
    let entries = folder.and_then(|folder| std::fs::read_dir(folder.path()).ok());
    let paths = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let mut found: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .filter_map(|path| Some((second(path.file_stem()?.to_str()?)?, path)))
        .collect();
    found.sort_unstable();
    found
}

/// A time to the second, spelt as the names of documents have it.
fn second(text: &str) -> Option<String> {
    let text = text.get(..SECOND)?;
    let spelt: String = text
        .chars()
        .enumerate()
        .map(|(place, letter)| match (place, letter) {
            (10, 'T' | ' ' | '_') => '_',
            (13 | 16, ':' | '-') => '-',
            _ => letter,
        })
        .collect();
    let plain = |letter: char| letter.is_ascii_digit() || letter == '-' || letter == '_';
    spelt.chars().all(plain).then_some(spelt)
}

fn names_a_run(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = open_regular(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head);
    let mut lines = head.lines().take_while(|line| *line != "---");
    read.is_err() || lines.any(|line| line.starts_with("- execution: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_spelt_as_names_have_it() {
        let name = Some("2026-11-29_23-39-57".to_owned());
        assert_eq!(second("2026-11-29T23:39:57.776663+01:00"), name);
        assert_eq!(second("2026-11-29 23:39:57"), name);
        assert_eq!(second("2026-11-29_23-39-57_2"), name);
        assert_eq!(second("notes"), None);
        assert_eq!(second("a long name of a note"), None);
    }
}
