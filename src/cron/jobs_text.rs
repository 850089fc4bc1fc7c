//! The text of `jobs.json`: bytes to jobs with notes on the shape, and back as Python writes it.
//!
//! Reading is as tolerant as the other program's: a byte order mark, what Python's `json` reads beyond
//! JSON ([`super::python_json`]), a bare list, jobs by id. What it takes for empty without being it, we
//! refuse: unreadable is never empty.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::job::Job;
use super::job_list::JobList;
pub use super::jobs_shape::Kept;
use super::jobs_shape::{Top, Via};
use super::python_json::{self, Mended};

/// The text of a store, decoded.
#[derive(Debug)]
pub struct JobsText<'b> {
    text: Cow<'b, str>,
    bom: bool,
    mended: OnceCell<Option<Mended>>,
}

/// Jobs read from a store: typed views, or raw objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Jobs<J> {
    /// The jobs, in order.
    pub jobs: Vec<J>,
    /// When the store was last written, as stored.
    pub updated_at: Option<String>,
    /// What is unusual about the shape.
    pub notes: Vec<ShapeNote>,
    /// Keys at the top that are not ours, in order. Empty for typed views.
    pub rest: Map<String, Value>,
}

/// Something unusual. A writer puts it right, but for what is kept as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeNote {
    /// A byte order mark before the text.
    Bom,
    /// Raw control characters within strings; the first one is here.
    ControlCharacters {
        /// Its line, from 1.
        line: usize,
        /// In bytes, from 1.
        column: usize,
    },
    /// `NaN`, `Infinity` or halves of surrogate pairs: no JSON, but what Python writes. Kept as it is.
    NotJson,
    /// A list without the object around it.
    BareList,
    /// Jobs keyed by id instead of a list.
    Map,
    /// An object without `jobs`, or with null there.
    NoJobs,
    /// Entries that are no objects; their number.
    Dropped(usize),
    /// An id that several jobs have.
    DuplicateId(String),
}

impl ShapeNote {
    /// Whether a writer puts it right; the rest is kept as it is.
    #[must_use]
    pub fn is_put_right(&self) -> bool {
        !matches!(self, Self::NotJson | Self::DuplicateId(_))
    }

    /// What a person should know of it, as a fragment.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Bom => "it starts with a byte order mark".to_owned(),
            Self::ControlCharacters { line, column } => {
                format!("a raw control character stands at line {line}, column {column}")
            }
            Self::BareList => "it is a bare list, not an object with a list".to_owned(),
            Self::Map => "its jobs are a map by id, not a list".to_owned(),
            Self::NoJobs => "it has no list of jobs".to_owned(),
            Self::Dropped(1) => "one of its entries is no job, and is left out".to_owned(),
            Self::Dropped(count) => format!("{count} of its entries are no jobs, and are left out"),
            Self::NotJson => {
                "it holds what is no JSON (NaN, Infinity or half of a surrogate pair), which is kept as \
                 it is"
                    .to_owned()
            }
            Self::DuplicateId(id) => format!("several of its jobs have the id {id}"),
        }
    }
}

/// Why a store cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at line {line}, column {column}")]
pub struct JobsTextError {
    /// The class.
    pub kind: ErrorKind,
    /// What is wrong, as a fragment.
    pub what: String,
    /// From 1.
    pub line: usize,
    /// In bytes, from 1.
    pub column: usize,
}

/// The class of an unreadable store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// No text at all.
    Empty,
    /// Not UTF-8.
    Encoding,
    /// The text ends in the middle of something.
    Truncated,
    /// Not JSON.
    Syntax,
    /// JSON, but no store of jobs.
    Shape,
}

