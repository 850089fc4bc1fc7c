//! What a worker's unit is made of: the properties that it must have, and those that only harden it.

use std::{
    os::fd::{AsFd, OwnedFd},
    time::Duration,
};

use zbus::{Fd, Variant};

/// A scope around processes that exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Full name, `….scope`. A failed unit keeps its name, so it must be a fresh one.
    pub name: String,
    /// What people see in `systemctl status`.
    pub description: String,
    /// The processes to move. Never a unit's main process: it would still die with its unit.
    pub pids: Vec<u32>,
    /// Limits.
    pub limits: Limits,
}

/// A service that the manager forks.
#[derive(Debug)]
pub struct Service {
    /// Full name, `….service`; a fresh one.
    pub name: String,
    /// What people see in `systemctl status`.
    pub description: String,
    /// The words, the program's absolute path first. systemd expands nothing in them.
    pub argv: Vec<String>,
    /// Variables beyond the manager's own. Anybody on the bus can read them: no secrets.
    pub environment: Vec<(String, String)>,
    /// Where it starts.
    pub directory: Option<String>,
    /// Its stdin, stdout and stderr. Close them once it runs, or end of file never comes.
    pub stdio: [OwnedFd; 3],
    /// Limits.
    pub limits: Limits,
}

/// Hardening: what an older systemd may reject without harm.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// `MemoryMax`, in bytes.
    pub memory_max: Option<u64>,
    /// `TasksMax`.
    pub tasks_max: Option<u64>,
    /// `RuntimeMaxUSec`.
    pub runtime_max: Option<Duration>,
    /// `TimeoutStopUSec`.
    pub stop_timeout: Option<Duration>,
}

/// One property: its name, and its value.
pub(super) type Property<'a> = (&'static str, Variant<'a>);

/// Properties that must be accepted, and optional ones in the order in which they are given up.
pub(super) struct Properties<'a> {
    pub(super) required: Vec<Property<'a>>,
    pub(super) optional: Vec<Property<'a>>,
}

impl Scope {
    pub(super) fn properties(&self) -> Properties<'_> {
        let required = vec![
            ("Description", Variant::from(self.description.as_str())),
            ("PIDs", Variant::from(self.pids.clone())),
        ];
        Properties {
            required,
            optional: self.limits.properties(),
        }
    }
}

impl Service {
    pub(super) fn properties(&self) -> Properties<'_> {
        let [stdin, stdout, stderr] = &self.stdio;
        let path = self.argv.first().cloned().unwrap_or_default();
        // Without "no-env-expand" systemd would read `$` in the words.
        let command = vec![(path, self.argv.clone(), vec!["no-env-expand"])];
        let mut required = vec![
            ("Description", Variant::from(self.description.as_str())),
            // `simple` would call a program that cannot be run "done".
            ("Type", Variant::from("exec")),
            ("KillMode", Variant::from("control-group")),
            ("ExecStartEx", Variant::from(command)),
            ("StandardInputFileDescriptor", descriptor(stdin)),
            ("StandardOutputFileDescriptor", descriptor(stdout)),
            ("StandardErrorFileDescriptor", descriptor(stderr)),
        ];
        if !self.environment.is_empty() {
            let pairs: Vec<String> = self
                .environment
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            required.push(("Environment", Variant::from(pairs)));
        }
        if let Some(directory) = &self.directory {
            required.push(("WorkingDirectory", Variant::from(directory.as_str())));
        }
        Properties {
            required,
            optional: self.limits.properties(),
        }
    }
}

impl Limits {
    /// `OOMPolicy` first: old versions do not know it on a scope, and all know the rest.
    fn properties(&self) -> Vec<Property<'static>> {
        let mut properties = vec![("OOMPolicy", Variant::from("continue"))];
        if let Some(bytes) = self.memory_max {
            properties.push(("MemoryMax", Variant::from(bytes)));
        }
        if let Some(count) = self.tasks_max {
            properties.push(("TasksMax", Variant::from(count)));
        }
        if let Some(time) = self.runtime_max {
            properties.push(("RuntimeMaxUSec", Variant::from(microseconds(time))));
        }
        if let Some(time) = self.stop_timeout {
            properties.push(("TimeoutStopUSec", Variant::from(microseconds(time))));
        }
        properties
    }
}

fn descriptor(fd: &OwnedFd) -> Variant<'_> {
    Variant::Fd(Fd::from(fd.as_fd()))
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
