//! Why an execution ended that did not write its own end. Pure: what was seen goes in, the cause and a
//! sentence come out. Where nothing tells, that is the answer.

use crate::bus::UnitEnd;
use crate::ledger::Cause;

/// What was seen of an end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a trace of its own, and none excludes another"
)]
pub struct Seen {
    /// It ran in another boot: another boot id, or another PID 1.
    pub other_boot: bool,
    /// Signal that ended the worker, where it was our child.
    pub signal: Option<i32>,
    /// Exit status of the worker, where it was our child.
    pub exit: Option<i32>,
    /// How its unit stands, where it had one and the manager answers.
    pub unit: Option<UnitEnd>,
    /// It had a unit, and its manager does not answer or was started after the execution began.
    pub manager_gone: bool,
    /// The kernel killed for want of memory in its manager's slice meanwhile.
    pub oom_in_slice: bool,
    /// It ran inside its dispatcher's cgroup, and that dispatcher is not this one.
    pub dispatcher_gone: bool,
    /// Its worker was asked to end, and nobody had said why.
    pub asked_to_end: bool,
    /// Its dispatcher, in whose cgroup it ran, is being stopped.
    pub dispatcher_stops: bool,
}

/// What a worker beside its dispatcher writes down that was asked to end and was not told why.
pub const ASKED_TO_END: &str = "its worker was asked to end by SIGTERM";
/// Why such a worker ends together with its dispatcher.
pub const TAKEN_ALONG: &str = "its dispatcher was stopped, and took it along";
/// How long after its dispatcher a worker may be asked to end for the same reason, in seconds.
const TOGETHER: u64 = 5;

/// What a worker in the cgroup of its dispatcher says of its own end, once it was asked for it without a
/// reason; `None`: its dispatcher lives, and knows whether it is being stopped itself. `gone_for`: since when
/// the dispatcher is gone, in seconds.
#[must_use]
pub fn own_cause(gone_for: Option<u64>) -> Option<(Cause, &'static str)> {
    Some(match gone_for? {
        ..=TOGETHER => (Cause::GatewayRestart, TAKEN_ALONG),
        _ => (Cause::Signal, ASKED_TO_END),
    })
}

/// The cause, and the same in a sentence fragment.
#[must_use]
pub fn cause(seen: &Seen) -> (Cause, String) {
    if seen.other_boot {
        return (
            Cause::Reboot,
            "the machine, or its container, was restarted under it".to_owned(),
        );
    }
    if let Some(answer) = by_unit(seen) {
        return answer;
    }
    if seen.dispatcher_gone {
        let detail = "its dispatcher was restarted and took it along";
        return (Cause::GatewayRestart, detail.to_owned());
    }
    if seen.asked_to_end {
        return if seen.dispatcher_stops {
            (Cause::GatewayRestart, TAKEN_ALONG.to_owned())
        } else {
            (Cause::Signal, ASKED_TO_END.to_owned())
        };
    }
    if seen.manager_gone {
        let detail = "the user manager was stopped or restarted, and its units with it";
        return (Cause::UserManagerStopped, detail.to_owned());
    }
    if seen.oom_in_slice && seen.signal == Some(9) {
        return (
            Cause::Oom,
            "killed by the kernel for want of memory".to_owned(),
        );
    }
    match (seen.signal, seen.exit) {
        (Some(signal), _) => (
            Cause::Signal,
            format!("its worker was killed by signal {signal}"),
        ),
        (None, Some(status)) => (
            Cause::CannotTell,
            format!("its worker exited with {status} before the end of the run"),
        ),
        (None, None) => (
            Cause::CannotTell,
            "its worker is gone, and nothing tells why".to_owned(),
        ),
    }
}

/// What the unit itself says.
fn by_unit(seen: &Seen) -> Option<(Cause, String)> {
    let Some(UnitEnd::Failed { result, status, .. }) = &seen.unit else {
        return None;
    };
    match result.as_str() {
        "oom-kill" => Some((
            Cause::Oom,
            "killed at the memory limit of its unit".to_owned(),
        )),
        "timeout" => Some((
            Cause::TimeLimit,
            "its unit ran longer than it may".to_owned(),
        )),
        "signal" | "core-dump" => {
            let signal = status.map_or_else(
                || "a signal".to_owned(),
                |signal| format!("signal {signal}"),
            );
            Some((Cause::Signal, format!("its worker was killed by {signal}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(result: &str) -> Seen {
        let (result, code, status) = (result.to_owned(), Some(2), Some(9));
        let unit = Some(UnitEnd::Failed {
            result,
            code,
            status,
        });
        Seen {
            unit,
            ..Seen::default()
        }
    }

    fn word(seen: &Seen) -> String {
        cause(seen).0.word().to_owned()
    }

    #[test]
    fn what_the_unit_says_counts() {
        assert_eq!(word(&failed("oom-kill")), "oom");
        assert_eq!(word(&failed("signal")), "signal");
        assert_eq!(word(&failed("timeout")), "time_limit");
        assert_eq!(word(&failed("exit-code")), "cannot_tell");
    }

    #[test]
    fn each_trace_has_its_cause() {
        let none = Seen::default;
        assert_eq!(word(&none()), "cannot_tell");
        assert_eq!(
            word(&Seen {
                other_boot: true,
                signal: Some(9),
                ..none()
            }),
            "reboot"
        );
        assert_eq!(
            word(&Seen {
                dispatcher_gone: true,
                ..none()
            }),
            "gateway_restart"
        );
        assert_eq!(
            word(&Seen {
                manager_gone: true,
                ..none()
            }),
            "user_manager_stopped"
        );
        assert_eq!(
            word(&Seen {
                signal: Some(15),
                ..none()
            }),
            "signal"
        );
        assert_eq!(
            word(&Seen {
                signal: Some(9),
                oom_in_slice: true,
                ..none()
            }),
            "oom"
        );
        assert_eq!(
            word(&Seen {
                exit: Some(70),
                ..none()
            }),
            "cannot_tell"
        );
    }

    #[test]
    fn only_a_stop_of_its_dispatcher_takes_a_worker_along() {
        for (stops, word) in [(true, "gateway_restart"), (false, "signal")] {
            let seen = Seen {
                asked_to_end: true,
                dispatcher_stops: stops,
                exit: Some(1),
                ..Seen::default()
            };
            assert_eq!(cause(&seen).0.word(), word);
        }
        let own = |gone| own_cause(gone).map(|(cause, _)| cause);
        assert_eq!(own(None), None, "its dispatcher will say");
        assert_eq!(own(Some(0)), Some(Cause::GatewayRestart));
        assert_eq!(own(Some(5)), Some(Cause::GatewayRestart));
        assert_eq!(own(Some(6)), Some(Cause::Signal), "it had outlived it");
    }

    #[test]
    fn a_kill_elsewhere_in_the_slice_does_not_make_a_plain_exit_an_oom() {
        let seen = Seen {
            oom_in_slice: true,
            exit: Some(1),
            ..Seen::default()
        };
        assert_eq!(word(&seen), "cannot_tell");
    }
}
