//! The home directory, its profiles, and where each file of it lies.
//!
//! The layout is that of Hermes Agent, which shares it: `~/.hermes`, or `HERMES_HOME`; named profiles
//! are homes of their own under `<root>/profiles/<name>`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};

/// Names that Hermes Agent does not allow for a profile.
const RESERVED: [&str; 6] = ["hermes", "default", "test", "tmp", "root", "sudo"];

/// How the home was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// `--home`.
    Flag,
    /// `HERMES_HOME` of the caller.
    Environment,
    /// The process or unit that dispatches.
    Dispatcher,
    /// `~/.hermes` of the user judged.
    Default,
}

/// One home: the root's own, or a named profile's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Home {
    path: PathBuf,
    profile: String,
}

impl Home {
    /// The home at this path. Its profile name is taken from the path.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let profile = match profile_root(&path) {
            Some(_) => path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            None => "default".to_owned(),
        };
        Self { path, profile }
    }

    /// Chooses the home: the flag, else `HERMES_HOME`, else `~/.hermes`.
    ///
    /// # Errors
    /// When none of the three is there, or the one that counts is not absolute.
    pub fn resolve(
        flag: Option<&Path>,
        variable: Option<&OsStr>,
        user_home: Option<&Path>,
    ) -> Result<(Self, Source)> {
        let variable = variable.filter(|value| !value.is_empty());
        let (path, source) = match (flag, variable, user_home) {
            (Some(flag), _, _) => (flag.to_path_buf(), Source::Flag),
            (None, Some(variable), _) => (PathBuf::from(variable), Source::Environment),
            (None, None, Some(home)) => (home.join(".hermes"), Source::Default),
            (None, None, None) => {
                return Err(Error::usage(
                    "no home directory: HOME is not set and the user is unknown",
                )
                .with_hint("name the home with --home DIR"));
            }
        };
        if path.is_absolute() {
            Ok((Self::at(path), source))
        } else {
            Err(
                Error::usage(format!("home '{}' is not an absolute path", path.display()))
                    .with_hint("give the whole path, starting with /"),
            )
        }
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The profile: `default` for the root's own home.
    #[must_use]
    pub fn profile(&self) -> &str {
        &self.profile
    }

    /// The root home that this home belongs to: itself, unless it is a named profile.
    #[must_use]
    pub fn root(&self) -> Self {
        profile_root(&self.path).map_or_else(|| self.clone(), Self::at)
    }

    /// The home of a named profile under this root.
    ///
    /// # Errors
    /// When the name is not one that a profile can have.
    pub fn with_profile(&self, name: &str) -> Result<Self> {
        if name == "default" {
            return Ok(self.root());
        }
        if valid_profile(name) {
            Ok(Self::at(self.root().path.join("profiles").join(name)))
        } else {
            Err(Error::new(
                Kind::Usage,
                format!("'{}' is not a profile name", name.escape_debug()),
            )
            .with_hint("a name is lower-case letters, digits, '-' and '_', 64 at most"))
        }
    }

    /// Whether it is known not to be there.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        let look = std::fs::metadata(&self.path);
        look.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    }

    /// That it is not there, as a fragment; none where it is, or where that cannot be told.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        let path = self.path.display();
        self.is_missing().then(|| match profile_root(&self.path) {
            Some(_) => format!("there is no profile '{}' ({path})", self.profile),
            None => {
                format!("there is no home at {path} yet; the first job makes it, or hermes serve")
            }
        })
    }

    /// A path inside this home.
    #[must_use]
    pub fn join(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.path.join(relative)
    }

    /// The directory of everything about cron.
    #[must_use]
    pub fn cron(&self) -> PathBuf {
        self.join("cron")
    }

    /// The job store.
    #[must_use]
    pub fn jobs_file(&self) -> PathBuf {
        self.join("cron/jobs.json")
    }

    /// The execution ledger.
    #[must_use]
    pub fn ledger(&self) -> PathBuf {
        self.join("cron/executions.db")
    }

    /// The store of sessions and their timers.
    #[must_use]
    pub fn state_db(&self) -> PathBuf {
        self.join("state.db")
    }

    /// What is only ours and lives as long as a serve: sockets, tokens, locks.
    #[must_use]
    pub fn run_dir(&self) -> PathBuf {
        self.join("run")
    }
}

/// Where a profile's root is, if the path is `<root>/profiles/<name>`.
fn profile_root(path: &Path) -> Option<PathBuf> {
    let parent = path.parent()?;
    (parent.file_name() == Some(OsStr::new("profiles")))
        .then(|| parent.parent())
        .flatten()
        .map(Path::to_path_buf)
}

/// Whether a profile can have this name: `^[a-z0-9][a-z0-9_-]{0,63}$`, and not reserved.
#[must_use]
pub fn valid_profile(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= 64
        && name.starts_with(plain)
        && name.chars().all(|c| plain(c) || c == '_' || c == '-')
        && !RESERVED.contains(&name)
}

/// The homes under a root: its own first, then its profiles by name. Entries that cannot be profiles
/// are passed over, as is a `profiles` directory that is not there.
///
/// # Errors
/// When the `profiles` directory is there and cannot be read.
pub fn list(root: &Home) -> Result<Vec<Home>> {
    let mut homes = vec![root.clone()];
    let directory = root.join("profiles");
    let entries = match fs_err::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(homes),
        Err(error) => return Err(Error::io("failed to list the profiles", error)),
    };
    let mut names: Vec<String> = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| Error::io("failed to list the profiles", error))?;
        if let Ok(name) = entry.file_name().into_string()
            && valid_profile(&name)
            && entry.path().is_dir()
        {
            names.push(name);
        }
    }
    names.sort_unstable();
    homes.extend(names.into_iter().map(|name| Home::at(directory.join(name))));
    Ok(homes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_knows_its_root() {
        let home = Home::at("/srv/h/profiles/ops");
        assert_eq!(home.profile(), "ops");
        assert_eq!(home.root().path(), Path::new("/srv/h"));
        assert_eq!(Home::at("/srv/h").root().path(), Path::new("/srv/h"));
    }

    #[test]
    fn the_flag_wins_and_relative_homes_are_refused() {
        let env = OsStr::new("/env");
        let (home, source) = Home::resolve(Some(Path::new("/flag")), Some(env), None).unwrap();
        assert_eq!((home.path(), source), (Path::new("/flag"), Source::Flag));
        let (home, source) =
            Home::resolve(None, Some(OsStr::new("")), Some(Path::new("/u"))).unwrap();
        assert_eq!(
            (home.path(), source),
            (Path::new("/u/.hermes"), Source::Default)
        );
        assert_eq!(
            Home::resolve(Some(Path::new("x")), None, None)
                .unwrap_err()
                .kind(),
            Kind::Usage
        );
        assert_eq!(
            Home::resolve(None, None, None).unwrap_err().kind(),
            Kind::Usage
        );
    }

    #[test]
    fn profile_names() {
        for good in ["a", "0", "ops-2", "a_b"] {
            assert!(valid_profile(good), "{good}");
        }
        for bad in ["", "-a", "A", "a/b", "default", "root", &"x".repeat(65)] {
            assert!(!valid_profile(bad), "{bad}");
        }
    }
}
