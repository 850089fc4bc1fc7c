//! The parts of the example: a machine, its doors, a shell, a dispatcher and its unit.

use std::path::PathBuf;

use super::{BOOTED, NOW, STARTED, UID};
use crate::bus::{Door, DoorReport, Failure, ManagerFacts, Stage, StageReport};
use crate::host::facts::{
    AccountFacts, Boot, CgroupFacts, CgroupLayout, ClockFacts, Container, Descriptors, Dispatcher,
    Environment, Fact, HomeRecords, Machine, ManagerKind, Memory, Namespaces, OwnName,
    ProcessFacts, Program, Role, UnitFacts, Viewpoint,
};
use crate::host::locks::Holder;
use crate::host::runtime_dir::{Candidate, Kind, Origin, Seen};

/// A directory that is there.
pub(crate) fn candidate(origin: Origin, path: &str, owner: u32, mode: u32) -> Candidate {
    let seen = Seen::There {
        kind: Kind::Directory,
        uid: owner,
        mode: 0o40_000 | mode,
        changed_at: i64::from(BOOTED),
        inode: 1,
    };
    Candidate::judge(origin, path, Some(seen), UID)
}

/// A door through which a manager answers.
pub(super) fn open_door(door: Door, path: &str) -> DoorReport {
    let stages = match door {
        Door::Private => &[
            Stage::RuntimeDir,
            Stage::Socket,
            Stage::Connect,
            Stage::Authenticate,
            Stage::ManagerAnswers,
        ][..],
        Door::SessionBus | Door::SystemBus => &[
            Stage::RuntimeDir,
            Stage::Socket,
            Stage::Connect,
            Stage::Authenticate,
            Stage::Hello,
            Stage::ManagerAnswers,
        ],
    };
    let passed = |stage: &Stage| StageReport {
        stage: *stage,
        failure: None,
        ms: 1,
    };
    DoorReport {
        door,
        path: path.to_owned(),
        stages: stages.iter().map(passed).collect(),
        manager: Some(ManagerFacts {
            version: "252.39-1~deb12u1".to_owned(),
            state: Some("running".to_owned()),
            pid: Some(700),
        }),
    }
}

pub(super) fn close(door: &mut DoorReport, stage: Stage, failure: &Failure) {
    door.stages.retain(|tried| tried.stage < stage);
    door.stages.push(StageReport {
        stage,
        failure: Some(failure.clone()),
        ms: 1,
    });
    door.manager = None;
}

pub(super) fn account(uid: u32, name: &str) -> AccountFacts {
    AccountFacts {
        uid,
        gid: Some(uid),
        name: Some(name.to_owned()),
        home: Some(PathBuf::from("/srv").join(name)),
    }
}

/// This program, where every shell finds it.
pub(super) fn own_name() -> OwnName {
    OwnName {
        file: Some(PathBuf::from("/usr/local/bin/hermes")),
        on_path: Some(PathBuf::from("/usr/local/bin/hermes")),
    }
}

pub(super) fn machine() -> Machine {
    Machine {
        init: Fact::Known("systemd".to_owned()),
        systemd_booted: true,
        container: Fact::Known(Container::None),
        cgroup: CgroupFacts {
            layout: CgroupLayout::Unified,
            controllers: ["cpu", "memory", "pids"].map(str::to_owned).to_vec(),
        },
        namespaces: Namespaces {
            initial_pid: Fact::Known(true),
            initial_user: Fact::Known(true),
            hidepid: false,
            proc_is_ours: true,
            pid_inode: Some(4_026_531_836),
            chroot: Fact::Known(false),
            uid_map: vec![[0, 0, u32::MAX]],
        },
        boot: Boot {
            id: Fact::Known("2a1c7d34-5b1e-4c8a-9d0e-6f7a8b9c0d1e".to_owned()),
            init_start: Fact::Known(12),
            booted_at: f64::from(BOOTED),
            ticks_per_second: 100,
        },
        clock: ClockFacts {
            wall: NOW,
            monotonic: 86_400.0,
            boottime: 86_400.0,
            zone: Some("Europe/Berlin".to_owned()),
            localtime_changed_at: None,
        },
        memory: Memory {
            total: Some(16 << 30),
            swaps: vec!["/dev/sda3".to_owned()],
        },
        kernel: Fact::Known("6.1.0-28-amd64".to_owned()),
        os: Some("Debian GNU/Linux 12 (bookworm)".to_owned()),
    }
}

