//! The agenda of a ticker: what stood at each place of the store and when it wakes, so that a pass reads
//! no more than what has changed or woken. Of a job that waits it keeps a print of its text and an
//! instant; the few that are awake without anything happening to them are kept as they are. Pure.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroU64;

use jiff::Timestamp;

use super::due::{self, Scene};
use super::job::{Job, RawJob};
use super::job_list::JobList;

/// What was seen of a text or of an id: equal ones are equal, and nobody can make others equal to them.
type Print = Option<NonZeroU64>;

/// One agenda, of one version of the store.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    key: RandomState,
    places: Vec<Place>,
    wakes: BinaryHeap<Reverse<(Timestamp, usize)>>,
    /// The jobs that are awake.
    awake: BTreeMap<usize, String>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    /// None where it was read without its text.
    text: Print,
    /// None where it has none.
    id: Print,
    /// None is not before its text changes.
    wakes_at: Option<Timestamp>,
}

impl Place {
    fn waits(&self, now: Timestamp) -> bool {
        self.wakes_at.is_none_or(|at| at > now)
    }
}

/// What is known before a look.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    /// The agenda of an earlier look.
    pub(super) agenda: Option<Agenda>,
    /// It is of the very version that is looked at.
    pub(super) is_of_this: bool,
    /// Jobs of which something has changed that no record says.
    pub(super) doubted: Vec<String>,
    /// There will be a look after this one.
    pub(super) is_kept: bool,
}

/// What a pass has seen of a store, and leaves for the next.
#[derive(Debug)]
pub(super) struct Looked<V> {
    pub(super) at: Timestamp,
    /// The version of the store that the agenda is of.
    pub(super) version: V,
    pub(super) agenda: Agenda,
}

impl<V: PartialEq> Looked<V> {
    /// What still says something now: where the clock was set back, nothing does.
    pub(super) fn until(seen: Option<Self>, now: Timestamp) -> Option<Self> {
        seen.filter(|seen| now >= seen.at)
    }

    /// The store is the one that was seen, and no job of it has woken.
    pub(super) fn rests(&self, version: &V, now: Timestamp) -> bool {
        self.version == *version && self.agenda.rests(now)
    }
}

impl Earlier {
    /// What was seen, before a look at this version of the store. `is_kept`: there will be a look after this one.
    pub(super) fn of<V: PartialEq>(
        seen: Option<Looked<V>>,
        version: &V,
        (scene, is_kept): (&Scene<'_>, bool),
    ) -> Self {
        let Some(seen) = seen else {
            return Self {
                is_kept,
                ..Self::default()
            };
        };
        Self {
            is_of_this: seen.version == *version,
            agenda: Some(seen.agenda),
            doubted: scene.witness.done_ahead(scene.now),
            is_kept,
        }
    }
}

/// A look at all jobs.
#[derive(Debug)]
pub(super) struct Look {
    agenda: Agenda,
    /// The heap is to be made.
    is_new: bool,
    is_kept: bool,
    /// Places of the jobs that something may happen to, in order.
    pub(super) awake: Vec<usize>,
    /// Jobs that were read.
    pub(super) judged: u64,
}

impl Agenda {
    /// Whether no job has woken since the agenda was made.
    pub(super) fn rests(&self, now: Timestamp) -> bool {
        let next = self.wakes.peek();
        next.is_none_or(|Reverse((at, _))| *at > now)
    }

    /// Whether there are jobs that must be asked at each pass.
    pub(super) fn has_awake(&self) -> bool {
        !self.awake.is_empty()
    }

    /// Asks the jobs that are awake. `false`: something happens to one of them.
    pub(super) fn stays_so(&mut self, scene: &Scene<'_>) -> bool {
        let read =
            |(index, text): (&usize, &String)| Some((*index, serde_json::from_str(text).ok()?));
        let jobs: Option<Vec<(usize, RawJob)>> = self.awake.iter().map(read).collect();
        let Some(jobs) = jobs else { return false };
        let asked = jobs.iter().map(|(index, job)| (*index, job));
        // A record that needs an id changes, whatever the id is.
        if !due::due(asked, scene, &mut String::new).is_nothing() {
            return false;
        }
        for (index, job) in &jobs {
            let wakes_at = due::wakes_at(&Job::read(job), scene);
            if let Some(place) = self.places.get_mut(*index) {
                place.wakes_at = wakes_at;
                if place.waits(scene.now) {
                    self.awake.remove(index);
                    self.wakes.extend(wakes_at.map(|at| Reverse((at, *index))));
                }
            }
        }
        true
    }

