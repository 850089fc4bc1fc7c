//! What the words of a launch that failed mean: systemd's own, and those of its tools. Each known one
//! has its own meaning; an unknown one is quoted, and no meaning is given to it. Pure.

use super::redact::redacted;
use super::{Check, Group, Outcome, homes};
use crate::doctor::evidence::stores::Ledger;
use crate::doctor::evidence::{Evidence, HomeEvidence, Part};
use crate::doctor::finding::{Finding, Observation};
use crate::ledger::{Execution, Status};

/// The check of launches that failed.
pub(super) const CHECKS: &[Check] = &[Check {
    id: "service-launches",
    group: Group::Service,
    title: "what systemd said to launches that failed",
    codes: &["HM331", "HM332"],
    reads: &[Part::SessionBus, Part::Ledger],
    run: launches,
}];

/// What a failed launch says is in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Meaning {
    /// This systemd does not know a property: its name.
    Property(String),
    /// Something between the dispatcher and its manager, and the codes of findings that say what.
    Way {
        /// In plain words.
        words: &'static str,
        /// Codes of what is behind it, the likeliest first.
        causes: &'static [&'static str],
    },
}

/// Words of systemd 245 to 257 and of its tools, and what they mean. The first that matches counts,
/// so what is more particular comes first.
const KNOWN: &[(&str, &str, &[&str])] = &[
    (
        "not defined (consider using --machine",
        "the environment names neither runtime directory nor bus",
        &["HM245", "HM221"],
    ),
    (
        "No medium found",
        "the environment names neither runtime directory nor bus",
        &["HM245", "HM221"],
    ),
    (
        "Address family not supported by protocol",
        "the unit forbids Unix sockets",
        &["HM308"],
    ),
    (
        "Interactive authentication required",
        "the system manager was asked by somebody who is not root",
        &["HM245", "HM221"],
    ),
    (
        "Job failed. See",
        "the user manager could not move the process: it asks PID 1 over the system bus",
        &["HM208", "HM103", "HM104"],
    ),
    (
        "Transport endpoint is not connected",
        "the user manager did not answer",
        &["HM204"],
    ),
    (
        "has not been booted with systemd",
        "there is no systemd here",
        &["HM101", "HM102"],
    ),
    (
        "Host is down",
        "there is no systemd here",
        &["HM101", "HM102"],
    ),
];

/// The same for what follows a failed connection: the words alone occur in other errors too.
const CONNECT: &[(&str, &str, &[&str])] = &[
    (
        "No such file or directory",
        "there is no socket of a user manager",
        &["HM221", "HM202", "HM201", "HM307", "HM101"],
    ),
    (
        "Connection refused",
        "the sockets of the user manager are stale",
        &["HM203"],
    ),
    (
        "Permission denied",
        "the sockets of the user manager may not be used",
        &["HM307", "HM241", "HM207"],
    ),
    (
        "Operation not permitted",
        "the sockets of the user manager may not be used",
        &["HM307", "HM241", "HM246", "HM207", "HM319"],
    ),
];

