//! One job of the store, read typed: what it is, and what is odd about it.
//!
//! A view for judging. Writers keep the raw object and change the keys they mean to change, so that
//! keys we do not know survive. Nothing in a job makes reading it fail.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::loose::Loose;
use super::own_corner;
use super::schedule::{Schedule, StoredError};
use super::stamp::Stamp;

macro_rules! job {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {
        /// A job. Fields hold the stored value, whatever its type; the methods say what it means.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Job<'a> {
            $($(#[doc = $doc])* pub $name: Loose<'a>,)*
        }

        impl<'de> Visitor<'de> for JobVisitor {
            type Value = Option<Job<'de>>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a job")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut object: A,
            ) -> Result<Option<Job<'de>>, A::Error> {
                let mut job = Some(Job::default());
                while let Some(key) = object.next_key()? {
                    match (key, &mut job) {
                        $((Key::Known(Name::$name), Some(job)) => {
                            job.$name = object.next_value()?;
                        })*
                        (key, _) => {
                            object.next_value::<IgnoredAny>()?;
                            if matches!(key, Key::Number) {
                                job = None;
                            }
                        }
                    }
                }
                Ok(job)
            }
        }

        impl<'a> Job<'a> {
            fn set(&mut self, which: &Name, value: Loose<'a>) {
                match which {
                    $(Name::$name => self.$name = value,)*
                }
            }
        }

        #[expect(non_camel_case_types, reason = "one word for the key and its variant")]
        enum Name { $($name,)* }

        impl Name {
            fn of(key: &str) -> Option<Name> {
                match key {
                    $(stringify!($name) => Some(Name::$name),)*
                    _ => None,
                }
            }
        }
    };
}

job! {
    /// Twelve hex digits, one path component.
    id,
    /// The id under an older name.
    job_id,
    /// For people.
    name,
    /// What the agent is asked.
    prompt,
    /// A script under `scripts/`.
    script,
    /// Whether the script runs without an agent.
    no_agent,
    /// A script whose changed output starts the agent.
    monitor_script,
    /// A URL whose changed content starts the agent.
    monitor_url,
    /// Skills that the agent loads.
    skills,
    /// The first of them.
    skill,
    /// Jobs whose output goes into the prompt.
    context_from,
    /// Kind, fields and display.
    schedule,
    /// The schedule for people.
    schedule_display,
    /// `times` and `completed`.
    repeat,
    /// Whether the job takes part at all.
    enabled,
    /// `scheduled`, `paused`, `completed` or `error`.
    state,
    /// When it was paused.
    paused_at,
    /// Why.
    paused_reason,
    /// When it was made.
    created_at,
    /// The next slot.
    next_run_at,
    /// When the last run ended.
    last_run_at,
    /// How it ended.
    last_status,
    /// What went wrong.
    last_error,
    /// What went wrong with the delivery.
    last_delivery_error,
    /// Whether it is unknown that the message arrived.
    last_delivery_unverified,
    /// The last failure, which a success does not clear.
    last_failure,
    /// Failures of the agent in a row.
    failure_streak,
    /// Where the result goes.
    deliver,
    /// The chat it was made in.
    origin,
    /// Which tools the agent has; an empty list is none at all.
    enabled_toolsets,
    /// Where it runs.
    workdir,
    /// The last slot handed out, and how late.
    last_dispatch,
    /// A slot taken off the schedule and not claimed yet.
    pending_slot,
    /// The lease of a running job.
    fire_claim,
    /// The lease of a running one-shot.
    run_claim,
    /// The slot of a run that somebody asked for.
    manual_run_at,
    /// What the agent is asked in that run, instead of what it is asked else.
    manual_run_prompt,
    /// The ladder of an unreachable provider.
    unreachable_retry,
    /// The end of a provider's window.
    quota_hold_until,
    /// The expression that held when the window was planned.
    quota_hold_cron_expr,
    /// The last launch that failed.
    last_fire_error,
    /// Program that runs the script.
    interpreter,
    /// A pinned model.
    model,
    /// A pinned provider.
    provider,
    /// A pinned endpoint.
    base_url,
    /// How hard the model thinks.
    reasoning_effort,
    /// Where a failure goes.
    failure_deliver,
    /// Whether what is delivered can be answered in a session.
    attach_to_session,
    /// What only we know of a job; the other program keeps it.
    x_hermes,
}

