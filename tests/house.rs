//! The plan of the house as a test: who may look at whom, who may touch the world, which file is the
//! window of which foreign crate, how long a file may be, and words that stay out.
//!
//! It reads the sources as text. What stands behind `#[cfg(test)]` is free: tests may touch anything.

mod reading;

use std::fmt::Write as _;
use std::path::Path;

use reading::{names_foreign, names_of_crate, sources};

/// May be used anywhere.
const EVERYWHERE: [&str; 5] = ["bounded", "clock", "error", "fault", "output"];

/// Windows, and the windows that each may look at.
const WINDOWS: &[(&str, &[&str])] = &[
    ("bounded", &[]),
    ("bus", &[]),
    ("child", &[]),
    ("clock", &[]),
    ("db", &["files"]),
    ("error", &[]),
    ("fault", &[]),
    ("files", &[]),
    ("home", &["files"]),
    ("output", &[]),
    ("runtime", &["home"]),
];

/// Rooms, and the windows and rooms that each may look at.
const ROOMS: &[(&str, &[&str])] = &[
    ("config", &["home", "files", "runtime"]),
    (
        "host",
        &["bus", "child", "config", "files", "home", "db", "runtime"],
    ),
    ("ledger", &["db", "home", "host"]),
    ("agent", &["child", "files", "home", "config", "runtime"]),
    (
        "dispatch",
        &["host", "ledger", "agent", "bus", "child", "config", "db"],
    ),
    (
        "cron",
        &[
            "dispatch", "ledger", "agent", "config", "host", "bus", "child", "db", "files", "home",
            "runtime",
        ],
    ),
    (
        "timers",
        &[
            "agent", "dispatch", "cron", "ledger", "config", "host", "db", "home", "runtime",
        ],
    ),
    (
        "sessions",
        &["timers", "config", "host", "db", "files", "home", "runtime"],
    ),
    (
        "server",
        &[
            "sessions", "timers", "cron", "agent", "dispatch", "ledger", "config", "host", "bus",
            "child", "db", "files", "home", "runtime",
        ],
    ),
    (
        "doctor",
        &[
            "host", "config", "cron", "ledger", "timers", "sessions", "dispatch", "agent", "bus",
            "child", "db", "files", "home", "runtime",
        ],
    ),
];

/// Words in the path of a file of a room that touches the world. Every other file of a room is pure.
const UNPLUGGED: [&str; 21] = [
    "worker",
    "rows",
    "file",
    "files",
    "lock",
    "locks",
    "probe",
    "proc",
    "launcher",
    "driver",
    "dispatcher",
    "handover",
    "scope",
    "runner",
    "ticker",
    "sweep",
    "store",
    "settings",
    "gather",
    "run",
    "confine",
];

/// Files of rooms that touch the world although their name does not say so, each with its reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "src/doctor/evidence/read.rs",
        "names an error number of the system",
    ),
    ("src/ledger/incidents.rs", "the rows of incidents"),
    ("src/cron/delivery.rs", "hands results to commands"),
    ("src/cron/output.rs", "writes documents and logs of runs"),
    (
        "src/fault.rs",
        "kills this process where a test asks for it",
    ),
    (
        "src/dispatch/placement.rs",
        "asks the managers, through `bus`",
    ),
];

/// What touches the world, or could stand still.
const IMPURE: [&str; 23] = [
    "std::fs",
    "TcpStream",
    "TcpListener",
    "UnixStream",
    "UnixListener",
    "std::os",
    "std::process",
    "std::thread",
    "std::env",
    "std::sync::mpsc",
    "fs_err",
    "tempfile::",
    "tokio::",
    "zbus::",
    "rusqlite::",
    "rustix::",
    "nix::",
    "landlock::",
    "crate::child",
    "crate::files",
    "SystemClock",
    "async fn",
    "async move",
];

/// Foreign crates, and the paths of their windows: a directory, a file, or a word of the file's name.
const CRATES: &[(&str, &[&str])] = &[
    ("rusqlite", &["src/db/", "rows", "src/ledger/", "store"]),
    ("zbus", &["src/bus/", "src/bus.rs"]),
    ("comfy_table", &["src/output/"]),
    ("owo_colors", &["src/output/"]),
    ("unicode_width", &["src/output/"]),
    ("serde_saphyr", &["src/config/"]),
    ("toml", &["src/config/"]),
    ("landlock", &["src/doctor/confine.rs"]),
    ("clap", &["commands/"]),
    ("clap_complete", &["commands/"]),
    ("clap_mangen", &["commands/"]),
];

/// Words that stay out of the sources, put together here so that this file does not hold them.
fn forbidden() -> Vec<String> {
    [
        ("todo", "!"),
        ("dbg", "!"),
        ("unimplemented", "!"),
        ("FIX", "ME"),
        ("XX", "X:"),
        ("TO", "DO"),
    ]
    .iter()
    .map(|(head, tail)| format!("{head}{tail}"))
    .collect()
}

/// Files aim at 300 lines; beyond this many they have two nouns in them.
const LONGEST: usize = 450;

fn is_unplugged(path: &str) -> bool {
    let below = path.strip_prefix("src/").unwrap_or(path);
    let mut words = below.split(['/', '_', '.']).skip(1);
    words.any(|word| UNPLUGGED.contains(&word)) || EXCEPTIONS.iter().any(|(file, _)| *file == path)
}

fn assert_none(breaches: &[String], rule: &str) {
    let mut list = String::new();
    for breach in breaches {
        let _infallible = writeln!(list, "  {breach}");
    }
    assert!(breaches.is_empty(), "{rule}:\n{list}");
}

