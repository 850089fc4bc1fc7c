//! Launching: the decision, the offer, the worker's answer.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::time::Instant;

use super::{Dispatcher, Fate, Hold, blocking, in_words, log};
use crate::cron::redact::redact;
use crate::cron::worker::Work;
use crate::dispatch::handover::{Acknowledgement, Next, Payload, VERSION, after_silence};
use crate::dispatch::launcher::{self, Answer, Orders, Worker};
use crate::dispatch::memory;
use crate::dispatch::mode::{Decision, Kind as WorkerKind, Mechanism, Mode, Policy, decide};
use crate::dispatch::verdict_probe::Verdict;
use crate::error::{Error, Kind, Result};
use crate::fault;
use crate::ledger::{ExecutionFacts, Status, rows};
use crate::runtime::NOW_VARIABLE;

/// One run that a stop of this process may take along; counted as long as it is here.
#[derive(Debug)]
pub(super) struct Risk(Arc<AtomicUsize>);

impl Risk {
    pub(super) fn of(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Risk {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a worker without an acknowledgement left.
struct Silence {
    text: String,
    /// It refused: another try would say the same.
    is_final: bool,
}

impl Dispatcher {
    /// Decides, offers, starts, and waits for the end.
    pub(super) async fn launch(&self, claimed: &Hold, id: &str) -> Result<Fate> {
        let verdict = self.verdict().await?;
        let policy = self.policy();
        let decision = decide(verdict.facts, policy, WorkerKind::Job);
        if decision.mode == Mode::Refused {
            self.parts.verdicts.forget();
            return Err(self.refusal(&decision));
        }
        if decision.mode == Mode::Degraded {
            self.warn_once(&decision);
        }
        let payload = self.payload(claimed, id, &decision)?;
        let orders = Orders {
            manager: decision.manager,
            services_only: verdict.scopes_hang && decision.mechanism == Some(Mechanism::Service),
            require_placement: policy.is_strict() && decision.mode == Mode::Scoped,
            memory_max: self.memory_max(&verdict),
        };
        let environment = self.worker_environment(&verdict);
        let (mut offers, mut first) = (0, None);
        let risk = Risk::of(&self.at_risk);
        loop {
            offers += 1;
            let since = Instant::now();
            self.offer(id).await?;
            fault::point("dispatcher.offered");
            let mut worker = launcher::start(&orders, &payload, &environment).await?;
            fault::point("dispatcher.spawned");
            let why = match worker.answer(id, since).await {
                Answer::Adopted(read) => {
                    fault::point("dispatcher.answered");
                    self.in_hand.tell(id, true);
                    self.check_promise(&decision, log::began(&claimed.job_id, &read));
                    self.note_start(id, first.as_deref(), &read).await;
                    if read.unit.is_some() {
                        drop(risk);
                    }
                    return Ok(self.end_of(worker, Some(read), claimed, id).await);
                }
                answer => silence(answer, &self.parts.environment),
            };
            let taken_back = self.take_back(id).await?;
            let next = after_silence(taken_back, offers, why.is_final);
            if next == Next::Wait {
                self.in_hand.tell(id, true);
                return Ok(self.end_of(worker, None, claimed, id).await);
            }
            worker.kill().await;
            if orders.manager.is_some() {
                // Its service is no child of ours, and one that was killed on its way leaves a unit.
                self.end_units(id, &ExecutionFacts::default()).await;
            }
            if next == Next::GiveUp {
                self.parts.verdicts.forget();
                return Err(self.given_up(why).await);
            }
            let (job, why) = (&claimed.job_id, why.text);
            (self.parts.say)(&format!("Run {id} of job {job} is offered again: {why}."));
            first = Some(why);
        }
    }

    async fn given_up(&self, why: Silence) -> Error {
        if why.is_final {
            self.refused_now(why.text).await
        } else {
            Error::new(Kind::Unavailable, why.text)
        }
    }

    /// Puts down beside a run what was not as planned at its start: `first` is what became of the first offer.
    async fn note_start(&self, id: &str, first: Option<&str>, read: &Acknowledgement) {
        let first = first.map(|why| format!("offered twice: {why}"));
        let unplaced = read.unplaced_because.as_deref();
        let unplaced = unplaced.map(|why| format!("not placed: {why}"));
        let words: Vec<_> = first.into_iter().chain(unplaced).collect();
        if !words.is_empty() {
            let (id, words) = (id.to_owned(), words.join("; "));
            let noted = self.with_ledger(move |ledger| ledger.note(&id, &words));
            let _the_run_goes_on = noted.await;
        }
    }

    /// The worker's own environment: what it needs to find its manager, and no more. What its job gets
    /// travels in the payload, where nobody else can read it.
    fn worker_environment(&self, verdict: &Verdict) -> Vec<(OsString, OsString)> {
        let ours = &self.parts.environment;
        let path = ours.get("PATH").map_or("/usr/bin:/bin", String::as_str);
        let mut environment = vec![("PATH".into(), path.into())];
        // It writes times in the zone in which we do.
        let zone = ["TZ", "TZDIR"].into_iter();
        environment.extend(zone.filter_map(|name| Some((name.into(), ours.get(name)?.into()))));
        if let Some(directory) = &verdict.runtime_dir {
            let bus = format!("unix:path={directory}/bus");
            environment.push(("XDG_RUNTIME_DIR".into(), directory.into()));
            environment.push(("DBUS_SESSION_BUS_ADDRESS".into(), bus.into()));
        }
        // What tests hide there goes on; the worker's clock stands where ours does now.
        let hidden = self.parts.test_variables.iter().cloned();
        environment.extend(hidden.map(|(name, value)| {
            let is_clock = name == NOW_VARIABLE;
            let value = if is_clock {
                self.now().to_string().into()
            } else {
                value
            };
            (name, value)
        }));
        environment
    }

    /// What a worker's unit may use of the memory, in bytes.
    fn memory_max(&self, verdict: &Verdict) -> Option<u64> {
        let variable = self.parts.environment.get(memory::VARIABLE);
        let limit = |total| memory::worker_limit(total, variable.map(String::as_str));
        verdict.memory.map(limit)
    }

    /// Away from the event loop: it takes some milliseconds, and seconds where a bus is mute.
    async fn verdict(&self) -> Result<Verdict> {
        let (verdicts, clock) = (
            Arc::clone(&self.parts.verdicts),
            Arc::clone(&self.parts.clock),
        );
        blocking(move || verdicts.get(&*clock)).await
    }

    /// The worker refused by what it found, against the verdict that was kept: what is true by now says what
    /// would mend it, as at any other refusal.
    async fn refused_now(&self, words: String) -> Error {
        let verdict = self.verdict().await;
        let decision = verdict.map(|now| decide(now.facts, self.policy(), WorkerKind::Job));
        match decision {
            Ok(decision) if decision.mode == Mode::Refused => self.refusal(&decision),
            _ => Error::new(Kind::Refused, words),
        }
    }

    fn refusal(&self, decision: &Decision) -> Error {
        refusal_of(decision, self.parts.settings.scope_unread.as_deref())
    }

    /// What the operator asked for, or what counts as asked for.
    fn policy(&self) -> Policy {
        Policy::of(&self.parts.settings)
    }

    /// One warning for each life of this process, not one for each job.
    fn warn_once(&self, decision: &Decision) {
        if self.warned.swap(true, Ordering::Relaxed) {
            return;
        }
        let why: Vec<_> = decision
            .reasons
            .iter()
            .map(|reason| reason.text())
            .collect();
        (self.parts.say)(&format!(
            "Jobs run degraded: a restart of this service may kill them ({}). 'hermes cron doctor' says how to mend it.",
            why.join("; ")
        ));
    }

    /// A worker that found itself placed otherwise than promised shows that the verdict is stale. Said
    /// once; the record of each run says it again.
    fn check_promise(&self, decision: &Decision, read: &Acknowledgement) {
        if decision.mode == Mode::Scoped && read.unit.is_none() {
            self.parts.verdicts.forget();
            if self.told_unplaced.swap(true, Ordering::Relaxed) {
                return;
            }
            let why = read
                .unplaced_because
                .as_deref()
                .unwrap_or("it does not say why");
            (self.parts.say)(&format!(
                "A worker could not be placed outside of this service: {why}."
            ));
        }
    }

    fn payload(&self, claimed: &Hold, id: &str, decision: &Decision) -> Result<Payload> {
        let unplaced = if decision.mode == Mode::InProcess {
            Mode::InProcess
        } else {
            Mode::Degraded
        };
        let work = Work {
            job: claimed.job.clone(),
            task: claimed.task.clone(),
            agent: claimed
                .task
                .work
                .needs_agent()
                .then(|| self.parts.agent.clone()),
            claim: Some(claimed.by.clone()),
            manual: claimed.manual,
            settles: claimed.settles,
        };
        let work = serde_json::to_value(work).map_err(|error| {
            Error::new(Kind::Internal, "a job has no JSON form").with_source(error)
        })?;
        Ok(Payload {
            version: VERSION,
            execution_id: id.to_owned(),
            home: self.parts.home.path().to_string_lossy().into_owned(),
            zone: self.zones().told().map(str::to_owned),
            work,
            environment: self.parts.environment.clone(),
            unplaced_mode: unplaced.word().to_owned(),
        })
    }

    async fn offer(&self, id: &str) -> Result<()> {
        let (id, owner, now) = (id.to_owned(), self.owner.clone(), self.now());
        let offered = self
            .with_ledger(move |ledger| ledger.offer(&id, &owner, now))
            .await?;
        if offered {
            Ok(())
        } else {
            Err(Error::new(
                Kind::Busy,
                "the row of the execution is no longer ours to offer",
            ))
        }
    }

    async fn take_back(&self, id: &str) -> Result<bool> {
        let (id, owner) = (id.to_owned(), self.owner.clone());
        self.with_ledger(move |ledger| ledger.take_back(&id, &owner))
            .await
    }

    /// Waits for the end of an adopted execution. It ran, whatever keeps us from learning how it ended, or
    /// from writing that down: the next sweep sees to its row.
    async fn end_of(
        &self,
        worker: Worker,
        read: Option<Acknowledgement>,
        claimed: &Hold,
        id: &str,
    ) -> Fate {
        self.wait(worker, read, claimed, id)
            .await
            .unwrap_or_else(|error| {
                self.leave_unsettled();
                let error = format!("its end is not on record: {}", in_words(&error));
                let job = &claimed.job_id;
                (self.parts.say)(&format!("Run {id} of job {job} is over, but {error}."));
                Fate::Ended {
                    execution_id: id.to_owned(),
                    ok: false,
                    error: Some(error),
                }
            })
    }

    /// The same, and closes its row if it did not do so itself.
    async fn wait(
        &self,
        worker: Worker,
        read: Option<Acknowledgement>,
        claimed: &Hold,
        id: &str,
    ) -> Result<Fate> {
        let pid = read.map(|read| read.pid);
        let closed = self
            .see_it_end(Some(worker), pid, (id, &claimed.by))
            .await?;
        let row_id = id.to_owned();
        let row = self
            .with_ledger(move |ledger| ledger.read(|c| rows::execution_by_id(c, &row_id)))
            .await?;
        let status = row.as_ref().map(|row| row.status.clone());
        let error = row.and_then(|row| row.error);
        if status == Some(Status::Unknown) && !closed {
            let why = error.as_deref().unwrap_or("interrupted");
            let job = &claimed.job_id;
            (self.parts.say)(&format!("Run {id} of job {job} was interrupted: {why}."));
        }
        // What its worker could not tell the job.
        self.tell_of_ends(Some(id)).await?;
        let ok = status == Some(Status::Completed);
        Ok(Fate::Ended {
            execution_id: id.to_owned(),
            ok,
            error,
        })
    }
}

/// The stage that failed, and the remedy; with what cannot be read of the policy, where that is why.
fn refusal_of(decision: &Decision, unread: Option<&str>) -> Error {
    let why: Vec<_> = decision
        .reasons
        .iter()
        .map(|reason| reason.text())
        .collect();
    let error = Error::new(Kind::Refused, format!("refused: {}", why.join("; ")));
    let error = unread.into_iter().fold(error, |error, unread| {
        error
            .with_hint(unread)
            .with_hint("mend that; a serve that runs reads it when it is started again")
    });
    let ways = decision.flips.iter().map(|flip| {
        let changes: Vec<_> = flip.by.iter().map(|change| change.text()).collect();
        format!(
            "it would run {} with: {}",
            flip.mode.word(),
            changes.join(", ")
        )
    });
    ways.fold(error, Error::with_hint)
        .with_hint("hermes cron doctor has the commands")
}

/// Words that are kept tell nothing that only jobs may know.
fn silence(answer: Answer, environment: &BTreeMap<String, String>) -> Silence {
    match answer {
        Answer::Ended { status, last_words } => {
            // A worker that says why it will not run says so again.
            let is_final = last_words.contains("cannot be placed outside of the dispatcher");
            let last_words = redact(&last_words, environment);
            let lines = last_words.lines().map(str::trim);
            let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
            let words = if lines.is_empty() {
                String::new()
            } else {
                format!(": {}", lines.join("; "))
            };
            Silence {
                text: format!("the worker did not adopt its execution ({status}){words}"),
                is_final,
            }
        }
        Answer::Silent | Answer::Adopted(_) => Silence {
            text: "the worker said nothing within the handover's 30 s".to_owned(),
            is_final: false,
        },
    }
}