/// A job as it stands in the store, for writers: keys that we do not know survive in it.
pub type RawJob = Map<String, Value>;

struct JobVisitor;

/// The key under which `serde_json` hands out a number of any precision.
pub(super) const NUMBER_KEY: &str = "$serde_json::private::Number";

/// A key of the object, without a copy of its text.
enum Key {
    Known(Name),
    Other,
    /// Not an object at all, but a number.
    Number,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl Visitor<'_> for KeyVisitor {
            type Value = Key;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_str<E>(self, key: &str) -> Result<Key, E> {
                Ok(match Name::of(key) {
                    Some(known) => Key::Known(known),
                    None if key == NUMBER_KEY => Key::Number,
                    None => Key::Other,
                })
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

impl<'de> Job<'de> {
    /// Reads the text of one job; `None` where it is a number.
    pub(super) fn from_text(text: &'de str) -> serde_json::Result<Option<Job<'de>>> {
        serde_json::Deserializer::from_str(text).deserialize_map(JobVisitor)
    }

    /// Continues to read an object as a job; `None` where it is a number.
    pub(super) fn from_map<A: MapAccess<'de>>(object: A) -> Result<Option<Job<'de>>, A::Error> {
        JobVisitor.visit_map(object)
    }
}

/// How often a job runs, and how often it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeat {
    /// `None` is for ever.
    pub times: Option<i64>,
    /// Runs so far.
    pub completed: i64,
}

/// Who holds a job, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim<'a> {
    /// When it was taken or last renewed, as stored.
    pub at: &'a str,
    /// Machine, and for a run lease a nonce.
    pub by: &'a str,
}

/// A slot that was taken off the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot<'a> {
    /// The slot, as stored.
    pub scheduled_at: &'a str,
    /// When it was taken, as stored; empty where that is not written.
    pub at: &'a str,
    /// By which machine; empty where that is not written.
    pub by: &'a str,
}

/// Something odd about a job. It is read all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oddity {
    /// The key.
    pub field: &'static str,
    /// What is odd, as a sentence's middle: "is a number, not text".
    pub what: String,
}

impl<'a> Job<'a> {
    /// Reads a raw object.
    #[must_use]
    pub fn read(raw: &'a Map<String, Value>) -> Job<'a> {
        let mut job = Job::default();
        for (key, value) in raw {
            if let Some(known) = Name::of(key) {
                job.set(&known, Loose::from(value));
            }
        }
        job
    }

    /// The id; `None` where it is missing or no text.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.text()
    }

    /// The name, else the id, else a dash.
    #[must_use]
    pub fn label(&self) -> &str {
        self.name.text().or_else(|| self.id()).unwrap_or("-")
    }

    /// The schedule; the caller keeps it if it needs it twice.
    pub fn schedule(&self) -> Result<Schedule, StoredError> {
        self.schedule
            .other()
            .map_or(Err(StoredError::Kind), Schedule::from_json)
    }