    fn print(&self, text: &str) -> Print {
        NonZeroU64::new(self.key.hash_one(text))
    }

    fn judge(&self, (jobs, index): (&JobList<'_>, usize), scene: &Scene<'_>) -> Place {
        // What cannot be read as a job is none.
        let judged = jobs.judge(index, |job| {
            (
                job.id().and_then(|id| self.print(id)),
                due::wakes_at(job, scene),
            )
        });
        let (id, wakes_at) = judged.unwrap_or_default();
        Place {
            text: None,
            id,
            wakes_at,
        }
    }

    fn heap(&self, now: Timestamp) -> BinaryHeap<Reverse<(Timestamp, usize)>> {
        let places = self.places.iter().enumerate();
        let waiting = places.filter(|(_, place)| place.waits(now));
        waiting
            .filter_map(|(index, place)| Some(Reverse((place.wakes_at?, index))))
            .collect()
    }
}

impl Look {
    /// Looks at the jobs: at those alone that have changed, have woken or are awake.
    pub(super) fn at(jobs: &JobList<'_>, scene: &Scene<'_>, earlier: Earlier) -> Self {
        let size = jobs.len();
        let is_kept = earlier.is_kept;
        match earlier.agenda {
            Some(agenda) if earlier.is_of_this && agenda.places.len() == size => {
                Self::again(agenda, jobs, scene, &earlier.doubted)
            }
            before => Self::anew(before, jobs, scene, (&earlier.doubted, is_kept)),
        }
    }

    /// The same text as before: whoever has woken is read.
    fn again(
        mut agenda: Agenda,
        jobs: &JobList<'_>,
        scene: &Scene<'_>,
        doubted: &[String],
    ) -> Self {
        let mut asked: BTreeSet<usize> = std::mem::take(&mut agenda.awake).into_keys().collect();
        while let Some(Reverse((at, index))) = agenda.wakes.pop() {
            if at > scene.now {
                agenda.wakes.push(Reverse((at, index)));
                break;
            }
            asked.insert(index);
        }
        if !doubted.is_empty() {
            let doubted: HashSet<_> = doubted.iter().map(|id| agenda.print(id)).collect();
            let places = agenda.places.iter().enumerate();
            asked.extend(
                places
                    .filter(|(_, place)| doubted.contains(&place.id))
                    .map(|(at, _)| at),
            );
        }
        let judged = u64::try_from(asked.len()).unwrap_or(u64::MAX);
        let mut awake = Vec::new();
        for index in asked {
            let judged = agenda.judge((jobs, index), scene);
            if let Some(place) = agenda.places.get_mut(index) {
                *place = Place {
                    text: place.text,
                    ..judged
                };
            }
            if judged.waits(scene.now) {
                agenda
                    .wakes
                    .extend(judged.wakes_at.map(|at| Reverse((at, index))));
            } else {
                awake.push(index);
            }
        }
        Self {
            agenda,
            // Of a doubted job that still waits the heap has an instant already.
            is_new: !doubted.is_empty(),
            is_kept: true,
            awake,
            judged,
        }
    }

