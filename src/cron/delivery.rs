//! Where the result of a run goes. Here: the files of the home, and a command that gets it on its
//! stdin; other targets come behind the same trait.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::time::Duration;

use tokio::sync::watch;

use crate::agent::runner::look_up;
use crate::child::guard::guarded;
use crate::child::run::{End, Limits, Spec, start};
use crate::error::{Error, Kind, Result};
use crate::output::human::span;

/// Longest delivery.
const LIMIT: Duration = Duration::from_secs(60);

/// What is delivered.
#[derive(Clone, Copy, Debug)]
pub struct Parcel<'a> {
    /// The job's name.
    pub job: &'a str,
    /// The execution.
    pub execution_id: &'a str,
    /// The run did what was asked.
    pub ok: bool,
    /// What it printed, or answered, or what went wrong.
    pub text: &'a str,
}

/// What became of a delivery, in the words of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// The target has it.
    Delivered,
    /// There is no target beyond the files of the home.
    Suppressed,
    /// Somebody asked for its end before the target had it.
    Cancelled,
}

impl Delivered {
    /// The word in the ledger.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Suppressed => "suppressed",
            Self::Cancelled => CANCELLED,
        }
    }

    /// Why the result did not arrive, where that is known to be somebody's wish.
    #[must_use]
    pub fn objection(self) -> Option<&'static str> {
        (self == Self::Cancelled).then_some("a person cancelled its delivery")
    }
}

/// The word in the ledger for a delivery that somebody ended.
pub const CANCELLED: &str = "cancelled";

pub use crate::ledger::store::DELIVERY_UNKNOWN as UNKNOWN;

/// The word in the ledger for a delivery that went wrong.
pub const FAILED: &str = "failed";

/// A target.
pub trait Deliver {
    /// Delivers.
    ///
    /// # Errors
    /// Why it did not arrive. The run itself is not touched by that.
    fn deliver(&self, parcel: &Parcel<'_>) -> impl Future<Output = Result<Delivered>>;
}

/// The files of the home, where every run leaves its document anyway.
#[derive(Clone, Copy, Debug)]
pub struct Local;

impl Deliver for Local {
    async fn deliver(&self, _: &Parcel<'_>) -> Result<Delivered> {
        Ok(Delivered::Suppressed)
    }
}

/// A command; the result is on its stdin, and what it is about in its environment.
#[derive(Clone, Debug)]
pub struct Command<'a> {
    /// Program and arguments.
    pub argv: &'a [String],
    /// Its environment.
    pub environment: &'a BTreeMap<String, String>,
    /// Tie it to this process.
    pub guard: bool,
    /// Turns true when it must stop.
    pub cancel: watch::Receiver<bool>,
}

impl Deliver for Command<'_> {
    async fn deliver(&self, parcel: &Parcel<'_>) -> Result<Delivered> {
        let program = self.argv.first().map(String::as_str).unwrap_or_default();
        let path = self.environment.get("PATH").map(OsStr::new);
        if look_up(program, path).is_none() {
            let words = format!("the delivery command '{program}' was not found, or is no program");
            return Err(Error::new(Kind::NotFound, words));
        }
        let words: Vec<OsString> = self.argv.iter().map(OsString::from).collect();
        let own = [
            ("HERMES_JOB_NAME", parcel.job),
            ("HERMES_EXECUTION_ID", parcel.execution_id),
            ("HERMES_RUN_STATUS", if parcel.ok { "ok" } else { "error" }),
        ];
        let ours = self
            .environment
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        let own = own
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        let spec = Spec {
            argv: if self.guard { guarded(words) } else { words },
            cwd: None,
            env: ours.chain(own).collect(),
            stdin: Some(parcel.text.as_bytes().to_vec()),
            limits: Limits {
                total: Some(LIMIT),
                inactivity: None,
                grace: Duration::from_secs(5),
            },
        };
        let ended = start(spec)?.wait(self.cancel.clone(), |_, _| {}).await?;
        match ended.end {
            End::Exited(0) => return Ok(Delivered::Delivered),
            End::Cancelled => return Ok(Delivered::Cancelled),
            _ => {}
        }
        let what = match ended.end {
            End::Exited(code) => format!("exited with code {code}"),
            End::TimedOut => format!("took longer than {}", span(LIMIT.as_secs_f64())),
            End::Signaled(signal) => format!("was killed by signal {signal}"),
            End::Inactive | End::Cancelled => "was stopped".to_owned(),
        };
        let lines = ended.stderr_tail.lines().map(str::trim);
        let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
        let words = format!(
            "the delivery command '{program}' {what}: {}",
            lines.join("; ")
        );
        Err(Error::new(
            Kind::Failed,
            words.trim_end_matches([':', ' ']).to_owned(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deliver(script: &str) -> Result<Delivered> {
        let argv = ["/bin/sh", "-c", script].map(str::to_owned);
        let environment = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let (_nobody_cancels, cancel) = watch::channel(false);
        let command = Command {
            argv: &argv,
            environment: &environment,
            guard: false,
            cancel,
        };
        let parcel = Parcel {
            job: "j",
            execution_id: "e",
            ok: true,
            text: "it rains",
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(command.deliver(&parcel))
    }

    #[test]
    fn a_command_gets_the_result_on_its_stdin() {
        let script = "read line; test \"$line $HERMES_RUN_STATUS\" = 'it rains ok'";
        assert_eq!(deliver(script).unwrap(), Delivered::Delivered);
    }

    #[test]
    fn a_command_that_fails_says_why() {
        let error = deliver("echo no such host >&2; exit 7").unwrap_err();
        assert_eq!(
            error.message(),
            "the delivery command '/bin/sh' exited with code 7: no such host"
        );
    }
}
