//! Work on a thread of its own with a deadline: a file on a dead mount, or a user database that asks a
//! service that hangs, leaves a thread behind and nothing else.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Work that was started and may be waited for.
pub(super) struct Started<T>(Option<mpsc::Receiver<T>>);

/// Starts the work.
pub(super) fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Started<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(move || {
        // Whoever waited may have given up.
        drop(sender.send(work()));
    });
    Started(spawned.is_ok().then_some(receiver))
}

impl<T> Started<T> {
    /// Waits; `None`: it has not ended within that time, or has failed.
    pub(super) fn wait(self, within: Duration) -> Option<T> {
        self.0?.recv_timeout(within).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_ends_is_had_and_work_that_hangs_is_left() {
        assert_eq!(start("t", || 7).wait(Duration::from_secs(10)), Some(7));
        let (_keep, blocked) = mpsc::channel::<()>();
        let hung = start("t", move || blocked.recv().is_ok());
        assert_eq!(hung.wait(Duration::from_millis(20)), None);
    }

    #[test]
    fn work_that_panics_is_not_had() {
        let broken: Started<u32> = start("t", || panic!("on purpose"));
        assert_eq!(broken.wait(Duration::from_secs(10)), None);
    }
}
