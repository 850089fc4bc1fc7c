//! The Unix socket of serve: the same protocol, one object a line, for the command line. The kernel
//! says who is at the other end; there is no token.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::timeout;

use super::front::{FRAME, Front};
use crate::error::{Error, Result};
use crate::files;

/// A line that was not taken for so long was not wanted.
const SEND: Duration = Duration::from_secs(30);

/// Binds the socket, for its owner alone. A socket that a dead serve left behind makes room: the lock
/// is ours, so nobody listens there.
pub(crate) fn bind(path: &Path) -> Result<UnixListener> {
    let failed = |error| Error::io(format!("failed to bind {}", path.display()), error);
    let _not_there = std::fs::remove_file(path);
    let listener = files::at_socket(path, |path| UnixListener::bind(path)).map_err(failed)?;
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(listener)
}

/// Takes connections up for ever.
pub(crate) async fn listen(listener: UnixListener, front: Arc<Front>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) if is_ours(&stream) => {
                tokio::spawn(run(stream, Arc::clone(&front)));
            }
            Ok(_) => tracing::warn!("Another account was refused on the Unix socket."),
            Err(error) => {
                // Descriptors ran out: wait until some come back.
                tracing::warn!("The Unix socket takes no connection: {error}.");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Our own account, or root, which could do as it likes anyway.
fn is_ours(stream: &UnixStream) -> bool {
    let own = nix::unistd::geteuid().as_raw();
    stream
        .peer_cred()
        .is_ok_and(|peer| peer.uid() == own || peer.uid() == 0)
}

async fn run(stream: UnixStream, front: Arc<Front>) {
    let Some((connection, mut inbox)) = front.connect("cli").await else {
        return;
    };
    let (reader, mut writer) = stream.into_split();
    // Each way goes on while the other one waits: a client may send more than it reads meanwhile.
    let asks = async {
        let mut lines = Lines::new(reader);
        while let Some(line) = lines.next().await {
            if !connection.frame(line).await {
                break;
            }
        }
    };
    let answers = async {
        while let Some(frame) = inbox.next().await {
            let line = format!("{frame}\n");
            if !matches!(
                timeout(SEND, writer.write_all(line.as_bytes())).await,
                Ok(Ok(()))
            ) {
                break;
            }
        }
    };
    let mut answers = pin!(answers);
    let hears = tokio::select! {
        () = asks => true,
        () = &mut answers => false,
    };
    connection.close().await;
    if hears {
        // Who has said everything still gets the answers to it.
        answers.await;
    }
}

/// Lines of a reader, of bounded length; what was read of one stays when nobody waits for it.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    searched: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// The lines of this reader.
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            searched: 0,
        }
    }

    /// The next line; none at the end, at an error, and where a line is too long or no text.
    pub(crate) async fn next(&mut self) -> Option<String> {
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(at) = unsearched.iter().position(|byte| *byte == b'\n') {
                let rest = self.buffer.split_off(self.searched + at + 1);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                self.searched = 0;
                line.pop();
                return String::from_utf8(line).ok();
            }
            self.searched = self.buffer.len();
            if self.buffer.len() > FRAME {
                return None;
            }
            match self.reader.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_newlines_and_bounded() {
        let reactor = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let text = b"one\ntwo\n\nrest".as_slice();
        let mut lines = Lines::new(text);
        reactor.block_on(async {
            assert_eq!(lines.next().await.as_deref(), Some("one"));
            assert_eq!(lines.next().await.as_deref(), Some("two"));
            assert_eq!(lines.next().await.as_deref(), Some(""));
            assert_eq!(lines.next().await, None);
            let endless = vec![b'x'; FRAME + 8192];
            assert_eq!(Lines::new(endless.as_slice()).next().await, None);
            assert_eq!(Lines::new(b"\xff\n".as_slice()).next().await, None);
        });
    }

    #[test]
    fn a_deep_home_has_its_socket_too() {
        let reactor = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let directory = tempfile::tempdir().unwrap();
        let deep = directory.path().join("d".repeat(60)).join("e".repeat(60));
        std::fs::create_dir_all(&deep).unwrap();
        let path = deep.join("serve.sock");
        let _guard = reactor.enter();
        let _listener = bind(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
