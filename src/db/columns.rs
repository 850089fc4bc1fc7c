//! Tables whose columns another program decides: select what is there, take what is stored.
//!
//! A store may be older or newer than the one that was studied. An absent column reads as NULL;
//! a value of an unexpected type is converted where that loses nothing that matters.

use std::cell::Cell;
use std::collections::HashSet;

use jiff::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row};

use super::instant::{Stamp, instant};

/// The columns of a table that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    table: String,
    names: HashSet<String>,
}

impl Columns {
    /// Looks a table up; none if the store has no such table.
    pub fn of(connection: &Connection, table: &str) -> rusqlite::Result<Option<Self>> {
        let mut info = connection.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
        let names = info
            .query_map([table], |row| row.get(0))?
            .collect::<rusqlite::Result<HashSet<String>>>()?;
        let table = table.to_owned();
        Ok((!names.is_empty()).then_some(Self { table, names }))
    }

    /// Whether the table has this column.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Those of the wanted columns that the table has not.
    #[must_use]
    pub fn missing<'a>(&self, wanted: &[&'a str]) -> Vec<&'a str> {
        wanted
            .iter()
            .copied()
            .filter(|name| !self.has(name))
            .collect()
    }

    /// `SELECT … FROM table`, with NULL in place of each column that is not there.
    #[must_use]
    pub fn select(&self, wanted: &[&str]) -> String {
        let columns: Vec<String> = wanted
            .iter()
            .map(|name| {
                let absent = if self.has(name) { "" } else { "NULL AS " };
                format!("{absent}{}", quoted(name))
            })
            .collect();
        format!("SELECT {} FROM {}", columns.join(", "), quoted(&self.table))
    }

    /// The order by a column, or by nothing where it is not there.
    #[must_use]
    pub fn newest_first(&self, by: &str) -> String {
        if self.has(by) {
            format!(" ORDER BY {} DESC", quoted(by))
        } else {
            String::new()
        }
    }
}

/// Runs a query, such as [`Columns::select`] begins one, and reads each row.
pub fn rows<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    read: impl Fn(Fields<'_>) -> T,
) -> rusqlite::Result<Vec<T>> {
    let mut query = connection.prepare_cached(sql)?;
    let names = Names::of(query.column_names());
    let rows = query.query_map(parameters, |row| {
        let names = Some(&names);
        Ok(read(Fields { row, names }))
    })?;
    rows.collect()
}

/// The names of the columns of a query, asked for once for many rows: SQLite converts each name each
/// time. Readers take them in the order in which they were selected, mostly.
#[derive(Debug)]
struct Names {
    names: Vec<String>,
    /// Behind the one that was found last.
    next: Cell<usize>,
}

impl Names {
    fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        Self {
            names: names.map(str::to_owned).collect(),
            next: Cell::new(0),
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        let is_it = |known: &String| known == name;
        let next = Some(self.next.get()).filter(|at| self.names.get(*at).is_some_and(is_it));
        let place = next.or_else(|| self.names.iter().position(is_it))?;
        self.next.set(place + 1);
        Some(place)
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A row read by the names of its columns, whatever was stored in them.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a> {
    row: &'a Row<'a>,
    names: Option<&'a Names>,
}

impl<'a> Fields<'a> {
    /// Wraps a row of a `SELECT` made by [`Columns::select`].
    #[must_use]
    pub fn of(row: &'a Row<'a>) -> Self {
        Self { row, names: None }
    }

    fn value(self, name: &str) -> ValueRef<'a> {
        let value = match self.names.and_then(|names| names.place(name)) {
            Some(index) => self.row.get_ref(index),
            None => self.row.get_ref(name),
        };
        value.unwrap_or(ValueRef::Null)
    }

    /// Text; a blob is read as UTF-8 with replacement characters, a number in its digits.
    #[must_use]
    pub fn text(self, name: &str) -> Option<String> {
        match self.value(name) {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(number.to_string()),
            ValueRef::Real(number) => Some(number.to_string()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                Some(String::from_utf8_lossy(bytes).into_owned())
            }
        }
    }

    /// Text, empty where nothing is stored.
    #[must_use]
    pub fn text_or_empty(self, name: &str) -> String {
        self.text(name).unwrap_or_default()
    }

    /// A whole number; a real one is cut, text is parsed.
    #[must_use]
    pub fn integer(self, name: &str) -> Option<i64> {
        match self.value(name) {
            ValueRef::Integer(number) => Some(number),
            ValueRef::Real(number) => whole(number),
            ValueRef::Text(_) => self.text(name)?.trim().parse().ok(),
            ValueRef::Null | ValueRef::Blob(_) => None,
        }
    }

    /// A real number, such as seconds since the epoch; none if it is not finite.
    #[must_use]
    pub fn real(self, name: &str) -> Option<f64> {
        let number = match self.value(name) {
            ValueRef::Integer(number) => real(number),
            ValueRef::Real(number) => number,
            ValueRef::Text(_) => self.text(name)?.trim().parse().ok()?,
            ValueRef::Null | ValueRef::Blob(_) => return None,
        };
        number.is_finite().then_some(number)
    }

    /// An instant stored as seconds since the epoch; none for NULL, zero and nonsense.
    #[must_use]
    pub fn instant(self, name: &str) -> Option<Timestamp> {
        instant(self.real(name)?)
    }

    /// An instant stored as text.
    #[must_use]
    pub fn stamp(self, name: &str) -> Option<Stamp> {
        self.text(name).map(Stamp::from)
    }

    /// A flag: any whole number but 0.
    #[must_use]
    pub fn flag(self, name: &str) -> bool {
        self.integer(name).is_some_and(|number| number != 0)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked, the fraction is what is meant to go"
)]
fn whole(number: f64) -> Option<i64> {
    (number.abs() < 9e15).then_some(number as i64)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "epoch seconds and counts are far below 2^53"
)]
fn real(number: i64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_columns_read_as_null_and_odd_types_are_taken() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE \"o\"\"dd\"(a TEXT, b INTEGER);
                 INSERT INTO \"o\"\"dd\" VALUES (x'61ff62', '12'), ('t', 3.9), (7, NULL)",
            )
            .unwrap();
        assert_eq!(Columns::of(&connection, "none").unwrap(), None);
        let columns = Columns::of(&connection, "o\"dd").unwrap().unwrap();
        assert_eq!(columns.missing(&["a", "c"]), ["c"]);
        let sql = columns.select(&["a", "b", "c"]) + &columns.newest_first("c");
        let read = |row: Fields<'_>| (row.text("a"), row.integer("b"), row.text("c"));
        let rows = rows(&connection, &sql, [], read).unwrap();
        assert_eq!(
            rows,
            [
                (Some("a\u{fffd}b".to_owned()), Some(12), None),
                (Some("t".to_owned()), Some(3), None),
                (Some("7".to_owned()), None, None),
            ]
        );
    }

    #[test]
    fn what_is_no_number_is_none() {
        let connection = Connection::open_in_memory().unwrap();
        let ask = |value: &str| {
            connection
                .query_row(&format!("SELECT {value} AS v"), [], |row| {
                    let fields = Fields::of(row);
                    Ok((fields.integer("v"), fields.real("v")))
                })
                .unwrap()
        };
        assert_eq!(ask("9e999"), (None, None));
        assert_eq!(ask("'soon'"), (None, None));
        assert_eq!(ask("x'00'"), (None, None));
        assert_eq!(ask("'1.5'"), (None, Some(1.5)));
        assert_eq!(ask("4"), (Some(4), Some(4.0)));
    }
}
