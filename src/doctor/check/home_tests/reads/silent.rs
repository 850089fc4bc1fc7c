//! A part of the evidence that could not be had, as the probes leave it behind then.

use std::path::Path;

use crate::bus::{Failure, FailureKind, LingerMarker, LogindReport, Placement, SessionBusReport};
use crate::config::Config;
use crate::config::layer::{Format, Layer};
use crate::doctor::check::homes::no_directory;
use crate::doctor::evidence::home::{PlaceSeen, Ticker};
use crate::doctor::evidence::read::{Trouble, TroubleKind};
use crate::doctor::evidence::stores::Owners;
use crate::doctor::evidence::{Evidence, HomeEvidence, Part, Read};
use crate::host::Facts;
use crate::host::facts::{Fact, HomeRecords, UnitFacts};
use crate::host::locks::Holder;
use crate::host::runtime_dir::{Candidate, RuntimeDir, Seen};

const WHY: &str = "the silence of a test";

fn gap<T>() -> Fact<T> {
    Fact::denied(WHY)
}

fn denied() -> Failure {
    Failure::said(FailureKind::PermissionDenied, WHY)
}

fn unreadable<T>() -> Read<T> {
    Read::Unreadable(trouble())
}

fn trouble() -> Trouble {
    Trouble::new(TroubleKind::CouldNotCheck, "io", WHY)
}

fn cannot_tell() -> Holder {
    Holder::CannotTell {
        why: WHY.to_owned(),
    }
}

/// The evidence in which this part told nothing; `None` for one that is always known, that is made of
/// other parts and told by their gaps, or of which nothing was asked.
pub(super) fn silent(part: Part, of: &Evidence) -> Option<Evidence> {
    let mut evidence = of.clone();
    if part.is_of_home() {
        for home in &mut evidence.homes {
            home_is_silent(part, home)?;
        }
    } else {
        host_is_silent(part, &mut evidence.facts)?;
    }
    Some(evidence)
}

fn host_is_silent(part: Part, facts: &mut Facts) -> Option<()> {
    match part {
        Part::Machine => {
            let machine = &mut facts.machine;
            (machine.init, machine.kernel) = (gap(), gap());
            machine.container = gap();
            machine.namespaces.initial_pid = gap();
            machine.namespaces.initial_user = gap();
            machine.namespaces.chroot = gap();
            (machine.boot.id, machine.boot.init_start) = (gap(), gap());
        }
        Part::Memory => facts.machine.memory.total = None,
        Part::Cgroup => facts.scope_controllers = gap(),
        Part::Shell => {
            let shell = &mut facts.shell;
            (shell.uid, shell.home, shell.environ) = (gap(), gap(), gap());
            (shell.cgroup, shell.loginuid) = (gap(), gap());
        }
        Part::Dispatcher => dispatcher_is_silent(facts),
        Part::Environment => facts.dispatcher.environ = gap(),
        Part::Programs => {
            let programs = &mut facts.dispatcher.programs;
            programs.first()?;
            for program in programs {
                program.found = gap();
            }
        }
        Part::Units => {
            facts.units = gap();
            let named = |unit: UnitFacts| UnitFacts {
                name: unit.name,
                manager: unit.manager,
                ..UnitFacts::default()
            };
            facts.dispatcher.unit = facts.dispatcher.unit.take().map(named);
        }
        Part::Records => {
            facts.host_records = gap();
            facts.homes.iter_mut().for_each(records_are_silent);
        }
        // The clocks always tell, other processes are those that were seen, and the decision says for
        // each of its parts what it assumed.
        Part::Clock | Part::Processes | Part::Decision => return None,
        _ => way_is_silent(part, facts),
    }
    Some(())
}

