//! The doctor: read-only evidence, checks, findings, reports.
