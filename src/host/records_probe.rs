//! Reads the records of homes, and of the account beside them, and looks whether who wrote them lives.
//! Reads only; a file that is not there is `Known(None)`, one that cannot be read is a gap.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::files::read_regular;
use crate::home::Home;

use super::facts::{
    AccountFacts, Environment, Fact, GapKind, GatewayState, HomeRecords, HostRecord, Machine,
    NewestFile, OwnerRecord, Recorded, Role,
};
use super::liveness_probe::liveness;
use super::locks::{Holder, LockTable};
use super::machine_probe::{modified, unreadable};
use super::records::{Record, record, starts};

/// A record is a few hundred bytes; what is longer than this is not read.
const LONGEST: u64 = 1 << 20;
/// How many starts are kept: the newest tell of a restart loop.
const STARTS: usize = 64;
/// Directories of a home where files are written all the time.
const BUSY: [&str; 3] = ["", "cron", "state"];
/// Roles of which an account has one process each.
const ROLES: [&str; 3] = ["gateway", "serve", "desktop-serve"];

/// What the files of these homes say.
#[must_use]
pub fn homes(homes: &[Home], machine: &Machine, locks: &LockTable) -> Vec<HomeRecords> {
    homes
        .iter()
        .map(|home| of_home(home, machine, locks))
        .collect()
}

fn of_home(home: &Home, machine: &Machine, locks: &LockTable) -> HomeRecords {
    let found = std::fs::metadata(home.path());
    let owner = |name: &str, kin| {
        recorded(&home.join(name), |text| {
            record(text).map(|record| by(&record, machine, kin))
        })
    };
    HomeRecords {
        path: home.path().to_owned(),
        profile: home.profile().to_owned(),
        owner: found.as_ref().ok().map(MetadataExt::uid),
        exists: match &found {
            Ok(found) => Fact::Known(found.is_dir()),
            Err(error) if error.kind() == ErrorKind::NotFound => Fact::Known(false),
            Err(error) => unreadable(&home.path().to_string_lossy(), error),
        },
        gateway_pid: owner("gateway.pid", is_gateway),
        gateway_lock: owner("gateway.lock", is_gateway),
        gateway_lock_held: locks.holder(&home.join("gateway.lock")),
        gateway_state: recorded(&home.join("gateway_state.json"), |text| {
            record(text).map(|record| state(record, machine))
        }),
        serve: owner("run/serve.json", is_serve),
        serve_lock_held: locks.holder(&home.join("run/serve.lock")),
        gateway_starts: text(&home.join("gateway-starts.log"))
            .map_or_else(|_| Vec::new(), |text| starts(&text, STARTS)),
        newest_file: newest(home),
    }
}

fn is_gateway(role: Role) -> bool {
    role == Role::Gateway
}

fn is_serve(role: Role) -> bool {
    role == Role::Serve
}

fn by(record: &Record, machine: &Machine, kin: fn(Role) -> bool) -> OwnerRecord {
    let identity = &record.identity;
    OwnerRecord {
        pid: identity.pid,
        start_ticks: identity.start_ticks,
        started_at: identity.started_at,
        boot: identity.boot.clone(),
        pid_namespace: identity.pid_namespace,
        home: record.home.clone(),
        version: record.version.clone(),
        command: record.command.clone(),
        stopping: record.stopping,
        liveness: liveness(identity, machine, kin),
    }
}

fn state(record: Record, machine: &Machine) -> GatewayState {
    GatewayState {
        owner: by(&record, machine, is_gateway),
        state: record.state,
        exit_reason: record.exit_reason,
        served_profiles: record.profiles,
        updated_at: record.updated_at,
    }
}

fn text(path: &Path) -> std::io::Result<String> {
    let bytes = read_regular(path, LONGEST)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn recorded<T>(path: &Path, read: impl FnOnce(&str) -> Result<T, String>) -> Recorded<T> {
    let name = path.to_string_lossy();
    match text(path) {
        Ok(text) => match read(&text) {
            Ok(value) => Fact::Known(Some(value)),
            Err(why) => Fact::unknown(GapKind::Failed, format!("{name}: {why}")),
        },
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Fact::Known(None)
        }
        Err(error) => unreadable(&name, &error),
    }
}

/// The regular file that was written last, in the directories where that happens all the time.
fn newest(home: &Home) -> Option<NewestFile> {
    let listed = BUSY
        .iter()
        .filter_map(|directory| std::fs::read_dir(home.join(directory)).ok())
        .flatten()
        .filter_map(Result::ok);
    let files = listed.filter_map(|entry| {
        let found = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some(NewestFile {
            path: entry.path(),
            modified_at: modified(&found),
        })
    });
    files.max_by(|a, b| a.modified_at.total_cmp(&b.modified_at))
}