fn meaning(text: &str) -> Option<Meaning> {
    if let Some(property) = rejected_property(text) {
        return Some(Meaning::Property(property));
    }
    let way = |(_, words, causes): &(&str, &'static str, &'static [&'static str])| Meaning::Way {
        words,
        causes,
    };
    let matches =
        |(known, _, _): &&(&str, &'static str, &'static [&'static str])| text.contains(*known);
    if let Some(known) = KNOWN.iter().find(matches) {
        return Some(way(known));
    }
    let connecting = text.contains("Failed to connect to bus")
        || text.contains("Failed to connect to user scope bus");
    if connecting {
        return CONNECT.iter().find(matches).map(way);
    }
    // The tool itself, and not the bus, is what was not found.
    let tool = text.contains("systemd-run") || text.contains("systemctl");
    let absent = text.contains("No such file or directory") || text.contains("not found");
    (tool && absent).then_some(Meaning::Way {
        words: "systemd-run is not on the dispatcher's PATH",
        causes: &["HM317"],
    })
}

/// `Unknown assignment: OOMPolicy=kill`, as systemd-run says it.
fn rejected_property(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("Unknown assignment: ")?;
    let word = rest.split_whitespace().next()?;
    let name = word.split('=').next()?.trim_matches(['"', '\'', ',']);
    (!name.is_empty()).then(|| name.to_owned())
}

fn launches(evidence: &Evidence) -> Outcome {
    homes::each(evidence, |home, outcome| {
        let ledger = homes::ledger(home, outcome);
        let finding = ledger.and_then(|ledger| last_launch(evidence, home, ledger));
        outcome.findings.extend(finding);
    })
}

/// A row that failed before anything ran.
fn never_launched(row: &Execution) -> bool {
    row.status == Status::Failed && row.started_at.is_none()
}

/// The newest row that has ended says how launches go now; older ones are the past.
fn last_launch(evidence: &Evidence, home: &HomeEvidence, ledger: &Ledger) -> Option<Finding> {
    let last = ledger.rows().find(|row| {
        !matches!(row.status, Status::Claimed | Status::Running) && row.finished_at.is_some()
    })?;
    if !never_launched(last) {
        return None;
    }
    let text = redacted(last.error.as_deref().unwrap_or_default());
    let quoted = Observation::new(
        "row",
        format!("executions of {}, {}", home.label(), last.id),
        text.clone(),
    );
    let finding = match meaning(last.error.as_deref().unwrap_or_default()) {
        None => unknown(home, &text),
        Some(Meaning::Property(property)) => {
            let door = evidence.facts.session_bus.answering();
            let version = door
                .and_then(|door| door.manager.as_ref())
                .map_or("this version", |manager| manager.version.as_str());
            let summary = format!(
                "jobs do not launch: systemd ({version}) does not know the property {property} \
                 that the dispatcher asks for"
            );
            Finding::new("HM331", homes::subject(home), summary)
        }
        Some(Meaning::Way { words, causes }) => {
            let summary = format!("the last job did not launch: {words}");
            let finding = Finding::new("HM332", homes::subject(home), summary);
            causes
                .iter()
                .fold(finding, |finding, cause| finding.because_of(cause))
        }
    };
    Some(finding.seen(quoted))
}

/// So much of words that nobody knows stands in the summary, in characters; the evidence has them whole.
const QUOTED: usize = 2_000;

/// Words that mean nothing here are told as they are: a person may know them.
fn unknown(home: &HomeEvidence, text: &str) -> Finding {
    let words = text.trim();
    let summary = if words.is_empty() {
        "the last job did not launch, and no reason was recorded".to_owned()
    } else {
        let end = words.char_indices().nth(QUOTED).map(|(end, _)| end);
        let (shown, more) = match end.and_then(|end| words.get(..end)) {
            Some(start) => (start, "…"),
            None => (words, ""),
        };
        format!("the last job did not launch: '{shown}{more}'")
    };
    // A policy that lets nothing run says so in words of its own.
    Finding::new("HM332", homes::subject(home), summary)
        .because_of("HM304")
        .because_of("HM302")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn causes(text: &str) -> Option<&'static [&'static str]> {
        match meaning(text)? {
            Meaning::Way { causes, .. } => Some(causes),
            Meaning::Property(_) => None,
        }
    }

    #[test]
    fn b01_b25_a_rejected_property_is_named() {
        let text = "systemd-run: Unknown assignment: OOMPolicy=kill";
        assert_eq!(
            meaning(text),
            Some(Meaning::Property("OOMPolicy".to_owned()))
        );
        let text = "Unknown assignment: DynamicUser=yes\n";
        assert_eq!(
            meaning(text),
            Some(Meaning::Property("DynamicUser".to_owned()))
        );
    }

    #[test]
    fn b18_a_missing_bus_is_no_missing_tool() {
        let bus = causes("Failed to connect to bus: No such file or directory").unwrap();
        assert!(bus.contains(&"HM201"));
        let local =
            "Failed to connect to user scope bus via local transport: No such file or directory";
        assert_eq!(causes(local), Some(bus));
        let tool = causes("[Errno 2] No such file or directory: 'systemd-run'");
        assert_eq!(tool, Some(&["HM317"][..]));
        assert_eq!(causes("systemctl: command not found"), Some(&["HM317"][..]));
    }

    #[test]
    fn each_known_text_has_its_own_meaning() {
        let first = |text: &str| causes(text).map(|causes| causes[0]);
        let unset = "Failed to connect to bus: No medium found";
        assert_eq!(first(unset), Some("HM245"));
        let newer = "Failed to connect to user scope bus via local transport: \
                     $DBUS_SESSION_BUS_ADDRESS and $XDG_RUNTIME_DIR not defined (consider using \
                     --machine=<user>@.host --user to connect to bus of other user)";
        assert_eq!(first(newer), Some("HM245"));
        assert_eq!(
            first("Failed to connect to bus: Connection refused"),
            Some("HM203")
        );
        assert_eq!(
            first("Failed to connect to bus: Permission denied"),
            Some("HM307")
        );
        let family = "Failed to connect to bus: Address family not supported by protocol";
        assert_eq!(first(family), Some("HM308"));
        assert_eq!(
            first("Job failed. See \"journalctl -xe\" for details."),
            Some("HM208")
        );
        let mute = "Failed to start transient scope unit: Transport endpoint is not connected";
        assert_eq!(first(mute), Some("HM204"));
        assert_eq!(first("Interactive authentication required."), Some("HM245"));
    }

    #[test]
    fn words_of_the_job_itself_mean_nothing_here() {
        assert_eq!(meaning("script failed: Permission denied"), None);
        assert_eq!(meaning("curl: (7) Connection refused"), None);
        assert_eq!(meaning("cat: x: No such file or directory"), None);
    }
}