pub(super) fn home_records(path: PathBuf) -> HomeRecords {
    HomeRecords {
        path,
        profile: "default".to_owned(),
        exists: Fact::Known(true),
        owner: Some(UID),
        gateway_pid: Fact::Known(None),
        gateway_lock: Fact::Known(None),
        gateway_lock_held: Holder::Free,
        gateway_state: Fact::Known(None),
        serve: Fact::Known(None),
        serve_lock_held: Holder::Absent,
        gateway_starts: Vec::new(),
        newest_file: None,
    }
}

/// Variables as an environment.
fn environment(variables: &[(&str, &str)]) -> Environment {
    Environment::select(variables.iter().copied())
}

pub(super) fn shell() -> ProcessFacts {
    let environ = environment(&[
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("HOME", "/srv/bot"),
        ("XDG_RUNTIME_DIR", "/run/user/1001"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1001/bus"),
        ("XDG_SESSION_ID", "3"),
    ]);
    ProcessFacts {
        pid: 4200,
        ppid: Fact::Known(4150),
        parent: Fact::Known("bash".to_owned()),
        uid: Fact::Known(UID),
        start_ticks: Fact::Known(8_640_000),
        started_at: Fact::Known(NOW),
        zombie: false,
        nested: false,
        role: Role::Shell,
        program: Some(Program::Ours),
        same_binary: true,
        profile: None,
        home: Fact::Known(PathBuf::from("/srv/bot/.hermes")),
        desktop: Fact::Known(false),
        command: ["hermes", "cron", "doctor"].map(str::to_owned).to_vec(),
        exe: Fact::Known(PathBuf::from("/usr/local/bin/hermes")),
        cgroup: Fact::Known("/user.slice/user-1001.slice/session-3.scope".to_owned()),
        environ: Fact::Known(environ),
        descriptors: Fact::Known(Descriptors {
            open: 4,
            limit: Some(1024),
            repeated: Vec::new(),
        }),
        loginuid: Fact::Known(Some(UID)),
        flocks: Fact::Known(Vec::new()),
    }
}

pub(super) fn dispatcher() -> Dispatcher {
    let environ = environment(&[
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("HOME", "/srv/bot"),
        ("USER", "bot"),
        ("HERMES_HOME", "/srv/bot/.hermes"),
        ("INVOCATION_ID", "9f2c0f7be0a94b3c8d0f3c0e6b5a4d32"),
    ]);
    let process = ProcessFacts {
        pid: 812,
        ppid: Fact::Known(1),
        parent: Fact::Known("systemd".to_owned()),
        start_ticks: Fact::Known(7_560_000),
        started_at: Fact::Known(STARTED),
        role: Role::Serve,
        command: ["hermes", "serve"].map(str::to_owned).to_vec(),
        cgroup: Fact::Known("/system.slice/hermes.service".to_owned()),
        environ: Fact::Known(environ.clone()),
        loginuid: Fact::Known(None),
        ..shell()
    };
    Dispatcher {
        viewpoint: Viewpoint::Serve,
        chosen_because: "it holds the home's lock".to_owned(),
        program: Program::Ours,
        version: Fact::Known("0.1.0".to_owned()),
        version_source: Some("this binary".to_owned()),
        process: Some(process),
        environ: Fact::Known(environ),
        environ_source: "/proc/812/environ".to_owned(),
        unit: Some(unit()),
        desktop: false,
        home: Fact::Known(PathBuf::from("/srv/bot/.hermes")),
        programs: Vec::new(),
    }
}

pub(super) fn unit() -> UnitFacts {
    let text = |text: &str| Some(text.to_owned());
    UnitFacts {
        name: "hermes.service".to_owned(),
        manager: Some(ManagerKind::System),
        role: Some(Role::Serve),
        program: Some(Program::Ours),
        asked: true,
        load_state: text("loaded"),
        active_state: text("active"),
        sub_state: text("running"),
        file_state: text("enabled"),
        result: text("success"),
        condition_result: Some(true),
        service_type: text("simple"),
        kill_mode: text("control-group"),
        user: text("bot"),
        environment: environment(&[("HERMES_HOME", "/srv/bot/.hermes")]),
        exec: ["/usr/local/bin/hermes", "serve"]
            .map(str::to_owned)
            .to_vec(),
        restart: text("always"),
        restarts: Some(0),
        main_pid: Some(812),
        control_group: text("/system.slice/hermes.service"),
        fragment: text("/etc/systemd/system/hermes.service"),
        need_daemon_reload: Some(false),
        protect_home: text("no"),
        unix_sockets_forbidden: Some(false),
        limit_nofile: Some(1024),
        oom_policy: text("stop"),
        active_since: Some(STARTED),
        stop_timeout: Some(90.0),
        ..UnitFacts::default()
    }
}
