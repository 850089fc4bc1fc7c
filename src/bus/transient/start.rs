//! Starting, watching and ending transient units.

use std::{future::Future, time::Duration};

use tokio::time::{Instant, timeout_at};
use zbus::{OwnedObjectPath, Variant};

use super::{
    attempts::attempts,
    jobs::Jobs,
    property::{Properties, Property, Scope, Service},
};
use crate::bus::{
    client::{CallError, Client},
    systemd::MANAGER_OBJECT,
    unit::Unit,
};
use crate::fault;

const UNIT_EXISTS: &str = "org.freedesktop.systemd1.UnitExists";
const NO_SUCH_UNIT: &str = "org.freedesktop.systemd1.NoSuchUnit";

/// What the launcher needs of a service manager, and no more.
pub trait ServiceManager {
    /// Makes a scope around processes, and waits until they are in it.
    fn place(
        &self,
        scope: &Scope,
        within: Duration,
    ) -> impl Future<Output = Result<Started, StartError>> + Send;

    /// Starts a service, and waits until its program runs.
    fn launch(
        &self,
        service: &Service,
        within: Duration,
    ) -> impl Future<Output = Result<Started, StartError>> + Send;

    /// How a unit ended, or that it has not. A failure stays until it is forgotten.
    fn end(&self, unit: &str) -> impl Future<Output = Result<UnitEnd, CallError>> + Send;

    /// Stops a unit with everything in it; one that is gone is stopped.
    fn stop(&self, unit: &str) -> impl Future<Output = Result<(), CallError>> + Send;

    /// Forgets a failed unit, after its result was read.
    fn forget(&self, unit: &str) -> impl Future<Output = Result<(), CallError>> + Send;
}

/// A unit that runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Started {
    /// Its name.
    pub unit: String,
    /// Its main process; a scope has none.
    pub main_pid: Option<u32>,
    /// Its cgroup, as the manager says.
    pub control_group: Option<String>,
    /// Properties that this systemd rejected.
    pub dropped: Vec<&'static str>,
}

/// Why no unit runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The name is taken.
    #[error("a unit of that name exists")]
    NameTaken,
    /// The manager refused, also without any optional property.
    #[error("the manager refused: {0}")]
    Refused(CallError),
    /// The manager did not answer, or the connection broke.
    #[error("the manager was lost: {0}")]
    Lost(CallError),
    /// The job was accepted and did not end well; for a scope, the move was refused.
    #[error("the job ended '{job}', with unit result '{}'", result.as_deref().unwrap_or("unknown"))]
    Failed {
        /// Result of the job.
        job: String,
        /// `Result` of the unit, as far as it could be read.
        result: Option<String>,
        /// `ExecMainStatus` of the unit: 203 no program, 200 no directory. Below 200 a service did
        /// run, and has failed already.
        status: Option<i32>,
    },
    /// The job did not end in time; it may still.
    #[error("the job did not end within {0:.0?}")]
    Unfinished(Duration),
}

/// How a unit stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnitEnd {
    /// It has not ended.
    Running,
    /// It is gone: it ended well, unless the manager itself was restarted meanwhile.
    Gone,
    /// It failed.
    Failed {
        /// `Result`: `exit-code`, `signal`, `oom-kill`, `timeout`, `resources`, …
        result: String,
        /// `ExecMainCode` of `waitid`: 1 exited, 2 killed, 3 dumped.
        code: Option<i32>,
        /// `ExecMainStatus`: exit status, or signal.
        status: Option<i32>,
    },
}

impl ServiceManager for Client {
    async fn place(&self, scope: &Scope, within: Duration) -> Result<Started, StartError> {
        let places = ["worker.asks", "worker.asked"];
        self.start(&scope.name, scope.properties(), within, places)
            .await
    }

    async fn launch(&self, service: &Service, within: Duration) -> Result<Started, StartError> {
        let places = ["worker.asks_service", "worker.asked_service"];
        self.start(&service.name, service.properties(), within, places)
            .await
    }

    async fn end(&self, unit: &str) -> Result<UnitEnd, CallError> {
        Ok(self
            .unit(unit)
            .await?
            .map_or(UnitEnd::Gone, |unit| end_of(&unit)))
    }

