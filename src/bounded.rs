//! Work on a thread of its own with a deadline: a file on a dead mount, or a user database that asks a
//! service that hangs, leaves a thread behind and nothing else. The window on threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// Stack of a thread, in bytes: a document may be nested as deep as its reader allows. Only what is
/// used of it is ever there.
const STACK: usize = 16 << 20;

/// Work that was started and may be waited for.
#[derive(Debug)]
pub struct Started<T>(mpsc::Receiver<T>);

/// Starts the work. Where no thread can be had (the account may have no more processes, or no memory is
/// left for a stack) it is done here and now: an answer that something may delay is better than none.
pub fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Started<T> {
    start_on(name, STACK, work)
}

fn start_on<T: Send + 'static>(
    name: &str,
    stack: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Started<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    // A thread that cannot be started takes what it was given along.
    let work = Arc::new(Mutex::new(Some(work)));
    let begin = move || {
        let taken = work.lock().ok().and_then(|mut work| work.take());
        if let Some(work) = taken {
            // Whoever waited may have given up.
            drop(sender.send(work()));
        }
    };
    let builder = thread::Builder::new().name(name.to_owned());
    if builder.stack_size(stack).spawn(begin.clone()).is_err() {
        drop(catch_unwind(AssertUnwindSafe(begin)));
    }
    Started(receiver)
}

impl<T> Started<T> {
    /// Waits; `None`: it has not ended within that time, or has failed.
    #[must_use]
    pub fn wait(self, within: Duration) -> Option<T> {
        if within.is_zero() {
            return None;
        }
        self.0.recv_timeout(within).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(10);

    #[test]
    fn work_that_ends_is_had_and_work_that_hangs_is_left() {
        assert_eq!(start("t", || 7).wait(LONG), Some(7));
        let (_keep, blocked) = mpsc::channel::<()>();
        let hung = start("t", move || blocked.recv().is_ok());
        assert_eq!(hung.wait(Duration::from_millis(20)), None);
    }

    #[test]
    fn work_that_panics_is_not_had() {
        let broken: Started<u32> = start("t", || panic!("on purpose"));
        assert_eq!(broken.wait(LONG), None);
    }

    #[test]
    fn where_no_thread_can_be_had_the_work_is_done_all_the_same() {
        let here = thread::current().id();
        let impossible = isize::MAX.unsigned_abs() / 2;
        let done = start_on("t", impossible, move || thread::current().id() == here);
        assert_eq!(done.wait(LONG), Some(true));
        let broken: Started<u32> = start_on("t", impossible, || panic!("on purpose"));
        assert_eq!(broken.wait(LONG), None);
    }
}
