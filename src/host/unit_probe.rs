//! Service units as facts, asked of their manager. Starts and loads nothing.

use std::collections::BTreeMap;

use super::{
    bus_probe::Managers,
    command,
    facts::{Environment, Fact, GapKind, ManagerKind, UnitCondition, UnitFacts},
};
use crate::bus::{CallError, Client, Condition, FailureKind, Unit};

/// Names under which a dispatcher is installed, by either program.
pub const PATTERNS: [&str; 1] = ["*hermes*.service"];
/// More units than these are not asked; a host has one or two.
const MOST: usize = 64;

/// Units of both managers that run, or would run, a dispatcher. A user manager that does not answer
/// has no running units, so only PID 1's silence is a gap.
pub async fn dispatcher_units(managers: &Managers) -> Fact<Vec<UnitFacts>> {
    let Some(system) = &managers.system else {
        return Fact::hidden("PID 1 does not answer over the bus");
    };
    let mut found = match units(system, ManagerKind::System, &PATTERNS).await {
        Ok(found) => found,
        Err(error) => return Fact::unknown(gap_of(&error), error.to_string()),
    };
    if let Some(user) = &managers.user {
        match units(user, ManagerKind::User, &PATTERNS).await {
            Ok(more) => found.extend(more),
            Err(error) => return Fact::unknown(gap_of(&error), error.to_string()),
        }
    }
    Fact::Known(found)
}

fn gap_of(error: &CallError) -> GapKind {
    match error.failure().kind {
        FailureKind::PermissionDenied => GapKind::Permission,
        FailureKind::Mute => GapKind::Deadline,
        _ => GapKind::Failed,
    }
}

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
        // What its manager has not loaded does not run.
        let idle = UnitFacts {
            active_state: Some("inactive".to_owned()),
            ..by_file
        };
        units.push(asked.map_or(idle, |unit| from_unit(&unit, manager)));
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
    let words = unit.exec_start.expose();
    let command = command::read_exec(words);
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
        role: command.as_ref().map(|command| command.role),
        program: command.as_ref().map(|command| command.program),
        profile: command.as_ref().and_then(|command| command.profile.clone()),
        exec: command.map_or_else(
            || words.first().cloned().into_iter().collect(),
            |command| command.words,
        ),
        working_directory: unit.working_directory.clone(),
        restart: unit.restart.clone(),
        restarts: unit.restarts,
        main_pid: unit.main_pid,
        ..named(unit.name.clone(), manager)
    };
    facts.control_group.clone_from(&unit.control_group);
    facts.fragment.clone_from(&unit.fragment);
    facts.drop_ins.clone_from(&unit.drop_ins);
    facts.wants.clone_from(&unit.wants);
    facts.conditions = unit.conditions.iter().map(condition).collect();
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

fn condition(condition: &Condition) -> UnitCondition {
    let triggers = if condition.triggers { "|" } else { "" };
    let negated = if condition.negated { "!" } else { "" };
    // What was filled in for a specifier is none itself.
    let parameter = condition.parameter.replace('%', "%%");
    UnitCondition {
        line: format!("{}={triggers}{negated}{parameter}", condition.kind),
        held: condition.held,
    }
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
    use crate::bus::{
        Door, Patience, Sensitive, dial,
        fake::{Call, Fake, MemberName, ObjectPath, Variant, refuses, returns},
    };

    #[test]
    fn only_our_selection_of_a_unit_is_kept() {
        let words = ["/opt/hermes", "serve", "--token", "hunter2"].map(str::to_owned);
        let pairs = ["HERMES_HOME=/srv/h", "API_TOKEN=hunter2", "broken"].map(str::to_owned);
        let unit = Unit {
            name: "hermes.service".to_owned(),
            environment: Sensitive::new(pairs.to_vec()),
            exec_start: Sensitive::new(words.to_vec()),
            condition_result: Some(false),
            conditions: vec![Condition {
                kind: "ConditionPathExists".to_owned(),
                triggers: true,
                negated: true,
                parameter: "/a%b".to_owned(),
                held: Some(false),
            }],
            active_enter_us: Some(1_500_000),
            ..Unit::default()
        };
        let facts = from_unit(&unit, ManagerKind::System);
        assert_eq!(facts.environment.get("HERMES_HOME"), Some("/srv/h"));
        assert_eq!(facts.exec, ["/opt/hermes", "serve"]);
        assert_eq!(facts.condition_result, None, "it was never checked");
        assert_eq!(facts.conditions[0].line, "ConditionPathExists=|!/a%%b");
        assert_eq!(facts.active_since, Some(1.5));
        assert!(!serde_json::to_string(&facts).unwrap().contains("hunter2"));
    }

    const NO_SUCH_UNIT: &str = "org.freedesktop.systemd1.NoSuchUnit";

    type Loaded = (
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        ObjectPath<'static>,
        u32,
        &'static str,
        ObjectPath<'static>,
    );

    /// One unit installed, another one loaded from nowhere and gone before it could be asked.
    fn manager(message: &Call) -> Vec<Call> {
        let header = message.header();
        let root = || ObjectPath::try_from("/").unwrap();
        let gone: Loaded = (
            "old-hermes.service",
            "",
            "not-found",
            "failed",
            "failed",
            "",
            root(),
            0,
            "",
            root(),
        );
        let reply = match header.member().map(MemberName::as_str) {
            Some("Get") => returns(&header, &Variant::from("252")),
            Some("ListUnitFilesByPatterns") => returns(
                &header,
                &vec![("/etc/systemd/system/hermes.service", "disabled")],
            ),
            Some("ListUnitsByPatterns") => returns(&header, &vec![gone]),
            _ => refuses(&header, NO_SUCH_UNIT, "not loaded"),
        };
        vec![reply]
    }

    #[tokio::test]
    async fn what_is_not_loaded_is_known_by_its_file() {
        let fake = Fake::answering(manager);
        let uid = rustix::process::geteuid().as_raw();
        let (_, system) = dial(Door::Private, &fake.path(), uid, Patience::default()).await;
        let managers = Managers { system, user: None };
        let found = dispatcher_units(&managers).await;
        let units = found.known().unwrap();
        let names: Vec<&str> = units.iter().map(|unit| unit.name.as_str()).collect();
        assert_eq!(names, ["hermes.service", "old-hermes.service"]);
        assert!(units.iter().all(|unit| !unit.asked));
        assert_eq!(units[0].file_state.as_deref(), Some("disabled"));
        assert_eq!(units[0].active_state.as_deref(), Some("inactive"));
    }

    #[tokio::test]
    async fn without_a_manager_the_units_are_not_known_to_be_none() {
        let found = dispatcher_units(&Managers::default()).await;
        assert_eq!(found.gap().map(|gap| gap.kind), Some(GapKind::Hidden));
    }
}