impl<'b> JobsText<'b> {
    /// Decodes the bytes of a store.
    pub fn new(bytes: &'b [u8]) -> Result<JobsText<'b>, JobsTextError> {
        let (bom, bytes) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) => (true, rest),
            None => (false, bytes),
        };
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let (line, column) = position(bytes, error.valid_up_to());
            let what = "the text is not UTF-8".to_owned();
            JobsTextError {
                kind: ErrorKind::Encoding,
                what,
                line,
                column,
            }
        })?;
        if text.trim_ascii().is_empty() {
            let what = "the store is empty".to_owned();
            return Err(JobsTextError {
                kind: ErrorKind::Empty,
                what,
                line: 1,
                column: 1,
            });
        }
        Ok(JobsText {
            text: Cow::Borrowed(text),
            bom,
            mended: OnceCell::new(),
        })
    }

    /// Typed views that borrow from the text: for judging.
    pub fn typed(&self) -> Result<Jobs<Job<'_>>, JobsTextError> {
        let (top, notes) = self.read::<Top<Job<'_>>>()?;
        let mut jobs = top.into_jobs(notes)?;
        note_duplicates(&mut jobs.notes, jobs.jobs.iter().map(Job::id));
        Ok(jobs)
    }

    /// What `T` keeps of each job; ids that come twice are not noted.
    pub fn kept<T: Kept>(&self) -> Result<Jobs<T>, JobsTextError> {
        let (top, notes) = self.read::<Top<Via<T>>>()?;
        let jobs = top.into_jobs(notes)?;
        Ok(Jobs {
            jobs: jobs.jobs.into_iter().map(|via| via.0).collect(),
            updated_at: jobs.updated_at,
            notes: jobs.notes,
            rest: jobs.rest,
        })
    }

    /// Raw objects: for writing.
    pub fn raw(&self) -> Result<Jobs<Map<String, Value>>, JobsTextError> {
        let (top, notes) = self.read::<Top<Map<String, Value>>>()?;
        let mut jobs = top.into_jobs(notes)?;
        let ids = jobs
            .jobs
            .iter()
            .map(|job| job.get("id").and_then(Value::as_str));
        note_duplicates(&mut jobs.notes, ids);
        Ok(jobs)
    }

    /// For writing: texts of jobs where the store has the usual shape.
    pub fn list(&self) -> Result<JobList<'_>, JobsTextError> {
        // Half a surrogate pair is found only when its text is read. Most stores have no such escape at all.
        let has = |escape: &str| self.text.contains(escape);
        let whole = !self.bom && !(has("\\u") && (has("\\ud") || has("\\uD")));
        if whole && let Ok(list) = serde_json::from_str(&self.text) {
            return Ok(list);
        }
        self.raw().map(JobList::of)
    }

    fn read<'t, T: Deserialize<'t>>(&'t self) -> Result<(T, Vec<ShapeNote>), JobsTextError> {
        let mut notes = if self.bom {
            vec![ShapeNote::Bom]
        } else {
            Vec::new()
        };
        let error = match serde_json::from_str(&self.text) {
            Ok(read) => return Ok((read, notes)),
            Err(error) => error,
        };
        let mended = self.mended.get_or_init(|| python_json::mend(&self.text));
        let Some(mended) = mended else {
            return Err(syntax(&error));
        };
        if let Some(at) = mended.control {
            let (line, column) = position(self.text.as_bytes(), mended.original(at));
            notes.push(ShapeNote::ControlCharacters { line, column });
        }
        if mended.stand_ins {
            notes.push(ShapeNote::NotJson);
        }
        match serde_json::from_str(&mended.text) {
            Ok(read) => Ok((read, notes)),
            Err(error) => {
                let mut wrong = syntax(&error);
                let offset = offset(&mended.text, (wrong.line, wrong.column));
                let at = mended.original(offset);
                (wrong.line, wrong.column) = position(self.text.as_bytes(), at);
                Err(wrong)
            }
        }
    }
}

/// The offset of a line and column, both from 1.
fn offset(text: &str, (line, column): (usize, usize)) -> usize {
    let before = text.split_inclusive('\n').take(line.saturating_sub(1));
    before.map(str::len).sum::<usize>() + column.saturating_sub(1)
}

fn syntax(error: &serde_json::Error) -> JobsTextError {
    let kind = match error.classify() {
        serde_json::error::Category::Eof => ErrorKind::Truncated,
        serde_json::error::Category::Data => ErrorKind::Shape,
        _ => ErrorKind::Syntax,
    };
    let what = error.to_string();
    let what = what
        .rsplit_once(" at line ")
        .map_or(what.as_str(), |(what, _)| what)
        .to_owned();
    JobsTextError {
        kind,
        what,
        line: error.line(),
        // Behind a last line break the parser counts from nothing.
        column: error.column().max(1),
    }
}

/// Line and column of an offset, both from 1.
fn position(bytes: &[u8], offset: usize) -> (usize, usize) {
    let before = bytes.get(..offset).unwrap_or(bytes);
    let line = before.split(|byte| *byte == b'\n').count();
    let column = before
        .iter()
        .rev()
        .take_while(|byte| **byte != b'\n')
        .count()
        + 1;
    (line, column)
}

fn note_duplicates<'i>(notes: &mut Vec<ShapeNote>, ids: impl Iterator<Item = Option<&'i str>>) {
    let mut seen = HashSet::new();
    for id in ids.flatten() {
        let known = ShapeNote::DuplicateId(id.to_owned());
        if !seen.insert(id) && !notes.contains(&known) {
            notes.push(known);
        }
    }
}

