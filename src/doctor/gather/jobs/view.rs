//! One job, from the view that borrows the text of the store to the few fields that are kept.

use serde_json::Value;

use crate::cron::job::Job as Stored;
use crate::cron::jobs_text::Kept;
use crate::cron::loose::Loose;
use crate::cron::needs;
use crate::doctor::evidence::jobs::{
    Claim, Claims, Dispatch, Job, LastRun, Needs, Stamps, StoredSchedule,
};

impl From<Stored<'_>> for Job {
    fn from(stored: Stored<'_>) -> Self {
        of(&stored)
    }
}

impl Kept for Job {
    fn name_by(&mut self, key: &str) {
        if self.id.is_empty() {
            key.clone_into(&mut self.id);
        }
    }
}

/// What is kept of a job.
fn of(stored: &Stored<'_>) -> Job {
    let repeat = stored.repeat();
    Job {
        id: text(&stored.id).unwrap_or_default(),
        name: text(&stored.name).unwrap_or_default(),
        schedule: schedule(stored),
        enabled: stored.is_enabled(),
        state: text(&stored.state).unwrap_or_default(),
        paused: stored.has_pause_marker(),
        times: repeat.times,
        stamps: stamps(stored),
        last: last_run(stored),
        claims: claims(stored),
        needs: of_the_host(stored),
        ill_typed: ill_typed(stored),
    }
}

fn text(value: &Loose<'_>) -> Option<String> {
    value.text().map(str::to_owned)
}

fn text_in(object: &Loose<'_>, key: &str) -> Option<String> {
    object.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn schedule(stored: &Stored<'_>) -> StoredSchedule {
    let schedule = &stored.schedule;
    StoredSchedule {
        kind: stored.kind().unwrap_or_default().to_owned(),
        minutes: schedule.get("minutes").and_then(Value::as_i64),
        expr: text_in(schedule, "expr"),
        run_at: text_in(schedule, "run_at"),
    }
}

fn stamps(stored: &Stored<'_>) -> Stamps {
    Stamps {
        created: text(&stored.created_at),
        next_run: text(&stored.next_run_at),
        last_run: text(&stored.last_run_at),
        manual: text(&stored.manual_run_at),
        quota_hold: text(&stored.quota_hold_until),
        retry: text_in(&stored.unreachable_retry, "at"),
    }
}

fn last_run(stored: &Stored<'_>) -> LastRun {
    let error = &stored.last_fire_error;
    let dispatch = &stored.last_dispatch;
    let number = |value: &Loose<'_>| value.other().and_then(Value::as_i64).unwrap_or(0);
    LastRun {
        status: text(&stored.last_status),
        error: text(&stored.last_error),
        delivery_error: text(&stored.last_delivery_error),
        delivery_unverified: stored.last_delivery_unverified.is_true(),
        streak: number(&stored.failure_streak),
        fire_error: error.other().map(|_| {
            let at = text_in(error, "at").unwrap_or_default();
            (at, text_in(error, "detail").unwrap_or_default())
        }),
        dispatch: dispatch.other().map(|_| Dispatch {
            scheduled: text_in(dispatch, "scheduled_at"),
            at: text_in(dispatch, "dispatched_at"),
            lateness: dispatch
                .get("lateness_seconds")
                .and_then(Value::as_f64)
                .unwrap_or(0.0),
            kind: text_in(dispatch, "kind").unwrap_or_default(),
        }),
    }
}

fn claims(stored: &Stored<'_>) -> Claims {
    // A claim that names no time is still a claim.
    let claim = |value: &Loose<'_>| {
        value.other().map(|_| Claim {
            at: text_in(value, "at").unwrap_or_default(),
            by: text_in(value, "by").unwrap_or_default(),
        })
    };
    Claims {
        fire: claim(&stored.fire_claim),
        run: claim(&stored.run_claim),
        pending: claim(&stored.pending_slot),
        pending_slot: text_in(&stored.pending_slot, "scheduled_at"),
    }
}

fn of_the_host(stored: &Stored<'_>) -> Needs {
    Needs {
        script: text(&stored.script),
        no_agent: stored.no_agent.is_true(),
        interpreter: text(&stored.interpreter),
        monitor_script: text(&stored.monitor_script),
        workdir: text(&stored.workdir),
        deliver: text(&stored.deliver),
        unmet: needs::unmet(stored),
    }
}

/// Fields that hold a value of the wrong kind.
fn ill_typed(stored: &Stored<'_>) -> Vec<(&'static str, &'static str)> {
    let texts = [
        ("id", &stored.id),
        ("name", &stored.name),
        ("prompt", &stored.prompt),
        ("state", &stored.state),
        ("next_run_at", &stored.next_run_at),
        ("last_run_at", &stored.last_run_at),
        ("created_at", &stored.created_at),
        ("paused_at", &stored.paused_at),
        ("script", &stored.script),
        ("workdir", &stored.workdir),
        ("deliver", &stored.deliver),
    ];
    // A text as origin has stopped whole schedulers.
    let objects = [
        ("origin", &stored.origin),
        ("schedule", &stored.schedule),
        ("repeat", &stored.repeat),
        ("fire_claim", &stored.fire_claim),
        ("run_claim", &stored.run_claim),
        ("pending_slot", &stored.pending_slot),
        ("last_dispatch", &stored.last_dispatch),
    ];
    let truths = [("enabled", &stored.enabled), ("no_agent", &stored.no_agent)];
    let is_text = |value: &Loose<'_>| matches!(value, Loose::Text(_));
    let is_object = |value: &Loose<'_>| value.other().is_some_and(Value::is_object);
    let is_truth = |value: &Loose<'_>| matches!(value, Loose::Bool(_));
    let mut wrong = Vec::new();
    let mut hold = |fields: &[(&'static str, &Loose<'_>)], good: &dyn Fn(&Loose<'_>) -> bool| {
        let bad = |value: &Loose<'_>| !value.is_none() && !good(value);
        let found = fields.iter().filter(|(_, value)| bad(value));
        wrong.extend(found.map(|(name, value)| (*name, value.type_name())));
    };
    hold(&texts, &is_text);
    hold(&objects, &is_object);
    hold(&truths, &is_truth);
    wrong
}
