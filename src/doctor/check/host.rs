//! The host itself: init, container, system bus, logind, cgroups, clock. Pure.

use super::impact::{has_systemd, said, severity};
use super::{Check, Group, Outcome, mend};
use crate::bus::{Door, DoorReport, Failure, FailureKind, Stage};
use crate::dispatch::Mode;
use crate::doctor::evidence::{Evidence, Part};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity, Subject};
use crate::host::facts::{CgroupLayout, Container, Fact};
use crate::host::{Gap, GapKind};
use crate::output::human;

/// The checks of the host.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "host-init",
        group: Group::Host,
        title: "which init and which container this is",
        codes: &["HM101", "HM102", "HM109"],
        reads: &[Part::Machine, Part::SystemBus, Part::Decision],
        run: init,
    },
    Check {
        id: "host-system-bus",
        group: Group::Host,
        title: "whether the system bus and PID 1 answer",
        codes: &["HM103", "HM104"],
        reads: &[Part::SystemBus, Part::Decision],
        run: system_bus,
    },
    Check {
        id: "host-logind",
        group: Group::Host,
        title: "whether logind answers",
        codes: &["HM105"],
        reads: &[Part::Logind, Part::Decision],
        run: logind,
    },
    Check {
        id: "host-cgroup",
        group: Group::Host,
        title: "which cgroup hierarchies there are",
        codes: &["HM106"],
        reads: &[Part::Cgroup, Part::Decision],
        run: cgroup,
    },
    Check {
        id: "host-clock",
        group: Group::Host,
        title: "whether the clock is behind what was already written",
        codes: &["HM110"],
        reads: &[Part::Clock, Part::Records],
        run: clock,
    },
];

/// A clock that is behind by less is the doing of file systems and of rounding, in seconds.
const CLOCK_SLACK: f64 = 60.0;

/// Unmasking what is not masked changes nothing.
const REVIVE_BUS: &str = "systemctl unmask dbus.socket dbus.service && \
                          systemctl restart dbus.socket dbus.service";

/// The same for logind.
const REVIVE_LOGIND: &str = "systemctl unmask systemd-logind.service \
                             dbus-org.freedesktop.login1.service && \
                             systemctl restart systemd-logind.service";

fn host() -> Subject {
    Subject::new("host", "this host")
}

fn init(evidence: &Evidence) -> Outcome {
    let machine = &evidence.facts.machine;
    let name = match &machine.init {
        Fact::Known(name) => name.clone(),
        Fact::Unknown(gap) => format!("not seen: {}", gap.why),
    };
    let container = container_word(machine.container.known());
    if has_systemd(evidence) {
        let door = evidence.facts.system_bus.doors.iter().find_map(version);
        let version = door.unwrap_or_else(|| "systemd".to_owned());
        return Outcome::passed(format!("{version}, {container}"));
    }
    let mut outcome = Outcome::default();
    let chroot = machine.container.known() == Some(&Container::Chroot)
        || machine.namespaces.chroot.known() == Some(&true);
    let of_kind = |code, summary: &str| {
        Finding::new(code, host(), summary)
            .severity(severity(evidence).min(Severity::Warning))
            .seen(Observation::new("read", "/proc/1/comm", name.clone()))
            .seen(Observation::new("stat", "/run/systemd/system", "not there"))
    };
    if chroot {
        outcome.find(of_kind(
            "HM102",
            "this is a chroot: the service managers of the machine cannot be reached from it",
        ));
    } else if let Some(hint) = wsl(machine.container.known()) {
        let finding = of_kind("HM109", hint);
        outcome.find(with_wsl_remedy(finding, machine.container.known()));
    } else {
        outcome.find(of_kind(
            "HM101",
            &without_systemd(machine.container.known()),
        ));
    }
    outcome
}

fn version(door: &DoorReport) -> Option<String> {
    let manager = door.manager.as_ref()?;
    let state = manager.state.as_deref().unwrap_or("state not told");
    Some(format!("systemd {}, {state}", manager.version))
}

