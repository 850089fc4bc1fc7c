//! Changes that a person makes to a job: its making, its editing, its pause, its end. Pure changes of
//! the raw object, so that keys we do not know survive. Its shape is the other program's; what is only
//! ours goes into the corner `x_hermes`.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::duration;
use super::finish::set_own;
use super::job::{Job, RawJob};
use super::next::{Zones, next_fire};
use super::schedule::{Reading, Schedule};
use super::text::strip;
use crate::clock::iso;
use crate::error::{Error, Kind, Result};

mod changed;
mod first_run;
mod taken_off;
pub use changed::changed;
pub use first_run::resume_with_run;

/// Longest name that is made of a prompt, in characters: as in Hermes Agent.
const NAME: usize = 50;

/// What a person asks for. `None` leaves a thing as it is, or as a new job has it; an empty text takes
/// it away.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// When it fires.
    pub schedule: Option<Reading>,
    /// What the agent is asked.
    pub prompt: Option<String>,
    /// For people.
    pub name: Option<String>,
    /// A script under `scripts/`.
    pub script: Option<String>,
    /// The program that runs the script.
    pub interpreter: Option<String>,
    /// The script runs alone, without an agent.
    pub no_agent: Option<bool>,
    /// A script whose changed output starts the agent.
    pub monitor_script: Option<String>,
    /// Where it runs.
    pub workdir: Option<String>,
    /// How often it runs; the inner `None` is for ever.
    pub repeat: Option<Option<i64>>,
    /// Where the result goes.
    pub deliver: Option<String>,
    /// Keys of what only the other program does, that are taken off.
    pub clear: Vec<&'static str>,
    /// Keys of our own corner, and what they become; null takes one away.
    pub own: Vec<(&'static str, Value)>,
}

/// A pause that a new job starts with.
#[derive(Clone, Copy, Debug)]
pub struct Pause<'a> {
    /// Why.
    pub reason: Option<&'a str>,
}

/// How often: a number, `once`, or `forever` (also 0 and less, as in Hermes Agent).
///
/// # Errors
/// When it is none of these.
pub fn repeat(text: &str) -> Result<Option<i64>> {
    let word = strip(text).to_lowercase();
    match word.as_str() {
        "once" => Ok(Some(1)),
        "forever" => Ok(None),
        number => number
            .parse::<i64>()
            .map(|times| Some(times).filter(|times| *times > 0))
            .map_err(|_| {
                let (text, form) = (text.escape_debug(), "a number, 'once' or 'forever'");
                Error::usage(format!("'{text}' is no count of runs: write {form}"))
            }),
    }
}

/// Whether a job of this kind can run as often as is asked.
///
/// # Errors
/// When it is a one-shot, and that is not once.
pub fn repeats(wishes: &Wishes, recurs: bool) -> Result<()> {
    let asked = match wishes.repeat {
        Some(times) if !recurs && times != Some(1) => times,
        _ => return Ok(()),
    };
    let asked = asked.map_or_else(|| "for ever".to_owned(), |times| format!("{times} times"));
    let message = format!("a schedule that names one time fires once, and not {asked}");
    Err(Error::usage(message)
        .with_hint("leave --repeat out, or write a schedule that recurs: 'every 10m'"))
}

/// A length of time in seconds, as flags have it: `90s`, `15m`, `1h30m`, `2 days`.
///
/// # Errors
/// When it is none.
pub fn seconds(text: &str) -> Result<u64> {
    let word = strip(text).to_lowercase();
    let number = |digits: &str| digits.parse::<u64>().ok();
    let found = number(&word)
        .or_else(|| number(word.strip_suffix('s')?))
        .or_else(|| {
            let minutes = duration::compound(&word).or_else(|| duration::simple(&word))?;
            u64::try_from(minutes).ok()?.checked_mul(60)
        });
    found
        .filter(|seconds| *seconds <= 100 * 366 * 86_400)
        .ok_or_else(|| {
            let (text, form) = (text.escape_debug(), "90s, 15m, 2h, 1h30m or 3d");
            Error::usage(format!(
                "'{text}' is no length of time: write it like {form}"
            ))
        })
}

