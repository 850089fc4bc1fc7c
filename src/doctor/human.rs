//! The report for people: the mode and the verdict first, causes before symptoms, commands alone on
//! their line, one next step at the end. Pure.
//!
//! On a terminal prose is fitted to its width; elsewhere the same text has no width. Colour only
//! repeats what a word says.

mod ending;
mod finding;
mod header;

use super::finding::Severity;
use super::report::Report;
use crate::output::{Style, human, quote, wrap};

/// How the text is made.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Colours and glyphs.
    pub style: Style,
    /// Columns of the terminal, if it is one.
    pub width: Option<usize>,
    /// The least severity that is printed.
    pub least: Severity,
    /// Every check with its duration, and all evidence.
    pub verbose: bool,
}

/// Makes the text.
#[must_use]
pub fn render(report: &Report, look: Look) -> String {
    let mut page = Page {
        text: String::new(),
        look,
        many_homes: report.run.homes.len() > 1,
    };
    header::write(&mut page, report);
    finding::write(&mut page, report);
    ending::write(&mut page, report);
    page.text
}

/// The text so far. Whatever comes from the host goes through [`Page::safe`] before it is laid out.
struct Page {
    text: String,
    look: Look,
    /// More than one home is judged, so that each finding says which one it is about.
    many_homes: bool,
}

impl Page {
    /// Text from the host, made safe to print, and ASCII where only that may be printed.
    fn safe(&self, text: &str) -> String {
        let text = human::printable(text);
        if !self.look.style.is_ascii() || text.is_ascii() {
            return text;
        }
        human::ascii(&text).into_owned()
    }

    /// An empty line, unless there is one already or nothing at all.
    fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A paragraph of safe text.
    fn paragraph(&mut self, text: &str, indent: &str) {
        self.hanging(text, indent, indent);
    }

    /// A paragraph of safe text whose first line has another indent.
    fn hanging(&mut self, text: &str, first: &str, rest: &str) {
        let laid_out = wrap::hanging(text, self.look.width, first, rest);
        self.text.push_str(&laid_out);
        self.text.push('\n');
    }

    /// A paragraph whose first words are painted: `label` as it is measured, `painted` as it is shown.
    fn labelled(&mut self, label: &str, painted: &str, text: &str, rest: &str) {
        let laid_out = wrap::hanging(text, self.look.width, label, rest);
        let tail = laid_out.strip_prefix(label).unwrap_or(&laid_out);
        self.text.push_str(painted);
        self.text.push_str(tail);
        self.text.push('\n');
    }

    /// A command, alone on its line, never wrapped.
    fn command(&mut self, argv: &[String], indent: &str) {
        let command = if self.look.style.is_ascii() {
            quote::ascii_command(argv)
        } else {
            quote::command(argv)
        };
        self.text.push_str(indent);
        self.text.push_str(&self.look.style.command(&command));
        self.text.push('\n');
    }

    /// A severity in its colour.
    fn severity(&self, severity: Severity) -> String {
        let style = self.look.style;
        match severity {
            Severity::Error => style.error(severity.word()),
            Severity::Warning => style.warning(severity.word()),
            Severity::Info => style.info(severity.word()),
        }
    }
}

#[cfg(test)]
mod tests;
