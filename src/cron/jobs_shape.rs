//! The shapes that a store of jobs may have at its top.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::job::{Job, NUMBER_KEY};
use super::jobs_text::{ErrorKind, Jobs, JobsTextError, ShapeNote};
use super::loose::Loose;

/// What a job is read into.
pub(super) trait Entry<'de>: Sized {
    /// `None` where the object is a number in disguise.
    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error>;
    /// Gives the job the key that it stands under, unless it names an id of its own.
    fn name_by(&mut self, key: &str);
    /// Whether keys at the top that are not ours are wanted.
    const KEEPS_REST: bool;
}

impl<'de> Entry<'de> for Job<'de> {
    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        Job::from_map(object)
    }

    fn name_by(&mut self, key: &str) {
        if !self.id.is_true() {
            self.id = Loose::Text(key.to_owned().into());
        }
    }

    const KEEPS_REST: bool = false;
}

/// Something of one's own that is kept of each job, made as it is read: ten thousand views at once
/// would cost more than their text.
pub trait Kept: for<'a> From<Job<'a>> {
    /// Gives it the key that it stands under, unless it has an id of its own.
    fn name_by(&mut self, key: &str);
}

/// Reads a job and keeps of it what `T` keeps.
pub(super) struct Via<T>(pub(super) T);

impl<'de, T: Kept> Entry<'de> for Via<T> {
    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        Ok(Job::from_map(object)?.map(|job| Self(T::from(job))))
    }

    fn name_by(&mut self, key: &str) {
        self.0.name_by(key);
    }

    const KEEPS_REST: bool = false;
}

impl<'de> Entry<'de> for Map<String, Value> {
    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        Ok(
            match Value::deserialize(MapAccessDeserializer::new(object))? {
                Value::Object(object) => Some(object),
                _ => None,
            },
        )
    }

    fn name_by(&mut self, key: &str) {
        let named = self
            .get("id")
            .and_then(Value::as_str)
            .is_some_and(|id| !id.is_empty());
        if !named {
            self.insert("id".into(), Value::from(key));
        }
    }

    const KEEPS_REST: bool = true;
}

/// The document.
pub(super) struct Top<J> {
    jobs: Option<List<J>>,
    bare: bool,
    updated_at: Option<String>,
    rest: Map<String, Value>,
}

impl<J> Top<J> {
    /// The jobs, with what was noted so far and what the shape adds.
    pub(super) fn into_jobs(self, mut notes: Vec<ShapeNote>) -> Result<Jobs<J>, JobsTextError> {
        if self.bare {
            notes.push(ShapeNote::BareList);
        }
        let jobs = match self.jobs {
            Some(List::Jobs {
                jobs,
                dropped,
                keyed,
            }) => {
                if keyed {
                    notes.push(ShapeNote::Map);
                }
                if dropped > 0 {
                    notes.push(ShapeNote::Dropped(dropped));
                }
                jobs
            }
            Some(List::Wrong(found)) => {
                let what = format!("`jobs` is {found}, not a list");
                return Err(JobsTextError {
                    kind: ErrorKind::Shape,
                    what,
                    line: 1,
                    column: 1,
                });
            }
            Some(List::Null) | None => {
                notes.push(ShapeNote::NoJobs);
                Vec::new()
            }
        };
        Ok(Jobs {
            jobs,
            updated_at: self.updated_at,
            notes,
            rest: self.rest,
        })
    }
}

impl<'de, J: Entry<'de>> Deserialize<'de> for Top<J> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TopVisitor(PhantomData))
    }
}

struct TopVisitor<J>(PhantomData<J>);

