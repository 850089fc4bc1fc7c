//! Who is chosen, scene by scene.

use super::*;
use crate::host::facts::{Fact, Facts, Program};

struct Table;

impl Accounts for Table {
    fn by_uid(&self, uid: u32) -> Option<AccountFacts> {
        let name = match uid {
            0 => "root",
            1000 => "alice",
            1001 => "bot",
            _ => return None,
        };
        self.by_name(name)
    }

    fn by_name(&self, name: &str) -> Option<AccountFacts> {
        let (uid, home) = match name {
            "root" => (0, "/root"),
            "alice" => (1000, "/home/alice"),
            "bot" => (1001, "/srv/bot"),
            _ => return None,
        };
        Some(AccountFacts {
            uid,
            gid: Some(uid),
            name: Some(name.to_owned()),
            home: Some(home.into()),
        })
    }
}

struct Scene {
    choice: Choice,
    caller: &'static str,
    environ: Environment,
    processes: Vec<ProcessFacts>,
    units: Vec<UnitFacts>,
    existing: Vec<PathBuf>,
}

impl Scene {
    fn of(caller: &'static str) -> Self {
        Self {
            choice: Choice::default(),
            caller,
            environ: Environment::default(),
            processes: Vec::new(),
            units: Vec::new(),
            existing: Vec::new(),
        }
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        let environ = &mut self.environ.variables;
        environ.insert(name.to_owned(), value.to_owned());
        self
    }

    fn serve(mut self, pid: u32, uid: u32, home: &str) -> Self {
        let mut process = Facts::example().dispatcher.process.unwrap();
        process.pid = pid;
        process.uid = Fact::Known(uid);
        process.home = Fact::Known(home.into());
        process.cgroup = Fact::Known("/".to_owned());
        self.processes.push(process);
        self
    }

    fn last(mut self, edit: impl FnOnce(&mut ProcessFacts)) -> Self {
        edit(self.processes.last_mut().unwrap());
        self
    }

    fn unit(mut self, name: &str, home: &str) -> Self {
        let mut unit = Facts::example().dispatcher.unit.unwrap();
        unit.name = name.to_owned();
        unit.home = Some(home.into());
        unit.active_state = Some("inactive".to_owned());
        self.units.push(unit);
        self
    }

    fn ask(mut self, edit: impl FnOnce(&mut Choice)) -> Self {
        edit(&mut self.choice);
        self
    }

    fn choose(&self) -> Result<Chosen> {
        choose(&Field {
            choice: &self.choice,
            caller: &Table.by_name(self.caller).unwrap(),
            environ: &self.environ,
            processes: &self.processes,
            units: &self.units,
            existing: &self.existing,
            accounts: &Table,
        })
    }

    fn chosen(&self) -> (Viewpoint, Option<u32>, String) {
        let chosen = self.choose().unwrap();
        let home = chosen.home.path.display().to_string();
        (chosen.viewpoint, chosen.process, home)
    }
}

const BOT: &str = "/srv/bot/.hermes";

#[test]
fn a_running_serve_of_the_home_comes_first() {
    let scene = Scene::of("bot")
        .serve(5, 1001, "/elsewhere")
        .serve(9, 1001, BOT)
        .unit("hermes.service", BOT);
    assert_eq!(scene.chosen(), (Viewpoint::Serve, Some(9), BOT.to_owned()));
}

#[test]
fn a_gateway_comes_before_a_serve_of_the_same_home() {
    let scene = Scene::of("bot")
        .serve(5, 1001, BOT)
        .serve(9, 1001, BOT)
        .last(|process| {
            process.role = Role::Gateway;
            process.program = Some(Program::HermesAgent);
        });
    assert_eq!(
        scene.chosen(),
        (Viewpoint::Gateway, Some(9), BOT.to_owned())
    );
    assert!(scene.choose().unwrap().because.contains("one more"));
}

#[test]
fn then_a_unit_then_the_shell() {
    let unit = Scene::of("bot")
        .unit("x.service", "/other")
        .unit("hermes.service", BOT);
    let chosen = unit.choose().unwrap();
    assert_eq!(chosen.viewpoint, Viewpoint::Unit);
    assert_eq!(chosen.unit.unwrap().0, "hermes.service");
    assert_eq!(
        Scene::of("bot").chosen(),
        (Viewpoint::Shell, None, BOT.to_owned())
    );
}

#[test]
fn b43_a_home_that_is_not_there_gives_way_to_the_one_that_is_served() {
    let mut scene = Scene::of("bot").serve(5, 1001, "/else");
    assert_eq!(
        scene.chosen(),
        (Viewpoint::Serve, Some(5), "/else".to_owned())
    );
    scene.existing = vec![BOT.into()];
    assert_eq!(scene.chosen(), (Viewpoint::Shell, None, BOT.to_owned()));
    let unit = Scene::of("bot").unit("hermes.service", "/else");
    assert_eq!(unit.chosen(), (Viewpoint::Unit, None, "/else".to_owned()));
    let foreign = Scene::of("alice").serve(5, 1001, "/else");
    assert_eq!(foreign.chosen().0, Viewpoint::Shell);
}

