//! The store's thread: takes the hub's orders one after the other, and answers them as events.
//!
//! What is only to be kept must not get lost while the disk is full or the file is locked by somebody
//! else: it waits here, in order, and is tried again. Everything else is answered at once, a failure
//! too. Nothing of the store is read from anywhere else while serve runs.

mod whose;

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::mpsc;

use super::driver::Input;
use super::drivers::Turns;
use super::hub::{Event, Order, Stored};
use super::lease_file::Leases;
use super::turn::words;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::output::human;
use crate::sessions::schedule::TimerKind;
use crate::sessions::store::{Step, Store, Write};
use crate::timers::driver::Saved;

/// Between two tries to write what waits.
const RETRY: Duration = Duration::from_secs(2);
/// Writes in one transaction.
const BATCH: usize = 256;
/// Writes that wait at most; then the oldest are lost, and that is said.
const WAITING: usize = 20_000;
/// A standing task is no longer than this, in bytes.
const TASK: u64 = 64 << 10;

/// The thread's name, and in the table of drivers.
const NAME: &str = "store";
/// Longest work on what was ordered at once: a store that is locked makes each question wait for
/// [`crate::db::BUSY`], and still answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// Who learns that the thread still turns.
pub(crate) struct Watch {
    /// The table of drivers.
    pub(crate) turns: Turns,
    /// The clock that it goes by.
    pub(crate) clock: Arc<dyn Clock>,
}

impl Watch {
    fn works(&self) {
        let now = self.clock.now().monotonic;
        self.turns.turned(NAME, now, Duration::ZERO);
    }

    fn rests(&self) {
        self.turns.rests(NAME);
    }
}

/// The store's thread.
pub(crate) struct Keeper {
    orders: Sender<Order>,
    thread: JoinHandle<()>,
}

impl Keeper {
    /// Starts the thread.
    pub(crate) fn start(desk: Desk, hub: mpsc::Sender<Input>, watch: Watch) -> Result<Self> {
        let (orders, receiver) = channel();
        let now = watch.clock.now().monotonic;
        watch.turns.enter(NAME, PATIENCE, now);
        let thread = std::thread::Builder::new()
            .name(NAME.to_owned())
            .spawn(move || desk.run(&receiver, &hub, &watch))
            .map_err(|error| Error::io("failed to start the store's thread", error))?;
        Ok(Self { orders, thread })
    }

    /// The way to it.
    pub(crate) fn orders(&self) -> Sender<Order> {
        self.orders.clone()
    }

    /// Waits for its end, which comes when nobody can order any more.
    pub(crate) fn finish(self) {
        drop(self.orders);
        let _panicked = self.thread.join();
    }
}

/// What the thread does: orders in, answers out.
pub(crate) struct Desk {
    path: PathBuf,
    store: Option<Store>,
    waiting: VecDeque<Write>,
    trouble: Option<String>,
    answers: Vec<Stored>,
    leases: Option<Leases>,
    /// Sessions of ours that another process had live when it was last looked.
    with_others: BTreeSet<String>,
    /// The last look could not tell.
    blind: bool,
}

impl Desk {
    /// A desk over the store at this path; without leases nobody else uses the home.
    pub(crate) fn new(path: PathBuf, leases: Option<Leases>) -> Self {
        Self {
            path,
            leases,
            store: None,
            waiting: VecDeque::new(),
            trouble: None,
            answers: Vec::new(),
            with_others: BTreeSet::new(),
            blind: false,
        }
    }

    fn run(mut self, orders: &Receiver<Order>, hub: &mpsc::Sender<Input>, watch: &Watch) {
        loop {
            watch.rests();
            let order = self.next(orders, watch);
            watch.works();
            let over = matches!(order, Err(RecvTimeoutError::Disconnected));
            let mut batch: Vec<Order> = order.into_iter().collect();
            batch.extend(orders.try_iter().take(BATCH));
            for stored in self.take(batch) {
                let event = Event::Stored(Box::new(stored));
                let _stopped = hub.blocking_send(Input::Event(event));
            }
            if over {
                if let Some(lost) = self.lost() {
                    tracing::error!("{lost}");
                }
                if let Some(leases) = &mut self.leases {
                    leases.give_back();
                    leases.save();
                }
                return watch.rests();
            }
        }
    }

