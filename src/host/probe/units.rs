//! Units from files and from managers, brought together, and what they say of processes.

use std::path::Path;
use std::time::Duration;

use crate::bounded::start;
use crate::host::choose::{Accounts as _, owner};
use crate::host::facts::{AccountFacts, Fact, Gap, HomeRecords, ProcessFacts, UnitFacts};
use crate::host::liveness::Liveness;
use crate::host::{unit_file, unit_file_probe};

use super::accounts::Database;

/// Services by their files, of the system's manager and of this account's.
pub(super) fn unit_files(
    database: &Database,
    account: AccountFacts,
    config: Option<String>,
    within: Duration,
) -> Vec<UnitFacts> {
    let database = database.clone();
    let found = start("unit files", move || {
        let directories = unit_file_probe::directories(Path::new("/"), &account, config.as_deref());
        let accounts = |name: &str| database.by_name(name);
        unit_file_probe::units(&directories, &account, &accounts)
    });
    found.wait(within).unwrap_or_default()
}

/// What managers tell outranks files; a file adds what no manager has loaded.
pub(super) fn merged(
    mut told: Vec<UnitFacts>,
    files: &[UnitFacts],
    gap: Option<Gap>,
    account: &AccountFacts,
) -> Fact<Vec<UnitFacts>> {
    for file in files {
        let same = told
            .iter_mut()
            .find(|unit| unit.name == file.name && unit.manager == file.manager);
        match same {
            None => told.push(file.clone()),
            Some(unit) if unit.asked => {
                unit.home.clone_from(&file.home);
            }
            Some(unit) => {
                let (state, active) = (unit.file_state.take(), unit.active_state.take());
                *unit = file.clone();
                unit.file_state = state.or_else(|| file.file_state.clone());
                unit.active_state = active;
            }
        }
    }
    // Neither loaded nor installed: there is no such unit.
    let is_there =
        |unit: &UnitFacts| unit.asked || unit.fragment.is_some() || unit.file_state.is_some();
    told.retain(is_there);
    for unit in told.iter_mut().filter(|unit| unit.asked) {
        let by_manager = unit_file::home(unit, Some(account));
        let whole = unit.environment.get("HERMES_HOME").is_some() || unit.home.is_none();
        if whole && by_manager.is_some() {
            unit.home = by_manager;
        }
    }
    match gap {
        Some(gap) if told.is_empty() => Fact::Unknown(gap),
        _ => Fact::Known(told),
    }
}

/// A process whose environment cannot be read serves the home whose record names it, else the home
/// that its unit gives it.
pub(super) fn attribute(
    processes: &mut [ProcessFacts],
    homes: &[HomeRecords],
    units: &[UnitFacts],
) {
    for home in homes {
        let records = [&home.gateway_pid, &home.gateway_lock, &home.serve];
        let alive = records
            .into_iter()
            .filter_map(|record| record.known()?.as_ref())
            .filter(|record| record.liveness == Liveness::Alive);
        for record in alive {
            let unknown = processes
                .iter_mut()
                .find(|process| process.pid == record.pid && process.home.known().is_none());
            if let Some(process) = unknown {
                process.home = Fact::Known(home.path.clone());
            }
        }
    }
    let unknown = processes
        .iter_mut()
        .filter(|process| process.home.known().is_none());
    for process in unknown {
        let by_unit = owner(process).and_then(|(name, manager)| {
            let same = |unit: &&UnitFacts| unit.name == name && unit.manager == Some(manager);
            units.iter().find(same)?.home.clone()
        });
        if let Some(home) = by_unit {
            process.home = Fact::Known(home);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::facts::{Facts, GapKind};

    fn unit() -> UnitFacts {
        let mut unit = Facts::example().dispatcher.unit.unwrap();
        unit.home = Some("/by/file".into());
        unit.asked = false;
        unit
    }

    fn account() -> AccountFacts {
        Facts::example().account
    }

    #[test]
    fn what_a_manager_tells_outranks_the_file() {
        let mut told = unit();
        told.asked = true;
        told.home = None;
        told.kill_mode = Some("process".to_owned());
        let merged = merged(vec![told], &[unit()], None, &account());
        let units = merged.known().unwrap();
        assert_eq!(units.len(), 1);
        assert_eq!(units[0].kill_mode.as_deref(), Some("process"));
        // Its environment names a home, so the manager's word counts there too.
        assert_eq!(units[0].home, Some("/srv/bot/.hermes".into()));
    }

    #[test]
    fn a_file_fills_in_what_is_not_loaded() {
        let named = UnitFacts {
            name: unit().name,
            manager: unit().manager,
            file_state: Some("masked".to_owned()),
            active_state: Some("inactive".to_owned()),
            ..UnitFacts::default()
        };
        let merged = merged(vec![named], &[unit()], None, &account());
        let units = merged.known().unwrap();
        assert_eq!(units[0].role, unit().role);
        assert_eq!(units[0].file_state.as_deref(), Some("masked"));
        assert_eq!(units[0].active_state.as_deref(), Some("inactive"));
    }

    #[test]
    fn silence_is_a_gap_only_where_no_file_speaks() {
        let gap = || {
            Some(Gap {
                kind: GapKind::Deadline,
                why: "mute".to_owned(),
                would_tell: Vec::new(),
            })
        };
        assert!(merged(Vec::new(), &[], gap(), &account()).gap().is_some());
        assert!(
            merged(Vec::new(), &[unit()], gap(), &account())
                .known()
                .is_some()
        );
        assert!(merged(Vec::new(), &[], None, &account()).known().is_some());
    }

    #[test]
    fn a_process_that_hides_its_home_serves_that_of_its_record_or_unit() {
        let facts = Facts::example();
        let mut process = facts.dispatcher.process.unwrap();
        process.home = Fact::denied("environ of pid 812");
        let mut processes = [process.clone()];
        attribute(&mut processes, &[], &[unit()]);
        assert_eq!(processes[0].home, Fact::Known("/by/file".into()));
        let mut stranger = [process];
        stranger[0].cgroup = Fact::Known("/".to_owned());
        attribute(&mut stranger, &[], &[unit()]);
        assert!(stranger[0].home.gap().is_some());
    }
}
