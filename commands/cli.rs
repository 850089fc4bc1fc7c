//! The command line: one definition that feeds the parser, the help, the man pages and the
//! completions.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use hermes::error::Result;
use hermes::output::ColorChoice;
use hermes::runtime::{Options, Runtime};

use crate::agent::Agent;
use crate::completions::Completions;
use crate::config::Config;
use crate::cron::Cron;
use crate::cron::doctor::Doctor;
use crate::exit::{Exit, TABLE};
use crate::explain::Explain;
use crate::heartbeat::Heartbeat;
use crate::r#loop::Loop;
use crate::man::Man;
use crate::pause::Pause;
use crate::resume::Resume;
use crate::serve::Serve;
use crate::service::Service;
use crate::session::Session;

/// Keep scheduled agent work alive, and tell why it is not
#[derive(Debug, Parser)]
#[command(
    name = "hermes",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
#[command(after_help = "\
Examples:
  hermes cron doctor        what is wrong; it changes nothing
  hermes explain HM204      what a code means
  hermes help exit-codes    what an exit status means")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// Home directory [default: HERMES_HOME, else ~/.hermes]
    #[arg(
        long,
        value_name = "DIR",
        global = true,
        help_heading = "Global options"
    )]
    home: Option<PathBuf>,
    /// Profile to look at; 'all' where the command only reads
    #[arg(
        long,
        short = 'p',
        value_name = "NAME",
        global = true,
        help_heading = "Global options"
    )]
    profile: Option<String>,
    /// When to use colour
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    #[arg(help_heading = "Global options")]
    color: When,
    /// Print ASCII only
    #[arg(long, global = true, help_heading = "Global options")]
    ascii: bool,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum When {
    /// As the environment and the terminal say
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Global {
    /// What was typed, in the terms of the library.
    pub(crate) fn options(&self) -> Options {
        Options {
            home: self.home.clone(),
            profile: self.profile.clone(),
            color: match self.color {
                When::Auto => ColorChoice::Auto,
                When::Always => ColorChoice::Always,
                When::Never => ColorChoice::Never,
            },
            ascii: self.ascii,
        }
    }
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(Serve),
    Service(Service),
    Cron(Cron),
    Loop(Loop),
    Heartbeat(Heartbeat),
    Session(Session),
    Agent(Agent),
    Pause(Pause),
    Resume(Resume),
    /// Look for what keeps scheduled work from running: 'hermes cron doctor'
    Doctor(Box<Doctor>),
    Config(Config),
    Explain(Explain),
    Completions(Completions),
    Man(Man),
    Help(Help),
    #[command(name = hermes::host::bus_probe::DOORS_COMMAND, hide = true)]
    Doors(crate::doors::Doors),
    #[command(name = hermes::doctor::confine::TRIAL_COMMAND, hide = true)]
    Confine(crate::doors::Confine),
    #[command(hide = true)]
    Offer(crate::offer::Offer),
    #[command(hide = true)]
    Worker(crate::worker::Worker),
    #[command(hide = true)]
    Guard(crate::worker::Guard),
    #[command(name = hermes::child::survivor::WORD, hide = true)]
    Survivor(crate::worker::Survivor),
}

impl Command {
    /// Whether a home that is named has to be there: not where one may be made, nor where the answer is that it
    /// is not.
    pub(crate) fn wants_home(&self) -> bool {
        match self {
            Self::Cron(cron) => !cron.is_doctor(),
            Self::Config(config) => !config.is_path(),
            Self::Loop(_)
            | Self::Heartbeat(_)
            | Self::Session(_)
            | Self::Agent(_)
            | Self::Pause(_)
            | Self::Resume(_) => true,
            _ => false,
        }
    }

    /// Runs the command.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        match self {
            Self::Serve(serve) => serve.run(runtime),
            Self::Service(service) => service.run(runtime),
            Self::Cron(cron) => cron.run(runtime),
            Self::Loop(verb) => verb.run(runtime),
            Self::Heartbeat(verb) => verb.run(runtime),
            Self::Session(verb) => verb.run(runtime),
            Self::Agent(agent) => agent.run(runtime),
            Self::Pause(pause) => pause.run(runtime),
            Self::Resume(resume) => resume.run(runtime),
            Self::Doctor(doctor) => doctor.run(runtime),
            Self::Config(config) => config.run(runtime),
            Self::Explain(explain) => explain.run(runtime),
            Self::Completions(completions) => completions.run(runtime),
            Self::Man(man) => man.run(runtime),
            Self::Help(help) => help.run(runtime),
            Self::Doors(doors) => doors.run(runtime),
            Self::Confine(trial) => Ok(trial.run()),
            Self::Offer(offer) => offer.run(runtime),
            Self::Worker(worker) => worker.run(runtime),
            Self::Guard(guard) => guard.run(),
            Self::Survivor(survivor) => Ok(survivor.run()),
        }
    }
}

/// Print help of a command, or the table of exit codes
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  hermes help cron doctor\n  hermes help exit-codes")]
pub(crate) struct Help {
    /// The command, or 'exit-codes'
    topic: Vec<String>,
}

impl Help {
    fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        if self.topic == ["exit-codes"] {
            runtime.out.print(TABLE)?;
            return Ok(Exit::OK);
        }
        let mut command = <Cli as clap::CommandFactory>::command();
        command.build();
        let mut found = &mut command;
        for word in &self.topic {
            found = found.find_subcommand_mut(word).ok_or_else(|| {
                hermes::error::Error::usage(format!(
                    "there is no command '{}'",
                    self.topic.join(" ")
                ))
                .with_hint("hermes --help lists the commands")
            })?;
        }
        let text = found.render_long_help().to_string();
        runtime.out.print(&text)?;
        Ok(Exit::OK)
    }
}
