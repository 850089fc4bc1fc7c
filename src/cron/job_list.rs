//! The jobs of a store as a writer has them: each is the text that it came in until it is changed.
//!
//! A run changes its own job a few times and no other. What is not touched is written back letter by
//! letter, so that a change costs little where there are many jobs, and nothing can get lost in it.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::job::{Job, RawJob};
use super::jobs_text::{Jobs, ShapeNote, to_text};
use super::python_json;
use crate::error::{Kind, Result};

/// The jobs, in order, and what else stands at the top. A copy costs little: it shares the jobs until one
/// of them is changed.
#[derive(Clone, Debug, Default)]
pub struct JobList<'t> {
    entries: Vec<Entry<'t>>,
    rest: Map<String, Value>,
    mended: bool,
    /// How many stand-ins for what is no JSON the jobs held as they were read.
    stand_ins: Option<usize>,
    /// Where the job is that was found last; nothing before it was changed since.
    last: Option<usize>,
}

#[derive(Clone, Debug)]
enum Entry<'t> {
    Text(&'t str),
    Object(Arc<RawJob>),
}

impl Entry<'_> {
    /// The job for changing it; `None` for a text that is none, which reading has ruled out.
    fn object(&mut self) -> Option<&mut RawJob> {
        if let Entry::Text(text) = self {
            *self = Entry::of(serde_json::from_str(text).ok()?);
        }
        match self {
            Entry::Object(job) => Some(Arc::make_mut(job)),
            Entry::Text(_) => None,
        }
    }

    fn of(job: RawJob) -> Self {
        Entry::Object(Arc::new(job))
    }

    fn has_id(job: &RawJob, id: &str) -> bool {
        job.get("id").and_then(Value::as_str) == Some(id)
    }
}

impl From<Vec<RawJob>> for JobList<'_> {
    fn from(jobs: Vec<RawJob>) -> Self {
        Self {
            entries: jobs.into_iter().map(Entry::of).collect(),
            ..Self::default()
        }
    }
}

