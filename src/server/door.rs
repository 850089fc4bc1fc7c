//! The way in over TCP. Whoever knocks is heard for a bounded time, and only so many may knock at once;
//! a client that was let in is the hub's business, and nobody here counts its minutes.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep};

/// A connection that is no client's by then is closed: half a request must not be waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Most connections that are no client's yet.
const KNOCKING: usize = 256;

/// The door.
pub(crate) struct Door {
    listener: TcpListener,
    knocking: Arc<AtomicUsize>,
    patience: Duration,
}

impl Door {
    /// The door of this listener.
    pub(crate) fn new(listener: TcpListener, patience: Duration) -> Self {
        Self {
            listener,
            knocking: Arc::default(),
            patience,
        }
    }
}

impl Listener for Door {
    type Io = Guest;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Guest, SocketAddr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.listener).await;
            let visit = Visit::begin(&self.knocking);
            if self.knocking.load(Ordering::Relaxed) > KNOCKING {
                tracing::warn!("A connection was refused: {KNOCKING} knock already.");
                continue;
            }
            let guest = Guest {
                stream,
                visit,
                patience: Box::pin(sleep(self.patience)),
            };
            return (guest, address);
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection's time at the door.
struct Visit {
    let_in: AtomicBool,
    knocking: Arc<AtomicUsize>,
}

impl Visit {
    fn begin(knocking: &Arc<AtomicUsize>) -> Arc<Self> {
        knocking.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self {
            let_in: AtomicBool::new(false),
            knocking: Arc::clone(knocking),
        })
    }

    fn end(&self) {
        if !self.let_in.swap(true, Ordering::Relaxed) {
            self.knocking.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.end();
    }
}

/// Who knocks: where from, and how to let them in.
#[derive(Clone)]
pub(crate) struct Peer {
    /// Its address.
    pub(crate) address: SocketAddr,
    visit: Arc<Visit>,
}

impl Peer {
    /// It is a client from now on.
    pub(crate) fn let_in(&self) {
        self.visit.end();
    }
}

impl Connected<IncomingStream<'_, Door>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Door>) -> Self {
        Self {
            address: *stream.remote_addr(),
            visit: Arc::clone(&stream.io().visit),
        }
    }
}

/// A connection.
pub(crate) struct Guest {
    stream: TcpStream,
    visit: Arc<Visit>,
    patience: Pin<Box<Sleep>>,
}

impl Guest {
    fn in_time(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let knocks = !self.visit.let_in.load(Ordering::Relaxed);
        if knocks && self.patience.as_mut().poll(context).is_ready() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }
}

impl AsyncRead for Guest {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.in_time(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Guest {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.in_time(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.in_time(context)?;
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use axum::Router;

    use super::*;

    /// A door with nothing behind it, until the test is over.
    fn door(patience: Duration, test: impl FnOnce(SocketAddr) + Send + 'static) {
        let reactor = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        reactor.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let app = Router::new().into_make_service_with_connect_info::<Peer>();
            let serving =
                tokio::spawn(async move { axum::serve(Door::new(listener, patience), app).await });
            tokio::task::spawn_blocking(move || test(address))
                .await
                .unwrap();
            serving.abort();
        });
    }

    fn knock(address: SocketAddr, text: &[u8]) -> std::net::TcpStream {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(text).unwrap();
        stream
    }

    fn is_closed(stream: &mut std::net::TcpStream) -> bool {
        let mut rest = Vec::new();
        matches!(stream.read_to_end(&mut rest), Ok(0) | Err(_))
    }

    #[test]
    fn half_a_request_is_not_waited_for() {
        door(Duration::from_millis(50), |address| {
            for text in [b"".as_slice(), b"GET /he", b"GET / HTTP/1.1\r\nHost: x\r\n"] {
                let mut stream = knock(address, text);
                assert!(is_closed(&mut stream));
            }
        });
    }

    #[test]
    fn only_so_many_knock_at_once() {
        door(Duration::from_secs(3600), |address| {
            let mut knocking: Vec<_> = (0..KNOCKING).map(|_| knock(address, b"GET")).collect();
            assert!(is_closed(&mut knock(address, b"GET")));
            // One that goes makes room for another.
            drop(knocking.pop());
            loop {
                let mut another = knock(address, b"GET / HTTP/1.0\r\n\r\n");
                let mut answer = String::new();
                if another.read_to_string(&mut answer).is_ok() && !answer.is_empty() {
                    return assert!(answer.starts_with("HTTP/1.0 404"), "{answer}");
                }
            }
        });
    }
}
