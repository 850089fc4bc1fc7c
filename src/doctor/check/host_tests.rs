//! The checks of host, buses, linger, runtime directory, service and policy, over example hosts: each
//! code has a host that shows it and a change, that of its remedy, which clears it.

mod bus;
mod hostile;
mod hosts;
mod logins;
mod service;
mod starts;

use jiff::Timestamp;

use super::{Check, all};
use crate::config::Config;
use crate::config::layer::{Format, Layer};
use crate::db::Stamp;
use crate::dispatch::{Mode, Policy};
use crate::doctor::catalog::{self, ClearedBy};
use crate::doctor::evidence::read::FileKind;
use crate::doctor::evidence::stores::Ledger;
use crate::doctor::evidence::{Evidence, HomeEvidence, Read, Stat};
use crate::doctor::finding::{Finding, Severity};
use crate::home::Home;
use crate::host::Facts;
use crate::host::facts::example::BOOTED;
use crate::ledger::{Execution, Status};

/// A host that shows a finding, and what its remedy changes.
pub(super) struct Fixture {
    code: &'static str,
    severity: Severity,
    broken: fn(&mut Facts),
    mended: fn(&mut Facts),
    policy: Policy,
    max_parallel: Option<u32>,
    last_error: Option<&'static str>,
}

pub(super) const fn fixture(
    code: &'static str,
    severity: Severity,
    broken: fn(&mut Facts),
    mended: fn(&mut Facts),
) -> Fixture {
    Fixture {
        code,
        severity,
        broken,
        mended,
        policy: Policy {
            require_restart_safe_scope: false,
            is_unread: false,
        },
        max_parallel: None,
        last_error: None,
    }
}

impl Fixture {
    const fn strict(mut self) -> Self {
        self.policy.require_restart_safe_scope = true;
        self
    }

    const fn parallel(mut self, jobs: u32) -> Self {
        self.max_parallel = Some(jobs);
        self
    }

    const fn said(mut self, error: &'static str) -> Self {
        self.last_error = Some(error);
        self
    }

    fn evidence(&self, mended: bool) -> Evidence {
        let mut facts = Facts::example();
        (self.broken)(&mut facts);
        if mended {
            (self.mended)(&mut facts);
        }
        let homes = self
            .last_error
            .filter(|_| !mended)
            .map(home_after)
            .into_iter()
            .collect();
        evidence(facts)
            .with_policy(self.policy, self.max_parallel)
            .with_homes(homes)
    }
}

pub(super) fn evidence(facts: Facts) -> Evidence {
    let now = Timestamp::from_second(i64::from(BOOTED) + 86_400).unwrap();
    Evidence::new(now, facts)
}

fn failed_execution(at: Timestamp, error: &str) -> Execution {
    let stamp = Stamp::from(at.to_string());
    Execution {
        id: "9d3a".to_owned(),
        job_id: "4e1f".to_owned(),
        source: "builtin".to_owned(),
        process_id: "77".to_owned(),
        pid: Some(812),
        process_started_at: None,
        status: Status::Failed,
        handoff_pending: false,
        handoff_started_at: None,
        claimed_at: Some(stamp.clone()),
        started_at: None,
        finished_at: Some(stamp.clone()),
        error: Some(error.to_owned()),
        delivery_outcome: None,
        scheduled_instant: Some(stamp.clone()),
        progress_at: None,
    }
}

/// The home's directory, as `stat` sees it.
fn directory(at: Timestamp) -> Stat {
    Stat {
        kind: FileKind::Directory,
        link: false,
        uid: 1001,
        gid: 1001,
        mode: 0o700,
        size: 4096,
        modified: at,
    }
}

/// A home whose last execution failed with these words before anything ran.
fn home_after(error: &'static str) -> HomeEvidence {
    let mut home = HomeEvidence::empty(Home::at("/srv/bot/.hermes"));
    let at = Timestamp::from_second(i64::from(BOOTED) + 80_000).unwrap();
    home.files.insert("", Read::Got(directory(at)));
    home.databases.ledger = Read::Got(Ledger {
        executions: Some(vec![failed_execution(at, error)]),
        ..Ledger::default()
    });
    home
}

/// The checks that read the host only.
fn checks() -> impl Iterator<Item = &'static Check> {
    all().filter(|check| {
        check
            .codes
            .iter()
            .all(|code| *code < "HM400" || *code == "HM481")
    })
}

pub(super) fn findings(evidence: &Evidence) -> Vec<Finding> {
    checks()
        .flat_map(|check| {
            let outcome = (check.run)(evidence);
            for finding in &outcome.findings {
                assert!(
                    check.codes.contains(&finding.code),
                    "{}: {}",
                    check.id,
                    finding.code
                );
            }
            outcome.findings
        })
        .collect()
}

pub(super) fn found(facts: Facts, code: &str) -> Option<Finding> {
    findings(&evidence(facts))
        .into_iter()
        .find(|finding| finding.code == code)
}

pub(super) fn severity(finding: &Finding) -> Severity {
    let entry = catalog::find(finding.code).unwrap();
    finding.severity.unwrap_or(entry.severity)
}

fn fixtures() -> impl Iterator<Item = &'static Fixture> {
    hosts::FIXTURES
        .iter()
        .chain(bus::FIXTURES)
        .chain(service::FIXTURES)
}

