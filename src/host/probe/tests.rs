//! Both stages, on the host that the tests run on.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::home::Source;
use crate::host::facts::Viewpoint;

/// A caller of this very account, whose home is `home`.
fn caller(home: &Path) -> Caller {
    Caller {
        account: AccountFacts {
            uid: rustix::process::geteuid().as_raw(),
            gid: None,
            name: None,
            home: Some(home.to_owned()),
        },
        environ: Environment::default(),
        now: SystemClock.now(),
    }
}

fn look(choice: &Choice, home: &Path) -> crate::host::Facts {
    let observed = observe(choice, &caller(home)).unwrap();
    complete(observed, &Arc::default(), Duration::from_secs(10)).unwrap()
}

#[test]
fn an_empty_home_is_judged_from_this_shell() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join(".hermes");
    let choice = Choice {
        home: Some(home.clone()),
        ..Choice::default()
    };
    let facts = look(&choice, dir.path());
    assert_eq!(facts.dispatcher.viewpoint, Viewpoint::Shell);
    assert_eq!(facts.dispatcher.environ_source, "this shell");
    assert_eq!(facts.home.source, Source::Flag);
    assert_eq!(facts.homes.len(), 1);
    assert_eq!(facts.homes[0].exists, Fact::Known(false));
    assert_eq!(facts.shell.role, Role::Shell);
    assert!(!home.exists(), "looking made the home");
}

#[test]
fn what_is_seen_can_be_written_down_and_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let choice = Choice {
        shell: true,
        home: Some(dir.path().to_owned()),
        ..Choice::default()
    };
    let facts = look(&choice, dir.path());
    let text = serde_json::to_string(&facts).unwrap();
    let read: crate::host::Facts = serde_json::from_str(&text).unwrap();
    assert_eq!(read.dispatcher, facts.dispatcher);
    assert_eq!(read.homes, facts.homes);
    assert_eq!(read.system_bus, facts.system_bus);
}

#[test]
fn profiles_of_the_root_are_looked_at_too() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("profiles/ops")).unwrap();
    let choice = Choice {
        home: Some(dir.path().join("profiles/ops")),
        ..Choice::default()
    };
    let facts = look(&choice, dir.path());
    let profiles: Vec<_> = facts
        .homes
        .iter()
        .map(|home| home.profile.as_str())
        .collect();
    assert_eq!(profiles, ["default", "ops"]);
}

#[test]
fn a_process_that_is_named_is_judged_whatever_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get();
    let choice = Choice {
        pid: Some(u32::try_from(parent).unwrap()),
        home: Some(dir.path().to_owned()),
        ..Choice::default()
    };
    let facts = look(&choice, dir.path());
    assert_eq!(facts.dispatcher.viewpoint, Viewpoint::Pid);
    assert_eq!(
        facts.dispatcher.process.unwrap().pid,
        u32::try_from(parent).unwrap()
    );
}

#[test]
fn nothing_named_that_is_not_there_is_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let choice = Choice {
        pid: Some(u32::MAX),
        ..Choice::default()
    };
    let observed = observe(&choice, &caller(dir.path())).unwrap();
    assert!(complete(observed, &Arc::default(), Duration::from_secs(10)).is_err());
}
