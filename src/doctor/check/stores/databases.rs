//! The databases: can they be read, are they sound, of a version that is known, held by a writer.

use super::content::{seen, troubled};
use crate::doctor::check::homes::{self, each};
use crate::doctor::check::{Check, Group, Outcome};
use crate::doctor::evidence::read::Trouble;
use crate::doctor::evidence::{Evidence, HomeEvidence, Part, Read};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity};
use crate::host::locks::SqliteRole;

/// The check of databases.
pub(in crate::doctor::check) const CHECKS: &[Check] = &[Check {
    id: "stores-databases",
    group: Group::Stores,
    title: "the databases can be read, are sound, and are of a version that is known",
    codes: &["HM802", "HM809", "HM811", "HM812"],
    reads: &[
        Part::Shell,
        Part::Files,
        Part::Locks,
        Part::Jobs,
        Part::Ledger,
        Part::State,
        Part::Registry,
        Part::Kanban,
        Part::Soundness,
    ],
    run: databases,
}];

/// The newest version of `state.db` that was studied.
const SCHEMA: i64 = 31;

fn databases(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        let found = &home.databases;
        let troubles = [
            ("cron/executions.db", found.ledger.trouble()),
            ("state.db", found.state.trouble()),
            ("kanban.db", found.kanban.trouble()),
            ("runtime/active_sessions.json", found.registry.trouble()),
        ];
        for (path, trouble) in troubles {
            if let Some(trouble) = trouble {
                troubled(evidence, home, (path, trouble), outcome);
            }
        }
        for (path, lines) in &found.complaints {
            let first = lines.first().map_or("", String::as_str);
            let trouble = Trouble::damaged("malformed", format!("malformed: {first}"));
            outcome.find(damaged(home, path, &trouble));
        }
        tables(home, outcome);
        locked(home, outcome);
    })
}

pub(super) fn damaged(home: &HomeEvidence, path: &'static str, trouble: &Trouble) -> Finding {
    let name = home.path(path);
    let empty = trouble.slug == "empty";
    let finding = Finding::new(
        "HM809",
        homes::file(home, path),
        format!("{path} is damaged: {}", trouble.words()),
    )
    .seen(seen(home, path, trouble).at_stage(trouble.slug))
    .because_of("HM807");
    let aside = format!("{name}.damaged");
    let finding = if empty {
        finding.severity(Severity::Warning)
    } else {
        finding
    };
    finding.remedy(
        Remedy::user(
            ["mv", "-n", &name, &aside],
            "puts it aside, with everything stopped; a new one is made at the next start",
        )
        .undo(["mv", "-n", &aside, &name])
        .verify(homes::verify(home)),
    )
}

pub(super) fn newer(home: &HomeEvidence, path: &'static str, words: &str) -> Finding {
    Finding::new(
        "HM812",
        homes::file(home, path),
        format!("{path} was written by a newer program: {words}"),
    )
    .seen(Observation::new("read", home.path(path), words))
    .remedy(
        Remedy::user(
            ["hermes", "--version"],
            "says which version this is; update it",
        )
        .verify(homes::verify(home)),
    )
}

/// Tables and versions that are not what they should be.
fn tables(home: &HomeEvidence, outcome: &mut Outcome) {
    let found = &home.databases;
    if found
        .ledger
        .got()
        .is_some_and(|ledger| ledger.executions.is_none())
    {
        let trouble = Trouble::damaged("no-table", "it has no table 'executions'");
        outcome.find(damaged(home, "cron/executions.db", &trouble));
    }
    let schema = found.state.got().and_then(|state| state.schema);
    if let Some(version) = schema.filter(|version| *version > SCHEMA) {
        let words = format!("schema {version}, and {SCHEMA} is the newest that is known");
        outcome.find(newer(home, "state.db", &words));
    }
    let ran = home
        .jobs
        .got()
        .is_some_and(|store| store.jobs.iter().any(|job| job.stamps.last_run.is_some()));
    if let (Some(trouble), true) = (home.jobs.trouble(), found.ledger.is_absent()) {
        let what = "whether jobs have run, so that a ledger should be there";
        outcome.could_not(what, &trouble.gap());
    }
    if ran && found.ledger.is_absent() {
        let trouble = Trouble::damaged("missing", "it is missing, though jobs have run");
        let finding = damaged(home, "cron/executions.db", &trouble);
        let mut finding = finding.severity(Severity::Warning);
        finding.remedies = vec![
            Remedy::user(homes::ours(home, ["cron", "tick"]), "makes an empty one")
                .verify(homes::verify(home)),
        ];
        outcome.find(finding);
    }
    if let Some(Some(board)) = found.kanban.got()
        && !board.missing_columns.is_empty()
    {
        let columns = board.missing_columns.join(", ");
        let trouble = Trouble::damaged("no-columns", format!("its tasks lack {columns}"));
        outcome.find(damaged(home, "kanban.db", &trouble).severity(Severity::Warning));
    }
}

/// Locks that keep others from writing, seen twice.
fn locked(home: &HomeEvidence, outcome: &mut Outcome) {
    for (path, lock) in &home.held_databases {
        let lock = match lock {
            Read::Got(lock) => lock,
            Read::Absent => continue,
            Read::Unreadable(trouble) => {
                outcome.could_not(format!("who holds {path}"), &trouble.gap());
                continue;
            }
        };
        let who = lock.holder.pids().first().map_or_else(
            || "a process that cannot be seen from here".to_owned(),
            |pid| format!("pid {pid}"),
        );
        let how = match lock.role {
            SqliteRole::Exclusive => "keeps everybody out of",
            SqliteRole::Pending => "waits to write to",
            _ => "goes on writing to",
        };
        let finding = Finding::new(
            "HM811",
            homes::file(home, path),
            format!("{who} {how} {path}"),
        )
        .seen(Observation::new(
            "lock",
            home.path(path),
            format!("{:?}", lock.role),
        ));
        let finding = match lock.holder.pids().first() {
            Some(pid) => finding.remedy(
                Remedy::user(
                    ["ps", "-o", "pid,lstart,cmd", "-p", &pid.to_string()],
                    "shows what holds it",
                )
                .verify(homes::verify(home)),
            ),
            None => finding.remedy(
                Remedy::root(["lsof", &home.path(path)], "shows what has it open")
                    .verify(homes::verify(home)),
            ),
        };
        outcome.find(finding);
    }
}
