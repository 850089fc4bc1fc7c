//! Programs of Hermes Agent on the same home: its gateway, that of the root, and its serve. By the
//! records that they keep of themselves; what each of them has is left to it. A command that looks once
//! looks at the processes themselves.

use std::path::PathBuf;

use crate::home::Home;
use crate::host::facts::{
    AccountFacts, Environment, HomeRecords, HostRecord, Machine, ProcessFacts, Program, Role,
};
use crate::host::locks::LockTable;
use crate::host::scheduler_owner::reaches;
use crate::host::{Caller, Choice, observe, records_probe};
use crate::runtime::Runtime;

/// Where they are looked for.
pub(crate) struct Neighbours {
    home: Home,
    homes: Vec<Home>,
    registry: Option<PathBuf>,
    machine: Machine,
}

impl Neighbours {
    /// Those of this home, for this account.
    pub(crate) fn of(home: &Home, runtime: &Runtime, machine: &Machine) -> Self {
        let variables = runtime.environ.iter();
        let variables =
            variables.filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        let account = AccountFacts {
            uid: runtime.account.uid,
            gid: Some(runtime.account.gid),
            name: runtime.account.name.clone(),
            home: runtime.account.home.clone(),
        };
        let mut homes = vec![home.clone()];
        if home.root() != *home {
            homes.push(home.root());
        }
        Self {
            home: home.clone(),
            homes,
            registry: records_probe::registry(Some(&Environment::select(variables)), &account),
            machine: machine.clone(),
        }
    }

    /// Those that live, one sentence each.
    pub(crate) fn look(&self) -> Vec<String> {
        let found = records_probe::homes(&self.homes, &self.machine, &LockTable::new());
        let gateways = found.iter().filter_map(|records| self.gateway(records));
        let serves = self.registry.iter().flat_map(|directory| {
            let found = records_probe::host_records(Some(directory), &self.machine);
            found.known().cloned().unwrap_or_default()
        });
        let serves = serves.filter_map(|record| self.serve(&record));
        gateways.chain(serves).collect()
    }

    fn gateway(&self, records: &HomeRecords) -> Option<String> {
        let named = [&records.gateway_lock, &records.gateway_pid];
        let mut named = named
            .into_iter()
            .filter_map(|record| record.known()?.as_ref());
        let held = records.gateway_lock_held.pids().first().copied();
        let alive = named.find(|record| record.liveness.is_alive());
        let pid = held.or(alive.map(|record| record.pid))?;
        if records.path == self.home.path() {
            return Some(format!(
                "A gateway of Hermes Agent (pid {pid}) serves this home: it keeps the timers that \
                 have a route and all cron ticks; loops and heartbeats of our sessions are ours."
            ));
        }
        let profile = self.home.profile();
        let ours = records.gateway_serves(profile);
        ours.then(|| {
            format!(
                "A gateway of Hermes Agent (pid {pid}) serves the root of this home, and the profile \
                 {profile} with it: it keeps the timers that have a route and all cron ticks; loops \
                 and heartbeats of our sessions are ours."
            )
        })
    }

    fn serve(&self, record: &HostRecord) -> Option<String> {
        if record.role == "gateway" || !record.owner.liveness.is_alive() {
            return None;
        }
        let profile = self.home.profile();
        let same = match &record.owner.home {
            None => true,
            Some(home) if home == self.home.path() => true,
            Some(home) => {
                home == self.home.root().path()
                    && record.profiles.iter().any(|name| name == profile)
            }
        };
        same.then(|| {
            format!(
                "A serve of Hermes Agent (pid {}) has this home too: the sessions that it holds are \
                 left to it, with their loops and heartbeats.",
                record.owner.pid
            )
        })
    }
}

/// The backend of a home where none is ours and all belong to desktop applications: its pid. A timer
/// that is set there ends with the application.
#[must_use]
pub fn of_desktop_alone(runtime: &Runtime, home: &Home) -> Option<u32> {
    let seen = observe(&Choice::default(), &Caller::of(runtime)).ok()?;
    let mut backends = seen.processes.iter().filter(|process| {
        process.role == Role::Serve
            && process.program == Some(Program::HermesAgent)
            && !process.zombie
            && process
                .home
                .known()
                .is_some_and(|path| reaches(process.program, path, home))
    });
    let first = backends.next()?;
    let desktop = |process: &ProcessFacts| process.desktop.known() == Some(&true);
    (desktop(first) && backends.all(desktop)).then_some(first.pid)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::{Clock as _, SystemClock};
    use crate::server::instance::machine;

    /// This process as somebody who wrote a record, and is what it says: its name is no matter here.
    fn look(root: &std::path::Path, home: &Home) -> Vec<String> {
        let neighbours = Neighbours {
            home: home.clone(),
            homes: vec![home.clone(), home.root()],
            registry: Some(root.join("locks")),
            machine: machine(SystemClock.now()),
        };
        neighbours.look()
    }

    #[test]
    fn a_gateway_of_the_root_counts_by_its_lock_and_by_what_it_serves() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let home = Home::at(root.join("profiles/ops"));
        std::fs::create_dir_all(home.path()).unwrap();
        assert_eq!(look(root, &home), Vec::<String>::new());
        let lock = crate::files::try_lock(&root.join("gateway.lock")).unwrap();
        let pid = std::process::id();
        let found = look(root, &home);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains(&format!("(pid {pid}) serves the root")),
            "{found:?}"
        );
        let state = |profiles| json!({"pid": pid, "served_profiles": profiles}).to_string();
        std::fs::write(root.join("gateway_state.json"), state(["other"])).unwrap();
        assert_eq!(look(root, &home), Vec::<String>::new());
        std::fs::write(root.join("gateway_state.json"), state(["ops"])).unwrap();
        assert_eq!(look(root, &home).len(), 1);
        drop(lock);
        assert_eq!(look(root, &home), Vec::<String>::new());
    }

    #[test]
    fn a_serve_is_named_where_it_has_this_home() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let home = Home::at(root.join("profiles/ops"));
        std::fs::create_dir_all(home.path()).unwrap();
        std::fs::create_dir_all(root.join("locks")).unwrap();
        let now = SystemClock.now();
        let own = crate::server::instance::Identity::own(&machine(now), now);
        let write = |role: &str, place: &std::path::Path, profiles: &[&str], ticks: u64| {
            let record = json!({
                "role": role, "pid": own.pid, "startTime": ticks,
                "home": place, "profiles": profiles,
            });
            let file = root.join(format!("locks/host-{role}.json"));
            std::fs::write(file, record.to_string()).unwrap();
        };
        let ticks = own.start_ticks.unwrap();
        for (place, profiles, named) in [
            (home.path(), [].as_slice(), 1),
            (root, &["default", "ops"], 1),
            (root, &["default"], 0),
            (std::path::Path::new("/elsewhere"), &["ops"], 0),
        ] {
            write("serve", place, profiles, ticks);
            let found = look(root, &home);
            assert_eq!(found.len(), named, "{place:?} {profiles:?}: {found:?}");
        }
        write("desktop-serve", home.path(), &[], ticks);
        let said = look(root, &home).concat();
        assert!(said.contains("A serve of Hermes Agent"), "{said}");
        write("desktop-serve", home.path(), &[], ticks + 1_000_000);
        assert_eq!(
            look(root, &home),
            Vec::<String>::new(),
            "that one has ended"
        );
        write("gateway", home.path(), &[], ticks);
        assert_eq!(look(root, &home), Vec::<String>::new(), "no serve");
    }
}
