//! The few lines around the hub: the next event, the clock, the hub, its effects, and sleep until the
//! hub's next deadline.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::Sender as Orders;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::cron_driver::{Asked as AskedOfCron, Desk};
use super::drivers::Turns;
use super::guard::Guard;
use super::hub::{ConnId, Effect, Event, Hub, Order, Page, RunJob, Shown, TurnId};
use super::notes::Notes;
use super::outbox::Outbox;
use super::protocol::{Failure, code};
use super::settings::Read;
use super::signals::{Asked, Signals};
use super::steps::Steps;
use super::timepiece::Timepiece;
use super::turn::Surroundings;
use super::{judge, notify, turn};
use crate::agent::settings::STOP_GRACE;
use crate::child::run::reached;
use crate::cron::wanted_run::Wanted;

/// The clocks are looked at this often, for steps that nobody told us of.
const LOOK: Duration = Duration::from_secs(60);
/// No shorter sleep: a deadline that is not quite reached must not be waited for in a circle.
const SHORTEST: Duration = Duration::from_millis(1);
/// After turns were told to stop at the end: what their processes and the store get.
const LAST: Duration = Duration::from_secs(5);
/// Ready is told after this time at the latest, whatever the store does.
const READY: Duration = Duration::from_secs(5);

/// What reaches the driver.
pub(crate) enum Input {
    /// Something for the hub.
    Event(Event),
    /// A client, with the way to it.
    Connect(ConnId, String, Outbox),
    /// Somebody wants a page.
    Ask(Page, oneshot::Sender<Shown>),
    /// Somebody wants to know when everything before this was seen.
    Sync(oneshot::Sender<()>),
    /// Somebody wants to know when nothing is left to do.
    Settle(oneshot::Sender<()>),
}

/// What a driver is made of.
pub(crate) struct Parts {
    /// The hub.
    pub(crate) hub: Hub,
    /// The clock.
    pub(crate) time: Timepiece,
    /// Steps of the wall clock.
    pub(crate) steps: Steps,
    /// What reaches it.
    pub(crate) inputs: mpsc::Receiver<Input>,
    /// The way to it, for its children.
    pub(crate) sender: mpsc::Sender<Input>,
    /// The way to the store.
    pub(crate) orders: Orders<Order>,
    /// Who notices that the home is taken away.
    pub(crate) guard: Guard,
    /// The table of drivers.
    pub(crate) turns: Turns,
    /// Tells the other drivers to stop.
    pub(crate) stop: watch::Sender<bool>,
    /// What turns have in common.
    pub(crate) around: Surroundings,
    /// The judge's command.
    pub(crate) judge: Vec<String>,
    /// Files that are emergency stops where they are there.
    pub(crate) emergency: Vec<PathBuf>,
    /// What has to be said of this serve.
    pub(crate) notes: Notes,
    /// The way to the driver of cron, where there is one.
    pub(crate) cron: Option<Desk>,
    /// What a stop leaves to running turns.
    pub(crate) patience: Duration,
    /// What a stop leaves to jobs.
    pub(crate) drain: Duration,
}

/// The driver.
pub(crate) struct Driver {
    parts: Parts,
    outboxes: HashMap<ConnId, Outbox>,
    cancels: HashMap<TurnId, watch::Sender<bool>>,
    settling: Vec<oneshot::Sender<()>>,
    /// When running turns are told to stop, and when nobody is waited for any more.
    ending: Option<(Instant, Instant)>,
    told_to_stop: bool,
    judging: watch::Sender<bool>,
    said: Vec<String>,
}

impl Driver {
    /// A driver of these parts.
    pub(crate) fn new(parts: Parts) -> Self {
        Self {
            parts,
            outboxes: HashMap::new(),
            cancels: HashMap::new(),
            settling: Vec::new(),
            ending: None,
            told_to_stop: false,
            judging: watch::Sender::new(false),
            said: Vec::new(),
        }
    }

