//! What a user sees, through the binary.

mod config;
mod cron_next;
mod cron_run;
mod cron_tick;
mod doctor;
mod doctor_hosts;
mod doctor_readonly;
mod doctor_stores;
mod doors;
mod exit;
mod explain;
mod generated;
mod session;
mod timers;
