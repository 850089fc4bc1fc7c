//! The lock under which both programs keep and deliver what a run of a job brings. It never goes away; its
//! name is made of the place of the store and of the job.

use std::path::{Path, PathBuf};
use std::time::Duration;

use uuid::Uuid;

use super::jobs_lock::{self, PATIENCE};
use crate::error::{Error, Kind, Result};
use crate::files::Lock;

/// Where the lock of a job lies.
#[must_use]
pub fn path(cron: &Path, job_id: &str) -> PathBuf {
    let real = std::fs::canonicalize(cron).unwrap_or_else(|_| cron.to_owned());
    let name = format!("{}::{job_id}", real.display());
    let id = Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes());
    cron.join(format!(".fire-{}.lock", id.simple()))
}

/// Takes it, waiting as long as for the store.
///
/// # Errors
/// [`Kind::Busy`] with the holder where it stays taken: nothing is kept or sent without it.
pub async fn take(cron: &Path, job_id: &str) -> Result<Lock> {
    take_within(cron, job_id, PATIENCE).await
}

/// The same for somebody who has others to see to, and does not wait so long.
///
/// # Errors
/// As [`take`].
pub async fn take_within(cron: &Path, job_id: &str, patience: Duration) -> Result<Lock> {
    let path = path(cron, job_id);
    let taken = tokio::task::spawn_blocking(move || jobs_lock::take(&path, patience)).await;
    taken.map_err(|error| {
        Error::new(Kind::Internal, "the lock of a job was not waited for").with_source(error)
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_one_that_hermes_agent_gives_it() {
        let path = path(Path::new("/nowhere/cron"), "a1b2c3d4e5f6");
        assert_eq!(
            path,
            Path::new("/nowhere/cron/.fire-5079477b10b35fde8553c92370d4b06e.lock")
        );
    }
}