/// A value as Python's `json.dumps(indent=2, ensure_ascii=False)` writes it.
#[must_use]
pub fn to_text(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::job_list::tests::written;
    use super::*;

    fn typed_ids(bytes: &[u8]) -> (Vec<String>, Vec<ShapeNote>) {
        let text = JobsText::new(bytes).expect("text");
        let jobs = text.typed().expect("jobs");
        let raw = text.raw().expect("raw");
        assert_eq!(jobs.notes, raw.notes);
        assert_eq!(
            jobs.jobs,
            raw.jobs.iter().map(Job::read).collect::<Vec<_>>()
        );
        let ids = jobs
            .jobs
            .iter()
            .map(|job| job.id().unwrap_or("-").to_owned())
            .collect();
        (ids, jobs.notes)
    }

    fn error(bytes: &[u8]) -> JobsTextError {
        match JobsText::new(bytes) {
            Err(error) => error,
            Ok(text) => {
                text.raw().expect_err("raw");
                text.typed().expect_err("typed")
            }
        }
    }

    #[test]
    fn odd_shapes_are_read_with_a_note() {
        let read = |text: &str| typed_ids(text.as_bytes());
        assert_eq!(read(r#"{"jobs":[{"id":"a"}]}"#), (vec!["a".into()], vec![]));
        assert_eq!(
            read(r#"[{"id":"a"}]"#),
            (vec!["a".into()], vec![ShapeNote::BareList])
        );
        assert_eq!(read("{}"), (vec![], vec![ShapeNote::NoJobs]));
        let map = r#"{"jobs":{"k":{"n":1},"l":{"id":"z"},"m":5}}"#;
        let notes = vec![ShapeNote::Map, ShapeNote::Dropped(1)];
        assert_eq!(read(map), (vec!["k".into(), "z".into()], notes));
        let list = r#"{"jobs":[1,"a",null,[2],true,1e400,{"id":"x"},{"id":"x"}],"o":{"a":1.50}}"#;
        let notes = vec![ShapeNote::Dropped(6), ShapeNote::DuplicateId("x".into())];
        assert_eq!(read(list), (vec!["x".into(), "x".into()], notes));
        let bom = "\u{feff}{\"jobs\":[{\"id\":\"a\",\"prompt\":\"tab\there \\\" \\\\\"}]}";
        let notes = vec![
            ShapeNote::Bom,
            ShapeNote::ControlCharacters {
                line: 1,
                column: 33,
            },
        ];
        assert_eq!(read(bom), (vec!["a".into()], notes));
    }

    #[test]
    fn the_unreadable_is_an_error_with_its_place() {
        let of = |bytes: &[u8]| {
            let error = error(bytes);
            (error.kind, error.line, error.column)
        };
        assert_eq!(of(b""), (ErrorKind::Empty, 1, 1));
        assert_eq!(of(b" \n"), (ErrorKind::Empty, 1, 1));
        assert_eq!(of(b"{\n \"jobs\": [\xff]}"), (ErrorKind::Encoding, 2, 11));
        assert_eq!(
            of(b"{\n \"jobs\": [{\"id\": \"a"),
            (ErrorKind::Truncated, 2, 19)
        );
        assert_eq!(of(b"{\n \"jobs\": [}]}"), (ErrorKind::Syntax, 2, 11));
        // A place behind raw control characters is that of the file, not of the mended text.
        assert_eq!(
            of(b"{\"jobs\": [{\"p\": \"a\tb\nc\"},\n }]"),
            (ErrorKind::Syntax, 3, 2)
        );
        assert_eq!(of(b"{\"jobs\":[\n"), (ErrorKind::Truncated, 2, 1));
        assert_eq!(of(b"{\"jobs\":[]} x").0, ErrorKind::Syntax);
        for shape in [
            "null",
            "\"x\"",
            "5",
            "true",
            "{\"jobs\":5}",
            "{\"jobs\":\"x\"}",
        ] {
            assert_eq!(of(shape.as_bytes()).0, ErrorKind::Shape, "{shape}");
        }
    }

    #[test]
    fn what_python_reads_beyond_json_is_read_with_a_note() {
        let read = |text: &str| typed_ids(text.as_bytes());
        let text =
            r#"{"jobs":[{"id":"a","name":"x\ud83d","repeat":NaN,"cost":-Infinity},{"id":"b"}]}"#;
        let (ids, notes) = read(text);
        assert_eq!((ids.len(), notes), (2, vec![ShapeNote::NotJson]));
        // Of equal keys the last counts, and whole numbers have no bounds.
        let text = r#"{"jobs":[],"jobs":[{"id":"a","id":"b","n":1,"n":123456789012345678901}]}"#;
        assert_eq!(read(text), (vec!["b".into()], vec![]));
        let raw = JobsText::new(text.as_bytes())
            .expect("text")
            .raw()
            .expect("jobs");
        assert_eq!(raw.jobs[0]["n"].to_string(), "123456789012345678901");
        assert_eq!(raw.jobs[0].len(), 2);
    }

    #[test]
    fn raw_reading_keeps_what_it_does_not_know() {
        let text = "{\n  \"jobs\": [\n    {\n      \"id\": \"a\",\n      \"new\": 1.50,\n      \
                    \"big\": 123456789012345678901234567890,\n      \"none\": [],\n      \
                    \"empty\": {},\n      \"text\": \"ä\u{7f}\\u0001\\n\\\"\\\\/\"\n    }\n  ],\n  \
                    \"updated_at\": \"u\",\n  \"ours\": {\n    \"a\": -0.0\n  }\n}";
        let source = JobsText::new(text.as_bytes()).expect("text");
        let read = source.raw().expect("jobs");
        let updated = read.updated_at.clone().unwrap_or_default();
        let texts = source.list().expect("texts");
        assert_eq!(written(&texts, &updated), text);
        assert_eq!(written(&JobList::of(read), &updated), text);
    }
}
