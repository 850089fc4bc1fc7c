//! Whole hosts in a folder, probed.

use std::{collections::HashMap, os::unix::fs::PermissionsExt};

use super::*;
use crate::bus::{
    Door,
    fake::{Call, Fake, MemberName, OwnedVariant, Variant, refuses, returns},
};

const UNKNOWN_METHOD: &str = "org.freedesktop.DBus.Error.UnknownMethod";

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// A host in a folder: no bus, no runtime directory, no linger.
fn empty(folder: &Path) -> Places {
    Places {
        system_bus: folder.join("system_bus_socket"),
        system_private: folder.join("private"),
        system_owner: own_uid(),
        linger: folder.join("linger"),
        run_user: folder.join("user"),
    }
}

fn subject() -> Subject {
    Subject {
        uid: own_uid(),
        name: Some("bot".to_owned()),
        ..Subject::default()
    }
}

/// A private folder, as logind makes it.
fn private_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mode = std::fs::Permissions::from_mode(0o700);
    fs_err::set_permissions(folder.path(), mode).unwrap();
    folder
}

/// A bus on which `holder` holds the only connection; as a manager it is PID 1 or a user's.
fn bus(holder: u32) -> impl FnMut(&Call) -> Vec<Call> + Clone + Send + 'static {
    move |message| {
        let header = message.header();
        let reply = match header.member().map(MemberName::as_str) {
            Some("Hello") => returns(&header, &":1.1"),
            Some("NameHasOwner") => {
                let name: String = message.body().deserialize().unwrap();
                returns(&header, &(name == "org.freedesktop.systemd1"))
            }
            Some("ListNames") => returns(&header, &vec!["org.freedesktop.DBus", ":1.4"]),
            Some("GetConnectionUnixProcessID") => returns(&header, &holder),
            Some("Get") => returns(&header, &Variant::from("252")),
            Some("GetAll") => returns(&header, &HashMap::<String, OwnedVariant>::new()),
            Some("ListUnitFilesByPatterns") => returns(
                &header,
                &vec![("/lib/systemd/system/user@.service", "masked-runtime")],
            ),
            Some("GetUnit") => refuses(&header, "org.freedesktop.systemd1.NoSuchUnit", "no"),
            _ => refuses(&header, UNKNOWN_METHOD, "no"),
        };
        vec![reply]
    }
}

/// Runtime directory with a user manager behind its private socket, and the whole probed.
async fn probed(places: &Places) -> (BusFacts, Fake) {
    let manager = Fake::answering_at(private_folder(), "systemd/private", bus(0));
    let runtime_dir = Some(manager.folder().to_string_lossy().into_owned());
    let (facts, managers) = probe(
        &Subject {
            runtime_dir,
            ..subject()
        },
        places,
        Patience::default(),
    )
    .await;
    assert!(managers.user.is_some());
    (facts, manager)
}

#[tokio::test]
async fn an_empty_host_is_described_without_a_guess() {
    let folder = private_folder();
    let (facts, managers) = probe(&subject(), &empty(folder.path()), Patience::default()).await;
    assert!(managers.system.is_none() && managers.user.is_none());
    assert!(facts.runtime_dir.unset);
    assert_eq!(facts.runtime_dir.path, None);
    assert_eq!(facts.session_bus.doors.len(), 2);
    for door in &facts.session_bus.doors {
        let (stage, failure) = door.refusal().unwrap();
        assert_eq!(
            (stage, failure.kind),
            (Stage::RuntimeDir, FailureKind::Absent)
        );
    }
    assert!(matches!(facts.session_bus.placement, Placement::Unknown(_)));
    assert_eq!(facts.linger_marker, LingerMarker::NoDirectory);
    assert_eq!(facts.system_bus.user_manager, None);
    let kind = facts.system_bus.logind.failure.map(|failure| failure.kind);
    assert_eq!(kind, Some(FailureKind::Absent));
}

#[tokio::test]
async fn the_directory_in_which_the_manager_answers_goes_before_the_one_that_is_named() {
    let uid = own_uid();
    let name = format!("{uid}/systemd/private");
    let manager = Fake::answering_at(private_folder(), &name, bus(0));
    let places = empty(manager.folder());
    let places = Places {
        run_user: manager.folder().to_owned(),
        ..places
    };
    let named = private_folder();
    let subject = Subject {
        runtime_dir: Some(named.path().display().to_string()),
        ..subject()
    };
    let (facts, managers) = probe(&subject, &places, Patience::default()).await;
    let own = manager.folder().join(uid.to_string());
    assert_eq!(facts.runtime_dir.path.as_deref(), own.to_str());
    assert_eq!(facts.runtime_dir.origin, Some(Origin::Conventional));
    assert!(facts.session_bus.answering().is_some() && managers.user.is_some());
    let named = facts.runtime_dir.passed_over().map(|named| named.origin);
    assert_eq!(named, Some(Origin::Environment));
    // Where it answers nowhere, the one that is named counts.
    drop(manager);
    let (facts, _) = probe(&subject, &places, Patience::default()).await;
    assert_eq!(facts.runtime_dir.path, subject.runtime_dir);
    assert_eq!(facts.runtime_dir.passed_over(), None);
}

