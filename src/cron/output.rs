//! What runs print: a document for each run in `cron/output/<job>/`, where the other program keeps
//! its own, and while it runs a log that can be followed.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::job_id::FileName;
use crate::error::{Error, Kind, Result};
use crate::files::{Replace, make_private};
use crate::home::Home;
use crate::output::human;

/// Longest log of one run, in bytes. What comes after is counted, not kept.
pub const LONGEST_LOG: u64 = 8 << 20;
/// Newest logs that are kept.
const LOGS: usize = 200;

/// The folder in which the documents of one job are.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// `None` for an id that would lead out of `cron/output`.
    #[must_use]
    pub fn of(home: &Home, job_id: &str) -> Option<Self> {
        let name = FileName::of(job_id)?;
        Some(Self(home.join("cron/output").join(name)))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Removes all but the newest documents. What has another name than a document stays, and so does
    /// everything behind a link, which may be anybody's.
    fn keep_newest(&self, kept: usize) {
        let own = std::fs::symlink_metadata(&self.0).is_ok_and(|meta| meta.is_dir());
        if own {
            drop_oldest(&self.0, kept, is_document);
        }
    }
}

/// Whether a document has this name: `2026-06-17_10-00-00.md`, perhaps with a number or an id behind
/// the time.
fn is_document(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".md") else {
        return false;
    };
    let mut bytes = stem.bytes();
    let shaped = TIME_SHAPE.bytes().all(|shape| match (shape, bytes.next()) {
        (b'0', Some(digit)) => digit.is_ascii_digit(),
        (other, found) => found == Some(other),
    });
    shaped && matches!(bytes.next(), None | Some(b'_'))
}

/// The time in the name of a document: each `0` is any digit.
const TIME_SHAPE: &str = "0000-00-00_00-00-00";

/// What the document of a run says.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    /// The job.
    pub job_id: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The execution.
    pub execution_id: &'a str,
    /// The dispatch mode.
    pub mode: &'a str,
    /// How it ended, in words: `ok`, or what went wrong.
    pub outcome: &'a str,
    /// Seconds that it took.
    pub seconds: i64,
    /// Digest of what a monitor has seen and dealt with.
    pub monitor_digest: Option<&'a str>,
    /// What it printed, or answered.
    pub body: &'a str,
}

impl Document<'_> {
    /// The text.
    #[must_use]
    pub fn text(&self, at: Timestamp, zone: &TimeZone) -> String {
        let digest = self
            .monitor_digest
            .map(|digest| format!("- monitor: {digest}\n"));
        let digest = digest.unwrap_or_default();
        format!(
            "# {}\n\n- job: {}\n- execution: {}\n- ended: {} after {}\n- dispatch mode: {}\n{digest}- outcome: {}\n\n---\n\n{}\n",
            human::printable(self.name),
            human::printable(self.job_id),
            self.execution_id,
            crate::clock::iso(at, zone),
            human::duration(self.seconds),
            self.mode,
            human::printable(self.outcome),
            self.body.trim_end()
        )
    }

    /// Saves it, and drops the oldest ones of the job. Returns where it is.
    ///
    /// # Errors
    /// When it cannot be written, or the job's id would lead it out of `cron/output`.
    pub fn save(
        &self,
        home: &Home,
        retention: i64,
        at: Timestamp,
        zone: &TimeZone,
    ) -> Result<PathBuf> {
        let folder = Folder::of(home, self.job_id).ok_or_else(|| no_name("job", self.job_id))?;
        let directory = folder.path();
        make_private(directory)?;
        let name = at
            .to_zoned_datetime(zone.clone())
            .strftime("%Y-%m-%d_%H-%M-%S")
            .to_string();
        // Two runs that end within one second keep a document each.
        let free = |path: &PathBuf| !path.exists();
        let path = std::iter::once(directory.join(format!("{name}.md")))
            .chain((2..100).map(|number| directory.join(format!("{name}_{number}.md"))))
            .find(free)
            .unwrap_or_else(|| directory.join(format!("{name}_{}.md", self.execution_id)));
        let plan = Replace {
            prefix: ".output_",
            mode: 0o600,
            durable: false,
        };
        plan.write(&path, self.text(at, zone).as_bytes())?;
        if let Ok(kept) = usize::try_from(retention)
            && kept > 0
        {
            folder.keep_newest(kept);
        }
        Ok(path)
    }
}

