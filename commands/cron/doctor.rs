//! `hermes cron doctor`, and its alias `hermes doctor`.

use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use hermes::doctor::finding::Severity;
use hermes::doctor::run::{self, Choice, Format, Pick, Request, View};
use hermes::doctor::verdict::{Status, Thresholds};
use hermes::error::{Kind, Result};
use hermes::runtime::{Options, Runtime};

use crate::exit::Exit;

/// Look for what keeps scheduled work from running
///
/// It says in which mode jobs are dispatched on this host, whether they survive a restart of the
/// service, and what stands in the way of both. It judges for the process that dispatches: a running
/// serve or gateway of the home, else an installed unit that would run one, else this shell.
///
/// It changes nothing: it writes no file, takes no lock, starts no service and uses no network. It
/// runs with or without root; what only root may read is named. 'hermes explain CODE' has the whole
/// story of a code.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(group = ArgGroup::new("format").args(["plain", "json"]))]
#[command(group = ArgGroup::new("viewpoint").args(["unit", "pid", "shell"]))]
#[command(after_help = "\
Exit status:
  0 nothing at or above --fail-on; 1 a warning; 2 an error; 3 no error, but something that could \
    change the verdict could not be checked; 64 a home, user, unit or process that is not there. \
    'hermes help exit-codes' has the whole table.

Examples:
  hermes cron doctor
  sudo hermes cron doctor --user bot
  hermes cron doctor --unit hermes-serve.service
  hermes cron doctor --only session-bus,linger
  hermes cron doctor --json | jq '.findings[].code'
  hermes cron doctor --quiet --fail-on error || notify-operator")]
pub(crate) struct Doctor {
    /// Judge for the process of this unit, or for the one that it would start
    #[arg(long, value_name = "UNIT", help_heading = "Viewpoint")]
    unit: Option<String>,
    /// Judge for this process
    #[arg(long, value_name = "PID", help_heading = "Viewpoint")]
    pid: Option<u32>,
    /// Judge for this account, by name or uid, and its home
    #[arg(long, value_name = "USER", help_heading = "Viewpoint")]
    user: Option<String>,
    /// Judge for this shell
    #[arg(long, help_heading = "Viewpoint")]
    shell: bool,
    /// Run only these checks or groups, or look only for these codes
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    only: Vec<String>,
    /// Leave out these checks, groups or codes
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    skip: Vec<String>,
    /// Answer within this time, whatever hangs
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = deadline)]
    deadline: Duration,
    /// The least severity that sets the exit status
    #[arg(long, value_name = "SEVERITY", default_value = "warning")]
    fail_on: Level,
    /// Let everything that could not be checked set the exit status
    #[arg(long)]
    strict: bool,
    /// The least severity that is printed as text; JSON always has all
    #[arg(long, value_name = "SEVERITY", default_value = "info")]
    print: Level,
    /// Print tab-separated records
    #[arg(long)]
    plain: bool,
    /// Print one JSON document, schema hermes.doctor/1
    #[arg(long)]
    json: bool,
    /// Print nothing when the exit status is 0
    #[arg(long, short)]
    quiet: bool,
    /// Print every check with its duration, and all evidence
    #[arg(long, short)]
    verbose: bool,
}

/// Severities, on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    /// Worth knowing
    Info,
    /// Will bite, or bites a little
    Warning,
    /// Something does not work
    Error,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Info => Self::Info,
            Level::Warning => Self::Warning,
            Level::Error => Self::Error,
        }
    }
}

impl Doctor {
    /// Looks, judges, prints.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let (request, view) = self.request(runtime.options.clone());
        // 1 is a warning, and a slip of the pen is none.
        let report = run::run(runtime, &request).map_err(|error| match error.kind() {
            Kind::NotFound => error.into_usage(),
            _ => error,
        })?;
        if !(view.quiet && report.verdict.exit_code == 0) {
            runtime
                .out
                .print(&run::render(&report, &view, &runtime.out))?;
        }
        Ok(exit(report.verdict.status))
    }

    fn request(self, global: Options) -> (Request, View) {
        let request = Request {
            choice: Choice {
                home: global.home,
                profile: global.profile,
                unit: self.unit,
                pid: self.pid,
                user: self.user,
                shell: self.shell,
            },
            pick: Pick {
                only: self.only,
                skip: self.skip,
            },
            deadline: self.deadline,
            thresholds: Thresholds {
                fail_on: self.fail_on.into(),
                strict: self.strict,
            },
        };
        let view = View {
            format: match (self.plain, self.json) {
                (_, true) => Format::Json,
                (true, _) => Format::Plain,
                _ => Format::Human,
            },
            least: self.print.into(),
            quiet: self.quiet,
            verbose: self.verbose,
        };
        (request, view)
    }
}

fn exit(status: Status) -> Exit {
    match status {
        Status::Ok => Exit::OK,
        Status::Info | Status::Warning => Exit::FAILED,
        Status::Error => Exit::ERROR,
        Status::Incomplete => Exit::INCOMPLETE,
        Status::Internal => Exit::INTERNAL,
    }
}

/// A time like `10s`, `1500ms` or `1m`; a bare number is seconds.
fn deadline(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time like 10s or 1500ms".to_owned();
    let time = if let Ok(seconds) = text.parse::<f64>() {
        Duration::try_from_secs_f64(seconds).map_err(|_| expected())?
    } else {
        let span: jiff::SignedDuration = text.parse().map_err(|_| expected())?;
        Duration::try_from(span).map_err(|_| expected())?
    };
    if time.is_zero() {
        return Err("it must be more than zero".to_owned());
    }
    Ok(time)
}
