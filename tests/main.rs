//! The one integration binary: what a user sees, the plan of the house, the other program, and the rig.

#![expect(
    clippy::expect_used,
    reason = "a test that cannot go on says what it needed"
)]

mod cases;
mod cli;
mod common;
mod house;
mod other;
mod rig;
