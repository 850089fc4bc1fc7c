//! The probe of one process: all that `/proc/PID` tells us, each thing with the reason where it does
//! not. Must run before confinement: a confined process may not read another's environment.

use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::cgroup;
use super::command::{self, Command};
use super::facts::{Boot, Descriptors, Environment, Fact, FileId, GapKind, ProcessFacts, Role};
use super::home_of;
use super::proc::{self, Stat, Status};

/// A command line longer than this is read no further.
const COMMAND_LINE: u64 = 16 * 1024;
/// A file that is open this often is worth a name.
const REPEATED: u64 = 10;
/// How many of those are named.
const NAMED: usize = 8;
/// What `loginuid` says where there was no login.
const NO_LOGIN: u32 = u32::MAX;

/// What the probe needs to know beforehand.
#[derive(Clone, Debug)]
pub struct Context {
    /// This boot.
    pub boot: Boot,
    /// How many pid namespaces there are from `/proc` down to ours: a longer list is a container's.
    pub depth: usize,
    /// Our own program file.
    pub own_binary: Option<(u64, u64)>,
}

impl Context {
    /// The context of this process in this boot.
    #[must_use]
    pub fn of(boot: &Boot) -> Self {
        let own = proc::status(&text("self", "status").unwrap_or_default());
        Self {
            boot: boot.clone(),
            depth: own.namespace_pids.len().max(1),
            own_binary: binary("self"),
        }
    }
}

/// The words of a process' command line; empty where it has none, has ended, or hides.
#[must_use]
pub fn command_line(pid: &str) -> Vec<String> {
    let mut bytes = Vec::new();
    read_command_line(pid, &mut bytes);
    proc::command_line(&bytes)
}

/// Reads the raw command line into a buffer that is used again.
pub(super) fn read_command_line(pid: &str, bytes: &mut Vec<u8>) {
    bytes.clear();
    let read = std::fs::File::open(path(pid, "cmdline"))
        .and_then(|file| file.take(COMMAND_LINE).read_to_end(bytes));
    if read.is_err() {
        bytes.clear();
    }
}

/// Looks at one process; `None` where it is not there (or is hidden).
#[must_use]
pub fn process(pid: u32, context: &Context) -> Option<ProcessFacts> {
    let name = pid.to_string();
    let stat = stat(&name)?;
    let status = proc::status(&text(&name, "status").unwrap_or_default());
    let exe = exe(&name);
    let argv = command_line(&name);
    let command = command::read(&argv, exe.known().map(PathBuf::as_path));
    let environ = environ(&name, &status);
    let links = links(&name);
    let facts = ProcessFacts {
        pid,
        ppid: Fact::Known(stat.ppid),
        parent: parent(stat.ppid),
        uid: status
            .euid()
            .map_or_else(|| Fact::hidden(format!("status of pid {pid}")), Fact::Known),
        start_ticks: Fact::Known(stat.start_ticks),
        started_at: Fact::Known(started_at(&context.boot, stat.start_ticks)),
        zombie: stat.is_zombie(),
        nested: status.namespace_pids.len() > context.depth,
        role: command.as_ref().map_or(Role::Other, |command| command.role),
        program: command.as_ref().map(|command| command.program),
        same_binary: context.own_binary.is_some() && binary(&name) == context.own_binary,
        profile: command.as_ref().and_then(|command| command.profile.clone()),
        home: home_of::process(command.as_ref(), &environ, pid),
        desktop: environ
            .clone()
            .map(|environ| environ.get("HERMES_DESKTOP").is_some_and(|set| set != "0")),
        command: words(command, &argv),
        exe,
        cgroup: cgroup(&name),
        environ,
        descriptors: of_links(&links, &name, |links| descriptors(&name, links)),
        loginuid: loginuid(&name),
        flocks: of_links(&links, &name, |links| flocks(&name, links)),
    };
    // The pid may have been given to somebody else while we looked.
    self::stat(&name)
        .is_some_and(|again| again.start_ticks == stat.start_ticks)
        .then_some(facts)
}

/// Start of a process in seconds since 1970.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "ticks since boot fit a double")]
pub fn started_at(boot: &Boot, ticks: u64) -> f64 {
    boot.booted_at + ticks as f64 / boot.ticks_per_second.max(1) as f64
}

/// `/proc/PID/stat`.
#[must_use]
pub fn stat(pid: &str) -> Option<Stat> {
    proc::stat(&std::fs::read(path(pid, "stat")).ok()?)
}

fn path(pid: &str, file: &str) -> PathBuf {
    Path::new("/proc").join(pid).join(file)
}

