//! All that the checks read: the facts of the host, the decision about dispatch, and what each home
//! holds. Gathered once; judged afterwards.

pub mod gateway;
pub mod home;
pub mod read;

use jiff::Timestamp;

use crate::host::Facts;
pub use home::HomeEvidence;
pub use read::{Read, Stat, Trouble, TroubleKind};

/// All that the checks read.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// When it was gathered.
    pub now: Timestamp,
    /// The host.
    pub facts: Facts,
    /// The homes that are judged, the root's own first.
    pub homes: Vec<HomeEvidence>,
}

impl Evidence {
    /// Evidence about the host alone.
    #[must_use]
    pub fn new(now: Timestamp, facts: Facts) -> Self {
        Self {
            now,
            facts,
            homes: Vec::new(),
        }
    }

    /// The same, with what these homes hold.
    #[must_use]
    pub fn with_homes(mut self, homes: Vec<HomeEvidence>) -> Self {
        self.homes = homes;
        self
    }

    /// The uid that reads and writes the homes: that of the process that dispatches, else that of
    /// the account.
    #[must_use]
    pub fn service_uid(&self) -> u32 {
        let process = self.facts.dispatcher.process.as_ref();
        process
            .and_then(|process| process.uid.known().copied())
            .unwrap_or(self.facts.account.uid)
    }
}
