//! Leases of sessions, judged by session: a live pid is not a live session. Pure.

use serde::Serialize;

/// What is known of the process that took a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerLife {
    /// It is this process, which knows its sessions.
    Ours,
    /// It lives.
    Alive,
    /// It is proved to have ended.
    Ended,
    /// It cannot be checked: why.
    Unverified(String),
}

/// What a lease is worth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Worth {
    /// It holds its session.
    Holds,
    /// Its process lives, but the session is not in it any more.
    Leaked,
    /// Its process has ended.
    Abandoned,
    /// It cannot be told; it holds its own session, and no other.
    Unverified(String),
}

impl Worth {
    /// Whether the lease may be given back by whoever keeps house.
    #[must_use]
    pub fn is_free(&self) -> bool {
        matches!(self, Self::Leaked | Self::Abandoned)
    }
}

/// Judges one lease. `live` says whether this process has the session of the lease: only the owner
/// can tell, so it is asked for leases of our own.
#[must_use]
pub fn judge(owner: &OwnerLife, live: impl FnOnce() -> bool) -> Worth {
    match owner {
        OwnerLife::Ours if live() => Worth::Holds,
        OwnerLife::Ours => Worth::Leaked,
        OwnerLife::Alive => Worth::Holds,
        OwnerLife::Ended => Worth::Abandoned,
        OwnerLife::Unverified(why) => Worth::Unverified(why.clone()),
    }
}

/// Whether a claim on `session` may be made beside these leases; else the session's own lease that
/// stands in the way, by its place.
///
/// # Errors
/// The place of the lease that holds the session.
pub fn may_claim(session: &str, leases: &[(String, Worth)]) -> Result<(), usize> {
    match leases
        .iter()
        .position(|(of, worth)| of == session && !worth.is_free())
    {
        Some(place) => Err(place),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b134_a_live_pid_is_not_a_live_session() {
        assert_eq!(judge(&OwnerLife::Ours, || false), Worth::Leaked);
        assert_eq!(judge(&OwnerLife::Ours, || true), Worth::Holds);
        assert_eq!(judge(&OwnerLife::Ended, || true), Worth::Abandoned);
    }

    #[test]
    fn b134_an_unverified_lease_blocks_only_its_own_session() {
        let unverified = judge(&OwnerLife::Unverified("another container".into()), || false);
        let leases = [
            ("a".to_owned(), unverified),
            ("b".to_owned(), Worth::Leaked),
            ("c".to_owned(), Worth::Abandoned),
        ];
        assert_eq!(may_claim("a", &leases), Err(0));
        for free in ["b", "c", "d"] {
            assert_eq!(may_claim(free, &leases), Ok(()), "{free}");
        }
    }
}
