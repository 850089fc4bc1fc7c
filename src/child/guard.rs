//! The small step between a worker and what it runs: the child asks the kernel to be killed when its
//! parent dies, makes sure that the parent has not died already, and becomes the program.
//!
//! The wish survives `exec`, but not a set-user-id program, and it is not inherited: a grandchild is
//! reached by the kill of the process group, and one that left the group only by its unit.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use rustix::process::{Pid, getppid};

use crate::error::{Error, Kind, Result};

/// The hidden word that `commands` answers with [`become_program`].
pub const WORD: &str = "guard";

/// The words that run a program behind this step, for a parent that is this process.
#[must_use]
pub fn guarded(argv: Vec<OsString>) -> Vec<OsString> {
    let start = ["/proc/self/exe", WORD, "--parent"].map(OsString::from);
    let parent = OsString::from(std::process::id().to_string());
    start
        .into_iter()
        .chain([parent, OsString::from("--")])
        .chain(argv)
        .collect()
}

/// The program that such words run, or any others.
pub(super) fn program(argv: &[OsString]) -> &OsStr {
    let is_guarded = argv.get(1).is_some_and(|word| word == WORD);
    let behind = argv.iter().skip_while(|word| *word != "--").nth(1);
    let first = argv.first().map_or(OsStr::new(""), OsString::as_os_str);
    behind
        .filter(|_| is_guarded)
        .map_or(first, OsString::as_os_str)
}

/// Becomes the program. Returns only when that fails.
///
/// # Errors
/// When the parent is gone already, or the program cannot be run.
pub fn become_program(parent: u32, argv: &[OsString]) -> Result<Infallible> {
    let (program, arguments) = argv
        .split_first()
        .ok_or_else(|| Error::usage("there is no program to run"))?;
    set_pdeathsig(Signal::SIGKILL).map_err(|errno| {
        Error::io(
            "failed to tie this process to its parent",
            std::io::Error::from(errno),
        )
    })?;
    // It may have died before the kernel knew of the wish.
    let now = getppid()
        .map(Pid::as_raw_nonzero)
        .map(|pid| pid.get().unsigned_abs());
    if now != Some(parent) {
        return Err(Error::new(
            Kind::Refused,
            "the worker is gone, so nothing is started for it",
        ));
    }
    Err(exec(program, arguments))
}

fn exec(program: &OsStr, arguments: &[OsString]) -> Error {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the window on child processes"
    )]
    let error = Command::new(program).args(arguments).exec();
    let message = format!("failed to start '{}'", program.to_string_lossy());
    Error::new(Kind::Unavailable, message).with_source(error)
}
