//! The facts of this host, in two stages, because confinement blinds.
//!
//! ```text
//! observe(choice, caller)       before confinement, on a thread of its own that ends with it; where it
//!                               hangs, the report says that it was left behind unconfined: everything that
//!                               reads other processes; touches /proc and a few files of /run, /etc
//! complete(observed, deadline)  after it: buses, unit files and the files of homes, each on a thread of
//!                               its own with a deadline; what is late is a gap
//! ```

mod accounts;
mod buses;
mod complete;
mod dispatcher;
mod environment;
mod units;
mod version;

use serde::{Deserialize, Serialize};

use crate::clock::{Clock as _, Now, SystemClock};
use crate::error::Result;
use crate::runtime::Runtime;

use super::census_probe::{ancestor, census};
use super::choose::Choice;
use super::facts::{AccountFacts, Environment, Fact, Machine, ProcessFacts, Program, Role};
use super::machine_probe::machine;
use super::process_probe::{Context, process};

pub use complete::complete;

/// Who asks.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The account.
    pub account: AccountFacts,
    /// Its environment, our selection.
    pub environ: Environment,
    /// The time that counts as now.
    pub now: Now,
}

impl Caller {
    /// The caller of this command.
    #[must_use]
    pub fn of(runtime: &Runtime) -> Self {
        let account = &runtime.account;
        let pairs: Vec<(String, String)> = runtime
            .environ
            .iter()
            .map(|(name, value)| {
                let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
                (text(name), text(value))
            })
            .collect();
        let pairs = pairs
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        // Boot time is the machine's even where the wall clock is given.
        let real = SystemClock.now();
        Self {
            account: AccountFacts {
                uid: account.uid,
                gid: Some(account.gid),
                name: account.name.clone(),
                home: account.home.clone(),
            },
            environ: Environment::select(pairs),
            now: Now {
                wall: runtime.clock.wall(),
                ..real
            },
        }
    }
}

/// What the first stage saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// What was asked for.
    pub choice: Choice,
    /// Who asks.
    pub caller: AccountFacts,
    /// The machine.
    pub machine: Machine,
    /// This process.
    pub shell: ProcessFacts,
    /// Serves, gateways and workers, and the process that was named.
    pub processes: Vec<ProcessFacts>,
    /// Which of them this process descends from.
    pub shell_inside: Option<u32>,
}

/// The first stage: looks at the machine and at other processes. Must run before confinement.
///
/// # Errors
/// When `/proc` cannot be listed at all.
pub fn observe(choice: &Choice, caller: &Caller) -> Result<Observed> {
    let machine = machine(&caller.environ, caller.now);
    let context = Context::of(&machine.boot);
    let mut processes = census(&context).unwrap_or_default();
    if let Some(pid) = choice.pid
        && !processes.iter().any(|process| process.pid == pid)
    {
        processes.extend(process(pid, &context));
    }
    let own = std::process::id();
    let mut shell = process(own, &context).unwrap_or_else(|| unseen(own));
    shell.role = Role::Shell;
    shell.program = Some(Program::Ours);
    shell.environ = Fact::Known(caller.environ.clone());
    Ok(Observed {
        choice: choice.clone(),
        caller: caller.account.clone(),
        machine,
        shell_inside: ancestor(own, &processes),
        shell,
        processes,
    })
}

/// Ourselves, where `/proc` does not show us.
fn unseen(pid: u32) -> ProcessFacts {
    fn gap<T>() -> Fact<T> {
        Fact::hidden("/proc does not show this process")
    }
    ProcessFacts {
        pid,
        ppid: gap(),
        parent: gap(),
        uid: Fact::Known(rustix::process::geteuid().as_raw()),
        start_ticks: gap(),
        started_at: gap(),
        zombie: false,
        nested: false,
        role: Role::Shell,
        program: Some(Program::Ours),
        same_binary: true,
        profile: None,
        home: gap(),
        desktop: Fact::Known(false),
        command: Vec::new(),
        exe: gap(),
        cgroup: gap(),
        environ: gap(),
        descriptors: gap(),
        loginuid: gap(),
        flocks: gap(),
    }
}

#[cfg(test)]
mod tests;
