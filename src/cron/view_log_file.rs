//! Follows the log of a run as it grows, and finds the document of one that has ended.

use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use super::output::{Folder, log_path};
use crate::error::{Error, Result};
use crate::files::{open_regular, read_regular};
use crate::home::Home;

/// Most that is read in one go.
const PIECE: u64 = 1 << 20;
/// Documents of a job that are looked through for the one of a run.
const LOOKED_THROUGH: usize = 500;
/// The head of a document, which names its run.
const HEAD: u64 = 2048;
/// Longest document that is read as a whole, in bytes.
const LONGEST_DOCUMENT: u64 = 64 << 20;

/// A log that is followed.
#[derive(Debug)]
pub struct Follower {
    /// None for an id that can have no log.
    path: Option<PathBuf>,
    offset: u64,
    /// The start of a character whose rest has not come yet.
    rest: Vec<u8>,
}

impl Follower {
    /// Follows the log of an execution from its start. It need not be there yet.
    #[must_use]
    pub fn of(home: &Home, execution_id: &str) -> Self {
        Self {
            path: log_path(home, execution_id),
            offset: 0,
            rest: Vec::new(),
        }
    }

    /// Whether there is a log.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.path.as_ref().is_some_and(|path| path.is_file())
    }

    /// What has come since the last call; empty where nothing has.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn more(&mut self) -> Result<String> {
        let Some(path) = &self.path else {
            return Ok(String::new());
        };
        let failed = |error| Error::io(format!("failed to read {}", path.display()), error);
        let mut file = match open_regular(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(failed(error)),
        };
        file.seek(SeekFrom::Start(self.offset)).map_err(failed)?;
        let mut bytes = std::mem::take(&mut self.rest);
        let held = bytes.len();
        file.take(PIECE).read_to_end(&mut bytes).map_err(failed)?;
        self.offset += (bytes.len() - held) as u64;
        let whole = whole_characters(&bytes);
        self.rest = bytes.split_off(whole);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// All that is left, once nothing more comes.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn all(&mut self) -> Result<String> {
        let mut text = String::new();
        loop {
            let more = self.more()?;
            if more.is_empty() {
                break;
            }
            text.push_str(&more);
        }
        let rest = std::mem::take(&mut self.rest);
        text.push_str(&String::from_utf8_lossy(&rest));
        Ok(text)
    }
}

/// How many bytes there are before a character that is not complete.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        // What is no UTF-8 at all is shown as such; only the end may be waiting for its rest.
        Err(_) => {
            let start = bytes.len().saturating_sub(3);
            let tail = bytes.get(start..).unwrap_or_default();
            let lead = tail.iter().rposition(|byte| *byte >= 0xc0);
            lead.map_or(bytes.len(), |lead| {
                let open = tail.get(lead..).unwrap_or_default();
                let waits = std::str::from_utf8(open).is_err_and(|e| e.error_len().is_none());
                if waits { start + lead } else { bytes.len() }
            })
        }
    }
}

/// The document that a run of this job left, by the id that it names.
#[must_use]
pub fn document_of(home: &Home, job_id: &str, execution_id: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(Folder::of(home, job_id)?.path()).ok()?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort_unstable_by(|left, right| right.cmp(left));
    let line = format!("- execution: {execution_id}");
    paths.into_iter().take(LOOKED_THROUGH).find(|path| {
        let mut head = Vec::new();
        let read = open_regular(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
        read.is_ok()
            && String::from_utf8_lossy(&head)
                .lines()
                .take_while(|text| *text != "---")
                .any(|text| text == line)
    })
}

/// What the document of a run says of its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The document.
    pub path: PathBuf,
    /// What went wrong; `None`: it did what was asked.
    pub error: Option<String>,
    /// Digest of what a monitor has seen and dealt with.
    pub monitor_digest: Option<String>,
    /// What the run printed, or answered.
    pub body: String,
}

/// What a run has saved; `None`: it did not come to its end, or its document is gone.
#[must_use]
pub fn saved_of(home: &Home, job_id: &str, execution_id: &str) -> Option<Saved> {
    let path = document_of(home, job_id, execution_id)?;
    let text = String::from_utf8_lossy(&read_regular(&path, LONGEST_DOCUMENT).ok()?).into_owned();
    let (head, body) = text.split_once("\n---\n\n")?;
    let said = |what: &str| head.lines().find_map(|line| line.strip_prefix(what));
    let outcome = said("- outcome: ")?;
    let monitor_digest = said("- monitor: ").map(str::to_owned);
    let body = body.strip_suffix('\n').unwrap_or(body).to_owned();
    let error = (outcome != "ok").then(|| outcome.to_owned());
    Some(Saved {
        path,
        error,
        monitor_digest,
        body,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cron::output::{Document, Log};

    #[test]
    fn a_log_is_read_as_it_grows_and_no_character_is_torn() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let mut follower = Follower::of(&home, "e1");
        assert!(!follower.exists());
        assert_eq!(follower.more().unwrap(), "");
        let mut log = Log::begin(&home, "e1").unwrap();
        log.add(b"gr\xc3");
        assert_eq!(follower.more().unwrap(), "gr");
        log.add(b"\xb6\xc3\x9fe\n\xff!");
        assert_eq!(follower.more().unwrap(), "öße\n\u{fffd}!");
        log.add(b"\xff \xe2\x82");
        assert_eq!(follower.more().unwrap(), "\u{fffd} ");
        assert_eq!(follower.all().unwrap(), "\u{fffd}");
    }

    #[test]
    fn what_a_run_has_saved_is_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let at = "2026-06-17T10:00:00Z".parse().unwrap();
        for (id, outcome) in [("e1", "ok"), ("e2", "exited with code 3")] {
            let document = Document {
                job_id: "a1",
                name: "n",
                execution_id: id,
                mode: "scoped",
                outcome,
                seconds: 1,
                monitor_digest: Some("0a1b"),
                body: "one\n\n---\n\n- outcome: no\ntwo\n",
            };
            document
                .save(&home, 0, at, &jiff::tz::TimeZone::UTC)
                .unwrap();
            let saved = saved_of(&home, "a1", id).unwrap();
            let error = (outcome != "ok").then(|| outcome.to_owned());
            assert_eq!(saved.error, error);
            assert_eq!(saved.monitor_digest.as_deref(), Some("0a1b"));
            assert_eq!(saved.body, "one\n\n---\n\n- outcome: no\ntwo");
        }
        assert_eq!(saved_of(&home, "a1", "e3"), None);
    }

    #[test]
    fn a_document_is_found_by_the_run_that_it_names() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let output = home.join("cron/output/a1");
        std::fs::create_dir_all(&output).unwrap();
        std::fs::write(output.join("1.md"), "# x\n\n- execution: e1\n").unwrap();
        std::fs::write(
            output.join("2.md"),
            "# x\n\n- execution: e2\n\n- execution: e1x",
        )
        .unwrap();
        assert_eq!(document_of(&home, "a1", "e1"), Some(output.join("1.md")));
        assert_eq!(document_of(&home, "a1", "e3"), None);
        assert_eq!(document_of(&home, "../a1", "e1"), None);
    }
}
