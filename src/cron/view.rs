//! A job as people look at it: where it stands, when it fires next and how late that is, how it went
//! last, and what keeps it from running here. Pure.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::job::{Job, Repeat};
use super::job_id;
use super::lateness::{MIN_GRACE_SECONDS, ONCE_GRACE_SECONDS};
use super::needs::{self, Unmet};
use super::next::{Fire, Zones};
use super::other_clock;
use super::redact::redact;
use super::schedule::{Schedule, StoredError};
use crate::error::Error;

/// So long, in seconds, a launch may take before it is called waiting.
const LAUNCH_SECONDS: i64 = 5;

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It fires at its next slot.
    Active,
    /// Its slot has passed, and nobody fired it.
    Overdue,
    /// It would fire, but this program does not do what it needs.
    Refused,
    /// It would fire, and fail at once: what it names is not there.
    WouldFail,
    /// It fires at its next slot, and never again: its schedule cannot be read.
    OnceMore,
    /// Armed, but it has no next slot, or a schedule that cannot be used.
    Never,
    /// A one-shot whose time passed without a run.
    Missed,
    /// Somebody paused it.
    Paused,
    /// It has run as often as it should.
    Completed,
    /// It ended in an error.
    Error,
    /// Switched off, nobody says why.
    Disabled,
}

impl Standing {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Overdue => "overdue",
            Self::Refused => "refused",
            Self::WouldFail => "would fail",
            Self::OnceMore => "fires once more",
            Self::Never => "never fires",
            Self::Missed => "missed",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Error => "error",
            Self::Disabled => "disabled",
        }
    }

    /// Whether it is meant to fire again.
    #[must_use]
    pub fn is_armed(self) -> bool {
        matches!(
            self,
            Self::Active
                | Self::Overdue
                | Self::Refused
                | Self::WouldFail
                | Self::OnceMore
                | Self::Never
                | Self::Missed
        )
    }

    /// Whether something is wrong that a person should see.
    #[must_use]
    pub fn is_wrong(self) -> bool {
        matches!(
            self,
            Self::Overdue
                | Self::Refused
                | Self::WouldFail
                | Self::OnceMore
                | Self::Never
                | Self::Missed
                | Self::Error
        )
    }

    /// Whether it is armed, and does nothing of use at its next slot.
    #[must_use]
    pub fn is_in_vain(self) -> bool {
        matches!(self, Self::Refused | Self::WouldFail)
    }
}

/// One job, for people and for `--json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct View {
    /// Its id; empty where it has none.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub state: Standing,
    /// Why it stands there, where there is more to say.
    pub because: Option<String>,
    /// A slot of it waits to start, which is why.
    #[serde(skip)]
    pub waits: bool,
    /// The kind of its schedule.
    pub kind: Option<String>,
    /// The schedule as people wrote it.
    pub schedule: String,
    /// The next slot, as stored.
    pub next_run_at: Option<String>,
    /// The same instant; where a pass plans it anew, the one that it will be.
    #[serde(skip)]
    pub next: Option<Timestamp>,
    /// The instant as stored.
    #[serde(skip)]
    stored: Option<Timestamp>,
    /// Seconds since the next slot, where that has passed.
    pub overdue_seconds: Option<i64>,
    /// Runs so far, and how many there will be.
    pub repeat: Times,
    /// What it runs: `script`, `prompt`, or `monitor`.
    pub work: &'static str,
    /// Its script.
    pub script: Option<String>,
    /// Where it runs.
    pub workdir: Option<String>,
    /// Where its result goes.
    pub deliver: Option<String>,
    /// When it was last run.
    pub last_run_at: Option<String>,
    /// How that ended.
    pub last_status: Option<String>,
    /// What went wrong.
    pub last_error: Option<String>,
    /// What went wrong with its delivery.
    pub last_delivery_error: Option<String>,
    /// When it last did what was asked; later failures leave this alone.
    pub last_success_at: Option<String>,
    /// When it last failed; later successes leave this alone.
    pub last_failure_at: Option<String>,
    /// Failures of its agent in a row.
    pub failure_streak: i64,
    /// Who runs it now, as its claim says.
    pub claimed_by: Option<String>,
    /// What it needs and this program does not do.
    pub unmet: Vec<Unmet>,
    /// What its runs go without here, and are whole all the same.
    pub goes_without: Vec<&'static str>,
}

/// How often a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Times {
    /// In all; none is for ever.
    pub times: Option<i64>,
    /// So far.
    pub completed: i64,
}

impl From<Repeat> for Times {
    fn from(repeat: Repeat) -> Self {
        Self {
            times: repeat.times,
            completed: repeat.completed,
        }
    }
}

