//! JSON documents: one value, pretty on a terminal and compact elsewhere would differ for no reason,
//! so it is always indented by two spaces and ends with a line break.

use serde::Serialize;

use super::Out;
use crate::error::{Context, Kind, Result};

/// Prints one document.
///
/// # Errors
/// When it cannot be written.
pub fn print(out: &mut Out, document: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(document)
        .context(Kind::Internal, "failed to make the JSON document")?;
    out.line(&text)
}
