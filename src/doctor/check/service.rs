//! The process that dispatches: what a restart does to its jobs, who supervises it, whose it is. Pure.

use std::path::Path;

use super::impact::{has_jobs, has_systemd, needs_user_manager, severity, worsens};
use super::session_bus::symptom;
use super::{Check, Group, Outcome, mend};
use crate::dispatch::facts::{Launcher, Sandbox, Seat};
use crate::dispatch::mode::Reason;
use crate::dispatch::{Decision, Mode, Survival};
use crate::doctor::evidence::{Evidence, Part};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity, Subject, argv};
use crate::host::facts::{Fact, Role, Viewpoint};

/// The checks of the dispatching process.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "service-dispatch",
        group: Group::Service,
        title: "how jobs are launched, and whether a restart kills them",
        codes: &["HM301", "HM302", "HM303", "HM304"],
        reads: &[Part::Dispatcher, Part::Units, Part::Decision],
        run: dispatch,
    },
    Check {
        id: "service-sandbox",
        group: Group::Service,
        title: "whether its unit hides the user manager from it",
        codes: &["HM307", "HM308"],
        reads: &[Part::Units, Part::Decision],
        run: sandbox,
    },
    Check {
        id: "service-supervision",
        group: Group::Service,
        title: "whether something starts the dispatcher again",
        codes: &["HM305", "HM306"],
        reads: &[Part::Dispatcher, Part::Units, Part::Decision, Part::Jobs],
        run: supervision,
    },
    Check {
        id: "service-account",
        group: Group::Service,
        title: "which account and home it serves",
        codes: &["HM316", "HM319"],
        reads: &[Part::Shell, Part::Dispatcher, Part::Units, Part::Decision],
        run: account,
    },
];

/// The dispatcher, by the unit that owns it or by its process.
pub(super) fn subject(evidence: &Evidence) -> Subject {
    let dispatcher = &evidence.facts.dispatcher;
    if let Some(unit) = &dispatcher.unit {
        return Subject::new("unit", &unit.name);
    }
    match &dispatcher.process {
        Some(process) => Subject::new("process", process.pid.to_string()),
        None => Subject::new("process", "this shell"),
    }
}

/// The steps of a decision, as evidence.
fn reasons(decision: &Decision) -> impl Iterator<Item = Observation> {
    decision
        .reasons
        .iter()
        .map(|reason| Observation::new("decision", decision.mode.word(), reason.text()))
}

fn with_reasons(finding: Finding, decision: &Decision) -> Finding {
    reasons(decision).fold(finding, Finding::seen)
}

fn dispatch(evidence: &Evidence) -> Outcome {
    let jobs = &evidence.decision_jobs;
    let mut outcome = Outcome::passed(format!("jobs run {}", jobs.mode.word()));
    match jobs.mode {
        Mode::Refused => outcome.find(refused(evidence)),
        Mode::Degraded => {
            if let Some(finding) = killed(evidence) {
                outcome.find(finding);
            }
        }
        Mode::InProcess => {
            if let Some(finding) = in_process_in_a_service(evidence) {
                outcome.find(finding);
            }
        }
        Mode::Scoped => {}
    }
    if evidence.decision_long.mode == Mode::Refused && jobs.mode != Mode::Refused {
        let summary = "long-lived workers are refused: they run restart-safe or not at all";
        let finding = symptom("HM303", subject(evidence), summary);
        outcome.find(with_reasons(finding, &evidence.decision_long));
    }
    for guess in &evidence.guesses {
        let what = format!("whether {}", guess.assumed);
        outcome.could_not(what, &guess.gap);
    }
    outcome
}

fn refused(evidence: &Evidence) -> Finding {
    let jobs = &evidence.decision_jobs;
    let old = jobs.facts.launcher == Launcher::AgentWithoutFallback;
    let (code, summary) = if old {
        let version = evidence.facts.dispatcher.version.known();
        let version = version.map_or("an old version", String::as_str);
        let text =
            format!("Hermes Agent {version} launches no job on this host, and says nothing of it");
        ("HM304", text)
    } else {
        let asked = if jobs.reasons.contains(&Reason::PolicyUnread) {
            "what is written of cron.require_restart_safe_scope cannot be read"
        } else {
            "cron.require_restart_safe_scope is on"
        };
        let text = format!(
            "every job is refused: {asked}, and no worker can be placed outside of the service"
        );
        ("HM302", text)
    };
    with_reasons(symptom(code, subject(evidence), summary), jobs)
}

