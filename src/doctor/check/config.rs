//! The configuration: can it be read, does each name and value mean something, is the zone known, is
//! there an agent.

use std::path::Path;

use super::homes::{self, Few, each};
use super::{Check, Group, Outcome};
use crate::agent::settings::not_configured;
use crate::config::{Problem, ProblemKind};
use crate::doctor::evidence::home::AgentSeen;
use crate::doctor::evidence::read::{FileKind, TroubleKind};
use crate::doctor::evidence::{Evidence, HomeEvidence, Part, Read};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity, Subject};
use crate::host::facts::{Program, Viewpoint};
use crate::host::{Gap, GapKind};

/// The checks of the configuration.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "config",
        group: Group::Config,
        title: "the configuration can be read, and all of it means something",
        codes: &["HM901", "HM902", "HM903"],
        reads: &[Part::Shell, Part::Config, Part::Zone, Part::Files],
        run: config,
    },
    Check {
        id: "config-agent",
        group: Group::Config,
        title: "there is an agent to give prompts to",
        codes: &["HM904"],
        reads: &[
            Part::Shell,
            Part::Dispatcher,
            Part::Config,
            Part::Agent,
            Part::Files,
            Part::Jobs,
            Part::State,
        ],
        run: agent,
    },
];

fn config(evidence: &Evidence) -> Outcome {
    let mut outcome = each(evidence, |home, outcome| {
        let mut found = Few::default();
        for problem in home.config.problems() {
            match problem.kind {
                ProblemKind::Denied if !is_reader(evidence, home) => {
                    let gap = denied(home, problem);
                    outcome.could_not_and_it_matters("what is configured", &gap);
                }
                _ => found.extend([of_problem(home, problem)]),
            }
        }
        found.tell(outcome, home);
    });
    let home = evidence.homes.iter().find(|home| home.exists());
    if let (true, Some(home)) = (outcome.findings.is_empty(), home) {
        outcome.note = Some(format!("zone {}, {}", home.zone.name, home.zone.source));
    }
    outcome
}

/// Whether we are the account that reads this home for its dispatcher: what we may not read it may not
/// either.
fn is_reader(evidence: &Evidence, home: &HomeEvidence) -> bool {
    evidence.facts.shell.uid.known() == Some(&home.reader.uid)
}

/// That a file may not be read by us, and who may.
pub(super) fn denied(home: &HomeEvidence, problem: &Problem) -> Gap {
    let mut would_tell = vec!["sudo".to_owned()];
    would_tell.extend(homes::ours(home, ["cron", "doctor"]));
    let file = problem.file.as_deref().unwrap_or(home.home.path());
    Gap {
        kind: GapKind::Permission,
        why: format!("{} {}", file.display(), problem.message),
        would_tell,
    }
}

fn verify(home: &HomeEvidence) -> Vec<String> {
    homes::ours(home, ["config", "check"])
}

fn of_problem(home: &HomeEvidence, problem: &Problem) -> Finding {
    let file = problem.file.as_ref().map(|file| file.display().to_string());
    let place = problem
        .at
        .map_or_else(String::new, |at| format!(":{}:{}", at.line, at.column));
    let at = file.as_ref().map(|file| format!("{file}{place}"));
    let broken = problem.kind.hides_the_file();
    let zone = problem.kind == ProblemKind::IllTyped
        && matches!(problem.key.as_deref(), Some("timezone" | "HERMES_TIMEZONE"));
    let code = match (broken, zone) {
        (true, _) => "HM901",
        (false, true) => "HM903",
        (false, false) => "HM902",
    };
    let subject = match (&file, &problem.key) {
        (Some(file), None) => Subject::new("file", file),
        (_, Some(key)) => Subject::new("setting", key),
        (None, None) => homes::subject(home),
    };
    let shown = at.clone().unwrap_or_else(|| "the environment".to_owned());
    let hint = problem
        .hint
        .as_ref()
        .map_or_else(String::new, |hint| format!(" ({hint})"));
    let instead = if zone {
        format!("; schedules follow {} instead", home.zone.name)
    } else {
        String::new()
    };
    let words = format!("{shown}: {}{hint}{instead}", problem.message);
    let mut finding =
        Finding::new(code, subject, words).seen(Observation::new("read", shown, &problem.message));
    // What could be read is not wrong for its owner and mode.
    if matches!(problem.kind, ProblemKind::Unreadable | ProblemKind::Denied) {
        finding = finding.because_of("HM805");
    }
    if problem.kind == ProblemKind::Raised {
        // Less than nothing is often written for none, and counts as that.
        finding = finding.severity(Severity::Info);
    }
    let Some(file) = file else {
        return finding;
    };
    if is_no_file(home, problem) {
        // An editor would wait for a FIFO, and shows nothing of a directory.
        let aside = format!("{file}.aside");
        let effect = "puts what lies there out of the way, so that defaults are in force";
        let remedy = Remedy::user(["mv", "-n", &file, &aside], effect);
        return finding.remedy(
            remedy
                .undo(["mv", "-n", &aside, &file])
                .verify(verify(home)),
        );
    }
    let line = problem.at.map_or(1, |at| at.line);
    finding.remedy(
        Remedy::user(
            ["vi", &format!("+{line}"), &file],
            "opens it where it is wrong",
        )
        .verify(verify(home)),
    )
}

