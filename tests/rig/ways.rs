//! The list of README.md: every way out that a report of this suite prints, by its code and what it does,
//! with the row that runs it. None may be printed that is not listed, and a row runs all that the list
//! gives to it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::Value;

use super::report::over;

/// A code, and what the way out does.
type Way = (String, String);

/// Who runs a way out.
struct Runner {
    /// The row; without one where none can.
    row: Option<String>,
    /// It is offered by a systemd alone in which logind does not lead.
    older: bool,
}

impl Runner {
    fn is(&self, row: &str) -> bool {
        self.row.as_deref() == Some(row)
    }
}

static LISTED: LazyLock<BTreeMap<Way, Runner>> = LazyLock::new(|| {
    let lines = include_str!("README.md").lines();
    let cells = lines.filter_map(|line| line.strip_prefix("| HM")?.strip_suffix(" |"));
    let ways = cells.filter_map(|line| match line.split(" | ").collect::<Vec<_>>()[..] {
        [code, effect, row] => {
            let named = row.strip_prefix('`').and_then(|row| row.split_once('`'));
            let runner = Runner {
                row: named.map(|(row, _)| row.to_owned()),
                older: named.is_some_and(|(_, rest)| rest == " (252)"),
            };
            Some(((format!("HM{code}"), effect.to_owned()), runner))
        }
        _ => None,
    });
    ways.collect()
});

thread_local! {
    /// What this row has run; each test has a thread of its own.
    static RAN: RefCell<BTreeSet<Way>> = RefCell::default();
    /// More rigs are to come.
    static PARTLY: Cell<bool> = const { Cell::new(false) };
}

/// Ways out that no row runs, each with its reason in the list.
pub(super) fn not_run() -> impl Iterator<Item = &'static Way> {
    let listed = LISTED.iter();
    listed.filter_map(|(way, runner)| runner.row.is_none().then_some(way))
}

/// The row that is at work.
fn row() -> String {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or_default();
    name.trim_start_matches("rig::").to_owned()
}

fn way(finding: &Value, remedy: &Value) -> Way {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&finding["code"]), text(&remedy["effect"]))
}

/// All ways out of a document are listed.
pub(super) fn are_listed(document: &Value) {
    let findings = document["findings"].as_array().into_iter().flatten();
    for finding in findings {
        for remedy in finding["remedies"].as_array().into_iter().flatten() {
            let way = way(finding, remedy);
            if !LISTED.contains_key(&way) {
                over(&format!("README.md lists no row that runs it: {way:?}"));
            }
        }
    }
}

/// Whether this row has to run it.
pub(super) fn is_due(finding: &Value, remedy: &Value) -> bool {
    let row = row();
    let way = way(finding, remedy);
    LISTED.get(&way).is_some_and(|runner| runner.is(&row))
}

/// It was run, and what verifies it succeeded.
pub(super) fn ran(finding: &Value, remedy: &Value) {
    RAN.with_borrow_mut(|ran| ran.insert(way(finding, remedy)));
}

/// Does something in which a rig may go before all has been run. It answers what `row_is_done` asks.
pub(super) fn meanwhile(steps: impl FnOnce() -> bool) {
    PARTLY.set(true);
    let leads = steps();
    PARTLY.set(false);
    row_is_done(leads);
}

/// This row has run all that the list gives to it, in a systemd in which logind leads, or not.
pub(super) fn row_is_done(leads: bool) {
    if PARTLY.get() {
        return;
    }
    let row = row();
    let due = LISTED
        .iter()
        .filter(|(_, runner)| runner.is(&row) && !(runner.older && leads));
    let mut left = RAN.with_borrow(|ran| {
        due.map(|(way, _)| way)
            .filter(|way| !ran.contains(*way))
            .collect::<Vec<_>>()
    });
    left.sort();
    assert!(left.is_empty(), "README.md says that it is run: {left:?}");
}
