//! The job store on disk: read tolerantly, written raw, under the lock, at once.
//!
//! A store that cannot be read refuses every write, whatever the reason: unreadable is never empty.
//! A change is a function over the jobs as they are; if somebody wrote past the lock meanwhile it
//! is run again over what they left, so that neither change is lost.

use std::fs::{File, Metadata};
use std::io::ErrorKind as IoKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Map;

use super::job::RawJob;
use super::job_list::JobList;
use super::jobs_lock;
use super::jobs_text::{ErrorKind, Jobs, JobsText, JobsTextError};
use crate::clock::iso;
use crate::error::{Error, Kind, Result};
use crate::files::{self, Replace, open_regular, read_open, read_regular};
use crate::home::Home;

/// How often a change is run again over what somebody wrote past the lock, as in Hermes Agent.
const ROUNDS: u32 = 5;
/// Largest store that is read, in bytes: a hundred thousand jobs are a tenth of it.
const LARGEST: u64 = 1 << 30;
/// Newest backups that are kept.
pub const BACKUPS: usize = 20;

/// How the store is written, and its backups.
const PLAN: Replace<'static> = Replace {
    prefix: ".jobs_",
    mode: 0o600,
    durable: true,
};

/// What tells one version of the file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    modified: (i64, i64),
    size: u64,
    inode: u64,
}

impl From<&Metadata> for Version {
    fn from(file: &Metadata) -> Self {
        Self {
            modified: (file.mtime(), file.mtime_nsec()),
            size: file.size(),
            inode: file.ino(),
        }
    }
}

/// The jobs as they were read.
#[derive(Debug)]
pub struct Loaded {
    /// The jobs and what was odd about their shape.
    pub jobs: Jobs<RawJob>,
    /// The version that was read; `None`: there is no file yet.
    pub version: Option<Version>,
}

/// The store as it lies there.
#[derive(Default)]
struct Source {
    version: Option<Version>,
    bytes: Vec<u8>,
    /// As long as it is open its blocks are not given back, which is not to happen under the lock.
    _file: Option<File>,
}

/// What a change asks for.
#[derive(Debug)]
pub enum Change<T> {
    /// Write the jobs as they are now.
    Write(T),
    /// Write them; some were removed, so a backup is kept.
    WriteAfterBackup(T),
    /// Nothing has changed.
    Nothing(T),
}

/// The job store of one home.
#[derive(Clone, Debug)]
pub struct JobsFile {
    home: Home,
    zone: TimeZone,
    patience: Duration,
}

impl JobsFile {
    /// The store of a home; `updated_at` is written in this zone.
    #[must_use]
    pub fn new(home: &Home, zone: TimeZone) -> Self {
        Self {
            home: home.clone(),
            zone,
            patience: jobs_lock::PATIENCE,
        }
    }

