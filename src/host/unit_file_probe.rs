//! Finds the unit files of services that run a serve or a gateway, where managers look for them. What
//! a manager says outranks this; it is read because no manager may answer, and because a manager
//! finds a unit by its name while a file is known by what it runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::facts::{AccountFacts, ManagerKind, Role, UnitFacts};
use super::unit_file::{Owner, Settings, facts, home};

/// A unit file longer than this is not one.
const LONGEST: u64 = 256 * 1024;
/// Where units of the system are, what counts most first.
const SYSTEM: [&str; 4] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
];
/// Where units of every user are.
const USER: [&str; 4] = [
    "/etc/systemd/user",
    "/run/systemd/user",
    "/usr/local/lib/systemd/user",
    "/usr/lib/systemd/user",
];

/// Looks up an account by its name.
pub type Accounts<'a> = &'a dyn Fn(&str) -> Option<AccountFacts>;

/// The directories of both managers for this account, below `root` (`/`, but for tests).
#[must_use]
pub fn directories(
    root: &Path,
    account: &AccountFacts,
    config_home: Option<&str>,
) -> Vec<(ManagerKind, PathBuf)> {
    let below = |path: &str| root.join(path.trim_start_matches('/'));
    let own = config_home
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| Some(account.home.as_ref()?.join(".config")))
        .map(|config| below(&config.join("systemd/user").to_string_lossy()));
    let system = SYSTEM.iter().map(|path| (ManagerKind::System, below(path)));
    let user = own.into_iter().chain(USER.iter().map(|path| below(path)));
    system
        .chain(user.map(|path| (ManagerKind::User, path)))
        .collect()
}

/// Services in these directories that run a serve or a gateway, by manager and name.
#[must_use]
pub fn units(
    directories: &[(ManagerKind, PathBuf)],
    account: &AccountFacts,
    accounts: Accounts<'_>,
) -> Vec<UnitFacts> {
    let mut found: BTreeMap<(bool, String), Vec<PathBuf>> = BTreeMap::new();
    for (manager, directory) in directories {
        for name in services(directory) {
            let key = (*manager == ManagerKind::User, name.clone());
            found.entry(key).or_default().push(directory.join(name));
        }
    }
    found
        .into_iter()
        .filter_map(|((user, name), paths)| {
            let manager = if user {
                ManagerKind::User
            } else {
                ManagerKind::System
            };
            let (first, below) = paths.split_first()?;
            let read = |path: &Path| unit(&name, path, manager, directories, (account, accounts));
            if !is_mask(first) {
                return read(first);
            }
            let hidden = below.iter().find(|path| !is_mask(path));
            masked(&name, manager, hidden.and_then(|path| read(path)))
        })
        .collect()
}

/// A link to `/dev/null`: nothing can start the unit.
fn is_mask(path: &Path) -> bool {
    std::fs::canonicalize(path).is_ok_and(|path| path == Path::new("/dev/null"))
}

/// A masked unit is described by the file that the mask hides. Where there is none, its name is all that
/// tells whether it is of any concern.
fn masked(name: &str, manager: ManagerKind, hidden: Option<UnitFacts>) -> Option<UnitFacts> {
    let unnamed = || UnitFacts {
        name: name.to_owned(),
        manager: Some(manager),
        ..UnitFacts::default()
    };
    let by_name = || name.contains("hermes").then(unnamed);
    let mut unit = hidden.or_else(by_name)?;
    unit.load_state = Some("masked".to_owned());
    unit.file_state = Some("masked".to_owned());
    Some(unit)
}

/// Names of the services in a directory. The vendor's directories hold hundreds, so there only a name
/// that speaks of the program counts.
fn services(directory: &Path) -> Vec<String> {
    let vendor = directory.to_string_lossy().contains("/usr/");
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".service") && (!vendor || name.contains("hermes")))
        .collect()
}

