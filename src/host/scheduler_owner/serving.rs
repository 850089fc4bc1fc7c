//! Which processes and units serve which home. Pure, over the facts.
//!
//! Our serve has one home, and is that home's alone. What Hermes Agent runs for a root may serve the
//! profiles below it as well: its gateway all of them, unless it says which; its serve those that it names.

use std::path::Path;

use super::{processes, ticks};
use crate::home::Home;
use crate::host::facts::{Facts, HomeRecords, ProcessFacts, Program, Role};

/// What runs, or would run, for a home.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// In which role.
    pub role: Role,
    /// Which program.
    pub program: Option<Program>,
    /// Its pid, where it runs.
    pub pid: Option<u32>,
    /// The home that it was given.
    pub home: &'a Path,
}

/// Whether what was given the home `given` may serve this one: its own, and of Hermes Agent the
/// profiles of its root.
#[must_use]
pub fn reaches(program: Option<Program>, given: &Path, home: &Home) -> bool {
    given == home.path() || (program != Some(Program::Ours) && given == home.root().path())
}

/// Whether it serves this home, by all that is known of it.
#[must_use]
pub fn serves(facts: &Facts, place: Place<'_>, home: &Home) -> bool {
    if place.home == home.path() {
        return true;
    }
    if !reaches(place.program, place.home, home) {
        return false;
    }
    if place.role == Role::Gateway {
        let root = facts.homes.iter().find(|root| root.path == place.home);
        return root.is_none_or(|root| root.gateway_serves(home.profile()));
    }
    let named = facts.host_records.known().into_iter().flatten();
    let mut named = named.filter(|record| Some(record.owner.pid) == place.pid);
    named.any(|record| record.profiles.iter().any(|name| name == home.profile()))
}

/// The processes that serve a home: gateways and serves, whether or not they tick. One that stands by
/// serves nothing yet.
pub fn servers<'a>(facts: &'a Facts, home: &Home) -> impl Iterator<Item = &'a ProcessFacts> {
    of(facts, home).filter(|process| !stands_by(facts, process))
}

/// The serves of ours that wait for the end of the one that has this home.
pub fn stand_bys<'a>(facts: &'a Facts, home: &Home) -> impl Iterator<Item = &'a ProcessFacts> {
    of(facts, home).filter(|process| stands_by(facts, process))
}

/// A process of the account that ticks a home, and that home, which is none of these; where one dispatches
/// for these, it is asked of that one instead.
#[must_use]
pub fn elsewhere<'a>(facts: &'a Facts, homes: &[&Home]) -> Option<(&'a ProcessFacts, &'a Path)> {
    if facts.dispatcher.process.is_some() {
        return None;
    }
    let found = processes(facts)
        .filter(|process| ticks(process) == Some(true) && !stands_by(facts, process))
        .filter(|process| process.uid.known() == Some(&facts.account.uid));
    let mut found = found.filter_map(|process| Some((process, process.home.known()?.as_path())));
    found.find(|(process, given)| {
        let mut homes = homes.iter();
        !homes.any(|home| reaches(process.program, given, home))
    })
}

fn of<'a>(facts: &'a Facts, home: &Home) -> impl Iterator<Item = &'a ProcessFacts> {
    let home = home.clone();
    processes(facts)
        .filter(|process| matches!(process.role, Role::Serve | Role::Gateway))
        .filter(move |process| {
            process.home.known().is_some_and(|given| {
                let place = Place {
                    role: process.role,
                    program: process.program,
                    pid: Some(process.pid),
                    home: given,
                };
                serves(facts, place, &home)
            })
        })
}

fn stands_by(facts: &Facts, process: &ProcessFacts) -> bool {
    let home = process.home.known();
    let mut records = facts.homes.iter();
    let records = records.find(|records| Some(&records.path) == home);
    records.is_some_and(|records| waits(records, process))
}

/// Whether a serve of ours waits for the lock of its home, which somebody else has. While it waits it
/// holds none at all: one that does has its home's own, even where that file was deleted since.
pub(super) fn waits(home: &HomeRecords, process: &ProcessFacts) -> bool {
    if process.role != Role::Serve || process.program != Some(Program::Ours) {
        return false;
    }
    let holds = process.flocks.known().map(|locks| !locks.is_empty());
    match home.serve_lock_held.pids() {
        [] => home.serve_lock_held.is_held() && holds == Some(false),
        pids => !pids.contains(&process.pid) && holds != Some(true),
    }
}

#[cfg(test)]
mod tests;