fn no_name(what: &str, id: &str) -> Error {
    let id = id.escape_debug();
    Error::new(
        Kind::Invalid,
        format!("the id '{id}' of a {what} is no name for its files"),
    )
}

/// Removes all but the newest files of these names; their names sort by time, or their ids do not
/// and then their own times do.
fn drop_oldest(directory: &Path, kept: usize, is_meant: impl Fn(&str) -> bool) {
    let entries = fs_err::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(&is_meant))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort_unstable_by(|left, right| right.cmp(left));
    for (_, path) in files.into_iter().skip(kept) {
        let _one_too_many_is_no_harm = fs_err::remove_file(path);
    }
}

/// Where the log of an execution is; `None` for an id that would lead elsewhere.
#[must_use]
pub fn log_path(home: &Home, execution_id: &str) -> Option<PathBuf> {
    FileName::of(execution_id)?;
    Some(logs(home).join(format!("{execution_id}.log")))
}

fn logs(home: &Home) -> PathBuf {
    home.run_dir().join("executions")
}

/// Drops the oldest logs, but none of a run that goes on: a quiet one is older than many that have ended.
pub(super) fn drop_old_logs(home: &Home, running: &HashSet<String>) {
    drop_oldest(&logs(home), LOGS, |name| {
        let id = name.strip_suffix(".log");
        id.is_some_and(|id| !running.contains(id))
    });
}

/// The log of a run that goes on. A log that cannot be written never stops a run.
#[derive(Debug)]
pub struct Log {
    file: Option<File>,
    written: u64,
}

