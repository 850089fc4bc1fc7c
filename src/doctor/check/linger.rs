//! Whether the user manager outlives a login, and whether all who know of that agree. Pure.

use super::impact::{
    BY_INIT, has_systemd, is_placed_by_init, manager_is_down, needs_user_manager, severity, worsens,
};
use super::{Check, Group, Outcome, mend};
use crate::bus::polkit::set_linger;
use crate::bus::{Failure, LingerMarker, LogindSession, LogindUser, Right};
use crate::dispatch::Outlook;
use crate::dispatch::facts::{Seat, Tri};
use crate::dispatch::mode::linger_word;
use crate::doctor::evidence::{Evidence, Part};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity, Subject};
use crate::host::Facts;

/// The checks of linger.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "linger",
        group: Group::Linger,
        title: "whether the user manager is there without a login",
        codes: &["HM221", "HM224", "HM225"],
        reads: &[
            Part::SystemBus,
            Part::Logind,
            Part::Linger,
            Part::SessionBus,
            Part::Dispatcher,
            Part::Units,
            Part::Decision,
        ],
        run: linger,
    },
    Check {
        id: "linger-agreement",
        group: Group::Linger,
        title: "whether logind and the marker of linger agree",
        codes: &["HM222", "HM223"],
        reads: &[Part::Logind, Part::Linger, Part::Decision],
        run: agreement,
    },
];

fn user(facts: &Facts) -> Subject {
    Subject::new("user", facts.account.label())
}

fn marker_path(facts: &Facts) -> String {
    format!("/var/lib/systemd/linger/{}", facts.account.label())
}

fn marker(facts: &Facts) -> Observation {
    let seen = match &facts.linger_marker {
        LingerMarker::Present => "there".to_owned(),
        LingerMarker::Absent => "not there".to_owned(),
        LingerMarker::NoDirectory => "not there, nor its directory".to_owned(),
        LingerMarker::Unknown(failure) => super::impact::said(failure),
    };
    Observation::new("stat", marker_path(facts), seen)
}

/// B21: who may set the flag.
fn may_set(facts: &Facts) -> Observation {
    let caller = facts.caller.label();
    let action = set_linger(facts.caller.uid == facts.account.uid);
    let where_allowed = format!("root may set it, and {caller} where polkit allows {action}");
    let may = match &facts.system_bus.logind.set_linger {
        _ if facts.caller.uid == 0 => "root may set it".to_owned(),
        Some(Right::Granted) => format!("{caller} may set it: polkit allows {action}"),
        Some(Right::OnceAuthenticated) => {
            format!("root may set it, and {caller} with a password: polkit wants one for {action}")
        }
        Some(Right::Denied) => {
            format!("only root may set it: polkit does not allow {caller} {action}")
        }
        Some(Right::NoPolkit) => "only root may set it: there is no polkit".to_owned(),
        Some(Right::NotRunning) => format!(
            "{where_allowed}, which does not run and is not started for this: \
             'pkcheck --action-id {action} --process $$' asks it"
        ),
        Some(Right::Unknown(failure)) => format!(
            "{where_allowed}, which could not be asked: {}",
            super::impact::said(failure)
        ),
        None => where_allowed,
    };
    Observation::new("right", "loginctl enable-linger", may)
}

fn logind_word(facts: &Facts) -> Observation {
    let logind = &facts.system_bus.logind;
    let seen = match (&logind.failure, &logind.user) {
        (Some(failure), _) => super::impact::said(failure),
        (None, None) => "not logged in or lingering".to_owned(),
        (None, Some(user)) => of_user(user),
    };
    Observation::new("property", "logind's word of the user", seen)
}

fn of_user(user: &LogindUser) -> String {
    let linger = match user.linger {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not told",
    };
    let state = user.state.as_deref().unwrap_or("not told");
    format!("Linger={linger}, State={state}")
}

/// From this version of systemd on, no user manager starts without logind.
const LOGIND_LEADS: u32 = 256;

/// Who may turn linger on, and with what: B21 and B22 wanted this said once. Without logind nobody may;
/// an older systemd can be asked for a manager until the next boot.
fn remedy(evidence: &Evidence) -> Option<Remedy> {
    let facts = &evidence.facts;
    if evidence.decision_jobs.facts.logind == Tri::Yes {
        return Some(mend::enable_linger(facts));
    }
    let starts = manager_is_down(evidence) && systemd(facts)? < LOGIND_LEADS;
    starts.then(|| mend::start_user_manager(facts))
}

