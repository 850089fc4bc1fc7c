//! Whose point of view is taken, and which home is judged with it. Pure.
//!
//! A running serve or gateway of the home, else an installed unit that would run one, else this shell.
//! What chooses a process or a unit chooses its home too: under `sudo`, root's own home is judged only
//! if nothing else is there to judge.

mod rank;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::home::{Home, Source};

use super::cgroup;
use super::facts::{
    AccountFacts, ChosenHome, Environment, ManagerKind, ProcessFacts, Role, UnitFacts, Viewpoint,
};

/// What was asked for on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// `--home`.
    pub home: Option<PathBuf>,
    /// `--profile`: a name, or `all`.
    pub profile: Option<String>,
    /// `--unit`.
    pub unit: Option<String>,
    /// `--pid`.
    pub pid: Option<u32>,
    /// `--user`.
    pub user: Option<String>,
    /// `--shell`.
    pub shell: bool,
}

/// Looks up accounts: by uid, and by name.
pub trait Accounts {
    /// The account of this uid.
    fn by_uid(&self, uid: u32) -> Option<AccountFacts>;
    /// The account of this name.
    fn by_name(&self, name: &str) -> Option<AccountFacts>;
}

/// All that there is to choose from.
pub struct Field<'a> {
    /// What was asked for.
    pub choice: &'a Choice,
    /// Who asks.
    pub caller: &'a AccountFacts,
    /// The caller's environment.
    pub environ: &'a Environment,
    /// Serves, gateways and workers.
    pub processes: &'a [ProcessFacts],
    /// Units that run, or would run, one of them.
    pub units: &'a [UnitFacts],
    /// Homes that are there, of those that might be meant.
    pub existing: &'a [PathBuf],
    /// The user database.
    pub accounts: &'a dyn Accounts,
}

/// The choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Whose point of view.
    pub viewpoint: Viewpoint,
    /// The process, by pid.
    pub process: Option<u32>,
    /// The unit, by name and manager.
    pub unit: Option<(String, ManagerKind)>,
    /// The account that dispatches.
    pub account: AccountFacts,
    /// The home.
    pub home: ChosenHome,
    /// Why.
    pub because: String,
}

/// What is looked for, if no process and no unit is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Who serves this home.
    Home(ChosenHome),
    /// Who serves any home of this account.
    Account(AccountFacts),
    /// Whoever serves: root asked, and named nothing.
    Any,
}

/// Chooses.
///
/// # Errors
/// When what was named is not there, or makes no sense together.
pub fn choose(field: &Field<'_>) -> Result<Chosen> {
    let named = [
        field.choice.pid.is_some(),
        field.choice.unit.is_some(),
        field.choice.shell,
    ];
    if named.iter().filter(|named| **named).count() > 1 {
        return Err(Error::usage("--pid, --unit and --shell exclude each other"));
    }
    let wanted = field.wanted()?;
    if let Some(pid) = field.choice.pid {
        return field.by_pid(pid, &wanted);
    }
    if let Some(name) = &field.choice.unit {
        return field.by_unit(name, &wanted);
    }
    if field.choice.shell {
        return field.shell(&wanted, "it was asked for".to_owned());
    }
    if let Some(process) = rank::best_process(field, &wanted) {
        let others = rank::count(field, &wanted).saturating_sub(1);
        return field.process(process, &wanted, &running(process, others));
    }
    if let Some(unit) = rank::best_unit(field, &wanted) {
        let because = format!("{} is installed and would run it", unit.name);
        return field.unit(unit, &wanted, because);
    }
    field.shell(
        &wanted,
        "no serve, gateway or unit of it was found".to_owned(),
    )
}

fn running(process: &ProcessFacts, others: usize) -> String {
    let what = match process.role {
        Role::Gateway => "the gateway that runs",
        _ => "the serve that runs",
    };
    match others {
        0 => what.to_owned(),
        1 => format!("{what}; one more can be chosen with --pid"),
        more => format!("{what}; {more} more can be chosen with --pid"),
    }
}

