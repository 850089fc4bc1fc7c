//! What a script of a job needs: where it lies, what runs it, and the programs that it calls.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

use crate::cron::task::Script;
use crate::doctor::evidence::home::PlaceSeen;
use crate::host::facts::{OwnName, Program};

/// So much of a script is read.
const MOST: u64 = 64 * 1024;
/// Programs that are looked for in a shell script: what nearly every one calls, and this program.
const CALLED: [&str; 4] = ["date", "head", "ls", OwnName::BARE];
/// Words that a command may follow.
const BEFORE: [&str; 11] = [
    "!", "do", "elif", "else", "exec", "if", "then", "time", "until", "while", "{",
];

/// What a look at a script says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// What is there.
    pub(super) place: PlaceSeen,
    /// The program that runs it: by its ending, else by its first line.
    pub(super) runner: Option<String>,
    /// Programs that it calls by bare name.
    pub(super) calls: BTreeSet<String>,
}

impl From<PlaceSeen> for Seen {
    fn from(place: PlaceSeen) -> Self {
        Self {
            place,
            runner: None,
            calls: BTreeSet::new(),
        }
    }
}

/// Looks at a script that this program would run.
pub(super) fn look(scripts: &Path, name: &str, program: Program) -> Seen {
    let path = scripts.join(name);
    let place = match place(&path) {
        PlaceSeen::File => inside(&path, scripts),
        other => other,
    };
    let text = match place {
        PlaceSeen::File => text(&path).unwrap_or_default(),
        _ => String::new(),
    };
    let runner = runner(&path, &text, program);
    let base = runner
        .as_deref()
        .and_then(|runner| runner.rsplit('/').next());
    let is_shell = matches!(base, Some("sh" | "bash" | "dash"));
    let mut calls = if is_shell {
        calls(&text)
    } else {
        BTreeSet::new()
    };
    if program == Program::Ours {
        // Its jobs find it whatever the PATH is.
        calls.remove(OwnName::BARE);
    }
    Seen {
        place,
        runner,
        calls,
    }
}

