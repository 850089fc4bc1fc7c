//! Looks up what armed jobs need: scripts, working directories, programs. A path on a dead network
//! mount can hang for ever, so every look has a deadline, on a thread of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::script;
use crate::bounded;
use crate::doctor::evidence::home::{FoundNeeds, PlaceSeen, ScriptSeen};
use crate::doctor::evidence::jobs::JobStore;
use crate::home::Home;
use crate::host::Facts;
use crate::host::program_probe::{is_program, on_path};

/// How long one path may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// So many paths may hang before the others are not looked at any more.
const HANGING: usize = 2;
/// Different scripts and directories that are looked at.
const MOST: usize = 2_000;

/// Looks up what the armed jobs of this store need.
pub(super) fn look(home: &Home, store: &JobStore, facts: &Facts) -> FoundNeeds {
    let mut scripts = BTreeSet::new();
    let mut workdirs = BTreeSet::new();
    let mut programs = BTreeSet::new();
    for needs in store.armed().map(|job| &job.needs) {
        scripts.extend(needs.script.iter().chain(&needs.monitor_script).cloned());
        workdirs.extend(needs.workdir.clone());
        programs.extend(needs.interpreter.clone());
    }
    let mut found = FoundNeeds::default();
    let program = facts.dispatcher.program;
    let directory = home.join("scripts");
    found.not_looked = scripts.len().saturating_sub(MOST) + workdirs.len().saturating_sub(MOST);
    let names: Vec<String> = scripts.into_iter().take(MOST).collect();
    let mut hung = 0;
    let seen = all(names.clone(), (PATIENCE, &mut hung), move |name| {
        script::look(&directory, name, program)
    });
    for (name, seen) in names.into_iter().zip(seen) {
        let Some(seen) = seen else {
            found.not_looked += 1;
            continue;
        };
        let script = ScriptSeen {
            path: home.join("scripts").join(&name),
            place: seen.place,
            runner: seen.runner,
            calls: seen.calls,
        };
        found.scripts.insert(name, script);
    }
    let names: Vec<String> = workdirs.into_iter().take(MOST).collect();
    let seen = all(names.clone(), (PATIENCE, &mut hung), |name| {
        script::place(Path::new(name))
    });
    for (name, seen) in names.into_iter().zip(seen) {
        match seen {
            Some(place) => found.workdirs.extend([(name, place)]),
            None => found.not_looked += 1,
        }
    }
    for script in found.scripts.values() {
        programs.extend(script.runner.iter().chain(&script.calls).cloned());
    }
    let environ = facts.dispatcher.environ.known();
    if let Some(path) = environ.and_then(|environ| environ.get("PATH")) {
        found.programs = lookup(path, programs);
        found.search_path = Some(path.to_owned());
    }
    found
}

fn lookup(path: &str, names: BTreeSet<String>) -> BTreeMap<String, Option<PathBuf>> {
    names
        .into_iter()
        .map(|name| {
            let whole = Path::new(&name);
            let found = if name.contains('/') {
                is_program(whole).then(|| whole.to_owned())
            } else {
                on_path(&name, path)
            };
            (name, found)
        })
        .collect()
}

/// Looks at each of these on a thread of its own. A look that hangs is left behind with its thread, and
/// the next thread goes on; after a few of them, counted over all that is looked at, the rest is not
/// looked at: `None`.
fn all<T: From<PlaceSeen> + Clone + Send + 'static>(
    names: Vec<String>,
    (patience, hung): (Duration, &mut usize),
    look: impl Fn(&str) -> T + Send + Sync + 'static,
) -> Vec<Option<T>> {
    let count = names.len();
    let shared = Arc::new((names, look));
    let mut seen: Vec<Option<T>> = Vec::with_capacity(count);
    while *hung < HANGING && seen.len() < count {
        let (send, receive) = mpsc::channel();
        let (from, work) = (seen.len(), Arc::clone(&shared));
        let _going_on = bounded::start("needs", move || {
            for name in work.0.iter().skip(from) {
                // Nobody listens any more after the deadline.
                if send.send((work.1)(name)).is_err() {
                    return;
                }
            }
        });
        while seen.len() < count
            && let Ok(answer) = receive.recv_timeout(patience)
        {
            seen.push(Some(answer));
        }
        if seen.len() < count {
            *hung += 1;
            seen.push(Some(PlaceSeen::Hangs.into()));
        }
    }
    seen.resize(count, None);
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b50_a_look_that_hangs_is_left_behind_and_the_next_goes_on() {
        let (_open, never) = mpsc::channel::<()>();
        let never = std::sync::Mutex::new(never);
        let look = move |name: &str| {
            if name.starts_with("hang") {
                never.lock().unwrap().recv().ok();
            }
            PlaceSeen::Missing
        };
        let names = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (patience, mut hung) = (Duration::from_millis(20), 0);
        let listed = names(&["a", "hang1", "b", "hang2", "hang3", "c"]);
        let seen = all(listed, (patience, &mut hung), look);
        let hangs = Some(PlaceSeen::Hangs);
        let missing = Some(PlaceSeen::Missing);
        let wanted = [missing.clone(), hangs.clone(), missing, hangs, None, None];
        assert_eq!(seen, wanted);
        let seen = all(names(&["d"]), (patience, &mut hung), |_| PlaceSeen::Missing);
        assert_eq!(seen, [None], "what hung before counts");
    }

    #[test]
    fn programs_are_found_on_the_path_that_is_given() {
        let names = || BTreeSet::from(["sh".to_owned(), "no-such-program".to_owned()]);
        let found = lookup("/nowhere:/bin:/usr/bin", names());
        assert!(found["sh"].is_some() && found["no-such-program"].is_none());
        assert!(lookup("/nowhere", names())["sh"].is_none());
        let whole = || BTreeSet::from(["/bin/sh".to_owned(), "/bin/no-such".to_owned()]);
        let found = lookup("/nowhere", whole());
        assert!(found["/bin/sh"].is_some() && found["/bin/no-such"].is_none());
    }
}
