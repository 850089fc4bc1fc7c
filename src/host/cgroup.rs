//! What the path of a cgroup says: which unit a process belongs to, whose that unit is, and whether the
//! process is supervised by it. Pure.

use serde::{Deserialize, Serialize};

use super::facts::{Fact, ManagerKind};

/// The unit that a cgroup belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitOf {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub manager: ManagerKind,
    /// The account of that manager, for a user's.
    pub uid: Option<u32>,
}

/// Whether a process is supervised: a restart of its unit ends it and what it started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Supervision {
    /// It is, by a service that is visible in its cgroup.
    Service(UnitOf),
    /// Its cgroup is hidden, and `INVOCATION_ID` says that a service started it.
    Invocation,
    /// It is not.
    None,
    /// It cannot be told, and why.
    CannotTell(String),
}

impl Supervision {
    /// Whether it is supervised; `None`: cannot be told.
    #[must_use]
    pub fn known(&self) -> Option<bool> {
        match self {
            Self::Service(_) | Self::Invocation => Some(true),
            Self::None => Some(false),
            Self::CannotTell(_) => None,
        }
    }
}

/// The path of the cgroup by which systemd knows a process, from `/proc/PID/cgroup`: the unified
/// hierarchy's, unless that is the root, where systemd keeps a hierarchy of its own (version 1).
#[must_use]
pub fn path(text: &str) -> Option<String> {
    let of = |wanted: &str| {
        text.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            (controllers == wanted).then(|| path.strip_suffix(" (deleted)").unwrap_or(path))
        })
    };
    let (unified, named) = (of(""), of("name=systemd"));
    [unified, named]
        .into_iter()
        .flatten()
        .find(|path| *path != "/")
        .or(unified)
        .or(named)
        .map(str::to_owned)
}

/// Whether the path says nothing, because a cgroup namespace hides it.
#[must_use]
pub fn is_hidden(path: &str) -> bool {
    path == "/"
}

/// The innermost unit of the path, slices excepted; `None` where there is none, as in a container
/// whose runtime names its groups itself.
#[must_use]
pub fn unit(path: &str) -> Option<UnitOf> {
    let mut user = None;
    let mut found = None;
    for part in path.split('/') {
        if let Some(uid) = user_manager(part) {
            user = Some(uid);
        }
        if is_unit(part) {
            let inside = user_manager(part).is_none();
            found = Some(UnitOf {
                name: unescaped(part).to_owned(),
                manager: match user {
                    Some(_) if inside => ManagerKind::User,
                    _ => ManagerKind::System,
                },
                uid: user.filter(|_| inside),
            });
        }
    }
    found
}

/// The uid of `user@UID.service`.
fn user_manager(name: &str) -> Option<u32> {
    name.strip_prefix("user@")?
        .strip_suffix(".service")?
        .parse()
        .ok()
}

fn is_unit(name: &str) -> bool {
    [".service", ".scope"]
        .iter()
        .any(|suffix| name.len() > suffix.len() && name.ends_with(suffix))
}

/// systemd puts an underscore before names that would collide with files of the kernel.
fn unescaped(name: &str) -> &str {
    name.strip_prefix('_').unwrap_or(name)
}

/// Whether a process with this cgroup is supervised. `invocation`: whether its environment has
/// `INVOCATION_ID`; `None` where the environment could not be read.
#[must_use]
pub fn supervision(cgroup: &Fact<String>, invocation: Option<bool>) -> Supervision {
    let hidden = match cgroup {
        Fact::Known(path) if !is_hidden(path) => return by_path(path, invocation),
        Fact::Known(_) => "its cgroup is hidden".to_owned(),
        Fact::Unknown(gap) => gap.why.clone(),
    };
    match invocation {
        Some(true) => Supervision::Invocation,
        Some(false) => Supervision::None,
        None => Supervision::CannotTell(format!("{hidden}, and so is its environment")),
    }
}

fn by_path(path: &str, invocation: Option<bool>) -> Supervision {
    let service = unit(path)
        .filter(|unit| unit.name.ends_with(".service") && user_manager(&unit.name).is_none());
    match (service, invocation) {
        (None, _) | (Some(_), Some(false)) => Supervision::None,
        // A service's processes have the variable unless somebody took it away; who can say?
        (Some(unit), _) => Supervision::Service(unit),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(path: &str) -> (String, ManagerKind, Option<u32>) {
        let unit = unit(path).unwrap();
        (unit.name, unit.manager, unit.uid)
    }

    #[test]
    fn the_unit_and_its_manager() {
        assert_eq!(
            of("/system.slice/hermes.service"),
            ("hermes.service".to_owned(), ManagerKind::System, None)
        );
        let user = "/user.slice/user-990.slice/user@990.service";
        assert_eq!(
            of(&format!("{user}/app.slice/demo.service")),
            ("demo.service".to_owned(), ManagerKind::User, Some(990))
        );
        assert_eq!(
            of(user),
            ("user@990.service".to_owned(), ManagerKind::System, None)
        );
        assert_eq!(
            of("/user.slice/user-990.slice/session-3.scope"),
            ("session-3.scope".to_owned(), ManagerKind::System, None)
        );
        assert_eq!(of("/system.slice/a.service/delegated/leaf").0, "a.service");
        assert_eq!(of("/system.slice/_cpu.service").0, "cpu.service");
        assert_eq!(unit("/docker/4f"), None);
        assert_eq!(unit("/"), None);
    }

    #[test]
    fn the_hierarchy_of_systemd_is_found_on_every_layout() {
        let unified = "9:name=systemd:/\n1:cpu:/\n0::/system.slice/a.service\n";
        assert_eq!(path(unified).unwrap(), "/system.slice/a.service");
        let legacy = "9:name=systemd:/system.slice/b.service\n1:cpu:/\n0::/\n";
        assert_eq!(path(legacy).unwrap(), "/system.slice/b.service");
        assert_eq!(path("0::/\n").unwrap(), "/");
        assert_eq!(path("0::/x:y.scope (deleted)\n").unwrap(), "/x:y.scope");
        assert_eq!(path("1:cpu:/\n"), None);
    }

    fn judged(path: &str, invocation: Option<bool>) -> Option<bool> {
        supervision(&Fact::Known(path.to_owned()), invocation).known()
    }

    #[test]
    fn supervised_is_a_service_with_an_invocation() {
        let service = "/system.slice/hermes.service";
        assert_eq!(judged(service, Some(true)), Some(true));
        assert_eq!(judged(service, Some(false)), Some(false));
        assert_eq!(judged(service, None), Some(true));
        let manager = "/user.slice/user-990.slice/user@990.service";
        assert_eq!(judged(manager, Some(true)), Some(false));
        let scope = format!("{manager}/app.slice/x.scope");
        assert_eq!(judged(&scope, Some(true)), Some(false));
        assert_eq!(judged("/docker/4f", Some(true)), Some(false));
    }

    #[test]
    fn where_the_cgroup_is_hidden_the_invocation_alone_counts() {
        assert_eq!(judged("/", Some(true)), Some(true));
        assert_eq!(judged("/", Some(false)), Some(false));
        assert_eq!(judged("/", None), None);
        let hidden = Fact::hidden("no /proc");
        assert_eq!(supervision(&hidden, Some(true)), Supervision::Invocation);
    }

    proptest! {
        #[test]
        fn no_path_panics_and_a_scope_is_never_supervision(text in ".{0,60}") {
            drop((path(&text), unit(&text)));
            let scoped = format!("/{text}/x.scope");
            prop_assert_eq!(judged(&scoped, Some(true)), Some(false));
        }
    }
}
