//! The environment that a dispatcher has: what its process got at exec, what it loads over it, or what
//! a manager will give it.

use std::io::ErrorKind;
use std::path::Path;

use crate::config::dotenv;
use crate::home::Home;
use crate::host::env_file::environment_file;
use crate::host::facts::{
    AccountFacts, Environment, Fact, GapKind, ManagerKind, ProcessFacts, Program, UnitFacts,
};

/// Stands for the id that a manager makes at each start.
const GIVEN_AT_START: &str = "given-at-start";
/// The `PATH` that a manager gives where the unit names none.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin";

/// The environment of a running process, and where it comes from. Hermes Agent loads `.env` of its home
/// over what it was given.
pub(super) fn of_process(process: &ProcessFacts) -> (Fact<Environment>, String) {
    let source = format!("/proc/{}/environ", process.pid);
    with_env_file(process, process.environ.clone(), source)
}

/// The environment of a process that does not show it, by what its unit gives.
pub(super) fn of_hidden(
    process: &ProcessFacts,
    unit: &UnitFacts,
    account: &AccountFacts,
) -> (Fact<Environment>, String) {
    let (environ, source) = of_unit(unit, account);
    let hidden = format!("{source}; /proc/{}/environ cannot be read", process.pid);
    with_env_file(process, environ, hidden)
}

fn with_env_file(
    process: &ProcessFacts,
    environ: Fact<Environment>,
    source: String,
) -> (Fact<Environment>, String) {
    let home = process.home.known();
    match (process.program, home, &environ) {
        (Some(Program::HermesAgent), Some(home), Fact::Known(given)) => {
            overlaid(given, home, source)
        }
        _ => (environ, source),
    }
}

/// Lays the files of the home over it. What a file holds beyond our selection is dropped at once.
fn overlaid(given: &Environment, home: &Path, source: String) -> (Fact<Environment>, String) {
    let set = given.variables.clone().into_iter();
    let secret = |name: &String| (name.clone(), "set".to_owned());
    let before: dotenv::Environment = set.chain(given.secrets.iter().map(secret)).collect();
    match before.clone().under_home(&Home::at(home)) {
        Ok(after) if after == before => (Fact::Known(given.clone()), source),
        Ok(after) => {
            let pairs = after
                .names()
                .filter_map(|name| Some((name, after.get(name)?)));
            let merged = given.clone().overlaid(pairs);
            let source = format!("{source}, then .env of {}", home.display());
            (Fact::Known(merged), source)
        }
        Err(why) => {
            let why = format!("{} of {}", why, home.display());
            (Fact::unknown(GapKind::Permission, why), source)
        }
    }
}

