//! How the sources are read as text: lines, imports, names.

use std::path::{Path, PathBuf};

/// One file.
pub(super) struct Source {
    /// Its path inside of the package.
    pub(super) path: String,
    /// All of it.
    pub(super) text: String,
}

impl Source {
    /// The lines that go into the program, without comments: number and text.
    pub(super) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let end = self
            .text
            .find("\n#[cfg(test)]\nmod tests")
            .unwrap_or(self.text.len());
        let live = self.text.get(..end).unwrap_or("");
        let lines = live
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line));
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// The same with each import on one line, however many it was written on: number of its first line.
    pub(super) fn statements(&self) -> Vec<(usize, String)> {
        let mut statements: Vec<(usize, String)> = Vec::new();
        let mut open = false;
        for (number, line) in self.code() {
            let begins = line.trim_start();
            let begins = begins.starts_with("use ") || begins.starts_with("pub use ");
            match statements.last_mut().filter(|_| open) {
                Some((_, import)) => import.push_str(line.trim()),
                None => statements.push((number, line.to_owned())),
            }
            open = (open || begins) && !line.contains(';');
        }
        statements
    }

    /// Its room or window: the first name under `src/`.
    pub(super) fn place(&self) -> Option<&str> {
        let below = self.path.strip_prefix("src/")?;
        let first = below.split('/').next()?;
        Some(first.strip_suffix(".rs").unwrap_or(first))
    }

    /// Whether it is compiled for tests only.
    pub(super) fn is_test(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or("");
        self.path.starts_with("tests/")
            || self.path.contains("tests/")
            || name.ends_with("tests.rs")
            || ["fake.rs", "testing.rs", "vectors.rs"].contains(&name)
    }
}

pub(super) fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for directory in ["src", "commands", "tests"] {
        collect(root, &root.join(directory), &mut found);
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(
        found.len() > 50,
        "the sources were not found under {}",
        root.display()
    );
    found
}

fn collect(root: &Path, directory: &Path, found: &mut Vec<Source>) {
    for entry in std::fs::read_dir(directory).expect("a directory of sources") {
        let path: PathBuf = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(Source {
                text: std::fs::read_to_string(&path).expect("a source file"),
                path: path
                    .strip_prefix(root)
                    .expect("inside")
                    .display()
                    .to_string(),
            });
        }
    }
}

/// Names right after `crate::` in this line, also those of a list in braces.
pub(super) fn names_of_crate(line: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (at, marker) in line.match_indices("crate::") {
        if line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &line[at + marker.len()..];
        let list = rest.strip_prefix('{').unwrap_or(rest);
        let parts = list
            .split([',', '}'])
            .take(if list == rest { 1 } else { usize::MAX });
        for part in parts {
            let end = part
                .trim()
                .find(|c: char| !(c.is_alphanumeric() || c == '_'));
            let name = part.trim();
            let name = &name[..end.unwrap_or(name.len())];
            if !name.is_empty() {
                names.push(name);
            }
        }
    }
    names
}

/// Whether this line names the crate: `zbus::` or `use zbus;`, not `my_zbus::`.
pub(super) fn names_foreign(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, found)| {
        let before = line[..at].chars().next_back();
        let after = &line[at + found.len()..];
        let free =
            before.is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == ':' || c == '"'));
        free && (after.starts_with("::")
            || (line.trim_start().starts_with("use ") && after.starts_with(';')))
    })
}

#[test]
fn an_import_over_several_lines_is_seen_whole() {
    let text = "use crate::{\n    bus::Door,\n    child::own_self,\n};\nfn f() {}\n";
    let source = Source {
        path: "src/host/x.rs".to_owned(),
        text: text.to_owned(),
    };
    let statements = source.statements();
    assert_eq!(statements.len(), 2, "{statements:?}");
    assert_eq!(names_of_crate(&statements[0].1), ["bus", "child"]);
    assert_eq!(statements[1].0, 5);
}
