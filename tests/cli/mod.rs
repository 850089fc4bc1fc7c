//! What a user sees, through the binary.

mod doors;
mod exit;
mod generated;