/// What lies at a path.
pub(super) fn place(path: &Path) -> PlaceSeen {
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

fn text(path: &Path) -> Option<String> {
    let file = std::fs::File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut head = Vec::new();
    file.take(MOST).read_to_end(&mut head).ok()?;
    Some(String::from_utf8_lossy(&head).into_owned())
}

/// The program that runs a script, as it is looked up. Hermes Agent runs what no shell runs by its own
/// interpreter, and takes `/bin/bash` where its `PATH` has no bash.
fn runner(path: &Path, text: &str, program: Program) -> Option<String> {
    let script = Script {
        path: path.to_owned(),
        interpreter: None,
    };
    let by_ending = script.argv();
    let by_ending = by_ending.first().filter(|_| by_ending.len() > 1);
    match (program, by_ending) {
        (Program::Ours, Some(runner)) => Some(runner.clone()),
        (Program::Ours, None) => text.lines().next().and_then(shebang),
        (Program::HermesAgent, Some(runner)) if runner == "bash" => {
            let fixed = Path::new("/bin/bash").is_file();
            Some(if fixed { "/bin/bash" } else { runner }.to_owned())
        }
        (Program::HermesAgent, _) => None,
    }
}

/// The program that a first line names: `#!/usr/bin/env -S python3 -u` is `python3`.
fn shebang(line: &str) -> Option<String> {
    let mut words = line.strip_prefix("#!")?.split_whitespace();
    let program = words.next()?;
    if !program.ends_with("/env") {
        return program.starts_with('/').then(|| program.to_owned());
    }
    let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    Some(name.to_owned())
}

/// Which of those that are looked for a shell script calls. A script that sets its own `PATH`, or makes
/// sure of a program itself, knows better.
fn calls(text: &str) -> BTreeSet<String> {
    if text.contains("PATH=") {
        return BTreeSet::new();
    }
    let lines = text.lines().map(str::trim_start);
    let lines = lines.filter(|line| !line.starts_with('#'));
    let commands = lines.flat_map(|line| line.split([';', '&', '|', '`']).flat_map(first_words));
    let called: BTreeSet<&str> = commands.collect();
    let known = CALLED.iter().filter(|name| called.contains(*name));
    let known = known.filter(|name| !is_made_sure_of(text, name));
    known.map(|name| (*name).to_owned()).collect()
}

/// The words with which a piece of a line, and each bracket in it, begins.
fn first_words(piece: &str) -> impl Iterator<Item = &str> {
    piece.split('(').enumerate().filter_map(|(depth, inner)| {
        let word = inner
            .split_whitespace()
            .find(|word| !BEFORE.contains(word) && !word.contains('='))?;
        // Outside of brackets a closing one ends the label of a case.
        match depth {
            0 => Some(word),
            _ => word.split(')').next(),
        }
    })
}

fn is_made_sure_of(text: &str, name: &str) -> bool {
    let asked = ["command -v", "which", "type", "hash", "function", "alias"];
    let asked = asked
        .iter()
        .any(|word| text.contains(&format!("{word} {name}")));
    asked || text.contains(&format!("{name}()"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_names_its_program() {
        for (line, name) in [
            ("#!/usr/bin/env python3", Some("python3")),
            ("#!/usr/bin/env -S A=b uv run", Some("uv")),
            ("#! /bin/sh -e", Some("/bin/sh")),
            ("#!/usr/bin/env /opt/x", Some("/opt/x")),
            ("#!relative", None),
            ("echo", None),
        ] {
            assert_eq!(shebang(line).as_deref(), name, "{line}");
        }
    }

    #[test]
    fn b31_b32_what_a_shell_script_calls_is_seen() {
        for (text, called) in [
            ("hermes cron list | head -3\n", "head hermes"),
            (
                "x=$(date +%s)\nif ! ls /x; then A=b hermes y; fi",
                "date hermes ls",
            ),
            ("( ls )\n  date && echo `head f`", "date head ls"),
            (
                "# ls\necho ls date\n${date} $head\ncase x in date) ls.sh;; esac",
                "",
            ),
            ("export PATH=/opt/bin:$PATH\nhermes x", ""),
            ("command -v hermes || exit\nhermes x", ""),
            ("ls() { :; }\nls", ""),
        ] {
            let wanted: Vec<_> = called.split_whitespace().collect();
            assert_eq!(Vec::from_iter(calls(text)), wanted, "{text}");
        }
    }

    #[test]
    fn a_script_must_lie_inside_of_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        let scripts = dir.path().join("scripts");
        std::fs::create_dir(&scripts).unwrap();
        std::fs::write(scripts.join("in"), "#!/usr/bin/env perl\n").unwrap();
        std::fs::write(dir.path().join("out.sh"), "").unwrap();
        let seen = |name| look(&scripts, name, Program::Ours);
        assert_eq!(seen("in").place, PlaceSeen::File);
        assert_eq!(seen("in").runner.as_deref(), Some("perl"));
        assert!(matches!(seen("../out.sh").place, PlaceSeen::Outside(_)));
        assert_eq!(seen("no.sh").place, PlaceSeen::Missing);
    }

    #[test]
    fn who_runs_a_script_is_the_dispatchers_to_say() {
        let runner = |name: &str, program| runner(Path::new(name), "#!/opt/x\n", program);
        let ours = ["a.sh", "a.py", "a"].map(|name| runner(name, Program::Ours));
        assert_eq!(ours.map(Option::unwrap), ["bash", "python3", "/opt/x"]);
        let theirs = ["a.py", "a"].map(|name| runner(name, Program::HermesAgent));
        assert_eq!(theirs, [None, None]);
        let bash = runner("a.sh", Program::HermesAgent).unwrap();
        assert!(bash.ends_with("bash"), "{bash}");
    }
}
