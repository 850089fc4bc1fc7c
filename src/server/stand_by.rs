//! A serve that waits while another one has the home, and takes over at its end, however that came.

use tokio::sync::oneshot;

use super::instance::{Held, Instance};
use super::notify;
use super::signals::{Asked, Signals};
use crate::clock::Now;
use crate::error::{Error, Kind, Result};
use crate::home::Home;

/// Waits for the home; `None` where it is asked to stop before. The service manager is told that the
/// unit has started: what it waits for may take months, and it must not be killed for that.
pub(super) async fn wait(home: &Home, signals: &mut Signals, now: Now) -> Result<Option<Instance>> {
    let holder = Held::look(home, now).words();
    tracing::info!("It stands by: {holder} has the home. It takes over when that one ends.");
    notify::status(&format!("stands by: {holder} has the home"));
    notify::ready();
    let (tell, mut taken) = oneshot::channel();
    let of = home.clone();
    // The kernel wakes it. Where serve is asked to stop before, it goes with the process.
    std::thread::Builder::new()
        .name("stand-by".to_owned())
        .spawn(move || tell.send(Instance::wait(&of)))
        .map_err(|error| Error::io("failed to start a thread", error))?;
    let mut feed = notify::watchdog().map(tokio::time::interval);
    loop {
        tokio::select! {
            taken = &mut taken => {
                let gone = |_| Error::new(Kind::Io, "the wait for the home broke");
                return taken.map_err(gone)?.map(Some);
            }
            asked = signals.next() => match asked {
                Asked::Stop => return Ok(None),
                // It is read when it takes over.
                Asked::Reload => {
                    notify::reloading();
                    notify::ready();
                }
            },
            () = notify::fed(&mut feed) => notify::alive(),
        }
    }
}
