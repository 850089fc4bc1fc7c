//! Every code that a finding can have, with its explanation compiled in. Codes are never reused.
//!
//! 1xx host; 2xx session bus, linger, runtime directory; 3xx service and policy; 4xx scheduler; 5xx
//! jobs; 6xx ledger; 7xx loops, heartbeats, sessions; 8xx stores; 9xx configuration.

mod config;
mod descriptors;
mod host;
mod jobs;
mod ledger;
mod runtime_dir;
mod scheduler;
mod service;
mod session_bus;
mod sessions;
mod stores;
mod unit;

use super::finding::Severity;

/// What is always true of a code.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// `HM` and three digits.
    pub code: &'static str,
    /// A short name, stable like the code: `session-bus-mute`.
    pub slug: &'static str,
    /// How much it matters, unless a finding says otherwise.
    pub severity: Severity,
    /// One line: what it says.
    pub title: &'static str,
    /// Why it happens, what it does, how to mend it: paragraphs of plain text, wrapped when printed.
    /// Lines that start with two spaces are commands or quotations and are never wrapped.
    pub explanation: &'static str,
    /// What makes it go away.
    pub cleared_by: ClearedBy,
}

/// What makes a finding go away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClearedBy {
    /// One of its remedies.
    Remedy,
    /// A decision: its remedies show what there is to decide on.
    Person,
    /// The next good run: it tells of the past.
    GoodRun,
    /// Something outside of this host's reach: it states a limit.
    Nothing,
}

/// The catalogue, by group, in the order of the codes.
const GROUPS: &[&[Entry]] = &[
    host::ENTRIES,
    session_bus::ENTRIES,
    runtime_dir::ENTRIES,
    service::PROCESS,
    unit::ENTRIES,
    service::LAUNCHES,
    service::POLICY,
    scheduler::ENTRIES,
    descriptors::ENTRIES,
    jobs::ENTRIES,
    ledger::ENTRIES,
    sessions::ENTRIES,
    stores::ENTRIES,
    config::ENTRIES,
];

/// All entries, in the order of their codes.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    GROUPS.iter().copied().flatten()
}

/// The entry of a code or a slug, whatever the case.
#[must_use]
pub fn find(code_or_slug: &str) -> Option<&'static Entry> {
    all().find(|entry| {
        entry.code.eq_ignore_ascii_case(code_or_slug)
            || entry.slug.eq_ignore_ascii_case(code_or_slug)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B142: scripts and documents name codes, slugs and checks; none of them is ever renamed or reused.
    /// New ones may come, and are accepted here.
    #[test]
    fn b142_names_are_the_same_over_releases() {
        let codes = all().map(|entry| format!("{} {}", entry.code, entry.slug));
        let checks = crate::doctor::check::all();
        let checks = checks.map(|check| format!("{} {}", check.group.name(), check.id));
        let names: Vec<_> = codes.chain(checks).collect();
        insta::assert_snapshot!("names", names.join("\n"));
    }

    /// What a field case calls critical is an error, and ends the doctor with 2.
    #[test]
    fn b02_b37_b53_b60_b74_b82_what_is_critical_is_an_error() {
        for code in ["HM403", "HM502", "HM505", "HM601", "HM612", "HM805"] {
            assert_eq!(find(code).unwrap().severity, Severity::Error, "{code}");
        }
    }

    #[test]
    fn codes_and_slugs_are_unique_and_in_order() {
        let codes: Vec<_> = all().map(|entry| entry.code).collect();
        assert!(codes.is_sorted(), "{codes:?}");
        let mut names: Vec<_> = all().flat_map(|entry| [entry.code, entry.slug]).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
