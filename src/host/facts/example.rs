//! A healthy host for tests: a serve of this program in the system unit `hermes.service` of the account
//! `bot`, which lingers. Tests break one thing at a time, by way of the helpers here.

mod parts;

use std::path::PathBuf;

use super::{
    ChosenHome, Container, Environment, Fact, Facts, ManagerKind, Program, Role, UnitFacts,
    Viewpoint,
};
use crate::bus::{
    Door, Failure, FailureKind, LingerMarker, LogindReport, LogindSession, LogindUser, Placement,
    SessionBusReport, Stage, SystemBusReport, UserManagerUnit,
};
use crate::home::Source;
use crate::host::runtime_dir::{Candidate, Origin, RuntimeDir, Seen};
pub(crate) use parts::candidate;
use parts::{account, close, dispatcher, home_records, machine, open_door, own_name, shell, unit};

/// The uid of `bot`.
pub(crate) const UID: u32 = 1001;
/// When the host is looked at, in seconds since 1970: 2026-11-30 00:00:00 UTC.
pub(crate) const NOW: f64 = 1_796_000_400.0;
/// When the dispatcher was started: three hours before.
pub(crate) const STARTED: f64 = NOW - 10_800.0;
/// When the user manager was started, and shortly before that, the host: a day before.
pub(crate) const BOOTED: u32 = 1_795_914_000;

impl Facts {
    /// The healthy host.
    pub(crate) fn example() -> Self {
        let path = PathBuf::from("/srv/bot/.hermes");
        Self {
            machine: machine(),
            account: account(UID, "bot"),
            caller: account(UID, "bot"),
            home: ChosenHome {
                path: path.clone(),
                source: Source::Dispatcher,
                because: "HERMES_HOME of hermes.service".to_owned(),
            },
            homes: vec![home_records(path)],
            host_records: Fact::Known(Vec::new()),
            shell: shell(),
            own_name: own_name(),
            shell_inside: None,
            dispatcher: dispatcher(),
            others: Vec::new(),
            units: Fact::Known(vec![unit()]),
            scope_controllers: Fact::Known(vec!["memory".to_owned(), "pids".to_owned()]),
            runtime_dir: RuntimeDir::choose(
                UID,
                vec![candidate(
                    Origin::Conventional,
                    "/run/user/1001",
                    UID,
                    0o700,
                )],
            ),
            session_bus: SessionBusReport {
                uid: UID,
                doors: vec![
                    open_door(Door::Private, "/run/user/1001/systemd/private"),
                    open_door(Door::SessionBus, "/run/user/1001/bus"),
                ],
                placement: Placement::Able,
                not_tried: None,
            },
            system_bus: SystemBusReport {
                doors: vec![open_door(Door::SystemBus, "/run/dbus/system_bus_socket")],
                logind: LogindReport {
                    user: Some(LogindUser {
                        linger: Some(true),
                        state: Some("lingering".to_owned()),
                        sessions: Vec::new(),
                    }),
                    kill_user_processes: Some(false),
                    ..LogindReport::default()
                },
                user_manager: Some(UserManagerUnit {
                    load_state: "loaded".to_owned(),
                    active_state: "active".to_owned(),
                    sub_state: "running".to_owned(),
                    result: "success".to_owned(),
                    main_pid: Some(700),
                    active_enter_us: Some(u64::from(BOOTED + 20) * 1_000_000),
                }),
                user_manager_failure: None,
            },
            linger_marker: LingerMarker::Present,
        }
    }

    /// A plain shell of a login session, with no dispatcher anywhere.
    pub(crate) fn example_laptop() -> Self {
        let mut facts = Self::example();
        facts.session_of_login();
        facts.units = Fact::Known(Vec::new());
        facts.dispatcher.viewpoint = Viewpoint::Shell;
        facts.dispatcher.process = None;
        facts.dispatcher.unit = None;
        facts.dispatcher.environ = facts.shell.environ.clone();
        facts.dispatcher.environ_source = "this shell".to_owned();
        facts
    }

    /// Linger is off, nobody is logged in, and so there is no user manager.
    pub(crate) fn without_linger(&mut self) {
        self.linger_marker = LingerMarker::Absent;
        self.system_bus.logind.user = None;
        self.user_manager_state("inactive", "success");
        self.no_runtime_dir();
    }

    /// Linger is off, and a login session keeps the user manager.
    pub(crate) fn session_of_login(&mut self) {
        self.linger_marker = LingerMarker::Absent;
        self.system_bus.logind.user = Some(LogindUser {
            linger: Some(false),
            state: Some("active".to_owned()),
            sessions: vec![LogindSession {
                id: "3".to_owned(),
                class: Some("user".to_owned()),
                r#type: Some("tty".to_owned()),
                state: Some("active".to_owned()),
                leader: Some(4100),
            }],
        });
    }

