//! Every remedy that a report prints, run by whoever it was printed for, and the command that verifies it.
//! No test restates a command: what is run is what was printed.

use hermes::doctor::catalog::{self, ClearedBy};
use serde_json::Value;

use super::report::{Report, over};
use super::{Rig, ways};

/// How often a verification is asked. What a remedy starts may need a moment.
const ASKED: u32 = 200;

/// What a remedy opens a file with, where it opens one. A situation may put one there.
pub(crate) const EDITOR: &str = "/run/editor";

/// One situation like `Rig::cured`, and each other way out of it in a rig of its own that the list of
/// README.md gives to this row: those that are not the first of their finding, and those of findings
/// that another one explains.
pub(crate) fn every_cure(
    code: &str,
    modes: [&str; 2],
    situation: impl Fn() -> Rig,
    look: impl Fn(&Rig) -> Report,
) {
    ways::meanwhile(|| {
        let rig = situation();
        let printed = look(&rig);
        rig.cured(code, modes, || look(&rig));
        for (place, way) in printed.others() {
            let finding = printed.at_place(place);
            if ways::is_due(finding, &finding["remedies"][way]) {
                another(&situation(), &look, (&finding["code"], place, way));
            }
        }
        rig.logind_leads()
    });
}

/// Does one way out, of the finding at this place and with this code, in a rig that nobody has mended.
fn another(rig: &Rig, look: impl Fn(&Rig) -> Report, (code, place, way): (&Value, usize, usize)) {
    let report = look(rig);
    let finding = report.at_place(place);
    assert_eq!(&finding["code"], code, "it is not the same situation");
    rig.is_not_done(&report, finding, &finding["remedies"][way]);
    rig.perform(&report, finding, &finding["remedies"][way]);
    let code = code.as_str().unwrap_or_default();
    if clears(code) {
        look(rig).does_not_say(code);
    }
}

/// Whether the catalogue promises that a way out clears it.
fn clears(code: &str) -> bool {
    catalog::find(code).is_some_and(|entry| entry.cleared_by == ClearedBy::Remedy)
}

/// The words of a part of a remedy.
fn words<'a>(remedy: &'a Value, part: &str) -> Vec<&'a str> {
    let words = remedy[part].as_array().into_iter().flatten();
    words.filter_map(Value::as_str).collect()
}

/// What shows that a remedy worked. Of what only shows something, time or a person clears the finding, and
/// so it is with what verifies that; and what asks again says itself what came of it.
fn verifies<'a>(finding: &'a Value, remedy: &'a Value) -> Option<Vec<&'a str>> {
    let verify = words(remedy, "verify");
    if !clears(finding["code"].as_str().unwrap_or_default()) || asks_again(&words(remedy, "argv")) {
        return None;
    }
    assert!(!verify.is_empty(), "nothing verifies it: {finding:#}");
    Some(verify)
}

/// Whether a command is one of some words; a program may be called by its file.
fn has(words: &[&str], some: &[&str]) -> bool {
    let is =
        |(word, wanted): (&&str, &&str)| word == wanted || word.ends_with(&format!("/{wanted}"));
    let mut parts = words.windows(some.len());
    parts.any(|part| part.iter().zip(some).all(is))
}

fn asks_again(words: &[&str]) -> bool {
    has(words, &["hermes", "cron", "doctor"])
}

impl Rig {
    /// One situation: this code and this mode before all that is printed has been done, that mode and
    /// no such code after.
    pub(crate) fn cured(&self, code: &str, modes: [&str; 2], look: impl Fn() -> Report) {
        let [before, after] = modes;
        let report = look();
        report.says(code).mode(before);
        self.cure(&report, code);
        look().does_not_say(code).mode(after);
    }

    /// Does all that a report prints. A finding that another one explains has no remedy printed: its
    /// cause comes first. Of several remedies of one finding the first is done: `every_cure` does the
    /// others. `code`, or what explains it, must be among those that have one.
    pub(crate) fn cure(&self, report: &Report, code: &str) {
        let mut left = report.root_of(code);
        let roots = report
            .findings()
            .filter(|finding| finding["cause"].is_null());
        let ways: Vec<_> = roots
            .filter_map(|finding| Some((finding, finding["remedies"].as_array()?.first()?)))
            .collect();
        // One may cure more than its own finding.
        for (finding, remedy) in &ways {
            self.is_not_done(report, finding, remedy);
        }
        for (finding, remedy) in ways {
            self.perform(report, finding, remedy);
            left = left.filter(|left| *left != finding);
        }
        assert_eq!(left, None, "{code} has no remedy");
    }

    /// Does all that is printed of one finding.
    pub(crate) fn follow_all(&self, report: &Report, code: &str) {
        let finding = report.says(code).finding(code).into_iter();
        for finding in finding {
            let remedies = || finding["remedies"].as_array().into_iter().flatten();
            for remedy in remedies() {
                self.is_not_done(report, finding, remedy);
            }
            for remedy in remedies() {
                self.perform(report, finding, remedy);
            }
        }
    }

    /// What is printed to show that a remedy worked must not say so before it was run.
    fn is_not_done(&self, report: &Report, finding: &Value, remedy: &Value) {
        if let Some(verify) = verifies(finding, remedy) {
            let output = self.exec(&report.who(), &verify);
            if output.status.success() {
                over(&format!(
                    "{verify:?} succeeds before {}: {report:?}",
                    remedy["argv"]
                ));
            }
        }
    }

    fn perform(&self, report: &Report, finding: &Value, remedy: &Value) {
        // What was printed for root is run by root, also what the account must do. An account of the rig
        // cannot become root: what was printed for it and wants root is run by root all the same.
        let account = report.at("/dispatch/account").as_str().unwrap_or("root");
        let who: &[&str] = match (remedy["needs"].as_str(), report.at("/run/uid").as_u64()) {
            (Some("root"), _) | (_, Some(0)) => &[],
            _ if account == "root" => &[],
            _ => &["--user", account],
        };
        let argv = words(remedy, "argv");
        assert!(!argv.is_empty(), "no command: {finding:#}");
        self.follow(who, &argv, finding);
        if let Some(verify) = verifies(finding, remedy) {
            self.attempt(&report.who(), &verify, ASKED);
        }
        ways::ran(finding, remedy);
    }

    /// Runs the command of a remedy, by what kind of command it is.
    fn follow(&self, who: &[&str], words: &[&str], finding: &Value) {
        let code = finding["code"].as_str().unwrap_or_default();
        if has(words, &["hermes", "serve"]) {
            // It says itself that it lives as long as its terminal.
            self.leave_running(who, words);
        } else if asks_again(words) {
            // It asks again, and what it found is not found that way.
            let words = [words, &["--json"]].concat();
            Self::read(&self.exec(who, &words)).does_not_say(code);
        } else if has(words, &["edit", "--full"]) {
            // It wants a terminal and an editor.
            let line = format!("SYSTEMD_EDITOR={EDITOR} {}", words.join(" "));
            self.attempt(who, &["script", "-qec", &line, "/dev/null"], 1);
        } else {
            self.attempt(who, words, 1);
        }
    }

    fn attempt(&self, who: &[&str], words: &[&str], times: u32) {
        let mut told = String::new();
        for _ in 0..times {
            let output = self.exec(who, words);
            if output.status.success() {
                return;
            }
            told = format!(
                "{words:?} of {who:?} ended with {:?}: {}{}",
                output.status.code(),
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        over(&told)
    }
}