impl JobList<'_> {
    /// Jobs that were read the long way.
    #[must_use]
    pub(super) fn of(read: Jobs<RawJob>) -> Self {
        let mut list = Self {
            rest: read.rest,
            mended: read.notes.iter().any(ShapeNote::is_put_right),
            ..Self::from(read.jobs)
        };
        if read.notes.contains(&ShapeNote::NotJson) {
            list.stand_ins = Some(python_json::count(&list.text("")));
        }
        list
    }

    /// Whether the shape of the store is put right by writing it.
    #[must_use]
    pub(super) fn is_mended(&self) -> bool {
        self.mended
    }

    /// Whether it holds what is no JSON, which a new text must not be mistaken for.
    #[must_use]
    pub(super) fn is_particular(&self) -> bool {
        self.stand_ins.is_some()
    }

    /// The first job with this id.
    pub fn find(&mut self, id: &str) -> Option<&mut RawJob> {
        let index = self.last.filter(|last| self.is_at(*last, id));
        let index = index.or_else(|| self.place(id))?;
        self.last = Some(index);
        self.entries.get_mut(index)?.object()
    }

    /// Whether a job that was got for changing has this id.
    fn is_at(&self, index: usize, id: &str) -> bool {
        self.got(index).is_some_and(|job| Entry::has_id(job, id))
    }

    /// Where the first job with this id is. Only texts in which the id occurs are read; an id that is
    /// written with escapes is found by reading all.
    fn place(&self, id: &str) -> Option<usize> {
        let literal = to_text(&Value::from(id));
        let reads = |text: &str| {
            serde_json::from_str(text).is_ok_and(|job: RawJob| Entry::has_id(&job, id))
        };
        let plain = self.entries.iter().position(|entry| match entry {
            Entry::Text(text) => text.contains(&literal) && reads(text),
            Entry::Object(job) => Entry::has_id(job, id),
        });
        let escaped = |entry: &Entry<'_>| matches!(entry, Entry::Text(text) if text.contains("\\u") && reads(text));
        plain.or_else(|| self.entries.iter().position(escaped))
    }

    /// The job at a place, for changing it.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut RawJob> {
        self.last = None;
        self.entries.get_mut(index)?.object()
    }

    /// The job at a place, if it was got for changing before.
    #[must_use]
    pub fn got(&self, index: usize) -> Option<&RawJob> {
        match self.entries.get(index)? {
            Entry::Object(job) => Some(job),
            Entry::Text(_) => None,
        }
    }

    /// How many there are.
    #[must_use]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The text of the job at a place, if it was never got for changing.
    #[must_use]
    pub(super) fn text_at(&self, index: usize) -> Option<&str> {
        match self.entries.get(index)? {
            Entry::Text(text) => Some(text),
            Entry::Object(_) => None,
        }
    }

    /// The text of the job at a place as it would be written.
    #[must_use]
    pub(super) fn written_at(&self, index: usize) -> Option<Cow<'_, str>> {
        Some(match self.entries.get(index)? {
            Entry::Text(text) => Cow::Borrowed(text),
            Entry::Object(job) => Cow::Owned(indented(&**job, "    ")),
        })
    }

    /// Looks at the job at a place, without keeping it. `None`: there is none.
    pub(super) fn judge<T>(&self, index: usize, judge: impl FnOnce(&Job<'_>) -> T) -> Option<T> {
        match self.entries.get(index)? {
            Entry::Object(job) => Some(judge(&Job::read(job))),
            Entry::Text(text) => Job::from_text(text).ok()?.map(|job| judge(&job)),
        }
    }

    /// Looks at each job in turn, without keeping it.
    pub fn look(&self, mut at: impl FnMut(usize, &Job<'_>)) {
        for index in 0..self.len() {
            let _not_all_are_jobs = self.judge(index, |job| at(index, job));
        }
    }

    /// Adds a job at the end.
    pub fn push(&mut self, job: RawJob) {
        self.entries.push(Entry::of(job));
    }

    /// Takes the jobs at these places out.
    pub fn remove_at(&mut self, is_removed: impl Fn(usize) -> bool) {
        self.last = None;
        let mut index = 0;
        self.entries.retain(|_| {
            index += 1;
            !is_removed(index - 1)
        });
    }

    /// Takes all jobs with this id out, and says whether there were any.
    pub fn remove(&mut self, id: &str) -> bool {
        self.last = None;
        let mut found = false;
        while let Some(index) = self.place(id) {
            self.entries.remove(index);
            found = true;
        }
        found
    }

    /// The document, as Python's `json.dumps(indent=2, ensure_ascii=False)` writes it: no newline at
    /// the end, numbers in the text they came in. A job that was not touched is as it was.
    ///
    /// # Errors
    /// When a change brought a stand-in of its own: it could not be told from what is kept.
    pub(super) fn written<'l>(&'l self, updated_at: &'l str) -> Result<Written<'l>> {
        let Some(held) = self.stand_ins else {
            return Ok(Written::Piecewise(self, updated_at));
        };
        let text = self.text(updated_at);
        if python_json::count(&text) <= held {
            return Ok(Written::Whole(python_json::restore(&text)));
        }
        Err(crate::error::Error::new(
            Kind::Refused,
            "the new text holds a character or number that stands for something else in this store",
        )
        .with_hint("characters from U+10F800 on cannot be kept beside halves of surrogate pairs"))
    }

    fn text(&self, updated_at: &str) -> String {
        let mut text = String::new();
        let Ok(()) = self.put(
            updated_at,
            &mut |piece| -> std::result::Result<(), Infallible> {
                text.push_str(piece);
                Ok(())
            },
        );
        text
    }

    /// Puts the document out piece by piece: there may be more of it than one wants to have twice.
    fn put<E>(
        &self,
        updated_at: &str,
        out: &mut impl FnMut(&str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        out("{\n  \"jobs\": [")?;
        let mut before = "\n    ";
        for entry in &self.entries {
            out(before)?;
            match entry {
                Entry::Text(job) => out(job)?,
                Entry::Object(job) => out(&indented(&**job, "    "))?,
            }
            before = ",\n    ";
        }
        out(if self.entries.is_empty() {
            "]"
        } else {
            "\n  ]"
        })?;
        let stamp = Value::from(updated_at);
        let rest = self.rest.iter().map(|(key, value)| (key.as_str(), value));
        for (key, value) in std::iter::once(("updated_at", &stamp)).chain(rest) {
            let key = to_text(&Value::from(key));
            out(&format!(",\n  {key}: {}", indented(value, "  ")))?;
        }
        out("\n}")
    }
}

/// A document that is to be written.
pub(super) enum Written<'l> {
    /// The jobs, and when they are written.
    Piecewise(&'l JobList<'l>, &'l str),
    /// With what is no JSON put back.
    Whole(String),
}

/// So much is handed on at a time.
const PIECE: usize = 256 << 10;

impl Written<'_> {
    /// Writes it.
    ///
    /// # Errors
    /// Those of what it is written to.
    pub(super) fn to(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Whole(text) => out.write_all(text.as_bytes()),
            Self::Piecewise(jobs, updated_at) => {
                let mut out = BufWriter::with_capacity(PIECE, out);
                jobs.put(updated_at, &mut |piece| out.write_all(piece.as_bytes()))?;
                out.flush()
            }
        }
    }
}

/// A value as it stands inside something; strings hold no raw newline.
fn indented(value: &impl serde::Serialize, indent: &str) -> String {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    pretty.replace('\n', &format!("\n{indent}"))
}

impl<'de> Deserialize<'de> for JobList<'de> {
    /// Reads the usual shape, an object with a list of objects. Anything else is an error here, and is
    /// read the long way.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(ListVisitor)
    }
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = JobList<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a list of jobs")
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut object: A,
    ) -> std::result::Result<JobList<'de>, A::Error> {
        let (mut jobs, mut rest) = (None, Map::new());
        while let Some(key) = object.next_key::<String>()? {
            match key.as_str() {
                "jobs" => jobs = Some(object.next_value::<Vec<&RawValue>>()?),
                "updated_at" => drop(object.next_value::<Value>()?),
                _ => drop(rest.insert(key, object.next_value()?)),
            }
        }
        let jobs = jobs.ok_or_else(|| A::Error::custom("there are no jobs"))?;
        let texts = jobs.into_iter().map(RawValue::get);
        let entries = texts.map(|text| text.starts_with('{').then_some(Entry::Text(text)));
        Ok(JobList {
            entries: entries
                .collect::<Option<_>>()
                .ok_or_else(|| A::Error::custom("not all are objects"))?,
            rest,
            ..JobList::default()
        })
    }
}

#[cfg(test)]
pub(super) mod tests;