/// Looks at a job.
#[must_use]
pub fn view(job: &Job<'_>, now: Timestamp, zones: &Zones) -> View {
    let own = |key: &str| job.x_hermes.get(key).and_then(Value::as_str);
    let text = |text: Option<&str>| text.map(str::to_owned);
    let stored = job.next_run_at.text().and_then(|text| zones.instant(text));
    let anew = other_clock::planned_anew(job, now, &zones.configured);
    let anew = anew.filter(|_| ended(job).is_none());
    let next = anew.map(|fire| fire.instant).or(stored);
    let unmet = needs::unmet(job);
    let (state, because) = standing(job, next, &unmet, (now, zones));
    let because = because.or_else(|| anew.map(|fire| of_another_clock(job, &fire)));
    let late = next.map(|next| now.duration_since(next).as_secs());
    let failed_at = job.last_failure.get("at").and_then(Value::as_str);
    // Errors and reasons are other people's words, which may hold what nobody should read here.
    let words = |text: Option<&str>| text.map(|text| redact(text, []));
    View {
        id: job.id().unwrap_or_default().to_owned(),
        name: job.label().to_owned(),
        overdue_seconds: late.filter(|_| state == Standing::Overdue),
        state,
        waits: state == Standing::Active && waits(job, now, zones).is_some(),
        because: words(because.as_deref()),
        kind: text(job.kind()),
        schedule: shown_schedule(job),
        next_run_at: text(job.next_run_at.text()),
        next,
        stored,
        repeat: job.repeat().into(),
        work: work(job),
        script: text(job.script.text().or(job.monitor_script.text())),
        workdir: text(job.workdir.text()),
        deliver: text(job.deliver.text()),
        last_run_at: text(job.last_run_at.text()),
        last_status: text(job.last_status.text()),
        last_error: words(job.last_error.text()),
        last_delivery_error: words(job.last_delivery_error.text()),
        last_success_at: text(own("last_success_at").or_else(|| good_run(job))),
        last_failure_at: text(failed_at),
        failure_streak: number(job.failure_streak.other()),
        claimed_by: job.fire_claim().map(|claim| claim.by.to_owned()),
        unmet,
        goes_without: needs::goes_without(job),
    }
}

impl View {
    /// Whether something is wrong with it that a person should see: also an end that it should not have.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        self.state.is_wrong() || (self.state == Standing::Completed && self.because.is_some())
    }

    /// The same job behind another one of its id, which is the one that is found by it.
    #[must_use]
    pub fn behind_another(mut self) -> Self {
        if self.state.is_armed() {
            (self.state, self.because) = (Standing::Never, Some(job_id::BEHIND.to_owned()));
        }
        self
    }

    /// The same job in a home whose jobs the other program runs: what we do not do stops nothing, and a
    /// slot of another zone stands until its instant.
    #[must_use]
    pub fn run_by_agent(mut self) -> Self {
        if self.next != self.stored {
            (self.next, self.because) = (self.stored, None);
        }
        if self.state == Standing::Refused {
            (self.state, self.because) = (Standing::Active, None);
        }
        self.goes_without.clear();
        self
    }

    /// The same job where this keeps it from its work when it is due.
    #[must_use]
    pub fn in_vain(mut self, state: Standing, why: &str) -> Self {
        if matches!(self.state, Standing::Active | Standing::Overdue) {
            (self.state, self.because) = (state, Some(why.to_owned()));
        }
        self
    }

    /// Whether it is another next run that the job waits for, where a pass gives it one.
    pub(super) fn is_moved(&self) -> bool {
        let has_none = self.state == Standing::Never && self.next.is_none();
        self.state == Standing::Overdue || (has_none && job_id::FileName::of(&self.id).is_some())
    }
}

fn of_another_clock(job: &Job<'_>, fire: &Fire) -> String {
    format!(
        "{} was planned by the clock of another zone; the next pass sets it to {}",
        job.next_run_at.text().unwrap_or_default(),
        fire.stamp
    )
}

fn number(value: Option<&Value>) -> i64 {
    value.and_then(Value::as_i64).unwrap_or(0)
}

/// The last run, where that was good and nobody wrote down the last good one by itself.
fn good_run<'a>(job: &'a Job<'_>) -> Option<&'a str> {
    let good = matches!(
        job.last_status.text(),
        Some("ok" | "delivery_failed" | "delivery_queued")
    );
    job.last_run_at.text().filter(|_| good)
}

fn shown_schedule(job: &Job<'_>) -> String {
    let display = job.schedule.get("display").and_then(Value::as_str);
    job.schedule_display
        .text()
        .or(display)
        .unwrap_or("(none)")
        .to_owned()
}

