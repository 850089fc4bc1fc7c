//! Units of workers, which end with the run that they were made for. One may be left that no row names: a worker
//! was killed or given up before it had its row, or a manager made it late.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::Dispatcher;
use crate::bus::{Client, ServiceManager as _};
use crate::dispatch::mode::Manager;
use crate::dispatch::placement::{UNIT_PREFIX, Wish, execution_of, open_door};
use crate::ledger::ExecutionFacts;

/// Longest time that a sweep gives to units that were left: it holds up whatever comes next.
const LONGEST: Duration = Duration::from_secs(5);

impl Dispatcher {
    /// Ends all units that were made for an execution, with whatever is left in them.
    pub(super) async fn end_units(&self, id: &str, facts: &ExecutionFacts) {
        if may_have_units(facts)
            && let Some(client) = open_door(&wish(facts)).await
        {
            end_units_by(&client, id).await;
        }
    }

    /// Ends the units of all executions that have ended, by the ledger of this home: those of another home are
    /// not its business.
    pub(in crate::cron) async fn end_units_left(&self) {
        // What a manager that has fallen silent leaves is met by the next sweep.
        let _what_is_left_is_met_again = tokio::time::timeout(LONGEST, self.end_all_left()).await;
    }

    async fn end_all_left(&self) {
        let Some(client) = open_door(&wish(&ExecutionFacts::default())).await else {
            return;
        };
        for unit in units(&client).await {
            let Some(id) = execution_of(&unit) else {
                continue;
            };
            if matches!(self.row(id).await, Ok(Some(row)) if !row.status.is_open()) {
                end(&client, &unit).await;
            }
        }
    }
}

/// The same as [`Dispatcher::end_units`], by a manager that answers.
pub(super) async fn end_units_by(client: &Client, id: &str) {
    let units = units(client).await.into_iter();
    for unit in units.filter(|unit| execution_of(unit) == Some(id)) {
        end(client, &unit).await;
    }
}

async fn units(client: &Client) -> Vec<String> {
    let pattern = format!("{UNIT_PREFIX}*");
    let units = client.loaded_units(&[&pattern]).await.unwrap_or_default();
    units.into_iter().map(|unit| unit.name).collect()
}

/// One that has failed stays until somebody forgets it.
async fn end(client: &Client, unit: &str) {
    let _gone_is_stopped = client.stop(unit).await;
    let _gone_is_forgotten = client.forget(unit).await;
}

/// Whether a manager may have been asked for a unit: not where nobody was to be asked, and where nothing is on
/// record of how it was run, nobody knows.
fn may_have_units(facts: &ExecutionFacts) -> bool {
    let properties = facts.properties.as_deref();
    let properties: Option<Value> = properties.and_then(|text| serde_json::from_str(text).ok());
    let asked_in_vain = properties.is_some_and(|all| all["unplaced_because"].is_string());
    let is_unplaced = matches!(facts.mode.as_str(), "in_process" | "degraded");
    facts.unit.is_some() || asked_in_vain || !is_unplaced
}

/// Which manager an execution's unit belongs to: root's is PID 1.
pub(super) fn wish(facts: &ExecutionFacts) -> Wish {
    let uid = rustix::process::geteuid().as_raw();
    let manager = facts.manager.as_deref();
    let is_of_system = manager.map_or(uid == 0, |manager| manager == "system");
    Wish {
        execution_id: facts.execution_id.clone(),
        description: String::new(),
        manager: if is_of_system {
            Manager::System
        } else {
            Manager::User
        },
        services_only: false,
        runtime_dir: Some(PathBuf::from(format!("/run/user/{uid}"))),
        uid,
        limits: crate::bus::Limits::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_is_asked_where_it_may_have_made_a_unit() {
        for (mode, unit, because, asked) in [
            ("in_process", None, "null", false),
            ("degraded", None, "null", false),
            ("degraded", None, "\"it is mute\"", true),
            ("scoped", Some("hermes-worker-a-1.scope"), "null", true),
            ("unknown", None, "null", true),
            ("", None, "null", true),
        ] {
            let facts = ExecutionFacts {
                mode: mode.to_owned(),
                unit: unit.map(str::to_owned),
                properties: Some(format!("{{\"unplaced_because\":{because}}}")),
                ..ExecutionFacts::default()
            };
            assert_eq!(may_have_units(&facts), asked, "{facts:?}");
        }
        assert!(may_have_units(&ExecutionFacts::default()));
    }
}
