//! The doctor: read-only evidence, checks, findings, reports.

pub mod catalog;
pub mod check;
pub mod evidence;
pub mod finding;
pub mod gather;
