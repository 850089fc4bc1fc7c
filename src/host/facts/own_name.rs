//! How a command line calls this program. Plain data.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How a command line calls this program: by its bare name only where that leads to this very file, since
/// Hermes Agent has the same one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnName {
    /// Our own program file; `None` where the kernel does not tell.
    pub file: Option<PathBuf>,
    /// The program of our name that this shell finds first, if it is this very file.
    pub on_path: Option<PathBuf>,
}

impl OwnName {
    /// The bare name.
    pub const BARE: &'static str = "hermes";
    /// Where every account finds programs, whatever its own `PATH` is.
    const STANDARD: [&'static str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

    /// What the reader of this shell types.
    #[must_use]
    pub fn here(&self) -> String {
        self.word(self.on_path.is_some())
    }

    /// The same behind `sudo`, which looks programs up on a `PATH` of its own.
    #[must_use]
    pub fn behind_sudo(&self) -> String {
        let folder = self.on_path.as_ref().and_then(|found| found.parent());
        self.word(folder.is_some_and(|folder| Self::STANDARD.iter().any(|path| folder == *path)))
    }

    fn word(&self, bare: bool) -> String {
        match &self.file {
            Some(file) if !bare => file.display().to_string(),
            _ => Self::BARE.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_named_where_the_name_means_another_or_nothing() {
        let name = |on_path: Option<&str>| OwnName {
            file: Some("/opt/us/hermes".into()),
            on_path: on_path.map(PathBuf::from),
        };
        let words = |name: OwnName| [name.here(), name.behind_sudo()];
        assert_eq!(words(name(None)), ["/opt/us/hermes", "/opt/us/hermes"]);
        let own = name(Some("/home/bot/.local/bin/hermes"));
        assert_eq!(words(own), ["hermes", "/opt/us/hermes"]);
        assert_eq!(words(name(Some("/usr/bin/hermes"))), ["hermes", "hermes"]);
        assert_eq!(words(OwnName::default()), ["hermes", "hermes"]);
    }
}
