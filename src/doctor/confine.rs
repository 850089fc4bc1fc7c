//! The doctor's promise, kept by the kernel: after [`confine`] this thread and all that it starts can
//! write no file, make no directory and open no TCP connection. The window on Landlock.
//!
//! It blinds: a confined process may no longer read the environment or descriptors of others, so those
//! are read before. It does not cover changes of mode, owner or times, nor locks; those the doctor
//! simply does not make, and a test of whole homes holds it to that. It cannot be taken back.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus,
};

use crate::child::own_self;

/// What keeps this process from writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// Landlock, with everything that was asked for.
    Landlock,
    /// Landlock, as far as this kernel knows it.
    Partial,
    /// Landlock, but for a look at other processes that hung: its thread had begun before, and goes on
    /// without.
    LeftBehind,
    /// Nothing, and why.
    None(String),
}

impl Sandbox {
    /// The word in the report.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Landlock | Self::Partial | Self::LeftBehind => "landlock",
            Self::None(_) => "none",
        }
    }

    /// The same, where a thread that began before it has not ended.
    #[must_use]
    pub fn left_behind(self) -> Self {
        match self {
            Self::Landlock | Self::Partial => Self::LeftBehind,
            other => other,
        }
    }

    /// What is missing from it.
    #[must_use]
    pub fn gap(&self) -> Option<String> {
        match self {
            Self::Landlock => None,
            Self::Partial => Some("this kernel knows only a part of landlock".to_owned()),
            Self::LeftBehind => {
                Some("a look at other processes hangs on a thread that is not confined".to_owned())
            }
            Self::None(why) => Some(why.clone()),
        }
    }
}

/// The hidden subcommand that does [`confine_for_trial`].
pub const TRIAL_COMMAND: &str = "__confine";

/// Confines this thread and all that it will start. A kernel without Landlock is no reason to stop, nor is
/// a filter that forbids it: `SystemCallFilter=@system-service` of systemd 252 kills who asks for it, so a
/// child asks first.
#[must_use]
pub fn confine() -> Sandbox {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if is_filtered(&status) && !own_self::survives(&[TRIAL_COMMAND]) {
        let why = "the filter of system calls forbids landlock (SystemCallFilter= of the unit)";
        return Sandbox::None(why.to_owned());
    }
    match restrict() {
        Ok(RulesetStatus::FullyEnforced) => Sandbox::Landlock,
        Ok(RulesetStatus::PartiallyEnforced) => Sandbox::Partial,
        Ok(RulesetStatus::NotEnforced) => Sandbox::None("this kernel has no landlock".to_owned()),
        Err(error) => Sandbox::None(format!("landlock refused: {error}")),
    }
}

/// Confines this process and says nothing: whether it lives on is the answer.
pub fn confine_for_trial() {
    let _whatever_came_of_it = restrict();
}

/// Whether system calls are filtered, by the text of `/proc/self/status`.
fn is_filtered(status: &str) -> bool {
    let mut lines = status.lines().filter_map(|line| line.split_once(':'));
    lines.any(|(name, value)| name == "Seccomp" && value.trim() == "2")
}

/// Writing up to the fifth version of the interface: a later one would also cut off Unix sockets. No
/// scopes: they would make a live process look as if it could not be signalled.
fn restrict() -> Result<RulesetStatus, RulesetError> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_write(ABI::V5))?
        .handle_access(AccessNet::from_all(ABI::V4))?
        .create()?;
    // A child's stdin and stdout may be /dev/null.
    let ruleset = match PathFd::new("/dev/null") {
        Ok(null) => ruleset.add_rule(PathBeneath::new(null, to_write_a_file()))?,
        Err(_) => ruleset,
    };
    Ok(ruleset.restrict_self()?.ruleset)
}

fn to_write_a_file() -> BitFlags<AccessFs> {
    AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev
}

#[cfg(test)]
mod tests {
    use std::fs::{File, OpenOptions};
    use std::io::{ErrorKind, Write as _};
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::clock::{Clock, SystemClock};
    use crate::doctor::check::{Check, Group, Outcome};
    use crate::doctor::evidence::Evidence;
    use crate::doctor::report::Ended;
    use crate::doctor::run::{Budget, judge};
    use crate::host::Facts;

    /// Runs this confined: on a thread of its own, because nothing takes it back.
    fn confined<T: Send + 'static>(work: impl FnOnce(Sandbox) -> T + Send + 'static) -> T {
        std::thread::spawn(move || work(confine()))
            .join()
            .expect("the confined thread ends well")
    }

    #[test]
    fn a_filter_is_told_from_none() {
        assert!(is_filtered(
            "Name:\thermes\nSeccomp:\t2\nSeccomp_filters:\t3\n"
        ));
        assert!(!is_filtered(
            "Name:\thermes\nSeccomp:\t0\nSeccomp_filters:\t2\n"
        ));
        assert!(!is_filtered(""));
    }

    #[test]
    fn nothing_can_be_written_and_everything_can_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kept");
        std::fs::write(&path, "before").unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        confined({
            let path = path.clone();
            move |sandbox| {
                if sandbox.word() == "none" {
                    return;
                }
                let denied = |error: std::io::Error| {
                    assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
                };
                denied(File::create(&path).unwrap_err());
                denied(OpenOptions::new().append(true).open(&path).unwrap_err());
                denied(std::fs::create_dir(path.with_extension("d")).unwrap_err());
                denied(std::fs::remove_file(&path).unwrap_err());
                if sandbox == Sandbox::Landlock {
                    denied(std::net::TcpStream::connect(address).unwrap_err());
                }
                assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
                let null = OpenOptions::new().write(true).open("/dev/null");
                null.unwrap().write_all(b"gone").unwrap();
            }
        });
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_check_that_writes_breaks_down_and_is_reported() {
        static PLANTED: Check = Check {
            id: "planted",
            group: Group::Host,
            title: "a check that writes",
            codes: &[],
            reads: &[],
            run: |evidence| {
                let path = &evidence.facts.home.path;
                std::fs::write(path, "written").expect("a write");
                Outcome::default()
            },
        };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("planted");
        let mut facts = Facts::example();
        facts.home.path.clone_from(&path);
        let ended = confined(move |sandbox| {
            let evidence = Arc::new(Evidence::new(jiff::Timestamp::UNIX_EPOCH, facts));
            let clock: Arc<dyn Clock> = Arc::new(SystemClock);
            let budget = Budget::of(Duration::from_secs(60));
            let mut ran = judge(&[&PLANTED], &evidence, &clock, &budget);
            (sandbox, ran.remove(0).ended)
        });
        match ended {
            (Sandbox::None(_), _) => assert!(path.exists()),
            (_, Ended::Broke(words)) => {
                assert!(words.contains("PermissionDenied"), "{words}");
                assert!(!path.exists());
            }
            (_, other) => panic!("the write was not stopped: {other:?}"),
        }
    }
}