    /// The same, with another patience for the lock.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.home.jobs_file()
    }

    /// The version that is on disk now, by a look at its name.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn version(&self) -> Result<Option<Version>> {
        version_of(&self.path())
    }

    /// Reads the jobs. No file is no jobs.
    ///
    /// # Errors
    /// When the file is there and cannot be read, or is no store: with line, column and the newest
    /// usable backup.
    pub fn read(&self) -> Result<Loaded> {
        let Source { version, bytes, .. } = self.load()?;
        if version.is_none() {
            let jobs = none();
            return Ok(Loaded { jobs, version });
        }
        match JobsText::new(&bytes).and_then(|text| text.raw()) {
            Ok(jobs) => Ok(Loaded { jobs, version }),
            Err(error) => Err(self.unreadable(&error)),
        }
    }

    /// The first job with this id.
    ///
    /// # Errors
    /// As [`JobsFile::read`].
    pub fn job(&self, id: &str) -> Result<Option<RawJob>> {
        let Source { version, bytes, .. } = self.load()?;
        if version.is_none() {
            return Ok(None);
        }
        let text = JobsText::new(&bytes);
        let list = text.as_ref().map_err(Clone::clone).and_then(JobsText::list);
        let mut list = list.map_err(|error| self.unreadable(&error))?;
        Ok(list.find(id).cloned())
    }

    /// What is there now.
    fn load(&self) -> Result<Source> {
        let (path, version) = (self.path(), self.version()?);
        if version.is_none() {
            return Ok(Source::default());
        }
        let read = || {
            let file = open_regular(&path)?;
            let bytes = read_open(&file, LARGEST)?;
            Ok((bytes, Some(file)))
        };
        let (bytes, file) = read().map_err(|error| unread(&path, error))?;
        Ok(Source {
            version,
            bytes,
            _file: file,
        })
    }

    /// Changes the jobs, under the lock.
    ///
    /// # Errors
    /// When the lock is not to be had, the store cannot be read or written, or the change itself
    /// refuses; the file is then as it was.
    pub fn update<T>(
        &self,
        now: Timestamp,
        mut change: impl FnMut(&mut JobList<'_>) -> Result<Change<T>>,
    ) -> Result<T> {
        let left = self.update_since(jobs_lock::awake(), now, |jobs, _| change(jobs))?;
        Ok(left.0)
    }

    /// The same for one who has waited for the lock since this moment of awake time, and who keeps what he
    /// knows of a version: the change is told which one it is given, and the answer has the one that it left.
    /// What it left holds nobody else's change.
    ///
    /// # Errors
    /// As [`JobsFile::update`].
    pub(super) fn update_since<T>(
        &self,
        since: Duration,
        now: Timestamp,
        mut change: impl FnMut(&mut JobList<'_>, Option<Version>) -> Result<Change<T>>,
    ) -> Result<(T, Option<Version>)> {
        self.make_directory()?;
        let lock = self.home.join("cron/.jobs.lock");
        let lock = jobs_lock::take_since(&lock, since, self.patience)?;
        for _ in 0..ROUNDS {
            let source = self.load()?;
            let (version, bytes) = (source.version, source.bytes.as_slice());
            let text = version.map(|_| JobsText::new(bytes)).transpose();
            let text = text.map_err(|error| self.unreadable(&error))?;
            let list = text.as_ref().map(JobsText::list).transpose();
            let mut list = list
                .map_err(|error| self.unreadable(&error))?
                .unwrap_or_default();
            let (result, backup) = match change(&mut list, version)? {
                Change::Nothing(result) => {
                    drop(lock);
                    return Ok((result, version));
                }
                Change::Write(result) => (result, list.is_mended()),
                Change::WriteAfterBackup(result) => (result, true),
            };
            if self.version()? != version {
                continue;
            }
            if backup && version.is_some() {
                self.back_up(bytes, now)?;
            }
            let at = iso(now, &self.zone);
            let text = list.written(&at)?;
            let written = PLAN.write_seen(&self.path(), |file| text.to(file))?;
            // Before what was read is given back, which takes a while where it is much.
            drop(lock);
            return Ok((result, Some(Version::from(&written))));
        }
        Err(Error::new(
            Kind::Busy,
            format!("{} is being written past its lock", self.path().display()),
        )
        .with_hint("another program writes it all the time; nothing was changed"))
    }

    /// Makes `cron/`, unless the home itself is gone: a deleted profile is not brought back.
    fn make_directory(&self) -> Result<()> {
        let directory = self.home.cron();
        match files::make_one(&directory) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == IoKind::AlreadyExists => Ok(()),
            Err(error) => {
                let failed = Error::io(format!("failed to make {}", directory.display()), error);
                Err(failed.with_hint(format!(
                    "make the home first: mkdir -p {}",
                    self.home.path().display()
                )))
            }
        }
    }

    fn back_up(&self, bytes: &[u8], now: Timestamp) -> Result<()> {
        let directory = self.home.join("cron/backups");
        match files::make_one(&directory) {
            Err(error) if error.kind() != IoKind::AlreadyExists => {
                return Err(Error::io(
                    format!("failed to make {}", directory.display()),
                    error,
                ));
            }
            _ => {}
        }
        let name = format!("jobs-{}.json", now.strftime("%Y%m%dT%H%M%S.%6fZ"));
        PLAN.write(&directory.join(name), bytes)?;
        let kept = backups(&directory);
        for old in kept.iter().skip(BACKUPS) {
            let _one_too_many_is_no_harm = fs_err::remove_file(old);
        }
        Ok(())
    }

    fn unreadable(&self, error: &JobsTextError) -> Error {
        let path = self.path();
        let message = format!(
            "{} cannot be read as a job store: {} (line {}, column {})",
            path.display(),
            error.what,
            error.line,
            error.column
        );
        let refused = Error::new(Kind::Invalid, message).with_hint("nothing is written over it");
        match newest_usable_backup(&self.home.join("cron/backups")) {
            Some(backup) => {
                refused.with_hint(format!("the newest usable backup is {}", backup.display()))
            }
            None if error.kind == ErrorKind::Empty => refused.with_hint(format!(
                "if there are no jobs to lose, remove it: rm {}",
                path.display()
            )),
            None => refused.with_hint("there is no usable backup; mend it by hand"),
        }
    }
}

