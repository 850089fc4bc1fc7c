//! What every way into serve shares: the rules of admission, the way to the hub, and the count of
//! connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::{Mutex, mpsc, oneshot};

use super::admission::{Admission, Knock, Refusal};
use super::driver::Input;
use super::hub::{ConnId, Event};
use super::outbox::{self, Inbox};
use crate::clock::Clock;

/// Most connections at once.
const CONNECTIONS: usize = 1024;
/// Longest frame of a client, in bytes.
pub(crate) const FRAME: usize = 16 << 20;
/// Events that wait for the hub; then whoever brings more waits.
pub(crate) const EVENTS: usize = 1024;

/// The front of serve.
pub(crate) struct Front {
    admission: Mutex<Admission>,
    clock: Arc<dyn Clock>,
    hub: mpsc::Sender<Input>,
    next: AtomicU64,
    open: AtomicUsize,
}

/// A connection that was let in. Dropping it tells the hub.
pub(crate) struct Connection {
    front: Arc<Front>,
    id: ConnId,
    told: bool,
}

impl Front {
    /// A front before this hub.
    pub(crate) fn new(
        admission: Admission,
        clock: Arc<dyn Clock>,
        hub: mpsc::Sender<Input>,
    ) -> Arc<Self> {
        Arc::new(Self {
            admission: Mutex::new(admission),
            clock,
            hub,
            next: AtomicU64::new(1),
            open: AtomicUsize::new(0),
        })
    }

    /// Judges who knocks.
    pub(crate) async fn admit(&self, knock: Knock<'_>) -> Result<(), Refusal> {
        let now = self.clock.now().monotonic;
        self.admission.lock().await.admit(knock, now)
    }

    /// A new ticket.
    pub(crate) async fn ticket(&self) -> String {
        let ticket = super::run::random();
        let now = self.clock.now().monotonic;
        self.admission.lock().await.hand_out(&ticket, now);
        ticket
    }

    /// Asks the hub for a page.
    pub(crate) async fn ask(&self, page: super::hub::Page) -> Option<super::hub::Shown> {
        let (sender, receiver) = oneshot::channel();
        self.hub.send(Input::Ask(page, sender)).await.ok()?;
        receiver.await.ok()
    }

    /// Takes a connection up; none where there are too many, or serve stops.
    pub(crate) async fn connect(self: &Arc<Self>, label: &str) -> Option<(Connection, Inbox)> {
        if self.open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
            self.open.fetch_sub(1, Ordering::Relaxed);
            tracing::warn!("A connection was refused: {CONNECTIONS} are open.");
            return None;
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (outbox, inbox) = outbox::pair();
        let connection = Connection {
            front: Arc::clone(self),
            id,
            told: false,
        };
        let label = format!("{label} {id}");
        let connect = Input::Connect(id, label, outbox);
        self.hub.send(connect).await.ok()?;
        Some((connection, inbox))
    }
}

impl Connection {
    /// Hands a frame of the client to the hub, and waits while the hub is busy; false where it stops.
    pub(crate) async fn frame(&self, text: String) -> bool {
        let event = Event::Frame {
            conn: self.id,
            text,
        };
        self.front.hub.send(Input::Event(event)).await.is_ok()
    }

    /// Tells the hub that the client is gone.
    pub(crate) async fn close(mut self) {
        self.told = true;
        let event = Event::Disconnected(self.id);
        let _stopped = self.front.hub.send(Input::Event(event)).await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.front.open.fetch_sub(1, Ordering::Relaxed);
        if !self.told {
            // Only where its task was cut short, at the end of serve.
            let _stopped = self
                .front
                .hub
                .try_send(Input::Event(Event::Disconnected(self.id)));
        }
    }
}