/// Makes a job, in the shape and with all the keys that Hermes Agent gives it.
///
/// # Errors
/// When there is no schedule.
pub fn make(
    wishes: &Wishes,
    id: &str,
    pause: Option<Pause<'_>>,
    (now, zones): (Timestamp, &Zones),
) -> Result<RawJob> {
    let Some(reading) = &wishes.schedule else {
        return Err(Error::usage("a job needs a schedule"));
    };
    repeats(wishes, reading.schedule.is_recurring())?;
    let text = |value: &Option<String>| value.clone().filter(|text| !text.is_empty());
    let times = match wishes.repeat {
        Some(times) => times,
        None => (!reading.schedule.is_recurring()).then_some(1),
    };
    let at = iso(now, &zones.configured);
    let next = match pause {
        Some(_) => None,
        None => first_slot(&reading.schedule, now, zones),
    };
    let job = json!({
        "id": id,
        "name": text(&wishes.name).unwrap_or_else(|| name_of(wishes)),
        "prompt": wishes.prompt.as_deref().unwrap_or_default(),
        "skills": [],
        "skill": null,
        "model": null,
        "provider": null,
        "base_url": null,
        "script": text(&wishes.script),
        "no_agent": wishes.no_agent.unwrap_or(false),
        "monitor_script": text(&wishes.monitor_script),
        "monitor_url": null,
        "monitor_state": null,
        "context_from": null,
        "schedule": reading.to_json(),
        "schedule_display": reading.display,
        "repeat": {"times": times, "completed": 0},
        "enabled": pause.is_none(),
        "state": if pause.is_some() { "paused" } else { "scheduled" },
        "paused_at": pause.map(|_| at.clone()),
        "paused_reason": pause.and_then(|pause| pause.reason),
        "created_at": at,
        "next_run_at": next,
        "last_run_at": null,
        "last_status": null,
        "last_error": null,
        "last_delivery_error": null,
        "last_delivery_unverified": null,
        "last_failure": null,
        "failure_streak": 0,
        "deliver": text(&wishes.deliver).unwrap_or_else(|| "local".to_owned()),
        "origin": null,
        "enabled_toolsets": null,
        "workdir": text(&wishes.workdir),
    });
    let mut job = match job {
        Value::Object(job) => job,
        _ => Map::new(),
    };
    set_interpreter(&mut job, wishes);
    keep_own(&mut job, &wishes.own);
    Ok(job)
}

fn name_of(wishes: &Wishes) -> String {
    let first = [&wishes.prompt, &wishes.script, &wishes.monitor_script]
        .into_iter()
        .flatten()
        .find(|text| !text.trim().is_empty());
    first.map_or_else(
        || "cron job".to_owned(),
        |text| text.trim().chars().take(NAME).collect(),
    )
}

/// The first slot of a schedule, as stored.
fn first_slot(schedule: &Schedule, now: Timestamp, zones: &Zones) -> Option<String> {
    match schedule {
        Schedule::Once { run_at, .. } => Some(run_at.clone()),
        schedule => next_fire(schedule, now, &zones.configured).map(|fire| fire.stamp.to_string()),
    }
}

/// A job that names none has no such key, as in Hermes Agent.
fn set_interpreter(job: &mut RawJob, wishes: &Wishes) {
    match wishes.interpreter.as_deref() {
        None => {}
        Some("") => drop(job.shift_remove("interpreter")),
        Some(program) => drop(job.insert("interpreter".into(), json!(program))),
    }
}

