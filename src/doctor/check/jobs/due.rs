//! When jobs fire next, and whether they can: overdue, never, at the wrong time.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, TimeZone};

use super::{Schedules, about};
use crate::cron::lateness::ONCE_GRACE_SECONDS;
use crate::cron::next;
use crate::cron::other_clock;
use crate::cron::schedule::Schedule;
use crate::cron::stamp::Stamp;
use crate::doctor::check::homes::{self, Few, each};
use crate::doctor::check::scheduler::serving;
use crate::doctor::check::{Check, Group, Outcome};
use crate::doctor::evidence::jobs::Job;
use crate::doctor::evidence::{Evidence, HomeEvidence, Part};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity};
use crate::output::human;

/// The check of next runs.
pub(in crate::doctor::check) const CHECKS: &[Check] = &[Check {
    id: "jobs-due",
    group: Group::Jobs,
    title: "every armed job has a next run, on its schedule and not long past",
    codes: &["HM501", "HM502", "HM503", "HM504", "HM505", "HM515"],
    reads: &[
        Part::Config,
        Part::Zone,
        Part::Jobs,
        Part::Ticker,
        Part::Owners,
    ],
    run: due,
}];

/// How late a next run may be, in seconds: the doctor's grace of Hermes Agent.
const OVERDUE: i64 = 15 * 60;
/// What keeps every job from running, nearest first.
const CAUSES: [&str; 11] = [
    "HM415", "HM402", "HM403", "HM404", "HM405", "HM407", "HM406", "HM805", "HM806", "HM408",
    "HM111",
];

fn due(evidence: &Evidence) -> Outcome {
    let mut outcome = each(evidence, |home, outcome| {
        let Some(store) = homes::jobs(home, outcome) else {
            return;
        };
        let guessed = homes::unread_config(home).or_else(|| home.zone.unknown.clone());
        if let Some(gap) = &guessed {
            let what =
                "whether next runs are on their schedules: the zone of the jobs is not known";
            outcome.could_not(what, gap);
        }
        let mut schedules = Schedules::default();
        let mut found = Few::default();
        let mut waiting = 0;
        for job in store.armed() {
            let Ok(schedule) = schedules.of(job) else {
                continue;
            };
            let look = Look {
                evidence,
                home,
                job,
                schedule,
                zone_known: guessed.is_none(),
            };
            look.judge(&mut found, &mut waiting);
        }
        found.tell(outcome, home);
        catch_up(evidence, home, waiting, outcome);
    });
    if outcome.findings.is_empty() && outcome.not_applicable.is_none() {
        let armed: usize = evidence
            .homes
            .iter()
            .filter_map(|home| home.jobs.got())
            .map(|store| store.armed().count())
            .sum();
        outcome.note = Some(human::count(armed, "armed job", "armed jobs"));
    }
    outcome
}

/// One job, and what it is judged by.
struct Look<'a> {
    evidence: &'a Evidence,
    home: &'a HomeEvidence,
    job: &'a Job,
    schedule: &'a Schedule,
    zone_known: bool,
}

