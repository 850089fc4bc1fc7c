//! `hermes cron create`: a new job, checked before it is kept.

use clap::Args;
use hermes::agent;
use hermes::config::Settings;
use hermes::cron::edit::{self, Pause, Wishes};
use hermes::cron::edit_probe;
use hermes::cron::job::{Job, RawJob};
use hermes::cron::jobs_file::Change;
use hermes::cron::lateness::ONCE_GRACE_SECONDS;
use hermes::cron::schedule::{Reading, Schedule};
use hermes::cron::view_firing::Situation;
use hermes::cron::{lateness, needs, view, warning, words};
use hermes::error::{Error, Kind, Result};
use hermes::host::scheduler_owner::Scheduler;
use hermes::output::{human, json, layout};
use hermes::runtime::Runtime;
use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use super::desk::{Desk, warn_of};
use super::flags::Flags;
use crate::exit::Exit;

/// A prompt that comes more often than this, in seconds, is mostly a loop's work.
const LOOP: i64 = 600;

/// Create a job
///
/// A job lives in the home, outside of all sessions: it goes on after a logout, a reboot and an update,
/// as long as a scheduler runs ('hermes serve'). Each run begins anew, and knows nothing of the one
/// before. For work that belongs to one conversation and should go on in it, use a loop instead
/// ('hermes loop start'): it ends with its session.
///
/// A job runs a prompt (given to the agent of the configuration), a script and then a prompt, or a script
/// alone (--script with --no-agent). Schedules: 'every 30m', 'every weekday at 9am', '0 9 * * 1-5',
/// 'in 2h', '2027-01-31T09:00'. 'hermes cron next TEXT' shows how one is read.
#[derive(Args, Debug)]
#[command(visible_alias = "add")]
#[command(after_help = "\
Examples:
  hermes cron create 'every weekday at 9am' 'Sum up the news' --name digest
  hermes cron create 'every 15m' --script backup.sh --no-agent --name backup
  hermes cron create '0 7 * * *' 'What changed?' --monitor-script site.sh
  hermes cron create 'in 2h' 'Remind me to call' --deliver-command 'mail me'
  hermes cron create @hourly --script sync.py --no-agent --catch-up skip")]
pub(crate) struct Create {
    /// When it fires
    #[arg(value_name = "SCHEDULE", allow_hyphen_values = true)]
    schedule: String,
    /// What the agent is asked
    #[arg(value_name = "PROMPT")]
    prompt: Option<String>,
    #[command(flatten)]
    flags: Flags,
    /// Create it paused
    #[arg(long)]
    paused: bool,
    /// Why it is paused
    #[arg(long, value_name = "TEXT", requires = "paused")]
    paused_reason: Option<String>,
    /// Only show what would be kept
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Create {
    /// Checks, keeps, and says what is to be known.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let desk = Desk::one(runtime)?;
        let reading = read_schedule(&self.schedule, &desk)?;
        let situation = desk.situation(runtime);
        let wishes = Wishes {
            schedule: Some(reading.clone()),
            prompt: self.prompt.clone(),
            ..self.flags.wishes(runtime)?
        };
        let pause = self.paused.then_some(Pause {
            reason: self.paused_reason.as_deref(),
        });
        let id = new_id();
        let job = edit::make(&wishes, &id, pause, (desk.now, &desk.zone.zones))?;
        let mut said =
            check(&desk, runtime, &job, situation).map_err(|error| unmade(error, &job))?;
        said.extend(warning::warnings(
            &reading,
            &self.schedule,
            desk.now,
            &desk.zone.zones.configured,
        ));
        said.extend(loop_hint(&job, &reading, &desk));
        let view = Job::read(&job);
        if view.no_agent.is_true() && view.prompt.is_true() {
            said.push(
                "The prompt is kept and nobody is asked it: --no-agent runs the script alone."
                    .to_owned(),
            );
        }
        said.extend(needless_policy(&job));
        said.extend(desk.other_zone(runtime));
        if self.flags.is_told_no_end() {
            said.push("A --repeat of 0 is for ever, as in Hermes Agent.".to_owned());
        }
        let before = desk.jobs()?;
        desk.warn_of_store(runtime);
        said.extend(same_name(&before, &job));
        if !self.dry_run {
            make_home(&desk)?;
            desk.file().update(desk.now, |jobs| {
                jobs.push(job.clone());
                Ok(Change::Write(()))
            })?;
        }
        self.tell(runtime, &desk, &job, (&said, situation))?;
        Ok(Exit::OK)
    }

