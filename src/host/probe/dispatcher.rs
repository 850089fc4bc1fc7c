//! Puts the facts of the dispatcher together, once it is chosen.

use std::path::PathBuf;

use crate::host::choose::Chosen;
use crate::host::facts::{
    Dispatcher, Environment, Fact, GapKind, HomeRecords, ManagerKind, ProcessFacts, Program,
    ProgramLookup, UnitFacts, Viewpoint,
};
use crate::host::program_probe::on_path;

use super::environment::{of_hidden, of_process, of_unit};
use super::version::{Clues, version};

/// What it is put together from.
pub(super) struct Parts {
    /// The choice.
    pub(super) chosen: Chosen,
    /// This process.
    pub(super) shell: ProcessFacts,
    /// Serves, gateways and workers.
    pub(super) processes: Vec<ProcessFacts>,
    /// Units.
    pub(super) units: Vec<UnitFacts>,
    /// Records of the homes.
    pub(super) homes: Vec<HomeRecords>,
    /// The uid of this process.
    pub(super) uid: u32,
}

impl Parts {
    fn process(&self) -> Option<&ProcessFacts> {
        let pid = self.chosen.process?;
        self.processes.iter().find(|process| process.pid == pid)
    }

    fn unit(&self) -> Option<UnitFacts> {
        let (name, manager) = self.chosen.unit.as_ref()?;
        let known = self
            .units
            .iter()
            .find(|unit| unit.name == *name && unit.manager == Some(*manager));
        Some(known.cloned().unwrap_or_else(|| UnitFacts {
            name: name.clone(),
            manager: Some(*manager),
            ..UnitFacts::default()
        }))
    }

    fn environ(&self, unit: Option<&UnitFacts>) -> (Fact<Environment>, String) {
        match (self.process(), unit) {
            // A unit of which only the name is known gives nothing.
            (Some(process), Some(unit))
                if process.environ.known().is_none() && unit.fragment.is_some() =>
            {
                of_hidden(process, unit, &self.chosen.account)
            }
            (Some(process), _) => of_process(process),
            (None, Some(unit)) => of_unit(unit, &self.chosen.account),
            (None, None) if self.chosen.account.uid == self.uid => {
                (self.shell.environ.clone(), "this shell".to_owned())
            }
            (None, None) => {
                let label = self.chosen.account.label();
                let why = format!("nothing of {label} runs, and this shell is another account's");
                (Fact::hidden(why), format!("a shell of {label}"))
            }
        }
    }

    fn program(&self, unit: Option<&UnitFacts>) -> Program {
        let by_process = self.process().and_then(|process| process.program);
        let by_unit = unit.and_then(|unit| unit.program);
        by_process.or(by_unit).unwrap_or_else(|| {
            let agent = |home: &HomeRecords| {
                matches!(home.gateway_state, Fact::Known(Some(_)))
                    || matches!(home.gateway_pid, Fact::Known(Some(_)))
            };
            let ours = |home: &HomeRecords| matches!(home.serve, Fact::Known(Some(_)));
            // Nothing runs: who served the home last would be started again.
            if self.homes.iter().any(agent) && !self.homes.iter().any(ours) {
                Program::HermesAgent
            } else {
                Program::Ours
            }
        })
    }

    fn home(&self, unit: Option<&UnitFacts>) -> Fact<PathBuf> {
        match (self.process(), unit) {
            (Some(process), _) => process.home.clone(),
            (None, Some(unit)) => unit.home.clone().map_or_else(
                || Fact::hidden(format!("{} does not tell its home", unit.name)),
                Fact::Known,
            ),
            (None, None) => Fact::Known(self.chosen.home.path.clone()),
        }
    }

    /// The facts of the dispatcher.
    pub(super) fn dispatcher(&self) -> Dispatcher {
        let unit = self.unit();
        let program = self.program(unit.as_ref());
        let clues = Clues {
            process: self.process(),
            unit: unit.as_ref().filter(|_| self.process().is_none()),
            homes: &self.homes,
        };
        let (version, version_source) = version(program, &clues);
        let (environ, environ_source) = self.environ(unit.as_ref());
        Dispatcher {
            version,
            version_source,
            programs: programs(program, &environ),
            environ,
            environ_source,
            ..self.without_files()
        }
    }

    /// The same, of what is known without reading any file.
    pub(super) fn without_files(&self) -> Dispatcher {
        let unit = self.unit();
        let process = self.process();
        let late = "files of the dispatcher could not be read in time";
        Dispatcher {
            viewpoint: self.chosen.viewpoint,
            chosen_because: self.chosen.because.clone(),
            program: self.program(unit.as_ref()),
            version: Fact::unknown(GapKind::Deadline, late),
            version_source: None,
            programs: Vec::new(),
            process: match self.chosen.viewpoint {
                Viewpoint::Shell => None,
                _ => process.cloned(),
            },
            environ: Fact::unknown(GapKind::Deadline, late),
            environ_source: "files that could not be read in time".to_owned(),
            home: self.home(unit.as_ref()),
            desktop: process.is_some_and(|process| process.desktop.known() == Some(&true)),
            unit,
        }
    }
}