    /// What the end of serve costs that the store never took, in words.
    fn lost(&self) -> Option<String> {
        let signs = |write: &&Write| matches!(write, Write::Alive(..) | Write::Gone(_));
        let lost: Vec<_> = self.waiting.iter().filter(|one| !signs(one)).collect();
        if lost.is_empty() {
            return None;
        }
        let said: BTreeSet<i64> = lost
            .iter()
            .filter_map(|one| match one {
                Write::Message(message) => Some(message.id),
                _ => None,
            })
            .collect();
        let many = human::count(lost.len(), "change", "changes");
        let said = human::count(said.len(), "message", "messages");
        let why = self.trouble.as_deref().unwrap_or("it gave no reason");
        Some(format!(
            "The store did not take {many} ({said}) until the end, and what was new is lost: {why}."
        ))
    }

    /// The next order. Where none is there the leases are brought up to date, so that a crowd of
    /// sessions is one change of them; what could not be done is tried again after a while.
    fn next(&mut self, orders: &Receiver<Order>, watch: &Watch) -> Result<Order, RecvTimeoutError> {
        match orders.try_recv() {
            Ok(order) => return Ok(order),
            Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) => {}
        }
        let mut stale = false;
        if let Some(leases) = self.leases.as_mut().filter(|leases| leases.is_stale()) {
            watch.works();
            leases.save();
            watch.rests();
            stale = leases.is_stale();
        }
        if self.waiting.is_empty() && !stale {
            return orders.recv().map_err(|_| RecvTimeoutError::Disconnected);
        }
        orders.recv_timeout(RETRY)
    }

    /// Carries orders out, in their order, and tries again what waits; the answers. Whatever writes
    /// is one transaction up to the next question.
    pub(crate) fn take(&mut self, orders: Vec<Order>) -> Vec<Stored> {
        let mut batch = Vec::new();
        for order in orders {
            if matches!(order, Order::Write(_) | Order::SaveTimer { .. }) {
                batch.push(order);
            } else if let Order::Lease(stored, live) = order {
                if let Some(leases) = &mut self.leases {
                    leases.note(stored, live.as_deref());
                }
                self.tell(Stored::Written(1, self.trouble.clone()));
            } else {
                // What was ordered before comes before.
                self.commit(std::mem::take(&mut batch));
                self.serve(order);
            }
        }
        self.commit(batch);
        std::mem::take(&mut self.answers)
    }

    fn tell(&mut self, stored: Stored) {
        self.answers.push(stored);
    }

    fn open(&mut self) -> Result<&mut Store> {
        if self.store.is_none() {
            self.store = Some(Store::open(&self.path)?);
        }
        self.store
            .as_mut()
            .ok_or_else(|| Error::new(crate::error::Kind::Internal, "the store is not open"))
    }

    fn ask<T>(&mut self, question: impl FnOnce(&mut Store) -> Result<T>) -> Result<T, String> {
        let answer = self.open().and_then(question);
        answer.map_err(|error| {
            // Whatever it was, a new connection knows better.
            self.store = None;
            words(&error)
        })
    }

    /// Writes what waits and this batch. Where that fails the writes wait, and the saves have failed.
    fn commit(&mut self, batch: Vec<Order>) {
        if batch.is_empty() && self.waiting.is_empty() {
            return;
        }
        let waiting = std::mem::take(&mut self.waiting);
        let mut steps: Vec<Step<'_>> = waiting.iter().map(Step::Write).collect();
        steps.extend(batch.iter().filter_map(step));
        let written = steps
            .iter()
            .filter(|step| matches!(step, Step::Write(_)))
            .count();
        let done = self.ask(|store| store.apply(&steps));
        drop(steps);
        let mut saved = match done {
            Ok(applied) => {
                let over = applied.changed && self.trouble.take().is_some();
                if written > 0 || over {
                    self.tell(Stored::Written(written, self.trouble.clone()));
                }
                applied.saved.into_iter().map(Ok).collect::<VecDeque<_>>()
            }
            Err(why) => {
                let writes = batch.iter().filter_map(|order| match order {
                    Order::Write(write) => Some(write.clone()),
                    _ => None,
                });
                self.waiting = waiting;
                self.waiting.extend(writes);
                self.fail(why.clone());
                VecDeque::from([Err(why)])
            }
        };
        for order in batch {
            if let Order::SaveTimer { session, kind, .. } = order {
                let one = match saved.front() {
                    Some(Err(why)) => Saved::Failed(why.clone()),
                    _ => saved
                        .pop_front()
                        .and_then(Result::ok)
                        .unwrap_or_else(|| Saved::Failed("the store gave no answer".to_owned())),
                };
                self.tell(Stored::Timer(session, kind, one));
            }
        }
    }

    fn fail(&mut self, why: String) {
        let mut lost = 0;
        while self.waiting.len() > WAITING {
            self.waiting.pop_front();
            lost += 1;
        }
        let why = if lost > 0 {
            format!("{why}; {lost} writes were lost, too many waited")
        } else {
            why
        };
        if lost > 0 || self.trouble.as_ref() != Some(&why) {
            self.trouble = Some(why.clone());
            self.tell(Stored::Written(lost, Some(why)));
        }
    }

    fn serve(&mut self, order: Order) {
        let stored = match order {
            Order::Write(_) | Order::SaveTimer { .. } | Order::Lease(..) => return,
            Order::Load => Stored::Loaded(self.load()),
            Order::Find(name, then) => self.find(&name, then),
            Order::Delete(id, then) => self.delete(&id, then),
            Order::List {
                most,
                hidden,
                title,
                then,
            } => {
                let cards = self.ask(|store| store.list(most, hidden, title.as_deref()));
                Stored::List(cards, then)
            }
            Order::History(id, most, then) => match self.known(&id, then) {
                Ok(then) => Stored::History(self.ask(|store| store.history(&id, most)), then),
                Err(other) => *other,
            },
            Order::Ticks(id, kind, most, then) => match self.known(&id, then) {
                Ok(then) => {
                    let kind = kind.map(TimerKind::word);
                    Stored::Ticks(self.ask(|store| store.ticks(&id, kind, most)), then)
                }
                Err(other) => *other,
            },
            Order::Freed => Stored::Freed(self.freed()),
            Order::LeftOpen(before) => {
                Stored::LeftOpen(self.ask(|store| store.left_open(before, 1000)))
            }
            Order::Task(files, then) => {
                Stored::Task(files.iter().find_map(|file| task(file)), then)
            }
        };
        self.tell(stored);
    }
}

