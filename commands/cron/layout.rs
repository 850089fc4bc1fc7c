//! How lists and pairs are laid out: a table where it fits the terminal, one block a row where it does
//! not, and off a terminal always the table.

use hermes::output::{Out, human, table::table, wrap};

/// Rows under headings. Cells are made safe to print; empty ones show a dash in a table and are left
/// out of a block.
pub(crate) fn rows(out: &Out, headings: &[&str], rows: Vec<Vec<String>>) -> String {
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| row.iter().map(|cell| human::printable(cell)).collect())
        .collect();
    if out
        .width
        .is_none_or(|width| natural(headings, &rows) <= width)
    {
        let dash = |cell: String| {
            if cell.is_empty() {
                "-".to_owned()
            } else {
                cell
            }
        };
        let rows = rows
            .into_iter()
            .map(|row| row.into_iter().map(dash).collect())
            .collect();
        return table(out, headings, rows);
    }
    let blocks: Vec<_> = rows.iter().map(|row| block(out, headings, row)).collect();
    blocks.join("\n")
}

/// Columns that the table takes by itself.
fn natural(headings: &[&str], rows: &[Vec<String>]) -> usize {
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widths = cells.map(|cell| wrap::columns(cell));
        let heading = headings.get(column).map_or(0, |heading| heading.len());
        widths.max().unwrap_or(0).max(heading)
    };
    (0..headings.len()).map(|column| widest(column) + 2).sum()
}

/// The first two cells on a line, the others below, each behind its heading.
fn block(out: &Out, headings: &[&str], row: &[String]) -> String {
    let first: Vec<&str> = row.iter().take(2).map(String::as_str).collect();
    let mut lines = vec![wrap::hanging(&first.join(" "), out.width, "", "  ")];
    let rest = headings.iter().zip(row).skip(2);
    for (heading, cell) in rest.filter(|(_, cell)| !cell.is_empty()) {
        let text = format!("{heading}: {cell}");
        lines.push(wrap::hanging(&text, out.width, "  ", "    "));
    }
    lines.join("\n")
}

/// Pairs of a label and a text, the texts in one column. Without a width each stays on its line.
pub(crate) fn pairs(out: &Out, pairs: &[(&str, String)]) -> String {
    let widest = pairs
        .iter()
        .map(|(label, _)| label.len())
        .max()
        .unwrap_or(0);
    let narrow = out.width.is_some_and(|width| width < widest + 30);
    let lines = pairs.iter().filter(|(_, text)| !text.is_empty());
    let lines: Vec<_> = lines
        .map(|(label, text)| {
            let text = human::printable(text);
            if narrow {
                return wrap::hanging(&format!("{label}: {text}"), out.width, "", "  ");
            }
            let label = format!("{label:widest$}  ");
            wrap::hanging(&text, out.width, &label, &" ".repeat(widest + 2))
        })
        .collect();
    lines.join("\n")
}
