//! The runtime directory: whose it is, whether it may be believed, and whether it is older than the
//! process that uses it. Pure.

use super::impact::{gap, has_systemd, manager_is_down, needs_user_manager, said, severity};
use super::linger::logins;
use super::session_bus::has_bus_socket;
use super::{Check, Group, Outcome, mend};
use crate::bus::{Failure, FailureKind};
use crate::dispatch::facts::{AgentView, Launcher, Seat};
use crate::doctor::evidence::{Evidence, Part};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity, Subject};
use crate::host::Facts;
use crate::host::facts::{Environment, Fact, Viewpoint};
use crate::host::runtime_dir::{Candidate, Origin, Seen};

/// The checks of the runtime directory.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "runtime-dir",
        group: Group::RuntimeDir,
        title: "whether the runtime directory may be believed",
        codes: &["HM241", "HM242", "HM244", "HM247"],
        reads: &[
            Part::Machine,
            Part::RuntimeDir,
            Part::Dispatcher,
            Part::Environment,
            Part::Units,
            Part::Decision,
        ],
        run: belief,
    },
    Check {
        id: "runtime-dir-age",
        group: Group::RuntimeDir,
        title: "whether it is older than the dispatcher",
        codes: &["HM211", "HM243"],
        reads: &[
            Part::UserManager,
            Part::RuntimeDir,
            Part::Dispatcher,
            Part::Environment,
            Part::Units,
            Part::Decision,
        ],
        run: age,
    },
    Check {
        id: "runtime-dir-variables",
        group: Group::RuntimeDir,
        title: "whether the dispatcher's environment leads to it",
        codes: &["HM245", "HM246"],
        reads: &[
            Part::Logind,
            Part::RuntimeDir,
            Part::SessionBus,
            Part::Shell,
            Part::Dispatcher,
            Part::Environment,
            Part::Units,
            Part::Decision,
        ],
        run: variables,
    },
];

/// Two starts this close together have no order that could be trusted, in seconds.
const SLACK: f64 = 2.0;

fn belief(evidence: &Evidence) -> Outcome {
    let facts = &evidence.facts;
    let mut outcome = match &facts.runtime_dir.path {
        Some(path) => Outcome::passed(format!("{path} may be believed")),
        None => Outcome::passed("there is none"),
    };
    for candidate in &facts.runtime_dir.candidates {
        let Some(failure) = &candidate.rejected else {
            continue;
        };
        if let Some(finding) = rejected(evidence, candidate, failure) {
            outcome.find(finding);
        } else if failure.kind != FailureKind::Absent {
            let what = format!("whether {} may be believed", candidate.path);
            outcome.could_not(what, &gap(failure));
        }
    }
    if let Some(finding) = passed_over(facts) {
        outcome.find(finding);
    }
    outcome
}

/// The manager answers, and not in the directory that the environment names.
fn passed_over(facts: &Facts) -> Option<Finding> {
    let named = &facts.runtime_dir.passed_over()?.path;
    let answers = facts.runtime_dir.path.as_ref()?;
    let source = &facts.dispatcher.environ_source;
    let target = format!("XDG_RUNTIME_DIR of {source}");
    let summary = format!("no user manager answers in {named}; {answers} is used instead");
    Some(
        Finding::new("HM247", Subject::new("path", named), summary)
            .seen(Observation::new("environ", target, named))
            .seen(Observation::new(
                "connect",
                answers,
                "the user manager answers",
            ))
            .remedy(unset(facts)),
    )
}

