//! The job store as the doctor reads it: few fields of many, each with the value it has or the note
//! that it has the wrong kind. Nothing here is written back, so nothing else is kept.

use std::path::PathBuf;

use super::read::Trouble;
use super::stores::Index;
use crate::cron::claim::Holder;
use crate::cron::jobs_text::ShapeNote;
use crate::cron::needs::Unmet;
use crate::home::Home;
use crate::host::facts::Program;

/// A job store that could be read, at least in part.
#[derive(Clone, Debug, Default)]
pub struct JobStore {
    /// Its jobs, in the order of the file.
    pub jobs: Vec<Job>,
    /// What is odd about the file, though both programs read it.
    pub oddities: Vec<ShapeNote>,
    /// Entries that are no objects and are dropped by every reader.
    pub dropped: usize,
    /// Where its jobs are, by their ids.
    pub by_id: Index,
}

impl JobStore {
    /// Jobs that are to fire.
    pub fn armed(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().filter(|job| job.is_armed())
    }

    /// The first job of this id.
    #[must_use]
    pub fn job(&self, id: &str) -> Option<&Job> {
        let ids = self.jobs.iter().map(|job| job.id.as_str());
        self.jobs.get(*self.by_id.places(ids, id).first()?)
    }
}

/// A copy of the job store that lies beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// Its name.
    pub name: String,
    /// When it was written.
    pub modified: jiff::Timestamp,
    /// How many jobs it holds, or why it is no use.
    pub jobs: Result<usize, Trouble>,
}

/// One job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// Its id; empty where it has none.
    pub id: String,
    /// What a person calls it; empty where it has no name.
    pub name: String,
    /// When it fires.
    pub schedule: StoredSchedule,
    /// Whether it is switched on: absent means yes.
    pub enabled: bool,
    /// `scheduled`, `paused`, `completed`, `error`.
    pub state: String,
    /// Somebody paused it: by its state, or by the time of a pause.
    pub paused: bool,
    /// How often it is to run; `None` for ever.
    pub times: Option<i64>,
    /// The stamps, as written.
    pub stamps: Stamps,
    /// How the last run went.
    pub last: LastRun,
    /// Marks of runs that are under way.
    pub claims: Claims,
    /// What it needs from the host.
    pub needs: Needs,
    /// Fields that hold a value of the wrong kind: name and kind.
    pub ill_typed: Vec<(&'static str, &'static str)>,
}

/// A schedule as stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StoredSchedule {
    /// `interval`, `cron`, `once`; empty where there is none.
    pub kind: String,
    /// Of an interval.
    pub minutes: Option<i64>,
    /// Of a cron expression.
    pub expr: Option<String>,
    /// Of a one-shot.
    pub run_at: Option<String>,
}

/// Stamps of a job, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// When it was made.
    pub created: Option<String>,
    /// When it fires next.
    pub next_run: Option<String>,
    /// When it last ended.
    pub last_run: Option<String>,
    /// The slot that is a manual run.
    pub manual: Option<String>,
    /// Until when the provider's quota holds it.
    pub quota_hold: Option<String>,
    /// When it is tried again after a provider could not be reached.
    pub retry: Option<String>,
}

/// How the last run of a job went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LastRun {
    /// `ok`, `error`, `delivery_failed`, `delivery_queued`, `blocked_config`.
    pub status: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// What went wrong with the message.
    pub delivery_error: Option<String>,
    /// Whether it is unknown that the message arrived.
    pub delivery_unverified: bool,
    /// Failures in a row.
    pub streak: i64,
    /// When it could not be fired, and why.
    pub fire_error: Option<(String, String)>,
    /// The last dispatch.
    pub dispatch: Option<Dispatch>,
}

/// How late a slot was dispatched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dispatch {
    /// The slot.
    pub scheduled: Option<String>,
    /// When.
    pub at: Option<String>,
    /// Seconds.
    pub lateness: f64,
    /// `on_time`, `late`, `catch_up`.
    pub kind: String,
}

/// Marks of runs that are under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The run lease.
    pub fire: Option<Claim>,
    /// The lease of a one-shot.
    pub run: Option<Claim>,
    /// A slot that was taken off the schedule and not claimed yet.
    pub pending: Option<Claim>,
    /// The slot of `pending`.
    pub pending_slot: Option<String>,
}

/// A claim by a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// When; empty where it does not say.
    pub at: String,
    /// By whom: `<host>:<pid>…`; empty where it does not say.
    pub by: String,
}

impl Claim {
    /// The pid in `by`, if this host is the one named there.
    #[must_use]
    pub fn pid_on(&self, host: &str) -> Option<u32> {
        Holder::parse(&self.by).pid_on(host)
    }
}

/// What a job needs from the host and from its dispatcher.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// A script, by its path under `scripts/`.
    pub script: Option<String>,
    /// It is a script alone.
    pub no_agent: bool,
    /// What runs the script, where it says so.
    pub interpreter: Option<String>,
    /// A script that decides whether to wake the agent.
    pub monitor_script: Option<String>,
    /// The directory in which it runs.
    pub workdir: Option<String>,
    /// Where its message goes.
    pub deliver: Option<String>,
    /// What our dispatcher does not do of it.
    pub unmet: Vec<Unmet>,
}

impl Needs {
    /// The directory in which our dispatcher runs it. In which the other one does where the job names
    /// none is not known here.
    #[must_use]
    pub fn works_in(&self, home: &Home, program: Program) -> Option<PathBuf> {
        match &self.workdir {
            Some(named) => Some(PathBuf::from(named)).filter(|path| path.is_absolute()),
            None => (program == Program::Ours).then(|| home.path().to_owned()),
        }
    }
}

impl Job {
    /// Whether it fires again and again.
    #[must_use]
    pub fn is_recurring(&self) -> bool {
        matches!(self.schedule.kind.as_str(), "interval" | "cron")
    }

    /// Whether nothing will start it again of itself: completed, or in error without a schedule to recover by.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.state == "completed" || (self.state == "error" && !self.is_recurring())
    }

    /// Whether it is to fire: switched on, not paused, not at its end.
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.enabled && !self.is_paused() && !self.is_over()
    }

    /// Whether somebody paused it.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// What a person calls it: its name, else its id.
    #[must_use]
    pub fn label(&self) -> &str {
        if self.name.is_empty() {
            &self.id
        } else {
            &self.name
        }
    }

    /// Whether the next run is one that a person asked for.
    #[must_use]
    pub fn is_manual_next(&self) -> bool {
        self.stamps.manual.is_some() && self.stamps.manual == self.stamps.next_run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_claim_of_this_host_names_a_pid() {
        let claim = |by: &str| Claim {
            at: String::new(),
            by: by.to_owned(),
        };
        assert_eq!(claim("box:42:00ff").pid_on("box"), Some(42));
        assert_eq!(claim("box:42").pid_on("box"), Some(42));
        assert_eq!(claim("boxer:42").pid_on("box"), None);
        assert_eq!(claim("machine-id:00ff").pid_on("machine-id"), None);
        assert_eq!(claim("").pid_on("box"), None);
    }

    #[test]
    fn paused_and_finished_jobs_are_not_armed() {
        let job = Job {
            enabled: true,
            state: "scheduled".to_owned(),
            ..Job::default()
        };
        assert!(job.is_armed());
        let marked = Job {
            paused: true,
            ..job.clone()
        };
        let ended = Job {
            state: "completed".to_owned(),
            ..job
        };
        assert!(!marked.is_armed() && !ended.is_armed());
    }
}
