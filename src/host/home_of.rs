//! Which home a process or a unit serves, by its environment and command line. Pure.

use std::path::{Path, PathBuf};

use crate::home::Home;

use super::command::Command;
use super::facts::{Environment, Fact};

/// The home that a process serves.
#[must_use]
pub fn process(command: Option<&Command>, environ: &Fact<Environment>, pid: u32) -> Fact<PathBuf> {
    if let Some(home) = command.and_then(|command| command.home.clone()) {
        return named(&home, command).map_or_else(
            || Fact::hidden(format!("--home of pid {pid} is relative")),
            Fact::Known,
        );
    }
    match environ {
        Fact::Unknown(gap) => Fact::Unknown(gap.clone()),
        Fact::Known(environ) => by_environment(environ, command, None).map_or_else(
            || {
                Fact::hidden(format!(
                    "neither HERMES_HOME nor HOME of pid {pid} is a whole path"
                ))
            },
            Fact::Known,
        ),
    }
}

/// The home by an environment: `HERMES_HOME`, else `~/.hermes`; then the profile of the command line.
#[must_use]
pub fn by_environment(
    environ: &Environment,
    command: Option<&Command>,
    account_home: Option<&Path>,
) -> Option<PathBuf> {
    let path = match environ.get("HERMES_HOME") {
        Some(home) => PathBuf::from(home),
        None => environ
            .get("HOME")
            .map(Path::new)
            .or(account_home)?
            .join(".hermes"),
    };
    named(&path, command)
}

/// The home of the profile that the command line names, under this one's root.
fn named(path: &Path, command: Option<&Command>) -> Option<PathBuf> {
    let home = path.is_absolute().then(|| Home::at(clean(path)))?;
    match command.and_then(|command| command.profile.as_deref()) {
        None => Some(home.path().to_owned()),
        Some(profile) => Some(home.with_profile(profile).ok()?.path().to_owned()),
    }
}

/// The path without trailing and doubled slashes, as people type them.
fn clean(path: &Path) -> PathBuf {
    path.components().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::command;

    fn home(line: &str, environ: &[(&str, &str)]) -> Option<String> {
        let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let command = command::read(&argv, None);
        let environ = Fact::Known(Environment::select(environ.iter().copied()));
        let found = process(command.as_ref(), &environ, 1);
        found.known().map(|path| path.display().to_string())
    }

    #[test]
    fn the_home_of_a_process() {
        let own = [("HOME", "/home/bot")];
        let set = [("HOME", "/home/bot"), ("HERMES_HOME", "/srv/h/")];
        let of = |line, environ: &[(&str, &str)]| home(line, environ).unwrap();
        assert_eq!(of("hermes serve", &own), "/home/bot/.hermes");
        assert_eq!(of("hermes serve", &set), "/srv/h");
        assert_eq!(of("hermes -p ops serve", &set), "/srv/h/profiles/ops");
        assert_eq!(of("hermes -p default serve", &set), "/srv/h");
        assert_eq!(of("hermes --home /x serve", &set), "/x");
        assert_eq!(home("hermes serve", &[]), None);
        assert_eq!(home("hermes serve", &[("HERMES_HOME", "rel")]), None);
        assert_eq!(home("hermes -p ../x serve", &set), None);
    }

    #[test]
    fn an_unread_environment_is_not_a_default_home() {
        let environ = Fact::denied("environ of pid 1");
        assert!(process(None, &environ, 1).gap().is_some());
    }
}