/// Whether something else than a file lies there; of a file, whatever is wrong with it, much may be worth
/// keeping.
fn is_no_file(home: &HomeEvidence, problem: &Problem) -> bool {
    let file = problem.file.as_ref();
    let name = file.and_then(|file| file.strip_prefix(home.home.path()).ok()?.to_str());
    name.is_some_and(|name| match home.file(name) {
        Read::Got(stat) => stat.kind != FileKind::File,
        Read::Unreadable(trouble) => trouble.kind == TroubleKind::NotAFile,
        Read::Absent => false,
    })
}

/// Whether prompts wait in this home.
fn wants_agent(home: &HomeEvidence, outcome: &mut Outcome) -> bool {
    let jobs = homes::jobs(home, outcome).is_some_and(|store| {
        let mut armed = store.armed();
        armed.any(|job| !job.needs.no_agent)
    });
    let timers = homes::state(home, outcome).is_some_and(|state| {
        let loops = state
            .loops
            .iter()
            .filter_map(|timer| timer.row.as_ref().ok());
        let mut active = loops.map(|row| row.status == crate::timers::row::Status::Active);
        active.any(|active| active)
    });
    jobs || timers
}

fn agent(evidence: &Evidence) -> Outcome {
    let dispatcher = &evidence.facts.dispatcher;
    let ours = dispatcher.program == Program::Ours && dispatcher.viewpoint != Viewpoint::Shell;
    let mut asked = false;
    let outcome = each(evidence, |home, outcome| {
        if !ours || !wants_agent(home, outcome) {
            return;
        }
        asked = true;
        let mut problems = home.config.problems().iter();
        let hidden = problems.find(|problem| problem.kind == ProblemKind::Denied);
        if let Some(problem) = hidden.filter(|_| !is_reader(evidence, home)) {
            outcome.could_not_and_it_matters("which agent is configured", &denied(home, problem));
            return;
        }
        let (why, hints, severity) = match &home.agent {
            AgentSeen::Found(program) => {
                outcome.note = Some(program.display().to_string());
                return;
            }
            AgentSeen::NotConfigured => (
                "no agent is configured, so prompts cannot be run".to_owned(),
                not_configured(
                    Path::new(&home.path("config.toml")),
                    home.config.has_section("agent"),
                )
                .hints_in_line()
                .collect(),
                Severity::Error,
            ),
            AgentSeen::Unusable(why, hints) => (why.clone(), hints.clone(), Severity::Error),
        };
        let mut finding = Finding::new("HM904", homes::subject(home), why)
            .severity(severity)
            .seen(Observation::new(
                "setting",
                home.path("config.toml"),
                "agent.preset, agent.command",
            ));
        for hint in hints {
            finding = finding.seen(Observation::new("hint", "agent.command", hint));
        }
        let file = home.path("config.toml");
        outcome.find(
            finding.remedy(
                Remedy::user(["vi", &file], "name the agent under [agent]")
                    .verify(homes::ours(home, ["agent", "check"])),
            ),
        );
    });
    if asked || !outcome.unchecked.is_empty() || outcome.not_applicable.is_some() {
        outcome
    } else {
        Outcome::not_applicable("no prompt waits for this program")
    }
}