fn without_systemd(container: Option<&Container>) -> String {
    let place = match container {
        None => "here".to_owned(),
        Some(Container::None) => "on this host".to_owned(),
        Some(_) => format!("in this container ({})", container_word(container)),
    };
    format!("no systemd runs {place}: nothing can start jobs apart from the dispatcher")
}

fn container_word(container: Option<&Container>) -> String {
    match container {
        None => "container or not: cannot tell".to_owned(),
        Some(Container::None) => "no container".to_owned(),
        Some(Container::Docker) => "Docker".to_owned(),
        Some(Container::Podman) => "Podman".to_owned(),
        Some(Container::Lxc) => "LXC".to_owned(),
        Some(Container::Nspawn) => "systemd-nspawn".to_owned(),
        Some(Container::Wsl1) => "WSL 1".to_owned(),
        Some(Container::Wsl2) => "WSL 2".to_owned(),
        Some(Container::Chroot) => "chroot".to_owned(),
        Some(Container::Other(name)) => format!("container: {name}"),
    }
}

fn wsl(container: Option<&Container>) -> Option<&'static str> {
    match container? {
        Container::Wsl1 => Some("WSL 1 runs no systemd: workers cannot outlive a restart"),
        Container::Wsl2 => Some("systemd is off in this WSL 2 distribution"),
        _ => None,
    }
}

fn with_wsl_remedy(finding: Finding, container: Option<&Container>) -> Finding {
    if container != Some(&Container::Wsl2) {
        return finding;
    }
    let write = "printf '[boot]\\nsystemd=true\\n' >>/etc/wsl.conf";
    finding.remedy(
        Remedy::root(
            ["sh", "-c", write],
            "has WSL start systemd, once 'wsl.exe --shutdown' has been run from Windows",
        )
        .verify(["grep", "-q", "systemd=true", "/etc/wsl.conf"]),
    )
}

fn refusal(evidence: &Evidence) -> Option<(&DoorReport, Stage, &Failure)> {
    let doors = &evidence.facts.system_bus.doors;
    let door = doors.iter().find(|door| door.door == Door::SystemBus)?;
    let (stage, failure) = door.refusal()?;
    Some((door, stage, failure))
}

fn unanswered() -> Gap {
    Gap {
        kind: GapKind::Deadline,
        why: "the question was not answered in time".to_owned(),
        would_tell: Vec::new(),
    }
}

fn system_bus(evidence: &Evidence) -> Outcome {
    if !has_systemd(evidence) {
        return Outcome::not_applicable("there is no systemd here");
    }
    let mut outcome = Outcome::default();
    let what = "whether the system bus answers";
    if evidence.facts.system_bus.doors.is_empty() {
        outcome.could_not_and_it_matters(what, &unanswered());
        return outcome;
    }
    let Some((door, stage, failure)) = refusal(evidence) else {
        return Outcome::passed("the system bus and PID 1 answer");
    };
    if failure.kind == FailureKind::PermissionDenied || failure.kind == FailureKind::Unknown {
        let gap = Gap {
            kind: GapKind::Permission,
            why: format!("{}: {}", door.path, said(failure)),
            would_tell: Vec::new(),
        };
        outcome.could_not(what, &gap);
        return outcome;
    }
    let seen = Observation::new("connect", &door.path, said(failure))
        .at_stage(super::session_bus::stage_word(stage))
        .with_errno(failure.errno);
    if stage == Stage::ManagerAnswers {
        outcome.find(
            Finding::new(
                "HM104",
                Subject::new("process", "1"),
                "PID 1 does not answer",
            )
            .seen(seen)
            .remedy(
                Remedy::root(
                    ["kill", "-s", "CONT", "1"],
                    "lets PID 1 go on, if something stopped it; else only a reboot helps",
                )
                .verify(mend::verify()),
            ),
        );
        return outcome;
    }
    outcome.find(
        Finding::new(
            "HM103",
            Subject::new("socket", &door.path),
            "the system bus does not answer",
        )
        .seen(seen)
        .remedy(
            Remedy::root(
                ["sh", "-c", REVIVE_BUS],
                "starts the system bus anew; a user manager that runs loses it until re-executed",
            )
            .verify(mend::verify()),
        ),
    );
    outcome
}