#[test]
fn imports_run_from_doors_to_rooms_to_windows() {
    let mut breaches = Vec::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        let Some(place) = source.place().filter(|place| *place != "lib") else {
            continue;
        };
        let plan = WINDOWS.iter().chain(ROOMS).find(|(name, _)| *name == place);
        let Some((_, allowed)) = plan else {
            breaches.push(format!("{}: '{place}' is not on the plan", source.path));
            continue;
        };
        for (number, line) in source.statements() {
            for name in names_of_crate(&line) {
                let fine = name == place || EVERYWHERE.contains(&name) || allowed.contains(&name);
                // An item of the root itself, like a macro, has no room.
                let known = WINDOWS.iter().chain(ROOMS).any(|(room, _)| *room == name);
                if known && !fine {
                    breaches.push(format!("{}:{number}: {place} looks at {name}", source.path));
                }
            }
        }
    }
    assert_none(&breaches, "imports against the plan");
}

#[test]
fn the_plan_that_people_read_names_every_window_and_room() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("CONTRIBUTING.md");
    let text = std::fs::read_to_string(path).expect("CONTRIBUTING.md");
    for (name, _) in WINDOWS.iter().chain(ROOMS) {
        assert!(text.contains(&format!("`{name}`")), "{name} is not named");
    }
}

#[test]
fn the_plan_itself_has_no_ring() {
    let order: Vec<_> = WINDOWS.iter().chain(ROOMS).map(|(name, _)| *name).collect();
    for (index, (name, allowed)) in ROOMS.iter().enumerate() {
        for other in *allowed {
            let place = ROOMS.iter().position(|(room, _)| room == other);
            assert!(
                place.is_none_or(|place| place < index),
                "{name} looks up at {other}"
            );
            assert!(order.contains(other), "{other} is not on the plan");
        }
    }
}

#[test]
fn only_what_could_be_unplugged_touches_the_world() {
    let mut breaches = Vec::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        let in_room = source
            .place()
            .is_some_and(|place| ROOMS.iter().any(|(room, _)| *room == place));
        // The hall is all edges, but for its heart.
        let edge = source.path.starts_with("src/server/") && !source.path.contains("/hub");
        if !in_room || edge || is_unplugged(&source.path) {
            continue;
        }
        for (number, line) in source.code() {
            for word in IMPURE.iter().filter(|word| line.contains(**word)) {
                breaches.push(format!(
                    "{}:{number}: a pure file names {word}",
                    source.path
                ));
            }
        }
    }
    assert_none(&breaches, "pure files that touch the world");
}

#[test]
fn exceptions_are_still_needed() {
    let all = sources();
    for (file, reason) in EXCEPTIONS {
        let source = all.iter().find(|source| source.path == *file);
        let Some(source) = source else {
            continue;
        };
        let touches = source
            .code()
            .any(|(_, line)| IMPURE.iter().any(|word| line.contains(word)));
        assert!(
            touches,
            "{file} is pure now; its exception can go ({reason})"
        );
    }
}

#[test]
fn each_foreign_crate_has_one_window() {
    let mut breaches = Vec::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        for (name, windows) in CRATES {
            if windows.iter().any(|window| source.path.contains(window)) {
                continue;
            }
            for (number, line) in source.code().filter(|(_, line)| names_foreign(line, name)) {
                let line = line.trim();
                breaches.push(format!("{}:{number}: names {name}: {line}", source.path));
            }
        }
    }
    assert_none(&breaches, "foreign crates outside of their window");
}

#[test]
fn files_are_short_and_say_what_they_own() {
    let mut breaches = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        if lines > LONGEST {
            breaches.push(format!("{}: {lines} lines, {LONGEST} at most", source.path));
        }
        if !source.text.starts_with("//!") {
            breaches.push(format!("{}: does not open with //!", source.path));
        }
    }
    assert_none(&breaches, "files against the rules");
}

#[test]
fn forbidden_words_stay_out() {
    let words = forbidden();
    let mut breaches = Vec::new();
    for source in sources() {
        for (index, line) in source.text.lines().enumerate() {
            for word in words.iter().filter(|word| line.contains(word.as_str())) {
                breaches.push(format!("{}:{}: {word}", source.path, index + 1));
            }
            let number = index + 1;
            if line.trim_start().starts_with("#[allow(") || line.starts_with("#![allow(") {
                breaches.push(format!("{}:{number}: allow; write expect", source.path));
            }
        }
    }
    assert_none(&breaches, "words that stay out");
}

#[test]
fn the_reader_of_imports_reads_them() {
    assert_eq!(names_of_crate("use crate::host::Facts;"), ["host"]);
    assert_eq!(
        names_of_crate("use crate::{db, host::Facts};"),
        ["db", "host"]
    );
    assert_eq!(names_of_crate("x: crate::bus::Door,"), ["bus"]);
    assert_eq!(names_of_crate("use this_crate::bus;"), [""; 0]);
    assert!(names_foreign("use zbus::Connection;", "zbus"));
    assert!(names_foreign("    zbus::names::x()", "zbus"));
    assert!(!names_foreign("bus::zbus::x", "zbus"));
    assert!(!names_foreign("let zbus = 1;", "zbus"));
    assert!(is_unplugged("src/host/bus_probe/doors.rs"));
    assert!(is_unplugged("src/cron/jobs_file.rs"));
    assert!(!is_unplugged("src/cron/next.rs"));
    assert!(!is_unplugged("src/files.rs"));
}
