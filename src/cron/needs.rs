//! What a job needs that this program does not do. Such a job is listed, and refused with the
//! reason when it is due; it is never half run. Pure.

use std::fmt;

use serde::{Serialize, Serializer};

use super::job::Job;
use super::loose::Loose;

/// One thing that a job needs and does not get here. Its words are a noun phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmet {
    /// Skills of the agent.
    Skills,
    /// Toolsets of its own.
    Toolsets,
    /// A URL that wakes it.
    MonitoredUrl,
    /// The output of other jobs as context.
    Context,
    /// A choice of the agent's, by the name of its field: `model`.
    Pinned(&'static str),
    /// Another prompt in the run that somebody asked the other program for.
    PromptOfOneRun,
    /// Its messages go to this target.
    Delivery(String),
    /// Messages of its failures go to this target.
    DeliveryOfFailures(String),
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skills => f.write_str("skills"),
            Self::Toolsets => f.write_str("toolsets of its own"),
            Self::MonitoredUrl => f.write_str("a monitored URL"),
            Self::Context => f.write_str("the output of other jobs as context"),
            Self::Pinned(field) => write!(f, "a pinned {field}"),
            Self::PromptOfOneRun => {
                f.write_str("a prompt of its own in the run that was asked for (manual_run_prompt)")
            }
            Self::Delivery(target) => write!(f, "delivery to {target}"),
            Self::DeliveryOfFailures(target) => write!(f, "delivery of failures to {target}"),
        }
    }
}

impl Serialize for Unmet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What the job needs and does not get here. Empty: it can run.
#[must_use]
pub fn unmet(job: &Job<'_>) -> Vec<Unmet> {
    let mut unmet = Vec::new();
    if !job.no_agent.is_true() {
        unmet.extend(of_the_agent(job));
    }
    unmet.extend(foreign_target(&job.deliver).map(Unmet::Delivery));
    unmet.extend(foreign_target(&job.failure_deliver).map(Unmet::DeliveryOfFailures));
    unmet
}

/// What a run here goes without, and is whole all the same. Empty: nothing.
///
/// A job that is attached to a session does and delivers what any other does; only can what was delivered not
/// be answered there. A delivery to a chat, where that would matter, is refused for itself.
#[must_use]
pub fn goes_without(job: &Job<'_>) -> Vec<&'static str> {
    let attached = job.attach_to_session.is_true();
    let without = "its result in the session that it is attached to (attach_to_session)";
    attached.then_some(without).into_iter().collect()
}

fn of_the_agent(job: &Job<'_>) -> Vec<Unmet> {
    let mut unmet = Vec::new();
    if job.skills.is_true() || job.skill.is_true() {
        unmet.push(Unmet::Skills);
    }
    // An empty list is none at all, which is a choice as well.
    if !job.enabled_toolsets.is_none() {
        unmet.push(Unmet::Toolsets);
    }
    if job.monitor_url.is_true() {
        unmet.push(Unmet::MonitoredUrl);
    }
    if job.context_from.is_true() {
        unmet.push(Unmet::Context);
    }
    if job.is_manual() && job.manual_run_prompt.is_true() {
        unmet.push(Unmet::PromptOfOneRun);
    }
    let pins = [
        ("model", &job.model),
        ("provider", &job.provider),
        ("base_url", &job.base_url),
        ("reasoning_effort", &job.reasoning_effort),
    ];
    unmet.extend(
        pins.iter()
            .filter(|(_, pin)| pin.is_true())
            .map(|(name, _)| Unmet::Pinned(name)),
    );
    unmet
}

/// A target other than the files of the home.
fn foreign_target(value: &Loose<'_>) -> Option<String> {
    match value {
        Loose::Text(target) if !target.is_empty() && target != "local" => Some(target.to_string()),
        Loose::Other(_) if value.is_true() => Some("several targets".to_owned()),
        _ => None,
    }
}

/// The reason in one sentence fragment: `it needs skills and delivery to telegram:1`.
#[must_use]
pub fn reason(unmet: &[Unmet]) -> String {
    let unmet: Vec<_> = unmet.iter().map(ToString::to_string).collect();
    let list = match unmet.as_slice() {
        [] => return "it needs nothing".to_owned(),
        [one] => one.clone(),
        [start @ .., last] => format!("{} and {last}", start.join(", ")),
    };
    format!("it needs {list}, which this program does not do")
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;

    fn unmet_of(job: &Value) -> Vec<Unmet> {
        let object: &Map<String, Value> = job.as_object().unwrap();
        unmet(&Job::read(object))
    }

    #[test]
    fn a_plain_job_needs_nothing() {
        let plain = json!({"prompt": "p", "skills": [], "skill": null, "deliver": "local",
            "enabled_toolsets": null, "context_from": null, "model": ""});
        assert!(unmet_of(&plain).is_empty());
    }

    #[test]
    fn every_need_is_named() {
        let job = json!({"skills": ["x"], "enabled_toolsets": [], "deliver": "telegram:1",
            "model": "m"});
        let unmet = unmet_of(&job);
        assert_eq!(
            unmet,
            [
                Unmet::Skills,
                Unmet::Toolsets,
                Unmet::Pinned("model"),
                Unmet::Delivery("telegram:1".to_owned())
            ]
        );
        let words = serde_json::to_value(&unmet[2..]).unwrap();
        assert_eq!(words, json!(["a pinned model", "delivery to telegram:1"]));
        assert_eq!(
            reason(&unmet[..2]),
            "it needs skills and toolsets of its own, which this program does not do"
        );
    }

    #[test]
    fn a_session_is_no_need_and_is_told_of() {
        for (attached, told) in [(json!(true), 1), (json!(false), 0), (Value::Null, 0)] {
            let job = json!({"prompt": "p", "attach_to_session": attached});
            let object = job.as_object().unwrap();
            assert!(unmet_of(&job).is_empty());
            assert_eq!(goes_without(&Job::read(object)).len(), told);
        }
    }

    #[test]
    fn a_script_alone_has_no_use_for_skills() {
        assert!(unmet_of(&json!({"no_agent": true, "script": "a.sh", "skills": ["x"]})).is_empty());
    }
}
