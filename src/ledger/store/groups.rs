//! The groups that attempts have made.

use rusqlite::params;

use super::Ledger;
use crate::error::Result;
use crate::ledger::group::Group;

impl Ledger {
    /// Records a group that an attempt has made.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn record_group(&self, execution_id: &str, group: &Group) -> Result<()> {
        let leader_start = i64::try_from(group.leader_start).unwrap_or(i64::MAX);
        self.change(
            "INSERT OR REPLACE INTO execution_groups (execution_id, pgid, leader_start, session)
             VALUES (?1, ?2, ?3, ?4)",
            params![execution_id, group.number, leader_start, group.session],
        )
        .map(drop)
    }

    /// The groups that an attempt has made; one whose record makes no sense is left out.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn groups_of(&self, execution_id: &str) -> Result<Vec<Group>> {
        let sql =
            "SELECT pgid, leader_start, session FROM execution_groups WHERE execution_id = ?1";
        let rows: Vec<[i64; 3]> = self.read(|connection| {
            let mut select = connection.prepare_cached(sql)?;
            let rows = select.query_map([execution_id], |row| {
                Ok([row.get(0)?, row.get(1)?, row.get(2)?])
            })?;
            rows.collect()
        })?;
        let group = |[number, leader_start, session]: [i64; 3]| {
            Some(Group {
                number: u32::try_from(number).ok().filter(|number| *number > 1)?,
                leader_start: u64::try_from(leader_start).ok()?,
                session: u32::try_from(session).ok()?,
            })
        };
        Ok(rows.into_iter().filter_map(group).collect())
    }
}
