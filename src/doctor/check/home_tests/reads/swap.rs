//! A part of the evidence put in the place of another's. Each struct is taken apart without a rest, so
//! that a new field belongs to a part or does not compile.

use crate::bus::SystemBusReport;
use crate::doctor::check::homes::no_directory;
use crate::doctor::evidence::stores::Databases;
use crate::doctor::evidence::{Evidence, HomeEvidence, Part};
use crate::host::Facts;
use crate::host::facts::{Dispatcher, HomeRecords, Machine};

/// The evidence with this part as another has it.
pub(super) fn given(part: Part, from: &Evidence, to: &Evidence) -> Evidence {
    let mut to = to.clone();
    of_host(part, &from.facts, &mut to.facts);
    for (to, from) in to.homes.iter_mut().zip(from.homes.iter().cycle()) {
        of_home(part, from, to);
    }
    let Evidence {
        now: _,
        facts: _,
        decision_jobs,
        decision_long,
        guesses,
        max_parallel,
        homes: _,
        elsewhere,
    } = &mut to;
    match part {
        Part::Decision => {
            decision_jobs.clone_from(&from.decision_jobs);
            decision_long.clone_from(&from.decision_long);
            guesses.clone_from(&from.guesses);
        }
        Part::Config => *max_parallel = from.max_parallel,
        Part::Jobs => elsewhere.clone_from(&from.elsewhere),
        _ => {}
    }
    to
}

fn of_host(part: Part, from: &Facts, to: &mut Facts) {
    let Facts {
        machine,
        account: _,
        caller: _,
        own_name: _,
        home: _,
        homes,
        host_records,
        shell,
        shell_inside,
        dispatcher,
        others,
        units,
        scope_controllers,
        runtime_dir,
        session_bus,
        system_bus,
        linger_marker,
    } = to;
    of_machine(part, &from.machine, machine);
    of_dispatcher(part, &from.dispatcher, dispatcher);
    let SystemBusReport {
        doors,
        logind,
        user_manager,
        user_manager_failure,
    } = system_bus;
    let bus = &from.system_bus;
    match part {
        Part::Records => {
            host_records.clone_from(&from.host_records);
            for (to, from) in homes.iter_mut().zip(from.homes.iter().cycle()) {
                let path = to.path.clone();
                *to = HomeRecords {
                    path,
                    ..from.clone()
                };
            }
        }
        Part::Shell => {
            shell.clone_from(&from.shell);
            *shell_inside = from.shell_inside;
        }
        Part::Processes => others.clone_from(&from.others),
        Part::Units => units.clone_from(&from.units),
        Part::Cgroup => scope_controllers.clone_from(&from.scope_controllers),
        Part::RuntimeDir => runtime_dir.clone_from(&from.runtime_dir),
        Part::SessionBus => session_bus.clone_from(&from.session_bus),
        Part::SystemBus => doors.clone_from(&bus.doors),
        Part::Logind => logind.clone_from(&bus.logind),
        Part::UserManager => {
            user_manager.clone_from(&bus.user_manager);
            user_manager_failure.clone_from(&bus.user_manager_failure);
        }
        Part::Linger => linger_marker.clone_from(&from.linger_marker),
        _ => {}
    }
}

fn of_machine(part: Part, from: &Machine, to: &mut Machine) {
    let Machine {
        init,
        systemd_booted,
        container,
        cgroup,
        namespaces,
        boot,
        clock,
        memory,
        kernel,
        os,
    } = to;
    match part {
        Part::Machine => {
            init.clone_from(&from.init);
            *systemd_booted = from.systemd_booted;
            container.clone_from(&from.container);
            namespaces.clone_from(&from.namespaces);
            boot.clone_from(&from.boot);
            kernel.clone_from(&from.kernel);
            os.clone_from(&from.os);
        }
        Part::Clock => clock.clone_from(&from.clock),
        Part::Memory => memory.clone_from(&from.memory),
        Part::Cgroup => cgroup.clone_from(&from.cgroup),
        _ => {}
    }
}

fn of_dispatcher(part: Part, from: &Dispatcher, to: &mut Dispatcher) {
    let Dispatcher {
        viewpoint,
        chosen_because,
        program,
        version,
        version_source,
        process,
        environ,
        environ_source,
        unit,
        desktop,
        home,
        programs,
    } = to;
    match part {
        Part::Dispatcher => {
            *viewpoint = from.viewpoint;
            chosen_because.clone_from(&from.chosen_because);
            *program = from.program;
            version.clone_from(&from.version);
            version_source.clone_from(&from.version_source);
            process.clone_from(&from.process);
            *desktop = from.desktop;
            home.clone_from(&from.home);
        }
        Part::Environment => {
            environ.clone_from(&from.environ);
            environ_source.clone_from(&from.environ_source);
        }
        Part::Programs => programs.clone_from(&from.programs),
        Part::Units => unit.clone_from(&from.unit),
        _ => {}
    }
}

fn of_home(part: Part, from: &HomeEvidence, to: &mut HomeEvidence) {
    let holds = |home: &HomeEvidence| home.exists() && no_directory(home).is_none();
    let both = holds(to) && holds(from);
    let HomeEvidence {
        home: _,
        files,
        reader,
        disk,
        databases,
        owners,
        hostname: _,
        needs,
        zone,
        config,
        agent,
        held_databases,
        tick_lock,
        tick_holder,
        jobs_lock,
        workers,
        helpers,
        ticker,
        jobs,
        backups,
        stop,
        output,
    } = to;
    of_databases(part, &from.databases, databases);
    match part {
        // Whether there is a home at all is the question.
        Part::Files if both => {
            files.clone_from(&from.files);
            reader.clone_from(&from.reader);
        }
        Part::Disk => disk.clone_from(&from.disk),
        Part::Owners => owners.clone_from(&from.owners),
        Part::Needs => needs.clone_from(&from.needs),
        Part::Zone => zone.clone_from(&from.zone),
        Part::Config => config.clone_from(&from.config),
        Part::Agent => agent.clone_from(&from.agent),
        Part::Locks => {
            held_databases.clone_from(&from.held_databases);
            tick_lock.clone_from(&from.tick_lock);
            tick_holder.clone_from(&from.tick_holder);
            jobs_lock.clone_from(&from.jobs_lock);
        }
        Part::Workers => workers.clone_from(&from.workers),
        Part::Helpers => helpers.clone_from(&from.helpers),
        Part::Ticker => ticker.clone_from(&from.ticker),
        Part::Jobs => jobs.clone_from(&from.jobs),
        Part::Backups => backups.clone_from(&from.backups),
        Part::Stop => stop.clone_from(&from.stop),
        Part::Output => output.clone_from(&from.output),
        _ => {}
    }
}

fn of_databases(part: Part, from: &Databases, to: &mut Databases) {
    let Databases {
        ledger,
        state,
        kanban,
        complaints,
        registry,
    } = to;
    match part {
        Part::Ledger => ledger.clone_from(&from.ledger),
        Part::State => state.clone_from(&from.state),
        Part::Kanban => kanban.clone_from(&from.kanban),
        Part::Soundness => complaints.clone_from(&from.complaints),
        Part::Registry => registry.clone_from(&from.registry),
        _ => {}
    }
}
