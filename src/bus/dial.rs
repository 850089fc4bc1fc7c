//! Dialling a door stage by stage, each with a deadline, so that a failure names its stage. Owns the
//! connect, the check of the peer, the handshake, Hello and the manager's first answer.
//!
//! zbus alone writes handshake and Hello in one go and retries for ever on a full backlog, so it
//! gets the socket only after it has been admitted. Dropping the future at any point leaves nothing
//! behind: no task, no descriptor.

use std::{future::Future, io, os::fd::OwnedFd, path::Path, time::Duration};

use rustix::{
    fs::{FileType, stat},
    io::Errno,
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    time::{Instant, sleep, timeout_at},
};
use zbus::{
    Connection,
    connection::{Builder, socket::BoxedSplit},
};

use super::{
    client::{CallError, Client, Peer, Target},
    report::{Door, DoorReport, Failure, FailureKind, ManagerFacts, Stage, StageReport},
    sasl::{Admission, Sasl, Step},
    socket::Admitted,
};

/// Name of the service manager on a bus.
pub(crate) const MANAGER: &str = "org.freedesktop.systemd1";
/// The bus daemon itself.
pub(crate) const BUS: Target<'static> = Target {
    name: "org.freedesktop.DBus",
    path: "/org/freedesktop/DBus",
    interface: "org.freedesktop.DBus",
};
/// A bus that was just activated by our connection needs some milliseconds until the manager is on
/// it; the question is repeated at this pace.
const OWNER_PACE: Duration = Duration::from_millis(20);

/// How long a dial may take. A healthy door needs about 2 ms in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For each stage.
    pub stage: Duration,
    /// For all stages together.
    pub total: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            stage: Duration::from_millis(500),
            total: Duration::from_millis(1500),
        }
    }
}

/// Dials `door` at `path`, whose listener must be `owner` or root.
///
/// The client is there whenever the door let us in, even if no manager answers behind it.
pub async fn dial(
    door: Door,
    path: &Path,
    owner: u32,
    patience: Patience,
) -> (DoorReport, Option<Client>) {
    let mut log = Log {
        stages: Vec::new(),
        patience,
        until: Instant::now() + patience.total,
    };
    let client = enter(&mut log, door, path, owner).await;
    let mut manager = None;
    if let Some(client) = &client {
        let deadline = log.deadline();
        manager = log
            .stage(Stage::ManagerAnswers, ask_manager(client, deadline))
            .await;
    }
    let path = path.to_string_lossy().into_owned();
    (
        DoorReport {
            door,
            path,
            stages: log.stages,
            manager,
        },
        client,
    )
}

/// The stages passed so far, and the time left.
struct Log {
    stages: Vec<StageReport>,
    patience: Patience,
    until: Instant,
}

impl Log {
    fn deadline(&self) -> Instant {
        self.until.min(Instant::now() + self.patience.stage)
    }