fn unread(path: &Path, error: std::io::Error) -> Error {
    let is_denied = error.kind() == IoKind::PermissionDenied;
    let failed = Error::io(format!("failed to read {}", path.display()), error);
    if !is_denied {
        return failed;
    }
    let us = rustix::process::geteuid().as_raw();
    let failed = match fs_err::metadata(path).map(|file| (file.uid(), file.mode() & 0o7777)) {
        Ok((owner, mode)) => failed.with_hint(format!(
            "it is of uid {owner}, mode {mode:04o}, and you are uid {us}"
        )),
        Err(_) => failed.with_hint(format!("you are uid {us}")),
    };
    failed.with_hint("'hermes cron doctor' says what is wrong with it")
}

fn none() -> Jobs<RawJob> {
    Jobs {
        jobs: Vec::new(),
        updated_at: None,
        notes: Vec::new(),
        rest: Map::new(),
    }
}

fn version_of(path: &Path) -> Result<Option<Version>> {
    match fs_err::metadata(path) {
        Ok(file) => Ok(Some(Version::from(&file))),
        Err(error) if error.kind() == IoKind::NotFound => match lost_link(path) {
            None => Ok(None),
            Some(link) => Err(Error::io(
                format!("the link {} leads nowhere", link.display()),
                error,
            )
            .with_hint("mount what it leads to, or mend it; this is no home without jobs")),
        },
        Err(error) => Err(Error::io(
            format!("failed to look at {}", path.display()),
            error,
        )),
    }
}

/// The name of the store, or of its directory, where that is a link whose target is not there: the disk
/// that has it may come back.
fn lost_link(path: &Path) -> Option<&Path> {
    let is_link = |path: &&Path| fs_err::symlink_metadata(path).is_ok_and(|name| name.is_symlink());
    let lost = |path: &&Path| is_link(path) && !path.exists();
    path.ancestors().take(2).find(lost)
}

/// The backups, the newest first: their names sort by time.
#[must_use]
pub fn backups(directory: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            name.starts_with("jobs-") && path.extension().is_some_and(|ending| ending == "json")
        })
        .collect();
    paths.sort_unstable_by(|left, right| right.cmp(left));
    paths
}

/// The newest backup that can be read as a store.
#[must_use]
pub fn newest_usable_backup(directory: &Path) -> Option<PathBuf> {
    let usable = |path: &PathBuf| {
        let bytes = read_regular(path, LARGEST).unwrap_or_default();
        JobsText::new(&bytes).is_ok_and(|text| text.raw().is_ok())
    };
    backups(directory).into_iter().find(usable)
}

#[cfg(test)]
mod tests;