/// The version of PID 1: of `252.38-1~deb12u1` the first number.
fn systemd(facts: &Facts) -> Option<u32> {
    let mut doors = facts.system_bus.doors.iter();
    let manager = doors.find_map(|door| door.manager.as_ref())?;
    let number = manager.version.split(|c: char| !c.is_ascii_digit()).next();
    number.and_then(|number| number.parse().ok())
}

fn linger(evidence: &Evidence) -> Outcome {
    let facts = &evidence.facts;
    if is_placed_by_init(evidence) {
        return Outcome::not_applicable(BY_INIT);
    }
    if !has_systemd(evidence) {
        return Outcome::not_applicable("there is no systemd here");
    }
    let state = evidence.decision_jobs.facts.linger;
    if let (Tri::Unknown, LingerMarker::Unknown(failure)) = (state, &facts.linger_marker) {
        return unknown("whether linger is on", failure);
    }
    let mut outcome = Outcome::passed(format!(
        "linger is {} for {}",
        linger_word(state),
        facts.account.label()
    ));
    if state == Tri::No
        && let Some(finding) = off(evidence)
    {
        outcome.find(finding);
    }
    outcome
}

fn off(evidence: &Evidence) -> Option<Finding> {
    let facts = &evidence.facts;
    let decision = &evidence.decision_jobs;
    let account = facts.account.label();
    let of = |code, level, summary: String| {
        let finding = Finding::new(code, user(facts), summary)
            .severity(level)
            .seen(marker(facts))
            .seen(logind_word(facts))
            .seen(may_set(facts))
            .because_of("HM105");
        match remedy(evidence) {
            Some(remedy) => finding.remedy(remedy),
            None => finding,
        }
    };
    if decision.facts.seat == Seat::UserService {
        return Some(stops(evidence, &of));
    }
    if manager_is_down(evidence) && !facts.session_bus.doors.is_empty() {
        let needed = needs_user_manager(evidence);
        let level = if needed {
            severity(evidence)
        } else {
            Severity::Info
        };
        let summary = format!(
            "linger is off for {account}, nobody is logged in, and so no user manager runs"
        );
        return Some(of("HM221", level, summary));
    }
    let later = decision.forecast.after_logout;
    let long = &evidence.decision_long;
    let worse = worsens(evidence, later)
        || (long.forecast.after_logout != Outlook::Mode(long.mode)
            && long.forecast.after_logout != Outlook::Unknown);
    if !needs_user_manager(evidence) || !worse {
        return None;
    }
    let held = match held_by(facts) {
        Some(sessions) => format!("only the login ({sessions}) keeps the user manager"),
        None => "nothing keeps the user manager over a login and logout".to_owned(),
    };
    let summary = format!(
        "linger is off for {account}, and {held}: after the last logout jobs are {}",
        later.word()
    );
    Some(of("HM224", Severity::Warning, summary))
}

fn held_by(facts: &Facts) -> Option<String> {
    let user = facts.system_bus.logind.user.as_ref()?;
    let sessions: Vec<_> = logins(user)
        .map(|session| format!("session {}", session.id))
        .collect();
    (!sessions.is_empty()).then(|| sessions.join(", "))
}

/// Sessions that somebody logged in to. Newer versions of logind count the user manager itself as one.
pub(super) fn logins(user: &LogindUser) -> impl Iterator<Item = &LogindSession> {
    let sessions = user.sessions.iter();
    let of_manager = |class: &str| class.starts_with("manager");
    sessions.filter(move |session| !session.class.as_deref().is_some_and(of_manager))
}

/// A unit of the user manager goes with it.
fn stops(evidence: &Evidence, of: &dyn Fn(&'static str, Severity, String) -> Finding) -> Finding {
    let facts = &evidence.facts;
    let account = facts.account.label();
    let unit = facts.dispatcher.unit.as_ref();
    let name = unit.map_or("the dispatcher's unit", |unit| unit.name.as_str());
    let runs = facts.dispatcher.process.is_some();
    let (level, summary) = if runs {
        let text = format!(
            "linger is off for {account}: {name} stops at the last logout and does not start at boot"
        );
        (Severity::Warning, text)
    } else {
        let text = format!("linger is off for {account}: {name} does not start at boot");
        (Severity::Error, text)
    };
    // Entered that way, the account has no manager although somebody works in it.
    let no_login = Observation::new("note", "a session at login", "su and sudo -u open none");
    let mut finding = of("HM225", level, summary).seen(no_login);
    if let Some(sessions) = held_by(facts) {
        finding = finding.seen(Observation::new("logind", "who keeps it now", sessions));
    }
    finding
}

/// What this failure keeps from being known.
fn unknown(what: &str, failure: &Failure) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.could_not(what, &super::impact::gap(failure));
    outcome
}