/// The environment that a unit's process will have.
pub(super) fn of_unit(unit: &UnitFacts, account: &AccountFacts) -> (Fact<Environment>, String) {
    let mut environ = base(unit, account);
    environ.variables.extend(unit.environment.variables.clone());
    environ.secrets.extend(unit.environment.secrets.clone());
    let mut source = format!("what {} gives", unit.name);
    for path in &unit.environment_files {
        match std::fs::read(path) {
            Ok(bytes) => {
                let pairs = environment_file(&String::from_utf8_lossy(&bytes));
                let pairs = pairs
                    .iter()
                    .map(|(key, value)| (key.as_str(), value.as_str()));
                environ = environ.overlaid(pairs);
                source = format!("{source}, then {path}");
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => source = format!("{source}, without {path}, which cannot be read"),
        }
    }
    environ.count = environ.variables.len() + environ.secrets.len();
    (Fact::Known(environ), source)
}

/// What a manager sets by itself.
fn base(unit: &UnitFacts, account: &AccountFacts) -> Environment {
    let mut environ = Environment::default();
    let mut set = |name: &str, value: String| {
        environ.variables.insert(name.to_owned(), value);
    };
    set("PATH", DEFAULT_PATH.to_owned());
    set("INVOCATION_ID", GIVEN_AT_START.to_owned());
    let user = unit.manager == Some(ManagerKind::User);
    if user || unit.user.is_some() {
        if let Some(home) = &account.home {
            set("HOME", home.display().to_string());
        }
        if let Some(name) = &account.name {
            set("USER", name.clone());
            set("LOGNAME", name.clone());
        }
    }
    if user {
        let directory = format!("/run/user/{}", account.uid);
        set(
            "DBUS_SESSION_BUS_ADDRESS",
            format!("unix:path={directory}/bus"),
        );
        set("XDG_RUNTIME_DIR", directory);
    }
    environ
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::facts::Facts;

    #[test]
    fn a_system_unit_gives_no_way_to_the_bus_and_a_user_unit_does() {
        let facts = Facts::example();
        let mut unit = facts.dispatcher.unit.unwrap();
        let (environ, source) = of_unit(&unit, &facts.account);
        let environ = environ.known().unwrap().clone();
        assert_eq!(environ.get("XDG_RUNTIME_DIR"), None);
        assert_eq!(environ.get("HOME"), Some("/srv/bot"));
        assert!(environ.get("INVOCATION_ID").is_some());
        assert_eq!(environ.get("HERMES_HOME"), Some("/srv/bot/.hermes"));
        assert_eq!(source, "what hermes.service gives");
        unit.manager = Some(ManagerKind::User);
        let (environ, _) = of_unit(&unit, &facts.account);
        let directory = environ
            .known()
            .unwrap()
            .get("XDG_RUNTIME_DIR")
            .map(str::to_owned);
        assert_eq!(directory.as_deref(), Some("/run/user/1001"));
    }

    #[test]
    fn files_of_a_unit_are_laid_over() {
        let facts = Facts::example();
        let mut unit = facts.dispatcher.unit.unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "HERMES_TIMEZONE=Asia/Tokyo\nAPI_KEY=hunter2\n").unwrap();
        unit.environment_files = vec![
            file.path().display().to_string(),
            "/nowhere/at/all".to_owned(),
        ];
        let (environ, source) = of_unit(&unit, &facts.account);
        let environ = environ.known().unwrap();
        assert_eq!(environ.get("HERMES_TIMEZONE"), Some("Asia/Tokyo"));
        assert!(!format!("{environ:?}").contains("hunter2"));
        assert!(source.contains("then "), "{source}");
    }

    #[test]
    fn hermes_agent_loads_its_env_file_over_what_it_was_given() {
        let mut facts = Facts::example();
        facts.hermes_agent("0.22.2");
        let dir = tempfile::tempdir().unwrap();
        let mut process = facts.dispatcher.process.unwrap();
        process.home = Fact::Known(dir.path().to_owned());
        let (before, source) = of_process(&process);
        assert_eq!(before, process.environ);
        assert!(source.ends_with("/environ"));
        std::fs::write(dir.path().join(".env"), "export TZ='Europe/Berlin'\n").unwrap();
        let (after, source) = of_process(&process);
        assert_eq!(after.known().unwrap().get("TZ"), Some("Europe/Berlin"));
        assert!(source.contains(", then "), "{source}");
        process.program = Some(Program::Ours);
        assert_eq!(of_process(&process).0, process.environ);
    }

    #[test]
    fn a_process_that_hides_its_environment_is_judged_by_what_its_unit_gives() {
        let facts = Facts::example();
        let mut process = facts.dispatcher.process.unwrap();
        process.environ = Fact::denied("environment of pid 812");
        let unit = facts.dispatcher.unit.unwrap();
        let (environ, source) = of_hidden(&process, &unit, &facts.account);
        let environ = environ.known().unwrap();
        assert_eq!(environ.get("HERMES_HOME"), Some("/srv/bot/.hermes"));
        assert!(source.contains("cannot be read"), "{source}");
    }
}
