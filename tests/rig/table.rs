//! The table of README.md is of this suite, and of all of it.

use std::collections::BTreeSet;
use std::path::Path;

use hermes::doctor::catalog::{self, ClearedBy};

use super::ways;

/// Where the name of a test follows; but not in this very line.
const MARK: &str = "#[ignore = \"boots a ";

/// Names of the tests in these files, as `file::test`.
fn tests() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rig");
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        let Some(file) = path.to_str().and_then(|path| path.strip_suffix(".rs")) else {
            continue;
        };
        let file = file.rsplit('/').next().unwrap_or_default();
        let text = std::fs::read_to_string(&path).expect("a file");
        for rest in text.split(MARK).skip(1) {
            let name = rest
                .split_once("fn ")
                .and_then(|(_, rest)| rest.split_once('('));
            names.extend(name.map(|(name, _)| format!("{file}::{name}")));
        }
    }
    names
}

#[test]
fn every_test_has_its_row_and_every_row_its_test() {
    let table = include_str!("README.md");
    let named: BTreeSet<String> = table
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| word.contains("::") && !word.starts_with("Rig::"))
        .map(str::to_owned)
        .collect();
    assert_eq!(named, tests());
}

#[test]
fn every_code_of_a_host_that_a_remedy_clears_is_in_the_list_of_ways_out() {
    let (_, list) = include_str!("README.md")
        .split_once("## Ways out")
        .expect("the list");
    let of_host = catalog::all().filter(|entry| entry.code < "HM400");
    let mut cleared = of_host.filter(|entry| entry.cleared_by == ClearedBy::Remedy);
    let left = cleared.find(|entry| !list.contains(entry.code));
    assert!(left.is_none(), "{left:?}");
}

/// What is run is known to be printed; what is not run could have gone.
#[test]
fn every_way_out_that_is_not_run_is_one_of_a_check() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/doctor/check");
    let sources: String = std::fs::read_dir(folder)
        .expect("the checks")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| std::fs::read_to_string(path).expect("a file"))
        .collect();
    for (code, effect) in ways::not_run() {
        assert!(
            sources.contains(&format!("\"{effect}\"")),
            "{code} offers no such thing: {effect}"
        );
    }
}