/// B112: the jobs live in the service's own cgroup.
fn killed(evidence: &Evidence) -> Option<Finding> {
    let facts = &evidence.facts;
    let jobs = &evidence.decision_jobs;
    if jobs.survives_restart == Survival::Survives {
        return None;
    }
    let unit = facts.dispatcher.unit.as_ref();
    let mode = unit.and_then(|unit| unit.kill_mode.as_deref());
    let name = unit.map_or("the service", |unit| unit.name.as_str());
    let summary = match jobs.survives_restart {
        Survival::Dies => format!("a restart of {name} kills the jobs that run at that moment"),
        _ => format!("a restart of {name} may kill running jobs: its KillMode is not known"),
    };
    let finding = symptom("HM301", subject(evidence), summary);
    let mut finding = with_reasons(finding, jobs).seen(Observation::new(
        "property",
        "KillMode",
        mode.unwrap_or("not known"),
    ));
    if let Some(unit) = unit {
        let effect = "has a restart leave running jobs alone; a stop leaves them alone too";
        finding = finding.remedy(
            mend::drop_in(facts, unit, &["KillMode=process"], effect)
                .verify(mend::verify_property(facts, unit, "KillMode", "^process$")),
        );
    }
    Some(finding)
}

/// A program that runs jobs inside itself, in a service all the same.
fn in_process_in_a_service(evidence: &Evidence) -> Option<Finding> {
    let jobs = &evidence.decision_jobs;
    let in_service = matches!(jobs.facts.seat, Seat::SystemService | Seat::UserService);
    if !in_service {
        return None;
    }
    let summary = "a restart of the service kills running jobs: it runs them inside itself";
    let finding = symptom("HM301", subject(evidence), summary);
    Some(with_reasons(finding, jobs))
}

fn sandbox(evidence: &Evidence) -> Outcome {
    let facts = &evidence.facts;
    let Some(unit) = &facts.dispatcher.unit else {
        return Outcome::not_applicable("no unit owns the dispatcher");
    };
    let sandbox = evidence.decision_jobs.facts.sandbox;
    let mut outcome = Outcome::passed("its unit hides nothing that is needed");
    let by_init = !needs_user_manager(evidence);
    let (code, property, summary, line, shown) = match sandbox {
        Sandbox::Open => return outcome,
        Sandbox::HomeHidden if by_init => return outcome,
        Sandbox::HomeHidden => (
            "HM307",
            "ProtectHome",
            "ProtectHome= of the unit hides /run/user, and with it the user manager",
            "ProtectHome=read-only",
            "^read-only$",
        ),
        Sandbox::NoUnixSockets => (
            "HM308",
            "RestrictAddressFamilies",
            "RestrictAddressFamilies= of the unit leaves out AF_UNIX: no manager can be reached",
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
            "AF_UNIX",
        ),
    };
    let value = match sandbox {
        Sandbox::HomeHidden => unit.protect_home.as_deref().unwrap_or("yes"),
        _ => "without AF_UNIX",
    };
    let effect = "lets the service reach the user manager, and restarts it";
    outcome.find(
        Finding::new(code, Subject::new("unit", &unit.name), summary)
            .severity(severity(evidence))
            .seen(Observation::new("property", property, value))
            .remedy(
                mend::drop_in(facts, unit, &[line], effect)
                    .verify(mend::verify_property(facts, unit, property, shown)),
            ),
    );
    outcome
}

