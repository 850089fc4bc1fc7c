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

/// What keeps this process from writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// Landlock, with everything that was asked for.
    Landlock,
    /// Landlock, as far as this kernel knows it.
    Partial,
    /// Nothing, and why.
    None(String),
}

impl Sandbox {
    /// The word in the report.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Landlock | Self::Partial => "landlock",
            Self::None(_) => "none",
        }
    }

    /// What is missing from it.
    #[must_use]
    pub fn gap(&self) -> Option<String> {
        match self {
            Self::Landlock => None,
            Self::Partial => Some("this kernel knows only a part of landlock".to_owned()),
            Self::None(why) => Some(why.clone()),
        }
    }
}

/// Confines this thread and all that it will start. A kernel without Landlock is no reason to stop.
#[must_use]
pub fn confine() -> Sandbox {
    match restrict() {
        Ok(RulesetStatus::FullyEnforced) => Sandbox::Landlock,
        Ok(RulesetStatus::PartiallyEnforced) => Sandbox::Partial,
        Ok(RulesetStatus::NotEnforced) => Sandbox::None("this kernel has no landlock".to_owned()),
        Err(error) => Sandbox::None(format!("landlock refused: {error}")),
    }
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
