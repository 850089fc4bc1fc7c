//! Runs a task: its script, its agent, or the one and then the other. What comes of it is a report;
//! what is done with the report is the worker's business.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::sync::watch;

use super::output::Log;
use super::task::{Script, Task, Work};
use crate::agent::runner::{prepare, prompt_file};
use crate::agent::settings::{STOP_GRACE, not_configured};
use crate::agent::{AgentCommand, Reader, Tail, Turn};
use crate::child::guard::guarded;
use crate::child::run::{End, Ended, Limits, Spec, Stream, start};
use crate::config::dotenv::Environment;
use crate::error::{Error, Kind, Result};
use crate::files::read_regular;
use crate::output::human;

/// Most of a script's output that is kept for a document, a prompt or a delivery, in bytes: its
/// end.
const KEPT: usize = 1 << 20;

/// Largest file of variables, in bytes.
const LARGEST_ENV_FILE: u64 = 1 << 20;

/// Marks everything that a run starts, so that what is left of it can be found.
pub const EXECUTION_VARIABLE: &str = "HERMES_EXECUTION_ID";

/// What a run needs beside its task.
pub struct Context<'a> {
    /// The execution.
    pub execution_id: &'a str,
    /// The agent, where one is configured.
    pub agent: Option<&'a AgentCommand>,
    /// The environment of whatever is run.
    pub environment: &'a BTreeMap<String, String>,
    /// The job's own variables over it, as [`own_variables`] has read them: once, so that what is masked is
    /// what was used.
    pub own: Result<BTreeMap<String, String>>,
    /// The home's directory: where a job without a working directory runs.
    pub home: &'a Path,
    /// Turns true when the run must stop.
    pub cancel: watch::Receiver<bool>,
    /// Gets all output as it comes.
    pub log: Log,
    /// Is told the process group of everything that is started, before it is waited for.
    pub started: &'a mut dyn FnMut(u32),
    /// Tie what is started to this process by the step before exec.
    pub guard: bool,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// It did what was asked.
    pub ok: bool,
    /// What went wrong.
    pub error: Option<String>,
    /// What it printed, or answered.
    pub body: String,
    /// Digest of what a monitor has seen, once that was dealt with.
    pub monitor_digest: Option<String>,
    /// It was stopped because it ran too long, or was silent too long.
    pub time_limit: bool,
    /// Somebody asked it to stop.
    pub cancelled: bool,
    /// Signal that ended it, where one did that was not ours.
    pub signal: Option<i32>,
}

/// The variables of a run.
struct Variables {
    /// All of them.
    all: BTreeMap<String, String>,
    /// Those that are this run's or this job's alone.
    given: BTreeMap<String, String>,
}

impl Report {
    fn good(body: String) -> Self {
        Self {
            ok: true,
            error: None,
            body,
            monitor_digest: None,
            time_limit: false,
            cancelled: false,
            signal: None,
        }
    }

    fn bad(error: String, body: String) -> Self {
        Self {
            ok: false,
            error: Some(error),
            ..Self::good(body)
        }
    }
}

