//! `hermes cron edit`: changes a job, at once for its next slot.

use clap::Args;
use hermes::cron::edit::{self, Wishes};
use hermes::cron::job::{Job, RawJob};
use hermes::cron::jobs_file::Change;
use hermes::cron::{edit_probe, edit_terms, left_slots, needs, warning};
use hermes::error::{Error, Kind, Result};
use hermes::ledger::Ledger;
use hermes::output::{human, json, layout};
use hermes::runtime::Runtime;
use serde_json::json;

use super::create::{check, needless_policy, read_schedule, schedule_words};
use super::desk::{Desk, warn_of};
use super::eye::Eye;
use super::flags::Flags;
use super::reference;
use crate::exit::Exit;

/// Change a job
///
/// Only what is named is changed; an empty text takes a thing away (--workdir ''). A new schedule takes
/// effect at once: the next run is one of it. A job that had ended is armed again by a new schedule.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hermes cron edit digest --schedule 'every weekday at 8am'
  hermes cron edit digest --prompt 'Summarise the new issues in five lines'
  hermes cron edit a1b2c3d4e5f6 --timeout 20m --workdir ''
  hermes cron edit backup --catch-up skip --dry-run
  hermes cron edit news --deliver local --unpin --clear-skills")]
pub(crate) struct Edit {
    /// The job: its id or its name
    #[arg(value_name = "JOB")]
    job: String,
    /// When it fires
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    schedule: Option<String>,
    /// What the agent is asked
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    #[command(flatten)]
    flags: Flags,
    /// Ask the agent again, where the script ran alone
    #[arg(long, conflicts_with = "no_agent")]
    agent: bool,
    #[command(flatten)]
    taken_off: TakenOff,
    /// Only show what would be changed
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What only Hermes Agent does of a job, and can be taken off it.
#[derive(Args, Debug)]
#[command(next_help_heading = "What only Hermes Agent does")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
struct TakenOff {
    /// Take the pinned model, provider, endpoint and reasoning effort off
    #[arg(long)]
    unpin: bool,
    /// Take the skills off
    #[arg(long)]
    clear_skills: bool,
    /// Take the choice of toolsets off
    #[arg(long)]
    clear_toolsets: bool,
    /// Take the output of other jobs off its prompt
    #[arg(long)]
    clear_context: bool,
    /// Take the monitored URL off
    #[arg(long)]
    clear_monitor_url: bool,
    /// Take the target of failures off
    #[arg(long)]
    clear_failure_deliver: bool,
}

impl TakenOff {
    fn keys(&self) -> Vec<&'static str> {
        let pins = ["model", "provider", "base_url", "reasoning_effort"];
        let groups: [(bool, &[&'static str]); 6] = [
            (self.unpin, &pins),
            (self.clear_skills, &["skills", "skill"]),
            (self.clear_toolsets, &["enabled_toolsets"]),
            (self.clear_context, &["context_from"]),
            (self.clear_monitor_url, &["monitor_url", "monitor_state"]),
            (self.clear_failure_deliver, &["failure_deliver"]),
        ];
        let asked = groups.iter().filter(|(asked, _)| *asked);
        asked.flat_map(|(_, keys)| keys.iter().copied()).collect()
    }
}

impl Edit {
    /// Changes the job.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let desk = Desk::one(runtime)?;
        let wishes = self.wishes(runtime, &desk)?;
        let before = desk.jobs()?;
        desk.warn_of_store(runtime);
        let old = reference::by_id(&before, &self.job)?;
        let mut job = old.clone();
        let id = Job::read(&job).id().unwrap_or_default().to_owned();
        goes_on(&job, &wishes)?;
        let keys = edit::edit(&mut job, &wishes, desk.now, &desk.zone.zones)?;
        let situation = desk.situation(runtime);
        let mut said = match check(&desk, runtime, &job, situation) {
            Ok(said) => said,
            Err(error)
                if stood_before(&error, (old, &job), || {
                    check(&desk, runtime, old, situation)
                }) =>
            {
                edit_probe::check(&edit_probe::brought(old, &job), &desk.home)?;
                vec![format!("{error}.")]
            }
            Err(error) => return Err(error),
        };
        if let (Some(reading), Some(text)) = (&wishes.schedule, &self.schedule) {
            let zone = &desk.zone.zones.configured;
            said.extend(warning::warnings(reading, text, desk.now, zone));
        }
        said.extend(needless_policy(&job));
        said.extend(desk.other_zone(runtime));
        if !self.dry_run && !keys.is_empty() {
            job = save(&desk, &id, |job| {
                edit::edit(job, &wishes, desk.now, &desk.zone.zones).map(drop)
            })?;
        }
        let change = Told {
            schema: "hermes.cron-edit/1",
            verb: ("Changed", "Would change"),
            keys: &keys,
            said: &said,
            dry_run: self.dry_run,
            json: self.json,
        };
        change.tell(runtime, &desk, &job)?;
        if !self.json {
            warn_of(runtime, situation, desk.now);
        }
        Ok(Exit::OK)
    }

