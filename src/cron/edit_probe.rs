//! What a job names, looked for before it is kept: its scripts, its directory, its file of variables,
//! an agent for its prompt.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use super::job::{Job, RawJob};
use super::task::{self, Place, Script, Task, Work};
use super::view::Standing;
use crate::agent::Settings;
use crate::agent::runner::{find_programs, look_up};
use crate::error::{Error, Kind, Result};
use crate::files::open_regular;
use crate::home::Home;

/// Looks whether a job could run here.
///
/// # Errors
/// [`Kind::Refused`] where it needs what this program does not do, anything else where what it names is
/// missing or makes no sense.
pub fn check(job: &RawJob, home: &Home) -> Result<Task> {
    let view = Job::read(job);
    if view.no_agent.is_true() && view.monitor_script.is_true() {
        return Err(
            Error::usage("--monitor-script starts the agent, and --no-agent forbids it")
                .with_hint("for a script alone: --script NAME --no-agent"),
        );
    }
    if view.script.is_true() && view.monitor_script.is_true() {
        return Err(Error::usage(
            "--script and --monitor-script exclude each other",
        ));
    }
    if view.interpreter.is_true() && !view.script.is_true() && !view.monitor_script.is_true() {
        return Err(
            Error::usage("--interpreter runs a script, and none is named")
                .with_hint("name one with --script, or take it off: --interpreter ''"),
        );
    }
    let place = Place {
        home: home.path(),
        script_timeout: 0,
        output_retention: 0,
    };
    let task = task::plan(&view, place)?;
    match &task.work {
        Work::Script(script)
        | Work::Prompt {
            before: Some(script),
            ..
        } => look_at_script(script)?,
        Work::Monitor { script, prompt, .. } => {
            look_at_script(script)?;
            if prompt.trim().is_empty() {
                return Err(Error::usage(
                    "a monitor needs a prompt: what the agent is asked of a change",
                ));
            }
        }
        Work::Prompt { before: None, .. } => {}
    }
    if let Some(directory) = &task.workdir {
        look_at_directory(directory)?;
    }
    if let Some(file) = &task.env_file {
        look_at_env_file(file)?;
    }
    Ok(task)
}

/// What an edit brings of what is looked for, as a job of nothing else: what was there before and cannot be
/// found hides none of it.
#[must_use]
pub fn brought(old: &RawJob, new: &RawJob) -> RawJob {
    let mut job = RawJob::new();
    let mut take = |key: &str| {
        let value = new.get(key).filter(|value| old.get(key) != Some(*value));
        value.map(|value| job.insert(key.to_owned(), value.clone()))
    };
    let scripts = ["script", "monitor_script"].map(&mut take);
    take("workdir");
    if scripts.iter().any(Option::is_some)
        && let Some(interpreter) = new.get("interpreter")
    {
        job.insert("interpreter".into(), interpreter.clone());
    }
    let file = |job: &RawJob| Job::read(job).x_hermes.get("env_file").cloned();
    if let Some(file) = file(new).filter(|named| file(old).as_ref() != Some(named)) {
        job.insert("x_hermes".into(), json!({ "env_file": file }));
    }
    // Any work will do, of this job.
    job.extend(new.get("id").map(|id| ("id".to_owned(), id.clone())));
    job.insert("prompt".into(), json!("-"));
    job
}

/// What keeps a job from its work when it is due, as far as that can be told beforehand, and where it
/// stands for that: refused, as it would be then, or bound to fail.
#[must_use]
pub fn hindrance(job: &RawJob, home: &Home) -> Option<(Standing, Error)> {
    let view = Job::read(job);
    // It gets an id with its first scan.
    if !view.id.is_true() {
        return None;
    }
    let place = Place {
        home: home.path(),
        script_timeout: 0,
        output_retention: 0,
    };
    match task::plan(&view, place) {
        Err(error) => Some((Standing::Refused, error)),
        Ok(task) => Some((Standing::WouldFail, is_there(&task).err()?)),
    }
}

