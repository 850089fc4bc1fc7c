//! What this process has in hand: claims of jobs and rows of the ledger. Whatever bears our name
//! and is not in hand was left behind by a step that could not be taken back, as where the disk was
//! full, and nobody else can know that it is free.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Claims and executions, by their names.
#[derive(Clone, Debug, Default)]
pub(super) struct InHand(Arc<Mutex<Names>>);

#[derive(Debug, Default)]
struct Names {
    held: HashSet<String>,
    waiting: HashMap<String, oneshot::Sender<()>>,
}

/// One that is in hand as long as this lives.
#[derive(Debug)]
pub(super) struct Grip {
    of: InHand,
    name: String,
}

impl InHand {
    fn names(&self) -> MutexGuard<'_, Names> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one in hand: before it is written anywhere.
    pub(super) fn take(&self, name: &str) -> Grip {
        self.names().held.insert(name.to_owned());
        Grip {
            of: self.clone(),
            name: name.to_owned(),
        }
    }

    /// Whether it is.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names().held.contains(name)
    }

    /// Resolves when a worker has adopted this execution, and fails when it ends without one.
    pub(super) fn adopted(&self, execution_id: &str) -> oneshot::Receiver<()> {
        let (tell, told) = oneshot::channel();
        self.names().waiting.insert(execution_id.to_owned(), tell);
        told
    }

    /// A worker has adopted it, or none ever will.
    pub(super) fn tell(&self, execution_id: &str, adopted: bool) {
        let waiting = self.names().waiting.remove(execution_id);
        if let Some(waiting) = waiting.filter(|_| adopted) {
            let _nobody_waits = waiting.send(());
        }
    }
}

impl Drop for Grip {
    fn drop(&mut self) {
        self.of.names().held.remove(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_in_hand_as_long_as_its_grip_lives() {
        let hand = InHand::default();
        let grip = hand.take("a");
        assert!(hand.has("a") && !hand.has("b"));
        drop(grip);
        assert!(!hand.has("a"));
    }

    #[test]
    fn who_waits_learns_of_an_adoption_and_of_an_end_without_one() {
        let hand = InHand::default();
        let (mut adopted, mut lost) = (hand.adopted("a"), hand.adopted("b"));
        hand.tell("a", true);
        hand.tell("b", false);
        assert_eq!(adopted.try_recv(), Ok(()));
        assert_eq!(lost.try_recv(), Err(oneshot::error::TryRecvError::Closed));
    }
}