    async fn stage<T>(
        &mut self,
        stage: Stage,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Option<T> {
        let begun = Instant::now();
        let result = timeout_at(self.deadline(), work).await.unwrap_or_else(|_| {
            let waited = begun.elapsed().as_millis();
            Err(Failure::said(
                FailureKind::Mute,
                format!("no answer in {waited} ms"),
            ))
        });
        let ms = u32::try_from(begun.elapsed().as_micros().div_ceil(1000)).unwrap_or(u32::MAX);
        let (value, failure) = match result {
            Ok(value) => (Some(value), None),
            Err(failure) => (None, Some(failure)),
        };
        self.stages.push(StageReport { stage, failure, ms });
        value
    }
}

async fn enter(log: &mut Log, door: Door, path: &Path, owner: u32) -> Option<Client> {
    log.stage(Stage::Socket, async { look(path) }).await?;
    let (stream, peer) = log
        .stage(Stage::Connect, async { knock(path, owner) })
        .await?;
    let admitting = async {
        let (stream, admission) = authenticate(stream).await?;
        hand_over(stream, admission, door == Door::Private).await
    };
    let connection = log.stage(Stage::Authenticate, admitting).await?;
    let mut client = Client {
        connection,
        door,
        peer,
        name: None,
        patience: log.patience.stage,
    };
    if door != Door::Private {
        let greeting = async {
            let name: Result<String, _> = client.call(BUS, "Hello", &()).await;
            name.map_err(|error| error.failure())
        };
        client.name = Some(log.stage(Stage::Hello, greeting).await?);
    }
    Some(client)
}

/// Whether there is a socket at all. The link is followed: `/var/run` is one.
fn look(path: &Path) -> Result<(), Failure> {
    let found = stat(path).map_err(from_errno)?;
    if FileType::from_raw_mode(found.st_mode) == FileType::Socket {
        return Ok(());
    }
    Err(Failure::said(
        FailureKind::NotASocket,
        "something else has this name",
    ))
}

/// Connects and looks at who listens. A connect to a Unix socket never waits: it succeeds or fails.
fn knock(path: &Path, owner: u32) -> Result<(UnixStream, Peer), Failure> {
    let address = SocketAddrUnix::new(path).map_err(from_errno)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket =
        socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(from_errno)?;
    connect(&socket, &address).map_err(from_errno)?;
    adopt(socket, owner).map_err(|error| failure_of(&error))?
}

fn adopt(socket: OwnedFd, owner: u32) -> io::Result<Result<(UnixStream, Peer), Failure>> {
    let stream = UnixStream::from_std(socket.into())?;
    let seen = stream.peer_cred()?;
    let pid = seen
        .pid()
        .and_then(|pid| u32::try_from(pid).ok())
        .filter(|pid| *pid > 0);
    let peer = Peer {
        uid: seen.uid(),
        pid,
    };
    if peer.uid == owner || peer.uid == 0 {
        return Ok(Ok((stream, peer)));
    }
    let text = format!("the listener is uid {}, neither {owner} nor root", peer.uid);
    Ok(Err(Failure::said(FailureKind::ForeignPeer, text)))
}

async fn authenticate(mut stream: UnixStream) -> Result<(UnixStream, Admission), Failure> {
    let (mut sasl, opening) = Sasl::start(rustix::process::geteuid().as_raw());
    stream
        .write_all(&opening)
        .await
        .map_err(|error| failure_of(&error))?;
    let mut buffer = [0; 512];
    loop {
        let count = match stream.read(&mut buffer).await {
            Ok(0) => return Err(sasl.hung_up()),
            Ok(count) => count,
            Err(error) => return Err(failure_of(&error)),
        };
        let mut step = sasl.feed(buffer.get(..count).unwrap_or_default());
        while let Step::Send(bytes) = step {
            stream
                .write_all(bytes)
                .await
                .map_err(|error| failure_of(&error))?;
            // The next answer may have come along with this one.
            step = sasl.feed(&[]);
        }
        match step {
            Step::Wait | Step::Send(_) => {}
            Step::Done(admission) => return Ok((stream, admission)),
            Step::Fail(failure) => return Err(failure),
        }
    }
}

/// Gives the admitted socket to zbus. Nothing is sent.
async fn hand_over(
    stream: UnixStream,
    admission: Admission,
    mend: bool,
) -> Result<Connection, Failure> {
    let Admission {
        guid,
        descriptors,
        surplus,
    } = admission;
    let socket = Admitted {
        stream,
        surplus,
        descriptors,
        mend,
    };
    Builder::authenticated_socket(BoxedSplit::from(socket), guid.as_str())
        .build()
        .await
        .map_err(|error| CallError::from(error).failure())
}

/// Asks the manager who it is. `NameHasOwner` first: a call to a name without an owner would make
/// the bus daemon start a service.
async fn ask_manager(client: &Client, deadline: Instant) -> Result<ManagerFacts, Failure> {
    if client.door != Door::Private {
        await_owner(client, deadline).await?;
    }
    let version = property(client, "Version")
        .await
        .map_err(|error| error.failure())?;
    let state = property(client, "SystemState").await.ok();
    let pid = match client.door {
        Door::Private => client.peer.pid,
        Door::SessionBus | Door::SystemBus => client
            .call(BUS, "GetConnectionUnixProcessID", &MANAGER)
            .await
            .ok(),
    };
    Ok(ManagerFacts {
        version,
        state,
        pid: pid.filter(|pid| *pid > 0),
    })
}

async fn await_owner(client: &Client, deadline: Instant) -> Result<(), Failure> {
    let begun = Instant::now();
    let mut unowned = false;
    let owner = async {
        loop {
            let owned: bool = client
                .call(BUS, "NameHasOwner", &MANAGER)
                .await
                .map_err(|error| error.failure())?;
            if owned {
                return Ok(());
            }
            unowned = true;
            sleep(OWNER_PACE).await;
        }
    };
    let ended = timeout_at(deadline, owner).await;
    let waited = begun.elapsed().as_millis();
    match ended {
        Ok(found) => found,
        // What the bus has said counts, not that its last answer came too late.
        Err(_) if unowned => Err(Failure::said(
            FailureKind::NoManager,
            format!("{MANAGER} has no owner"),
        )),
        Err(_) => Err(Failure::said(
            FailureKind::Mute,
            format!("no answer in {waited} ms"),
        )),
    }
}

async fn property(client: &Client, name: &str) -> Result<String, CallError> {
    let at = Target {
        name: MANAGER,
        path: "/org/freedesktop/systemd1",
        interface: "org.freedesktop.DBus.Properties",
    };
    let value: zbus::OwnedVariant = client
        .call(at, "Get", &("org.freedesktop.systemd1.Manager", name))
        .await?;
    String::try_from(value).map_err(|error| CallError::Senseless(error.to_string()))
}

fn from_errno(errno: Errno) -> Failure {
    failure_of(&io::Error::from(errno))
}

/// The name of a system error at a socket.
pub fn failure_of(error: &io::Error) -> Failure {
    let errno = error.raw_os_error();
    let kind = match errno.map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) => FailureKind::Absent,
        Some(Errno::NOTDIR) => FailureKind::NotADirectory,
        Some(Errno::CONNREFUSED) => FailureKind::Refused,
        Some(Errno::ACCESS | Errno::PERM) => FailureKind::PermissionDenied,
        Some(Errno::AGAIN) => FailureKind::BacklogFull,
        Some(Errno::AFNOSUPPORT) => FailureKind::AddressFamilyForbidden,
        Some(Errno::NAMETOOLONG) => FailureKind::PathTooLong,
        Some(Errno::PIPE | Errno::CONNRESET) => FailureKind::Closed,
        _ => FailureKind::Other,
    };
    Failure {
        kind,
        errno,
        text: Some(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
