//! What a user sees, through the binary.

mod agent;
mod config;
mod cron_by_hand;
mod cron_create;
mod cron_edit;
mod cron_list;
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
mod serve;
mod serve_kills;
mod serve_story;
mod serve_verbs;
mod session;
mod stop;
mod timers;
