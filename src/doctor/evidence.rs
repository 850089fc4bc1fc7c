//! All that the checks read: the facts of the host, the decision about dispatch, and what each home
//! holds. Gathered once; judged afterwards.

pub mod home;
pub mod jobs;
pub mod part;
pub mod read;
pub mod stores;

use jiff::Timestamp;

use crate::config::Source;
use crate::dispatch::{Decision, Guess, Kind, Policy, decide, derive};
use crate::host::Facts;
pub use home::HomeEvidence;
pub use part::Part;
pub use read::{Read, Stat, Trouble, TroubleKind};

/// All that the checks read.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// When it was gathered.
    pub now: Timestamp,
    /// The host.
    pub facts: Facts,
    /// How the dispatcher will launch a job.
    pub decision_jobs: Decision,
    /// How it will launch a long-lived worker.
    pub decision_long: Decision,
    /// What both decisions had to assume.
    pub guesses: Vec<Guess>,
    /// `cron.max_parallel_jobs` as it is in force; `None`: unbounded, or not known.
    pub max_parallel: Option<u32>,
    /// The homes that are judged, the root's own first.
    pub homes: Vec<HomeEvidence>,
    /// How many jobs the home of the dispatcher holds, where that is none of these.
    pub elsewhere: Read<usize>,
}

impl Evidence {
    /// Evidence about the host alone, under the default policy.
    #[must_use]
    pub fn new(now: Timestamp, facts: Facts) -> Self {
        let policy = Policy::default();
        let (derived, guesses) = derive(&facts);
        Self {
            now,
            facts,
            decision_jobs: decide(derived, policy, Kind::Job),
            decision_long: decide(derived, policy, Kind::LongLived),
            guesses,
            max_parallel: None,
            homes: Vec::new(),
            elsewhere: Read::Absent,
        }
    }

    /// The same under this policy.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy, max_parallel: Option<u32>) -> Self {
        let derived = self.decision_jobs.facts;
        self.decision_jobs = decide(derived, policy, Kind::Job);
        self.decision_long = decide(derived, policy, Kind::LongLived);
        self.max_parallel = max_parallel;
        self
    }

    /// The same, with what these homes hold. The configuration of the one that is dispatched makes the
    /// policy. A cap on jobs counts where somebody wrote it: the one that nobody chose promises nothing.
    #[must_use]
    pub fn with_homes(mut self, homes: Vec<HomeEvidence>) -> Self {
        self.homes = homes;
        if let Some(home) = self.dispatched() {
            let cron = home.settings().cron;
            let policy = Policy::seen(&home.config);
            let cap = home.config.get("cron.max_parallel_jobs");
            let chosen = cap.is_some_and(|cap| cap.current.origin.source != Source::Default);
            let parallel = cron.max_parallel_jobs.filter(|_| chosen);
            let parallel = parallel.map(|jobs| u32::try_from(jobs).unwrap_or(u32::MAX));
            self = self.with_policy(policy, parallel);
        }
        self
    }

    /// The home whose jobs are dispatched: its configuration is the one that counts.
    #[must_use]
    pub fn dispatched(&self) -> Option<&HomeEvidence> {
        let dispatched = self.facts.dispatcher.home.known();
        let dispatched = dispatched.unwrap_or(&self.facts.home.path);
        let home = self
            .homes
            .iter()
            .find(|home| home.home.path() == dispatched);
        home.or(self.homes.first())
    }
}