/// Whether a run finds what it names.
fn is_there(task: &Task) -> Result<()> {
    if let Work::Script(script)
    | Work::Prompt {
        before: Some(script),
        ..
    }
    | Work::Monitor { script, .. } = &task.work
    {
        is_runnable(script)?;
    }
    task.workdir.as_deref().map_or(Ok(()), look_at_directory)?;
    task.env_file.as_deref().map_or(Ok(()), look_at_env_file)
}

/// What is said of programs that a job names and that are nowhere on this path: a service may have another.
#[must_use]
pub fn missing_programs(task: &Task, path: Option<&OsStr>) -> Vec<String> {
    let script = match &task.work {
        Work::Script(script) | Work::Monitor { script, .. } => Some(script),
        Work::Prompt { before, .. } => before.as_ref(),
    };
    let interpreter = script.and_then(|script| script.interpreter.as_deref());
    let deliver = task.deliver_command.first().map(String::as_str);
    let named = [
        (interpreter, "the interpreter", "The script fails"),
        (deliver, "the delivery command", "Nothing is delivered"),
    ];
    let missing = |(program, what, then): (Option<&str>, &str, &str)| {
        let program = program.filter(|program| look_up(program, path).is_none())?;
        Some(format!(
            "{what} '{program}' was not found, or is no program. {then} unless serve finds it."
        ))
    };
    named.into_iter().filter_map(missing).collect()
}

fn look_at_script(script: &Script) -> Result<()> {
    is_runnable(script)?;
    let path = &script.path;
    let shown = path.display();
    let real = std::fs::canonicalize(path);
    let scripts = path
        .ancestors()
        .find(|directory| directory.file_name() == Some(OsStr::new("scripts")))
        .and_then(|scripts| std::fs::canonicalize(scripts).ok());
    if let (Ok(real), Some(scripts)) = (&real, &scripts)
        && !real.starts_with(scripts)
    {
        return Err(Error::new(
            Kind::Invalid,
            format!(
                "the script {shown} leads out of scripts/, to {}",
                real.display()
            ),
        )
        .with_hint("Hermes Agent runs nothing from there either; copy it into scripts/"));
    }
    Ok(())
}

/// Whether a script is a file that can be started.
fn is_runnable(script: &Script) -> Result<()> {
    let path = &script.path;
    let shown = path.display();
    let found = std::fs::metadata(path).map_err(|error| {
        let missing = Error::new(Kind::NotFound, format!("the script {shown} is missing"));
        missing
            .with_source(error)
            .with_hint("scripts are named by their path inside of scripts/ of the home")
    })?;
    if !found.is_file() {
        return Err(Error::new(
            Kind::Invalid,
            format!("the script {shown} is no file"),
        ));
    }
    let by_itself = script.argv().len() == 1;
    if by_itself && found.permissions().mode() & 0o111 == 0 {
        return Err(Error::new(
            Kind::Invalid,
            format!("the script {shown} is not executable, and its ending names no interpreter"),
        )
        .with_hint(format!("chmod +x {shown}")));
    }
    Ok(())
}

fn look_at_directory(directory: &Path) -> Result<()> {
    let shown = directory.display();
    if !directory.is_absolute() {
        return Err(Error::usage(format!(
            "the working directory '{shown}' is not an absolute path"
        )));
    }
    if directory.is_dir() {
        return Ok(());
    }
    if directory.exists() {
        return Err(Error::new(
            Kind::Invalid,
            format!("the working directory {shown} is no directory"),
        ));
    }
    Err(Error::new(
        Kind::NotFound,
        format!("the working directory {shown} is not there"),
    ))
}

fn look_at_env_file(file: &Path) -> Result<()> {
    let shown = file.display();
    if !file.is_absolute() {
        return Err(Error::usage(format!(
            "the file of variables '{shown}' is not an absolute path"
        )));
    }
    open_regular(file)
        .map(drop)
        .map_err(|error| Error::io(format!("failed to read {shown}"), error))
}

/// Looks whether there is an agent to ask, on this path of programs.
///
/// # Errors
/// When none is configured, it makes no sense, its program is not there, or it is this very binary.
pub fn check_agent(agent: &Settings, path: Option<&OsStr>) -> Result<()> {
    find_programs(&agent.resolve()?, path).map(drop)
}