    /// The kind that the schedule claims to have, readable or not.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.schedule.get("kind")?.as_str()
    }

    /// Whether the job fires again and again; a schedule that cannot be read does not.
    #[must_use]
    pub fn is_recurring(&self) -> bool {
        matches!(self.kind(), Some("interval" | "cron"))
    }

    /// Whether the job takes part: so it does unless `enabled` says no.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        matches!(self.enabled, Loose::Absent) || self.enabled.is_true()
    }

    /// Whether a pause is written down, by its time or by the state.
    #[must_use]
    pub fn has_pause_marker(&self) -> bool {
        self.paused_at.is_true() || self.state.text() == Some("paused")
    }

    /// Whether nothing will run it again: completed, or in error without a schedule to recover by.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        match self.state.text() {
            Some("completed") => true,
            Some("error") => !self.is_recurring(),
            _ => false,
        }
    }

    /// How often it runs and has run; see `repeat` for repairs.
    #[must_use]
    pub fn repeat(&self) -> Repeat {
        let times = self
            .repeat
            .get("times")
            .and_then(Value::as_i64)
            .filter(|times| *times > 0);
        let completed = self.repeat.get("completed").and_then(whole).unwrap_or(0);
        Repeat {
            times,
            completed: completed.max(0),
        }
    }

    /// Whether the next slot is one that somebody asked for: the texts are equal.
    #[must_use]
    pub fn is_manual(&self) -> bool {
        self.manual_run_at
            .text()
            .is_some_and(|manual| self.next_run_at.text() == Some(manual))
    }

    /// The lease of a running job.
    #[must_use]
    pub fn fire_claim(&self) -> Option<Claim<'_>> {
        claim(&self.fire_claim)
    }

    /// The lease of a running one-shot.
    #[must_use]
    pub fn run_claim(&self) -> Option<Claim<'_>> {
        claim(&self.run_claim)
    }

    /// The slot taken and not claimed; `None` where its instant cannot be read.
    #[must_use]
    pub fn pending_slot(&self) -> Option<Slot<'_>> {
        let text = |key| self.pending_slot.get(key).and_then(Value::as_str);
        Some(Slot {
            scheduled_at: text("scheduled_at").filter(|slot| Stamp::parse(slot).is_some())?,
            at: text("at").unwrap_or_default(),
            by: text("by").unwrap_or_default(),
        })
    }

    /// The slot that was handed out last, as stored.
    #[must_use]
    pub fn last_scheduled_at(&self) -> Option<&str> {
        self.last_dispatch.get("scheduled_at")?.as_str()
    }

    /// What is odd about the job; empty for one that a program wrote.
    #[must_use]
    pub fn oddities(&self) -> Vec<Oddity> {
        let mut found = Vec::new();
        let mut odd = |field, what: String| found.push(Oddity { field, what });
        if self.id().is_none() {
            odd("id", "is missing".into());
        }
        if let Err(error) = self.schedule() {
            odd("schedule", error.to_string());
        }
        for (field, value) in [
            ("next_run_at", &self.next_run_at),
            ("last_run_at", &self.last_run_at),
            ("created_at", &self.created_at),
            ("paused_at", &self.paused_at),
        ] {
            match value.text().map(Stamp::parse) {
                Some(None) => odd(field, "is no date and time".into()),
                Some(Some(stamp)) if stamp.is_naive() => odd(field, "has no offset".into()),
                None if !value.is_none() && !matches!(value, Loose::Text(_)) => {
                    odd(field, format!("is {}, not text", value.type_name()));
                }
                _ => {}
            }
        }
        for (field, value) in [("name", &self.name), ("prompt", &self.prompt)] {
            if !value.is_none() && !matches!(value, Loose::Text(_)) {
                odd(field, format!("is {}, not text", value.type_name()));
            }
        }
        if !matches!(self.enabled, Loose::Absent | Loose::Bool(_)) {
            odd(
                "enabled",
                format!("is {}, not a boolean", self.enabled.type_name()),
            );
        }
        for (field, what) in own_corner::oddities(&self.x_hermes) {
            odd(field, what);
        }
        if let Some(completed) = self.repeat.get("completed")
            && completed.as_u64().is_none()
        {
            odd(
                "repeat",
                "counts its runs with something that is no whole number".into(),
            );
        }
        found
    }
}

fn claim<'b>(value: &'b Loose<'_>) -> Option<Claim<'b>> {
    let text = |key| value.get(key)?.as_str();
    let (at, by) = (text("at")?, text("by").unwrap_or_default());
    Some(Claim { at, by })
}

/// A whole number as Python's `int()` takes it: numbers, booleans and digits in text.
pub(super) fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Bool(truth) => Some(i64::from(*truth)),
        Value::Number(number) => number.as_i64().or_else(|| {
            let float = number.as_f64().filter(|float| float.abs() < 9e15)?;
            format!("{:.0}", float.trunc()).parse().ok()
        }),
        Value::String(text) => super::text::strip(text).parse().ok(),
        _ => None,
    }
}
