//! `hermes cron …`: one verb, one file.

mod cancel;
mod create;
pub(crate) mod desk;
pub(crate) mod doctor;
mod edit;
mod eye;
mod flags;
mod incident_orders;
pub(crate) mod incidents;
mod list;
mod logs;
pub(crate) mod next;
mod outlook;
mod pause;
pub(crate) mod reference;
mod remove;
mod resume;
mod run;
mod runs;
mod show;
mod status;
pub(crate) mod tick;

use clap::{Args, Subcommand};
use hermes::error::Result;
use hermes::runtime::Runtime;

use crate::exit::Exit;

/// Manage scheduled jobs, and find out why one does not fire
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes cron status
  hermes cron list
  hermes cron create 'every weekday at 9am' 'Sum up the news' --name digest
  hermes cron run digest
  hermes cron doctor")]
pub(crate) struct Cron {
    #[command(subcommand)]
    verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
enum Verb {
    List(list::List),
    Status(status::Status),
    Show(show::Show),
    Create(Box<create::Create>),
    Edit(Box<edit::Edit>),
    Pause(pause::Pause),
    Resume(resume::Resume),
    Remove(remove::Remove),
    Run(run::Run),
    Runs(runs::Runs),
    Logs(logs::Logs),
    Cancel(cancel::Cancel),
    Incidents(incidents::Incidents),
    Doctor(Box<doctor::Doctor>),
    Next(next::Next),
    Tick(tick::Tick),
}

impl Cron {
    /// Whether this is the doctor, to whom a home that is missing is an answer.
    pub(crate) fn is_doctor(&self) -> bool {
        matches!(self.verb, Verb::Doctor(_))
    }

    /// Runs the verb.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        match self.verb {
            Verb::List(list) => list.run(runtime),
            Verb::Status(status) => status.run(runtime),
            Verb::Show(show) => show.run(runtime),
            Verb::Create(create) => create.run(runtime),
            Verb::Edit(edit) => edit.run(runtime),
            Verb::Pause(pause) => pause.run(runtime),
            Verb::Resume(resume) => resume.run(runtime),
            Verb::Remove(remove) => remove.run(runtime),
            Verb::Run(run) => run.run(runtime),
            Verb::Runs(runs) => runs.run(runtime),
            Verb::Logs(logs) => logs.run(runtime),
            Verb::Cancel(cancel) => cancel.run(runtime),
            Verb::Incidents(incidents) => incidents.run(runtime),
            Verb::Doctor(doctor) => doctor.run(runtime),
            Verb::Next(next) => next.run(runtime),
            Verb::Tick(tick) => tick.run(runtime),
        }
    }
}