#[test]
fn what_is_dead_or_in_a_container_does_not_dispatch() {
    let scene = Scene::of("bot")
        .serve(5, 1001, BOT)
        .last(|process| process.zombie = true)
        .serve(6, 1001, BOT)
        .last(|process| process.nested = true);
    assert_eq!(scene.chosen().0, Viewpoint::Shell);
}

#[test]
fn root_judges_who_dispatches_not_its_own_empty_home() {
    let scene = Scene::of("root").serve(9, 1001, BOT);
    let chosen = scene.choose().unwrap();
    assert_eq!(chosen.home.path, Path::new(BOT));
    assert_eq!(chosen.home.source, Source::Dispatcher);
    assert_eq!(chosen.account.name.as_deref(), Some("bot"));
}

#[test]
fn sudo_does_not_silently_judge_roots_home() {
    let sudo = || Scene::of("root").set("SUDO_USER", "alice");
    assert_eq!(sudo().chosen().2, "/home/alice/.hermes");
    let both = sudo()
        .serve(5, 0, "/root/.hermes")
        .serve(9, 1000, "/home/alice/.hermes");
    assert_eq!(both.chosen().1, Some(9));
    let mut own = sudo();
    own.existing = vec!["/root/.hermes".into()];
    assert_eq!(own.chosen().2, "/root/.hermes");
    own.existing.push("/home/alice/.hermes".into());
    assert_eq!(own.chosen().2, "/home/alice/.hermes");
    assert_eq!(
        sudo().ask(|choice| choice.shell = true).chosen().2,
        "/root/.hermes"
    );
}

#[test]
fn options_choose_the_home_with_them() {
    let scene = || {
        Scene::of("alice")
            .serve(9, 1001, BOT)
            .unit("hermes.service", BOT)
    };
    let by_pid = scene().ask(|choice| choice.pid = Some(9));
    assert_eq!(by_pid.chosen(), (Viewpoint::Pid, Some(9), BOT.to_owned()));
    let by_unit = scene().ask(|choice| choice.unit = Some("hermes".to_owned()));
    assert_eq!(by_unit.chosen(), (Viewpoint::Unit, None, BOT.to_owned()));
    let by_user = scene().ask(|choice| choice.user = Some("bot".to_owned()));
    assert_eq!(
        by_user.chosen(),
        (Viewpoint::Serve, Some(9), BOT.to_owned())
    );
    let flag = scene().ask(|choice| {
        choice.pid = Some(9);
        choice.home = Some("/else".into());
    });
    assert_eq!(flag.chosen().2, "/else");
    let environ = scene()
        .set("HERMES_HOME", "/mine")
        .ask(|choice| choice.pid = Some(9));
    assert_eq!(environ.chosen().2, BOT);
}

#[test]
fn a_profile_narrows_and_its_root_is_the_rule() {
    let profile = "/srv/bot/.hermes/profiles/ops";
    let scene = Scene::of("bot").set("HERMES_HOME", profile);
    assert_eq!(scene.chosen().2, BOT);
    let narrowed = Scene::of("bot")
        .serve(5, 1001, BOT)
        .serve(9, 1001, profile)
        .ask(|choice| choice.profile = Some("ops".to_owned()));
    assert_eq!(
        narrowed.chosen(),
        (Viewpoint::Serve, Some(9), profile.to_owned())
    );
}

#[test]
fn a_unit_that_runs_is_judged_by_its_process() {
    let group = Fact::Known("/system.slice/bot.service".to_owned());
    let scene = Scene::of("bot")
        .serve(9, 1001, "/srv/h")
        .last(|process| process.cgroup = group)
        .ask(|choice| choice.unit = Some("bot".to_owned()));
    let chosen = scene.choose().unwrap();
    assert_eq!(
        (chosen.viewpoint, chosen.process),
        (Viewpoint::Serve, Some(9))
    );
    let unit = Some(("bot.service".to_owned(), ManagerKind::System));
    assert_eq!(chosen.unit, unit);
}

#[test]
fn what_is_not_there_is_an_error() {
    let refused = |edit: fn(&mut Choice)| Scene::of("bot").ask(edit).choose().unwrap_err().kind();
    assert_eq!(refused(|choice| choice.pid = Some(1)), Kind::NotFound);
    assert_eq!(
        refused(|choice| choice.unit = Some("x".to_owned())),
        Kind::NotFound
    );
    assert_eq!(
        refused(|choice| choice.user = Some("x".to_owned())),
        Kind::NotFound
    );
    assert_eq!(
        refused(|choice| choice.home = Some("rel".into())),
        Kind::Usage
    );
    let two = |choice: &mut Choice| {
        choice.pid = Some(1);
        choice.shell = true;
    };
    assert_eq!(refused(two), Kind::Usage);
}