impl Look<'_> {
    fn judge(&self, found: &mut Few, waiting: &mut usize) {
        if let Schedule::Once { at, .. } = self.schedule {
            return self.once(at, found);
        }
        let zones = &self.home.zone.zones;
        let next = self.job.stamps.next_run.as_deref();
        let Some(text) = next.filter(|text| !text.is_empty()) else {
            return found.add("HM502", || self.never("it has no next run"));
        };
        let stamp = Stamp::parse(text);
        let instant = stamp.and_then(|stamp| stamp.instant(&zones.system));
        let (Some(stamp), Some(instant)) = (stamp, instant) else {
            let why = || format!("its next run is '{text}', which is no time");
            return found.add("HM502", || self.never(&why()));
        };
        let late = self.evidence.now.duration_since(instant).as_secs();
        if late > OVERDUE {
            *waiting += 1;
            found.add("HM501", || self.overdue(late));
        } else if !self.is_off_on_purpose(text) {
            self.off_schedule(&stamp, instant, found);
        }
    }

    /// A time that is not the schedule's, and is meant: by hand, by a quota, by a retry.
    fn is_off_on_purpose(&self, text: &str) -> bool {
        let stamps = &self.job.stamps;
        let same = |other: &Option<String>| other.as_deref() == Some(text);
        self.job.is_manual_next() || same(&stamps.quota_hold) || same(&stamps.retry)
    }

    fn next_run(&self) -> Observation {
        let next = self.job.stamps.next_run.as_deref().unwrap_or("null");
        Observation::new("field", format!("{} next_run_at", self.job.id), next)
    }

    fn never(&self, why: &str) -> Finding {
        let finding = about(
            "HM502",
            self.job,
            format!("{} will never fire: {why}", quoted(self.job)),
        );
        let finding = finding.seen(self.next_run()).because_of("HM402");
        self.rearmed(finding)
    }

    /// Pausing and resuming computes a next run anew, in both programs.
    fn rearmed(&self, finding: Finding) -> Finding {
        let home = self.home;
        finding.remedy(
            Remedy::user(
                homes::on(home, ["cron", "resume"], (&self.job.id, &[])),
                "computes its next run anew",
            )
            .verify(homes::verify(home)),
        )
    }

    fn overdue(&self, late: i64) -> Finding {
        let mut finding = about(
            "HM501",
            self.job,
            format!(
                "{} is OVERDUE by {}",
                quoted(self.job),
                human::duration(late)
            ),
        )
        .seen(self.next_run());
        if let Some(beat) = self.home.ticker.heartbeat.got() {
            finding = finding.seen(Observation::new(
                "read",
                self.home.path("cron/ticker_heartbeat"),
                format!("last tick {}", human::relative(beat.at, self.evidence.now)),
            ));
        }
        for cause in CAUSES {
            finding = finding.because_of(cause);
        }
        finding.remedy(
            Remedy::user(
                homes::ours(self.home, ["cron", "tick"]),
                "runs what is due, once each, as a scheduler would",
            )
            .verify(homes::verify(self.home)),
        )
    }

    fn off_schedule(&self, stamp: &Stamp, instant: Timestamp, found: &mut Few) {
        let zone = &self.home.zone.zones.configured;
        match self.schedule {
            Schedule::Interval { minutes } => {
                let ahead = instant.duration_since(self.evidence.now).as_secs();
                let every = minutes.saturating_mul(60);
                if ahead > every.saturating_add(OVERDUE) {
                    let (every, ahead) = (human::duration(every), human::duration(ahead));
                    let why =
                        || format!("it runs every {every}, and its next run is {ahead} ahead");
                    found.add("HM503", || self.off(&why()));
                }
            }
            Schedule::Cron { expr, .. } if self.zone_known => {
                let right = zone.to_offset(instant);
                let stored = stamp.offset();
                if stored.is_some_and(|stored| stored != right) && !in_gap(stamp, zone) {
                    found.add("HM504", || self.wrong_offset(stamp, instant));
                } else if !next::on_lattice(self.schedule, instant, zone) {
                    let wall = zone.to_datetime(instant);
                    let name = &self.home.zone.name;
                    let why = || format!("'{expr}' does not fire at {wall} {name}");
                    found.add("HM503", || self.off(&why()));
                }
            }
            Schedule::Cron { .. } | Schedule::Once { .. } => {}
        }
    }

    fn off(&self, why: &str) -> Finding {
        let finding = about(
            "HM503",
            self.job,
            format!(
                "{} has a next run that is not on its schedule: {why}",
                quoted(self.job)
            ),
        );
        self.rearmed(finding.seen(self.next_run()))
    }

    fn wrong_offset(&self, stamp: &Stamp, instant: Timestamp) -> Finding {
        let zone = &self.home.zone;
        let here = zone.zones.configured.to_datetime(instant);
        let (job, stored, name) = (quoted(self.job), stamp.wall(), &zone.name);
        let now = self.evidence.now;
        let summary = match other_clock::anew(self.schedule, *stamp, now, &zone.zones.configured) {
            Some(next) => format!(
                "{job} has {stored} of another zone, which is {here} {name}; the next pass sets it to {}",
                next.stamp.wall()
            ),
            None => {
                format!("{job} would fire at {here} {name}, though {stored} is what was stored")
            }
        };
        let finding = about("HM504", self.job, summary)
            .seen(self.next_run())
            .seen(Observation::new("zone", &zone.source, &zone.name))
            .because_of("HM414")
            .because_of("HM903");
        self.rearmed(finding)
    }

    fn once(&self, at: &Stamp, found: &mut Few) {
        let zones = &self.home.zone.zones;
        let Some(run_at) = at.instant(&zones.system) else {
            return;
        };
        let late = self.evidence.now.duration_since(run_at).as_secs();
        let claims = &self.job.claims;
        if self.job.stamps.last_run.is_some() || claims.fire.is_some() || claims.run.is_some() {
            return;
        }
        if late > ONCE_GRACE_SECONDS {
            return found.add("HM505", || self.missed(at, late));
        }
        let next = self.job.stamps.next_run.as_deref();
        let stored = next.and_then(|text| zones.instant(text));
        if self.job.is_manual_next() || stored == Some(run_at) {
            return;
        }
        match next {
            None => found.add("HM502", || {
                self.never("it has no next run, though its time is still to come")
            }),
            Some(next) => {
                let why = || format!("it is for {at}, and would fire at {next}");
                found.add("HM503", || self.off(&why()));
            }
        }
    }

    fn missed(&self, at: &Stamp, late: i64) -> Finding {
        let mut finding = about(
            "HM505",
            self.job,
            format!(
                "{} was to run once, {} ago, and is not done",
                quoted(self.job),
                human::duration(late)
            ),
        )
        .seen(Observation::new(
            "field",
            format!("{} run_at", self.job.id),
            at.to_string(),
        ))
        .seen(self.next_run());
        // What was started again and again, or was cut short, is not to be started once more.
        for cause in ["HM612", "HM605"].iter().chain(&CAUSES) {
            finding = finding.because_of(cause);
        }
        let home = self.home;
        finding
            .remedy(
                Remedy::user(
                    homes::on(home, ["cron", "run"], (&self.job.id, &[])),
                    "runs it now, late",
                )
                .verify(homes::verify(home)),
            )
            .remedy(
                Remedy::user(
                    homes::on(home, ["cron", "remove"], (&self.job.id, &["--yes"])),
                    "removes it, if it is too late",
                )
                .verify(homes::verify(home)),
            )
    }
}

