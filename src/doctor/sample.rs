//! A report of everything that a report can hold, for the tests of the renderers.

use std::time::Duration;

use super::check::{self, Check, Group, Outcome};
use super::evidence::Evidence;
use super::finding::{Finding, Observation, Remedy, Severity, Subject};
use super::report::{
    self, Difference, Dispatch, Ended, Flip, Host, Input, LongLived, Now, Ran, Report, Run, Step,
    assemble,
};
use super::verdict::Thresholds;
use super::{human, json, plain};
use crate::host::facts::OwnName;
use crate::host::{Gap, GapKind};
use crate::output::human::is_unsafe;
use crate::output::{Style, quote};

const BUS: Check = Check {
    id: "session-bus",
    group: Group::SessionBus,
    title: "the user manager can be reached",
    codes: &[],
    reads: &[],
    run: |_| Outcome::default(),
};

static CHECKS: [Check; 6] = [
    Check {
        id: "host",
        group: Group::Host,
        title: "systemd runs the host",
        ..BUS
    },
    BUS,
    Check {
        id: "service-unit",
        group: Group::Service,
        title: "the unit of the dispatcher is sound",
        ..BUS
    },
    Check {
        id: "jobs",
        group: Group::Jobs,
        title: "jobs are on schedule",
        ..BUS
    },
    Check {
        id: "loops",
        group: Group::Loops,
        title: "loops are driven",
        ..BUS
    },
    Check {
        id: "stores",
        group: Group::Stores,
        title: "stores can be read",
        ..BUS
    },
];

fn bus_mute() -> Finding {
    let socket = "/run/user/1001/bus";
    Finding::new(
        "HM204",
        Subject::new("socket", socket),
        "the session bus of bot accepts connections and never answers",
    )
    .severity(Severity::Error)
    .seen(
        Observation::new("connect", socket, "no reply in 1500 ms")
            .at_stage("authenticate")
            .with_errno(Some(110)),
    )
    .remedy(
        Remedy::root(
            ["systemctl", "restart", "user@1001.service"],
            "starts the user manager of bot and its bus anew; user units of bot stop for a moment",
        )
        .until_reboot()
        .verify(["hermes", "cron", "doctor"]),
    )
}

fn overdue(job: &str) -> Finding {
    let subject = Subject::new("job", job);
    let summary = format!("job '{job}' is overdue by 3h 5m: nothing fired it");
    Finding::new("HM501", subject, summary)
        .severity(Severity::Warning)
        .because_of("HM204")
}

fn outcomes() -> [Ended; 6] {
    let gap = Gap {
        kind: GapKind::Permission,
        why: "the environment of pid 812 belongs to uid 990".to_owned(),
        would_tell: ["sudo", "hermes", "cron", "doctor", "--pid", "812"]
            .map(str::to_owned)
            .to_vec(),
    };
    let mut bus = Outcome::default();
    bus.find(bus_mute());
    let mut service = Outcome::default();
    service.find(
        Finding::new(
            "HM301",
            Subject::new("unit", "hermes-serve.service"),
            "a restart of hermes-serve.service kills running jobs",
        )
        .severity(Severity::Warning)
        .because_of("HM208")
        .because_of("HM204"),
    );
    service.could_not_and_it_matters("whether the service has a runtime directory", &gap);
    service.find(
        Finding::new(
            "HM310",
            Subject::new("unit", "hermes serve@bot.service"),
            "KillMode=control-group ends running jobs with the service",
        )
        .severity(Severity::Info)
        .remedy(
            Remedy::root(
                ["systemctl", "edit", "hermes serve@bot.service"],
                "lets children of the service live on",
            )
            .undo(["systemctl", "revert", "hermes serve@bot.service"]),
        ),
    );
    let mut jobs = Outcome::default();
    for job in ["nightly \u{1b}[31mred", "größe", "a", "b", "c", "d", "e"] {
        jobs.find(overdue(job));
    }
    [
        Ended::Said(Outcome::passed("systemd 252, running")),
        Ended::Said(bus),
        Ended::Said(service),
        Ended::Said(jobs),
        Ended::Broke("index out of bounds".to_owned()),
        Ended::Said(Outcome::not_applicable("there is no home")),
    ]
}

pub(super) fn dispatch() -> Dispatch {
    Dispatch {
        viewpoint: "serve",
        chosen_because: "it holds the lock of /home/bot/.hermes".to_owned(),
        program: "hermes",
        version: Some("0.1.0".to_owned()),
        pid: Some(812),
        unit: Some("hermes-serve.service".to_owned()),
        account: "bot".to_owned(),
        cron: Now {
            mode: "degraded",
            survives_restart: Some(false),
            mechanism: None,
            manager: None,
            reasons: vec![
                "the dispatcher runs in a service".to_owned(),
                "the user manager cannot be reached, though something is there".to_owned(),
            ],
        },
        long_lived: LongLived {
            mode: "refused",
            reasons: vec!["long-lived workers run restart-safe or not at all".to_owned()],
        },
        because: Vec::new(),
        after_logout: "degraded",
        after_reboot: "scoped",
        unknown_because: ["", ""],
        flips_to: Some(Flip {
            mode: "scoped",
            by: Vec::new(),
            changes: vec![Step {
                name: "bus=up",
                text: "bring up the user manager and its bus",
            }],
        }),
        guesses: Vec::new(),
        shell_differs: vec![Difference {
            what: "XDG_RUNTIME_DIR",
            text: "XDG_RUNTIME_DIR is set only here".to_owned(),
        }],
    }
}

/// A report of these endings; of checks that broke down there is one only where asked for.
pub(super) fn report(broken: bool, thresholds: Thresholds) -> Report {
    made(1000, broken, thresholds)
}

