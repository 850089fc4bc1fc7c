//! The payload of a worker: all that comes on its stdin until that is closed, within the time that is left of the
//! handover. Whoever holds the other end open keeps nobody waiting longer.

use std::io::Read as _;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::time::Instant;

use crate::error::{Error, Kind, Result};

/// Reads it all by this instant. Waits, so it does not belong on an event loop.
///
/// # Errors
/// When it is not closed by then, or cannot be read.
pub(super) fn read_by(deadline: Instant) -> Result<Vec<u8>> {
    let mut stdin = std::io::stdin().lock();
    let mut bytes = Vec::new();
    let mut piece = [0; 16 * 1024];
    loop {
        wait_for(&stdin, deadline)?;
        let read = stdin.read(&mut piece);
        let length = read.map_err(|error| Error::io("failed to read the payload", error))?;
        let Some(read) = piece.get(..length).filter(|read| !read.is_empty()) else {
            return Ok(bytes);
        };
        bytes.extend_from_slice(read);
    }
}

/// Until there is something, or the end.
fn wait_for(input: &impl AsFd, deadline: Instant) -> Result<()> {
    let failed = |error: Errno| Error::io("failed to wait for the payload", error.into());
    let mut fds = [PollFd::new(input, PollFlags::IN)];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(|_| failed(Errno::INVAL))?;
        match poll(&mut fds, Some(&left)) {
            Ok(0) => {
                let words = "no payload came within the handover's 30 s";
                return Err(Error::new(Kind::Unavailable, words));
            }
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(failed(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_input_that_stays_open_is_waited_for_no_longer_than_there_is_time() {
        let (ours, theirs) = std::io::pipe().unwrap();
        let error = wait_for(&ours, Instant::now() + Duration::from_millis(20)).unwrap_err();
        assert_eq!(error.kind(), Kind::Unavailable);
        drop(theirs);
        wait_for(&ours, Instant::now()).unwrap();
    }
}
