//! What the service manager is told. Without one all of it is nothing.

use std::time::Duration;

use sd_notify::NotifyState;

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!("The service manager was not told: {error}.");
    }
}

/// Serve is ready.
pub(crate) fn ready() {
    tell(&[NotifyState::Ready]);
}

/// What serve does.
pub(crate) fn status(status: &str) {
    tell(&[NotifyState::Status(status)]);
}

/// Serve reads its configuration again.
pub(crate) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(_) => tell(&[NotifyState::Reloading]),
    }
}

/// Serve stops, and needs so long for it at most.
pub(crate) fn stopping(within: Duration) {
    let within = u32::try_from(within.as_micros()).unwrap_or(u32::MAX);
    tell(&[
        NotifyState::Stopping,
        NotifyState::Status("draining"),
        NotifyState::ExtendTimeoutUsec(within),
    ]);
}

/// All drivers turn.
pub(crate) fn alive() {
    tell(&[NotifyState::Watchdog]);
}

/// How often the service manager wants to hear that: twice as often as it must.
pub(crate) fn watchdog() -> Option<Duration> {
    sd_notify::watchdog_enabled().map(|limit| limit / 2)
}

/// The next moment to say so; never where nobody wants to hear it.
pub(crate) async fn fed(feed: &mut Option<tokio::time::Interval>) {
    match feed {
        Some(feed) => {
            feed.tick().await;
        }
        None => std::future::pending().await,
    }
}
