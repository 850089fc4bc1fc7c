//! The report as one JSON document, indented, with a line break at its end.

use super::report::Report;

/// Makes the document. A report is plain data with text keys, so making it cannot fail; if it did,
/// the text would say so and be no document of the schema.
#[must_use]
pub fn render(report: &Report) -> String {
    match crate::output::json::text(report) {
        Ok(mut text) => {
            text.push('\n');
            text
        }
        Err(error) => {
            format!("{{\"error\": {{\"kind\": \"internal\", \"message\": \"{error}\"}}}}\n")
        }
    }
}