fn agreement(evidence: &Evidence) -> Outcome {
    let facts = &evidence.facts;
    if is_placed_by_init(evidence) {
        return Outcome::not_applicable(BY_INIT);
    }
    if !has_systemd(evidence) {
        return Outcome::not_applicable("there is no systemd here");
    }
    if let Some(failure) = &facts.system_bus.logind.failure {
        return unknown("whether logind agrees with the marker", failure);
    }
    let present = match &facts.linger_marker {
        LingerMarker::Present => true,
        LingerMarker::Absent | LingerMarker::NoDirectory => false,
        LingerMarker::Unknown(failure) => {
            return unknown("whether the marker agrees with logind", failure);
        }
    };
    let word = facts.system_bus.logind.user.as_ref();
    match (present, word.map(|user| user.linger)) {
        (true, None) => forgotten(evidence),
        (_, Some(Some(linger))) if linger != present => disagreement(facts, present),
        _ => Outcome::passed("they agree"),
    }
}

/// The marker is there and logind knows nothing of the account: the manager was stopped or killed, the
/// marker made by hand, or the manager is masked.
fn forgotten(evidence: &Evidence) -> Outcome {
    let facts = &evidence.facts;
    let down = manager_is_down(evidence);
    let level = if down && needs_user_manager(evidence) {
        severity(evidence)
    } else {
        Severity::Info
    };
    let tail = if down {
        "and so nothing starts its user manager until the next boot"
    } else {
        "though its user manager runs"
    };
    let mut outcome = Outcome::default();
    outcome.find(
        Finding::new(
            "HM222",
            user(facts),
            format!("linger is on, but logind knows nothing of the user, {tail}"),
        )
        .severity(level)
        .seen(marker(facts))
        .seen(logind_word(facts))
        .because_of("HM202")
        .remedy(mend::relinger(facts)),
    );
    outcome
}

fn disagreement(facts: &Facts, present: bool) -> Outcome {
    let mut outcome = Outcome::default();
    let account = facts.account.label();
    let summary = if present {
        "the marker says that linger is on, and logind says that it is off"
    } else {
        "logind says that linger is on, and there is no marker: it ends with this boot"
    };
    outcome.find(
        Finding::new("HM223", user(facts), summary)
            .seen(marker(facts))
            .seen(logind_word(facts))
            .remedy(
                mend::set_linger(facts, "turns linger on for both")
                    .undo(["loginctl", "disable-linger", &account])
                    .verify(["test", "-e", &marker_path(facts)]),
            ),
    );
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Needs;

    #[test]
    fn b21_it_is_told_whether_this_user_may_set_linger() {
        let mut facts = Facts::example();
        let right = |facts: &Facts| may_set(facts).observed;
        let own =
            "root may set it, and bot where polkit allows org.freedesktop.login1.set-self-linger";
        assert_eq!(right(&facts), own);
        facts.account.uid = 7;
        assert!(right(&facts).ends_with("set-user-linger"));
        facts.caller.uid = 0;
        assert_eq!(right(&facts), "root may set it");
    }

    #[test]
    fn b21_what_polkit_says_of_linger_is_told_and_sudo_is_left_out_where_it_is_not_needed() {
        let mut facts = Facts::example();
        let mut told = |right| {
            facts.system_bus.logind.set_linger = Some(right);
            let needs = mend::enable_linger(&facts).needs;
            (may_set(&facts).observed, needs)
        };
        let mute = Right::Unknown(Failure::of(crate::bus::FailureKind::Mute));
        for (right, begins, ends) in [
            (Right::OnceAuthenticated, "root may", "set-self-linger"),
            (Right::Denied, "only root may", "set-self-linger"),
            (Right::NoPolkit, "only root may", "there is no polkit"),
            (Right::NotRunning, "root may", "--process $$' asks it"),
            (mute, "root may", "no answer until the deadline"),
        ] {
            let (observed, needs) = told(right);
            assert!(observed.starts_with(begins), "{observed}");
            assert!(observed.ends_with(ends), "{observed}");
            assert_eq!(needs, Needs::Root);
        }
        let (observed, needs) = told(Right::Granted);
        assert!(observed.starts_with("bot may set it:"), "{observed}");
        assert_eq!(needs, Needs::User);
        // What may be done for another account is done by the one that asked, and that is not its own.
        facts.account.uid = 7;
        assert_eq!(mend::enable_linger(&facts).needs, Needs::Root);
    }
}
