//! One loaded unit, as its manager describes it: typed, and nothing invented. Owns the reading of
//! properties; what they mean for a dispatcher is the business of `host` and `doctor`.

use std::fmt;

use zbus::Variant;

use super::bag::{Bag, flag, strings, text};

/// A value that must not reach a log, a finding or a debug print.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Sensitive<T>(T);

impl<T> Sensitive<T> {
    /// Wraps a value.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// Looks at it, knowingly.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Sensitive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(sensitive)")
    }
}

/// One condition of a unit's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Its name: `ConditionPathExists`, …
    pub kind: String,
    /// One such condition is enough (`|`).
    pub triggers: bool,
    /// It holds where the thing is not so (`!`).
    pub negated: bool,
    /// What it asks about, specifiers filled in.
    pub parameter: String,
    /// Whether it held; `None`: not checked.
    pub held: Option<bool>,
}

/// A unit's properties. `None`: the manager did not tell, or the unit has no such property.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unit {
    /// `Id`, its name.
    pub name: String,
    /// `LoadState`.
    pub load_state: Option<String>,
    /// `LoadError`: name and words.
    pub load_error: Option<(String, String)>,
    /// `ActiveState`.
    pub active_state: Option<String>,
    /// `SubState`.
    pub sub_state: Option<String>,
    /// `UnitFileState`.
    pub file_state: Option<String>,
    /// `Result` of the last run.
    pub result: Option<String>,
    /// `ConditionResult`.
    pub condition_result: Option<bool>,
    /// `Conditions`, as they were met or not when last checked.
    pub conditions: Vec<Condition>,
    /// `ConditionTimestamp`, in microseconds since 1970; `None`: never checked.
    pub condition_checked_us: Option<u64>,
    /// `Type`.
    pub service_type: Option<String>,
    /// `KillMode`.
    pub kill_mode: Option<String>,
    /// `User`; `None` for none.
    pub user: Option<String>,
    /// `UID` that the unit runs with, once it does.
    pub uid: Option<u32>,
    /// `Environment`, `NAME=value` each.
    pub environment: Sensitive<Vec<String>>,
    /// `EnvironmentFiles`: path, and whether its absence is forgiven.
    pub environment_files: Vec<(String, bool)>,
    /// The words of the first command of `ExecStart`; arguments may hold secrets.
    pub exec_start: Sensitive<Vec<String>>,
    /// `WorkingDirectory`, where the unit names one.
    pub working_directory: Option<String>,
    /// `Restart`.
    pub restart: Option<String>,
    /// `NRestarts`.
    pub restarts: Option<u32>,
    /// `MainPID`, if it runs.
    pub main_pid: Option<u32>,
    /// `ControlGroup`.
    pub control_group: Option<String>,
    /// `InvocationID`, in hexadecimal.
    pub invocation_id: Option<String>,
    /// `FragmentPath`.
    pub fragment: Option<String>,
    /// `DropInPaths`.
    pub drop_ins: Vec<String>,
    /// `Wants`, `Requires` and `BindsTo`: units that its start pulls in.
    pub wants: Vec<String>,
    /// `NeedDaemonReload`.
    pub need_daemon_reload: Option<bool>,
    /// `ProtectHome`.
    pub protect_home: Option<String>,
    /// `RestrictAddressFamilies`: whether the list allows (or forbids), and the list.
    pub address_families: Option<(bool, Vec<String>)>,
    /// `LimitNOFILESoft`; `None` for no limit.
    pub limit_nofile: Option<u64>,
    /// `OOMPolicy`.
    pub oom_policy: Option<String>,
    /// `ActiveEnterTimestamp`, in microseconds since 1970; `None`: never active.
    pub active_enter_us: Option<u64>,
    /// `MemoryMax`, in bytes; `None` for no limit.
    pub memory_max: Option<u64>,
    /// `TimeoutStopUSec`, in microseconds; `None` for no limit.
    pub stop_timeout_us: Option<u64>,
    /// `ExecMainCode` of `waitid`: 1 exited, 2 killed, 3 dumped.
    pub exit_code: Option<i32>,
    /// `ExecMainStatus`: exit status, or signal.
    pub exit_status: Option<i32>,
}

