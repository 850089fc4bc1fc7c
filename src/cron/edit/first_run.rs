//! A job that is armed with a run that somebody asks for, which takes no slot. Pure.

use jiff::Timestamp;

use super::{changed, named, new_schedule, resume};
use crate::clock::iso;
use crate::cron::claim::is_armed;
use crate::cron::finish;
use crate::cron::job::{Job, RawJob};
use crate::cron::next::{Zones, next_in_cadence};
use crate::error::{Error, Kind, Result};

/// Arms a job as [`super::resume`] does, with one run at this instant that takes no slot; the schedule starts after it, so that slots
/// before it are left out.
///
/// # Errors
/// Also when it is a one-shot.
pub fn resume_with_run(
    job: &mut RawJob,
    at: Timestamp,
    (now, zones): (Timestamp, &Zones),
) -> Result<Vec<String>> {
    let before = job.clone();
    {
        let view = Job::read(job);
        if !view.is_recurring() {
            return Err(Error::new(Kind::Refused, "it has one time only")
                .with_hint(new_schedule(&view))
                .with_hint(format!("or run it now: hermes cron run {}", named(&view))));
        }
    }
    let slot = slot_after(job, at, (now, zones))?;
    job.shift_remove("pending_slot");
    finish::ask_for(job, &iso(at, &zones.configured), &slot);
    Ok(changed(&before, job))
}

/// The slot that a recurring job goes on with after a run that is asked for. One that is armed keeps its
/// own; one that is armed now, or whose run is asked for later than that slot, begins behind the run.
fn slot_after(
    job: &mut RawJob,
    at: Timestamp,
    (now, zones): (Timestamp, &Zones),
) -> Result<String> {
    let own = own_slot(job);
    if own.is_none() {
        resume(job, now, zones)?;
    }
    let next = || Job::read(job).next_run_at.text().map(str::to_owned);
    let text = own.or_else(next).unwrap_or_default();
    let slot = zones.instant(&text).unwrap_or(at);
    if slot > at || at <= now {
        return Ok(text);
    }
    let schedule = Job::read(job).schedule();
    let schedule = schedule.map_err(|why| Error::new(Kind::Invalid, why.to_string()))?;
    let later = next_in_cadence(&schedule, slot, at, &zones.configured);
    Ok(later.map_or(text, |fire| fire.stamp.to_string()))
}

/// The slot of a job that is armed: the one that stands, waits for its start, or waits behind a run that
/// was asked for already.
fn own_slot(job: &RawJob) -> Option<String> {
    let view = Job::read(job);
    if !is_armed(&view) {
        return None;
    }
    let waits = view.pending_slot().map(|slot| slot.scheduled_at);
    let behind = finish::set_aside(job);
    let stands = view.next_run_at.text().filter(|_| !view.is_manual());
    waits.or(behind).or(stands).map(str::to_owned)
}
