//! What one run of a job is, once all that it names has been made sure of: the words of its script,
//! its prompt, where it runs and for how long. Plain data; it travels to the worker.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::job::Job;
use super::job_id;
use super::needs;
use super::own_corner;
use crate::error::{Error, Kind, Result};

/// Longest run of a script where nothing else is said, in seconds: as in Hermes Agent.
pub const SCRIPT_TIMEOUT: u64 = 3600;
/// Newest outputs that are kept of a job: as in Hermes Agent.
pub const OUTPUT_RETENTION: i64 = 50;

/// One run of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The job.
    pub job_id: String,
    /// Its name, for people.
    pub name: String,
    /// What is run.
    pub work: Work,
    /// Where it runs; the home's own directory otherwise.
    pub workdir: Option<PathBuf>,
    /// Longest run, in seconds; 0 is no limit. For a prompt it goes before the agent's own.
    pub timeout: Option<u64>,
    /// A file of variables for it.
    pub env_file: Option<PathBuf>,
    /// A command that gets the result on its stdin.
    pub deliver_command: Vec<String>,
    /// How many outputs are kept; 0 or less keeps all.
    pub output_retention: i64,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// A script, and nothing else.
    Script(Script),
    /// A prompt, with the output of a script before it where there is one.
    Prompt {
        /// What the agent is asked.
        prompt: String,
        /// A script whose output goes into the prompt.
        before: Option<Script>,
    },
    /// A script, and the agent only if its output has changed.
    Monitor {
        /// The script that watches.
        script: Script,
        /// What the agent is asked of the change.
        prompt: String,
        /// Digest of the output that was seen last.
        last: Option<String>,
    },
}

impl Work {
    /// Whether an agent may be needed.
    #[must_use]
    pub fn needs_agent(&self) -> bool {
        !matches!(self, Self::Script(_))
    }
}

/// A script of the home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// Its file.
    pub path: PathBuf,
    /// Program that runs it; `None`: by its ending, or by its own first line.
    pub interpreter: Option<String>,
}

impl Script {
    /// The words that run it.
    ///
    /// `.sh` and `.bash` are run by bash, `.py` by python3, as the other program runs them;
    /// anything else by its own first line, for which it must be executable.
    #[must_use]
    pub fn argv(&self) -> Vec<String> {
        let path = self.path.to_string_lossy().into_owned();
        let ending = self
            .path
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or_default();
        let program = self.interpreter.clone().or_else(|| match ending {
            "sh" | "bash" => Some("bash".to_owned()),
            "py" => Some("python3".to_owned()),
            _ => None,
        });
        program.into_iter().chain([path]).collect()
    }
}

/// Where the scripts of a home are, and how they are named.
///
/// # Errors
/// When the name leads out of `scripts/`.
pub fn script_path(scripts: &Path, name: &str) -> Result<PathBuf> {
    let relative = Path::new(name);
    let inside = relative
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if inside && !name.is_empty() {
        return Ok(scripts.join(relative));
    }
    // The other program accepts a whole path, as long as it lies inside.
    if relative.is_absolute()
        && relative.starts_with(scripts)
        && !relative
            .components()
            .any(|part| part == Component::ParentDir)
    {
        return Ok(relative.to_path_buf());
    }
    Err(Error::new(
        Kind::Invalid,
        format!("the script '{}' leads out of scripts/", name.escape_debug()),
    )
    .with_hint(format!(
        "put it into {} and name it by its path in there",
        scripts.display()
    )))
}

/// What the task of a job takes from the home and its configuration.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The home's directory.
    pub home: &'a Path,
    /// `cron.script_timeout_seconds`.
    pub script_timeout: u64,
    /// `cron.output_retention`.
    pub output_retention: i64,
}

impl<'a> Place<'a> {
    /// What these settings of a home say.
    #[must_use]
    pub fn of(home: &'a Path, settings: &crate::config::settings::Cron) -> Self {
        let kept = settings.output_retention;
        Self {
            home,
            script_timeout: settings.script_timeout.map_or(0, |limit| limit.as_secs()),
            output_retention: kept.map_or(0, |kept| i64::try_from(kept).unwrap_or(i64::MAX)),
        }
    }
}

/// The task of a job.
///
/// # Errors
/// When the job needs what this program does not do ([`Kind::Refused`]), its id is no name for a folder
/// of outputs, or what it says of its script or prompt makes no sense ([`Kind::Invalid`]).
pub fn plan(job: &Job<'_>, place: Place<'_>) -> Result<Task> {
    if let Some(why) = job_id::objection(job) {
        return Err(Error::new(Kind::Invalid, why)
            .with_hint("give it an id of twelve hex digits in cron/jobs.json"));
    }
    let unmet = needs::unmet(job);
    if !unmet.is_empty() {
        return Err(Error::new(Kind::Refused, needs::reason(&unmet)).with_hint(
            "let Hermes Agent run it, or take those off the job: 'hermes cron edit --help' has a flag for each",
        ));
    }
    let work = work(job, &place.home.join("scripts"))?;
    let own = |key: &str| job.x_hermes.get(key);
    let path = |value: Option<&str>| value.map(PathBuf::from);
    let timeout = own("timeout_seconds").and_then(own_corner::seconds);
    Ok(Task {
        job_id: job.id().unwrap_or_default().to_owned(),
        name: job.label().to_owned(),
        timeout: timeout.or_else(|| (!work.needs_agent()).then_some(place.script_timeout)),
        work,
        workdir: path(job.workdir.text()),
        env_file: path(own("env_file").and_then(|value| value.as_str())),
        deliver_command: deliver_command(job),
        output_retention: place.output_retention,
    })
}