    /// Another text: what was seen before keeps its instant.
    fn anew(
        before: Option<Agenda>,
        jobs: &JobList<'_>,
        scene: &Scene<'_>,
        (doubted, is_kept): (&[String], bool),
    ) -> Self {
        let (key, seen) =
            before.map_or_else(Default::default, |before| (before.key, before.places));
        let mut agenda = Agenda {
            key,
            places: Vec::with_capacity(jobs.len()),
            wakes: BinaryHeap::new(),
            awake: BTreeMap::new(),
        };
        let doubted: HashSet<_> = doubted.iter().map(|id| agenda.print(id)).collect();
        let mut seen = Seen {
            places: seen,
            next: 0,
            by_text: None,
        };
        let (mut awake, mut judged) = (Vec::new(), 0);
        for index in 0..jobs.len() {
            let text = jobs.text_at(index).filter(|_| is_kept);
            let text = text.and_then(|text| agenda.print(text));
            let known = text.and_then(|text| seen.find(text));
            let known =
                known.filter(|place| place.waits(scene.now) && !doubted.contains(&place.id));
            let place = known.unwrap_or_else(|| {
                judged += 1;
                agenda.judge((jobs, index), scene)
            });
            if !place.waits(scene.now) {
                awake.push(index);
            }
            agenda.places.push(Place { text, ..place });
        }
        Self {
            agenda,
            is_new: true,
            is_kept,
            awake,
            judged,
        }
    }

    /// Places with an id that seems to be that of a job before them.
    pub(super) fn seconds(&self) -> HashSet<usize> {
        let mut ids = HashSet::new();
        let places = self.agenda.places.iter().enumerate();
        let seconds = places.filter(|(_, place)| place.id.is_some_and(|id| !ids.insert(id)));
        seconds.map(|(index, _)| index).collect()
    }

    /// The agenda of the jobs as the scan leaves them, before those that it removes are out. Where they
    /// are written, what was awake stands there as its object is written.
    pub(super) fn settle(
        self,
        jobs: &JobList<'_>,
        removed: &HashSet<usize>,
        (is_written, scene): (bool, &Scene<'_>),
    ) -> Option<Agenda> {
        let Self {
            mut agenda,
            is_new,
            is_kept,
            awake,
            ..
        } = self;
        if !is_kept {
            return None;
        }
        for index in awake.into_iter().filter(|index| !removed.contains(index)) {
            let mut place = agenda.judge((jobs, index), scene);
            place.text = if is_written {
                jobs.written_at(index).and_then(|text| agenda.print(&text))
            } else {
                agenda.places.get(index).and_then(|before| before.text)
            };
            if let Some(before) = agenda.places.get_mut(index) {
                *before = place;
            }
            if !place.waits(scene.now) {
                let job = jobs
                    .got(index)
                    .and_then(|job| serde_json::to_string(job).ok());
                agenda.awake.extend(job.map(|job| (index, job)));
            } else if !is_new {
                agenda
                    .wakes
                    .extend(place.wakes_at.map(|at| Reverse((at, index))));
            }
        }
        if !removed.is_empty() {
            agenda.take_out(removed);
        }
        if is_new || !removed.is_empty() {
            agenda.wakes = agenda.heap(scene.now);
        }
        Some(agenda)
    }
}

impl Agenda {
    /// Those behind what is taken out move up.
    fn take_out(&mut self, removed: &HashSet<usize>) {
        let mut gone: Vec<_> = removed.iter().copied().collect();
        gone.sort_unstable();
        let moved = |index: usize| index - gone.partition_point(|gone| *gone < index);
        let awake = std::mem::take(&mut self.awake).into_iter();
        self.awake = awake.map(|(index, job)| (moved(index), job)).collect();
        let mut index = 0;
        self.places.retain(|_| {
            index += 1;
            !removed.contains(&(index - 1))
        });
    }
}

/// What an earlier look has seen, found again by its text: mostly in the same order.
struct Seen {
    places: Vec<Place>,
    next: usize,
    by_text: Option<HashMap<Print, usize>>,
}

impl Seen {
    fn find(&mut self, text: NonZeroU64) -> Option<Place> {
        let is_it = |place: &&Place| place.text == Some(text);
        if let Some(place) = self.places.get(self.next).filter(is_it) {
            self.next += 1;
            return Some(*place);
        }
        let places = self.places.iter().enumerate();
        let by_text = self
            .by_text
            .get_or_insert_with(|| places.map(|(index, place)| (place.text, index)).collect());
        let Some(&index) = by_text.get(&Some(text)) else {
            // It stands where another stood, mostly.
            self.next += 1;
            return None;
        };
        self.next = index + 1;
        self.places.get(index).copied()
    }
}

#[cfg(test)]
mod tests;
