//! A manager of a few lines at the other end: negotiation, jobs, descriptors, ends.

use std::{
    collections::HashMap,
    io::{PipeReader, Read, Write},
    os::fd::OwnedFd,
    sync::{Arc, Mutex},
};

use zbus::{Message, ObjectPath, OwnedVariant, Variant, message::Header, names::MemberName};

use super::*;
use crate::bus::{
    Door, Limits, Patience, dial,
    fake::{Fake, refuses, returns},
};

/// The last argument of `StartTransientUnit`.
type Auxiliary<'a> = Vec<(String, Vec<(String, Variant<'a>)>)>;

const WITHIN: Duration = Duration::from_secs(20);
const READ_ONLY: &str = "org.freedesktop.DBus.Error.PropertyReadOnly";
const JOB: &str = "/org/freedesktop/systemd1/job/7";

/// A manager of twenty lines: what it rejects, how its jobs end, and what it was asked.
#[derive(Clone, Default)]
struct Manager {
    rejects: Vec<&'static str>,
    error: Option<&'static str>,
    result: Option<&'static str>,
    unit: Option<Vec<(&'static str, &'static str)>>,
    asked: Arc<Mutex<Vec<String>>>,
    offered: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Manager {
    fn answer(&mut self, message: &Message) -> Vec<Message> {
        let header = message.header();
        let member = header
            .member()
            .map(MemberName::as_str)
            .unwrap_or_default()
            .to_owned();
        self.asked.lock().unwrap().push(member.clone());
        match member.as_str() {
            "StartTransientUnit" => self.start(&header, message),
            "GetUnit" if self.unit.is_some() => {
                vec![returns(&header, &ObjectPath::try_from("/unit").unwrap())]
            }
            "GetUnit" => vec![refuses(&header, NO_SUCH_UNIT, "not loaded")],
            "GetAll" => vec![returns(&header, &self.properties())],
            "Hello" => vec![returns(&header, &":1.9")],
            "NameHasOwner" => vec![returns(&header, &true)],
            "Get" => vec![returns(&header, &Variant::from("252"))],
            _ => vec![returns(&header, &())],
        }
    }

    fn properties(&self) -> HashMap<String, OwnedVariant> {
        let pairs = self.unit.clone().unwrap_or_default().into_iter();
        let owned = |value: &str| Variant::from(value.to_owned()).try_into_owned().unwrap();
        pairs
            .map(|(name, value)| (name.to_owned(), owned(value)))
            .collect()
    }

    fn start(&self, header: &Header<'_>, message: &Message) -> Vec<Message> {
        let names = offered(message);
        self.offered.lock().unwrap().push(names.clone());
        if let Some(error) = self.error {
            return vec![refuses(header, error, "no")];
        }
        if names
            .iter()
            .any(|name| self.rejects.contains(&name.as_str()))
        {
            return vec![refuses(header, READ_ONLY, "Cannot set property")];
        }
        let reply = returns(header, &ObjectPath::try_from(JOB).unwrap());
        let Some(result) = self.result else {
            return vec![reply];
        };
        // Another job's end, and our own even before the reply: both happen.
        vec![
            removed("/org/freedesktop/systemd1/job/6", "failed"),
            removed(JOB, result),
            reply,
        ]
    }

    fn asked_for(&self, member: &str) -> usize {
        self.asked
            .lock()
            .unwrap()
            .iter()
            .filter(|asked| *asked == member)
            .count()
    }
}

fn offered(message: &Message) -> Vec<String> {
    let body = message.body();
    let (_, _, properties, _): (String, String, Vec<(String, Variant<'_>)>, Auxiliary<'_>) =
        body.deserialize().unwrap();
    properties.into_iter().map(|(name, _)| name).collect()
}

fn removed(job: &str, result: &str) -> Message {
    let interface = "org.freedesktop.systemd1.Manager";
    Message::signal("/org/freedesktop/systemd1", interface, "JobRemoved")
        .build(&(
            7_u32,
            ObjectPath::try_from(job).unwrap(),
            "demo.scope",
            result,
        ))
        .unwrap()
}

async fn through(door: Door, manager: &Manager) -> (Fake, Client) {
    let mut answering = manager.clone();
    let fake = Fake::answering(move |message: &Message| answering.answer(message));
    let uid = rustix::process::getuid().as_raw();
    let (report, client) = dial(door, &fake.path(), uid, Patience::default()).await;
    assert_eq!(report.refusal(), None);
    (fake, client.unwrap())
}

fn scope() -> Scope {
    Scope {
        name: "demo.scope".to_owned(),
        description: "a demonstration".to_owned(),
        pids: vec![42],
        limits: Limits {
            memory_max: Some(1 << 20),
            tasks_max: Some(9),
            ..Limits::default()
        },
    }
}

async fn place(manager: &Manager) -> Result<Started, StartError> {
    let (_fake, client) = through(Door::Private, manager).await;
    client.place(&scope(), WITHIN).await
}

#[tokio::test]
async fn a_scope_is_there_when_its_job_is_done() {
    let manager = Manager {
        result: Some("done"),
        unit: Some(vec![
            ("Id", "demo.scope"),
            ("ControlGroup", "/x/demo.scope"),
        ]),
        ..Manager::default()
    };
    let started = place(&manager).await.unwrap();
    assert_eq!(started.control_group.as_deref(), Some("/x/demo.scope"));
    assert!(started.dropped.is_empty());
    let all = ["Description", "PIDs", "OOMPolicy", "MemoryMax", "TasksMax"];
    assert_eq!(*manager.offered.lock().unwrap(), [all]);
    assert_eq!(
        manager.asked_for("Subscribe"),
        0,
        "the private door sends signals unasked"
    );
}

#[tokio::test]
async fn b01_a_rejected_property_costs_itself_only() {
    let manager = Manager {
        rejects: vec!["OOMPolicy"],
        result: Some("done"),
        ..Manager::default()
    };
    let started = place(&manager).await.unwrap();
    assert_eq!(started.dropped, ["OOMPolicy"]);
    let last = manager.offered.lock().unwrap().last().cloned().unwrap();
    assert_eq!(last, ["Description", "PIDs", "MemoryMax", "TasksMax"]);
}

#[tokio::test]
async fn several_rejected_properties_are_given_up_together() {
    let manager = Manager {
        rejects: vec!["OOMPolicy", "TasksMax"],
        result: Some("done"),
        ..Manager::default()
    };
    let started = place(&manager).await.unwrap();
    assert_eq!(started.dropped, ["OOMPolicy", "MemoryMax", "TasksMax"]);
}

#[tokio::test]
async fn what_is_refused_bare_is_refused() {
    let denied = "org.freedesktop.DBus.Error.AccessDenied";
    let manager = Manager {
        error: Some(denied),
        ..Manager::default()
    };
    let Err(StartError::Refused(error)) = place(&manager).await else {
        panic!("not refused")
    };
    assert_eq!(error.name(), Some(denied));
    let last = manager.offered.lock().unwrap().last().cloned().unwrap();
    assert_eq!(last, ["Description", "PIDs"]);
}

#[tokio::test]
async fn a_taken_name_is_not_negotiated() {
    let manager = Manager {
        error: Some(UNIT_EXISTS),
        ..Manager::default()
    };
    assert_eq!(place(&manager).await, Err(StartError::NameTaken));
    assert_eq!(manager.offered.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_refused_move_is_read_and_forgotten() {
    let manager = Manager {
        result: Some("failed"),
        unit: Some(vec![
            ("Id", "demo.scope"),
            ("Result", "resources"),
            ("ActiveState", "failed"),
        ]),
        ..Manager::default()
    };
    let failed = StartError::Failed {
        job: "failed".to_owned(),
        result: Some("resources".to_owned()),
        status: None,
    };
    assert_eq!(place(&manager).await, Err(failed));
    let asked = manager.asked.lock().unwrap().clone();
    let at = |member: &str| asked.iter().position(|asked| asked == member).unwrap();
    assert!(
        at("GetAll") < at("ResetFailedUnit"),
        "the result is read before it is reset"
    );
}

#[tokio::test]
async fn a_job_that_never_ends_is_given_up() {
    let manager = Manager::default();
    let (_fake, client) = through(Door::Private, &manager).await;
    let within = Duration::from_millis(30);
    let result = client.place(&scope(), within).await;
    assert_eq!(result, Err(StartError::Unfinished(within)));
    assert_eq!(
        manager.asked_for("StopUnit"),
        0,
        "our own process may be in it by now"
    );
}

#[tokio::test]
async fn a_manager_that_hangs_up_is_lost() {
    let manager = Manager::default();
    let (fake, client) = through(Door::Private, &manager).await;
    drop(fake);
    let mut short = client;
    short.patience = Duration::from_millis(50);
    let result = short.place(&scope(), Duration::from_millis(50)).await;
    assert!(
        matches!(result, Err(StartError::Lost(_) | StartError::Unfinished(_))),
        "{result:?}"
    );
}

#[tokio::test]
async fn a_bus_is_told_to_pass_the_signal_on_first() {
    let manager = Manager {
        result: Some("done"),
        ..Manager::default()
    };
    let (_fake, client) = through(Door::SessionBus, &manager).await;
    client.place(&scope(), WITHIN).await.unwrap();
    let asked = manager.asked.lock().unwrap().clone();
    let at = |member: &str| asked.iter().position(|asked| asked == member).unwrap();
    assert!(at("AddMatch") < at("Subscribe") && at("Subscribe") < at("StartTransientUnit"));
}

fn pipe() -> (PipeReader, OwnedFd) {
    let (reader, writer) = std::io::pipe().unwrap();
    (reader, writer.into())
}

/// Says a word into the standard output that came with the call.
fn speak(message: &Message) -> Vec<(String, Vec<String>, Vec<String>)> {
    let body = message.body();
    let (_, _, properties, _): (String, String, Vec<(String, Variant<'_>)>, Auxiliary<'_>) =
        body.deserialize().unwrap();
    let mut commands = Vec::new();
    for (name, value) in properties {
        match (name.as_str(), value) {
            ("StandardOutputFileDescriptor", Variant::Fd(fd)) => {
                let owned: OwnedFd = fd.try_to_owned().unwrap().try_into().unwrap();
                fs_err::File::from_parts(owned.into(), "stdout")
                    .write_all(b"hello")
                    .unwrap();
            }
            ("ExecStartEx", value) => {
                commands = value.downcast().unwrap();
            }
            _ => {}
        }
    }
    commands
}

#[tokio::test]
async fn a_service_gets_its_descriptors_and_its_words_untouched() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let manager = Manager {
        result: Some("done"),
        ..Manager::default()
    };
    let (mut answering, told) = (manager.clone(), Arc::clone(&heard));
    let fake = Fake::answering(move |message: &Message| {
        if message
            .header()
            .member()
            .is_some_and(|name| name.as_str() == "StartTransientUnit")
        {
            told.lock().unwrap().extend(speak(message));
        }
        answering.answer(message)
    });
    let uid = rustix::process::getuid().as_raw();
    let (_, client) = dial(Door::Private, &fake.path(), uid, Patience::default()).await;
    let (mut output, stdout) = pipe();
    let (_errors, stderr) = pipe();
    let words = ["/bin/hermes", "worker", "$HOME", "$$"]
        .map(str::to_owned)
        .to_vec();
    let service = Service {
        name: "demo.service".to_owned(),
        description: "a demonstration".to_owned(),
        argv: words.clone(),
        environment: vec![("LANG".to_owned(), "C".to_owned())],
        directory: Some("/".to_owned()),
        stdio: [std::io::pipe().unwrap().0.into(), stdout, stderr],
        limits: Limits::default(),
    };
    client.unwrap().launch(&service, WITHIN).await.unwrap();
    drop(service);
    let mut said = String::new();
    output.read_to_string(&mut said).unwrap();
    assert_eq!(
        said, "hello",
        "and then end of file, all copies being closed"
    );
    let commands = heard.lock().unwrap().clone();
    let expected = (
        "/bin/hermes".to_owned(),
        words,
        vec!["no-env-expand".to_owned()],
    );
    assert_eq!(commands, [expected]);
    let offered = manager.offered.lock().unwrap().concat();
    assert!(
        !offered
            .iter()
            .any(|name| name == "Restart" || name == "CollectMode")
    );
}

#[tokio::test]
async fn the_end_of_a_unit_is_told_apart() {
    let end = async |unit: Option<Vec<(&'static str, &'static str)>>| {
        let (_fake, client) = through(
            Door::Private,
            &Manager {
                unit,
                ..Manager::default()
            },
        )
        .await;
        client.end("demo.scope").await.unwrap()
    };
    assert_eq!(end(None).await, UnitEnd::Gone);
    let active = Some(vec![("Id", "demo.scope"), ("ActiveState", "active")]);
    assert_eq!(end(active).await, UnitEnd::Running);
    let failed = Some(vec![
        ("Id", "demo.scope"),
        ("ActiveState", "failed"),
        ("Result", "oom-kill"),
    ]);
    let oom = UnitEnd::Failed {
        result: "oom-kill".to_owned(),
        code: None,
        status: None,
    };
    assert_eq!(end(failed).await, oom);
}
