//! Slots that the schedule names and of which no row tells. Claimed only where the kept ledger proves
//! it: after its oldest kept end, and after the first row that lies on today's schedule.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

use jiff::{SignedDuration, Timestamp};

use super::slots::Slots;
use super::{about, claimed, ended, jobs, quoted};
use crate::cron::lateness;
use crate::cron::next;
use crate::cron::schedule::Schedule;
use crate::doctor::check::homes::{self, Few, each};
use crate::doctor::check::{Check, Group, Outcome};
use crate::doctor::evidence::jobs::{Job, StoredSchedule};
use crate::doctor::evidence::stores::Ledger;
use crate::doctor::evidence::{Evidence, HomeEvidence, Part};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity};
use crate::host::{Gap, GapKind};
use crate::ledger::{Execution, Slot, SlotRange};
use crate::output::human;

/// The check of slots.
pub(in crate::doctor::check) const CHECKS: &[Check] = &[Check {
    id: "ledger-missing",
    group: Group::Ledger,
    title: "every slot since the ledger reaches back has its row",
    codes: &["HM607"],
    reads: &[Part::Config, Part::Zone, Part::Jobs, Part::Ledger],
    run: missing,
}];

/// Slots that are gone through in one home: a minute schedule of a fortnight.
const SLOTS: usize = 20_000;
/// Slots that one pause is counted as, at most.
const MOST_LOST: i64 = 100;
/// Slots that are named.
const NAMED: usize = 5;

fn missing(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        let ledger = homes::ledger(home, outcome);
        let (Some(ledger), Some(store)) = (ledger, homes::jobs(home, outcome)) else {
            return;
        };
        let reach = ledger
            .reach
            .as_ref()
            .and_then(|reach| reach.oldest_end.as_ref()?.at);
        let Some(reach) = reach else {
            return;
        };
        if ledger.cut {
            outcome.could_not("which slots have no row", &too_many("rows of the ledger"));
            return;
        }
        // Slots of a guessed zone are no slots.
        let unread_config = homes::unread_config(home);
        if let Some(gap) = &unread_config {
            let what = "which slots have no row: the zone of the jobs is not known";
            outcome.could_not(what, gap);
        }
        let reach = ledger.slots_cut.map_or(reach, |cut| reach.max(after(cut)));
        let mut on_record = on_record(&ledger.slots_without_row);
        let mut in_ranges = in_ranges(&ledger.slot_ranges);
        let mut schedules = Schedules::new();
        let mut budget = SLOTS;
        let mut found = Few::default();
        for id in jobs(ledger) {
            let Some(job) = store.job(id).filter(|job| job.is_armed()) else {
                continue;
            };
            let known = schedules
                .entry(&job.schedule)
                .or_insert_with(|| understood(&job.schedule));
            let Some((schedule, slots)) = known else {
                continue;
            };
            if unread_config.is_some() && matches!(schedule, Schedule::Cron { .. }) {
                continue;
            }
            let look = Look {
                evidence,
                home,
                job,
                schedule,
                runs: runs(ledger, id),
                on_record: on_record.remove(id).unwrap_or_default(),
                in_ranges: in_ranges.remove(id).unwrap_or_default(),
                reach,
            };
            if let Some((missing, again)) = look.judge(slots, &mut budget) {
                found.add("HM607", || look.told(&missing, again));
            }
        }
        if budget == 0 {
            outcome.could_not("whether all other slots have a row", &too_many("slots"));
        }
        found.tell(outcome, home);
    })
}

/// Stored schedules, each understood once, with the slots that are known of it.
type Schedules<'a> = HashMap<&'a StoredSchedule, Option<(Schedule, Slots)>>;

fn understood(stored: &StoredSchedule) -> Option<(Schedule, Slots)> {
    let schedule = super::super::jobs::understand(stored).ok()?;
    Some((schedule, Slots::none()))
}

fn too_many(what: &str) -> Gap {
    Gap {
        kind: GapKind::Failed,
        why: format!("there are more {what} than are gone through"),
        would_tell: Vec::new(),
    }
}

