//! How lists and pairs are laid out: a table where it fits the terminal, one block a row where it does
//! not, and off a terminal always the table.

use super::table::table;
use super::{Out, wrap};

/// What is left at least of a text that is cut, in columns.
const LEAST: usize = 20;
/// Columns of names, which are cut in any table where they are longer than this: one such name would push
/// all that stands behind it, in every row, out of sight.
const NAMES: [&str; 2] = ["name", "job"];
/// See [`NAMES`].
const LONGEST_NAME: usize = 60;

/// What becomes of rows that do not fit, one step after the other until they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The column with this heading goes.
    Drop(&'a str),
    /// The cells under this heading are cut to the room that is left.
    Cut(&'a str),
}

/// Rows under headings. Cells are made safe to print; empty ones show a dash in a table and are left
/// out of a block. Where the whole does not fit, the steps are taken in their order; where all of them do
/// not help, each row becomes a block with all of it.
#[must_use]
pub fn rows(out: &Out, headings: &[&str], steps: &[Step<'_>], rows: Vec<Vec<String>>) -> String {
    let whole: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| row.iter().map(|cell| out.printable(cell)).collect())
        .collect();
    let mut shown = whole.clone();
    for name in NAMES {
        let place = headings.iter().position(|heading| *heading == name);
        let cells = shown.iter_mut().filter_map(|row| row.get_mut(place?));
        for cell in cells {
            *cell = cut(cell, LONGEST_NAME, out);
        }
    }
    let Some(width) = out.width else {
        return dashed(out, headings, shown);
    };
    for taken in 0..=steps.len() {
        let taken = steps.get(..taken).unwrap_or_default();
        let (headings, rows) = fitted(out, width, (headings, &shown), taken);
        if natural(&headings, &rows) <= width {
            return dashed(out, &headings, rows);
        }
    }
    let blocks: Vec<_> = whole.iter().map(|row| block(out, headings, row)).collect();
    blocks.join("\n")
}

/// The rows after these steps: what is cut has the room that those columns leave which are still there.
fn fitted<'a>(
    out: &Out,
    width: usize,
    (headings, rows): (&[&'a str], &[Vec<String>]),
    steps: &[Step<'_>],
) -> (Vec<&'a str>, Vec<Vec<String>>) {
    let gone = |heading: &str| steps.contains(&Step::Drop(heading));
    let (headings, mut rows) = without(headings, rows, &gone);
    for column in 0..headings.len() {
        let heading = headings.get(column).copied().unwrap_or_default();
        if steps.contains(&Step::Cut(heading)) {
            let others = natural(&headings, &rows) - widest(&headings, &rows, column);
            let room = width.saturating_sub(others).max(LEAST);
            for cell in rows.iter_mut().filter_map(|row| row.get_mut(column)) {
                *cell = cut(cell, room, out);
            }
        }
    }
    (headings, rows)
}

fn without<'a>(
    headings: &[&'a str],
    rows: &[Vec<String>],
    gone: &dyn Fn(&str) -> bool,
) -> (Vec<&'a str>, Vec<Vec<String>>) {
    let stays: Vec<bool> = headings.iter().map(|heading| !gone(heading)).collect();
    let left = headings.iter().zip(&stays).filter(|(_, stays)| **stays);
    let row = |row: &Vec<String>| {
        let cells = row.iter().zip(&stays).filter(|(_, stays)| **stays);
        cells.map(|(cell, _)| cell.clone()).collect()
    };
    (
        left.map(|(heading, _)| *heading).collect(),
        rows.iter().map(row).collect(),
    )
}

fn dashed(out: &Out, headings: &[&str], rows: Vec<Vec<String>>) -> String {
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
    table(out, headings, rows)
}

/// A long text, with a mark where it was cut.
fn cut(text: &str, room: usize, out: &Out) -> String {
    if wrap::columns(text) <= room {
        return text.to_owned();
    }
    let mark = out.style.glyph("…", "...");
    let room = room.saturating_sub(wrap::columns(mark));
    let mut kept = String::new();
    for letter in text.chars() {
        kept.push(letter);
        if wrap::columns(&kept) > room {
            kept.pop();
            break;
        }
    }
    kept + mark
}

/// Columns that the widest cell under a heading takes, or the heading.
fn widest(headings: &[&str], rows: &[Vec<String>], column: usize) -> usize {
    let cells = rows.iter().filter_map(|row| row.get(column));
    let widths = cells.map(|cell| wrap::columns(cell));
    let heading = headings.get(column).map_or(0, |heading| heading.len());
    widths.max().unwrap_or(0).max(heading)
}

/// Columns that the table takes by itself.
fn natural(headings: &[&str], rows: &[Vec<String>]) -> usize {
    let columns = 0..headings.len();
    columns
        .map(|column| widest(headings, rows, column) + 2)
        .sum()
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
#[must_use]
pub fn pairs(out: &Out, pairs: &[(&str, String)]) -> String {
    let widest = pairs
        .iter()
        .map(|(label, _)| label.len())
        .max()
        .unwrap_or(0);
    let narrow = out.width.is_some_and(|width| width < widest + 30);
    let lines = pairs.iter().filter(|(_, text)| !text.is_empty());
    let lines: Vec<_> = lines
        .map(|(label, text)| {
            let text = out.printable(text);
            if narrow {
                return wrap::hanging(&format!("{label}: {text}"), out.width, "", "  ");
            }
            let label = format!("{label:widest$}  ");
            wrap::hanging(&text, out.width, &label, &" ".repeat(widest + 2))
        })
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Style;

    fn out(width: Option<usize>) -> Out {
        let sink = || Box::new(std::io::sink());
        let mut out = Out::new(sink(), sink(), Style::new(false, false), Style::plain());
        out.width = width;
        out
    }

    fn shown(width: Option<usize>) -> String {
        let row = |name: &str, next: &str| {
            ["a49f6beb5b17", name, "active", "every 30m", next, ""]
                .map(str::to_owned)
                .to_vec()
        };
        let given = vec![
            row("backup", "in 25m"),
            row(
                "a name that is rather long, as names go",
                "OVERDUE by 7h 5m",
            ),
        ];
        let headings = ["id", "name", "state", "schedule", "next run", "last good"];
        let steps = [
            Step::Drop("last good"),
            Step::Drop("state"),
            Step::Cut("name"),
        ];
        rows(&out(width), &headings, &steps, given)
    }

    fn longest(text: &str) -> usize {
        text.lines().map(wrap::columns).max().unwrap_or(0)
    }

    #[test]
    fn a_table_loses_columns_and_then_its_form_as_the_terminal_gets_narrow() {
        for width in [40, 60, 80, 100, 160] {
            let text = shown(Some(width));
            assert!(longest(&text) <= width, "{width}:\n{text}");
            assert!(text.contains("OVERDUE by 7h 5m"), "{width}:\n{text}");
        }
        let has = |width, word: &str| shown(Some(width)).contains(word);
        assert!(has(160, "LAST GOOD") && has(160, "as names go"));
        assert!(has(98, "STATE") && !has(98, "LAST GOOD"));
        assert!(has(80, "NEXT RUN") && !has(80, "STATE") && has(80, "as nam…"));
        assert!(has(40, "  state: active") && !has(40, "NEXT RUN"));
        assert_eq!(
            shown(None),
            shown(Some(160)),
            "off a terminal nothing is fitted"
        );
    }

    #[test]
    fn a_very_long_name_pads_no_other_row() {
        let row = |name: &str| ["a49f6beb5b17", name, "active"].map(str::to_owned).to_vec();
        let given = vec![row(&"x".repeat(5000)), row("short")];
        for width in [None, Some(160)] {
            let headings = ["id", "name", "state"];
            let text = rows(&out(width), &headings, &[], given.clone());
            assert!(longest(&text) < 100, "{width:?}: {}", longest(&text));
            assert!(text.contains("xxx…"), "{text}");
        }
    }

    #[test]
    fn pairs_stand_in_two_columns_or_below_each_other() {
        let given = [
            ("home", "/srv/h".to_owned()),
            ("nothing", String::new()),
            (
                "last good run",
                "a long time ago, and so on and so on".to_owned(),
            ),
        ];
        let wide = pairs(&out(Some(80)), &given);
        assert_eq!(
            wide,
            "home           /srv/h\nlast good run  a long time ago, and so on and so on"
        );
        let narrow = pairs(&out(Some(30)), &given);
        assert!(
            narrow.starts_with("home: /srv/h\n") && longest(&narrow) <= 30,
            "{narrow}"
        );
    }
}
