//! The text for people, as they see it.

use super::super::finding::{Finding, Remedy, Subject};
use super::super::sample;
use super::super::verdict::Thresholds;
use super::*;
use crate::output::wrap::columns;

fn look(width: Option<usize>) -> Look {
    Look {
        style: Style::new(false, false),
        width,
        least: Severity::Info,
        verbose: false,
    }
}

fn text(look: Look) -> String {
    render(&sample::report(false, Thresholds::default()), look)
}

#[test]
fn at_80_columns() {
    insta::assert_snapshot!("columns_80", text(look(Some(80))));
}

#[test]
fn what_has_one_reason_is_counted_once() {
    let mut report = sample::report(false, Thresholds::default());
    let gap = report.checks[2].unchecked[0].clone();
    let more = (0..5).map(|number| {
        let mut gap = gap.clone();
        gap.what = format!("whether {number}");
        gap
    });
    report.checks[2].unchecked.extend(more.collect::<Vec<_>>());
    let told = |verbose| {
        let mut look = look(None);
        look.verbose = verbose;
        render(&report, look)
    };
    let line = "\n  6 things: the environment of pid 812 belongs to uid 990 (they could change the verdict)\n";
    assert!(told(false).contains(line), "{}", told(false));
    assert!(!told(false).contains("whether 3") && told(true).contains("\n    whether 3\n"));
}

#[test]
fn with_everything_at_40_columns() {
    let mut look = look(Some(40));
    look.verbose = true;
    insta::assert_snapshot!("columns_40_verbose", text(look));
}

#[test]
fn only_commands_and_single_words_run_over_a_narrow_terminal() {
    for width in [40, 60, 80, 160] {
        for line in text(look(Some(width))).lines() {
            let command = line.starts_with("      sudo ") || line.starts_with("      hermes ");
            let next = line.starts_with("  sudo ");
            assert!(command || next || columns(line) <= width, "{width}: {line}");
        }
    }
}

#[test]
fn off_a_terminal_nothing_is_fitted_to_a_width() {
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let free = text(look(None));
    assert_eq!(joined(&free), joined(&text(look(Some(80)))));
    assert!(free.lines().any(|line| line.len() > 100), "{free}");
}

#[test]
fn colour_only_repeats_what_words_say() {
    let mut colored = look(Some(80));
    colored.style = Style::new(true, false);
    let painted = text(colored);
    assert!(painted.contains("\u{1b}["));
    let mut plain = String::new();
    let mut rest = painted.as_str();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').expect("the end of a colour").1;
    }
    plain.push_str(rest);
    assert_eq!(plain, text(look(Some(80))));
}

#[test]
fn in_a_c_locale_all_is_ascii_and_no_escape_passes() {
    let mut ascii = look(None);
    ascii.style = Style::plain();
    let text = text(ascii);
    assert!(text.is_ascii());
    assert!(!text.contains('\u{1b}'));
    assert!(text.contains(r"gr\u{f6}\u{df}e"), "{text}");
    let ours = render(&sample::of_words("2 \u{d7} 3 \u{b5}s\u{2026}"), ascii);
    assert!(ours.contains("2 x 3 us..."), "{ours}");
}

#[test]
fn the_print_threshold_hides_what_is_less() {
    let mut errors = look(None);
    errors.least = Severity::Error;
    let text = text(errors);
    assert!(text.contains("error HM204"), "{text}");
    assert!(!text.contains("info HM310"), "{text}");
    assert!(
        !text.contains("warning HM"),
        "symptoms are hidden, too: {text}"
    );
    assert!(text.contains("; 9 are hidden by --print"), "{text}");
    errors.least = Severity::Info;
    assert!(!render(&sample::report(false, Thresholds::default()), errors).contains("hidden"));
}

/// A finding, and what explains it, with a way out of these.
fn finding(code: &'static str, cause: &'static str, level: Severity, ways: &[&str]) -> Finding {
    let finding = Finding::new(
        code,
        Subject::new("host", "this host"),
        format!("{code} it is"),
    );
    let finding = finding.severity(level).because_of(cause);
    let way = |finding: Finding, way: &&str| {
        let remedy = Remedy::user([*way], &format!("does {way}"));
        finding.remedy(if *way == "end" {
            remedy.disruptive()
        } else {
            remedy
        })
    };
    ways.iter().fold(finding, way)
}