impl Context<'_> {
    /// Runs the task. Everything that can go wrong is in the report.
    pub async fn run(&mut self, task: &Task) -> Report {
        match self.attempt(task).await {
            Ok(report) => report,
            Err(error) => {
                let causes = error.causes();
                let parts = std::iter::once(error.to_string()).chain(causes);
                let words: Vec<_> = parts.collect();
                Report::bad(words.join(": "), String::new())
            }
        }
    }

    async fn attempt(&mut self, task: &Task) -> Result<Report> {
        let environment = self.take_environment(task)?;
        match &task.work {
            Work::Script(script) => self.script(task, script, &environment).await,
            Work::Prompt {
                prompt,
                before: None,
            } => self.agent(task, prompt, &environment).await,
            Work::Prompt {
                prompt,
                before: Some(script),
            } => {
                let before = self.script(task, script, &environment).await?;
                if !before.ok {
                    return Ok(before);
                }
                let prompt = with_output(script, &before.body, prompt);
                self.agent(task, &prompt, &environment).await
            }
            Work::Monitor {
                script,
                prompt,
                last,
            } => {
                let seen = self.script(task, script, &environment).await?;
                if !seen.ok {
                    return Ok(seen);
                }
                let digest = digest(&seen.body);
                if last.as_deref() == Some(digest.as_str()) {
                    return Ok(Report::good(
                        "unchanged, so the agent was not asked".to_owned(),
                    ));
                }
                let prompt = with_output(script, &seen.body, prompt);
                let answered = self.agent(task, &prompt, &environment).await?;
                // A change that was not dealt with is a change next time as well.
                let monitor_digest = answered.ok.then_some(digest);
                Ok(Report {
                    monitor_digest,
                    ..answered
                })
            }
        }
    }

    /// The environment of the job: ours as handed over, the job's own file of variables, its name.
    fn take_environment(&mut self, task: &Task) -> Result<Variables> {
        let mut given = std::mem::replace(&mut self.own, Ok(BTreeMap::new()))?;
        given.insert("HERMES_JOB_ID".to_owned(), task.job_id.clone());
        given.insert(EXECUTION_VARIABLE.to_owned(), self.execution_id.to_owned());
        let mut all = self.environment.clone();
        all.extend(given.clone());
        Ok(Variables { all, given })
    }

    async fn script(
        &mut self,
        task: &Task,
        script: &Script,
        environment: &Variables,
    ) -> Result<Report> {
        if !script.path.is_file() {
            return Err(Error::new(
                Kind::NotFound,
                format!("the script {} is missing", script.path.display()),
            ));
        }
        let argv = script.argv().into_iter().map(OsString::from).collect();
        let env = environment.all.iter();
        let env = env
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let limits = limits(task.timeout, None);
        let spec = Spec {
            argv,
            cwd: Some(self.cwd(task)?),
            env,
            stdin: None,
            limits,
        };
        let mut output = Tail::new(KEPT);
        let ended = self.execute(spec, |piece| output.hear(piece)).await?;
        let name = script
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let words = format!("script {name}");
        Ok(judge(&words, &ended, output.text(), limits, None))
    }

    async fn agent(
        &mut self,
        task: &Task,
        prompt: &str,
        environment: &Variables,
    ) -> Result<Report> {
        let missing = || not_configured(&self.home.join("config.toml"), false);
        let agent = self.agent.ok_or_else(missing)?;
        let file = prompt_file(agent, prompt, &std::env::temp_dir())?;
        let path = file
            .as_ref()
            .map(|file| file.path().to_string_lossy().into_owned());
        let turn = Turn {
            prompt,
            session: None,
            prompt_file: path.as_deref(),
        };
        let variable = |name: &str| environment.all.get(name).map(OsString::from);
        let invocation = prepare(agent, &turn, &variable)?;
        let ours = environment
            .all
            .iter()
            .map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        // What somebody wrote for this job alone is allowed by that.
        let own = environment.given.iter();
        let own = own.map(|(name, value)| (name.into(), value.into()));
        let env = agent.environment(ours, own);
        let total = task.timeout.or(agent.timeout.map(|limit| limit.as_secs()));
        let limits = limits(total, agent.inactivity);
        let spec = Spec {
            argv: invocation.argv,
            cwd: Some(self.cwd(task)?),
            env,
            stdin: invocation.stdin,
            limits,
        };
        let mut reader = Reader::new(agent.answer, KEPT);
        let mut ended = self.execute(spec, |piece| reader.hear(piece)).await?;
        let answer = reader.answer_beside(&mut ended.stderr_tail);
        let failure = answer.failure();
        let reason = answer.reason.as_deref();
        let mut report = judge("agent", &ended, answer.text, limits, reason);
        if report.ok && failure.is_some() {
            report.ok = false;
            report.error = failure;
        }
        Ok(report)
    }

    fn cwd(&self, task: &Task) -> Result<PathBuf> {
        let Some(directory) = &task.workdir else {
            return Ok(self.home.to_path_buf());
        };
        if directory.is_dir() {
            Ok(directory.clone())
        } else {
            let message = format!("the working directory {} is not there", directory.display());
            Err(Error::new(Kind::NotFound, message))
        }
    }

    /// Runs it; stdout goes to `hear` as it comes.
    async fn execute(&mut self, mut spec: Spec, mut hear: impl FnMut(&[u8])) -> Result<Ended> {
        if self.guard {
            spec.argv = guarded(spec.argv);
        }
        let running = start(spec)?;
        (self.started)(running.pid());
        let log = &mut self.log;
        running
            .wait(self.cancel.clone(), |stream, piece| {
                log.add(piece);
                if stream == Stream::Out {
                    hear(piece);
                }
            })
            .await
    }
}

