//! Looks up what armed jobs need: scripts, working directories, programs. A path on a dead network
//! mount can hang for ever, so every look has a deadline, on a thread of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::bounded;
use crate::doctor::evidence::home::{FoundNeeds, PlaceSeen, ScriptSeen};
use crate::doctor::evidence::jobs::JobStore;
use crate::home::Home;
use crate::host::Facts;
use crate::host::program_probe::on_path;

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
        programs.extend(needs.interpreter.clone().filter(|name| !name.contains('/')));
    }
    let mut found = FoundNeeds::default();
    let directory = home.join("scripts");
    found.not_looked = scripts.len().saturating_sub(MOST) + workdirs.len().saturating_sub(MOST);
    let names: Vec<String> = scripts.into_iter().take(MOST).collect();
    let mut hung = 0;
    let seen = all(names.clone(), (PATIENCE, &mut hung), move |name| {
        script(&directory, name)
    });
    for (name, seen) in names.into_iter().zip(seen) {
        let Some((place, interpreter)) = seen else {
            found.not_looked += 1;
            continue;
        };
        let script = ScriptSeen {
            path: home.join("scripts").join(&name),
            place,
            interpreter,
        };
        found.scripts.insert(name, script);
    }
    let names: Vec<String> = workdirs.into_iter().take(MOST).collect();
    let seen = all(names.clone(), (PATIENCE, &mut hung), |name| {
        (place(Path::new(name)), None)
    });
    for (name, seen) in names.into_iter().zip(seen) {
        match seen {
            Some((place, _)) => found.workdirs.extend([(name, place)]),
            None => found.not_looked += 1,
        }
    }
    let of_scripts = found.scripts.values();
    programs.extend(of_scripts.filter_map(|script| script.interpreter.clone()));
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
            let found = on_path(&name, path);
            (name, found)
        })
        .collect()
}

/// What a look says: what is there, and the program that its first line names.
type Seen = (PlaceSeen, Option<String>);

/// Looks at each of these on a thread of its own. A look that hangs is left behind with its thread, and
/// the next thread goes on; after a few of them, counted over all that is looked at, the rest is not
/// looked at: `None`.
fn all(
    names: Vec<String>,
    (patience, hung): (Duration, &mut usize),
    look: impl Fn(&str) -> Seen + Send + Sync + 'static,
) -> Vec<Option<Seen>> {
    let count = names.len();
    let shared = Arc::new((names, look));
    let mut seen: Vec<Option<Seen>> = Vec::with_capacity(count);
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
            seen.push(Some((PlaceSeen::Hangs, None)));
        }
    }
    seen.resize(count, None);
    seen
}

fn script(scripts: &Path, name: &str) -> Seen {
    let path = scripts.join(name);
    let seen = match place(&path) {
        PlaceSeen::File => inside(&path, scripts),
        other => other,
    };
    let interpreter = match seen {
        PlaceSeen::File => first_line(&path).and_then(|line| shebang(&line)),
        _ => None,
    };
    (seen, interpreter)
}

fn place(path: &Path) -> PlaceSeen {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => PlaceSeen::Directory,
        Ok(meta) if meta.is_file() => PlaceSeen::File,
        Ok(_) => PlaceSeen::Failed("not a regular file".to_owned()),
        Err(error) => match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => PlaceSeen::Missing,
            std::io::ErrorKind::PermissionDenied => PlaceSeen::Denied,
            _ => PlaceSeen::Failed(error.to_string()),
        },
    }
}

/// The other program runs no script that lies outside of `scripts/`, links followed.
fn inside(path: &Path, scripts: &Path) -> PlaceSeen {
    let (Ok(real), Ok(scripts)) = (path.canonicalize(), scripts.canonicalize()) else {
        return PlaceSeen::File;
    };
    if real.starts_with(scripts) {
        PlaceSeen::File
    } else {
        PlaceSeen::Outside(real)
    }
}

fn first_line(path: &Path) -> Option<String> {
    let file = std::fs::File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut head = Vec::new();
    file.take(256).read_to_end(&mut head).ok()?;
    let text = String::from_utf8_lossy(&head);
    Some(text.lines().next()?.to_owned())
}

/// The program that a first line names by bare name: `#!/usr/bin/env -S python3 -u` is `python3`.
fn shebang(line: &str) -> Option<String> {
    let mut words = line.strip_prefix("#!")?.split_whitespace();
    let program = words.next()?;
    if !program.ends_with("/env") {
        return None;
    }
    let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    (!name.contains('/')).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bare_names_of_a_first_line_are_looked_up() {
        for (line, name) in [
            ("#!/usr/bin/env python3", Some("python3")),
            ("#!/usr/bin/env -S A=b uv run", Some("uv")),
            ("#! /bin/sh -e", None),
            ("#!/usr/bin/env /opt/x", None),
            ("echo", None),
        ] {
            assert_eq!(shebang(line).as_deref(), name, "{line}");
        }
    }

    #[test]
    fn a_script_must_lie_inside_of_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        let scripts = dir.path().join("scripts");
        std::fs::create_dir(&scripts).unwrap();
        std::fs::write(scripts.join("in.sh"), "#!/usr/bin/env bash\n").unwrap();
        std::fs::write(dir.path().join("out.sh"), "").unwrap();
        let seen = |name| script(&scripts, name);
        assert_eq!(seen("in.sh"), (PlaceSeen::File, Some("bash".to_owned())));
        assert!(matches!(seen("../out.sh").0, PlaceSeen::Outside(_)));
        assert_eq!(seen("no.sh").0, PlaceSeen::Missing);
    }

    #[test]
    fn b50_a_look_that_hangs_is_left_behind_and_the_next_goes_on() {
        let (_open, never) = mpsc::channel::<()>();
        let never = std::sync::Mutex::new(never);
        let look = move |name: &str| {
            if name.starts_with("hang") {
                never.lock().unwrap().recv().ok();
            }
            (PlaceSeen::Missing, None)
        };
        let names = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (patience, mut hung) = (Duration::from_millis(20), 0);
        let listed = names(&["a", "hang1", "b", "hang2", "hang3", "c"]);
        let seen = all(listed, (patience, &mut hung), look);
        let hangs = Some((PlaceSeen::Hangs, None));
        let missing = Some((PlaceSeen::Missing, None));
        let wanted = [missing.clone(), hangs.clone(), missing, hangs, None, None];
        assert_eq!(seen, wanted);
        let seen = all(names(&["d"]), (patience, &mut hung), |_| {
            (PlaceSeen::Missing, None)
        });
        assert_eq!(seen, [None], "what hung before counts");
    }

    #[test]
    fn programs_are_found_on_the_path_that_is_given() {
        let names = || BTreeSet::from(["sh".to_owned(), "no-such-program".to_owned()]);
        let found = lookup("/nowhere:/bin:/usr/bin", names());
        assert!(found["sh"].is_some() && found["no-such-program"].is_none());
        assert!(lookup("/nowhere", names())["sh"].is_none());
    }
}
