//! What a job needs that this program does not do. Such a job is listed, and refused with the
//! reason when it is due; it is never half run. Pure.

use super::job::Job;
use super::loose::Loose;

/// What the job needs and does not get here, as noun phrases. Empty: it can run.
#[must_use]
pub fn unmet(job: &Job<'_>) -> Vec<String> {
    let mut unmet = Vec::new();
    if !job.no_agent.is_true() {
        unmet.extend(of_the_agent(job));
    }
    for (field, value) in [
        ("delivery", &job.deliver),
        ("delivery of failures", &job.failure_deliver),
    ] {
        if let Some(target) = foreign_target(value) {
            unmet.push(format!("{field} to {target}"));
        }
    }
    unmet
}

fn of_the_agent(job: &Job<'_>) -> Vec<String> {
    let mut unmet = Vec::new();
    if job.skills.is_true() || job.skill.is_true() {
        unmet.push("skills".to_owned());
    }
    // An empty list is none at all, which is a choice as well.
    if !job.enabled_toolsets.is_none() {
        unmet.push("toolsets of its own".to_owned());
    }
    if job.monitor_url.is_true() {
        unmet.push("a monitored URL".to_owned());
    }
    if job.context_from.is_true() {
        unmet.push("the output of other jobs as context".to_owned());
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
            .map(|(name, _)| format!("a pinned {name}")),
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
pub fn reason(unmet: &[String]) -> String {
    let list = match unmet {
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

    fn unmet_of(job: &Value) -> Vec<String> {
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
                "skills",
                "toolsets of its own",
                "a pinned model",
                "delivery to telegram:1"
            ]
        );
        assert_eq!(
            reason(&unmet[..2]),
            "it needs skills and toolsets of its own, which this program does not do"
        );
    }

    #[test]
    fn a_script_alone_has_no_use_for_skills() {
        assert!(unmet_of(&json!({"no_agent": true, "script": "a.sh", "skills": ["x"]})).is_empty());
    }
}
