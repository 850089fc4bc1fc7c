//! The second stage: buses, unit files, and the files of homes, side by side, and the choice over all.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::bounded::start;
use crate::clock::{Clock as _, SystemClock};
use crate::error::Result;
use crate::home::{self, Home};
use crate::host::bus_probe::{BusFacts, Subject};
use crate::host::choose::{Accounts as _, Chosen, Field, choose};
use crate::host::facts::{
    AccountFacts, Environment, Fact, Facts, GapKind, HomeRecords, HostRecord, ManagerKind, OwnName,
    ProcessFacts, UnitFacts,
};
use crate::host::locks::LockTable;
use crate::host::records_probe::{homes, host_records, registry, unlooked};
use crate::host::{program_probe, unit_file};

use super::Observed;
use super::accounts::Database;
use super::buses::{Allowance, Answers, late, late_gap};
use super::dispatcher::{Parts, owners, scope_controllers};
use super::units::{attribute, merged, unit_files};

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

/// The second stage. Where buses hang they take a second and a half at worst, all together and however often
/// they are asked, and never longer than the deadline; what is late is a gap.
///
/// # Errors
/// When what was named (a unit, a process, a user, a home) is not there.
pub fn complete(
    mut observed: Observed,
    locks: &Arc<LockTable>,
    deadline: Duration,
) -> Result<Facts> {
    let started = SystemClock.now().monotonic;
    let left = || {
        let spent = SystemClock.now().monotonic.saturating_sub(started);
        deadline.saturating_sub(spent).min(ENOUGH)
    };
    let mut buses = Allowance::of(deadline);
    let database = Database::read();
    let asked = asked_account(&observed, &database);
    let mut files = unit_files(&database, asked.clone(), config(&observed, &asked), left());
    attribute(&mut observed.processes, &[], &files);
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
        Err(error) => match by_manager(&observed, &mut buses) {
            Some(unit) => select(&observed, &[unit])?,
            None => return Err(error),
        },
    };
    if first.account.uid != asked.uid {
        files = unit_files(
            &database,
            first.account.clone(),
            config(&observed, &first.account),
            left(),
        );
    }
    let mut round = round(&observed, first, (&files, locks, &mut buses), left());
    let units = round.units.known().cloned().unwrap_or_default();
    attribute(&mut observed.processes, &round.homes, &units);
    let chosen = select(&observed, &units)?;
    let same =
        |a: &Chosen, b: &Chosen| a.account.uid == b.account.uid && a.home.path == b.home.path;
    if same(&chosen, &round.chosen) {
        round.chosen = chosen;
    } else {
        round = self::round(&observed, chosen, (&files, locks, &mut buses), left());
    }
    Ok(assemble(observed, round, left()))
}

/// Where the caller keeps configuration, if that is whose it is.
fn config(observed: &Observed, account: &AccountFacts) -> Option<String> {
    variable(observed, "XDG_CONFIG_HOME").filter(|_| account.uid == observed.caller.uid)
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
fn by_manager(observed: &Observed, buses: &mut Allowance) -> Option<UnitFacts> {
    let name = observed.choice.unit.as_deref()?;
    let name = if name.contains('.') {
        name.to_owned()
    } else {
        format!("{name}.service")
    };
    let environ = observed.shell.environ.known();
    let subject = subject(&observed.caller, environ);
    let named = [ManagerKind::System, ManagerKind::User].map(|manager| (name.clone(), manager));
    let asked = buses.ask(&SystemClock, subject, named.to_vec());
    let answers = buses.wait(&SystemClock, asked)?;
    let mut units = answers.units.into_iter();
    let mut unit = units.find(|unit| unit.name == name && unit.asked)?;
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
fn round(
    observed: &Observed,
    chosen: Chosen,
    (files, locks, buses): (&[UnitFacts], &Arc<LockTable>, &mut Allowance),
    within: Duration,
) -> Round {
    let environ = environ_of(observed, &chosen);
    let subject = subject(&chosen.account, environ.as_ref());
    let mut named = owners(&observed.processes);
    named.extend(chosen.unit.clone());
    let asked = buses.ask(&SystemClock, subject.clone(), named);
    let looking = {
        let registry = registry(environ.as_ref(), &chosen.account);
        let (root, machine) = (chosen.home.path.clone(), observed.machine.clone());
        let profile = observed.choice.profile.clone();
        let locks = Arc::clone(locks);
        start("homes", move || {
            let list = list(&root, profile.as_deref());
            (
                homes(&list, &machine, &locks),
                host_records(registry.as_deref(), &machine),
            )
        })
    };
    let answers = buses.wait(&SystemClock, asked);
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

/// The homes under a root, or the one profile that was asked for.
fn list(root: &Path, profile: Option<&str>) -> Vec<Home> {
    let home = Home::at(root);
    match profile {
        Some(name) if name != "all" => vec![home],
        _ => home::list(&home).unwrap_or_else(|_| vec![home]),
    }
}

/// Puts it all together. What the dispatcher reads of files has a deadline too.
fn assemble(observed: Observed, round: Round, within: Duration) -> Facts {
    let parts = Parts {
        chosen: round.chosen.clone(),
        shell: observed.shell.clone(),
        processes: observed.processes.clone(),
        units: round.units.known().cloned().unwrap_or_default(),
        homes: round.homes.clone(),
        uid: observed.caller.uid,
    };
    let without_files = parts.without_files();
    let dispatcher = start("dispatcher", move || parts.dispatcher())
        .wait(within)
        .unwrap_or(without_files);
    let own_name = own_name(&observed.shell, within);
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
        own_name,
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

/// How this shell calls us; by our file, where its `PATH` does not answer.
fn own_name(shell: &ProcessFacts, within: Duration) -> OwnName {
    let file = shell.exe.known().cloned();
    let path = shell
        .environ
        .known()
        .and_then(|environ| environ.get("PATH"));
    let path = path.unwrap_or_default().to_owned();
    let looking = {
        let file = file.clone();
        start("own name", move || program_probe::own_name(file, &path))
    };
    looking.wait(within).unwrap_or(OwnName {
        file,
        on_path: None,
    })
}
