//! Whether the owner of a row lives, asked by a dispatcher.

use super::{Dispatcher, blocking};
use crate::cron::owner_probe::Beholder;
use crate::error::Result;
use crate::host::liveness::Liveness;
use crate::ledger::{Execution, ExecutionFacts, rows};

impl Dispatcher {
    fn beholder(&self) -> Beholder {
        Beholder::of(&self.parts.identity, &self.parts.settings, self.now())
    }

    /// Whether the owner of a row lives, by all that is recorded of it.
    pub(super) async fn liveness_of(&self, row: &Execution) -> Result<Liveness> {
        let id = row.id.clone();
        let facts = self
            .with_ledger(move |ledger| ledger.read(|c| rows::facts_of(c, &id)))
            .await?;
        self.liveness(row, facts.as_ref()).await
    }

    /// The same.
    pub(super) async fn liveness(
        &self,
        row: &Execution,
        facts: Option<&ExecutionFacts>,
    ) -> Result<Liveness> {
        let (row, facts, beholder) = (row.clone(), facts.cloned(), self.beholder());
        blocking(move || Ok(beholder.liveness_of(&row, facts.as_ref()))).await
    }

    /// Why nobody has a row any more although a process of its pid lives.
    pub(super) async fn lapsed(
        &self,
        row: &Execution,
        facts: &ExecutionFacts,
    ) -> Result<Option<String>> {
        let (row, facts, beholder) = (row.clone(), facts.clone(), self.beholder());
        blocking(move || Ok(beholder.lapse(&row, Some(&facts)))).await
    }
}
