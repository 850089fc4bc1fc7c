//! What a doctor said inside, and what a test may ask of it.

use serde_json::Value;

use super::ways;

#[expect(
    clippy::panic,
    reason = "the test ends here, with all that was printed"
)]
pub(super) fn over(told: &str) -> ! {
    panic!("{told}")
}

/// A report.
#[derive(Debug)]
pub(crate) struct Report {
    document: Value,
    exit: Option<i32>,
    /// Who asked, as options of the rig's script: what verifies a remedy is asked in the same way.
    who: Vec<String>,
}

impl Report {
    /// What was printed, and how it ended. It may offer nothing that no test runs.
    pub(super) fn of(document: Value, exit: Option<i32>) -> Self {
        ways::are_listed(&document);
        let who = Vec::new();
        Self {
            document,
            exit,
            who,
        }
    }

    /// The same, asked by somebody.
    pub(super) fn by(mut self, who: &[&str]) -> Self {
        self.who = who.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// Who asked.
    pub(super) fn who(&self) -> Vec<&str> {
        self.who.iter().map(String::as_str).collect()
    }

    /// All findings, in the order of the report.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Value> {
        self.document["findings"].as_array().into_iter().flatten()
    }

    /// The finding at this place of the report.
    pub(super) fn at_place(&self, place: usize) -> &Value {
        &self.document["findings"][place]
    }

    /// Place of the finding and number of the way out, of all that is offered beyond the first way out
    /// of each finding that nothing else explains.
    pub(super) fn others(&self) -> Vec<(usize, usize)> {
        let each = self.findings().enumerate().flat_map(|(place, finding)| {
            let ways = finding["remedies"].as_array().map_or(0, Vec::len);
            let first = usize::from(finding["cause"].is_null());
            (first..ways).map(move |way| (place, way))
        });
        each.collect()
    }

    /// The first finding with this code.
    pub(crate) fn finding(&self, code: &str) -> Option<&Value> {
        self.findings().find(|finding| finding["code"] == code)
    }

    /// What explains a finding in the end: itself, where nothing else does.
    pub(super) fn root_of(&self, code: &str) -> Option<&Value> {
        let mut at = self.finding(code)?;
        while let Some(cause) = at["cause"].as_str() {
            at = self.findings().find(|finding| finding["id"] == cause)?;
        }
        Some(at)
    }

    fn lacks(&self, code: &str) -> ! {
        over(&format!("there is no {code}: {:#}", self.document))
    }

    /// It says this.
    pub(crate) fn says(&self, code: &str) -> &Self {
        if self.finding(code).is_none() {
            self.lacks(code);
        }
        self
    }

    /// It does not say this.
    pub(crate) fn does_not_say(&self, code: &str) -> &Self {
        assert!(
            self.finding(code).is_none(),
            "{code} is there: {:#}",
            self.document
        );
        self
    }

    /// The one line of a finding.
    pub(crate) fn summary(&self, code: &str) -> &str {
        let finding = self.finding(code).unwrap_or_else(|| self.lacks(code));
        finding["summary"].as_str().unwrap_or_default()
    }

    /// How a job would be launched.
    pub(crate) fn mode(&self, mode: &str) -> &Self {
        assert_eq!(
            self.document["dispatch"]["cron"]["mode"], mode,
            "{:#}",
            self.document
        );
        self
    }

    /// What is to become of the mode after the last logout, and after a reboot.
    pub(crate) fn forecast(&self, logout: &str, reboot: &str) -> &Self {
        let dispatch = &self.document["dispatch"];
        let told = [&dispatch["after_logout"], &dispatch["after_reboot"]];
        assert_eq!(told, [logout, reboot], "{:#}", self.document);
        self
    }

    /// What the document says at a place.
    pub(crate) fn at(&self, pointer: &str) -> &Value {
        self.document.pointer(pointer).unwrap_or(&Value::Null)
    }

    /// The exit status.
    pub(crate) fn exit(&self) -> Option<i32> {
        self.exit
    }
}