fn limits(total: Option<u64>, inactivity: Option<Duration>) -> Limits {
    let total = total
        .filter(|seconds| *seconds > 0)
        .map(Duration::from_secs);
    Limits {
        total,
        inactivity,
        grace: STOP_GRACE,
    }
}

/// Stands before the exit status in the words for an end.
const EXITED: &str = " exited with code ";
/// Stands before the signal in the words for an end.
const SIGNALED: &str = " was killed by signal ";

/// The exit status of a job and the signal that ended it, as the words of a run's end on record have them.
#[must_use]
pub fn status_on_record(ok: bool, error: Option<&str>) -> (Option<i32>, Option<i32>) {
    if ok {
        return (Some(0), None);
    }
    let number = |after: &str| -> Option<i32> {
        let (_, rest) = error?.split_once(after)?;
        let digits = rest.split(|sign: char| !sign.is_ascii_digit()).next()?;
        digits.parse().ok()
    };
    (number(EXITED), number(SIGNALED))
}

/// What an end means. The reason that an agent itself gives says more than its stderr.
fn judge(what: &str, ended: &Ended, body: String, limits: Limits, reason: Option<&str>) -> Report {
    let seconds = |limit: Option<Duration>| {
        human::duration(limit.map_or(0, |limit| {
            i64::try_from(limit.as_secs()).unwrap_or(i64::MAX)
        }))
    };
    let words = match ended.end {
        End::Exited(0) => return Report::good(body),
        End::Exited(code) => format!("{what}{EXITED}{code}"),
        End::Signaled(signal) => format!("{what}{SIGNALED}{signal}"),
        End::TimedOut => format!(
            "{what} ran longer than its time limit of {}",
            seconds(limits.total)
        ),
        End::Inactive => format!("{what} was silent for {}", seconds(limits.inactivity)),
        End::Cancelled => format!("{what} was stopped on request"),
    };
    let said = reason.map_or_else(|| last_lines(&ended.stderr_tail), str::to_owned);
    let error = if said.is_empty() {
        words
    } else {
        format!("{words}: {said}")
    };
    Report {
        time_limit: matches!(ended.end, End::TimedOut | End::Inactive),
        cancelled: ended.end == End::Cancelled,
        signal: match ended.end {
            End::Signaled(signal) => Some(signal),
            _ => None,
        },
        ..Report::bad(error, body)
    }
}

/// The last three lines, which mostly say it.
fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let start = lines.len().saturating_sub(3);
    lines.get(start..).unwrap_or_default().join(" / ")
}

fn with_output(script: &Script, output: &str, prompt: &str) -> String {
    let name = script
        .path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    format!(
        "Output of the script {name}:\n\n{}\n\n---\n\n{prompt}",
        output.trim_end()
    )
}

fn digest(output: &str) -> String {
    let digest = Sha256::digest(output.trim_end().as_bytes());
    digest.iter().fold(String::new(), |mut hex, byte| {
        use std::fmt::Write as _;
        let _infallible = write!(hex, "{byte:02x}");
        hex
    })
}

/// The variables that a job has in a file of its own, read as `.env` files are; names in the values are
/// filled in from the file and from the environment that it is laid over.
///
/// # Errors
/// When the file cannot be read.
pub fn own_variables(
    task: &Task,
    environment: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>> {
    let Some(path) = &task.env_file else {
        return Ok(BTreeMap::new());
    };
    let failed = |error| Error::io(format!("failed to read {}", path.display()), error);
    let text = String::from_utf8(read_regular(path, LARGEST_ENV_FILE).map_err(failed)?)
        .map_err(|error| failed(std::io::Error::other(error)))?;
    let under: Environment = environment.clone().into_iter().collect();
    Ok(under.values(&text, true))
}

#[cfg(test)]
mod tests;
