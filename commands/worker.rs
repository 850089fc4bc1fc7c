//! The hidden subcommands that launchers start: a worker, the step before what it runs, and the process
//! that outlives a launcher.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use hermes::bus::Limits;
use hermes::child::guard::become_program;
use hermes::child::survivor::survive;
use hermes::cron::worker::{self, Ending, Orders};
use hermes::dispatch::Manager;
use hermes::dispatch::placement::Wish;
use hermes::error::{Context, Kind, Result};
use hermes::runtime::Runtime;

use crate::exit::Exit;

/// Adopt one execution and run it; its payload comes on stdin
#[derive(Args, Debug)]
pub(crate) struct Worker {
    /// The execution
    #[arg(long, value_name = "ID")]
    execution: String,
    /// The manager to place this process with
    #[arg(long, value_name = "MANAGER")]
    manager: Option<ManagerWord>,
    /// Ask that manager for a service at once, and for no scope
    #[arg(long)]
    services_only: bool,
    /// End rather than run where a restart of the dispatcher would kill it
    #[arg(long)]
    require_placement: bool,
    /// Memory limit of the unit, in bytes
    #[arg(long, value_name = "BYTES")]
    memory_max: Option<u64>,
}

/// Whose manager.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ManagerWord {
    /// PID 1
    System,
    /// The user's own
    User,
}

impl Worker {
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let wish = self.manager.map(|manager| Wish {
            execution_id: self.execution.clone(),
            description: format!("hermes cron job, execution {}", self.execution),
            manager: match manager {
                ManagerWord::System => Manager::System,
                ManagerWord::User => Manager::User,
            },
            services_only: self.services_only,
            runtime_dir: runtime.environ.text("XDG_RUNTIME_DIR").map(Into::into),
            uid: runtime.account.uid,
            limits: Limits {
                memory_max: self.memory_max,
                ..Limits::default()
            },
        });
        let orders = Orders {
            wish,
            execution_id: self.execution,
            require_placement: self.require_placement,
        };
        let ending = reactor()?.block_on(worker::run(orders, runtime.clock.clone()))?;
        Ok(match ending {
            Ending::HandedOn | Ending::Ran(true) => Exit::OK,
            Ending::Ran(false) | Ending::Stopped => Exit::FAILED,
        })
    }
}

/// One thread, which lives as long as the process: what it starts is tied to it.
fn reactor() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context(Kind::Internal, "there is no event loop")
}

/// Tie this process to its parent and become a program
#[derive(Args, Debug)]
pub(crate) struct Guard {
    /// The parent
    #[arg(long, value_name = "PID")]
    parent: u32,
    /// Program and arguments
    #[arg(last = true, required = true)]
    argv: Vec<OsString>,
}

impl Guard {
    pub(crate) fn run(self) -> Result<Exit> {
        match become_program(self.parent, &self.argv)? {}
    }
}

/// Wait for the end of what started this process, and kill what it left running
#[derive(Args, Debug)]
pub(crate) struct Survivor {}

impl Survivor {
    pub(crate) fn run(self) -> Exit {
        let Self {} = self;
        let _how_many = survive(std::io::stdin().lock());
        Exit::OK
    }
}
