//! The one table of exit codes.

use hermes::error::Kind;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit(u8);

impl Exit {
    /// All is well, or nothing at or above the threshold was found.
    pub(crate) const OK: Self = Self(0);
    /// A warning was found; what was asked for failed; nothing will fire.
    pub(crate) const FAILED: Self = Self(1);
    /// An error was found; what was asked for could not be started.
    pub(crate) const ERROR: Self = Self(2);
    /// Nothing was found, but a check that could change that could not be completed.
    pub(crate) const INCOMPLETE: Self = Self(3);
    /// The command line makes no sense: `EX_USAGE` of sysexits.h.
    pub(crate) const USAGE: Self = Self(64);
    /// A defect of this program: `EX_SOFTWARE`.
    pub(crate) const INTERNAL: Self = Self(70);
    /// The output could not be written: `EX_IOERR`.
    pub(crate) const OUTPUT: Self = Self(74);
    /// Another scheduler holds this home, or the configuration forbids the start: `EX_CONFIG`. A
    /// service manager must not start it again.
    pub(crate) const CONFLICT: Self = Self(78);

    /// What an error of this kind ends with.
    pub(crate) fn of(kind: Kind) -> Self {
        match kind {
            Kind::Usage => Self::USAGE,
            Kind::Internal => Self::INTERNAL,
            Kind::Output => Self::OUTPUT,
            Kind::NotFound
            | Kind::Invalid
            | Kind::Refused
            | Kind::Busy
            | Kind::Unavailable
            | Kind::Io
            | Kind::Failed => Self::FAILED,
        }
    }

    /// The number.
    pub(crate) fn code(self) -> u8 {
        self.0
    }
}

/// The table as `hermes help exit-codes` prints it.
pub(crate) const TABLE: &str = "\
Exit codes

  0   all is well: the command did what was asked; the doctor found nothing at
      or above --fail-on
  1   a warning was found; or what was asked for failed; or nothing will fire
  2   an error was found; or what was asked for could not be started
  3   nothing was found, but a check that could change the verdict could not
      be completed
  64  the command line makes no sense
  70  internal error: a defect of this program
  74  the output could not be written (a closed pipe is not that)
  78  another scheduler holds this home; a service manager must not start it
      again

For the doctor 2 goes before 3, 3 before 1, and 1 before 0.
";