    fn wishes(&self, runtime: &Runtime, desk: &Desk) -> Result<Wishes> {
        let flags = self.flags.wishes(runtime)?;
        let schedule = self
            .schedule
            .as_deref()
            .map(|text| read_schedule(text, desk))
            .transpose()?;
        Ok(Wishes {
            schedule,
            prompt: self.prompt.clone(),
            no_agent: if self.agent {
                Some(false)
            } else {
                flags.no_agent
            },
            clear: self.taken_off.keys(),
            ..flags
        })
    }
}

/// Fails where a job would have run as often as it is to run now: its count has all its runs.
fn goes_on(job: &RawJob, wishes: &Wishes) -> Result<()> {
    let done = Job::read(job).repeat().completed;
    match wishes.repeat.flatten() {
        Some(times) if done > 0 && times <= done => Err(Error::usage(format!(
            "--repeat {times}: it has run {} already, and those count",
            human::count(usize::try_from(done).unwrap_or(usize::MAX), "time", "times")
        ))
        .with_hint(format!(
            "for one more run: --repeat {}; for none: hermes cron pause",
            done.saturating_add(1)
        ))),
        _ => Ok(()),
    }
}

/// Whether what is wrong with a job was wrong with it before this change, or is a part of that: then it is
/// no reason to refuse the rest.
fn stood_before(
    error: &Error,
    (old, new): (&RawJob, &RawJob),
    check_old: impl FnOnce() -> Result<Vec<String>>,
) -> bool {
    let (before, now) = (needs::unmet(&Job::read(old)), needs::unmet(&Job::read(new)));
    if error.kind() == Kind::Refused && !now.is_empty() {
        return now.iter().all(|need| before.contains(need));
    }
    check_old().is_err_and(|before| before.to_string() == error.to_string())
}

/// Changes one job under the lock of the store, as it is there and then. Returns it as it is now.
pub(crate) fn save(
    desk: &Desk,
    id: &str,
    mut change: impl FnMut(&mut RawJob) -> Result<()>,
) -> Result<RawJob> {
    desk.file().update(desk.now, |jobs| {
        let job = jobs.find(id).ok_or_else(|| {
            Error::new(
                Kind::NotFound,
                format!("job {id} was removed by somebody else meanwhile"),
            )
        })?;
        let before = job.clone();
        change(job)?;
        account_for(desk, &before, Some(job))?;
        Ok(Change::Write(job.clone()))
    })
}

/// Records the slots that a change takes off the schedule, before the store moves on.
pub(crate) fn account_for(desk: &Desk, before: &RawJob, after: Option<&RawJob>) -> Result<()> {
    let records = left_slots::left(before, after, desk.now, &desk.zone.zones);
    if records.is_empty() {
        return Ok(());
    }
    let zone = desk.zone.zones.configured.clone();
    let mut ledger = Ledger::open(&desk.home.ledger(), zone)?;
    ledger.record_unrun(&records.slots, &records.ranges, desk.now)
}

/// What is said of a changed job.
pub(crate) struct Told<'a> {
    pub(crate) schema: &'a str,
    /// What was done, and what would be.
    pub(crate) verb: (&'a str, &'a str),
    pub(crate) keys: &'a [String],
    pub(crate) said: &'a [String],
    pub(crate) dry_run: bool,
    pub(crate) json: bool,
}

impl Told<'_> {
    /// Says it.
    pub(crate) fn tell(&self, runtime: &mut Runtime, desk: &Desk, job: &RawJob) -> Result<()> {
        if self.json {
            let document = json!({
                "schema": self.schema,
                "dry_run": self.dry_run,
                "changed": self.keys,
                "job": job,
                "warnings": desk.warnings(self.said),
            });
            return json::print(&mut runtime.out, &document);
        }
        let eye = Eye::of(desk, desk.situation(runtime));
        let seen = eye.see(desk, std::slice::from_ref(job));
        let Some(view) = seen.into_iter().next() else {
            return Ok(());
        };
        let label = format!("job {} ({})", view.id, human::printable(&view.name));
        let verb = match (self.keys.is_empty(), self.dry_run) {
            (true, _) => {
                runtime
                    .out
                    .line(&format!("Nothing is to be changed in {label}."))?;
                self.warn(runtime);
                return Ok(());
            }
            (false, true) => self.verb.1,
            (false, false) => self.verb.0,
        };
        runtime.out.line(&format!("{verb} {label}."))?;
        let next = match view.next.filter(|_| view.state.is_armed()) {
            Some(next) => desk.when(next),
            None => "none".to_owned(),
        };
        let text = layout::pairs(
            &runtime.out,
            &[
                ("  changed", edit_terms::terms(self.keys).join(", ")),
                ("  state", view.state.word().to_owned()),
                ("  fires", schedule_words(job, &view.schedule)),
                ("  next run", next),
            ],
        );
        runtime.out.line(&text)?;
        self.warn(runtime);
        Ok(())
    }

    fn warn(&self, runtime: &mut Runtime) {
        for sentence in self.said {
            runtime.out.warn(&human::printable(sentence));
        }
    }
}
