//! The second stage: buses, unit files, and the files of homes, side by side, and the choice over all.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::bus::{
    Failure, FailureKind, LogindReport, Placement, SessionBusReport, SystemBusReport,
};
use crate::clock::{Clock as _, SystemClock};
use crate::error::Result;
use crate::home::{self, Home};
use crate::host::bus_probe::{BusFacts, Places, Subject, linger_marker, runtime_dir};
use crate::host::choose::{Chosen, Field, choose, owner};
use crate::host::facts::{
    AccountFacts, Environment, Fact, Facts, Gap, GapKind, HomeRecords, HostRecord, Machine,
    ManagerKind, UnitFacts,
};
use crate::host::liveness::Liveness;
use crate::host::locks::LockTable;
use crate::host::records_probe::{homes, host_records, registry, unlooked};
use crate::host::{choose::Accounts as _, unit_file, unit_file_probe};

use super::Observed;
use super::accounts::Database;
use super::bounded::start;
use super::buses::{Answers, ask};
use super::dispatcher::{Parts, dispatcher, owners, scope_controllers};

/// No source gets more than this: what has not answered by then hangs.
const ENOUGH: Duration = Duration::from_secs(3);

/// What one round of asking found.
struct Round {
    chosen: Chosen,
    bus: BusFacts,
    units: Fact<Vec<UnitFacts>>,
    homes: Vec<HomeRecords>,
    host_records: Fact<Vec<HostRecord>>,
}

/// The second stage. Takes about a second and a half at worst where a bus hangs, and never longer than
/// the deadline; what is late is a gap.
///
/// # Errors
/// When what was named (a unit, a process, a user, a home) is not there.
pub fn complete(mut observed: Observed, deadline: Duration) -> Result<Facts> {
    let started = SystemClock.now().monotonic;
    let left = || {
        let spent = SystemClock.now().monotonic.saturating_sub(started);
        deadline.saturating_sub(spent).min(ENOUGH)
    };
    let database = Database::read();
    let files = unit_files(&observed, &database, left());
    let existing = existing(&observed, &database, left());
    let environ = observed.shell.environ.known().cloned().unwrap_or_default();
    let select = |observed: &Observed, units: &[UnitFacts]| {
        choose(&Field {
            choice: &observed.choice,
            caller: &observed.caller,
            environ: &environ,
            processes: &observed.processes,
            units,
            existing: &existing,
            accounts: &database,
        })
    };
    // A unit that only its manager knows is not there yet: it is asked for, then chosen.
    let first = match select(&observed, &files) {
        Ok(chosen) => chosen,
        Err(error) => match by_manager(&observed, left()) {
            Some(unit) => select(&observed, &[unit])?,
            None => return Err(error),
        },
    };
    let mut round = round(&observed, first, &files, left());
    let units = round.units.known().cloned().unwrap_or_default();
    attribute(&mut observed, &round.homes, &units);
    let chosen = select(&observed, &units)?;
    if chosen.account.uid != round.chosen.account.uid || chosen.home != round.chosen.home {
        round = self::round(&observed, chosen, &files, left());
    } else {
        round.chosen = chosen;
    }
    Ok(assemble(observed, round))
}

/// Services by their files, for the caller's, the `sudo` user's and the named account's managers.
fn unit_files(observed: &Observed, database: &Database, within: Duration) -> Vec<UnitFacts> {
    let account = asked_account(observed, database);
    let config = variable(observed, "XDG_CONFIG_HOME").filter(|_| account == observed.caller);
    let database = database.clone();
    let found = start("unit files", move || {
        let directories = unit_file_probe::directories(Path::new("/"), &account, config.as_deref());
        let accounts = |name: &str| database.by_name(name);
        unit_file_probe::units(&directories, &account, &accounts)
    });
    found.wait(within).unwrap_or_default()
}

fn variable(observed: &Observed, name: &str) -> Option<String> {
    let environ = observed.shell.environ.known()?;
    environ.get(name).map(str::to_owned)
}