/// What all hosts of these tests show.
pub(super) fn all_evidence() -> impl Iterator<Item = Evidence> {
    fixtures().map(|fixture| fixture.evidence(false))
}

#[test]
fn every_fixture_shows_its_finding_and_the_remedy_clears_it() {
    for fixture in fixtures() {
        let code = fixture.code;
        let found = findings(&fixture.evidence(false));
        let codes: Vec<_> = found.iter().map(|finding| finding.code).collect();
        let Some(finding) = found.iter().find(|finding| finding.code == code) else {
            panic!("{code} is not found, but {codes:?}");
        };
        assert_eq!(severity(finding), fixture.severity, "{code}");
        assert!(!finding.evidence.is_empty(), "{code} shows no evidence");
        assert!(
            !finding.summary.ends_with('.'),
            "{code}: {}",
            finding.summary
        );
        // A symptom is cleared by the remedies of what it names as its cause.
        let symptom = finding.causes.iter().any(|cause| codes.contains(cause));
        if catalog::find(code).unwrap().cleared_by == ClearedBy::Remedy && !symptom {
            assert!(!finding.remedies.is_empty(), "{code} offers no way out");
        }
        for remedy in &finding.remedies {
            assert!(!remedy.verify.is_empty(), "{code}: {:?}", remedy.argv);
        }
        let left = findings(&fixture.evidence(true));
        assert!(
            left.iter().all(|finding| finding.code != code),
            "{code} is not cleared"
        );
    }
}

#[test]
fn every_code_of_these_checks_has_a_fixture_and_an_explanation() {
    let shown: Vec<_> = fixtures().map(|fixture| fixture.code).collect();
    for code in checks().flat_map(|check| check.codes) {
        assert!(catalog::find(code).is_some(), "{code} is not explained");
        assert!(shown.contains(code), "{code} has no fixture");
    }
    let declared: Vec<_> = checks().flat_map(|check| check.codes).collect();
    for entry in catalog::all().filter(|entry| entry.code < "HM400") {
        assert!(
            declared.contains(&&entry.code),
            "no check finds {}",
            entry.code
        );
    }
}

#[test]
fn every_report_on_a_fixture_is_as_the_schema_says() {
    for fixture in fixtures() {
        let report = crate::doctor::sample::judged(&fixture.evidence(false));
        assert!(
            report
                .findings
                .iter()
                .any(|found| found.code == fixture.code)
        );
    }
}

#[test]
fn causes_are_codes_of_the_catalogue() {
    for fixture in fixtures() {
        for finding in findings(&fixture.evidence(false)) {
            for cause in &finding.causes {
                assert!(catalog::find(cause).is_some(), "{}: {cause}", finding.code);
            }
        }
    }
}

#[test]
fn healthy_service_and_plain_laptop_show_nothing_that_counts() {
    let service = findings(&evidence(Facts::example()));
    assert_eq!(service, []);
    let laptop = findings(&evidence(Facts::example_laptop()));
    assert_eq!(laptop, []);
}

#[test]
fn container_without_systemd_is_told_and_not_warned_of() {
    let mut facts = Facts::example_laptop();
    facts.without_systemd(crate::host::facts::Container::Docker);
    let found = findings(&evidence(facts));
    let codes: Vec<_> = found.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["HM101"]);
    assert_eq!(severity(&found[0]), Severity::Info);
}

#[test]
fn b22_linger_that_is_on_is_never_offered_again() {
    for fixture in fixtures() {
        let evidence = fixture.evidence(false);
        let on = evidence.facts.linger_marker == crate::bus::LingerMarker::Present;
        for finding in findings(&evidence) {
            let offers = finding
                .remedies
                .iter()
                .any(|remedy| remedy.argv.contains(&"enable-linger".to_owned()));
            // Where logind has forgotten it, the same command is the way to remind it.
            if on && !matches!(finding.code, "HM222" | "HM223") {
                assert!(!offers, "{} of {}", finding.code, fixture.code);
            }
        }
    }
}

#[test]
fn modes_of_the_fixtures_are_not_all_alike() {
    let of = |mode| {
        fixtures()
            .filter(|fixture| fixture.evidence(false).decision_jobs.mode == mode)
            .count()
    };
    for mode in [Mode::InProcess, Mode::Scoped, Mode::Degraded, Mode::Refused] {
        assert!(of(mode) > 0, "{mode:?}");
    }
}

#[test]
fn b08_the_policy_is_that_of_the_home_s_configuration() {
    let mut home = home_after("");
    let text = "cron:\n  require_restart_safe_scope: true\n  max_parallel_jobs: 3\n";
    let file = std::path::Path::new("/srv/bot/.hermes/config.yaml");
    let layer = Layer::of_text(Format::Yaml, file, text);
    home.config = Config::of_layers(Vec::new(), vec![layer]);
    let mut facts = Facts::example();
    facts.without_linger();
    let strict = evidence(facts.clone()).with_homes(vec![home]);
    assert_eq!(strict.decision_jobs.mode, Mode::Refused);
    assert_eq!(strict.max_parallel, Some(3));
    let lax = evidence(facts).with_homes(vec![home_after("")]);
    assert_eq!(lax.decision_jobs.mode, Mode::Degraded);
}