fn text(pid: &str, file: &str) -> std::io::Result<String> {
    std::fs::read(path(pid, file)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn gap<T>(pid: &str, what: &str, error: &std::io::Error) -> Fact<T> {
    let why = format!("{what} of pid {pid}: {error}");
    match error.kind() {
        ErrorKind::PermissionDenied => Fact::denied(why),
        ErrorKind::NotFound => Fact::hidden(why),
        _ => Fact::unknown(GapKind::Failed, why),
    }
}

/// Program and subcommand; of a foreign program its name alone.
fn words(command: Option<Command>, argv: &[String]) -> Vec<String> {
    command.map_or_else(
        || argv.iter().take(1).cloned().collect(),
        |command| command.words,
    )
}

fn exe(pid: &str) -> Fact<PathBuf> {
    match std::fs::read_link(path(pid, "exe")) {
        Ok(link) => {
            let bare = link.to_string_lossy();
            Fact::Known(PathBuf::from(
                bare.strip_suffix(" (deleted)").unwrap_or(&bare),
            ))
        }
        Err(error) => gap(pid, "program file", &error),
    }
}

/// Device and inode of the program file, whatever became of its name.
fn binary(pid: &str) -> Option<(u64, u64)> {
    let found = std::fs::metadata(path(pid, "exe")).ok()?;
    Some((found.dev(), found.ino()))
}

fn parent(pid: u32) -> Fact<String> {
    if pid == 0 {
        return Fact::hidden("its parent is in another pid namespace");
    }
    let pid = pid.to_string();
    match text(&pid, "comm") {
        Ok(name) => Fact::Known(name.trim_end_matches('\n').to_owned()),
        Err(error) => gap(&pid, "name", &error),
    }
}

fn cgroup(pid: &str) -> Fact<String> {
    match text(pid, "cgroup") {
        Ok(text) => cgroup::path(&text).map_or_else(
            || Fact::hidden(format!("cgroup of pid {pid} names no hierarchy of systemd")),
            Fact::Known,
        ),
        Err(error) => gap(pid, "cgroup", &error),
    }
}

/// The environment of a process, as it was when that began.
#[must_use]
pub fn environment(pid: u32) -> Fact<Environment> {
    let pid = pid.to_string();
    let status = proc::status(&text(&pid, "status").unwrap_or_default());
    environ(&pid, &status)
}

fn environ(pid: &str, status: &Status) -> Fact<Environment> {
    match std::fs::read(path(pid, "environ")) {
        Ok(bytes) => {
            let pairs = proc::environ(&bytes);
            let pairs = pairs
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()));
            Fact::Known(Environment::select(pairs))
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let owner = status
                .euid()
                .map_or_else(String::new, |uid| format!(", which runs as uid {uid}"));
            let mut fact = Fact::denied(format!("environment of pid {pid}{owner}"));
            if let Fact::Unknown(gap) = &mut fact {
                gap.would_tell = ["sudo", "hermes", "cron", "doctor", "--pid", pid]
                    .map(str::to_owned)
                    .to_vec();
            }
            fact
        }
        Err(error) => gap(pid, "environment", &error),
    }
}

fn loginuid(pid: &str) -> Fact<Option<u32>> {
    match text(pid, "loginuid") {
        Ok(text) => match text.trim().parse() {
            Ok(NO_LOGIN) => Fact::Known(None),
            Ok(uid) => Fact::Known(Some(uid)),
            Err(_) => Fact::hidden(format!("loginuid of pid {pid} is no number")),
        },
        Err(error) => gap(pid, "loginuid", &error),
    }
}

/// A descriptor's number, and what it leads to.
type Link = (String, PathBuf);

/// What the descriptors of a process lead to.
fn links(pid: &str) -> std::io::Result<Vec<Link>> {
    let mut links = Vec::new();
    for entry in std::fs::read_dir(path(pid, "fd"))? {
        let entry = entry?;
        if let Ok(link) = std::fs::read_link(entry.path()) {
            links.push((entry.file_name().to_string_lossy().into_owned(), link));
        }
    }
    Ok(links)
}

fn of_links<T>(
    links: &std::io::Result<Vec<Link>>,
    pid: &str,
    make: impl FnOnce(&[Link]) -> T,
) -> Fact<T> {
    match links {
        Ok(links) => Fact::Known(make(links)),
        Err(error) => gap(pid, "descriptors", error),
    }
}

fn descriptors(pid: &str, links: &[Link]) -> Descriptors {
    let mut count: HashMap<&Path, u64> = HashMap::new();
    for (_, link) in links.iter().filter(|(_, link)| link.is_absolute()) {
        *count.entry(link).or_default() += 1;
    }
    let mut repeated: Vec<(String, u64)> = count
        .into_iter()
        .filter(|(path, times)| *times >= REPEATED && !path.starts_with("/dev"))
        .map(|(path, times)| (path.to_string_lossy().into_owned(), times))
        .collect();
    repeated.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    repeated.truncate(NAMED);
    Descriptors {
        open: u64::try_from(links.len()).unwrap_or(u64::MAX),
        limit: text(pid, "limits")
            .ok()
            .and_then(|text| proc::descriptors_limit(&text)?),
        repeated,
    }
}

fn flocks(pid: &str, links: &[Link]) -> Vec<FileId> {
    links
        .iter()
        .filter(|(_, link)| link.is_absolute())
        .filter_map(|(number, _)| text(pid, &format!("fdinfo/{number}")).ok())
        .flat_map(|text| proc::held_flocks(&text))
        .collect()
}

#[cfg(test)]
mod tests;
