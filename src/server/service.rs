//! The units under which a service manager keeps serve. Pure text; `docs/systemd.md` says why each
//! line is there.

use std::path::{Path, PathBuf};

use crate::error::{Error, Kind, Result};

/// For whom a unit is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// The program.
    pub program: PathBuf,
    /// The home, unless it is the account's own `~/.hermes`.
    pub home: Option<PathBuf>,
    /// The account that a system unit runs as; none is root.
    pub account: Option<Account>,
}

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: u32,
}

const UNIT: &str = "\
[Unit]
Description=hermes: sessions, loops, heartbeats and cron jobs of agents
Documentation=man:hermes-serve(1)
";

const SERVICE: &str = "\
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=64 78
KillMode=mixed
TimeoutStopSec=120
WatchdogSec=60
OOMPolicy=continue
UMask=0077
";

/// A path as a word of a unit.
fn word(path: &Path) -> Result<String> {
    let text = path.to_str().filter(|text| !text.contains(['\n', '\r']));
    let text = text.ok_or_else(|| {
        let message = format!("the path {} cannot stand in a unit", path.display());
        Error::new(Kind::Invalid, message)
    })?;
    let text = text
        .replace('%', "%%")
        .replace('\\', "\\\\")
        .replace('"', "\\\"");
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%".contains(c);
    Ok(if text.chars().all(plain) {
        text
    } else {
        format!("\"{text}\"")
    })
}

/// `$` begins a variable in `ExecStart`, and nowhere else.
fn program(path: &Path) -> Result<String> {
    Ok(word(path)?.replace('$', "$$"))
}

fn environment(home: Option<&PathBuf>) -> Result<String> {
    let Some(home) = home else {
        return Ok(String::new());
    };
    let word = word(home)?;
    Ok(match word.strip_prefix('"') {
        Some(rest) => format!("Environment=\"HERMES_HOME={rest}\n"),
        None => format!("Environment=HERMES_HOME={word}\n"),
    })
}

impl Service {
    /// A unit of the system's manager.
    ///
    /// # Errors
    /// When a path cannot stand in a unit.
    pub fn system(&self) -> Result<String> {
        let program = program(&self.program)?;
        let environment = environment(self.home.as_ref())?;
        let (order, run_as) = match &self.account {
            None => (String::new(), String::new()),
            Some(Account { name, uid }) => (
                format!("Wants=user@{uid}.service\nAfter=user@{uid}.service\n"),
                format!(
                    "User={name}\nEnvironment=XDG_RUNTIME_DIR=/run/user/{uid}\n\
                     Environment=DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/{uid}/bus\n"
                ),
            ),
        };
        Ok(format!(
            "{UNIT}Wants=network-online.target\nAfter=network-online.target\n{order}\n\
             [Service]\nType=notify\n{run_as}{environment}ExecStart={program} serve\n{SERVICE}\n\
             [Install]\nWantedBy=multi-user.target\n"
        ))
    }

    /// A unit of the account's own manager.
    ///
    /// # Errors
    /// When a path cannot stand in a unit.
    pub fn user(&self) -> Result<String> {
        let program = program(&self.program)?;
        let environment = environment(self.home.as_ref())?;
        Ok(format!(
            "{UNIT}\n[Service]\nType=notify\n{environment}ExecStart={program} serve\n{SERVICE}\n\
             [Install]\nWantedBy=default.target\n"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service() -> Service {
        Service {
            program: "/usr/local/bin/hermes".into(),
            home: None,
            account: Some(Account {
                name: "agent".to_owned(),
                uid: 1000,
            }),
        }
    }

    #[test]
    fn the_documentation_shows_what_is_printed() {
        let text = std::fs::read_to_string("docs/systemd.md").unwrap();
        assert!(text.contains(&format!("```ini\n{}```", service().system().unwrap())));
        assert!(text.contains(&format!("```ini\n{}```", service().user().unwrap())));
    }

    #[test]
    fn paths_are_quoted_where_they_must_be() {
        let odd = Service {
            program: "/opt/a $b/50%".into(),
            home: Some("/srv/my home".into()),
            account: None,
        };
        let text = odd.system().unwrap();
        assert!(
            text.contains("\nExecStart=\"/opt/a $$b/50%%\" serve\n"),
            "{text}"
        );
        assert!(
            text.contains("\nEnvironment=\"HERMES_HOME=/srv/my home\"\n"),
            "{text}"
        );
        assert!(!text.contains("User=") && !text.contains("user@"), "{text}");
        let broken = Service {
            home: Some("/srv/a\nExecStart=/bin/rm".into()),
            ..odd
        };
        assert_eq!(broken.user().unwrap_err().kind(), Kind::Invalid);
    }
}