/// From when on nothing of what was cut off at this slot is.
fn after(cut: Timestamp) -> Timestamp {
    cut.checked_add(SignedDuration::from_secs(1)).unwrap_or(cut)
}

/// A row that was for a slot.
struct Run {
    slot: Timestamp,
    claimed: Option<Timestamp>,
    ended: Option<Timestamp>,
}

/// The rows of a job that were for a slot, the oldest first.
fn runs(ledger: &Ledger, id: &str) -> Vec<Run> {
    let run = |row: &Execution| {
        Some(Run {
            slot: row.scheduled_instant.as_ref()?.at?,
            claimed: claimed(row),
            ended: ended(row),
        })
    };
    let mut runs: Vec<_> = ledger.of(id).filter_map(run).collect();
    runs.sort_by_key(|run| run.slot);
    runs
}

/// Slots that no run was made of, by job, whose record says why: they are not missing.
fn on_record(slots: &[Slot]) -> HashMap<&str, BTreeSet<Timestamp>> {
    let mut on_record = HashMap::<_, BTreeSet<_>>::new();
    for slot in slots {
        let of_job = on_record.entry(slot.job_id.as_str()).or_default();
        of_job.extend(slot.scheduled_at.parse::<Timestamp>());
    }
    on_record
}

/// From when to when one record stands for every slot, by job.
fn in_ranges(ranges: &[SlotRange]) -> HashMap<&str, Vec<RangeInclusive<Timestamp>>> {
    let mut in_ranges = HashMap::<_, Vec<_>>::new();
    for range in ranges {
        if let (Ok(first), Ok(last)) = (range.first_at.parse(), range.last_at.parse()) {
            let of_job = in_ranges.entry(range.job_id.as_str()).or_default();
            of_job.push(first..=last);
        }
    }
    in_ranges
}

struct Look<'a> {
    evidence: &'a Evidence,
    home: &'a HomeEvidence,
    job: &'a Job,
    schedule: &'a Schedule,
    runs: Vec<Run>,
    on_record: BTreeSet<Timestamp>,
    in_ranges: Vec<RangeInclusive<Timestamp>>,
    reach: Timestamp,
}