impl Log {
    /// Begins a log.
    ///
    /// # Errors
    /// When it cannot be made, or the id would lead it elsewhere.
    pub fn begin(home: &Home, execution_id: &str) -> Result<Self> {
        let path = log_path(home, execution_id).ok_or_else(|| no_name("run", execution_id))?;
        let directory = path.parent().unwrap_or(Path::new("/"));
        make_private(directory)?;
        let mut options = std::fs::OpenOptions::new();
        let file = options
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| Error::io(format!("failed to write {}", path.display()), error))?;
        Ok(Self {
            file: Some(file),
            written: 0,
        })
    }

    /// No log at all.
    #[must_use]
    pub fn none() -> Self {
        Self {
            file: None,
            written: 0,
        }
    }

    /// Adds a piece.
    pub fn add(&mut self, piece: &[u8]) {
        let before = self.written;
        self.written += piece.len() as u64;
        let Some(file) = self.file.as_mut() else {
            return;
        };
        let room = usize::try_from(LONGEST_LOG.saturating_sub(before)).unwrap_or(usize::MAX);
        let kept = piece.get(..room.min(piece.len())).unwrap_or_default();
        if file.write_all(kept).is_err() {
            self.file = None;
        } else if kept.len() < piece.len() {
            let _the_run_goes_on = file.write_all(b"\n[the rest is not kept]\n");
            self.file = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(body: &str) -> Document<'_> {
        Document {
            job_id: "a1",
            name: "nightly\x1b[31m",
            execution_id: "e1",
            mode: "scoped",
            outcome: "ok",
            seconds: 12,
            monitor_digest: None,
            body,
        }
    }

    #[test]
    fn b63_the_newest_outputs_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let start: Timestamp = "2026-06-17T10:00:00Z".parse().unwrap();
        for second in [0, 0, 1, 2, 3] {
            let at = start + jiff::SignedDuration::from_secs(second);
            document("x").save(&home, 3, at, &TimeZone::UTC).unwrap();
        }
        let kept = std::fs::read_dir(home.join("cron/output/a1"))
            .unwrap()
            .count();
        assert_eq!(kept, 3);
        let text =
            std::fs::read_to_string(home.join("cron/output/a1/2026-06-17_10-00-03.md")).unwrap();
        assert!(
            text.contains("- dispatch mode: scoped") && !text.contains('\x1b'),
            "{text}"
        );
    }

    #[test]
    fn retention_removes_documents_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let at: Timestamp = "2026-06-17T10:00:00Z".parse().unwrap();
        let notes = home.join("notes");
        std::fs::create_dir(&notes).unwrap();
        let others = [
            "README.md",
            "2026-06-17.md",
            "2026-06-17_10-00-0x.md",
            "a.txt",
        ];
        for name in others.iter().chain(&["2020-01-01_00-00-00.md"]) {
            std::fs::write(notes.join(name), "").unwrap();
        }
        std::fs::create_dir_all(home.join("cron/output/a1")).unwrap();
        for name in others {
            std::fs::write(home.join("cron/output/a1").join(name), "").unwrap();
        }
        document("x").save(&home, 1, at, &TimeZone::UTC).unwrap();
        let kept = |path: &Path| std::fs::read_dir(path).unwrap().count();
        assert_eq!(kept(&home.join("cron/output/a1")), others.len() + 1);
        std::os::unix::fs::symlink(&notes, home.join("cron/output/linked")).unwrap();
        for id in ["linked", "../../notes", notes.to_str().unwrap()] {
            let saved = Document {
                job_id: id,
                ..document("x")
            }
            .save(&home, 1, at, &TimeZone::UTC);
            assert_eq!(saved.is_ok(), id == "linked", "{id}");
        }
        assert_eq!(kept(&notes), others.len() + 2);
    }

    #[test]
    fn a_document_is_known_by_its_name() {
        for good in [
            "2026-06-17_10-00-00.md",
            "2026-06-17_10-00-00_2.md",
            "2026-06-17_10-00-00_ab.md",
        ] {
            assert!(is_document(good), "{good}");
        }
        for bad in [
            "2026-06-17_10-00-00",
            "2026-06-17_10-00-00x.md",
            "SOUL.md",
            "2026-06-1.md",
            ".md",
        ] {
            assert!(!is_document(bad), "{bad}");
        }
    }

    #[test]
    fn a_log_stays_in_its_folder() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        assert_eq!(log_path(&home, "../../../x"), None);
        assert!(Log::begin(&home, "../x").is_err());
    }

    #[test]
    fn the_newest_logs_are_kept_and_those_of_runs_that_go_on() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let begun: Vec<_> = ["quiet", "over"]
            .into_iter()
            .chain((0..LOGS).map(|_| ""))
            .enumerate()
            .map(|(number, name)| format!("{name}{number}"))
            .collect();
        for (age, id) in begun.iter().rev().enumerate() {
            Log::begin(&home, id).unwrap();
            let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(10_000 - age as u64);
            let file = File::options()
                .append(true)
                .open(log_path(&home, id).unwrap());
            file.unwrap().set_modified(then).unwrap();
        }
        drop_old_logs(&home, &HashSet::from(["quiet0".to_owned()]));
        let is_there = |id: &str| log_path(&home, id).unwrap().exists();
        assert!(is_there("quiet0") && !is_there("over1") && is_there("2"));
    }

    #[test]
    fn a_log_has_an_end() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        let mut log = Log::begin(&home, "e1").unwrap();
        let piece = vec![b'x'; 3 << 20];
        for _ in 0..4 {
            log.add(&piece);
        }
        let length = std::fs::metadata(log_path(&home, "e1").unwrap())
            .unwrap()
            .len();
        assert!(
            (LONGEST_LOG..LONGEST_LOG + 100).contains(&length),
            "{length}"
        );
    }
}