fn rejected(evidence: &Evidence, candidate: &Candidate, failure: &Failure) -> Option<Finding> {
    let facts = &evidence.facts;
    let (uid, path) = (facts.account.uid, &candidate.path);
    let (code, summary) = match failure.kind {
        FailureKind::ForeignOwner => {
            let owner = match candidate.seen {
                Some(Seen::There { uid, .. }) => format!("uid {uid}"),
                _ => "somebody else".to_owned(),
            };
            (
                "HM241",
                format!("{path} belongs to {owner}; the dispatcher runs as uid {uid}"),
            )
        }
        FailureKind::PermissionDenied if candidate.origin == Origin::Environment => {
            ("HM241", format!("uid {uid} may not even look at {path}"))
        }
        FailureKind::InsecureMode => (
            "HM242",
            format!("others than uid {uid} may write into {path}"),
        ),
        FailureKind::NotADirectory | FailureKind::NotAbsolute => (
            "HM244",
            format!("{path} is no runtime directory: {}", said(failure)),
        ),
        _ => return None,
    };
    let instead = facts.runtime_dir.path.as_ref();
    let mut finding = Finding::new(code, Subject::new("path", path), summary)
        .severity(level(evidence, candidate))
        .seen(Observation::new("stat", path, said(failure)).with_errno(failure.errno));
    if candidate.origin == Origin::Environment {
        let source = &facts.dispatcher.environ_source;
        let target = format!("XDG_RUNTIME_DIR of {source}");
        finding = finding.seen(Observation::new("environ", target, path));
    }
    if facts.machine.namespaces.initial_user.known() == Some(&false) {
        finding = finding.seen(Observation::new(
            "namespace",
            "user",
            mapped(facts, candidate),
        ));
    }
    if let Some(instead) = instead {
        finding = finding.seen(Observation::new("stat", instead, "used instead"));
    }
    if code == "HM241" {
        finding = finding.because_of("HM246");
    }
    Some(finding.remedy(set_right(facts, candidate, code)))
}

/// Which ids of the machine those are that were compared in a user namespace.
fn mapped(facts: &Facts, candidate: &Candidate) -> String {
    let owner = match candidate.seen {
        Some(Seen::There { uid, .. }) => Some(uid),
        _ => None,
    };
    let outside = |uid: u32| {
        let mapped = facts.machine.namespaces.mapped(uid);
        mapped.map_or_else(
            || format!("uid {uid} stands for nobody outside"),
            |outside| format!("uid {uid} is uid {outside} outside"),
        )
    };
    let mut uids = vec![facts.account.uid];
    uids.extend(owner.filter(|owner| *owner != facts.account.uid));
    let uids: Vec<_> = uids.into_iter().map(outside).collect();
    format!("ids are those that it maps: {}", uids.join(", "))
}

fn set_right(facts: &Facts, candidate: &Candidate, code: &str) -> Remedy {
    let path = candidate.path.as_str();
    let shown = |format: &str, value: &str| {
        let path = mend::inner(path);
        mend::shell(format!("test \"$(stat -c {format} {path})\" = {value}"))
    };
    match (code, candidate.origin) {
        ("HM242", _) => {
            let effect = "takes the right to write there from the others";
            Remedy::root(["chmod", "0700", path], effect)
                .until_reboot()
                .verify(shown("%a", "700"))
        }
        ("HM241", Origin::Conventional) => {
            let uid = facts.account.uid.to_string();
            Remedy::root(["chown", &uid, path], "gives it back to the account")
                .until_reboot()
                .verify(shown("%u", &uid))
        }
        _ => unset(facts),
    }
}

/// Where another directory is used instead, a rejected one does no harm to a program that looks for
/// itself.
fn level(evidence: &Evidence, candidate: &Candidate) -> Severity {
    let old = evidence.decision_jobs.facts.launcher == Launcher::AgentWithoutFallback;
    let harmless = evidence.facts.runtime_dir.path.is_some() && !old;
    let insecure = candidate
        .rejected
        .as_ref()
        .is_some_and(|failure| failure.kind == FailureKind::InsecureMode);
    if harmless || !needs_user_manager(evidence) {
        // That others may write where sockets are trusted is a fault of its own.
        return if insecure && evidence.facts.runtime_dir.path.is_none() {
            Severity::Warning
        } else {
            Severity::Info
        };
    }
    severity(evidence)
}

