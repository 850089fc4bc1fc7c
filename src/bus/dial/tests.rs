//! Doors of every kind, made here, and the stage and name of each refusal.

use std::os::unix::net::UnixStream as StdStream;

use proptest::prelude::*;
use zbus::{Message, OwnedVariant, Variant, names::MemberName};

use super::*;
use crate::bus::fake::{Fake, GUID, refuses, returns, stale};

const SHORT: Patience = Patience {
    stage: Duration::from_millis(60),
    total: Duration::from_millis(150),
};

fn own_uid() -> u32 {
    rustix::process::getuid().as_raw()
}

async fn refusal(door: Door, path: &Path) -> (Stage, Failure) {
    let (report, _) = dial(door, path, own_uid(), SHORT).await;
    assert!(!report.answers());
    let (stage, failure) = report.refusal().expect("a refusal");
    assert_eq!(
        report.stages.last().map(|tried| tried.stage),
        Some(stage),
        "nothing after it"
    );
    (stage, failure.clone())
}

async fn refused_kind(path: &Path) -> (Stage, FailureKind) {
    let (stage, failure) = refusal(Door::SessionBus, path).await;
    (stage, failure.kind)
}

#[tokio::test]
async fn what_is_not_there_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (stage, absent) = refusal(Door::Private, &at("bus")).await;
    assert_eq!(
        (stage, absent.kind, absent.errno),
        (Stage::Socket, FailureKind::Absent, Some(2))
    );
    fs_err::write(at("plain"), "").unwrap();
    assert_eq!(
        refused_kind(&at("plain")).await,
        (Stage::Socket, FailureKind::NotASocket)
    );
    assert_eq!(
        refused_kind(&at("plain/bus")).await,
        (Stage::Socket, FailureKind::NotADirectory)
    );
    let (stage, refused) = refusal(Door::SessionBus, &stale(folder.path())).await;
    assert_eq!(
        (stage, refused.kind),
        (Stage::Connect, FailureKind::Refused)
    );
    assert_eq!(refused.errno, Some(111));
}

#[tokio::test]
async fn a_path_longer_than_an_address_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("d".repeat(100));
    fs_err::create_dir(&deep).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(folder.path().join("b")).unwrap();
    fs_err::rename(folder.path().join("b"), deep.join("b")).unwrap();
    assert_eq!(
        refused_kind(&deep.join("b")).await,
        (Stage::Connect, FailureKind::PathTooLong)
    );
    drop(listener);
}

#[tokio::test]
async fn a_full_backlog_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bus");
    let address = SocketAddrUnix::new(&path).unwrap();
    let listener = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    rustix::net::bind(&listener, &address).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let _queued = StdStream::connect(&path).unwrap();
    let (stage, full) = refusal(Door::SessionBus, &path).await;
    assert_eq!(
        (stage, full.kind, full.errno),
        (Stage::Connect, FailureKind::BacklogFull, Some(11))
    );
}

#[tokio::test]
async fn a_listener_of_a_stranger_is_not_spoken_to() {
    let fake = Fake::saying(b"", true);
    let stranger = own_uid() + 1;
    let (report, client) = dial(Door::SessionBus, &fake.path(), stranger, SHORT).await;
    if own_uid() == 0 {
        assert!(report.passed(Stage::Connect), "root may listen for anybody");
        return;
    }
    let (stage, failure) = report.refusal().unwrap();
    assert_eq!(
        (stage, failure.kind),
        (Stage::Connect, FailureKind::ForeignPeer)
    );
    assert!(client.is_none());
}

#[tokio::test]
async fn the_handshake_names_what_it_met() {
    let auth = Stage::Authenticate;
    let mute = Fake::saying(b"", true);
    assert_eq!(refused_kind(&mute.path()).await, (auth, FailureKind::Mute));
    let drip = Fake::saying(b"O", true);
    assert_eq!(refused_kind(&drip.path()).await, (auth, FailureKind::Mute));
    let closes = Fake::saying(b"", false);
    assert_eq!(
        refused_kind(&closes.path()).await,
        (auth, FailureKind::Closed)
    );
    let garbage = Fake::saying(b"SSH-2.0-OpenSSH_9.2\r\n", true);
    let (stage, failure) = refusal(Door::SessionBus, &garbage.path()).await;
    assert_eq!((stage, failure.kind), (auth, FailureKind::Garbage));
    assert_eq!(failure.text.as_deref(), Some("SSH-2.0-OpenSSH_9.2"));
    let rejects = Fake::saying(b"REJECTED EXTERNAL\r\n", true);
    let (stage, failure) = refusal(Door::SessionBus, &rejects.path()).await;
    assert_eq!((stage, failure.kind), (auth, FailureKind::Rejected));
    assert_eq!(failure.text.as_deref(), Some("REJECTED EXTERNAL"));
}

