//! One open connection and the one way to call over it: never starting a service, always with a
//! deadline. Owns the sorting of zbus's errors; knows no interface.

use std::time::Duration;

use zbus::{
    Connection, DBusError, DynamicType, Error, fdo,
    proxy::{Builder, CacheProperties, MethodFlags},
    wire::DynamicDeserialize,
};

use super::report::{Door, Failure, FailureKind};

/// Who is at the other end, as the kernel says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its account.
    pub uid: u32,
    /// Its process, unless it lives in a pid namespace that we do not see.
    pub pid: Option<u32>,
}

/// A door that stands open.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) connection: Connection,
    /// Which door.
    pub door: Door,
    /// Who listens there.
    pub peer: Peer,
    /// Our own name there, where there is a bus.
    pub name: Option<String>,
    /// How long one call may take.
    pub patience: Duration,
}

/// Where a call goes: name, object and interface.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Name on the bus.
    pub name: &'a str,
    /// Object path.
    pub path: &'a str,
    /// Interface.
    pub interface: &'a str,
}

/// Why a call brought no reply that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// An error reply.
    #[error("{name}: {text}")]
    Refused {
        /// The D-Bus name of the error.
        name: String,
        /// Its words.
        text: String,
    },
    /// No reply until the deadline.
    #[error("no reply within {0:?}")]
    Mute(Duration),
    /// The connection broke.
    #[error("connection lost: {0}")]
    Broken(String),
    /// A reply that is not what the interface promises.
    #[error("senseless reply: {0}")]
    Senseless(String),
}

impl CallError {
    /// The error name of the reply, where there was one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Refused { name, .. } => Some(name),
            Self::Mute(_) | Self::Broken(_) | Self::Senseless(_) => None,
        }
    }

    /// The same as a refusal of a stage.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let kind = match self {
            Self::Refused { name, .. } => match name.as_str() {
                "org.freedesktop.DBus.Error.AccessDenied" => FailureKind::PermissionDenied,
                "org.freedesktop.DBus.Error.ServiceUnknown"
                | "org.freedesktop.DBus.Error.NameHasNoOwner" => FailureKind::NoManager,
                _ => FailureKind::ErrorReply,
            },
            Self::Mute(_) => FailureKind::Mute,
            Self::Broken(_) => FailureKind::Closed,
            Self::Senseless(_) => FailureKind::Garbage,
        };
        Failure::said(kind, self.to_string())
    }
}

impl From<Error> for CallError {
    fn from(error: Error) -> Self {
        match error {
            Error::MethodError(name, text, _) => Self::Refused {
                name: name.to_string(),
                text: text.unwrap_or_default(),
            },
            Error::FDO(refusal) => match *refusal {
                fdo::Error::ZBus(inner) => inner.into(),
                refusal => Self::Refused {
                    name: refusal.name().to_string(),
                    text: refusal.description().unwrap_or_default().to_owned(),
                },
            },
            Error::InputOutput(io) if io.kind() == std::io::ErrorKind::InvalidData => {
                Self::Senseless(io.to_string())
            }
            Error::InputOutput(io) => Self::Broken(io.to_string()),
            other => Self::Senseless(other.to_string()),
        }
    }
}

impl Client {
    /// Calls `method` and waits for its reply, at most `patience`.
    pub async fn call<B, R>(&self, to: Target<'_>, method: &str, body: &B) -> Result<R, CallError>
    where
        B: serde::Serialize + DynamicType + Sync,
        R: for<'d> DynamicDeserialize<'d>,
    {
        let calling = async {
            let proxy: zbus::Proxy<'_> = Builder::new(&self.connection)
                .destination(to.name)
                .path(to.path)
                .interface(to.interface)
                .cache_properties(CacheProperties::No)
                .build()
                .await?;
            proxy
                .call_with_flags(method, MethodFlags::NO_AUTO_START, body)
                .await
        };
        match tokio::time::timeout(self.patience, calling).await {
            Err(_) => Err(CallError::Mute(self.patience)),
            Ok(Ok(Some(reply))) => Ok(reply),
            Ok(Ok(None)) => Err(CallError::Senseless("no reply was asked for".to_owned())),
            Ok(Err(error)) => Err(error.into()),
        }
    }
}
