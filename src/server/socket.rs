//! One client on a WebSocket: frames in, frames out.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use tokio::time::{Instant, interval_at, timeout};

use super::front::Connection;
use super::outbox::Inbox;
use crate::child::run::reached;

/// A frame that was not taken for so long was not wanted; as the other program has it.
const SEND: Duration = Duration::from_secs(30);

/// Pings to clients that are not on this host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ping {
    /// Between two pings.
    pub(crate) every: Duration,
    /// What a client has to answer; none is any time.
    pub(crate) within: Option<Duration>,
}

/// Serves a client until it goes, or until the hub drops it.
pub(crate) async fn run(
    mut socket: WebSocket,
    connection: Connection,
    mut inbox: Inbox,
    ping: Option<Ping>,
) {
    let end = talk(&mut socket, &connection, &mut inbox, ping).await;
    connection.close().await;
    if let Some((code, reason)) = end {
        let frame = CloseFrame {
            code,
            reason: reason.into(),
        };
        let _gone = timeout(SEND, socket.send(Message::Close(Some(frame)))).await;
    }
}

/// Why we close the connection; none where the client did.
type Close = Option<(u16, &'static str)>;

async fn talk(
    socket: &mut WebSocket,
    connection: &Connection,
    inbox: &mut Inbox,
    ping: Option<Ping>,
) -> Close {
    let far = ping.map_or(Duration::from_secs(86_400), |ping| ping.every);
    let mut pings = interval_at(Instant::now() + far, far);
    // Until when something has to be heard after a ping.
    let mut late: Option<Instant> = None;
    loop {
        tokio::select! {
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => {
                    late = None;
                    if !connection.frame(text.as_str().to_owned()).await {
                        return Some((close_code::AWAY, "serve is stopping"));
                    }
                }
                Some(Ok(Message::Binary(_))) => {
                    return Some((close_code::UNSUPPORTED, "frames are text"));
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => late = None,
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
            },
            frame = inbox.next() => {
                let Some(frame) = frame else {
                    return Some((close_code::ERROR, "the client reads too slowly, or serve is stopping"));
                };
                let send = socket.send(Message::Text((&*frame).into()));
                match timeout(SEND, send).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return None,
                    Err(_) => return Some((close_code::ERROR, "the client does not read")),
                }
            }
            _ = pings.tick(), if ping.is_some() => {
                let sent = timeout(SEND, socket.send(Message::Ping(Vec::new().into()))).await;
                if !matches!(sent, Ok(Ok(()))) {
                    return None;
                }
                let within = ping.and_then(|ping| ping.within);
                late = late.or_else(|| Some(Instant::now() + within?));
            }
            () = reached(late) => {
                return Some((close_code::ERROR, "the client does not answer pings"));
            }
        }
    }
}