impl Look<'_> {
    /// The slots that are missing, and whether the job has fired on time since.
    fn judge(&self, slots: &mut Slots, budget: &mut usize) -> Option<(Vec<Timestamp>, bool)> {
        let mut missing = match self.schedule {
            Schedule::Cron { .. } => self.of_expression(slots, budget),
            Schedule::Interval { minutes } if *minutes > 0 => self.of_interval(*minutes),
            _ => return None,
        };
        missing.retain(|at| !self.in_ranges.iter().any(|range| range.contains(at)));
        let last = *missing.last()?;
        let late = |run: &Run| Some(run.claimed?.duration_since(run.slot).as_secs());
        let on_time = |run: &Run| {
            run.slot > last && late(run).is_some_and(|late| late <= lateness::ON_TIME_SECONDS)
        };
        let again = self.runs.iter().any(on_time);
        Some((missing, again))
    }

    /// Up to where a slot must have its row: what is only late is not missing yet, and what waits in
    /// `next_run_at` is overdue, which is told elsewhere.
    fn end(&self) -> Timestamp {
        let zones = &self.home.zone.zones;
        let grace = lateness::grace(self.schedule, self.evidence.now, &zones.configured);
        let grace = SignedDuration::from_secs(grace);
        let end = self
            .evidence
            .now
            .checked_sub(grace)
            .unwrap_or(self.evidence.now);
        let next = self.job.stamps.next_run.as_deref();
        let waiting = next.and_then(|text| zones.instant(text));
        match waiting.and_then(|next| next.checked_sub(SignedDuration::from_secs(1)).ok()) {
            Some(before) if before < end => before,
            _ => end,
        }
    }

    fn of_expression(&self, slots: &mut Slots, budget: &mut usize) -> Vec<Timestamp> {
        let zone = &self.home.zone.zones.configured;
        let on_schedule = |at: &Timestamp| next::on_lattice(self.schedule, *at, zone);
        let Some(first) = self.runs.iter().map(|run| run.slot).find(on_schedule) else {
            return Vec::new();
        };
        let from = first.max(self.reach).max(self.created());
        let pending = self.job.claims.pending_slot.as_deref();
        let pending = pending.and_then(|text| self.home.zone.zones.instant(text));
        let slots = slots.between((self.schedule, zone), (from, self.end()), *budget);
        *budget -= slots.len();
        let lost = |at: &Timestamp| Some(*at) != pending && !self.has_row(*at);
        slots.iter().copied().filter(lost).collect()
    }

    fn created(&self) -> Timestamp {
        let created = self.job.stamps.created.as_deref();
        let created = created.and_then(|text| self.home.zone.zones.instant(text));
        created.unwrap_or(Timestamp::MIN)
    }

    /// Whether a row is for this slot; stamps may be cut to whole seconds. A slot that was stamped on
    /// a run which had ended before it counts as missing.
    fn has_row(&self, at: Timestamp) -> bool {
        let past = |run: &Run| at.duration_since(run.slot).as_secs() > 1;
        let from = self.runs.partition_point(past);
        let near = |run: &&Run| run.slot.duration_since(at).as_secs() <= 1;
        let mut near = self.runs.iter().skip(from).take_while(near);
        let before = |end: Timestamp| at.duration_since(end).as_secs() > 60;
        near.any(|run| !run.ended.is_some_and(before)) || self.on_record.contains(&at)
    }

    /// Intervals count from the end of the run before, or from its slot: only a pause of two whole
    /// intervals proves a missing one.
    fn of_interval(&self, minutes: i64) -> Vec<Timestamp> {
        let step = minutes.saturating_mul(60);
        let mut lost = Vec::new();
        for pair in self.runs.windows(2) {
            let [before, after] = pair else { continue };
            let (Some(end), Some(next)) = (before.ended, after.claimed) else {
                continue;
            };
            let pause = next.duration_since(end).as_secs();
            // An end after the next claim is the mark of a clock that was set back.
            let between = (end <= next).then(|| self.on_record.range(end..=next));
            let told = between.map_or(0, Iterator::count);
            let told = i64::try_from(told).unwrap_or(i64::MAX);
            let missing = (pause / step.max(1) - 1).saturating_sub(told);
            if end < self.reach || missing < 1 {
                continue;
            }
            for count in 1..=missing.min(MOST_LOST) {
                let after = SignedDuration::from_secs(step.saturating_mul(count));
                lost.extend(end.checked_add(after));
            }
        }
        lost
    }

    fn told(&self, lost: &[Timestamp], again: bool) -> Finding {
        let zone = &self.home.zone;
        let shown = |at: &Timestamp| {
            let wall = zone.zones.configured.to_datetime(*at);
            format!("{} {}", wall.strftime("%Y-%m-%d %H:%M"), zone.name)
        };
        let summary = format!(
            "{} has {} without a record{}",
            quoted(self.home, &self.job.id),
            human::count(lost.len(), "occurrence", "occurrences"),
            if again {
                "; it has fired on time since"
            } else {
                ""
            }
        );
        let mut finding = about("HM607", &self.job.id, summary).severity(if again {
            Severity::Info
        } else {
            Severity::Warning
        });
        for at in lost.iter().rev().take(NAMED) {
            finding = finding.seen(Observation::new(
                "schedule",
                self.job.id.clone(),
                format!("{}: no row", shown(at)),
            ));
        }
        for cause in ["HM415", "HM402", "HM403", "HM407", "HM608", "HM513"] {
            finding = finding.because_of(cause);
        }
        finding.remedy(
            Remedy::user(
                homes::on(self.home, ["cron", "run"], (&self.job.id, &[])),
                "runs it once, now; its next good run on time clears this",
            )
            .verify(homes::verify(self.home)),
        )
    }
}