#[tokio::test]
async fn let_in_and_then_silence_is_a_missing_hello() {
    let mute = Fake::answering(|_| Vec::new());
    assert_eq!(
        refused_kind(&mute.path()).await,
        (Stage::Hello, FailureKind::Mute)
    );
    let (stage, failure) = refusal(Door::Private, &mute.path()).await;
    assert_eq!(
        (stage, failure.kind),
        (Stage::ManagerAnswers, FailureKind::Mute)
    );
}

#[tokio::test]
async fn let_in_and_then_nonsense_is_garbage() {
    let nonsense = Fake::serving(|mut stream| async move {
        let greeting = format!("OK {GUID}\r\nAGREE_UNIX_FD\r\nl\u{0}nonsense, not a message");
        stream.write_all(greeting.as_bytes()).await.unwrap();
        std::future::pending::<()>().await;
    });
    assert_eq!(
        refused_kind(&nonsense.path()).await,
        (Stage::Hello, FailureKind::Garbage)
    );
}

/// A bus, with a manager on it or not.
fn bus(manager: bool) -> impl FnMut(&Message) -> Vec<Message> + Clone + Send + 'static {
    move |message| {
        let header = message.header();
        let flags = header.primary().flags();
        assert!(
            flags.contains(zbus::message::Flags::NO_AUTO_START),
            "would start a service"
        );
        let reply = match header.member().map(MemberName::as_str) {
            Some("Hello") => returns(&header, &":1.7"),
            Some("NameHasOwner") => returns(&header, &manager),
            Some("GetConnectionUnixProcessID") => returns(&header, &4711_u32),
            Some("Get") => {
                assert!(manager, "asked a manager that is not there");
                let (_, name): (String, String) = message.body().deserialize().unwrap();
                let text = if name == "Version" {
                    "252.1"
                } else {
                    "degraded"
                };
                returns(&header, &Variant::from(text))
            }
            _ => refuses(
                &header,
                "org.freedesktop.DBus.Error.UnknownMethod",
                "unknown",
            ),
        };
        vec![reply]
    }
}

#[tokio::test]
async fn a_bus_with_a_manager_answers() {
    let fake = Fake::answering(bus(true));
    let (report, client) = dial(
        Door::SessionBus,
        &fake.path(),
        own_uid(),
        Patience::default(),
    )
    .await;
    assert_eq!(report.refusal(), None);
    let stages: Vec<Stage> = report.stages.iter().map(|tried| tried.stage).collect();
    let all = [
        Stage::Socket,
        Stage::Connect,
        Stage::Authenticate,
        Stage::Hello,
        Stage::ManagerAnswers,
    ];
    assert_eq!(stages, all);
    let manager = report.manager.unwrap();
    assert_eq!(manager.version, "252.1");
    assert_eq!(manager.state.as_deref(), Some("degraded"));
    assert_eq!(manager.pid, Some(4711));
    assert!(client.is_some());
}

#[tokio::test]
async fn the_private_door_has_no_hello() {
    let fake = Fake::answering(bus(true));
    let (report, _) = dial(Door::Private, &fake.path(), own_uid(), Patience::default()).await;
    assert!(report.answers());
    assert!(
        report
            .stages
            .iter()
            .all(|tried| tried.stage != Stage::Hello)
    );
    assert_eq!(report.manager.unwrap().pid, Some(std::process::id()));
}

#[tokio::test]
async fn a_bus_without_a_manager_is_not_a_mute_one() {
    let fake = Fake::answering(bus(false));
    let (report, client) = dial(Door::SessionBus, &fake.path(), own_uid(), SHORT).await;
    let (stage, failure) = report.refusal().unwrap();
    assert_eq!(
        (stage, failure.kind),
        (Stage::ManagerAnswers, FailureKind::NoManager)
    );
    assert!(client.is_some(), "the bus itself can still be asked");
}