fn keep_own(job: &mut RawJob, own: &[(&'static str, Value)]) {
    for (key, value) in own {
        if !value.is_null() {
            set_own(job, key, value.clone());
        } else if let Some(Value::Object(corner)) = job.get_mut("x_hermes") {
            corner.shift_remove(*key);
        }
    }
}

/// Edits a job. Returns the keys that have changed. A new schedule takes effect at once: the next slot
/// is one of it, and a job that had ended is armed again.
///
/// # Errors
/// When a one-shot is to run more than once.
pub fn edit(
    job: &mut RawJob,
    wishes: &Wishes,
    now: Timestamp,
    zones: &Zones,
) -> Result<Vec<String>> {
    let recurs = match &wishes.schedule {
        Some(reading) => reading.schedule.is_recurring(),
        None => Job::read(job).kind() != Some("once"),
    };
    repeats(wishes, recurs)?;
    let before = job.clone();
    let set_text = |job: &mut RawJob, key: &str, wish: &Option<String>, nullable: bool| {
        if let Some(text) = wish {
            let gone = nullable && text.is_empty();
            let value = if gone { Value::Null } else { json!(text) };
            job.insert(key.to_owned(), value);
        }
    };
    set_text(job, "name", &wishes.name, false);
    set_text(job, "prompt", &wishes.prompt, false);
    set_text(job, "script", &wishes.script, true);
    set_interpreter(job, wishes);
    set_text(job, "monitor_script", &wishes.monitor_script, true);
    set_text(job, "workdir", &wishes.workdir, true);
    if let Some(deliver) = &wishes.deliver {
        let target = if deliver.is_empty() { "local" } else { deliver };
        job.insert("deliver".into(), json!(target));
    }
    if let Some(no_agent) = wishes.no_agent {
        job.insert("no_agent".into(), json!(no_agent));
    }
    keep_own(job, &wishes.own);
    taken_off::take_off(job, wishes);
    if let Some(reading) = &wishes.schedule {
        reschedule(job, reading, now, zones);
    }
    if let Some(times) = wishes.repeat {
        let completed = Job::read(job).repeat().completed;
        job.insert(
            "repeat".into(),
            json!({"times": times, "completed": completed}),
        );
    }
    Ok(changed(&before, job))
}

fn reschedule(job: &mut RawJob, reading: &Reading, now: Timestamp, zones: &Zones) {
    let (ended, was_recurring, repeat, armed) = {
        let view = Job::read(job);
        let armed = view.is_enabled() && !view.has_pause_marker();
        (
            view.is_terminal(),
            view.is_recurring(),
            view.repeat(),
            armed,
        )
    };
    let recurring = reading.schedule.is_recurring();
    let times = match (recurring, was_recurring, repeat.times) {
        (false, _, _) => Some(1),
        (true, false, Some(1)) => None,
        (_, _, times) => times,
    };
    let again = ended || !recurring;
    let completed = if again { 0 } else { repeat.completed };
    job.insert("schedule".into(), Value::Object(reading.to_json()));
    job.insert("schedule_display".into(), json!(reading.display));
    job.insert(
        "repeat".into(),
        json!({"times": times, "completed": completed}),
    );
    if !recurring {
        // A one-shot that has run counts as done as long as it says when.
        job.insert("last_run_at".into(), Value::Null);
    }
    forget_slots(job);
    if ended || armed {
        arm(job, first_slot(&reading.schedule, now, zones).as_deref());
    } else {
        job.insert("next_run_at".into(), Value::Null);
    }
}

/// Slots of an older schedule, and plans that were made by it.
fn forget_slots(job: &mut RawJob) {
    for key in [
        "pending_slot",
        "manual_run_at",
        "manual_run_prompt",
        "unreachable_retry",
        "quota_hold_until",
        "quota_hold_cron_expr",
    ] {
        job.shift_remove(key);
    }
}

fn arm(job: &mut RawJob, next: Option<&str>) {
    job.insert("enabled".into(), json!(true));
    job.insert("state".into(), json!("scheduled"));
    job.insert("paused_at".into(), Value::Null);
    job.insert("paused_reason".into(), Value::Null);
    job.insert("next_run_at".into(), json!(next));
}

/// Pauses a job. Returns the keys that have changed: none of a job that is paused already.
///
/// # Errors
/// When it has ended.
pub fn pause(
    job: &mut RawJob,
    reason: Option<&str>,
    now: Timestamp,
    zones: &Zones,
) -> Result<Vec<String>> {
    let before = job.clone();
    {
        let view = Job::read(job);
        if view.is_terminal() {
            return Err(has_ended(&view));
        }
        if view.has_pause_marker() && !view.is_enabled() && reason.is_none() {
            return Ok(Vec::new());
        }
    }
    if !Job::read(job).paused_at.is_true() {
        job.insert("paused_at".into(), json!(iso(now, &zones.configured)));
    }
    job.insert("enabled".into(), json!(false));
    job.insert("state".into(), json!("paused"));
    job.insert("paused_reason".into(), json!(reason));
    Ok(changed(&before, job))
}

/// Arms a job again, with a next slot that is computed anew. Returns the keys that have changed.
///
/// # Errors
/// When it has ended, its time has passed, or its schedule cannot be used.
pub fn resume(job: &mut RawJob, now: Timestamp, zones: &Zones) -> Result<Vec<String>> {
    let before = job.clone();
    let next = {
        let view = Job::read(job);
        if view.is_terminal() {
            return Err(has_ended(&view));
        }
        let schedule = view.schedule().map_err(|why| {
            Error::new(Kind::Invalid, why.to_string()).with_hint(new_schedule(&view))
        })?;
        let late = match &schedule {
            Schedule::Once { at, .. } => at
                .instant(&zones.system)
                .is_none_or(|at| now.duration_since(at).as_secs() > ONCE_GRACE),
            _ => false,
        };
        if late {
            return Err(Error::new(
                Kind::Refused,
                "its one time has passed, so it would never fire",
            )
            .with_hint(new_schedule(&view))
            .with_hint(format!("or run it now: hermes cron run {}", named(&view))));
        }
        first_slot(&schedule, now, zones).ok_or_else(|| {
            Error::new(Kind::Refused, "its schedule matches no date any more")
                .with_hint(new_schedule(&view))
        })?
    };
    forget_slots(job);
    arm(job, Some(&next));
    Ok(changed(&before, job))
}

/// How late a one-shot may be, in seconds.
const ONCE_GRACE: i64 = super::lateness::ONCE_GRACE_SECONDS;

fn named<'a>(job: &'a Job<'_>) -> &'a str {
    job.id().unwrap_or("JOB")
}

fn new_schedule(job: &Job<'_>) -> String {
    format!(
        "give it another one: hermes cron edit {} --schedule TEXT",
        named(job)
    )
}

fn has_ended(job: &Job<'_>) -> Error {
    let state = job.state.text().unwrap_or("ended");
    Error::new(Kind::Refused, format!("it has ended ({state})")).with_hint(new_schedule(job))
}

#[cfg(test)]
mod tests;