/// Where the records of an account lie, by the environment of its program.
#[must_use]
pub fn registry(environ: Option<&Environment>, account: &AccountFacts) -> Option<PathBuf> {
    let variable = |name| environ.and_then(|environ| environ.get(name));
    if let Some(directory) = variable("HERMES_GATEWAY_LOCK_DIR") {
        return Some(directory.into());
    }
    let state = variable("XDG_STATE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let base = state.or_else(|| Some(account.home.as_ref()?.join(".local/state")));
    base.map(|base| base.join("hermes/gateway-locks"))
}

/// The records in that directory, each with the judgement of its process.
#[must_use]
pub fn host_records(directory: Option<&Path>, machine: &Machine) -> Fact<Vec<HostRecord>> {
    let Some(directory) = directory else {
        return Fact::hidden("the account has no home directory, so its records are nowhere");
    };
    let mut records = Vec::new();
    for role in ROLES {
        let path = directory.join(format!("host-{role}.json"));
        let kin = if role == "gateway" {
            is_gateway
        } else {
            is_serve
        };
        let found = recorded(&path, |text| {
            let record = record(text)?;
            Ok(HostRecord {
                role: role.to_owned(),
                path: path.clone(),
                owner: by(&record, machine, kin),
                profiles: record.profiles,
            })
        });
        match found {
            Fact::Known(found) => records.extend(found),
            Fact::Unknown(gap) => return Fact::Unknown(gap),
        }
    }
    Fact::Known(records)
}

/// Nothing is known of any lock: for homes that could not be looked at in time.
#[must_use]
pub fn unlooked(home: &Home, why: &str) -> HomeRecords {
    let gap = || Fact::unknown(GapKind::Deadline, why);
    let held = || Holder::CannotTell {
        why: why.to_owned(),
    };
    HomeRecords {
        path: home.path().to_owned(),
        profile: home.profile().to_owned(),
        exists: Fact::unknown(GapKind::Deadline, why),
        owner: None,
        gateway_pid: gap(),
        gateway_lock: gap(),
        gateway_lock_held: held(),
        gateway_state: Fact::unknown(GapKind::Deadline, why),
        serve: gap(),
        serve_lock_held: held(),
        gateway_starts: Vec::new(),
        newest_file: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, SystemClock};
    use crate::host::liveness::Liveness;
    use crate::host::machine_probe::machine;

    fn look(files: &[(&str, String)]) -> (tempfile::TempDir, HomeRecords) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let machine = machine(&Environment::default(), SystemClock.now());
        let home = Home::at(dir.path());
        let mut found = homes(&[home], &machine, &LockTable::new());
        (dir, found.remove(0))
    }

    #[test]
    fn an_empty_home_has_no_records_and_an_unreadable_one_has_gaps() {
        let (_dir, found) = look(&[]);
        assert_eq!(found.gateway_pid, Fact::Known(None));
        assert_eq!(found.serve, Fact::Known(None));
        assert_eq!(found.exists, Fact::Known(true));
        assert_eq!(found.newest_file, None);
        let (_dir, found) = look(&[("gateway.pid", "{".to_owned())]);
        assert!(found.gateway_pid.gap().is_some());
        assert!(found.newest_file.is_some());
    }

    #[test]
    fn b105_a_left_over_pid_file_names_a_dead_process() {
        let text = r#"{"pid":4194304,"start_time":100000}"#.to_owned();
        let (_dir, found) = look(&[("gateway.pid", text), ("gateway.lock", "1".to_owned())]);
        let record = found.gateway_pid.known().unwrap().as_ref().unwrap();
        assert!(record.liveness.is_over(), "{record:?}");
        assert!(!found.gateway_lock_held.is_held());
    }

    #[test]
    fn b106_our_own_pid_is_no_gateway() {
        let pid = std::process::id();
        let (_dir, found) = look(&[("gateway.pid", pid.to_string())]);
        let record = found.gateway_pid.known().unwrap().as_ref().unwrap();
        assert_eq!(record.liveness, Liveness::Reused);
    }

    #[test]
    fn where_the_registry_of_an_account_is() {
        let account = AccountFacts {
            uid: 7,
            gid: None,
            name: None,
            home: Some("/home/bot".into()),
        };
        let at = |pairs: &[(&str, &str)]| {
            let environ = Environment::select(pairs.iter().copied());
            registry(Some(&environ), &account).unwrap()
        };
        let usual = Path::new("/home/bot/.local/state/hermes/gateway-locks");
        assert_eq!(at(&[]), usual);
        assert_eq!(at(&[("XDG_STATE_HOME", "rel")]), usual);
        assert_eq!(
            at(&[("XDG_STATE_HOME", "/x")]),
            Path::new("/x/hermes/gateway-locks")
        );
        assert_eq!(at(&[("HERMES_GATEWAY_LOCK_DIR", "/l")]), Path::new("/l"));
    }
}
