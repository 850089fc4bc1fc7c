//! The door to the job store of a process that makes many changes at once: those that wait at the same
//! moment are made under one lock, with one read and one write.
//!
//! Whoever finds the door free leads: he waits for the lock as anybody does, and takes with him whoever
//! has come meanwhile. The others wait for him, and find their answer. So a process asks for the lock once
//! however many of its steps want it, and leaves the more of it to others.

use std::sync::mpsc::{TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::{Dispatcher, blocking};
use crate::cron::job_list::JobList;
use crate::cron::jobs_file::{Change, JobsFile, Version};
use crate::cron::jobs_group::{Waiting, broke, make_all, waiting};
use crate::cron::jobs_lock;
use crate::error::Result;

/// The door of one home, for all steps of this process.
#[derive(Default)]
pub(super) struct JobsDoor {
    queue: Mutex<Queue>,
    lead: Mutex<()>,
}

#[derive(Default)]
struct Queue {
    tickets: u64,
    steps: Vec<(u64, Box<dyn Waiting>)>,
}

impl JobsDoor {
    /// Changes the jobs, as [`JobsFile::update`] does. Waits, so it does not belong on an event loop.
    ///
    /// # Errors
    /// As [`JobsFile::update`].
    pub(super) fn update<T: Send + 'static>(
        &self,
        file: &JobsFile,
        now: Timestamp,
        change: impl FnMut(&mut JobList<'_>) -> Result<Change<T>> + Send + 'static,
    ) -> Result<T> {
        let since = jobs_lock::awake();
        let (tell, answer) = channel();
        let step = waiting(change, move |told| {
            let _nobody_may_wait = tell.send(told);
        });
        let ticket = self.queue().join(step);
        let lead = self.lead.lock().unwrap_or_else(PoisonError::into_inner);
        match answer.try_recv() {
            Ok(told) => return told,
            Err(TryRecvError::Disconnected) => return Err(broke()),
            Err(TryRecvError::Empty) => {}
        }
        let mut group = Vec::new();
        let made = file.update_since(since, now, |jobs, _| {
            self.queue().leave(ticket, jobs, &mut group);
            Ok(make_all(&mut group, jobs))
        });
        if group.is_empty() {
            // It did not come as far as the jobs. The others may: their patience began later.
            self.queue().steps.retain(|(queued, _)| *queued != ticket);
        }
        for step in &mut group {
            step.tell(made.as_ref().err());
        }
        drop(lead);
        match (answer.try_recv(), made) {
            (Ok(told), _) => told,
            (Err(_), Err(error)) => Err(error),
            (Err(_), Ok(_)) => Err(broke()),
        }
    }

    /// The same as [`JobsFile::update_since`], with nobody else's change beside it.
    fn update_alone<T>(
        &self,
        file: &JobsFile,
        now: Timestamp,
        change: impl FnMut(&mut JobList<'_>, Option<Version>) -> Result<Change<T>>,
    ) -> Result<(T, Option<Version>)> {
        let since = jobs_lock::awake();
        let _lead = self.lead.lock().unwrap_or_else(PoisonError::into_inner);
        file.update_since(since, now, change)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Dispatcher {
    /// Changes the job store alone, for one who keeps what he knows of a version of it.
    ///
    /// # Errors
    /// As [`JobsFile::update_since`].
    pub(in crate::cron) async fn with_version<T: Send + 'static>(
        &self,
        change: impl FnMut(&mut JobList<'_>, Option<Version>) -> Result<Change<T>> + Send + 'static,
    ) -> Result<(T, Option<Version>)> {
        let (file, now, door) = (self.jobs(), self.now(), Arc::clone(&self.jobs));
        blocking(move || door.update_alone(&file, now, change)).await
    }
}

impl Queue {
    fn join(&mut self, step: Box<dyn Waiting>) -> u64 {
        self.tickets += 1;
        self.steps.push((self.tickets, step));
        self.tickets
    }

    /// Whoever waits joins the group. Where a text of one may not be written beside what is kept of the
    /// others, each goes alone.
    fn leave(&mut self, ticket: u64, jobs: &JobList<'_>, group: &mut Vec<Box<dyn Waiting>>) {
        let goes = |queued: u64| !jobs.is_particular() || queued == ticket;
        let steps = std::mem::take(&mut self.steps);
        let (going, stay) = steps.into_iter().partition(|(queued, _)| goes(*queued));
        self.steps = stay;
        group.extend(going.into_iter().map(|(_, step)| step));
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{JoinHandle, spawn, yield_now};
    use std::time::Duration;

    use jiff::tz::TimeZone;
    use serde_json::json;

    use super::*;
    use crate::cron::jobs_file::backups;
    use crate::error::{Error, Kind};
    use crate::files;
    use crate::home::Home;

    struct Place {
        directory: tempfile::TempDir,
        file: JobsFile,
        door: Arc<JobsDoor>,
    }

    fn place(patience: Duration) -> Place {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        std::fs::create_dir(home.cron()).unwrap();
        std::fs::write(home.jobs_file(), "{\"jobs\":[]}").unwrap();
        Place {
            directory,
            file: JobsFile::new(&home, TimeZone::UTC).with_patience(patience),
            door: Arc::default(),
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_781_690_400 + second).unwrap()
    }

    impl Place {
        /// A thread that adds a job, and asks for a backup: each write keeps one of its own.
        fn adds(&self, number: u32) -> JoinHandle<Result<u32>> {
            let (door, file) = (Arc::clone(&self.door), self.file.clone());
            spawn(move || {
                door.update(&file, at(i64::from(number)), move |jobs| {
                    jobs.push(json!({"id": number}).as_object().unwrap().clone());
                    match number {
                        3 => Err(Error::new(Kind::Refused, "not this one")),
                        7 => panic!("a defect"),
                        _ => Ok(Change::WriteAfterBackup(number)),
                    }
                })
            })
        }

        fn lock(&self) -> files::Lock {
            let path = self.directory.path().join("cron/.jobs.lock");
            files::try_lock(&path).unwrap().unwrap()
        }

        /// Once so many wait at the door: the lock is held until then.
        fn begin(&self, lock: files::Lock, waiting: usize) {
            while self.door.queue().steps.len() < waiting {
                yield_now();
            }
            drop(lock);
        }
    }

    #[test]
    fn changes_that_wait_at_the_same_moment_are_one_write() {
        let place = place(Duration::from_secs(30));
        let lock = place.lock();
        let steps: Vec<_> = (0..6).map(|number| place.adds(number)).collect();
        place.begin(lock, 6);
        for (number, step) in (0..).zip(steps) {
            match step.join().unwrap() {
                Ok(told) => assert!(told == number && number != 3),
                Err(error) => assert!(number == 3 && error.kind() == Kind::Refused, "{error}"),
            }
        }
        let jobs = place.file.read().unwrap().jobs.jobs;
        let mut ids: Vec<_> = jobs.iter().map(|job| job["id"].as_u64().unwrap()).collect();
        ids.sort_unstable();
        assert_eq!(ids, [0, 1, 2, 4, 5]);
        let written = backups(&place.directory.path().join("cron/backups"));
        assert_eq!(written.len(), 1, "{written:?}");
    }

    #[test]
    fn who_does_not_get_the_lock_takes_nobody_along() {
        let mut place = place(Duration::ZERO);
        let lock = place.lock();
        let error = place.adds(1).join().unwrap().unwrap_err();
        assert_eq!(error.kind(), Kind::Busy);
        assert!(place.door.queue().steps.is_empty());
        drop(lock);
        // What another test starts at this moment has it for as long as it takes to become a program.
        place.file = place.file.with_patience(Duration::from_secs(10));
        assert_eq!(place.adds(2).join().unwrap().unwrap(), 2);
    }

    #[test]
    fn a_change_that_breaks_off_is_told_to_those_beside_it_and_the_door_stays_open() {
        let place = place(Duration::from_secs(30));
        let lock = place.lock();
        let steps = [place.adds(7), place.adds(1)];
        place.begin(lock, 2);
        let [broken, beside] = steps.map(JoinHandle::join);
        let told = [broken, beside].into_iter().flatten();
        let told: Vec<_> = told.map(|told| told.unwrap_err().kind()).collect();
        assert_eq!(
            told,
            [Kind::Internal],
            "one thread panicked, the other was told"
        );
        assert_eq!(place.adds(2).join().unwrap().unwrap(), 2);
    }
}
