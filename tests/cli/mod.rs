//! What a user sees, through the binary.

mod exit;
