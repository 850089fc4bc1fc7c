//! What a doctor said inside, and what a test may ask of it.

use serde_json::Value;

#[expect(
    clippy::panic,
    reason = "the test ends here, with all that was printed"
)]
pub(super) fn over(told: &str) -> ! {
    panic!("{told}")
}

/// A report.
pub(crate) struct Report {
    pub(super) document: Value,
    pub(super) exit: Option<i32>,
}

impl Report {
    /// All findings, in the order of the report.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Value> {
        self.document["findings"].as_array().into_iter().flatten()
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