    fn tell(
        &self,
        runtime: &mut Runtime,
        desk: &Desk,
        job: &RawJob,
        (said, situation): (&[String], &Situation),
    ) -> Result<()> {
        if self.json {
            return json::print(
                &mut runtime.out,
                &json!({
                    "schema": "hermes.cron-create/1",
                    "dry_run": self.dry_run,
                    "job": job,
                    "warnings": desk.warnings(said),
                    "firing": situation.to_json(desk.now),
                }),
            );
        }
        let view = view::view(&Job::read(job), desk.now, &desk.zone.zones);
        let verb = if self.dry_run {
            "Would create"
        } else {
            "Created"
        };
        let name = human::printable(&view.name);
        runtime
            .out
            .line(&format!("{verb} job {} ({name}).", view.id))?;
        let next = match view.next {
            Some(next) => desk.when(next),
            None => "none while it is paused".to_owned(),
        };
        let text = layout::pairs(
            &runtime.out,
            &[
                ("  fires", schedule_words(job, &view.schedule)),
                ("  next run", next),
            ],
        );
        runtime.out.line(&text)?;
        for sentence in said {
            runtime.out.warn(&human::printable(sentence));
        }
        warn_of(runtime, situation, desk.now);
        Ok(())
    }
}

/// A schedule in words, and as it was written.
pub(crate) fn schedule_words(job: &RawJob, shown: &str) -> String {
    match Job::read(job).schedule() {
        Ok(schedule) => {
            let said = words::say(&schedule);
            if said == shown {
                said
            } else {
                format!("{said} ({shown})")
            }
        }
        Err(_) => shown.to_owned(),
    }
}

/// The first twelve digits of a random id, as in Hermes Agent.
fn new_id() -> String {
    let id = Uuid::new_v4().simple().to_string();
    id.get(..12).unwrap_or(&id).to_owned()
}

/// Reads a schedule that a person wrote; one whose time has passed is refused.
pub(crate) fn read_schedule(text: &str, desk: &Desk) -> Result<Reading> {
    let reading = Schedule::parse(text, desk.now, &desk.zone.zones.configured)
        .map_err(|error| Error::new(Kind::Invalid, error.message).with_hint(error.hint))?;
    if let Schedule::Once { at, .. } = &reading.schedule {
        let instant = at.instant(&desk.zone.zones.system);
        // The last hours of the calendar stand all at the last instant.
        let Some(instant) = instant.filter(|at| *at < Timestamp::MAX) else {
            return Err(Error::new(
                Kind::Invalid,
                format!("{at} lies beyond what a clock can show"),
            ));
        };
        let late = desk.now.duration_since(instant).as_secs();
        if late > ONCE_GRACE_SECONDS {
            let ago = human::duration(late);
            return Err(Error::new(
                Kind::Invalid,
                format!("{at} has passed, {ago} ago, so the job would never fire"),
            )
            .with_hint("write a time to come, or a delay: 'in 2h'"));
        }
    }
    Ok(reading)
}