impl Field<'_> {
    fn wanted(&self) -> Result<Wanted> {
        if let Some(path) = &self.choice.home {
            let (home, source) = Home::resolve(Some(path), None, None)?;
            let because = "--home".to_owned();
            return Ok(Wanted::Home(self.chosen(home.path(), source, because)?));
        }
        if let Some(name) = &self.choice.user {
            let account = self.accounts.by_name(name).ok_or_else(|| {
                Error::new(
                    Kind::NotFound,
                    format!("there is no user '{}'", name.escape_debug()),
                )
            })?;
            return Ok(Wanted::Account(account));
        }
        if let Some(path) = self.environ.get("HERMES_HOME") {
            let because = "HERMES_HOME of this shell".to_owned();
            let path = Path::new(path);
            if !path.is_absolute() {
                return Err(Error::usage("HERMES_HOME is not an absolute path"));
            }
            return Ok(Wanted::Home(self.chosen(
                path,
                Source::Environment,
                because,
            )?));
        }
        if self.caller.uid == 0 {
            return Ok(Wanted::Any);
        }
        self.of_caller()
    }

    /// `~/.hermes` of the caller; where there is none, whatever a process or unit of the caller serves.
    fn of_caller(&self) -> Result<Wanted> {
        let own = self.caller.home.as_ref().map(|home| home.join(".hermes"));
        let there = own.is_some_and(|home| self.existing.contains(&home));
        let home = self.default_home(self.caller).map(Wanted::Home);
        let any = Wanted::Account(self.caller.clone());
        let serves = |wanted: &Wanted| {
            rank::count(self, wanted) > 0 || rank::best_unit(self, wanted).is_some()
        };
        if !there && !home.as_ref().is_ok_and(serves) && serves(&any) {
            return Ok(any);
        }
        home
    }

    /// The account that used `sudo`, if somebody did.
    pub(super) fn sudo(&self) -> Option<AccountFacts> {
        let name = self
            .environ
            .get("SUDO_USER")
            .filter(|_| self.caller.uid == 0)?;
        self.accounts
            .by_name(name)
            .filter(|account| account.uid != 0)
    }

    fn default_home(&self, account: &AccountFacts) -> Result<ChosenHome> {
        let home = account.home.as_ref().ok_or_else(|| {
            Error::usage(format!(
                "the home directory of {} is unknown",
                account.label()
            ))
            .with_hint("name the home with --home DIR")
        })?;
        let because = format!("~/.hermes of {}", account.label());
        self.chosen(&home.join(".hermes"), Source::Default, because)
    }

    /// The root of this home, or the one profile that was asked for.
    fn chosen(&self, path: &Path, source: Source, because: String) -> Result<ChosenHome> {
        let path: PathBuf = path.components().collect();
        let home = Home::at(path);
        let home = match self.choice.profile.as_deref() {
            None | Some("all") => home.root(),
            Some(name) => home.with_profile(name)?,
        };
        Ok(ChosenHome {
            path: home.path().to_owned(),
            source,
            because,
        })
    }

    /// The home that was asked for, else that of the process or unit, else the account's own.
    fn home(
        &self,
        wanted: &Wanted,
        of: Option<(&Path, String)>,
        account: &AccountFacts,
    ) -> Result<ChosenHome> {
        // A home of the environment is outdone by what was named; `--home` is not.
        let flagged = self.choice.home.is_some();
        let named = self.choice.pid.is_some() || self.choice.unit.is_some();
        match (wanted, of) {
            (Wanted::Home(home), None) => Ok(home.clone()),
            (Wanted::Home(home), Some(_)) if flagged || !named => Ok(home.clone()),
            (_, Some((path, because))) => self.chosen(path, Source::Dispatcher, because),
            (_, None) => self.default_home(account),
        }
    }

    fn account(&self, uid: Option<u32>) -> AccountFacts {
        match uid {
            Some(uid) if uid == self.caller.uid => self.caller.clone(),
            Some(uid) => self.accounts.by_uid(uid).unwrap_or(AccountFacts {
                uid,
                gid: None,
                name: None,
                home: None,
            }),
            None => self.caller.clone(),
        }
    }

    fn by_pid(&self, pid: u32, wanted: &Wanted) -> Result<Chosen> {
        let process = self.processes.iter().find(|process| process.pid == pid);
        let process = process.ok_or_else(|| {
            Error::new(Kind::NotFound, format!("no process {pid} is visible"))
                .with_hint("pids of containers are other ones inside than outside")
        })?;
        let mut chosen = self.process(process, wanted, "--pid")?;
        chosen.viewpoint = Viewpoint::Pid;
        Ok(chosen)
    }

    fn process(&self, process: &ProcessFacts, wanted: &Wanted, because: &str) -> Result<Chosen> {
        let account = self.account(process.uid.known().copied());
        let of = process.home.known().map(|path| {
            let because = format!("the home that pid {} serves", process.pid);
            (path.as_path(), because)
        });
        Ok(Chosen {
            viewpoint: match process.role {
                Role::Serve => Viewpoint::Serve,
                Role::Gateway => Viewpoint::Gateway,
                _ => Viewpoint::Pid,
            },
            process: Some(process.pid),
            unit: owner(process),
            home: self.home(wanted, of, &account)?,
            account,
            because: because.to_owned(),
        })
    }

    fn by_unit(&self, name: &str, wanted: &Wanted) -> Result<Chosen> {
        let full = if name.contains('.') {
            name.to_owned()
        } else {
            format!("{name}.service")
        };
        let runs = |process: &&ProcessFacts| {
            owner(process).is_some_and(|(unit, _)| unit == full) && process.role != Role::Worker
        };
        if let Some(process) = self.processes.iter().find(runs) {
            return self.process(process, wanted, "--unit");
        }
        match self.units.iter().find(|unit| unit.name == full) {
            Some(unit) => self.unit(unit, wanted, "--unit".to_owned()),
            None => Err(Error::new(
                Kind::NotFound,
                format!(
                    "no unit '{}' runs a serve or a gateway",
                    full.escape_debug()
                ),
            )
            .with_hint("a unit of another account needs --user NAME")),
        }
    }

    /// The account that a unit runs as.
    pub(super) fn unit_account(&self, unit: &UnitFacts, wanted: &Wanted) -> Option<AccountFacts> {
        match (unit.manager, unit.user.as_deref()) {
            (Some(ManagerKind::System), Some(user)) => match user.parse() {
                Ok(uid) => self.accounts.by_uid(uid),
                Err(_) => self.accounts.by_name(user),
            },
            (Some(ManagerKind::System), None) => self.accounts.by_uid(0),
            _ => Some(self.user_of_managers(wanted)),
        }
    }

    /// The account whose user units are seen: the one that was asked for, else whoever used `sudo`,
    /// else the caller.
    pub(super) fn user_of_managers(&self, wanted: &Wanted) -> AccountFacts {
        match wanted {
            Wanted::Account(account) => account.clone(),
            _ => self.sudo().unwrap_or_else(|| self.caller.clone()),
        }
    }

    fn unit(&self, unit: &UnitFacts, wanted: &Wanted, because: String) -> Result<Chosen> {
        let account = self
            .unit_account(unit, wanted)
            .unwrap_or_else(|| self.caller.clone());
        let of = unit.home.as_deref().map(|path| {
            let because = format!("the home that {} serves", unit.name);
            (path, because)
        });
        Ok(Chosen {
            viewpoint: Viewpoint::Unit,
            process: None,
            unit: unit.manager.map(|manager| (unit.name.clone(), manager)),
            home: self.home(wanted, of, &account)?,
            account,
            because,
        })
    }

    fn shell(&self, wanted: &Wanted, because: String) -> Result<Chosen> {
        let sudo = self.sudo().filter(|_| !self.choice.shell);
        let (account, home) = match wanted {
            Wanted::Home(home) => (self.caller.clone(), home.clone()),
            Wanted::Account(account) => (account.clone(), self.default_home(account)?),
            Wanted::Any => self.of_root(sudo)?,
        };
        Ok(Chosen {
            viewpoint: Viewpoint::Shell,
            process: None,
            unit: None,
            account,
            home,
            because,
        })
    }

    /// Under `sudo` the home of who used it, if it is there or root has none either.
    fn of_root(&self, sudo: Option<AccountFacts>) -> Result<(AccountFacts, ChosenHome)> {
        let own = self.default_home(self.caller);
        if let Some(account) = sudo {
            let home = self.default_home(&account)?;
            let there = |home: &ChosenHome| self.existing.contains(&home.path);
            if there(&home) || !own.as_ref().is_ok_and(there) {
                return Ok((account, home));
            }
        }
        Ok((self.caller.clone(), own?))
    }
}

/// The service that owns a process, by its cgroup.
#[must_use]
pub fn owner(process: &ProcessFacts) -> Option<(String, ManagerKind)> {
    let unit = cgroup::unit(process.cgroup.known()?)?;
    let service = unit.name.ends_with(".service") && !unit.name.starts_with("user@");
    service.then_some((unit.name, unit.manager))
}

#[cfg(test)]
mod tests;