    /// `/run/user/UID` is not there.
    pub(crate) fn no_runtime_dir(&mut self) {
        let absent = Failure {
            errno: Some(2),
            ..Failure::of(FailureKind::Absent)
        };
        let seen = Some(Seen::Not(absent.clone()));
        let candidate = Candidate::judge(Origin::Conventional, "/run/user/1001", seen, UID);
        self.runtime_dir = RuntimeDir::choose(UID, vec![candidate]);
        self.close_doors(Stage::RuntimeDir, &absent);
    }

    /// Both doors of the user manager stop at this stage.
    pub(crate) fn close_doors(&mut self, stage: Stage, failure: &Failure) {
        for door in [Door::Private, Door::SessionBus] {
            self.close_door(door, stage, failure);
        }
        self.session_bus.placement = Placement::Unknown(Failure::of(FailureKind::Unknown));
    }

    /// One door of the user manager stops at this stage.
    pub(crate) fn close_door(&mut self, which: Door, stage: Stage, failure: &Failure) {
        for door in &mut self.session_bus.doors {
            if door.door == which {
                close(door, stage, failure);
            }
        }
    }

    /// The system bus stops at this stage, and so does all that is asked through it.
    pub(crate) fn close_system_bus(&mut self, stage: Stage, failure: &Failure) {
        for door in &mut self.system_bus.doors {
            close(door, stage, failure);
        }
        self.system_bus.logind = LogindReport {
            failure: Some(failure.clone()),
            ..LogindReport::default()
        };
        self.system_bus.user_manager = None;
        self.system_bus.user_manager_failure = Some(failure.clone());
        self.session_bus.placement = Placement::Unable(Failure::of(FailureKind::NoSystemBus));
    }

    /// Neither systemd nor any bus.
    pub(crate) fn without_systemd(&mut self, container: Container) {
        self.without_linger();
        self.linger_marker = LingerMarker::NoDirectory;
        self.machine.systemd_booted = false;
        self.machine.init = Fact::Known("tini".to_owned());
        self.machine.container = Fact::Known(container);
        self.close_system_bus(Stage::Socket, &Failure::of(FailureKind::Absent));
        self.system_bus.user_manager = None;
        self.units = Fact::Known(Vec::new());
        self.dispatcher.unit = None;
        if let Some(process) = &mut self.dispatcher.process {
            process.cgroup = Fact::Known("/".to_owned());
        }
    }

    /// What PID 1 says of `user@UID.service`.
    pub(crate) fn user_manager_state(&mut self, active: &str, result: &str) {
        if let Some(unit) = &mut self.system_bus.user_manager {
            active.clone_into(&mut unit.active_state);
            result.clone_into(&mut unit.result);
            unit.main_pid = None;
        }
    }

    /// The dispatcher is a gateway of Hermes Agent of this version.
    pub(crate) fn hermes_agent(&mut self, version: &str) {
        self.dispatcher.program = Program::HermesAgent;
        self.dispatcher.version = Fact::Known(version.to_owned());
        self.dispatcher.viewpoint = Viewpoint::Gateway;
        if let Some(process) = &mut self.dispatcher.process {
            process.role = Role::Gateway;
            process.program = Some(Program::HermesAgent);
        }
        self.edit_unit(|unit| {
            unit.name = "hermes-gateway.service".to_owned();
            unit.kill_mode = Some("mixed".to_owned());
            unit.role = Some(Role::Gateway);
            unit.program = Some(Program::HermesAgent);
        });
    }

    /// Changes the unit of the dispatcher, also in the list of units.
    pub(crate) fn edit_unit(&mut self, edit: impl Fn(&mut UnitFacts)) {
        if let Some(unit) = &mut self.dispatcher.unit {
            edit(unit);
        }
        if let Fact::Known(units) = &mut self.units {
            units.iter_mut().for_each(edit);
        }
    }

    /// The dispatcher sits in a service of the user manager.
    pub(crate) fn in_user_unit(&mut self) {
        self.edit_unit(|unit| {
            unit.manager = Some(ManagerKind::User);
            unit.user = None;
        });
        if let Some(process) = &mut self.dispatcher.process {
            process.cgroup = Fact::Known(
                "/user.slice/user-1001.slice/user@1001.service/app.slice/hermes.service".to_owned(),
            );
        }
        self.set_variable("XDG_RUNTIME_DIR", "/run/user/1001");
        let candidate = candidate(Origin::Environment, "/run/user/1001", UID, 0o700);
        self.runtime_dir = RuntimeDir::choose(UID, vec![candidate]);
    }

    /// A variable of the dispatcher's environment.
    pub(crate) fn set_variable(&mut self, name: &str, value: &str) {
        let set = |environ: &mut Fact<Environment>| {
            if let Fact::Known(environ) = environ {
                environ.variables.insert(name.to_owned(), value.to_owned());
            }
        };
        set(&mut self.dispatcher.environ);
        if let Some(process) = &mut self.dispatcher.process {
            set(&mut process.environ);
        }
    }
}
