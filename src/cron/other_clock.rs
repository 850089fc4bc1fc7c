//! A slot that lies ahead and was planned by the clock of another zone: the zone was changed since, or
//! somebody with another one wrote it. What takes its place here. Pure.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::job::Job;
use super::next::{self, Fire};
use super::schedule::Schedule;
use super::stamp::{Stamp, first_offset};

/// The next slot by the clock of this zone, where the one that stands there is of another's.
///
/// Of a cron schedule alone, and only where the wall clock as written is one of its times: what somebody
/// planned by hand, or a provider's window or ladder did, stays.
#[must_use]
pub fn planned_anew(job: &Job<'_>, now: Timestamp, zone: &TimeZone) -> Option<Fire> {
    if job.kind() != Some("cron") {
        return None;
    }
    let stamp = job.next_run_at.text().and_then(Stamp::parse)?;
    // First what costs least: hardly any slot is of another zone.
    if is_of(zone, stamp) || job.is_manual() {
        return None;
    }
    let schedule = job.schedule().ok()?;
    let held = matches!(&schedule, Schedule::Cron { expr, .. } if is_of_a_provider(job, expr));
    if held {
        return None;
    }
    anew(&schedule, stamp, now, zone)
}

/// Whether a provider's window or ladder planned the next slot, under the expression that still holds: the
/// texts are equal.
pub(super) fn is_of_a_provider(job: &Job<'_>, expr: &str) -> bool {
    let Some(stored) = job.next_run_at.text() else {
        return false;
    };
    let retry = |key| job.unreachable_retry.get(key).and_then(Value::as_str);
    let ladder = retry("at") == Some(stored) && retry("expr") == Some(expr);
    let hold = job.quota_hold_until.text() == Some(stored)
        && job.quota_hold_cron_expr.text() == Some(expr);
    ladder || hold
}

/// The slot that takes the place of the one that stands there, where nobody planned that by hand.
#[must_use]
pub fn anew(schedule: &Schedule, stamp: Stamp, now: Timestamp, zone: &TimeZone) -> Option<Fire> {
    let Schedule::Cron { cron, .. } = schedule else {
        return None;
    };
    let slot = stamp.instant(zone)?;
    if slot <= now || is_of(zone, stamp) || !cron.matches(stamp.wall()) {
        return None;
    }
    next::next_fire(schedule, now, zone).filter(|fire| fire.instant != slot)
}

/// Whether a zone writes a slot so: one without an offset is nobody's, and a time in a spring gap has the
/// offset before it.
fn is_of(zone: &TimeZone, stamp: Stamp) -> bool {
    let Some((offset, slot)) = stamp.offset().zip(stamp.instant(zone)) else {
        return true;
    };
    offset == zone.to_offset(slot) || offset == first_offset(zone, stamp.wall())
}