    /// Turns until serve is over. `ready` is called once the store was read, or could not be;
    /// `reload` reads the configuration again.
    pub(crate) async fn run(
        mut self,
        mut signals: Signals,
        ready: impl FnOnce(),
        mut reload: impl FnMut() -> Read,
    ) {
        let again = self.begin(&mut signals).await;
        ready();
        if again {
            self.reload(reload());
        }
        let mut feed = notify::watchdog().map(tokio::time::interval);
        while !self.parts.hub.is_over() {
            let ending = self.ending;
            let idle = self.idle();
            tokio::select! {
                asked = signals.next() => match asked {
                    Asked::Stop => self.stop(),
                    Asked::Reload => self.reload(reload()),
                },
                Some(input) = self.parts.inputs.recv() => self.take(input),
                () = self.parts.time.sleep(idle) => self.wake(),
                () = self.parts.steps.next() => self.wake(),
                () = notify::fed(&mut feed) => self.feed(),
                () = reached(ending.map(|(soft, _)| soft)), if !self.told_to_stop => {
                    self.told_to_stop = true;
                    self.handle(Event::DrainOver);
                }
                () = reached(ending.map(|(_, hard)| hard)) => {
                    tracing::warn!("Serve ends although something did not: its time is over.");
                    break;
                }
            }
            self.settle();
        }
        let _nobody_listens = self.parts.stop.send(true);
    }

    /// Until the store was read; whether a reload was asked for meanwhile.
    async fn begin(&mut self, signals: &mut Signals) -> bool {
        self.say();
        let effects = self.parts.hub.take_effects();
        self.carry(effects);
        let until = Instant::now() + READY;
        let mut again = false;
        while !self.parts.hub.has_looked() && self.ending.is_none() {
            tokio::select! {
                Some(input) = self.parts.inputs.recv() => self.take(input),
                () = sleep_until(until) => break,
                asked = signals.next() => match asked {
                    Asked::Stop => self.stop(),
                    Asked::Reload => again = true,
                },
            }
        }
        self.wake();
        again
    }

