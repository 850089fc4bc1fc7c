//! What `hermes explain` prints. Pure.

use serde::Serialize;
use serde_json::{Value, json};

use super::catalog::{self, ClearedBy, Entry};
use super::finding::Severity;
use crate::output::nearest::nearest as nearest_of;
use crate::output::{Style, wrap};

/// Codes that a person may have meant by this.
#[must_use]
pub fn nearest(typed: &str) -> Vec<&'static str> {
    nearest_of(
        typed,
        catalog::all().flat_map(|entry| [entry.code, entry.slug]),
    )
}

/// One explanation.
#[must_use]
pub fn one(entry: &Entry, style: Style, width: Option<usize>) -> String {
    let severity = severity_word(entry.severity, style);
    let heading = style.heading(&format!("{} {}", entry.code, entry.slug));
    let mut text = format!("{heading} ({severity})\n\n");
    text.push_str(&wrap::paragraph(entry.title, width, ""));
    text.push_str("\n\n");
    text.push_str(&wrap::prose(entry.explanation, width, ""));
    if let Some(cleared) = cleared_sentence(entry.cleared_by) {
        text.push_str("\n\n");
        text.push_str(&wrap::paragraph(cleared, width, ""));
    }
    text.push('\n');
    text
}

/// The list of all codes.
#[must_use]
pub fn list(style: Style, width: Option<usize>) -> String {
    let mut text = String::new();
    for entry in catalog::all() {
        let name = format!("{} {}", entry.code, entry.slug);
        text.push_str(&style.heading(&name));
        text.push_str(" (");
        text.push_str(&severity_word(entry.severity, style));
        text.push_str(")\n");
        text.push_str(&wrap::paragraph(entry.title, width, "  "));
        text.push('\n');
    }
    text
}

/// One explanation as a document.
#[must_use]
pub fn one_json(entry: &Entry) -> Value {
    json!({ "schema": "hermes.explain/1", "code": document(entry) })
}

/// All explanations as a document.
#[must_use]
pub fn all_json() -> Value {
    let codes: Vec<_> = catalog::all().map(document).collect();
    json!({ "schema": "hermes.explain/1", "codes": codes })
}

/// An entry of the catalogue, as it is printed.
#[derive(Serialize)]
struct Document {
    code: &'static str,
    slug: &'static str,
    severity: Severity,
    title: &'static str,
    explanation: String,
    cleared_by: &'static str,
}

fn document(entry: &Entry) -> Document {
    Document {
        code: entry.code,
        slug: entry.slug,
        severity: entry.severity,
        title: entry.title,
        explanation: wrap::prose(entry.explanation, None, ""),
        cleared_by: match entry.cleared_by {
            ClearedBy::Remedy => "remedy",
            ClearedBy::Person => "person",
            ClearedBy::GoodRun => "good_run",
            ClearedBy::Nothing => "nothing",
        },
    }
}

fn severity_word(severity: Severity, style: Style) -> String {
    let word = severity.word();
    match severity {
        Severity::Error => style.error(word),
        Severity::Warning => style.warning(word),
        Severity::Info => style.info(word),
    }
}

fn cleared_sentence(cleared: ClearedBy) -> Option<&'static str> {
    match cleared {
        ClearedBy::Remedy => None,
        ClearedBy::Person => {
            Some("Its remedies show what there is to decide on; what you then do clears it.")
        }
        ClearedBy::GoodRun => {
            Some("It tells of the past: the next good run clears it, not a remedy.")
        }
        ClearedBy::Nothing => Some("It states a limit that nothing on this host can lift."),
    }
}
