//! One client on a WebSocket: frames in, frames out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
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
    socket: WebSocket,
    connection: Connection,
    mut inbox: Inbox,
    ping: Option<Ping>,
) {
    let (mut writer, mut reader) = socket.split();
    let heard = AtomicBool::new(false);
    // Each way goes on while the other one waits: a client may send more than it reads meanwhile.
    let end = tokio::select! {
        end = hear(&mut reader, &connection, &heard) => end,
        end = speak(&mut writer, &mut inbox, ping, &heard) => end,
    };
    connection.close().await;
    if let Some((code, reason)) = end {
        let frame = CloseFrame {
            code,
            reason: reason.into(),
        };
        let _gone = timeout(SEND, writer.send(Message::Close(Some(frame)))).await;
    }
}

/// Why we close the connection; none where the client did.
type Close = Option<(u16, &'static str)>;

/// Hands what the client says to the hub, and notes that it says something.
async fn hear(
    reader: &mut SplitStream<WebSocket>,
    connection: &Connection,
    heard: &AtomicBool,
) -> Close {
    loop {
        match reader.next().await {
            Some(Ok(Message::Text(text))) => {
                heard.store(true, Ordering::Relaxed);
                if !connection.frame(text.as_str().to_owned()).await {
                    return Some((close_code::AWAY, "serve is stopping"));
                }
            }
            Some(Ok(Message::Binary(_))) => {
                return Some((close_code::UNSUPPORTED, "frames are text"));
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => heard.store(true, Ordering::Relaxed),
            Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
        }
    }
}

/// Tells the client what the hub has for it, and asks whether it is still there.
async fn speak(
    writer: &mut SplitSink<WebSocket, Message>,
    inbox: &mut Inbox,
    ping: Option<Ping>,
    heard: &AtomicBool,
) -> Close {
    let far = ping.map_or(Duration::from_secs(86_400), |ping| ping.every);
    let mut pings = interval_at(Instant::now() + far, far);
    // Until when something has to be heard after a ping.
    let mut late: Option<Instant> = None;
    loop {
        tokio::select! {
            frame = inbox.next() => {
                let Some(frame) = frame else {
                    return Some((close_code::ERROR, "the client reads too slowly, or serve is stopping"));
                };
                let send = writer.send(Message::Text((&*frame).into()));
                match timeout(SEND, send).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return None,
                    Err(_) => return Some((close_code::ERROR, "the client does not read")),
                }
            }
            _ = pings.tick(), if ping.is_some() => {
                if late.is_none() || heard.load(Ordering::Relaxed) {
                    let within = ping.and_then(|ping| ping.within);
                    late = within.map(|within| Instant::now() + within);
                    heard.store(false, Ordering::Relaxed);
                }
                let sent = timeout(SEND, writer.send(Message::Ping(Vec::new().into()))).await;
                if !matches!(sent, Ok(Ok(()))) {
                    return None;
                }
            }
            () = reached(late) => {
                if !heard.swap(false, Ordering::Relaxed) {
                    return Some((close_code::ERROR, "the client does not answer pings"));
                }
                late = None;
            }
        }
    }
}
