//! Looks up what armed jobs need: scripts, working directories, programs. A path on a dead network
//! mount can hang for ever, so every look has a deadline, on a thread of its own.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::script;
use crate::bounded;
use crate::doctor::evidence::home::{FoundNeeds, PlaceSeen, ScriptSeen};
use crate::doctor::evidence::jobs::JobStore;
use crate::home::Home;
use crate::host::Facts;
use crate::host::facts::Program;
use crate::host::program_probe::{is_program, places};

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
    found.search_path = environ.map(|environ| environ.path().to_owned());
    for needs in store.armed().map(|job| &job.needs) {
        let Some(here) = needs.works_in(home, program) else {
            continue;
        };
        let names = found.programs_of(needs).into_iter();
        let bare = names.filter(|name| !name.contains('/'));
        programs.extend(bare.flat_map(|name| found.beside(name, &here)));
    }
    let path = found.search_path.as_deref();
    let path = path.map(|path| with_own_directory(path, facts));
    look_up(&mut found, programs, (path, &mut hung));
    found
}

/// The `PATH` that jobs are given: our dispatcher puts its own directory before it.
fn with_own_directory(path: &str, facts: &Facts) -> String {
    let dispatcher = &facts.dispatcher;
    let process = dispatcher.process.as_ref().unwrap_or(&facts.shell);
    let exe = process.exe.known();
    let own = exe.and_then(|exe| exe.parent()?.to_str());
    match own.filter(|_| dispatcher.program == Program::Ours) {
        Some(own) => format!("{own}:{path}"),
        None => path.to_owned(),
    }
}

/// Looks up programs: a whole path as it stands, a bare name where the `PATH` is known. What else there
/// is begins in a directory that only the job knows.
fn look_up(
    found: &mut FoundNeeds,
    names: BTreeSet<String>,
    (path, hung): (Option<String>, &mut usize),
) {
    let known = |name: &String| match name.find('/') {
        Some(at) => at == 0,
        None => path.is_some(),
    };
    let mut names: Vec<String> = names.into_iter().filter(known).collect();
    found.not_looked += names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let path = path.unwrap_or_default();
    let seen = all(names.clone(), (PATIENCE, hung), move |name| {
        program(name, &path)
    });
    for (name, seen) in names.into_iter().zip(seen) {
        match seen {
            Some(PlaceSeen::File) => found.programs.extend([(name, true)]),
            Some(PlaceSeen::Missing) => found.programs.extend([(name, false)]),
            _ => found.not_looked += 1,
        }
    }
}

/// A file, where there is such a program; missing, where it is in none of its places.
fn program(name: &str, path: &str) -> PlaceSeen {
    let at = |place: &Path| match script::place(place) {
        PlaceSeen::File if is_program(place) => PlaceSeen::File,
        PlaceSeen::File | PlaceSeen::Directory => PlaceSeen::Missing,
        other => other,
    };
    if name.contains('/') {
        return at(Path::new(name));
    }
    let mut seen = PlaceSeen::Missing;
    for place in places(name, path) {
        match at(&place) {
            PlaceSeen::File => return PlaceSeen::File,
            PlaceSeen::Missing => {}
            unknown => seen = unknown,
        }
    }
    seen
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
        // Long enough for a busy machine to start a thread in.
        let (patience, mut hung) = (Duration::from_millis(700), 0);
        let listed = names(&["a", "hang1", "b", "hang2", "hang3", "c"]);
        let seen = all(listed, (patience, &mut hung), look);
        let hangs = Some(PlaceSeen::Hangs);
        let missing = Some(PlaceSeen::Missing);
        let wanted = [missing.clone(), hangs.clone(), missing, hangs, None, None];
        assert_eq!(seen, wanted);
        let seen = all(names(&["d"]), (patience, &mut hung), |_| PlaceSeen::Missing);
        assert_eq!(seen, [None], "what hung before counts");
    }

    fn looked_up(path: Option<&str>, names: &[&str]) -> (Vec<(String, bool)>, usize) {
        let mut found = FoundNeeds::default();
        let names = names.iter().map(ToString::to_string).collect();
        let path = path.map(str::to_owned);
        look_up(&mut found, names, (path, &mut 0));
        (found.programs.into_iter().collect(), found.not_looked)
    }

    #[test]
    fn programs_are_found_on_the_path_that_is_given() {
        let answer = |name: &str, there| (name.to_owned(), there);
        let (found, _) = looked_up(Some("/nowhere:/bin:/usr/bin"), &["sh", "no-such-program"]);
        assert_eq!(
            found,
            [answer("no-such-program", false), answer("sh", true)]
        );
        let (found, _) = looked_up(Some("/nowhere"), &["sh"]);
        assert_eq!(found, [answer("sh", false)]);
        let whole = ["/bin/sh", "/bin/no-such", "/bin/sh/below", "/bin"];
        for path in [None, Some("/nowhere")] {
            let (found, left) = looked_up(path, &whole);
            let there: Vec<_> = found.iter().filter(|(_, there)| *there).collect();
            assert_eq!((found.len(), left), (4, 0));
            assert_eq!(there, [&answer("/bin/sh", true)]);
        }
    }

    #[test]
    fn b31_an_empty_path_has_no_program_and_what_is_empty_in_one_is_the_working_directory() {
        let (found, left) = looked_up(Some(""), &["sh"]);
        assert_eq!((found, left), (vec![("sh".to_owned(), false)], 0));
        let needs = |path: &str, here: &str| FoundNeeds {
            programs: [("sh".to_owned(), false), (format!("{here}/sh"), true)].into(),
            search_path: Some(path.to_owned()),
            ..FoundNeeds::default()
        };
        let (bin, other) = (Path::new("/bin"), Path::new("/srv"));
        for path in ["", "/nowhere:", ":/nowhere", "/nowhere::/none"] {
            assert!(!needs(path, "/bin").lacks("sh", Some(bin)), "{path}");
        }
        assert!(!needs("x/y", "/bin/x/y").lacks("sh", Some(bin)));
        assert!(needs("/nowhere", "/bin").lacks("sh", Some(bin)));
        assert!(needs("/nowhere", "/bin").lacks("sh", None));
        // Nobody looked there, or where it is is not known.
        assert!(!needs("", "/bin").lacks("sh", Some(other)));
        assert!(!needs("", "/bin").lacks("sh", None));
    }

    #[test]
    fn what_cannot_be_looked_at_is_not_missing() {
        let nothing = |counted| (Vec::new(), counted);
        // No PATH is known, and a path that begins in a directory of the job's.
        assert_eq!(looked_up(None, &["sh", "bin/python"]), nothing(0));
        assert_eq!(looked_up(Some("/bin"), &["../bin/sh"]), nothing(0));
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path().display().to_string();
        std::os::unix::fs::symlink("x", dir.path().join("x")).unwrap();
        let whole = format!("{here}/x");
        assert_eq!(looked_up(None, &[&whole]), nothing(1));
        assert_eq!(
            looked_up(Some(&format!("{here}:/nowhere")), &["x"]),
            nothing(1)
        );
        let mut found = FoundNeeds::default();
        let names = BTreeSet::from(["/bin/sh".to_owned()]);
        look_up(&mut found, names, (None, &mut HANGING.clone()));
        assert_eq!((found.programs.len(), found.not_looked), (0, 1));
    }
}