    fn idle(&self) -> Duration {
        let seconds = self.parts.hub.idle_for(self.parts.time.now());
        let idle = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        idle.unwrap_or(LOOK).clamp(SHORTEST, LOOK)
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Event(event) => {
                if let Event::TurnEnded(turn, _) | Event::TurnNotStarted(turn, _) = &event {
                    self.cancels.remove(turn);
                }
                if let Event::Disconnected(conn) = &event {
                    self.outboxes.remove(conn);
                }
                if matches!(event, Event::Wake) {
                    return self.wake();
                }
                self.handle(event);
            }
            Input::Connect(conn, label, outbox) => {
                self.outboxes.insert(conn, outbox);
                self.handle(Event::Connected { conn, label });
            }
            Input::Ask(page, answer) => {
                let now = self.parts.time.now();
                let stuck = self.parts.turns.stuck(now.monotonic);
                let mut shown = self.parts.hub.page(page, &stuck, now);
                if page == Page::Metrics {
                    shown.body.push_str(&self.parts.turns.metrics());
                }
                let _gone = answer.send(shown);
            }
            Input::Sync(seen) => {
                let _gone = seen.send(());
            }
            Input::Settle(settled) => self.settling.push(settled),
        }
    }

    fn wake(&mut self) {
        self.parts.notes.look(self.parts.time.now().monotonic);
        self.say();
        let there = self.parts.emergency.iter().find(|file| file.exists());
        let stop = there.map(|file| format!("an emergency stop stands ({})", file.display()));
        self.handle(Event::EmergencyStop(stop));
        self.handle(Event::Wake);
        if self.ending.is_none() && self.parts.guard.is_lost() {
            tracing::error!(
                "The home was taken away from serve, and another one may begin: it ends."
            );
            self.stop();
        }
    }

    fn handle(&mut self, event: Event) {
        let now = self.parts.time.now();
        let effects = self.parts.hub.handle(event, now);
        self.carry(effects);
    }

    fn carry(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Send(conn, frame) => {
                    let slow = self
                        .outboxes
                        .get(&conn)
                        .is_some_and(|outbox| !outbox.push(frame));
                    if slow {
                        tracing::warn!(
                            "Client {conn} reads too slowly, or is gone: it is dropped."
                        );
                        self.outboxes.remove(&conn);
                        self.handle(Event::Disconnected(conn));
                    }
                }
                Effect::Store(order) => {
                    if self.parts.orders.send(order).is_err() {
                        tracing::error!("The store's thread is gone.");
                    }
                }
                Effect::StartTurn(spec) => {
                    let (cancel, cancelled) = watch::channel(false);
                    self.cancels.insert(spec.turn, cancel);
                    let (around, hub) = (self.parts.around.clone(), self.parts.sender.clone());
                    tokio::spawn(turn::run(*spec, around, cancelled, hub));
                }
                Effect::StopTurn(turn) => {
                    if let Some(cancel) = self.cancels.get(&turn) {
                        cancel.send_replace(true);
                    }
                }
                Effect::Judge {
                    session,
                    until,
                    answer,
                } => {
                    let question = judge::Question {
                        session,
                        until,
                        answer,
                    };
                    let (around, hub) = (self.parts.around.clone(), self.parts.sender.clone());
                    let stop = self.judging.subscribe();
                    let command = self.parts.judge.clone();
                    tokio::spawn(judge::ask(command, question, around, stop, hub));
                }
                Effect::RunJob(asked) => self.run_job(asked),
                Effect::Status(status) => notify::status(&status),
                Effect::Log(line) => tracing::info!("{line}"),
            }
        }
    }

    /// Hands a run by hand to the driver of cron; the answer comes as an event.
    fn run_job(&self, asked: RunJob) {
        let (desk, hub) = (self.parts.cron.clone(), self.parts.sender.clone());
        tokio::spawn(async move {
            let RunJob {
                conn,
                id,
                job_id,
                execution_id,
            } = asked;
            let (answer, answered) = oneshot::channel();
            let wanted = Wanted {
                job_id,
                execution_id,
                answer,
            };
            let begun = match desk {
                None => Err(Failure::new(
                    code::UNKNOWN_METHOD,
                    "this serve was told not to run cron jobs",
                )),
                Some(desk) => {
                    let _stopped_is_no_answer = desk.send(AskedOfCron::Run(wanted)).await;
                    let stops = |_| Failure::new(code::RETIRING, "serve is stopping");
                    answered.await.map(|begun| begun.to_json()).map_err(stops)
                }
            };
            let event = Event::JobBegun { conn, id, begun };
            let _stopped = hub.send(Input::Event(event)).await;
        });
    }

    /// A second request does not wait any longer.
    fn stop(&mut self) {
        let now = Instant::now();
        let patience = if self.ending.is_some() {
            Duration::ZERO
        } else {
            self.parts.patience
        };
        let last = patience + STOP_GRACE + LAST;
        self.ending = Some((now + patience, now + last));
        notify::stopping(patience.max(self.parts.drain) + STOP_GRACE + LAST);
        let _nobody_listens = self.parts.stop.send(true);
        self.judging.send_replace(true);
        self.handle(Event::Drain);
    }

    fn reload(&mut self, read: Read) {
        notify::reloading();
        if self.parts.notes.take(&read) {
            self.parts.judge = read.judge;
            self.parts.patience = read.serve.drain_timeout;
            self.handle(Event::Reloaded(Box::new(read.hub)));
        }
        self.say();
        notify::ready();
    }

    /// Says what is new among the notes, and what is over.
    fn say(&mut self) {
        let all = self.parts.notes.all();
        if all == self.said {
            return;
        }
        for note in all.iter().filter(|note| !self.said.contains(note)) {
            tracing::warn!("{note}");
        }
        for note in self.said.iter().filter(|note| !all.contains(note)) {
            tracing::info!("No longer so: {note}");
        }
        self.said.clone_from(&all);
        self.handle(Event::Notes(all));
    }

    /// The watchdog is fed only while every driver turns.
    fn feed(&self) {
        let stuck = self.parts.turns.stuck(self.parts.time.now().monotonic);
        if stuck.is_empty() {
            notify::alive();
        } else {
            tracing::error!("Drivers do not turn: {}.", stuck.join(", "));
        }
    }

    fn settle(&mut self) {
        if !self.settling.is_empty() && self.parts.hub.is_quiet() {
            for settled in self.settling.drain(..) {
                let _gone = settled.send(());
            }
        }
    }
}
