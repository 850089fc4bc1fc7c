//! Every remedy that a report prints, run by whoever it was printed for, and the command that verifies it.
//! No test restates a command: what is run is what was printed.

use serde_json::Value;

use super::Rig;
use super::report::{Report, over};

/// How often a verification is asked. What a remedy starts may need a moment.
const ASKED: u32 = 200;

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
    /// cause comes first. Of several remedies of one finding the first is done: the others are ways to
    /// the same end. `code`, or what explains it, must be among those that have one.
    pub(crate) fn cure(&self, report: &Report, code: &str) {
        // What was printed for root is run by root, also what the account must do. An account of the rig
        // cannot become root: what was printed for it and wants root is run by root all the same.
        let account = report.at("/dispatch/account").as_str().unwrap_or("root");
        let reader = match report.at("/run/uid").as_u64() {
            Some(0) => "root",
            _ => account,
        };
        let mut left = report.root_of(code);
        for finding in report
            .findings()
            .filter(|finding| finding["cause"].is_null())
        {
            let remedies = finding["remedies"].as_array();
            if let Some(remedy) = remedies.and_then(|remedies| remedies.first()) {
                self.perform(reader, finding, remedy);
                left = left.filter(|left| *left != finding);
            }
        }
        assert_eq!(left, None, "{code} has no remedy");
    }

    fn perform(&self, reader: &str, finding: &Value, remedy: &Value) {
        let who: &[&str] = match remedy["needs"].as_str() {
            Some("root") => &[],
            _ if reader == "root" => &[],
            _ => &["--user", reader],
        };
        let words = |part: &str| -> Vec<&str> {
            let words = remedy[part].as_array().into_iter().flatten();
            let words: Vec<_> = words.filter_map(Value::as_str).collect();
            assert!(!words.is_empty(), "no {part}: {finding:#}");
            words
        };
        match words("argv")[..] {
            // It says itself that it lives as long as its terminal.
            ["sudo", "-u", _, "hermes", "serve", ..] | ["hermes", "serve", ..] => {
                self.leave_running(who, &words("argv"));
            }
            _ => self.attempt(who, &words("argv"), 1),
        }
        self.attempt(who, &words("verify"), ASKED);
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
