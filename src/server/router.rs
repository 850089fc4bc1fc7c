//! The HTTP side: who may come in, `/api/ws`, tickets, and the pages for those who watch serve.

use std::sync::Arc;

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{ConnectInfo, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;

use super::admission::{Knock, Refusal};
use super::door::Peer;
use super::front::{FRAME, Front};
use super::hub::Page;
use super::socket::{self, Ping};

/// The subprotocol that a client names together with a ticket.
const PROTOCOL: &str = "hermes-gateway-v1";
const TICKET_PROTOCOL: &str = "hermes-gateway-ticket.";

/// What is read and written of a client at once, in bytes. The library would keep 128 KiB for each client
/// and each direction, and requests are short.
const BUFFER: usize = 8 << 10;

/// What the routes share.
#[derive(Clone)]
struct Hall {
    front: Arc<Front>,
    ping: Option<Ping>,
}

/// All routes.
pub(crate) fn routes(front: Arc<Front>, ping: Option<Ping>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/api/ws", get(upgrade))
        .route("/api/ws-ticket", post(ticket))
        .fallback(unknown)
        .with_state(Hall { front, ping })
}

#[derive(Default, Deserialize)]
struct Credentials {
    token: Option<String>,
    ticket: Option<String>,
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// The ticket among the subprotocols.
fn ticket_of(headers: &HeaderMap) -> Option<&str> {
    text(headers, header::SEC_WEBSOCKET_PROTOCOL)?
        .split(',')
        .find_map(|protocol| protocol.trim().strip_prefix(TICKET_PROTOCOL))
}

/// The token of a plain request.
fn token_of(headers: &HeaderMap) -> Option<&str> {
    let own = headers
        .get("x-hermes-session-token")
        .and_then(|value| value.to_str().ok());
    own.or_else(|| text(headers, header::AUTHORIZATION)?.strip_prefix("Bearer "))
}

/// Every refusal is the same 403 before the upgrade; the log alone says which it was.
async fn upgrade(
    State(hall): State<Hall>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Query(credentials): Query<Credentials>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let knock = Knock {
        host: text(&headers, header::HOST),
        origin: text(&headers, header::ORIGIN),
        peer: Some(peer.address.ip()),
        token: credentials.token.as_deref(),
        ticket: credentials
            .ticket
            .as_deref()
            .or_else(|| ticket_of(&headers)),
    };
    if let Err(refusal) = hall.front.admit(knock).await {
        tracing::warn!("A client was refused: {refusal}.");
        return StatusCode::FORBIDDEN.into_response();
    }
    let Some((connection, inbox)) = hall.front.connect("client").await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    peer.let_in();
    upgrade
        .protocols([PROTOCOL])
        .read_buffer_size(BUFFER)
        .write_buffer_size(BUFFER)
        .max_message_size(FRAME)
        .max_frame_size(FRAME)
        .on_upgrade(move |socket| socket::run(socket, connection, inbox, hall.ping))
}

async fn admit(hall: &Hall, peer: &Peer, headers: &HeaderMap) -> Result<(), StatusCode> {
    let knock = Knock {
        host: text(headers, header::HOST),
        origin: text(headers, header::ORIGIN),
        peer: Some(peer.address.ip()),
        token: token_of(headers),
        ticket: None,
    };
    hall.front.admit(knock).await.map_err(|refusal| {
        tracing::warn!("A request was refused: {refusal}.");
        match refusal {
            Refusal::Token => StatusCode::UNAUTHORIZED,
            Refusal::Host => StatusCode::BAD_REQUEST,
            Refusal::Origin | Refusal::Peer => StatusCode::FORBIDDEN,
        }
    })
}

async fn ticket(
    State(hall): State<Hall>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    headers: HeaderMap,
) -> Response {
    if let Err(status) = admit(&hall, &peer, &headers).await {
        return status.into_response();
    }
    let life = super::admission::TICKET_LIFE.as_secs();
    let body = serde_json::json!({ "ticket": hall.front.ticket().await, "expires_in": life });
    json(StatusCode::OK, body.to_string())
}

/// What is not there is told only to those who may know.
async fn unknown(
    State(hall): State<Hall>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    headers: HeaderMap,
) -> StatusCode {
    admit(&hall, &peer, &headers)
        .await
        .err()
        .unwrap_or(StatusCode::NOT_FOUND)
}

fn json(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

async fn ready(State(hall): State<Hall>) -> Response {
    match hall.front.ask(Page::Ready).await {
        Some(shown) if shown.good => json(StatusCode::OK, shown.body),
        Some(shown) => json(StatusCode::SERVICE_UNAVAILABLE, shown.body),
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

async fn metrics(State(hall): State<Hall>) -> Response {
    match hall.front.ask(Page::Metrics).await {
        Some(shown) => {
            let kind = "text/plain; version=0.0.4";
            ([(header::CONTENT_TYPE, kind)], shown.body).into_response()
        }
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}
