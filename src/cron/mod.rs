//! Cron jobs: what they are, when they fire, and what is due.
//!
//! The pure heart, for the ticker, the commands and the doctor alike; `now` and the zone are always
//! arguments:
//!
//! - [`schedule::Schedule`]: `parse` a text, `from_json` what a store holds.
//! - [`next::next_fire`], [`next::next_in_cadence`], [`next::occurrences_between`], [`next::on_lattice`].
//! - [`lateness::cadence`], [`lateness::grace`], [`lateness::Lateness`].
//! - [`jobs_text::JobsText`]: `new(bytes)`, then `typed()` views for judging or `raw()` objects for
//!   writing, each with notes on the shape, or an error with line and column.
//! - [`job::Job`]: one job; its methods say what the stored values mean, `oddities` what is wrong.
//! - [`due::due`]: raw jobs at an instant to orders and changes; [`due::wakes_at`]: when to look again,
//!   which the agenda of a ticker keeps of each job.
//! - [`witness_store::StoreWitness`]: what the scan asks of the ledger and the host; the only I/O here.
//! - [`words::say`], [`warning::warnings`]: a schedule for people.
//! - [`zone::Zone`]: the zone of a home and who said so; [`zone_probe`] notices that it changes.
//! - [`stamp::Stamp`]: instants as the stores write them.

mod agenda;
mod burst;
pub mod catch_up;
pub mod claim;
pub mod delivery;
pub mod dispatcher;
pub mod due;
mod due_dispatch;
mod due_forward;
mod due_pass;
mod due_repair;
mod due_steps;
mod due_wakes;
pub mod duration;
pub mod edit;
pub mod edit_probe;
pub mod edit_terms;
pub mod edit_words;
pub mod expr;
mod fate;
pub mod field;
pub mod finish;
pub mod fire_lock;
pub mod foresee;
pub mod job;
pub mod job_id;
pub mod job_list;
pub mod jobs_file;
mod jobs_group;
pub mod jobs_lock;
mod jobs_shape;
pub mod jobs_text;
mod known_probe;
pub mod lateness;
pub mod left_slots;
pub mod loose;
pub mod markers;
pub mod markers_file;
pub mod natural;
pub mod needs;
pub mod next;
pub mod other_clock;
pub mod output;
pub mod output_time_file;
mod own_corner;
mod owner_probe;
pub mod pass_probe;
mod python_json;
pub mod redact;
pub mod refusal;
pub mod run;
mod scan;
mod scan_driver;
pub mod schedule;
pub mod stamp;
pub mod stop;
pub mod stop_file;
pub mod stop_run;
pub mod task;
pub mod text;
pub mod tick_ends;
pub mod ticker;
mod unrun;
pub mod view;
pub mod view_firing;
pub mod view_foreseen;
pub mod view_log_file;
pub mod view_probe;
pub mod wanted_run;
pub mod warning;
pub mod witness_store;
pub mod words;
pub mod worker;
pub mod zone;
pub mod zone_probe;

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod odd_jobs;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod scan_seasons;
#[cfg(test)]
mod seasons;
#[cfg(test)]
mod vectors;