/// The account whose user manager may matter before anything is chosen.
fn asked_account(observed: &Observed, database: &Database) -> AccountFacts {
    let by_name = |name: &str| database.by_name(name);
    let named = observed.choice.user.as_deref().and_then(by_name);
    let sudo = || {
        let name = variable(observed, "SUDO_USER")?;
        (observed.caller.uid == 0).then(|| by_name(&name)).flatten()
    };
    named
        .or_else(sudo)
        .unwrap_or_else(|| observed.caller.clone())
}

/// Which of the default homes that may be meant are there.
fn existing(observed: &Observed, database: &Database, within: Duration) -> Vec<PathBuf> {
    let accounts = [observed.caller.clone(), asked_account(observed, database)];
    let homes = accounts.into_iter().filter_map(|account| account.home);
    let homes: Vec<PathBuf> = homes.map(|home| home.join(".hermes")).collect();
    let found = start("homes", move || {
        homes.into_iter().filter(|home| home.is_dir()).collect()
    });
    found.wait(within).unwrap_or_default()
}

/// A unit that was named, as PID 1 or the caller's manager knows it.
fn by_manager(observed: &Observed, within: Duration) -> Option<UnitFacts> {
    let name = observed.choice.unit.as_deref()?;
    let name = if name.contains('.') {
        name.to_owned()
    } else {
        format!("{name}.service")
    };
    let environ = observed.shell.environ.known();
    let subject = subject(&observed.caller, environ);
    let named = [ManagerKind::System, ManagerKind::User].map(|manager| (name.clone(), manager));
    let answers = ask(subject, named.to_vec(), within)
        .wait(within)
        .flatten()?;
    let mut unit = answers.units.into_iter().find(|unit| unit.name == name)?;
    unit.home = unit_file::home(&unit, Some(&observed.caller));
    Some(unit)
}

fn subject(account: &AccountFacts, environ: Option<&Environment>) -> Subject {
    Subject {
        uid: account.uid,
        gid: account.gid.unwrap_or(account.uid),
        name: account.name.clone(),
        runtime_dir: environ
            .and_then(|environ| environ.get("XDG_RUNTIME_DIR"))
            .map(str::to_owned),
    }
}

/// Asks buses and reads the files of the homes, side by side.
fn round(observed: &Observed, chosen: Chosen, files: &[UnitFacts], within: Duration) -> Round {
    let environ = environ_of(observed, &chosen);
    let subject = subject(&chosen.account, environ.as_ref());
    let mut named = owners(&observed.processes);
    named.extend(chosen.unit.clone());
    let patience = within.saturating_sub(Duration::from_millis(100));
    let asking = ask(subject.clone(), named, patience);
    let looking = {
        let registry = registry(environ.as_ref(), &chosen.account);
        let (root, machine) = (chosen.home.path.clone(), observed.machine.clone());
        let profile = observed.choice.profile.clone();
        start("homes", move || {
            look(&root, profile.as_deref(), &machine, registry.as_deref())
        })
    };
    let answers = asking.wait(within).flatten();
    let (homes, host_records) = looking.wait(within).unwrap_or_else(|| {
        let why = format!("{} did not answer in time", chosen.home.path.display());
        (
            vec![unlooked(&Home::at(&chosen.home.path), &why)],
            Fact::unknown(GapKind::Deadline, why),
        )
    });
    let (bus, told, gap) = match answers {
        Some(Answers { facts, units, gap }) => (facts, units, gap),
        None => (late(&subject), Vec::new(), Some(late_gap())),
    };
    // Without systemd there are no managers to be silent.
    let gap = gap.filter(|_| observed.machine.systemd_booted);
    let units = merged(told, files, gap, &chosen.account);
    Round {
        chosen,
        bus,
        units,
        homes,
        host_records,
    }
}