fn work(job: &Job<'_>) -> &'static str {
    if job.monitor_script.is_true() || job.monitor_url.is_true() {
        "monitor"
    } else if job.no_agent.is_true() {
        "script"
    } else {
        "prompt"
    }
}

fn standing(
    job: &Job<'_>,
    next: Option<Timestamp>,
    unmet: &[Unmet],
    (now, zones): (Timestamp, &Zones),
) -> (Standing, Option<String>) {
    if let Some(end) = ended(job) {
        return end;
    }
    // A job without an id gets one with its first scan.
    if job.id.is_true()
        && let Some(why) = job_id::objection(job)
    {
        return (Standing::Never, Some(why));
    }
    let schedule = match job.schedule() {
        Ok(schedule) => schedule,
        Err(why) => return unreadable(job, next, (&why, now)),
    };
    if let Schedule::Once { at, .. } = &schedule
        && job.last_run_at.is_none()
        && !job.is_manual()
        && job.run_claim().is_none()
        && job.fire_claim().is_none()
    {
        let late = at
            .instant(&zones.system)
            .map(|at| now.duration_since(at).as_secs());
        if late.is_some_and(|late| late > ONCE_GRACE_SECONDS) {
            return (
                Standing::Missed,
                Some("its one time passed without a run".to_owned()),
            );
        }
    }
    let Some(next) = next else {
        let why = match job.next_run_at.text() {
            Some(text) => format!(
                "its next run is '{}', which is no time",
                text.escape_debug()
            ),
            None => "it has no next run".to_owned(),
        };
        return (Standing::Never, Some(why));
    };
    if now.duration_since(next).as_secs() > MIN_GRACE_SECONDS {
        return (Standing::Overdue, None);
    }
    if !unmet.is_empty() {
        return (Standing::Refused, Some(needs::reason(unmet)));
    }
    (Standing::Active, waits(job, now, zones))
}

/// A schedule that cannot be read takes no slot off the store: the one that stands there fires, unless it
/// comes too late.
fn unreadable(
    job: &Job<'_>,
    next: Option<Timestamp>,
    (why, now): (&StoredError, Timestamp),
) -> (Standing, Option<String>) {
    let late = |next: Timestamp| now.duration_since(next).as_secs() > MIN_GRACE_SECONDS;
    let is_once = job.kind() == Some("once");
    let is_dropped = |next| late(next) && (is_once || job.is_recurring() && !why.is_absent());
    // Its last one has run.
    let is_over = job.state.text() == Some("error");
    if is_over || next.is_none_or(is_dropped) {
        return (Standing::Never, Some(why.to_string()));
    }
    let why = format!("{why}; the next run that stands in the store is its last");
    (Standing::OnceMore, Some(why))
}

/// A slot that was taken off the schedule and has no worker yet waits for room among other jobs, or for
/// its stagger; a launch takes less.
fn waits(job: &Job<'_>, now: Timestamp, zones: &Zones) -> Option<String> {
    let slot = job.pending_slot()?;
    let since = zones.instant(slot.at)?;
    let is_launch = now.duration_since(since).as_secs() < LAUNCH_SECONDS;
    (!is_launch).then(|| {
        format!(
            "its slot {} waits to start since {}",
            slot.scheduled_at, slot.at
        )
    })
}

/// What keeps a job from its work when it is due: what stands in the way of it alone, else what refuses every
/// worker, else the want of an agent where it asks one. A refusal comes before what would only fail.
#[must_use]
pub fn hindered(
    own: Option<(Standing, Error)>,
    all_refused: Option<&str>,
    no_agent: Option<&str>,
) -> Option<(Standing, String)> {
    let refused = |why: &str| Some((Standing::Refused, why.to_owned()));
    match (own, all_refused, no_agent) {
        (Some((Standing::Refused, error)), ..) => Some((Standing::Refused, error.in_full())),
        (_, Some(why), _) => refused(why),
        (Some((state, error)), ..) => Some((state, error.in_full())),
        (None, None, why) => refused(why?),
    }
}

/// A job that is not meant to fire.
fn ended(job: &Job<'_>) -> Option<(Standing, Option<String>)> {
    let state = job.state.text();
    if state == Some("completed") {
        // A recurring job without a limit has no end of its own.
        let itself = job.is_recurring() && job.repeat().times.is_none();
        let why = itself.then(|| "it recurs without a limit, and ended all the same".to_owned());
        return Some((Standing::Completed, why));
    }
    if job.is_terminal() {
        return Some((Standing::Error, job.last_error.text().map(str::to_owned)));
    }
    if job.has_pause_marker() {
        let why = job.paused_reason.text().map(str::to_owned);
        return Some((Standing::Paused, why));
    }
    if !job.is_enabled() {
        return Some((Standing::Disabled, None));
    }
    None
}

#[cfg(test)]
mod tests;