/// An order that writes, as a part of a transaction.
fn step(order: &Order) -> Option<Step<'_>> {
    match order {
        Order::Write(write) => Some(Step::Write(write)),
        Order::SaveTimer {
            stored_id,
            kind,
            save,
            ..
        } => Some(Step::Timer {
            session_id: stored_id,
            kind: kind.word(),
            save,
        }),
        _ => None,
    }
}

fn task(file: &std::path::Path) -> Option<String> {
    use std::io::Read as _;
    let found = fs_err::metadata(file).ok()?;
    if !found.is_file() {
        return None;
    }
    let mut text = String::new();
    let open = fs_err::File::open(file).ok()?;
    open.take(TASK).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;

    #[test]
    fn a_store_that_hangs_is_named_to_the_watchdog() {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(jiff::Timestamp::UNIX_EPOCH));
        let turns = Turns::default();
        turns.enter(NAME, PATIENCE, clock.now().monotonic);
        let watch = Watch {
            turns: turns.clone(),
            clock: Arc::<ManualClock>::clone(&clock),
        };
        // Nobody takes its answers: it hangs in the middle of its work.
        let (hub, mut inputs) = mpsc::channel(1);
        let (orders, receiver) = channel();
        for _ in 0..3 {
            orders.send(Order::LeftOpen(0.0)).unwrap();
        }
        let desk = Desk::new(directory.path().join("state.db"), None);
        let thread = std::thread::spawn(move || desk.run(&receiver, &hub, &watch));
        while inputs.is_empty() {
            std::thread::yield_now();
        }
        clock.advance(PATIENCE + Duration::from_secs(1));
        assert_eq!(turns.stuck(clock.now().monotonic), [NAME]);
        drop(orders);
        while inputs.blocking_recv().is_some() {}
        thread.join().unwrap();
        clock.advance(PATIENCE * 10);
        assert!(turns.stuck(clock.now().monotonic).is_empty());
    }
}