fn logind(evidence: &Evidence) -> Outcome {
    if !has_systemd(evidence) {
        return Outcome::not_applicable("there is no systemd here");
    }
    let logind = &evidence.facts.system_bus.logind;
    let Some(failure) = &logind.failure else {
        return Outcome::passed("logind answers");
    };
    let masked = logind.file_state.as_deref() == Some("masked");
    let summary = if masked {
        "logind is masked: linger can neither be read nor set"
    } else {
        "logind does not answer: linger can neither be read nor set"
    };
    // Masking it is somebody's choice, and jobs run well all the same. That it hangs is nobody's.
    let runs_well = matches!(evidence.decision_jobs.mode, Mode::InProcess | Mode::Scoped);
    let level = if masked && runs_well {
        Severity::Info
    } else {
        Severity::Warning
    };
    let mut outcome = Outcome::default();
    let unit = "systemd-logind.service";
    let finding = Finding::new("HM105", Subject::new("unit", unit), summary)
        .severity(level)
        .seen(Observation::new(
            "call",
            "org.freedesktop.login1",
            said(failure),
        ))
        .because_of("HM103")
        .because_of("HM104");
    let mut finding = finding.remedy(
        Remedy::root(
            ["sh", "-c", REVIVE_LOGIND],
            "lets logind run, and starts it anew",
        )
        .verify(mend::verify()),
    );
    if masked {
        finding = finding.seen(Observation::new("property", "UnitFileState", "masked"));
    }
    outcome.find(finding);
    outcome
}

fn cgroup(evidence: &Evidence) -> Outcome {
    let layout = evidence.facts.machine.cgroup.layout;
    let (word, old) = match layout {
        CgroupLayout::Unified => ("version 2", false),
        CgroupLayout::Hybrid => ("version 1, with version 2 for systemd alone", true),
        CgroupLayout::Legacy => ("version 1", true),
        CgroupLayout::None => ("not mounted", false),
    };
    let mut outcome = Outcome::passed(word);
    if old && has_systemd(evidence) {
        outcome.find(
            Finding::new(
                "HM106",
                host(),
                format!("the cgroup hierarchy is of {word}"),
            )
            .seen(Observation::new("mount", "/sys/fs/cgroup", word)),
        );
    }
    outcome
}

fn clock(evidence: &Evidence) -> Outcome {
    let wall = evidence.facts.machine.clock.wall;
    let newest = evidence
        .facts
        .homes
        .iter()
        .filter_map(|home| home.newest_file.as_ref())
        .max_by(|a, b| a.modified_at.total_cmp(&b.modified_at));
    let Some(newest) = newest else {
        let mut homes = evidence.facts.homes.iter();
        return match homes.find_map(|home| home.exists.gap()) {
            Some(gap) => {
                let mut outcome = Outcome::default();
                outcome.could_not("when the files of the home were written", gap);
                outcome
            }
            None => Outcome::not_applicable("no home has files yet"),
        };
    };
    let behind = newest.modified_at - wall;
    if behind <= CLOCK_SLACK {
        return Outcome::passed("ahead of all that was written");
    }
    let mut outcome = Outcome::default();
    let path = newest.path.display().to_string();
    let ahead = format!("written {} from now, by its own time", human::span(behind));
    outcome.find(
        Finding::new(
            "HM110",
            host(),
            "the clock is behind the newest file of the home: it was set back, or the file came \
             from elsewhere",
        )
        .seen(Observation::new("stat", path, ahead))
        .remedy(
            Remedy::root(
                ["timedatectl", "set-ntp", "true"],
                "keeps the clock right by the network's time",
            )
            .undo(["timedatectl", "set-ntp", "false"])
            .verify([
                "sh",
                "-c",
                "timedatectl show --property=NTP --value | grep -q yes",
            ]),
        ),
    );
    outcome
}
