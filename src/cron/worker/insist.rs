//! Insisting on what a run leaves behind. A lock that stays taken, a ledger that somebody else writes and
//! a disk without room pass, as a rule; the run has happened, and only its worker knows how it ended.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::{Error, Kind};
use crate::fault;

/// Seconds between one attempt and the next: two minutes in all, for all parts of an end together. So the
/// claim of the run is still fresh after the last one, and a stop does not wait for ever.
const PAUSES: [u64; 6] = [1, 3, 8, 18, 30, 60];

/// How often something may still be tried again.
pub(super) struct Insistence {
    left: std::slice::Iter<'static, u64>,
    terminate: Option<Signal>,
}

impl Insistence {
    /// At the end of a run: nothing was tried so far.
    pub(super) fn new() -> Self {
        Self {
            left: PAUSES.iter(),
            terminate: signal(SignalKind::terminate()).ok(),
        }
    }

    /// Whether to try again what failed so, after a pause: in the store or the ledger, which could be written
    /// when the run began. Whoever is told to stop leaves it to the sweep.
    pub(super) async fn again(&mut self, error: &Error) -> bool {
        let pause = self.left.next().filter(|_| may_pass(error.kind()));
        let Some(pause) = pause else { return false };
        fault::point("worker.insists");
        let stop = async {
            match &mut self.terminate {
                Some(terminate) => terminate.recv().await,
                None => std::future::pending().await,
            }
        };
        let pause = fault::paced(Duration::from_secs(*pause));
        let stopped = tokio::time::timeout(pause, stop).await.is_ok();
        if stopped {
            self.left = [].iter();
        }
        !stopped
    }
}

/// What is not of the thing itself, but of the moment.
fn may_pass(kind: Kind) -> bool {
    matches!(kind, Kind::Busy | Kind::Io)
}

/// Whether something could not be written because there was no room for it.
pub(super) fn wants_room(error: &Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let failed = error.source().and_then(|cause| cause.downcast_ref());
    let kind = failed.map(io::Error::kind);
    matches!(kind, Some(StorageFull | QuotaExceeded | FileTooLarge))
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn an_end_is_insisted_on_for_two_minutes_and_what_is_refused_not_at_all() {
        assert_eq!(PAUSES.iter().sum::<u64>(), 120);
        assert!(PAUSES.is_sorted());
        for (kind, passes) in [
            (Kind::Busy, true),
            (Kind::Io, true),
            (Kind::Invalid, false),
            (Kind::Refused, false),
            (Kind::NotFound, false),
        ] {
            assert_eq!(may_pass(kind), passes, "{kind:?}");
        }
    }

    #[test]
    fn a_disk_gets_room_again_and_a_folder_that_may_not_be_written_stays_so() {
        let failed = |number| Error::io("failed to write it", io::Error::from_raw_os_error(number));
        for (errno, passes) in [
            (Errno::NOSPC, true),
            (Errno::DQUOT, true),
            (Errno::FBIG, true),
            (Errno::ACCESS, false),
            (Errno::ROFS, false),
            (Errno::NOTDIR, false),
        ] {
            assert_eq!(wants_room(&failed(errno.raw_os_error())), passes, "{errno}");
        }
        assert!(!wants_room(&Error::new(Kind::Io, "no cause")));
    }
}
