//! The other end of a door, for tests: a listener that lets clients in and answers from a function.

use std::{
    future::poll_fn,
    path::{Path, PathBuf},
    pin::Pin,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixListener, UnixStream},
    task::JoinHandle,
};
use zbus::{
    Message, MessageStream,
    connection::{Builder, socket::BoxedSplit},
    export::futures_core::Stream,
    message::{Header, Type},
};

use super::socket::Admitted;

/// What tests of other rooms need to answer with; zbus is named in this window alone.
pub(crate) use zbus::{ObjectPath, OwnedVariant, Variant, names::MemberName};
pub(crate) type Call = Message;

pub(crate) const GUID: &str = "0123456789abcdef0123456789abcdef";

/// A directory with a socket in it; the listener's task ends with it.
pub(crate) struct Fake {
    folder: tempfile::TempDir,
    path: PathBuf,
    task: JoinHandle<()>,
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Fake {
    pub(crate) fn path(&self) -> PathBuf {
        self.path.clone()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Says `words` to whoever connects, then hangs up or stays.
    pub(crate) fn saying(words: &'static [u8], stay: bool) -> Self {
        Self::serving(move |mut stream| async move {
            let _told = stream.write_all(words).await;
            if stay {
                std::future::pending::<()>().await;
            }
        })
    }

    /// Lets clients in and answers every call with the messages that `answer` makes.
    pub(crate) fn answering<F>(answer: F) -> Self
    where
        F: FnMut(&Message) -> Vec<Message> + Clone + Send + 'static,
    {
        Self::serving(move |stream| converse(stream, answer.clone()))
    }

    /// The same, at a path of its own inside a folder.
    pub(crate) fn answering_at<F>(folder: tempfile::TempDir, name: &str, answer: F) -> Self
    where
        F: FnMut(&Message) -> Vec<Message> + Clone + Send + 'static,
    {
        Self::serving_at(folder, name, move |stream| converse(stream, answer.clone()))
    }

    pub(crate) fn serving<F, W>(serve: F) -> Self
    where
        F: Fn(UnixStream) -> W + Send + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        Self::serving_at(tempfile::tempdir().unwrap(), "bus", serve)
    }

    /// The same, at a path of its own inside a folder.
    pub(crate) fn serving_at<F, W>(folder: tempfile::TempDir, name: &str, serve: F) -> Self
    where
        F: Fn(UnixStream) -> W + Send + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let path = folder.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        let listener = UnixListener::bind(&path).unwrap();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream));
            }
        });
        Self { folder, path, task }
    }
}

/// A file of any kind that is no listener.
pub(crate) fn stale(folder: &Path) -> PathBuf {
    let path = folder.join("stale");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    path
}

async fn admit(stream: &mut UnixStream) -> Option<Vec<u8>> {
    let mut heard = Vec::new();
    let mut greeted = false;
    loop {
        let mut piece = [0; 512];
        let count = stream
            .read(&mut piece)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        heard.extend_from_slice(&piece[..count]);
        if !greeted && heard.ends_with(b"\r\n") {
            greeted = true;
            stream
                .write_all(format!("OK {GUID}\r\n").as_bytes())
                .await
                .ok()?;
        }
        if let Some(at) = heard.windows(7).position(|seven| seven == b"BEGIN\r\n") {
            stream.write_all(b"AGREE_UNIX_FD\r\n").await.ok()?;
            return Some(heard.split_off(at + 7));
        }
    }
}

async fn converse<F>(mut stream: UnixStream, mut answer: F)
where
    F: FnMut(&Message) -> Vec<Message>,
{
    let Some(surplus) = admit(&mut stream).await else {
        return;
    };
    let socket = Admitted {
        stream,
        surplus,
        descriptors: true,
        mend: false,
    };
    let connection = Builder::authenticated_socket(BoxedSplit::from(socket), GUID)
        .build()
        .await
        .unwrap();
    let mut heard = MessageStream::from(&connection);
    while let Some(Ok(message)) = poll_fn(|context| Pin::new(&mut heard).poll_next(context)).await {
        if message.message_type() != Type::MethodCall {
            continue;
        }
        for reply in answer(&message) {
            if connection.send(&reply).await.is_err() {
                return;
            }
        }
    }
}

/// A method return.
pub(crate) fn returns<B>(to: &Header<'_>, body: &B) -> Message
where
    B: serde::Serialize + zbus::DynamicType,
{
    Message::method_return(to).build(body).unwrap()
}

/// An error reply.
pub(crate) fn refuses(to: &Header<'_>, name: &'static str, text: &str) -> Message {
    Message::error(to, name).build(&text).unwrap()
}