/// What nearly every script and every agent calls: without these a `PATH` is of no use to a job.
const BASIC: [&str; 3] = ["date", "head", "ls"];

/// Programs that the dispatcher itself cannot do without, and its jobs.
fn programs(program: Program, environ: &Fact<Environment>) -> Vec<ProgramLookup> {
    let own = ("systemd-run", "hermes-agent");
    let own = [own]
        .into_iter()
        .filter(|_| program == Program::HermesAgent);
    let of_jobs = BASIC.map(|name| (name, ProgramLookup::JOBS));
    own.chain(of_jobs)
        .map(|(name, wanted_by)| ProgramLookup {
            name: name.to_owned(),
            wanted_by: wanted_by.to_owned(),
            found: environ.clone().map(|environ| on_path(name, environ.path())),
        })
        .collect()
}

/// Controllers that a scope of the account's manager can use: those that its slice was given.
pub(super) fn scope_controllers(uid: u32) -> Fact<Vec<String>> {
    let group = if uid == 0 {
        "system.slice".to_owned()
    } else {
        format!("user.slice/user-{uid}.slice/user@{uid}.service")
    };
    let path = format!("/sys/fs/cgroup/{group}/cgroup.controllers");
    match std::fs::read_to_string(&path) {
        Ok(text) => Fact::Known(text.split_ascii_whitespace().map(str::to_owned).collect()),
        Err(error) => crate::host::machine_probe::unreadable(&path, &error),
    }
}

/// Units that own these processes, to be asked for by name.
pub(super) fn owners(processes: &[ProcessFacts]) -> Vec<(String, ManagerKind)> {
    let mut owners: Vec<_> = processes
        .iter()
        .filter_map(crate::host::choose::owner)
        .collect();
    owners.sort_by(|a, b| a.0.cmp(&b.0));
    owners.dedup();
    owners
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::facts::Facts;

    fn put_together(facts: &Facts, chosen: &Chosen) -> Dispatcher {
        let parts = Parts {
            chosen: chosen.clone(),
            shell: facts.shell.clone(),
            processes: facts.dispatcher.process.clone().into_iter().collect(),
            units: facts.units.known().cloned().unwrap_or_default(),
            homes: facts.homes.clone(),
            uid: facts.caller.uid,
        };
        parts.dispatcher()
    }

    fn chosen(facts: &Facts, viewpoint: Viewpoint) -> Chosen {
        Chosen {
            viewpoint,
            process: (viewpoint == Viewpoint::Serve).then_some(812),
            unit: (viewpoint != Viewpoint::Shell)
                .then(|| ("hermes.service".to_owned(), ManagerKind::System)),
            account: facts.account.clone(),
            home: facts.home.clone(),
            because: "a test".to_owned(),
        }
    }

    #[test]
    fn a_running_serve_is_judged_by_its_own_environment() {
        let facts = Facts::example();
        let found = put_together(&facts, &chosen(&facts, Viewpoint::Serve));
        assert_eq!(found.environ, facts.dispatcher.environ);
        assert_eq!(found.environ_source, "/proc/812/environ");
        assert_eq!(found.unit.unwrap().name, "hermes.service");
        assert_eq!(
            found.version,
            Fact::Known(env!("CARGO_PKG_VERSION").to_owned())
        );
    }

    #[test]
    fn a_unit_that_does_not_run_is_judged_by_what_it_gives() {
        let facts = Facts::example();
        let found = put_together(&facts, &chosen(&facts, Viewpoint::Unit));
        assert_eq!(found.process, None);
        assert_eq!(found.environ_source, "what hermes.service gives");
        assert_eq!(found.program, Program::Ours);
    }

    #[test]
    fn the_shell_of_somebody_else_has_an_environment_that_nobody_knows() {
        let mut facts = Facts::example();
        let found = put_together(&facts, &chosen(&facts, Viewpoint::Shell));
        assert_eq!(found.environ, facts.shell.environ);
        facts.caller.uid = 0;
        let found = put_together(&facts, &chosen(&facts, Viewpoint::Shell));
        assert!(found.environ.gap().is_some());
    }

    #[test]
    fn b31_what_every_job_calls_is_looked_for_on_the_services_path() {
        let missing = |path: &str| {
            let environ = Environment::select([("PATH", path)].into_iter());
            let looked = programs(Program::HermesAgent, &Fact::Known(environ));
            let missing = looked
                .into_iter()
                .filter(|found| found.found == Fact::Known(None));
            missing.map(|found| found.name).collect::<Vec<_>>()
        };
        assert_eq!(missing("/opt/none"), ["systemd-run", "date", "head", "ls"]);
        let basic = |name: &String| BASIC.contains(&name.as_str());
        assert!(!missing("/opt/none:/usr/bin:/bin").iter().any(basic));
        assert_eq!(missing("").len(), 4, "an empty one names no directory");
        let unset = programs(Program::Ours, &Fact::Known(Environment::default()));
        let found = |program: &ProgramLookup| matches!(&program.found, Fact::Known(Some(_)));
        assert!(unset.iter().all(found), "a libc looks in its own places");
    }
}