/// What lies between the dispatcher and its manager.
fn way_is_silent(part: Part, facts: &mut Facts) {
    let bus = &mut facts.system_bus;
    match part {
        Part::SystemBus => bus.doors.clear(),
        Part::Logind => {
            bus.logind = LogindReport {
                failure: Some(denied()),
                ..LogindReport::default()
            }
        }
        Part::UserManager => {
            (bus.user_manager, bus.user_manager_failure) = (None, Some(denied()));
        }
        Part::Linger => facts.linger_marker = LingerMarker::Unknown(denied()),
        Part::RuntimeDir => {
            let uid = facts.account.uid;
            let refused = |seen: &Candidate| {
                Candidate::judge(seen.origin, &seen.path, Some(Seen::Not(denied())), uid)
            };
            let candidates = facts.runtime_dir.candidates.iter().map(refused);
            facts.runtime_dir = RuntimeDir::choose(uid, candidates.collect());
        }
        Part::SessionBus => {
            facts.session_bus = SessionBusReport {
                uid: facts.account.uid,
                doors: Vec::new(),
                placement: Placement::Unknown(denied()),
                not_tried: Some(denied()),
            }
        }
        _ => unreachable!("{part:?} is another's"),
    }
}

fn dispatcher_is_silent(facts: &mut Facts) {
    facts.dispatcher.version = gap();
    facts.dispatcher.home = gap();
    if let Some(process) = &mut facts.dispatcher.process {
        (process.uid, process.home, process.exe) = (gap(), gap(), gap());
        (process.start_ticks, process.started_at) = (gap(), gap());
        (process.ppid, process.parent) = (gap(), gap());
        (process.cgroup, process.environ) = (gap(), gap());
        (process.descriptors, process.flocks) = (gap(), gap());
        (process.loginuid, process.desktop) = (gap(), gap());
    }
}

fn records_are_silent(home: &mut HomeRecords) {
    (home.gateway_pid, home.gateway_lock, home.serve) = (gap(), gap(), gap());
    home.gateway_state = gap();
    (home.exists, home.newest_file) = (gap(), None);
    (home.gateway_lock_held, home.serve_lock_held) = (cannot_tell(), cannot_tell());
}

fn home_is_silent(part: Part, home: &mut HomeEvidence) -> Option<()> {
    let exists = home.exists() && no_directory(home).is_none();
    let databases = &mut home.databases;
    match part {
        Part::Config => {
            let path = Path::new("/srv/bot/.hermes/config.yaml");
            let layer = Layer::of_text(Format::Yaml, path, "\u{0}");
            home.config = Config::of_layers(Vec::new(), vec![layer]);
        }
        Part::Files if !exists => return None,
        Part::Files => home
            .files
            .values_mut()
            .for_each(|file| *file = unreadable()),
        Part::Disk => home.disk = unreadable(),
        Part::Locks => {
            (home.tick_lock, home.jobs_lock) = (cannot_tell(), cannot_tell());
            home.tick_holder.clear();
            home.held_databases = [("state.db", unreadable())].into();
        }
        Part::Jobs => home.jobs = unreadable(),
        Part::Backups => {
            let backups = &mut home.backups;
            backups.first()?;
            for copy in backups {
                copy.jobs = Err(trouble());
            }
        }
        Part::Needs => {
            let needs = &mut home.needs;
            needs.scripts.first_key_value()?;
            let scripts = needs.scripts.values_mut().map(|script| &mut script.place);
            let places = scripts.chain(needs.workdirs.values_mut());
            places.for_each(|place| *place = PlaceSeen::Denied);
            needs.programs.clear();
            needs.search_path = None;
        }
        Part::Stop => home.stop = unreadable(),
        Part::Ticker => {
            home.ticker = Ticker {
                heartbeat: unreadable(),
                success: unreadable(),
                error: unreadable(),
                catch_ups: unreadable(),
            }
        }
        Part::Ledger => databases.ledger = unreadable(),
        Part::Owners => home.owners = Owners::default(),
        Part::Workers => home.workers = unreadable(),
        Part::Output => home.output = unreadable(),
        Part::State => databases.state = unreadable(),
        Part::Registry => databases.registry = unreadable(),
        Part::Kanban => databases.kanban = unreadable(),
        Part::Helpers => home.helpers = unreadable(),
        // Zone and agent are what the configuration comes to. Of a database that cannot be gone over
        // the look at its content tells.
        Part::Zone | Part::Agent | Part::Soundness => return None,
        _ => unreachable!("{part:?} is of the host"),
    }
    Some(())
}