/// The environment that decides about runtime directory and registry.
fn environ_of(observed: &Observed, chosen: &Chosen) -> Option<Environment> {
    let process = observed
        .processes
        .iter()
        .find(|process| Some(process.pid) == chosen.process);
    match process {
        Some(process) => process.environ.known().cloned(),
        None if chosen.unit.is_none() && chosen.account.uid == observed.caller.uid => {
            observed.shell.environ.known().cloned()
        }
        None => None,
    }
}

fn look(
    root: &Path,
    profile: Option<&str>,
    machine: &Machine,
    registry: Option<&Path>,
) -> (Vec<HomeRecords>, Fact<Vec<HostRecord>>) {
    let home = Home::at(root);
    let list = match profile {
        Some(name) if name != "all" => vec![home],
        _ => home::list(&home).unwrap_or_else(|_| vec![home]),
    };
    let locks = LockTable::read();
    (
        homes(&list, machine, &locks),
        host_records(registry, machine),
    )
}

fn late_gap() -> Gap {
    Gap {
        kind: GapKind::Deadline,
        why: "the buses did not answer in time".to_owned(),
        would_tell: Vec::new(),
    }
}

/// What is left to say of buses that never answered.
fn late(subject: &Subject) -> BusFacts {
    let places = Places::default();
    let mute = || Failure::said(FailureKind::Mute, "no answer before the deadline over all");
    BusFacts {
        runtime_dir: runtime_dir(subject, &places),
        session_bus: SessionBusReport {
            uid: subject.uid,
            doors: Vec::new(),
            placement: Placement::Unknown(mute()),
            not_tried: Some(mute()),
        },
        system_bus: SystemBusReport {
            doors: Vec::new(),
            logind: LogindReport {
                failure: Some(mute()),
                ..LogindReport::default()
            },
            user_manager: None,
            user_manager_failure: Some(mute()),
        },
        linger_marker: linger_marker(&places.linger, subject.name.as_deref().unwrap_or_default()),
    }
}

/// What managers tell outranks files; a file adds what no manager has loaded.
fn merged(
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
                let state = unit.file_state.take();
                *unit = file.clone();
                unit.file_state = state.or_else(|| file.file_state.clone());
            }
        }
    }
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
fn attribute(observed: &mut Observed, homes: &[HomeRecords], units: &[UnitFacts]) {
    for home in homes {
        let records = [&home.gateway_pid, &home.gateway_lock, &home.serve];
        let alive = records
            .into_iter()
            .filter_map(|record| record.known()?.as_ref())
            .filter(|record| record.liveness == Liveness::Alive);
        for record in alive {
            let unknown = observed
                .processes
                .iter_mut()
                .find(|process| process.pid == record.pid && process.home.known().is_none());
            if let Some(process) = unknown {
                process.home = Fact::Known(home.path.clone());
            }
        }
    }
    let unknown = observed
        .processes
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

fn assemble(observed: Observed, round: Round) -> Facts {
    let units = round.units.known().cloned().unwrap_or_default();
    let dispatcher = dispatcher(&Parts {
        chosen: &round.chosen,
        shell: &observed.shell,
        processes: &observed.processes,
        units: &units,
        homes: &round.homes,
        uid: observed.caller.uid,
    });
    let own = dispatcher.process.as_ref().map(|process| process.pid);
    Facts {
        machine: observed.machine,
        scope_controllers: scope_controllers(round.chosen.account.uid),
        account: round.chosen.account,
        caller: observed.caller,
        home: round.chosen.home,
        homes: round.homes,
        host_records: round.host_records,
        shell: observed.shell,
        shell_inside: observed.shell_inside,
        others: observed
            .processes
            .into_iter()
            .filter(|process| Some(process.pid) != own)
            .collect(),
        dispatcher,
        units: round.units,
        runtime_dir: round.bus.runtime_dir,
        session_bus: round.bus.session_bus,
        system_bus: round.bus.system_bus,
        linger_marker: round.bus.linger_marker,
    }
}
