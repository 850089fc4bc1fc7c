//! The way out to one client: bounded in frames and in bytes. Whoever does not read is not waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc;

/// Most frames that wait for a client.
const FRAMES: usize = 1024;
/// Most bytes that wait for a client, but for a single frame that is larger.
const BYTES: usize = 32 << 20;

/// One frame, shared by all clients that get it.
pub(crate) type Shared = Arc<str>;

/// The end that the hub's driver writes to.
#[derive(Debug)]
pub(crate) struct Outbox {
    frames: mpsc::Sender<Shared>,
    waiting: Arc<AtomicUsize>,
}

/// The end that a socket reads from.
#[derive(Debug)]
pub(crate) struct Inbox {
    frames: mpsc::Receiver<Shared>,
    waiting: Arc<AtomicUsize>,
}

/// A new way out.
pub(crate) fn pair() -> (Outbox, Inbox) {
    let (sender, receiver) = mpsc::channel(FRAMES);
    let waiting = Arc::new(AtomicUsize::new(0));
    let outbox = Outbox {
        frames: sender,
        waiting: Arc::clone(&waiting),
    };
    let inbox = Inbox {
        frames: receiver,
        waiting,
    };
    (outbox, inbox)
}

impl Outbox {
    /// Hands a frame over; false where the client is gone or too slow.
    #[must_use]
    pub(crate) fn push(&self, frame: Shared) -> bool {
        let length = frame.len();
        let before = self.waiting.fetch_add(length, Ordering::Relaxed);
        if before > 0 && before + length > BYTES {
            return false;
        }
        self.frames.try_send(frame).is_ok()
    }
}

impl Inbox {
    /// The next frame; none once the hub dropped this client.
    pub(crate) async fn next(&mut self) -> Option<Shared> {
        let frame = self.frames.recv().await?;
        self.waiting.fetch_sub(frame.len(), Ordering::Relaxed);
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_does_not_read_is_found_out_by_frames() {
        let (outbox, _inbox) = pair();
        assert!((0..FRAMES).all(|_| outbox.push("x".into())));
        assert!(!outbox.push("x".into()));
    }

    #[test]
    fn and_by_bytes_but_one_large_frame_is_fine() {
        let (outbox, mut inbox) = pair();
        let large: Shared = "x".repeat(BYTES + 1).into();
        assert!(outbox.push(Arc::clone(&large)));
        assert!(!outbox.push("x".into()));
        let reactor = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        assert_eq!(
            reactor.block_on(inbox.next()).map(|frame| frame.len()),
            Some(BYTES + 1)
        );
    }

    #[test]
    fn a_client_that_is_gone_is_found_out() {
        let (outbox, inbox) = pair();
        drop(inbox);
        assert!(!outbox.push("x".into()));
    }
}