#[test]
fn the_matter_is_what_makes_the_verdict_and_the_next_step_is_there() {
    let told = |findings| render(&sample::of(findings), look(None));
    let note = |ways| finding("HM208", "", Severity::Info, ways);
    let fault = |ways| finding("HM332", "HM208", Severity::Error, ways);
    // The way out is that of what explains the fault.
    let text = told(vec![note(&["mend"]), fault(&["other"])]);
    let first = text.lines().next().unwrap();
    assert!(
        first.starts_with("error: ") && !first.contains("nothing is wrong"),
        "{text}"
    );
    assert!(
        first.contains("; HM332 it is (HM332, explained by HM208); 1 error"),
        "{text}"
    );
    assert!(
        text.ends_with("next:\n  mend\n") && !text.contains("other"),
        "{text}"
    );
    // What explains it has none, so that of the fault itself is told.
    let text = told(vec![note(&[]), fault(&["other"])]);
    assert!(
        text.contains("\n      remedy: does other\n          other\n"),
        "{text}"
    );
    assert!(text.ends_with("next:\n  other\n"), "{text}");
    // Nothing has any.
    let text = told(vec![note(&[]), fault(&[])]);
    assert!(text.ends_with("next:\n  hermes explain HM332\n"), "{text}");
}

#[test]
fn what_is_worth_knowing_ends_no_work() {
    let told = |findings| render(&sample::of(findings), look(None));
    let denied = |level| finding("HM207", "", level, &["end"]);
    let text = told(vec![denied(Severity::Info)]);
    assert!(
        text.starts_with("ok: ") && !text.contains("next:"),
        "{text}"
    );
    assert!(text.contains("  remedy, disruptive: does end\n"), "{text}");
    let gentle = finding("HM310", "", Severity::Info, &["mend"]);
    let text = told(vec![denied(Severity::Info), gentle.clone()]);
    assert!(text.ends_with("next:\n  mend\n"), "{text}");
    let text = told(vec![denied(Severity::Warning), gentle]);
    assert!(text.ends_with("next:\n  end\n"), "{text}");
}

#[test]
fn what_lasts_as_long_as_a_terminal_lasts_until_no_reboot() {
    let mut served = finding("HM402", "", Severity::Error, &[]);
    let ticks = "ticks for as long as this terminal lives";
    served = served.remedy(Remedy::user(["serve"], ticks).in_this_terminal());
    served = served.remedy(Remedy::user(["start"], "starts").until_reboot());
    let text = render(&sample::of(vec![served]), look(None));
    assert!(
        text.contains("remedy: ticks for as long as this terminal lives\n"),
        "{text}"
    );
    assert!(
        text.contains("remedy: starts (until the next reboot)\n"),
        "{text}"
    );
}

#[test]
fn a_forecast_that_is_not_known_says_why() {
    let mut report = sample::report(false, Thresholds::default());
    let dispatch = report.dispatch.as_mut().unwrap();
    dispatch.after_reboot = "unknown";
    dispatch.unknown_because = ["not asked", "whether its unit is enabled is not known"];
    let text = render(&report, look(None));
    assert!(
        text.contains("unknown (whether its unit is enabled is not known)"),
        "{text}"
    );
    assert!(!text.contains("not asked"), "{text}");
}

#[test]
fn a_check_that_broke_down_is_told() {
    let report = sample::report(true, Thresholds::default());
    assert_eq!(report.verdict.exit_code, 70);
    let text = render(&report, look(None));
    assert!(
        text.contains("internal error: check loops: it broke down: index out of bounds"),
        "{text}"
    );
}

proptest::proptest! {
    /// Whatever the host calls its things, no terminal acts on it, and a script can read the records.
    #[test]
    fn no_text_of_the_host_passes_as_it_is(words in "\\PC{0,8}|[\\x00-\\x1f \\u{80}-\\u{a0}\\u{200b}-\\u{202e}'$`]{0,12}") {
        let report = sample::of_words(&words);
        for (width, ascii) in [(Some(40), false), (None, true)] {
            let mut look = look(width);
            look.verbose = true;
            look.style = Style::new(false, ascii);
            let text = render(&report, look);
            proptest::prop_assert!(!sample::acts(&text), "{text:?}");
            proptest::prop_assert!(!ascii || text.is_ascii(), "{text:?}");
        }
        let records = super::super::plain::render(&report, Severity::Info);
        proptest::prop_assert!(!sample::acts(&records), "{records:?}");
        let fields = |line: &str| line.split('\t').count();
        for line in records.lines().filter(|line| line.starts_with("finding\t")) {
            proptest::prop_assert_eq!(fields(line), 9);
        }
        let json: serde_json::Value = serde_json::from_str(&super::super::json::render(&report)).unwrap();
        proptest::prop_assert_eq!(json["findings"][0]["summary"].as_str(), Some(words.as_str()));
    }
}