/// The command that gets the results of a job; empty: they stay in the home.
#[must_use]
pub fn deliver_command(job: &Job<'_>) -> Vec<String> {
    let words = job.x_hermes.get("deliver_command");
    let words = words.and_then(|value| value.as_array()).into_iter();
    let text = |word: &serde_json::Value| word.as_str().map(str::to_owned);
    words.flatten().filter_map(text).collect()
}

fn work(job: &Job<'_>, scripts: &Path) -> Result<Work> {
    let script = |name: &str| -> Result<Script> {
        let interpreter = job.interpreter.text().map(str::to_owned);
        Ok(Script {
            path: script_path(scripts, name)?,
            interpreter,
        })
    };
    let prompt = job.prompt.text().unwrap_or_default().to_owned();
    let watched = job.monitor_script.text();
    match (job.script.text(), job.no_agent.is_true(), watched) {
        (None, true, _) => Err(Error::new(
            Kind::Invalid,
            "it is a script alone, and names no script",
        )
        .with_hint("name one: --script NAME")),
        (Some(name), true, _) => Ok(Work::Script(script(name)?)),
        (_, false, Some(name)) => Ok(Work::Monitor {
            script: script(name)?,
            prompt,
            last: job
                .x_hermes
                .get("monitor_digest")
                .and_then(|last| last.as_str())
                .map(str::to_owned),
        }),
        (None, false, None) if prompt.trim().is_empty() => Err(Error::new(
            Kind::Invalid,
            "it has neither a prompt nor a script",
        )
        .with_hint("give it a prompt, or --script NAME with --no-agent")),
        (name, false, None) => Ok(Work::Prompt {
            prompt,
            before: name.map(script).transpose()?,
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn task(job: &Value) -> Result<Task> {
        let place = Place {
            home: Path::new("/h"),
            script_timeout: 3600,
            output_retention: 50,
        };
        plan(&Job::read(job.as_object().unwrap()), place)
    }

    #[test]
    fn a_script_is_run_by_its_ending() {
        let argv = |name: &str| {
            Script {
                path: PathBuf::from(name),
                interpreter: None,
            }
            .argv()
        };
        assert_eq!(argv("/h/scripts/a.sh"), ["bash", "/h/scripts/a.sh"]);
        assert_eq!(argv("/h/scripts/a.py"), ["python3", "/h/scripts/a.py"]);
        assert_eq!(argv("/h/scripts/a"), ["/h/scripts/a"]);
    }

    #[test]
    fn scripts_stay_inside() {
        let scripts = Path::new("/h/scripts");
        assert!(script_path(scripts, "a/b.sh").is_ok());
        assert!(script_path(scripts, "/h/scripts/b.sh").is_ok());
        for bad in ["", "../b.sh", "/etc/passwd", "/h/scripts/../x", "a/../../b"] {
            assert_eq!(
                script_path(scripts, bad).unwrap_err().kind(),
                Kind::Invalid,
                "{bad}"
            );
        }
    }

    #[test]
    fn what_a_job_says_becomes_a_task() {
        let script = task(&json!({"id": "a", "no_agent": true, "script": "x.sh"})).unwrap();
        assert_eq!(script.timeout, Some(3600));
        assert!(!script.work.needs_agent());
        let prompt = task(&json!({"id": "a", "prompt": "p", "script": "x.sh",
            "x_hermes": {"timeout_seconds": 5, "deliver_command": ["mail", "me"]}}))
        .unwrap();
        assert_eq!((prompt.timeout, prompt.deliver_command.len()), (Some(5), 2));
        assert!(matches!(
            prompt.work,
            Work::Prompt {
                before: Some(_),
                ..
            }
        ));
        let watch = task(&json!({"id": "a", "prompt": "p", "monitor_script": "w.sh"})).unwrap();
        assert!(matches!(watch.work, Work::Monitor { last: None, .. }));
    }

    #[test]
    fn what_cannot_be_run_is_refused_with_the_reason() {
        let kind = |job: Value| task(&job).unwrap_err().kind();
        assert_eq!(
            kind(json!({"id": "a", "prompt": "p", "deliver": "telegram:1"})),
            Kind::Refused
        );
        assert_eq!(kind(json!({"id": "a", "no_agent": true})), Kind::Invalid);
        for id in ["../../memories", "/abs", ".."] {
            let job = json!({"id": id, "no_agent": true, "script": "x.sh"});
            assert_eq!(kind(job), Kind::Invalid, "{id}");
        }
        assert_eq!(kind(json!({"id": "a", "prompt": "  "})), Kind::Invalid);
    }
}
