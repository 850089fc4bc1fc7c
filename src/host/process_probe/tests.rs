//! The probe of a process, against our own and a child's.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command as Process, Stdio};

use super::*;
use crate::clock::{Clock, SystemClock};
use crate::host::facts::{Environment, Program};
use crate::host::machine_probe::machine;

/// A child that waits for its standard input to close; killed when dropped.
struct Waiting(Child);

impl Waiting {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test needs a process to look at"
    )]
    fn start(name: &str, words: &[&str], environ: &[(&str, &str)]) -> Self {
        let mut command = Process::new("/bin/cat");
        command.arg0(name).args(words).env_clear();
        command.envs(environ.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        command.stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn context() -> Context {
    Context::of(&machine(&Environment::default(), SystemClock.now()).boot)
}

#[test]
fn our_own_process_is_described() {
    let context = context();
    let facts = process(std::process::id(), &context).unwrap();
    assert!(facts.same_binary && !facts.zombie && !facts.nested);
    assert_eq!(facts.uid, Fact::Known(rustix::process::geteuid().as_raw()));
    let started = *facts.started_at.known().unwrap();
    let now = SystemClock.now().wall.as_duration().as_secs_f64();
    assert!(started <= now + 1.0 && started > context.boot.booted_at);
    assert!(facts.descriptors.known().unwrap().open >= 3);
    assert!(facts.environ.known().is_some());
}

#[test]
fn a_serve_is_recognised_with_its_home() {
    // cat reads `-`, its standard input, until we close it.
    let child = Waiting::start(
        "hermes",
        &["-"],
        &[("HERMES_HOME", "/srv/h"), ("SECRET", "x")],
    );
    let facts = process(child.0.id(), &context()).unwrap();
    assert_eq!(facts.program, Some(Program::Ours));
    assert_eq!(facts.role, Role::Other);
    assert_eq!(facts.home, Fact::Known("/srv/h".into()));
    let environ = facts.environ.known().unwrap();
    assert_eq!(environ.count, 2);
    assert_eq!(environ.variables.len(), 1);
    assert_eq!(facts.ppid, Fact::Known(std::process::id()));
    assert!(!facts.same_binary);
}

#[test]
fn a_file_that_is_open_often_is_named_and_its_lock_is_seen() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let handles: Vec<_> = (0..12).map(|_| file.reopen().unwrap()).collect();
    rustix::fs::flock(&handles[0], rustix::fs::FlockOperation::LockExclusive).unwrap();
    let facts = process(std::process::id(), &context()).unwrap();
    let descriptors = facts.descriptors.known().unwrap();
    let path = file.path().to_string_lossy();
    let named = descriptors.repeated.iter().find(|(name, _)| *name == path);
    assert!(
        named.is_some_and(|(_, times)| *times >= 12),
        "{descriptors:?}"
    );
    let inode = std::fs::metadata(file.path()).unwrap().ino();
    let locks = facts.flocks.known().unwrap();
    assert!(locks.iter().any(|lock| lock.inode == inode), "{locks:?}");
}

#[test]
fn a_pid_that_is_nobodys_is_none() {
    assert_eq!(process(u32::MAX, &context()), None);
}
