//! A wake-up that is out: what it gives back where its turn never began. The same for loops and beats.

use serde::{Deserialize, Serialize};

use super::event::{NeverBegan, TimerEffect};
use super::fuse::Fuse;

/// What a wake-up that never began gives back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Claim {
    /// Whether its turn has begun.
    pub(super) began: bool,
    /// When it was taken; not stored by loops of older versions.
    #[serde(default)]
    pub(super) at: f64,
    /// The slot that it is for.
    pub(super) due: f64,
    /// The stamp of the wake-up before it.
    pub(super) last_fired_at: f64,
    /// Slots that it tells of.
    pub(super) missed: u64,
}

/// Its turn has begun.
pub(super) fn begin(claim: &mut Option<Claim>) -> Vec<TimerEffect> {
    match claim.as_mut().filter(|claim| !claim.began) {
        Some(claim) => {
            claim.began = true;
            vec![TimerEffect::Save]
        }
        None => Vec::new(),
    }
}

/// The claim of a turn that never began, taken out.
pub(super) fn unbegun(claim: &mut Option<Claim>) -> Option<Claim> {
    claim.take_if(|claim| !claim.began)
}

/// When to try again after a turn that never began; the reason, where it was one failure too many.
pub(super) fn hold_off(
    why: NeverBegan,
    until: f64,
    fuse: &mut Fuse,
    (not_before, blocked): (&mut f64, &mut bool),
) -> Option<String> {
    match why {
        NeverBegan::UserFirst => *blocked = true,
        NeverBegan::Stopping => {}
        NeverBegan::Failed(reason) => {
            *not_before = until;
            if !fuse.fail() {
                return Some(reason);
            }
        }
    }
    None
}
