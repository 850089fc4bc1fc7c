//! Steps of the wall clock, and the end of a sleep of the host: the kernel tells us at once of both.

use std::io;
use std::os::fd::OwnedFd;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::unix::AsyncFd;

/// A timer that never fires, and is cancelled by every step.
pub(crate) struct Steps(Option<AsyncFd<OwnedFd>>);

/// Some centuries from now.
const FAR: i64 = 1 << 34;

impl Steps {
    /// Listens from now on; where the kernel has no such timers nothing is ever heard, and the look
    /// at the clocks once a minute has to do. Over a clock that is driven there is nothing to hear.
    pub(crate) fn listen(driven: bool) -> Self {
        if driven {
            return Self(None);
        }
        let make = || -> io::Result<AsyncFd<OwnedFd>> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Realtime, flags)?;
            arm(&timer)?;
            #[expect(
                deprecated,
                reason = "its danger is a descriptor that somebody closes; this one is owned, and the \
                          other way asks for unsafe code"
            )]
            AsyncFd::new(timer)
        };
        match make() {
            Ok(timer) => Self(Some(timer)),
            Err(error) => {
                tracing::debug!("Steps of the clock are not heard: {error}.");
                Self(None)
            }
        }
    }

    /// The next step.
    pub(crate) async fn next(&mut self) {
        let Some(timer) = &self.0 else {
            return std::future::pending().await;
        };
        let woken = match timer.readable().await {
            Ok(mut ready) => {
                ready.clear_ready();
                arm(timer.get_ref()).is_ok()
            }
            Err(_) => false,
        };
        if !woken {
            self.0 = None;
        }
    }
}

fn arm(timer: &OwnedFd) -> io::Result<()> {
    let mut count = [0; 8];
    // Reading takes the cancellation away; that it fails with ECANCELED is the very news.
    let _cancelled = rustix::io::read(timer, &mut count);
    let far = Timespec {
        tv_sec: FAR,
        tv_nsec: 0,
    };
    let never = Itimerspec {
        it_interval: Timespec::default(),
        it_value: far,
    };
    let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
    timerfd_settime(timer, flags, &never)?;
    Ok(())
}