/// Whether a job could be run by whoever schedules the home. Says what a person should know of it.
pub(crate) fn check(
    desk: &Desk,
    runtime: &Runtime,
    job: &RawJob,
    situation: &Situation,
) -> Result<Vec<String>> {
    let agents = is_agents(&situation.scheduler);
    let task = match edit_probe::check(job, &desk.home) {
        Ok(task) => task,
        Err(error) if agents && error.kind() == Kind::Refused => {
            let reason = needs::reason(&needs::unmet(&Job::read(job)));
            return Ok(vec![format!(
                "Hermes Agent schedules this home and runs it; our own serve would refuse it: {reason}."
            )]);
        }
        Err(error) => return Err(error),
    };
    let path = runtime.environ.get("PATH");
    let mut said = edit_probe::missing_programs(&task, path);
    if !task.work.needs_agent() || agents {
        return Ok(said);
    }
    let agent = agent::Settings::of(&desk.config)?;
    said.extend(agent.problems.iter().map(|problem| format!("{problem}.")));
    match edit_probe::check_agent(&agent, path) {
        Ok(()) => Ok(said),
        // A service may have another path.
        Err(error) if error.kind() == Kind::NotFound => {
            said.push(format!("{error}. The job fails unless serve finds it."));
            Ok(said)
        }
        Err(error) => Err(error),
    }
}

/// The refusal of a job that is not there yet: nothing can be taken off it.
fn unmade(error: Error, job: &RawJob) -> Error {
    let unmet = needs::unmet(&Job::read(job));
    if error.kind() != Kind::Refused || unmet.is_empty() {
        return error;
    }
    Error::new(Kind::Refused, needs::reason(&unmet))
        .with_hint("leave it out, or create the job with Hermes Agent, and let that run it")
}

/// What is said of a policy that a one-shot keeps, and that changes nothing.
pub(crate) fn needless_policy(job: &RawJob) -> Option<String> {
    let view = Job::read(job);
    let is_needless = view.kind() == Some("once") && view.x_hermes.get("catch_up").is_some();
    is_needless.then(|| {
        "A one-shot that is more than two minutes late counts as missed, whatever --catch-up says."
            .to_owned()
    })
}

/// Whether the other program runs the jobs of this home.
pub(crate) fn is_agents(scheduler: &Scheduler) -> bool {
    matches!(
        scheduler,
        Scheduler::Gateway { .. } | Scheduler::Desktop { .. }
    )
}

fn loop_hint(job: &RawJob, reading: &Reading, desk: &Desk) -> Option<String> {
    let cadence = lateness::cadence(&reading.schedule, desk.now, &desk.zone.zones.configured)?;
    let asks = !Job::read(job).no_agent.is_true();
    (asks && cadence <= LOOP).then(|| {
        format!(
            "A prompt every {} begins anew each time. If it should go on in one conversation, a loop \
             serves better: hermes loop start. A job is right if it must outlive sessions and restarts.",
            human::duration(cadence)
        )
    })
}

fn same_name(jobs: &[RawJob], job: &RawJob) -> Option<String> {
    let name = |job: &RawJob| Job::read(job).name.text().map(str::to_lowercase);
    let own = name(job)?;
    let other = jobs.iter().find(|job| name(job).as_ref() == Some(&own))?;
    let id = Job::read(other).id().unwrap_or("-").to_owned();
    Some(format!(
        "Job {id} has the same name: both must be named by their ids from now on."
    ))
}

/// The home of a root is made when its first job comes; a profile's is not, since it may have been
/// deleted.
fn make_home(desk: &Desk) -> Result<()> {
    let path = desk.home.path();
    if path.exists() || desk.home.root() != desk.home {
        return Ok(());
    }
    hermes::files::make_private(path)
}

/// How long a script may run, in words, for `show`.
pub(crate) fn timeout_words(job: &RawJob, desk: &Desk) -> String {
    let view = Job::read(job);
    let own = view
        .x_hermes
        .get("timeout_seconds")
        .and_then(serde_json::Value::as_u64);
    let words = |seconds: u64| match seconds {
        0 => "none".to_owned(),
        seconds => human::duration(i64::try_from(seconds).unwrap_or(i64::MAX)),
    };
    match own {
        Some(seconds) => words(seconds),
        None if view.no_agent.is_true() => {
            let settings = Settings::of(&desk.config).cron.script_timeout;
            format!(
                "{} (cron.script_timeout_seconds)",
                words(settings.map_or(0, |limit| limit.as_secs()))
            )
        }
        None => "the agent's own".to_owned(),
    }
}
