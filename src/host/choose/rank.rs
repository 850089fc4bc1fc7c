//! Which of several processes or units comes first.

use crate::home::Home;
use crate::host::facts::{ChosenHome, ManagerKind, ProcessFacts, Program, Role, UnitFacts};
use crate::host::scheduler_owner::reaches;

use super::{Field, Wanted, owner};

/// The serve or gateway that answers best to what is wanted.
pub(super) fn best_process<'a>(field: &Field<'a>, wanted: &Wanted) -> Option<&'a ProcessFacts> {
    candidates(field, wanted).min_by_key(|process| {
        (
            preference(field, process.uid.known().copied()),
            !exact(
                process.home.known().map(std::path::PathBuf::as_path),
                wanted,
            ),
            ticks(process),
            may_stand_by(process),
            owner(process).is_none(),
            process.pid,
        )
    })
}

/// How many answer to it.
pub(super) fn count(field: &Field<'_>, wanted: &Wanted) -> usize {
    candidates(field, wanted).count()
}

fn candidates<'a>(field: &Field<'a>, wanted: &Wanted) -> impl Iterator<Item = &'a ProcessFacts> {
    field.processes.iter().filter(move |process| {
        let dispatches = matches!(process.role, Role::Serve | Role::Gateway);
        let matches = match wanted {
            Wanted::Home(home) => process
                .home
                .known()
                .is_some_and(|path| answers(field, (process.program, path), home)),
            Wanted::Account(account) => process.uid.known() == Some(&account.uid),
            Wanted::Any => true,
        };
        dispatches && !process.zombie && !process.nested && matches
    })
}

/// What fires jobs comes first: a gateway keeps all ticks from others, our serve ticks, a desktop's
/// backend ticks where neither runs, a plain serve of Hermes Agent never does.
fn ticks(process: &ProcessFacts) -> u8 {
    match (process.role, process.program, process.desktop.known()) {
        (Role::Gateway, ..) => 0,
        (_, Some(Program::Ours), _) => 1,
        (.., Some(true)) => 2,
        _ => 3,
    }
}

/// Under `sudo` who used it, then the caller, then others.
fn preference(field: &Field<'_>, uid: Option<u32>) -> u8 {
    if uid.is_some() && uid == field.sudo().map(|account| account.uid) {
        0
    } else if uid == Some(field.caller.uid) {
        1
    } else {
        2
    }
}

fn exact(path: Option<&std::path::Path>, wanted: &Wanted) -> bool {
    matches!(wanted, Wanted::Home(home) if path == Some(home.path.as_path()))
}

/// Whether what was given this path may serve the home that is wanted; where all profiles of a root are,
/// one of them.
fn answers(
    field: &Field<'_>,
    (program, path): (Option<Program>, &std::path::Path),
    home: &ChosenHome,
) -> bool {
    let wanted = Home::at(&home.path);
    let all = matches!(field.choice.profile.as_deref(), None | Some("all"));
    reaches(program, path, &wanted) || (all && Home::at(path).root() == wanted)
}

/// A serve of ours that holds no lock waits for that of its home.
fn may_stand_by(process: &ProcessFacts) -> bool {
    let ours = process.role == Role::Serve && process.program == Some(Program::Ours);
    ours && process.flocks.known().is_some_and(Vec::is_empty)
}

/// The unit that answers best: one that is enabled before one that is not, a gateway before a serve.
pub(super) fn best_unit<'a>(field: &Field<'a>, wanted: &Wanted) -> Option<&'a UnitFacts> {
    let matches = |unit: &&UnitFacts| {
        let runs = matches!(unit.role, Some(Role::Serve | Role::Gateway));
        let loaded = unit.load_state.as_deref() != Some("masked");
        runs && loaded
            && match wanted {
                Wanted::Home(home) => unit
                    .home
                    .as_deref()
                    .is_some_and(|path| answers(field, (unit.program, path), home)),
                Wanted::Account(account) => field
                    .unit_account(unit, wanted)
                    .is_some_and(|runs_as| runs_as.uid == account.uid),
                Wanted::Any => true,
            }
    };
    field.units.iter().filter(matches).min_by_key(|unit| {
        let account = field.unit_account(unit, wanted);
        (
            preference(field, account.map(|account| account.uid)),
            !exact(unit.home.as_deref(), wanted),
            unit.active_state.as_deref() != Some("active"),
            unit.file_state.as_deref() != Some("enabled"),
            unit.role != Some(Role::Gateway),
            unit.manager != Some(ManagerKind::System),
        )
    })
}
