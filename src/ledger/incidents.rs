//! Incidents, for writing: a failure that repeats is one incident, a good run resolves it.

use jiff::Timestamp;
use rusqlite::params;

use super::incident::REMOVED;
use super::signature::{DELIVERY, failure_type, incident_id, signature};
use super::store::Ledger;
use crate::clock::iso;
use crate::error::Result;

/// Longest error that an incident keeps, in characters.
const KEPT: usize = 500;
/// What the errors of deliveries begin with, and nothing else that we record.
const UNDELIVERED: &str = "not delivered: ";

impl Ledger {
    /// Records a failure: a new incident, or another sighting of one. One that was closed or resolved
    /// is open again. Returns its id. The error must be redacted already.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn record_failure(
        &self,
        job_id: &str,
        error: &str,
        output_file: Option<&str>,
        now: Timestamp,
    ) -> Result<String> {
        self.record_incident((job_id, failure_type(error)), error, output_file, now)
    }

    /// Records that the result of a run did not arrive, whether or not the run was good. Returns the id
    /// of the incident.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn record_undelivered(
        &self,
        job_id: &str,
        error: &str,
        output_file: Option<&str>,
        now: Timestamp,
    ) -> Result<String> {
        let error = format!("{UNDELIVERED}{error}");
        self.record_incident((job_id, DELIVERY), &error, output_file, now)
    }

    fn record_incident(
        &self,
        (job_id, kind): (&str, &str),
        error: &str,
        output_file: Option<&str>,
        now: Timestamp,
    ) -> Result<String> {
        let signature = signature(job_id, error);
        let id = incident_id(job_id, &signature);
        let kept: String = error.chars().take(KEPT).collect();
        let at = iso(now, self.zone());
        self.change(
            "INSERT INTO cron_incidents (id, job_id, error_sig, state, failure_type, first_seen_at,
             last_seen_at, error, output_file) VALUES (?1, ?2, ?3, 'detected', ?4, ?5, ?5, ?6, ?7)
             ON CONFLICT (id) DO UPDATE SET last_seen_at = ?5, error = ?6, output_file = ?7,
             first_seen_at = CASE WHEN state IN ('resolved','closed') THEN ?5 ELSE first_seen_at END,
             acked_at = CASE WHEN state IN ('resolved','closed') THEN NULL ELSE acked_at END,
             closed_at = NULL,
             state = CASE WHEN state IN ('resolved','closed') THEN 'detected' ELSE state END",
            params![id, job_id, signature, kind, at, kept, output_file],
        )?;
        Ok(id)
    }

    /// Resolves the open incidents of a job: those of its runs where a run was good, those of its
    /// deliveries where nothing was left undelivered.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn resolve_incidents(
        &self,
        job_id: &str,
        (ran, delivered): (bool, bool),
        now: Timestamp,
    ) -> Result<()> {
        self.change(
            "UPDATE cron_incidents SET state = 'resolved', closed_at = ?2
             WHERE job_id = ?1 AND state IN ('detected','alerted')
             AND CASE WHEN coalesce(error, '') LIKE ?3 THEN ?4 ELSE ?5 END",
            params![
                job_id,
                iso(now, self.zone()),
                format!("{UNDELIVERED}%"),
                delivered,
                ran
            ],
        )
        .map(drop)
    }

    /// Marks an incident as seen by a person. Returns whether there is such an open one.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn acknowledge(&self, incident: &str, now: Timestamp) -> Result<bool> {
        self.change(
            "UPDATE cron_incidents SET acked_at = ?2
             WHERE id = ?1 AND state IN ('detected','alerted')",
            params![incident, iso(now, self.zone())],
        )
    }

    /// Closes the open incidents of a job that is removed: no run of it will ever end them.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn close_with_job(&mut self, job_id: &str, now: Timestamp) -> Result<()> {
        let at = iso(now, self.zone());
        self.all_or_none("close the incidents of a job in", |transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO incident_ends (incident_id, reason) SELECT id, ?2
                 FROM cron_incidents WHERE job_id = ?1 AND state IN ('detected','alerted')",
                params![job_id, REMOVED],
            )?;
            transaction.execute(
                "UPDATE cron_incidents SET state = 'closed', closed_at = ?2
                 WHERE job_id = ?1 AND state IN ('detected','alerted')",
                params![job_id, at],
            )
        })
        .map(drop)
    }

    /// Closes an incident, by a person's word. Returns whether there is such an open one.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn close_incident(&self, incident: &str, now: Timestamp) -> Result<bool> {
        self.change(
            "DELETE FROM incident_ends WHERE incident_id = ?1",
            params![incident],
        )?;
        self.change(
            "UPDATE cron_incidents SET state = 'closed', closed_at = ?2
             WHERE id = ?1 AND state IN ('detected','alerted')",
            params![incident, iso(now, self.zone())],
        )
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use crate::ledger::{IncidentState, rows};

    #[test]
    fn a_repeated_failure_is_one_incident_until_a_good_run() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&directory.path().join("e.db"), TimeZone::UTC).unwrap();
        let now: Timestamp = "2026-06-17T10:00:00Z".parse().unwrap();
        let first = ledger
            .record_failure("job1", "Script exited with code 3", None, now)
            .unwrap();
        let second = ledger
            .record_failure("job1", "Script exited with code 3", None, now)
            .unwrap();
        assert_eq!(first, second);
        assert!(ledger.acknowledge(&first, now).unwrap());
        ledger.resolve_incidents("job1", (true, true), now).unwrap();
        assert!(!ledger.acknowledge(&first, now).unwrap(), "it is over");
        ledger
            .record_failure("job1", "Script exited with code 3", None, now)
            .unwrap();
        let incidents = ledger.read(|c| rows::incidents(c, 10)).unwrap().unwrap();
        assert_eq!(incidents.len(), 1);
        assert_eq!(
            incidents[0].state,
            IncidentState::from("detected".to_owned())
        );
        assert_eq!(incidents[0].acked_at, None);
    }

    #[test]
    fn what_was_not_delivered_is_an_incident_of_its_own_kind_with_an_end_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&directory.path().join("e.db"), TimeZone::UTC).unwrap();
        let now: Timestamp = "2026-06-17T10:00:00Z".parse().unwrap();
        let states = || {
            let kept = ledger.read(|c| rows::incidents(c, 10)).unwrap().unwrap();
            let of = |kind: &str| {
                let found = kept.iter().find(|incident| incident.failure_type == kind);
                found.map(|incident| incident.state.word().to_owned())
            };
            (of("delivery"), of("script"))
        };
        let word = |word: &str| Some(word.to_owned());
        ledger
            .record_undelivered("job1", "the connection timed out", None, now)
            .unwrap();
        ledger
            .record_failure("job1", "Script exited with code 3", None, now)
            .unwrap();
        ledger
            .resolve_incidents("job1", (true, false), now)
            .unwrap();
        assert_eq!(states(), (word("detected"), word("resolved")));
        ledger
            .resolve_incidents("job1", (false, true), now)
            .unwrap();
        assert_eq!(states(), (word("resolved"), word("resolved")));
    }
}