fn supervision(evidence: &Evidence) -> Outcome {
    let facts = &evidence.facts;
    let Some(process) = &facts.dispatcher.process else {
        return Outcome::not_applicable("no dispatcher runs");
    };
    let serves = matches!(process.role, Role::Serve | Role::Gateway);
    if facts.dispatcher.viewpoint == Viewpoint::Shell || !serves {
        return Outcome::not_applicable("no dispatcher runs");
    }
    let mut outcome = Outcome::default();
    if facts.dispatcher.desktop {
        outcome.find(desktop(evidence));
        return outcome;
    }
    match evidence.decision_jobs.facts.seat {
        Seat::SystemService | Seat::UserService => {
            return Outcome::passed("a service manager does");
        }
        Seat::Hidden | Seat::Elsewhere => {
            return Outcome::passed("what started it is not seen from here");
        }
        Seat::UserScope | Seat::SessionKilled | Seat::SessionSpared | Seat::Session => {}
    }
    if !has_systemd(evidence) {
        return Outcome::passed("what started it is not seen from here");
    }
    outcome.find(unsupervised(evidence));
    outcome
}

fn desktop(evidence: &Evidence) -> Finding {
    let facts = &evidence.facts;
    let pid = facts.dispatcher.process.as_ref().map(|process| process.pid);
    let parent = facts
        .dispatcher
        .process
        .as_ref()
        .and_then(|process| process.parent.known().cloned());
    let level = if has_jobs(evidence) {
        Severity::Warning
    } else {
        Severity::Info
    };
    Finding::new(
        "HM306",
        Subject::new("process", pid.unwrap_or_default().to_string()),
        "jobs are run by the backend of a desktop application, and stop when that is closed",
    )
    .severity(level)
    .seen(Observation::new("environ", "HERMES_DESKTOP", "1"))
    .seen(Observation::new(
        "process",
        "its parent",
        parent.unwrap_or_else(|| "not seen".to_owned()),
    ))
}

/// B34: nobody starts it again.
fn unsupervised(evidence: &Evidence) -> Finding {
    let facts = &evidence.facts;
    let process = facts.dispatcher.process.as_ref();
    let pid = process.map_or_else(String::new, |process| process.pid.to_string());
    let orphan = process.is_some_and(|process| process.ppid == Fact::Known(1));
    let ends = worsens(evidence, evidence.decision_jobs.forecast.after_logout);
    let (level, tail) = match (orphan, ends) {
        (true, false) => (
            Severity::Warning,
            "and it left the terminal that started it",
        ),
        (true, true) => (Severity::Warning, "and the last logout ends it"),
        (false, _) => (Severity::Info, "and it ends with what started it"),
    };
    let cgroup = process.and_then(|process| process.cgroup.known().cloned());
    let summary = format!(
        "nothing supervises the dispatcher: after a crash or a boot it does not come back, {tail}"
    );
    let mut finding = Finding::new("HM305", Subject::new("process", pid), summary)
        .severity(level)
        .seen(Observation::new(
            "read",
            "its cgroup",
            cgroup.unwrap_or_else(|| "not seen".to_owned()),
        ));
    let installed = facts.units.known().map(Vec::as_slice).unwrap_or_default();
    if let Some(unit) = installed.iter().find(|unit| unit.main_pid.is_none()) {
        let text = format!("{} is installed and does not run it", unit.name);
        let remedy = match process {
            Some(process) => mend::replace_by_unit(facts, process.pid, unit),
            None => mend::start_unit(facts, unit),
        };
        finding = finding
            .seen(Observation::new("unit", &unit.name, text))
            .remedy(remedy);
    } else if facts.dispatcher.program == crate::host::facts::Program::Ours
        && let Some(remedy) = own_unit(evidence)
    {
        finding = finding.remedy(remedy);
    }
    finding
}