#[tokio::test]
async fn a_manager_on_the_system_bus_can_place() {
    let system = Fake::answering(bus(std::process::id()));
    let places = Places {
        system_bus: system.path(),
        ..empty(system.folder())
    };
    let (facts, _manager) = probed(&places).await;
    assert_eq!(facts.session_bus.placement, Placement::Able);
    let private = facts.session_bus.answering().unwrap();
    assert_eq!(private.door, Door::Private);
    assert!(private.passed(Stage::ManagerCanPlace));
    assert!(
        facts.system_bus.logind.failure.is_some(),
        "nobody owns logind's name"
    );
    assert_eq!(facts.system_bus.user_manager_failure, None);
    let unit = facts.system_bus.user_manager.unwrap();
    assert_eq!(
        unit.load_state, "masked",
        "not loaded, and its file says why"
    );
}

#[tokio::test]
async fn a_manager_that_lost_the_system_bus_cannot_place() {
    let system = Fake::answering(bus(1));
    let places = Places {
        system_bus: system.path(),
        ..empty(system.folder())
    };
    let (facts, _manager) = probed(&places).await;
    let private = facts.session_bus.answering().unwrap();
    let (stage, failure) = private.refusal().unwrap();
    assert_eq!(
        (stage, failure.kind),
        (Stage::ManagerCanPlace, FailureKind::LostSystemBus)
    );
    assert!(matches!(facts.session_bus.placement, Placement::Unable(_)));
}

#[tokio::test]
async fn without_a_system_bus_nobody_can_place() {
    let folder = private_folder();
    let (facts, _manager) = probed(&empty(folder.path())).await;
    let private = facts.session_bus.answering().unwrap();
    let (stage, failure) = private.refusal().unwrap();
    assert_eq!(
        (stage, failure.kind),
        (Stage::ManagerCanPlace, FailureKind::NoSystemBus)
    );
    assert_eq!(failure.errno, Some(2));
}

#[tokio::test]
async fn the_answers_for_a_child_are_the_same_doors() {
    let manager = Fake::answering_at(private_folder(), "systemd/private", bus(0));
    let request = serde_json::json!({
        "uid": own_uid(), "folder": manager.folder(), "stage_ms": 400, "total_ms": 900,
    });
    let answer = doors_from_stdin(request.to_string().as_bytes())
        .await
        .unwrap();
    let doors: Vec<DoorReport> = serde_json::from_slice(&answer).unwrap();
    assert!(doors[0].answers());
    let (stage, failure) = doors[1].refusal().unwrap();
    assert_eq!((stage, failure.kind), (Stage::Socket, FailureKind::Absent));
    assert!(doors_from_stdin(b"{}").await.is_err());
}

#[test]
fn b10_the_own_directory_is_found_beside_a_leaked_one() {
    let folder = private_folder();
    let places = empty(folder.path());
    let own = places.run_user.join(own_uid().to_string());
    fs_err::create_dir_all(&own).unwrap();
    fs_err::set_permissions(&own, std::fs::Permissions::from_mode(0o700)).unwrap();
    let leaked = places.run_user.join("leaked");
    std::os::unix::fs::symlink(&own, &leaked).unwrap();
    let named = Some(leaked.to_string_lossy().into_owned());
    let found = runtime_dir(
        &Subject {
            runtime_dir: named,
            ..subject()
        },
        &places,
    );
    assert_eq!(found.path.as_deref(), own.to_str());
    assert_eq!(found.origin, Some(Origin::Conventional));
    let rejected = found.candidates[0]
        .rejected
        .as_ref()
        .map(|failure| failure.kind);
    assert_eq!(rejected, Some(FailureKind::NotADirectory));
}

#[test]
fn an_empty_variable_is_an_unset_one() {
    let folder = private_folder();
    let emptied = Subject {
        runtime_dir: Some(String::new()),
        ..subject()
    };
    let found = runtime_dir(&emptied, &empty(folder.path()));
    assert!(found.unset);
    assert_eq!(found.candidates.len(), 1);
}

#[test]
fn the_marker_of_linger_is_looked_for() {
    let folder = private_folder();
    let places = empty(folder.path());
    assert_eq!(
        linger_marker(&places.linger, "bot"),
        LingerMarker::NoDirectory
    );
    fs_err::create_dir(&places.linger).unwrap();
    assert_eq!(linger_marker(&places.linger, "bot"), LingerMarker::Absent);
    fs_err::write(places.linger.join("bot"), "").unwrap();
    assert_eq!(linger_marker(&places.linger, "bot"), LingerMarker::Present);
    let Places { linger, .. } = places;
    assert!(matches!(
        linger_marker(&linger.join("bot"), "x"),
        LingerMarker::Unknown(_)
    ));
}