impl<'de, J: Entry<'de>> Visitor<'de> for TopVisitor<J> {
    type Value = Top<J>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `jobs`, or a list of jobs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Top<J>, A::Error> {
        let jobs = ListVisitor(PhantomData).visit_seq(list)?;
        Ok(Top {
            jobs: Some(jobs),
            bare: true,
            updated_at: None,
            rest: Map::new(),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Top<J>, A::Error> {
        let mut top = Top {
            jobs: None,
            bare: false,
            updated_at: None,
            rest: Map::new(),
        };
        while let Some(key) = object.next_key::<String>()? {
            match key.as_str() {
                NUMBER_KEY => {
                    let number = serde::de::Unexpected::Other("number");
                    return Err(serde::de::Error::invalid_type(
                        number,
                        &TopVisitor::<J>(PhantomData),
                    ));
                }
                "jobs" => top.jobs = Some(object.next_value()?),
                "updated_at" => {
                    top.updated_at = object.next_value::<Loose<'de>>()?.text().map(str::to_owned);
                }
                _ if J::KEEPS_REST => {
                    let value = object.next_value::<Value>()?;
                    top.rest.insert(key, value);
                }
                _ => {
                    object.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(top)
    }
}

/// The value of `jobs`.
enum List<J> {
    Jobs {
        jobs: Vec<J>,
        dropped: usize,
        keyed: bool,
    },
    Null,
    Wrong(&'static str),
}

impl<'de, J: Entry<'de>> Deserialize<'de> for List<J> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

struct ListVisitor<J>(PhantomData<J>);

impl<'de, J: Entry<'de>> Visitor<'de> for ListVisitor<J> {
    type Value = List<J>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of jobs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<List<J>, A::Error> {
        let (mut jobs, mut dropped) = (Vec::new(), 0);
        while let Some(slot) = list.next_element::<Slot<J>>()? {
            match slot {
                Slot::Job(job) => jobs.push(job),
                Slot::Scalar(_) => dropped += 1,
            }
        }
        Ok(List::Jobs {
            jobs,
            dropped,
            keyed: false,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<List<J>, A::Error> {
        let (mut jobs, mut dropped) = (Vec::new(), 0);
        while let Some(key) = object.next_key::<String>()? {
            if key == NUMBER_KEY {
                object.next_value::<IgnoredAny>()?;
                return Ok(List::Wrong("a number"));
            }
            match object.next_value::<Slot<J>>()? {
                Slot::Job(mut job) => {
                    job.name_by(&key);
                    jobs.push(job);
                }
                Slot::Scalar(_) => dropped += 1,
            }
        }
        Ok(List::Jobs {
            jobs,
            dropped,
            keyed: true,
        })
    }

    fn visit_unit<E>(self) -> Result<List<J>, E> {
        Ok(List::Null)
    }

    fn visit_str<E>(self, _: &str) -> Result<List<J>, E> {
        Ok(List::Wrong("text"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<List<J>, E> {
        Ok(List::Wrong("a number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<List<J>, E> {
        Ok(List::Wrong("a number"))
    }

    fn visit_bool<E>(self, _: bool) -> Result<List<J>, E> {
        Ok(List::Wrong("a boolean"))
    }
}

/// One entry of the list.
enum Slot<J> {
    Job(J),
    Scalar(PhantomData<J>),
}

impl<'de, J: Entry<'de>> Deserialize<'de> for Slot<J> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SlotVisitor(PhantomData))
    }
}

struct SlotVisitor<J>(PhantomData<J>);

impl<'de, J: Entry<'de>> Visitor<'de> for SlotVisitor<J> {
    type Value = Slot<J>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a job")
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Slot<J>, A::Error> {
        Ok(J::from_object(object)?.map_or(Slot::Scalar(PhantomData), Slot::Job))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Slot<J>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Slot::Scalar(PhantomData))
    }

    fn visit_unit<E>(self) -> Result<Slot<J>, E> {
        Ok(Slot::Scalar(PhantomData))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Slot<J>, E> {
        Ok(Slot::Scalar(PhantomData))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Slot<J>, E> {
        Ok(Slot::Scalar(PhantomData))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Slot<J>, E> {
        Ok(Slot::Scalar(PhantomData))
    }

    fn visit_str<E>(self, _: &str) -> Result<Slot<J>, E> {
        Ok(Slot::Scalar(PhantomData))
    }
}