/// The same for another reader.
pub(super) fn report_for(uid: u32, thresholds: Thresholds) -> Report {
    made(uid, false, thresholds)
}

fn run(uid: u32) -> Run {
    Run {
        started_at: "2026-11-30T00:00:00Z".to_owned(),
        duration_ms: 12.345,
        deadline_ms: 10_000.0,
        uid,
        user: Some("alice".to_owned()),
        sandbox: "landlock",
        sandbox_gap: None,
        homes: vec!["/home/bot/.hermes".to_owned()],
        only: Vec::new(),
    }
}

fn made(uid: u32, broken: bool, thresholds: Thresholds) -> Report {
    let ran = CHECKS
        .iter()
        .zip(outcomes())
        .filter(|(_, ended)| broken || !matches!(ended, Ended::Broke(_)))
        .map(|(check, ended)| Ran {
            check,
            ended,
            took: Duration::from_micros(1234),
        });
    assemble(Input {
        run: run(uid),
        host: Host::default(),
        account: None,
        own_name: OwnName::default(),
        view: Vec::new(),
        dispatch: Some(dispatch()),
        ran: ran.collect(),
        thresholds,
    })
}

/// The report of all checks on this evidence, held to the schema, to what a terminal can bear and to
/// what a shell reads.
pub(in crate::doctor) fn judged(evidence: &Evidence) -> Report {
    let ran = check::all().map(|check| Ran {
        check,
        ended: Ended::Said((check.run)(evidence)),
        took: Duration::from_micros(1),
    });
    let report = assemble(Input {
        run: run(1000),
        host: Host::of(&evidence.facts),
        account: Some(evidence.facts.account.clone()),
        own_name: evidence.facts.own_name.clone(),
        view: vec!["--shell".to_owned()],
        dispatch: Some(Dispatch::of(evidence)),
        ran: ran.collect(),
        thresholds: Thresholds::default(),
    });
    let document = serde_json::from_str(&json::render(&report)).expect("a document");
    assert_eq!(report::against_schema(&document), [""; 0]);
    printable(&report);
    report
}

/// Whether a terminal might act on something in this text.
pub(super) fn acts(text: &str) -> bool {
    let mut rest = text.chars().filter(|c| !matches!(c, '\n' | '\t'));
    rest.any(is_unsafe)
}

/// Whatever the host calls its things, no terminal acts on what is printed of it, every record is one
/// line of as many fields, and every command is one line.
fn printable(report: &Report) {
    for (width, ascii) in [(Some(40), false), (None, true)] {
        let look = human::Look {
            style: Style::new(false, ascii),
            width,
            least: Severity::Info,
            verbose: true,
        };
        let text = human::render(report, look);
        assert!(!acts(&text) && !text.contains('\t'), "{text:?}");
        assert!(!ascii || text.is_ascii(), "{text:?}");
    }
    assert!(!acts(&json::render(report)));
    let records = plain::render(report, Severity::Info);
    assert!(!acts(&records), "{records:?}");
    for line in records.lines() {
        let fields = line.split('\t').count();
        let wanted = match line.split('\t').next() {
            Some("finding") => 9,
            Some("remedy" | "check" | "viewpoint") => 5,
            Some("unchecked") => 6,
            Some("verdict") => 4,
            Some("count" | "shell_differs") => 3,
            Some("dispatch") => continue,
            other => panic!("no such record: {other:?}"),
        };
        assert_eq!(fields, wanted, "{line:?}");
    }
    let gaps = report.checks.iter().flat_map(|check| &check.unchecked);
    for argv in gaps.map(|gap| &gap.would_tell) {
        assert_eq!(one_program(argv), None);
    }
    for found in &report.findings {
        for remedy in &found.remedies {
            for argv in [&remedy.argv, &remedy.undo, &remedy.verify] {
                assert_eq!(one_program(argv), None, "{}", found.code);
            }
            assert_eq!(quote::read_back(&quote::command(&remedy.argv)), remedy.argv);
        }
    }
}

/// The program of a command, where it looks like a whole line in one word.
fn one_program(argv: &[String]) -> Option<&String> {
    let program = argv.first()?;
    program.contains(' ').then_some(program)
}

/// A report of one finding with these words everywhere.
pub(super) fn of_words(words: &str) -> Report {
    let argv = || vec![words.to_owned(), words.to_owned()];
    let finding = Finding::new("HM204", Subject::new(words, words), words)
        .seen(Observation::new(words, words, words).at_stage(words))
        .remedy(Remedy::root(argv(), words).undo(argv()).verify(argv()));
    let gap = Gap {
        kind: GapKind::Failed,
        why: words.to_owned(),
        would_tell: argv(),
    };
    let mut outcome = Outcome::passed(words);
    outcome.find(finding);
    outcome.could_not(words, &gap);
    let mut dispatch = dispatch();
    dispatch.account = words.to_owned();
    dispatch.unit = Some(words.to_owned());
    dispatch.chosen_because = words.to_owned();
    said(outcome, dispatch)
}

/// A report of these findings.
pub(super) fn of(findings: Vec<Finding>) -> Report {
    let outcome = Outcome {
        findings,
        ..Outcome::default()
    };
    said(outcome, dispatch())
}

fn said(outcome: Outcome, dispatch: Dispatch) -> Report {
    assemble(Input {
        run: run(1000),
        host: Host::default(),
        account: None,
        own_name: OwnName::default(),
        view: Vec::new(),
        dispatch: Some(dispatch),
        ran: vec![Ran {
            check: &CHECKS[1],
            ended: Ended::Said(outcome),
            took: Duration::ZERO,
        }],
        thresholds: Thresholds::default(),
    })
}