fn text(path: &Path) -> Option<String> {
    let found = std::fs::metadata(path).ok()?;
    (found.is_file() && found.len() <= LONGEST).then_some(())?;
    let bytes = std::fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn unit(
    name: &str,
    path: &Path,
    manager: ManagerKind,
    directories: &[(ManagerKind, PathBuf)],
    (account, accounts): (&AccountFacts, Accounts<'_>),
) -> Option<UnitFacts> {
    let drop_ins = drop_ins(name, manager, directories);
    let mut settings = Settings::default().with(&text(path)?);
    for drop_in in &drop_ins {
        settings = settings.with(&text(drop_in).unwrap_or_default());
    }
    let named = |name: &str| accounts(name);
    let runs_as = match manager {
        ManagerKind::User => Some(account.clone()),
        ManagerKind::System => named(settings.last("Service", "User").unwrap_or("root")),
    };
    let owner = Owner {
        unit: name,
        manager,
        account: runs_as.as_ref(),
    };
    let mut unit = facts(&settings, &owner);
    if !matches!(unit.role, Some(Role::Serve | Role::Gateway)) {
        return None;
    }
    unit.home = home(&unit, runs_as.as_ref());
    unit.fragment = Some(path.to_string_lossy().into_owned());
    unit.drop_ins = drop_ins
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    unit.file_state = Some(state(name, manager, directories).to_owned());
    Some(unit)
}

/// The drop-ins of a unit: by file name, of equal names the one that counts most.
fn drop_ins(
    name: &str,
    manager: ManagerKind,
    directories: &[(ManagerKind, PathBuf)],
) -> Vec<PathBuf> {
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    for (_, directory) in directories.iter().filter(|(whose, _)| *whose == manager) {
        let directory = directory.join(format!("{name}.d"));
        let entries = std::fs::read_dir(&directory).into_iter().flatten();
        for file in entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
            let path = directory.join(&file);
            if path.extension().is_some_and(|end| end == "conf") {
                found.entry(file).or_insert(path);
            }
        }
    }
    found.into_values().collect()
}

/// Whether something wants the unit: what `enable` does is a link in a `.wants` directory.
fn state(name: &str, manager: ManagerKind, directories: &[(ManagerKind, PathBuf)]) -> &'static str {
    let wanted = directories
        .iter()
        .filter(|(whose, _)| *whose == manager)
        .filter_map(|(_, directory)| std::fs::read_dir(directory).ok())
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| {
            let folder = entry.file_name();
            let folder = folder.to_string_lossy();
            folder.ends_with(".wants") || folder.ends_with(".requires")
        })
        .any(|entry| entry.path().join(name).symlink_metadata().is_ok());
    if wanted { "enabled" } else { "disabled" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::facts::Program;

    fn account() -> AccountFacts {
        AccountFacts {
            uid: 1001,
            gid: None,
            name: Some("bot".to_owned()),
            home: Some("/home/bot".into()),
        }
    }

    fn host(files: &[(&str, &str)]) -> (tempfile::TempDir, Vec<UnitFacts>) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let account = account();
        let directories = directories(dir.path(), &account, None);
        let accounts = |name: &str| (name == "bot").then(self::account);
        let units = units(&directories, &account, &accounts);
        (dir, units)
    }

    const SERVE: &str = "[Service]\nExecStart=/usr/bin/hermes serve\n";

    #[test]
    fn a_service_is_found_by_what_it_runs() {
        let (_dir, units) = host(&[
            (
                "etc/systemd/system/bot.service",
                "[Service]\nUser=bot\nExecStart=/v/bin/hermes gateway run\n",
            ),
            (
                "etc/systemd/system/sshd.service",
                "[Service]\nExecStart=/usr/sbin/sshd\n",
            ),
            ("etc/systemd/system/multi-user.target.wants/bot.service", ""),
            ("home/bot/.config/systemd/user/h.service", SERVE),
            ("usr/lib/systemd/system/other.service", SERVE),
        ]);
        let names: Vec<_> = units.iter().map(|unit| unit.name.as_str()).collect();
        assert_eq!(names, ["bot.service", "h.service"]);
        assert_eq!(units[0].file_state.as_deref(), Some("enabled"));
        assert_eq!(units[0].home, Some("/home/bot/.hermes".into()));
        assert_eq!(units[0].program, Some(Program::HermesAgent));
        assert_eq!(units[1].manager, Some(ManagerKind::User));
        assert_eq!(units[1].file_state.as_deref(), Some("disabled"));
        assert!(!units[0].asked);
    }

    #[test]
    fn drop_ins_and_precedence() {
        let (_dir, units) = host(&[
            ("etc/systemd/system/hermes.service", SERVE),
            (
                "usr/lib/systemd/system/hermes.service",
                "[Service]\nExecStart=/bin/false\n",
            ),
            (
                "etc/systemd/system/hermes.service.d/a.conf",
                "[Service]\nKillMode=process\n",
            ),
            (
                "run/systemd/system/hermes.service.d/a.conf",
                "[Service]\nKillMode=mixed\n",
            ),
        ]);
        assert_eq!(units.len(), 1);
        assert_eq!(units[0].kill_mode.as_deref(), Some("process"));
        assert_eq!(units[0].drop_ins.len(), 1);
    }

    #[test]
    fn a_masked_unit_is_described_by_what_the_mask_hides() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("etc/systemd/system");
        let vendor = dir.path().join("run/systemd/system");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::create_dir_all(&vendor).unwrap();
        for name in ["bot.service", "hermes.service", "cron.service"] {
            std::os::unix::fs::symlink("/dev/null", folder.join(name)).unwrap();
        }
        std::fs::write(vendor.join("bot.service"), SERVE).unwrap();
        let account = account();
        let directories = directories(dir.path(), &account, None);
        let units = units(&directories, &account, &|_| None);
        let names: Vec<_> = units.iter().map(|unit| unit.name.as_str()).collect();
        assert_eq!(names, ["bot.service", "hermes.service"]);
        for unit in &units {
            assert_eq!(unit.load_state.as_deref(), Some("masked"));
            assert_eq!(unit.file_state.as_deref(), Some("masked"));
        }
        assert_eq!(units[0].role, Some(Role::Serve));
        assert_eq!(units[1].role, None);
    }
}