impl Unit {
    /// Whether the unit's processes cannot make Unix sockets. An empty allowing list allows nothing.
    #[must_use]
    pub fn forbids_unix_sockets(&self) -> Option<bool> {
        let (allows, families) = self.address_families.as_ref()?;
        let named = families.iter().any(|family| family == "AF_UNIX");
        Some(if *allows { !named } else { named })
    }

    pub(crate) fn read(bag: &Bag) -> Self {
        let mut unit = Self {
            name: bag.text("Id").unwrap_or_default(),
            load_state: bag.word("LoadState"),
            load_error: load_error(bag),
            active_state: bag.word("ActiveState"),
            sub_state: bag.word("SubState"),
            file_state: bag.word("UnitFileState"),
            condition_result: bag.flag("ConditionResult"),
            conditions: conditions(bag),
            condition_checked_us: bag.number("ConditionTimestamp").filter(|time| *time > 0),
            invocation_id: bag.hexadecimal("InvocationID"),
            fragment: bag.word("FragmentPath"),
            drop_ins: bag.texts("DropInPaths").unwrap_or_default(),
            wants: ["Wants", "Requires", "BindsTo"]
                .iter()
                .flat_map(|name| bag.texts(name).unwrap_or_default())
                .collect(),
            need_daemon_reload: bag.flag("NeedDaemonReload"),
            active_enter_us: bag.number("ActiveEnterTimestamp").filter(|time| *time > 0),
            ..Self::default()
        };
        unit.read_service(bag);
        unit.read_sandbox(bag);
        unit
    }

    fn read_service(&mut self, bag: &Bag) {
        self.result = bag.word("Result");
        self.service_type = bag.word("Type");
        self.kill_mode = bag.word("KillMode");
        self.user = bag.word("User");
        let uid = bag.number("UID").and_then(|uid| u32::try_from(uid).ok());
        self.uid = uid.filter(|uid| *uid != u32::MAX);
        self.environment = Sensitive(bag.texts("Environment").unwrap_or_default());
        self.environment_files = environment_files(bag);
        self.exec_start = Sensitive(first_command(bag));
        self.working_directory = bag.word("WorkingDirectory");
        self.restart = bag.word("Restart");
        self.restarts = bag
            .number("NRestarts")
            .and_then(|count| u32::try_from(count).ok());
        self.main_pid = bag.pid("MainPID");
        self.control_group = bag.word("ControlGroup");
        self.stop_timeout_us = bag.limit("TimeoutStopUSec");
        self.exit_code = bag.status("ExecMainCode");
        self.exit_status = bag.status("ExecMainStatus");
    }

    fn read_sandbox(&mut self, bag: &Bag) {
        self.protect_home = bag.word("ProtectHome");
        self.address_families = address_families(bag);
        self.limit_nofile = bag.limit("LimitNOFILESoft");
        self.oom_policy = bag.word("OOMPolicy");
        self.memory_max = bag.limit("MemoryMax");
    }
}

/// `(ss)`, both empty where loading went well.
fn load_error(bag: &Bag) -> Option<(String, String)> {
    match bag.row("LoadError")? {
        [name, words] => Some((text(name)?, text(words)?)).filter(|(name, _)| !name.is_empty()),
        _ => None,
    }
}

/// `a(sbbsi)`
fn conditions(bag: &Bag) -> Vec<Condition> {
    let rows = bag.rows("Conditions").unwrap_or_default();
    rows.iter()
        .filter_map(|row| match row {
            [kind, triggers, negated, parameter, state] => Some(Condition {
                kind: text(kind)?,
                triggers: flag(triggers)?,
                negated: flag(negated)?,
                parameter: text(parameter)?,
                held: match state {
                    Variant::I32(0) => None,
                    Variant::I32(state) => Some(*state > 0),
                    _ => return None,
                },
            }),
            _ => None,
        })
        .collect()
}

/// `a(sb)`
fn environment_files(bag: &Bag) -> Vec<(String, bool)> {
    let rows = bag.rows("EnvironmentFiles").unwrap_or_default();
    rows.iter()
        .filter_map(|row| match row {
            [path, forgiven] => Some((text(path)?, flag(forgiven)?)),
            _ => None,
        })
        .collect()
}

