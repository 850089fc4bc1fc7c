//! Descriptors of the dispatcher: HM481.

use super::{ClearedBy, Entry, Severity};

/// Entries of descriptors.
pub(super) const ENTRIES: &[Entry] = &[Entry {
    code: "HM481",
    slug: "descriptors-low",
    severity: Severity::Warning,
    title: "The dispatcher runs out of descriptors",
    explanation: "\
Every open file, socket and database takes a descriptor, and a process may have only so many. This one \
has used more than four fifths of them, or holds one database open ten times and more, which is how a \
leak begins. At the limit databases cannot be opened and connections fail: jobs then end with errors \
that look like the network's or the provider's fault.

A restart gives all of them back. If the number grows again within days, it leaks; report it with the \
files that the evidence names.",
    cleared_by: ClearedBy::Remedy,
}];