    async fn stop(&self, unit: &str) -> Result<(), CallError> {
        let stopped: Result<OwnedObjectPath, _> = self
            .call(MANAGER_OBJECT, "StopUnit", &(unit, "replace"))
            .await;
        gone_is_fine(stopped.map(|_| ()))
    }

    async fn forget(&self, unit: &str) -> Result<(), CallError> {
        gone_is_fine(self.call(MANAGER_OBJECT, "ResetFailedUnit", &unit).await)
    }
}

impl Client {
    async fn start(
        &self,
        name: &str,
        properties: Properties<'_>,
        within: Duration,
        [asks, asked]: [&str; 2],
    ) -> Result<Started, StartError> {
        let until = Instant::now() + within;
        // One deadline over all calls: a busy manager may take longer than a door's stage.
        let patient = Self {
            patience: within,
            ..self.clone()
        };
        let starting = async {
            let mut jobs = Jobs::listen(&patient).await.map_err(StartError::Lost)?;
            fault::point(asks);
            let (job, dropped) = patient.negotiate(name, &properties).await?;
            fault::point(asked);
            let lost = || StartError::Lost(CallError::Broken("no end of the job".to_owned()));
            let result = jobs.end_of(&job).await.ok_or_else(lost)?;
            Ok((result, dropped))
        };
        let (result, dropped) = timeout_at(until, starting)
            .await
            .unwrap_or(Err(StartError::Unfinished(within)))?;
        // What became of it is asked in any case; a manager that is mute now changes nothing.
        let unit = self.unit(name).await.ok().flatten();
        if result == "done" {
            let unit = unit.unwrap_or_default();
            let (main_pid, control_group) = (unit.main_pid, unit.control_group);
            return Ok(Started {
                unit: name.to_owned(),
                main_pid,
                control_group,
                dropped,
            });
        }
        let _forgotten = self.forget(name).await;
        let unit = unit.unwrap_or_default();
        Err(StartError::Failed {
            job: result,
            result: unit.result,
            status: unit.exit_status,
        })
    }

    /// Asks, with fewer optional properties each time that it is refused. Nothing is left behind by
    /// a refusal, so the same name can be used again.
    async fn negotiate(
        &self,
        name: &str,
        properties: &Properties<'_>,
    ) -> Result<(String, Vec<&'static str>), StartError> {
        let mut last = CallError::Senseless("nothing was asked".to_owned());
        for kept in attempts(properties.optional.len()) {
            let asked = kept.iter().zip(&properties.optional);
            let optional = asked
                .clone()
                .filter(|(kept, _)| **kept)
                .map(|(_, property)| property);
            let chosen: Vec<&Property<'_>> = properties.required.iter().chain(optional).collect();
            match self.ask(name, &chosen).await {
                Ok(job) => {
                    let dropped = asked
                        .filter(|(kept, _)| !**kept)
                        .map(|(_, (name, _))| *name);
                    return Ok((job, dropped.collect()));
                }
                Err(error) if error.name() == Some(UNIT_EXISTS) => {
                    return Err(StartError::NameTaken);
                }
                Err(error @ CallError::Refused { .. }) => last = error,
                Err(error) => return Err(StartError::Lost(error)),
            }
        }
        Err(StartError::Refused(last))
    }

    async fn ask(&self, name: &str, properties: &[&Property<'_>]) -> Result<String, CallError> {
        let properties: Vec<(&str, &Variant<'_>)> = properties
            .iter()
            .map(|(name, value)| (*name, value))
            .collect();
        let auxiliary: &[(&str, Vec<(&str, Variant<'_>)>)] = &[];
        let body = (name, "fail", properties, auxiliary);
        let job: OwnedObjectPath = self
            .call(MANAGER_OBJECT, "StartTransientUnit", &body)
            .await?;
        Ok(job.to_string())
    }
}

fn end_of(unit: &Unit) -> UnitEnd {
    match unit.active_state.as_deref() {
        Some("failed") => UnitEnd::Failed {
            result: unit.result.clone().unwrap_or_default(),
            code: unit.exit_code,
            status: unit.exit_status,
        },
        Some("inactive") => UnitEnd::Gone,
        _ => UnitEnd::Running,
    }
}

fn gone_is_fine(result: Result<(), CallError>) -> Result<(), CallError> {
    match result {
        Err(error) if error.name() == Some(NO_SUCH_UNIT) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests;