/// Takes the wrong variables out of the unit, or asks again without them.
fn unset(facts: &Facts) -> Remedy {
    let runtime = mend::run_user(facts);
    match &facts.dispatcher.unit {
        Some(unit) if facts.dispatcher.viewpoint != Viewpoint::Shell => {
            name_runtime_dir(facts, unit)
        }
        _ => {
            let own = format!("XDG_RUNTIME_DIR={runtime}");
            let home = facts.home.path.display().to_string();
            let words = ["env", &own, "hermes", "cron", "doctor", "--home", &home];
            // It changes nothing that could be verified: what it says is the answer.
            Remedy::user(words, "asks again with the account's own directory").until_reboot()
        }
    }
}

/// Names directory and bus in the unit.
fn name_runtime_dir(facts: &Facts, unit: &crate::host::facts::UnitFacts) -> Remedy {
    let runtime = mend::run_user(facts);
    let lines = [
        format!("Environment=XDG_RUNTIME_DIR={runtime}"),
        format!("Environment=DBUS_SESSION_BUS_ADDRESS=unix:path={runtime}/bus"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let effect = "names the account's runtime directory and bus in the unit, and restarts it";
    let pattern = format!("XDG_RUNTIME_DIR={runtime}");
    mend::drop_in(facts, unit, &lines, effect).verify(mend::verify_property(
        facts,
        unit,
        "Environment",
        &pattern,
    ))
}

fn age(evidence: &Evidence) -> Outcome {
    let facts = &evidence.facts;
    if !has_systemd(evidence) || !needs_user_manager(evidence) {
        return Outcome::not_applicable("no worker goes to the user manager");
    }
    let mut outcome = Outcome::default();
    let process = facts.dispatcher.process.as_ref();
    let started = process.map(|process| &process.started_at);
    if let Some(Fact::Unknown(gap)) = started {
        outcome.could_not("when the dispatcher was started", gap);
    }
    if let Some(failure) = &facts.system_bus.user_manager_failure
        && !manager_is_down(evidence)
    {
        outcome.could_not("when the user manager came up", &gap(failure));
    }
    if !outcome.unchecked.is_empty() {
        return outcome;
    }
    let started = started.and_then(Fact::known).copied();
    let (Some(started), Some((made, what))) = (started, made_at(evidence)) else {
        return Outcome::not_applicable("one of the two does not run, or is too old to tell");
    };
    if made <= started + SLACK {
        return Outcome::passed("it is");
    }
    outcome.find(younger(evidence, started, made, &what));
    outcome
}

/// When the user manager came up; where it is gone, when its directory last changed.
fn made_at(evidence: &Evidence) -> Option<(f64, String)> {
    let facts = &evidence.facts;
    if !manager_is_down(evidence) {
        let unit = facts.system_bus.user_manager.as_ref()?;
        let micros = unit.active_enter_us?;
        let name = mend::user_manager(facts);
        return Some((
            seconds(micros / 1_000_000),
            format!("{name} ActiveEnterTimestamp"),
        ));
    }
    let candidate = facts.runtime_dir.candidates.last()?;
    match candidate.seen {
        Some(Seen::There { changed_at, .. }) => {
            let seconds = seconds(u64::try_from(changed_at).ok()?);
            Some((seconds, candidate.path.clone()))
        }
        _ => None,
    }
}

fn seconds(whole: u64) -> f64 {
    u32::try_from(whole).map_or(f64::MAX, f64::from)
}

fn stamp(seconds: f64) -> String {
    crate::doctor::check::time::utc(seconds)
}

fn younger(evidence: &Evidence, started: f64, made: f64, what: &str) -> Finding {
    let facts = &evidence.facts;
    let named = facts.dispatcher.environ.known().is_some_and(names_bus);
    let old = evidence.decision_jobs.facts.launcher == Launcher::AgentWithoutFallback;
    // Ours, and later versions of Hermes Agent, look again a minute later at the latest.
    let level = match (manager_is_down(evidence), old) {
        (true, _) => severity(evidence),
        (false, true) => Severity::Warning,
        (false, false) => Severity::Info,
    };
    let (code, summary) = if named || manager_is_down(evidence) {
        let text = format!(
            "the runtime directory was made anew at {}, after the dispatcher had started",
            stamp(made)
        );
        ("HM243", text)
    } else {
        let text = format!(
            "the user manager came up at {}, after the dispatcher had started",
            stamp(made)
        );
        ("HM211", text)
    };
    let process = facts.dispatcher.process.as_ref();
    let pid = process.map_or_else(String::new, |process| process.pid.to_string());
    let mut finding = Finding::new(code, Subject::new("process", pid), summary)
        .severity(level)
        .seen(Observation::new(
            "process",
            "dispatcher started",
            stamp(started),
        ))
        .seen(Observation::new("property", what, stamp(made)))
        .because_of("HM210");
    if let Some(unit) = &facts.dispatcher.unit {
        let effect = "starts the dispatcher anew, now that the user manager is there";
        finding = finding.remedy(mend::restart_unit(facts, unit, effect));
    }
    finding
}

fn names_bus(environ: &Environment) -> bool {
    ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"]
        .iter()
        .any(|name| environ.get(name).is_some())
}

fn variables(evidence: &Evidence) -> Outcome {
    let facts = &evidence.facts;
    let derived = &evidence.decision_jobs.facts;
    let mut outcome = match &facts.runtime_dir.origin {
        Some(Origin::Environment) => Outcome::passed("its environment names it"),
        Some(Origin::Conventional) => Outcome::passed("derived from the uid"),
        None => Outcome::passed("there is none to lead to"),
    };
    if facts.dispatcher.viewpoint == Viewpoint::Shell && has_systemd(evidence) {
        match &facts.shell.loginuid {
            Fact::Known(login) => outcome.findings.extend(switched(facts, *login)),
            Fact::Unknown(gap) => outcome.could_not("which login this shell belongs to", gap),
        }
    }
    let blind = derived.launcher == Launcher::AgentWithoutFallback
        && matches!(
            derived.agent_view,
            AgentView::NoVariables | AgentView::NoVariablesYet
        )
        && derived.seat != Seat::UserService;
    if blind && needs_user_manager(evidence) {
        outcome.find(missing(evidence));
    }
    outcome
}

/// B03: the bus is there, and the service cannot see it.
fn missing(evidence: &Evidence) -> Finding {
    let facts = &evidence.facts;
    let waits = evidence.decision_jobs.facts.agent_view == AgentView::NoVariablesYet;
    let bus = if has_bus_socket(facts) {
        "the bus exists, and the dispatcher cannot see it"
    } else {
        "the dispatcher would not see the bus, were it there"
    };
    let summary = if waits {
        format!("{bus}: its unit names the runtime directory, but it started before that")
    } else {
        format!("{bus}: its environment names no runtime directory, and this version derives none")
    };
    let source = &facts.dispatcher.environ_source;
    let mut finding = Finding::new("HM245", Subject::new("environment", source), summary)
        .severity(severity(evidence))
        .seen(Observation::new("environ", "XDG_RUNTIME_DIR", "not usable"))
        .seen(Observation::new(
            "environ",
            "DBUS_SESSION_BUS_ADDRESS",
            "not set",
        ));
    if let Some(unit) = &facts.dispatcher.unit {
        let effect = "starts it with the environment that its unit has by now";
        finding = finding.remedy(if waits {
            mend::restart_unit(facts, unit, effect)
        } else {
            name_runtime_dir(facts, unit)
        });
    }
    finding
}

/// B23: a shell that came by `su` or `sudo -u` has no login session of its own.
fn switched(facts: &Facts, login: Option<u32>) -> Option<Finding> {
    let login = login?;
    let user = facts.system_bus.logind.user.as_ref();
    let has_session = user.is_some_and(|user| logins(user).next().is_some());
    if login == facts.account.uid || has_session {
        return None;
    }
    let account = facts.account.label();
    let summary = format!(
        "this shell was switched to {account} without a login session (it belongs to the login of \
         uid {login}): ssh, and 'machinectl shell {account}@', open one"
    );
    let seen = Observation::new("read", "/proc/self/loginuid", login.to_string());
    Some(Finding::new("HM246", Subject::new("user", account), summary).seen(seen))
}
