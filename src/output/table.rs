//! Tables: columns aligned by spaces, no borders, so that a row stays one line to grep for.

use comfy_table::{ContentArrangement, Table, presets};

use super::Out;

/// A table with these headings, fitted to the terminal if there is one.
#[must_use]
pub fn table(out: &Out, headings: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(headings.iter().map(|heading| heading.to_uppercase()));
    for row in rows {
        table.add_row(row);
    }
    if let Some(width) = out.width {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
        .to_string()
        .lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
}
