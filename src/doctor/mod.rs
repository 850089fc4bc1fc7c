//! The doctor: read-only evidence, checks, findings, reports.
//!
//! [`run`] is the driver: it looks at other processes, confines itself, reads buses and homes, lets
//! the checks judge, and assembles the report, all within one deadline. Everything from the checks on
//! is pure: the checks read the evidence and nothing else, the report is plain data, and the
//! renderers know nothing of checks.

pub mod catalog;
pub mod check;
pub mod confine;
pub mod evidence;
pub mod explain;
pub mod finding;
pub mod gather;
pub mod human;
pub mod json;
pub mod plain;
pub mod report;
pub mod run;
#[cfg(test)]
mod sample;
pub mod verdict;
