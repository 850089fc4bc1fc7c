//! What a user sees, through the binary.

mod config;
mod doors;
mod exit;
mod generated;
