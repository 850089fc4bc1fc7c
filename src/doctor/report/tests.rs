//! The report against its schema, and its verdict.

use super::super::finding::Severity;
use super::super::verdict::Thresholds;
use super::super::{json, plain, sample};
use super::against_schema;

#[test]
fn every_report_is_as_the_schema_says() {
    for (broken, strict) in [(false, false), (true, false), (false, true)] {
        let thresholds = Thresholds {
            fail_on: Severity::Warning,
            strict,
        };
        let report = sample::report(broken, thresholds);
        let document = serde_json::from_str(&json::render(&report)).unwrap();
        assert_eq!(against_schema(&document), [""; 0]);
    }
    let mut without = sample::report(false, Thresholds::default());
    without.dispatch = None;
    let document = serde_json::to_value(&without).unwrap();
    assert_eq!(against_schema(&document), [""; 0]);
}

#[test]
fn ids_follow_the_order_and_reasons_point_at_findings() {
    let report = sample::report(false, Thresholds::default());
    let ids: Vec<_> = report.findings.iter().map(|found| &found.id).collect();
    let expected: Vec<_> = (1..=ids.len()).map(|n| format!("f{n}")).collect();
    assert_eq!(ids, expected.iter().collect::<Vec<_>>());
    assert_eq!(report.findings[0].code, "HM204");
    assert_eq!(report.findings[1].cause.as_deref(), Some("f1"));
    let dispatch = report.dispatch.as_ref().unwrap();
    assert_eq!(dispatch.because, ["f1"]);
    assert_eq!(dispatch.flips_to.as_ref().unwrap().by, ["f1"]);
    let explained: Vec<_> = report.trees().map(|tree| tree.symptoms.len()).collect();
    assert_eq!(explained, [8, 0]);
    assert_eq!(report.first_to_mend().unwrap().root.code, "HM204");
}

#[test]
fn counts_add_up() {
    let report = sample::report(true, Thresholds::default());
    let counts = report.verdict.counts;
    assert_eq!((counts.error, counts.warning, counts.info), (1, 8, 1));
    assert_eq!(
        (counts.pass, counts.unknown, counts.not_applicable),
        (1, 1, 1)
    );
    assert_eq!(counts.internal, 1);
    assert!(!report.verdict.complete);
}

#[test]
fn only_root_reads_commands_without_sudo() {
    let mut report = sample::report(false, Thresholds::default());
    assert_eq!(report.findings[0].remedies[0].argv[0], "sudo");
    report = sample::report_for(0, Thresholds::default());
    assert_eq!(report.findings[0].remedies[0].argv[0], "systemctl");
}

#[test]
fn records_have_no_stray_tabs_and_say_what_the_document_says() {
    let report = sample::report(false, Thresholds::default());
    let text = plain::render(&report, Severity::Info);
    let records: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(records[0], ["verdict", "error", "2", "incomplete"]);
    let of = |kind: &str| records.iter().filter(|record| record[0] == kind).count();
    assert_eq!(of("finding"), report.findings.len());
    assert_eq!(of("check"), report.checks.len());
    assert_eq!(of("remedy"), 2);
    assert_eq!(of("unchecked"), 1);
    let widths = |kind: &str, width: usize| {
        let mut some = records.iter().filter(|record| record[0] == kind);
        some.all(|record| record.len() == width)
    };
    assert!(
        widths("finding", 9) && widths("check", 5) && widths("remedy", 5),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'));
}
