//! Looks up what armed jobs need: scripts, working directories, programs. A path on a dead network
//! mount can hang for ever, so every look has a deadline, on a thread of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use crate::doctor::evidence::home::{FoundNeeds, PlaceSeen, ScriptSeen};
use crate::doctor::evidence::jobs::JobStore;
use crate::home::Home;
use crate::host::Facts;

/// How long one path may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Paths that may hang before the others are not looked at any more.
const HANGING: usize = 2;
/// Different scripts and directories that are looked at.
const MOST: usize = 2_000;

/// Looks up what the armed jobs of this store need.
pub(super) fn look(home: &Home, store: &JobStore, facts: &Facts) -> FoundNeeds {
    let mut found = FoundNeeds::default();
    let mut patience = Patience::default();
    let scripts_dir = home.join("scripts");
    let mut programs = BTreeSet::new();
    for job in store.armed() {
        let needs = &job.needs;
        programs.extend(needs.interpreter.clone().filter(|name| !name.contains('/')));
        for script in [&needs.script, &needs.monitor_script].into_iter().flatten() {
            if found.scripts.len() < MOST && !found.scripts.contains_key(script) {
                let seen = patience.script(&scripts_dir, script);
                found.scripts.insert(script.clone(), seen);
            }
        }
        if let Some(workdir) = &needs.workdir
            && found.workdirs.len() < MOST
            && !found.workdirs.contains_key(workdir)
        {
            let seen = patience.place(Path::new(workdir));
            found.workdirs.insert(workdir.clone(), seen);
        }
    }
    programs.extend(
        found
            .scripts
            .values()
            .filter_map(|script| script.interpreter.clone()),
    );
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
            let mut places = path
                .split(':')
                .map(|directory| Path::new(directory).join(&name));
            let found = places.find(|place| is_program(place));
            (name, found)
        })
        .collect()
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path)
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// How long a look may take, and how many have hung so far.
struct Patience {
    each: Duration,
    hung: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            each: PATIENCE,
            hung: 0,
        }
    }
}

impl Patience {
    /// Runs a look on a thread of its own; one that hangs is left behind.
    fn bounded<T: Send + 'static>(
        &mut self,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        if self.hung >= HANGING {
            return None;
        }
        let (send, receive) = mpsc::channel();
        let spawned = std::thread::Builder::new().spawn(move || {
            // Nobody listens any more after the deadline.
            send.send(look()).ok();
        });
        spawned.ok()?;
        let answer = receive.recv_timeout(self.each).ok();
        if answer.is_none() {
            self.hung += 1;
        }
        answer
    }

    fn place(&mut self, path: &Path) -> PlaceSeen {
        let path = path.to_path_buf();
        self.bounded(move || place(&path))
            .unwrap_or(PlaceSeen::Hangs)
    }

    fn script(&mut self, scripts: &Path, name: &str) -> ScriptSeen {
        let path = scripts.join(name);
        let (scripts, at) = (scripts.to_path_buf(), path.clone());
        let look = move || {
            let seen = match place(&at) {
                PlaceSeen::File => inside(&at, &scripts),
                other => other,
            };
            let interpreter = match seen {
                PlaceSeen::File => first_line(&at).and_then(|line| shebang(&line)),
                _ => None,
            };
            (seen, interpreter)
        };
        let (place, interpreter) = self.bounded(look).unwrap_or((PlaceSeen::Hangs, None));
        ScriptSeen {
            path,
            place,
            interpreter,
        }
    }
}

fn place(path: &Path) -> PlaceSeen {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => PlaceSeen::Directory,
        Ok(_) => PlaceSeen::File,
        Err(error) => match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => PlaceSeen::Missing,
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
        let mut patience = Patience::default();
        let seen = patience.script(&scripts, "in.sh");
        assert_eq!(seen.place, PlaceSeen::File);
        assert_eq!(seen.interpreter.as_deref(), Some("bash"));
        let seen = patience.script(&scripts, "../out.sh");
        assert!(matches!(seen.place, PlaceSeen::Outside(_)));
        assert_eq!(patience.script(&scripts, "no.sh").place, PlaceSeen::Missing);
    }

    #[test]
    fn b50_a_look_that_hangs_is_left_behind_and_soon_no_more_are_begun() {
        let mut patience = Patience {
            each: Duration::from_millis(5),
            hung: 0,
        };
        for _ in 0..HANGING {
            let (_open, never) = mpsc::channel::<()>();
            assert_eq!(patience.bounded(move || never.recv()), None);
        }
        let begun = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let flag = begun.clone();
        let look = move || flag.store(true, std::sync::atomic::Ordering::SeqCst);
        assert_eq!(patience.bounded(look), None);
        assert!(!begun.load(std::sync::atomic::Ordering::SeqCst));
    }

    #[test]
    fn programs_are_found_on_the_path_that_is_given() {
        let names = || BTreeSet::from(["sh".to_owned(), "no-such-program".to_owned()]);
        let found = lookup("/nowhere:/bin:/usr/bin", names());
        assert!(found["sh"].is_some() && found["no-such-program"].is_none());
        assert!(lookup("/nowhere", names())["sh"].is_none());
    }
}