#[tokio::test]
async fn a_bus_that_said_that_there_is_no_manager_and_then_stalls_has_none() {
    let mut answer = bus(false);
    let mut asked = 0;
    let fake = Fake::answering(move |message: &Message| {
        let is_owner = |member: &str| member == "NameHasOwner";
        asked += usize::from(message.header().member().is_some_and(|name| is_owner(name)));
        if asked > 1 {
            return Vec::new();
        }
        answer(message)
    });
    let (stage, failure) = refusal(Door::SessionBus, &fake.path()).await;
    assert_eq!(
        (stage, failure.kind),
        (Stage::ManagerAnswers, FailureKind::NoManager)
    );
}

#[tokio::test]
async fn an_error_of_the_manager_keeps_its_name() {
    let mut answer = bus(true);
    let fake = Fake::answering(move |message: &Message| {
        let header = message.header();
        if header
            .member()
            .is_some_and(|member| member.as_str() == "Get")
        {
            return vec![refuses(
                &header,
                "org.freedesktop.systemd1.Odd",
                "out of order",
            )];
        }
        answer(message)
    });
    let (_, failure) = refusal(Door::SessionBus, &fake.path()).await;
    assert_eq!(failure.kind, FailureKind::ErrorReply);
    assert!(
        failure
            .text
            .unwrap()
            .contains("org.freedesktop.systemd1.Odd")
    );
}

#[tokio::test]
async fn a_reply_of_the_wrong_type_is_garbage() {
    let mut answer = bus(true);
    let fake = Fake::answering(move |message: &Message| {
        let header = message.header();
        if header
            .member()
            .is_some_and(|member| member.as_str() == "Get")
        {
            let value: OwnedVariant = Variant::from(7_u32).try_to_owned().unwrap();
            return vec![returns(&header, &value)];
        }
        answer(message)
    });
    let (stage, failure) = refusal(Door::SessionBus, &fake.path()).await;
    assert_eq!(
        (stage, failure.kind),
        (Stage::ManagerAnswers, FailureKind::Garbage)
    );
}

#[tokio::test]
async fn the_deadline_over_all_cuts_the_stages() {
    let patience = Patience {
        stage: Duration::from_hours(1),
        total: Duration::from_millis(80),
    };
    let mute = Fake::answering(|_| Vec::new());
    let (report, _) = dial(Door::SessionBus, &mute.path(), own_uid(), patience).await;
    let (stage, failure) = report.refusal().unwrap();
    assert_eq!((stage, failure.kind), (Stage::Hello, FailureKind::Mute));
}

/// The replies of a healthy bus to Hello and NameHasOwner, as one stream of bytes.
fn replies() -> Vec<u8> {
    let mut bytes = Vec::new();
    for serial in 1_u32..4 {
        let call = Message::method_call("/a", "Hello")
            .serial(serial.try_into().unwrap())
            .build(&())
            .unwrap();
        bytes.extend_from_slice(returns(&call.header(), &":1.7").data());
    }
    bytes
}

/// Lets everybody in and then says `words`, whatever it is asked.
fn babbling(words: Vec<u8>) -> Fake {
    Fake::serving(move |mut stream| {
        let mut speech = format!("OK {GUID}\r\nAGREE_UNIX_FD\r\n").into_bytes();
        speech.extend_from_slice(&words);
        async move {
            let _gone = stream.write_all(&speech).await;
            std::future::pending::<()>().await;
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Replies with any bytes changed or cut off end in a refusal, within the time, without a panic.
    #[test]
    fn hostile_replies_end_in_a_refusal(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        length in any::<prop::sample::Index>(),
        private in any::<bool>(),
    ) {
        let reactor = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let report = reactor.block_on(async {
            let mut words = replies();
            for (at, byte) in changes {
                let at = at.index(words.len());
                words[at] = byte;
            }
            words.truncate(length.index(words.len()));
            let fake = babbling(words);
            let patience =
                Patience { stage: Duration::from_millis(15), total: Duration::from_millis(40) };
            let door = if private { Door::Private } else { Door::SessionBus };
            dial(door, &fake.path(), own_uid(), patience).await.0
        });
        prop_assert!(!report.answers());
        prop_assert!(report.refusal().is_some());
    }
}