/// Writes a unit of the user manager that runs what runs now, once that has ended.
fn own_unit(evidence: &Evidence) -> Option<Remedy> {
    let facts = &evidence.facts;
    let process = facts.dispatcher.process.as_ref()?;
    let exe = process.exe.known()?.display().to_string();
    let home = facts.account.home.as_ref()?;
    let folder = home.join(".config/systemd/user").display().to_string();
    let runtime = format!("XDG_RUNTIME_DIR={}", mend::run_user(facts));
    let lines = [
        "[Unit]".to_owned(),
        "Description=hermes serve".to_owned(),
        "[Service]".to_owned(),
        format!("ExecStart={exe} serve"),
        format!("Environment=HERMES_HOME={}", facts.home.path.display()),
        "Restart=always".to_owned(),
        "RestartSec=5".to_owned(),
        "[Install]".to_owned(),
        "WantedBy=default.target".to_owned(),
    ];
    let text: Vec<String> = lines.iter().map(|line| mend::inner(line)).collect();
    let folder = mend::inner(&folder);
    let line = format!(
        "mkdir -p {folder} && printf \"%s\\n\" {} >{folder}/hermes.service && {} && \
         env {runtime} systemctl --user daemon-reload && \
         env {runtime} systemctl --user enable --now hermes.service",
        text.join(" "),
        mend::end(process.pid)
    );
    let undo = format!("env {runtime} systemctl --user disable --now hermes.service");
    let verify = format!("env {runtime} systemctl --user is-active hermes.service");
    Some(
        Remedy::user(
            mend::shell(line),
            "ends it, and runs it as a service of the account from now on",
        )
        .undo(mend::shell(undo))
        .verify(mend::shell(verify)),
    )
}

fn account(evidence: &Evidence) -> Outcome {
    let facts = &evidence.facts;
    let mut outcome = Outcome::passed(format!(
        "{} (uid {}), {}",
        facts.account.label(),
        facts.account.uid,
        facts.home.path.display()
    ));
    if facts.account.uid == 0 && evidence.decision_jobs.mode != Mode::InProcess {
        outcome.find(root(evidence));
    }
    if facts.dispatcher.viewpoint != Viewpoint::Shell && facts.caller.uid == facts.account.uid {
        match (&facts.shell.home, &facts.dispatcher.home) {
            (Fact::Known(shell), Fact::Known(service)) => {
                outcome.findings.extend(other_home(shell, service));
            }
            (Fact::Unknown(gap), _) | (_, Fact::Unknown(gap)) => {
                outcome.could_not("whether this shell uses the dispatcher's home", gap);
            }
        }
    }
    outcome
}

/// B02: a system unit without `User=`.
fn root(evidence: &Evidence) -> Finding {
    let jobs = &evidence.decision_jobs;
    let how = match jobs.facts.launcher {
        Launcher::Ours => "PID 1 places its workers",
        _ => "Hermes Agent asks root's user manager, which only a login or linger of root keeps",
    };
    let summary = format!(
        "every job and every agent has root's rights, as the dispatcher runs as root; jobs run {}: {how}",
        jobs.mode.word()
    );
    let dispatcher = &evidence.facts.dispatcher;
    let (seen, look) = match (&dispatcher.unit, &dispatcher.process) {
        (Some(unit), _) => {
            let user = unit.user.as_deref().filter(|user| !user.is_empty());
            let seen = Observation::new("property", "User", user.unwrap_or("not set"));
            let words = ["show", "-p", "User,FragmentPath", &unit.name];
            let look = mend::ask(&evidence.facts, unit, &words);
            (seen, look)
        }
        (None, Some(process)) => {
            let pid = process.pid.to_string();
            let seen = Observation::new("process", format!("uid of pid {pid}"), "0");
            (seen, argv(["ps", "-o", "user,pid,args", "-p", &pid]))
        }
        (None, None) => (
            Observation::new("process", "uid of this shell", "0"),
            argv(["id"]),
        ),
    };
    let effect =
        "shows as whom it runs; 'hermes explain HM319' has how it gets an account of its own";
    let finding = Finding::new("HM319", subject(evidence), summary).seen(seen);
    with_reasons(finding, jobs).remedy(Remedy::user(look, effect).verify(mend::verify()))
}

fn other_home(shell: &Path, service: &Path) -> Option<Finding> {
    if shell == service {
        return None;
    }
    let (shell, service) = (shell.display().to_string(), service.display().to_string());
    let summary = format!("this shell uses the home {shell}, the dispatcher {service}");
    let finding = Finding::new("HM316", Subject::new("home", &service), summary)
        .seen(Observation::new(
            "environ",
            "HERMES_HOME of this shell",
            shell,
        ))
        .seen(Observation::new(
            "environ",
            "HERMES_HOME of the dispatcher",
            service,
        ));
    Some(finding)
}