/// `a(sasb…)`: path, words, …; the words include the program's name.
fn first_command(bag: &Bag) -> Vec<String> {
    let rows = bag.rows("ExecStart").unwrap_or_default();
    match rows.first() {
        Some([_, words, ..]) => strings(words).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// `(bas)`
fn address_families(bag: &Bag) -> Option<(bool, Vec<String>)> {
    match bag.row("RestrictAddressFamilies")? {
        [allows, families] => Some((flag(allows)?, strings(families)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use zbus::OwnedVariant;

    use super::*;

    fn bag(pairs: Vec<(&str, Variant<'static>)>) -> Bag {
        let mut bag = Bag::default();
        let values: HashMap<String, OwnedVariant> = pairs
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.try_into_owned().unwrap()))
            .collect();
        bag.extend(values);
        bag
    }

    #[test]
    fn a_service_is_read() {
        let unit = Unit::read(&bag(vec![
            ("Id", "demo.service".into()),
            ("LoadError", ("", "").into()),
            (
                "Conditions",
                vec![
                    ("ConditionPathExists", true, false, "/a", -1),
                    ("ConditionACPower", false, true, "true", 0),
                ]
                .into(),
            ),
            ("KillMode", "process".into()),
            ("User", "".into()),
            ("Environment", vec!["A=secret", "HERMES_HOME=/h"].into()),
            ("EnvironmentFiles", vec![("/etc/x", true)].into()),
            (
                "ExecStart",
                vec![("/bin/hermes", vec!["hermes", "serve"], false, 1_u64)].into(),
            ),
            ("MainPID", 42_u32.into()),
            ("LimitNOFILESoft", u64::MAX.into()),
            ("InvocationID", vec![1_u8, 171].into()),
            ("RestrictAddressFamilies", (true, vec!["AF_INET"]).into()),
            ("UID", u32::MAX.into()),
        ]));
        assert_eq!(unit.name, "demo.service");
        assert_eq!(unit.load_error, None);
        let conditions = unit.conditions.iter().map(|condition| {
            let Condition {
                kind,
                triggers,
                negated,
                held,
                ..
            } = condition;
            (kind.as_str(), *triggers, *negated, *held)
        });
        let conditions: Vec<_> = conditions.collect();
        assert_eq!(
            conditions,
            [
                ("ConditionPathExists", true, false, Some(false)),
                ("ConditionACPower", false, true, None)
            ]
        );
        assert_eq!(unit.kill_mode.as_deref(), Some("process"));
        assert_eq!((unit.user.as_deref(), unit.uid), (None, None));
        assert_eq!(unit.environment.expose().len(), 2);
        assert_eq!(unit.environment_files, [("/etc/x".to_owned(), true)]);
        assert_eq!(*unit.exec_start.expose(), ["hermes", "serve"]);
        assert_eq!(unit.main_pid, Some(42));
        assert_eq!(unit.limit_nofile, None);
        assert_eq!(unit.invocation_id.as_deref(), Some("01ab"));
        assert_eq!(unit.forbids_unix_sockets(), Some(true));
    }

    #[test]
    fn values_of_the_environment_are_never_printed() {
        let unit = Unit::read(&bag(vec![
            ("Environment", vec!["TOKEN=hunter2"].into()),
            (
                "ExecStart",
                vec![("/bin/x", vec!["x", "--key=hunter2"])].into(),
            ),
        ]));
        assert!(!format!("{unit:?}").contains("hunter2"));
    }

    #[test]
    fn properties_of_other_types_are_not_believed() {
        let unit = Unit::read(&bag(vec![
            ("KillMode", 7_u32.into()),
            ("MainPID", "42".into()),
            ("Environment", vec![1_u32].into()),
            ("ExecStart", vec!["hermes"].into()),
            ("LoadError", "broken".into()),
            ("RestrictAddressFamilies", (1_u32, 2_u32).into()),
        ]));
        assert_eq!(unit, Unit::default());
    }

    #[test]
    fn a_list_of_families_allows_or_forbids() {
        let forbids = |allows: bool, families: &[&str]| {
            let families = families.iter().map(|family| (*family).to_owned()).collect();
            Unit {
                address_families: Some((allows, families)),
                ..Unit::default()
            }
            .forbids_unix_sockets()
        };
        assert_eq!(forbids(false, &[]), Some(false));
        assert_eq!(forbids(false, &["AF_UNIX"]), Some(true));
        assert_eq!(forbids(true, &["AF_INET", "AF_UNIX"]), Some(false));
        assert_eq!(forbids(true, &[]), Some(true));
        assert_eq!(Unit::default().forbids_unix_sockets(), None);
    }
}
