//! Service units as facts, asked of their manager. Starts and loads nothing.

use std::collections::BTreeMap;

use super::facts::{Environment, ManagerKind, UnitFacts};
use crate::bus::{CallError, Client, Unit};

/// Names under which a dispatcher is installed, by either program.
pub const PATTERNS: [&str; 1] = ["*hermes*.service"];
/// More units than these are not asked; a host has one or two.
const MOST: usize = 64;
/// Words of a command that are kept: program and subcommands. What follows may be secret.
const WORDS: usize = 4;

/// Units of these names: loaded ones as their manager describes them, others by file and state.
pub async fn units(
    client: &Client,
    manager: ManagerKind,
    patterns: &[&str],
) -> Result<Vec<UnitFacts>, CallError> {
    let mut found = BTreeMap::new();
    for installed in client.installed_units(patterns).await? {
        let name = installed
            .path
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned();
        found.insert(
            name.clone(),
            from_file(name, manager, &installed.path, installed.state),
        );
    }
    for loaded in client.loaded_units(patterns).await? {
        found
            .entry(loaded.name.clone())
            .or_insert_with(|| named(loaded.name, manager));
    }
    let mut units = Vec::new();
    for (name, by_file) in found.into_iter().take(MOST) {
        let asked = client.unit(&name).await?;
        units.push(asked.map_or(by_file, |unit| from_unit(&unit, manager)));
    }
    Ok(units)
}

/// The unit that a process belongs to.
pub async fn unit_of(
    client: &Client,
    manager: ManagerKind,
    pid: u32,
) -> Result<Option<UnitFacts>, CallError> {
    Ok(client
        .unit_of(pid)
        .await?
        .map(|unit| from_unit(&unit, manager)))
}

fn named(name: String, manager: ManagerKind) -> UnitFacts {
    UnitFacts {
        name,
        manager: Some(manager),
        ..UnitFacts::default()
    }
}

fn from_file(name: String, manager: ManagerKind, path: &str, state: String) -> UnitFacts {
    let mut unit = named(name, manager);
    unit.fragment = Some(path.to_owned());
    unit.file_state = Some(state);
    unit
}

/// A unit as its manager describes it; of its environment only our selection.
#[must_use]
pub fn from_unit(unit: &Unit, manager: ManagerKind) -> UnitFacts {
    let forbids = unit.forbids_unix_sockets();
    let variables = unit.environment.expose().iter();
    let words = unit.exec_start.expose().iter();
    let mut facts = UnitFacts {
        asked: true,
        load_state: unit.load_state.clone(),
        load_error: unit.load_error.as_ref().map(|(_, words)| words.clone()),
        active_state: unit.active_state.clone(),
        sub_state: unit.sub_state.clone(),
        file_state: unit.file_state.clone(),
        result: unit.result.clone(),
        // Never checked is not the same as not met.
        condition_result: unit
            .condition_result
            .filter(|_| unit.condition_checked_us.is_some()),
        service_type: unit.service_type.clone(),
        kill_mode: unit.kill_mode.clone(),
        user: unit.user.clone(),
        environment: Environment::select(variables.filter_map(|pair| pair.split_once('='))),
        environment_files: unit
            .environment_files
            .iter()
            .map(|(path, _)| path.clone())
            .collect(),
        exec: words
            .take_while(|word| !word.starts_with('-'))
            .take(WORDS)
            .cloned()
            .collect(),
        working_directory: unit.working_directory.clone(),
        restart: unit.restart.clone(),
        restarts: unit.restarts,
        main_pid: unit.main_pid,
        ..named(unit.name.clone(), manager)
    };
    facts.control_group.clone_from(&unit.control_group);
    facts.fragment.clone_from(&unit.fragment);
    facts.drop_ins.clone_from(&unit.drop_ins);
    facts.need_daemon_reload = unit.need_daemon_reload;
    facts.protect_home.clone_from(&unit.protect_home);
    facts.unix_sockets_forbidden = forbids;
    facts.limit_nofile = unit.limit_nofile;
    facts.oom_policy.clone_from(&unit.oom_policy);
    facts.active_since = unit.active_enter_us.map(seconds);
    facts.memory_max = unit.memory_max;
    facts.stop_timeout = unit.stop_timeout_us.map(seconds);
    facts
}

#[expect(
    clippy::cast_precision_loss,
    reason = "seconds since 1970 need 31 of 53 bits"
)]
fn seconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::Sensitive;

    #[test]
    fn only_our_selection_of_a_unit_is_kept() {
        let words = ["/opt/hermes", "serve", "--token", "hunter2"].map(str::to_owned);
        let pairs = ["HERMES_HOME=/srv/h", "API_TOKEN=hunter2", "broken"].map(str::to_owned);
        let unit = Unit {
            name: "hermes.service".to_owned(),
            environment: Sensitive::new(pairs.to_vec()),
            exec_start: Sensitive::new(words.to_vec()),
            condition_result: Some(false),
            active_enter_us: Some(1_500_000),
            ..Unit::default()
        };
        let facts = from_unit(&unit, ManagerKind::System);
        assert_eq!(facts.environment.get("HERMES_HOME"), Some("/srv/h"));
        assert_eq!(facts.exec, ["/opt/hermes", "serve"]);
        assert_eq!(facts.condition_result, None, "it was never checked");
        assert_eq!(facts.active_since, Some(1.5));
        assert!(!serde_json::to_string(&facts).unwrap().contains("hunter2"));
    }
}