/// What a person calls a job, quoted.
fn quoted(job: &Job) -> String {
    super::quoted(job)
}

/// A wall clock that its zone skips: it is stored with the offset before the change, on purpose.
fn in_gap(stamp: &Stamp, zone: &TimeZone) -> bool {
    let offset = zone.to_ambiguous_timestamp(stamp.wall()).offset();
    matches!(offset, AmbiguousOffset::Gap { .. })
}

/// From so many on they are worth a warning before the scheduler is started.
const MANY: usize = 10;

/// What a scheduler would start, if one were started.
fn catch_up(evidence: &Evidence, home: &HomeEvidence, waiting: usize, outcome: &mut Outcome) {
    if waiting == 0 || serving::is_ticked(evidence, home) {
        return;
    }
    let settings = &home.settings().cron;
    let once = settings.catch_up_missed;
    let cap = settings
        .max_catch_ups_per_tick
        .filter(|most| once && *most < waiting);
    let what = match (once, waiting, cap) {
        (true, 1, _) => "would be run at once by the next scheduler".to_owned(),
        (true, _, None) => "would be run once each, at once, by the next scheduler".to_owned(),
        (true, _, Some(most)) => {
            format!("would be run once each by the next hermes serve, {most} in each minute")
        }
        (false, ..) => {
            "would be skipped by the next scheduler, because cron.catch_up_missed is false"
                .to_owned()
        }
    };
    let jobs = human::count(waiting, "overdue job", "overdue jobs");
    let many = once && waiting >= MANY;
    outcome.find(
        Finding::new("HM515", homes::subject(home), format!("{jobs} {what}"))
            .severity(if many {
                Severity::Warning
            } else {
                Severity::Info
            })
            .because_of("HM402")
            .seen(Observation::new(
                "count",
                home.path("cron/jobs.json"),
                jobs.clone(),
            ))
            .seen(Observation::new(
                "setting",
                "cron.max_catch_ups_per_tick",
                settings
                    .max_catch_ups_per_tick
                    .map_or_else(|| "no cap".to_owned(), |most| most.to_string()),
            ))
            .remedy(
                Remedy::user(
                    homes::ours(home, ["cron", "list"]),
                    "shows them; pause what should not run late",
                )
                .verify(homes::verify(home)),
            ),
    );
}

/// The stored schedules of a home, each understood once.
pub(in crate::doctor::check) type Cache<'a> =
    HashMap<&'a crate::doctor::evidence::jobs::StoredSchedule, Result<Schedule, String>>;
