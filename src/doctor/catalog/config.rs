//! 9xx: the configuration.

use super::ClearedBy::Remedy;
use super::Entry;
use crate::doctor::finding::Severity::{Error, Warning};

/// The entries, in the order of their codes.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: "HM901",
        slug: "config-unreadable",
        severity: Error,
        title: "a file of the configuration cannot be read",
        explanation: "The file is there and cannot be read, or is no YAML or TOML from the place that is named on. \
Nothing of it counts: every setting in it has its default, the time zone among them. Programs differ in what they \
do then; some start with the defaults and say nothing.\n\n\
'hermes config check' shows what is wrong, 'hermes config show' what is in force and where it comes from.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM902",
        slug: "config-setting",
        severity: Warning,
        title: "a setting is unknown or of the wrong type",
        explanation: "A name that nobody knows sets nothing, and a value of the wrong type counts as not written. \
File and line are named, and the known name that is nearest. Settings of ours belong into config.toml; in \
config.yaml, which Hermes Agent reads, they would be dropped.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM903",
        slug: "zone-unknown",
        severity: Error,
        title: "the time zone is not known",
        explanation: "The zone of the schedules is set to a name that is in no time zone database, so schedules \
follow the host's zone instead, which may be hours off. Names are those of the IANA database, such as \
Europe/Berlin; abbreviations such as CEST are not names, because they leave out when the clock changes.",
        cleared_by: Remedy,
    },
    Entry {
        code: "HM904",
        slug: "no-agent",
        severity: Error,
        title: "there is no agent to give prompts to",
        explanation: "This program schedules prompts; it gives them to an agent, a program of its own that is named \
in config.toml. None is configured, it is not on the service's PATH, or it is this very binary, which would call \
itself for ever: Hermes Agent has the same name, so name its program by its whole path.\n\n  \
[agent]\n  preset = \"claude\"\n\n\
Try it with:\n\n  \
hermes agent check",
        cleared_by: Remedy,
    },
];
