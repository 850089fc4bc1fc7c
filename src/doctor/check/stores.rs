//! The files of a home: can the process that dispatches read and write them, is there room, does the
//! file system hold locks.

pub(super) mod content;
pub(super) mod databases;

use super::homes::{self, each};
use super::{Check, Group, Outcome, mend};
use crate::doctor::evidence::home::{Access, Disk, HomeEvidence};
use crate::doctor::evidence::read::{FileKind, TroubleKind};
use crate::doctor::evidence::{Evidence, Part, Read};
use crate::doctor::finding::{Finding, Observation, Remedy, Severity};
use crate::host::{Gap, GapKind};
use crate::output::human;

/// The checks of files and file systems.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "stores-access",
        group: Group::Stores,
        title: "the service can read and write its files",
        codes: &["HM805"],
        reads: &[Part::Shell, Part::Files, Part::Ticker],
        run: access,
    },
    Check {
        id: "stores-disk",
        group: Group::Stores,
        title: "there is room, and the file system can be written and locked",
        codes: &["HM806", "HM807", "HM808", "HM813"],
        reads: &[Part::Disk, Part::Output, Part::Config],
        run: disk,
    },
];

/// What the service must be able to do with a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Read,
    Write,
    /// A directory in which files are made and replaced.
    Fill,
    /// A directory whose files are run.
    Enter,
}

impl Need {
    /// The permission bits, as in one digit of the mode.
    fn bits(self) -> u32 {
        match self {
            Self::Read => 0o4,
            Self::Write => 0o6,
            Self::Fill => 0o7,
            Self::Enter => 0o5,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "read and write",
            Self::Fill => "make and replace files in",
            Self::Enter => "read and enter",
        }
    }

    fn wants_directory(self) -> bool {
        matches!(self, Self::Fill | Self::Enter)
    }
}

/// The paths that matter. A job store is replaced, not written, so that reading it is enough.
const NEEDS: [(&str, Need); 13] = [
    ("", Need::Fill),
    ("cron", Need::Fill),
    ("cron/jobs.json", Need::Read),
    ("cron/executions.db", Need::Write),
    ("cron/output", Need::Fill),
    ("cron/.tick.lock", Need::Write),
    ("cron/.jobs.lock", Need::Write),
    ("state.db", Need::Write),
    ("kanban.db", Need::Write),
    ("runtime", Need::Fill),
    ("scripts", Need::Enter),
    ("config.yaml", Need::Read),
    (".env", Need::Read),
];

fn access(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        for (path, need) in NEEDS {
            path_access(evidence, home, (path, need), outcome);
        }
        if outcome.findings.is_empty() && outcome.unchecked.is_empty() {
            outcome.note = Some(format!("uid {} may", home.reader.uid));
        }
    })
}

fn path_access(
    evidence: &Evidence,
    home: &HomeEvidence,
    (path, need): (&'static str, Need),
    outcome: &mut Outcome,
) {
    let reader = &home.reader;
    let we_are_it = evidence.facts.shell.uid.known() == Some(&reader.uid);
    match home.file(path) {
        Read::Absent => {}
        // What lies in a directory that may not be entered is not known; the directory is told.
        Read::Unreadable(trouble)
            if trouble.kind == TroubleKind::Permission && we_are_it && path.is_empty() =>
        {
            let seen = Observation::new("stat", home.path(path), trouble.words());
            outcome.find(denied(
                evidence,
                home,
                (path, need),
                seen.with_errno(trouble.errno),
            ));
        }
        Read::Unreadable(trouble) => {
            let mut gap = trouble.gap();
            let mut tell = vec!["sudo".to_owned()];
            tell.extend(homes::ours(home, ["cron", "doctor"]));
            gap.would_tell = tell;
            let what = format!("owner and mode of {}", home.path(path));
            outcome.could_not_and_it_matters(what, &gap);
        }
        Read::Got(stat) => {
            let wrong = match stat.kind {
                FileKind::Directory => !need.wants_directory(),
                FileKind::File => need.wants_directory(),
                FileKind::DanglingLink | FileKind::Other => true,
            };
            // What is no file at all is told where its content is looked at.
            if wrong {
                return;
            }
            match reader.may(stat, need.bits()) {
                Access::Yes => {}
                Access::No => {
                    let seen = Observation::new("stat", home.path(path), stat.owner_and_mode());
                    outcome.find(denied(evidence, home, (path, need), seen));
                }
                Access::PerhapsByGroup => {
                    let what = format!(
                        "whether the service may {} {}",
                        need.words(),
                        home.path(path)
                    );
                    outcome.could_not(what, &groups_unknown(reader.uid));
                }
            }
        }
    }
}

fn groups_unknown(uid: u32) -> Gap {
    Gap {
        kind: GapKind::Failed,
        why: format!("the groups of uid {uid} are not known"),
        would_tell: ["id".to_owned(), uid.to_string()].to_vec(),
    }
}

fn denied(
    evidence: &Evidence,
    home: &HomeEvidence,
    (path, need): (&'static str, Need),
    seen: Observation,
) -> Finding {
    let uid = home.reader.uid;
    let name = home.path(path);
    let shown = if path.is_empty() { "the home" } else { path };
    let owner = home.file(path).got().map(|stat| stat.uid);
    let whose = owner.map_or_else(String::new, |owner| format!(", it belongs to uid {owner}"));
    let summary = format!(
        "the service (uid {uid}) may not {} {shown}{whose}",
        need.words()
    );
    let mut finding = Finding::new("HM805", homes::file(home, path), summary).seen(seen);
    if let Some(success) = home.ticker.success.got() {
        finding = finding.seen(Observation::new(
            "read",
            home.path("cron/ticker_last_success"),
            format!("last good tick {}", human::relative(*success, evidence.now)),
        ));
    }
    let letter = if need == Need::Read { "-r" } else { "-w" };
    let verify = ["sudo", "-u", &format!("#{uid}"), "test", letter, &name].map(str::to_owned);
    if path == ".env" {
        finding = finding.severity(Severity::Warning);
    }
    if owner == Some(uid) {
        let bits = if need.wants_directory() {
            "u+rwx"
        } else {
            "u+rw"
        };
        let remedy = Remedy::user(["chmod", bits, &name], "gives the owner back its own file");
        return finding.remedy(remedy.verify(["test", letter, &name]));
    }
    let owner = match home.reader.gid {
        Some(gid) => format!("{uid}:{gid}"),
        None => uid.to_string(),
    };
    finding.remedy(
        Remedy::root(
            ["chown", &owner, &name],
            "gives the file to the service's account",
        )
        .verify(verify),
    )
}

/// Below this an ordinary save may fail; between the two it is time to act.
const NO_ROOM: u64 = 16 << 20;
const LITTLE_ROOM: u64 = 256 << 20;
/// Inodes: the same two steps.
const NO_INODES: u64 = 100;
const FEW_INODES: u64 = 2_000;
/// Files in one job's output directory: four times what is kept by default, and no fewer.
const MANY_FILES: usize = 200;

fn disk(evidence: &Evidence) -> Outcome {
    each(evidence, |home, outcome| {
        match &home.disk {
            Read::Got(disk) => {
                read_only(home, disk, outcome);
                room(home, disk, outcome);
                remote(home, disk, outcome);
                outcome.note = Some(format!("{}, {} free", disk.kind, human::bytes(disk.free)));
            }
            Read::Unreadable(trouble) => {
                outcome.could_not("the room on the disk", &trouble.gap());
            }
            Read::Absent => {}
        }
        output(home, outcome);
    })
}

fn seen(home: &HomeEvidence, observed: String) -> Observation {
    Observation::new("statvfs", home.path("cron"), observed)
}

fn read_only(home: &HomeEvidence, disk: &Disk, outcome: &mut Outcome) {
    if !disk.read_only {
        return;
    }
    let path = home.label();
    let remedy = Remedy::root(
        mend::shell(format!(
            "at=$(findmnt -n -o TARGET -T {}) && \
             {{ mount -o remount,rw \"$at\" || mount -o remount,bind,rw \"$at\"; }}",
            mend::inner(&path)
        )),
        "makes the file system writable, if nothing worse keeps it so",
    );
    outcome.find(
        Finding::new(
            "HM806",
            homes::subject(home),
            format!("the file system of the home is read-only ({})", disk.kind),
        )
        .seen(seen(home, "mounted read-only".to_owned()))
        .remedy(remedy.until_reboot().verify(["test", "-w", &path])),
    );
}

fn room(home: &HomeEvidence, disk: &Disk, outcome: &mut Outcome) {
    let bytes = disk.free < LITTLE_ROOM && disk.total > LITTLE_ROOM * 4;
    let inodes = disk
        .free_inodes
        .filter(|free| *free < FEW_INODES && disk.total_inodes.is_some_and(|all| all > FEW_INODES));
    if !(bytes || inodes.is_some() || disk.free < NO_ROOM) || disk.read_only {
        return;
    }
    let out = disk.free < NO_ROOM || inodes.is_some_and(|free| free < NO_INODES);
    let what = match inodes {
        Some(free) if !bytes => format!("{free} inodes left"),
        Some(free) => format!("{} and {free} inodes left", human::bytes(disk.free)),
        None => format!("{} left", human::bytes(disk.free)),
    };
    let path = home.label();
    let finding = Finding::new(
        "HM807",
        homes::subject(home),
        format!("the disk of the home is nearly full: {what}"),
    )
    .seen(seen(
        home,
        format!(
            "{} of {} free, {} inodes free",
            human::bytes(disk.free),
            human::bytes(disk.total),
            disk.free_inodes
                .map_or_else(|| "uncounted".to_owned(), |free| free.to_string()),
        ),
    ));
    let finding = finding.remedy(
        Remedy::user(["du", "-xh", "-d", "2", &path], "shows what takes the room")
            .verify(homes::verify(home)),
    );
    outcome.find(if out {
        finding.severity(Severity::Error)
    } else {
        finding
    });
}

fn remote(home: &HomeEvidence, disk: &Disk, outcome: &mut Outcome) {
    if disk.is_remote() {
        outcome.find(
            Finding::new(
                "HM813",
                homes::subject(home),
                format!("the home is on {}, where locks may not hold", disk.kind),
            )
            .seen(seen(home, format!("file system {}", disk.kind))),
        );
    }
}

fn output(home: &HomeEvidence, outcome: &mut Outcome) {
    if let Some(trouble) = home.output.trouble() {
        outcome.could_not("how many outputs are kept", &trouble.gap());
    }
    let Some(output) = home.output.got() else {
        return;
    };
    let Some((fullest, files)) = output.fullest.as_ref() else {
        return;
    };
    // What is kept on purpose is not too much, and nothing is deleted on a guess.
    if let Some(gap) = homes::unknown(home, "cron.output_retention") {
        outcome.could_not("how many outputs are to be kept", &gap);
        return;
    }
    let wanted = home.settings().cron.output_retention;
    let wanted = wanted.map(|wanted| usize::try_from(wanted).unwrap_or(usize::MAX));
    let kept = wanted.unwrap_or(MANY_FILES);
    if *files <= kept.max(MANY_FILES) {
        return;
    }
    let path = format!("{}/{fullest}", home.path("cron/output"));
    let line = format!(
        "cd {} && ls -t | grep \"[.]md$\" | tail -n +{} | xargs -d \"\\n\" rm --",
        mend::inner(&path),
        kept.saturating_add(1)
    );
    let effect = format!("deletes all but the newest {kept}");
    outcome.find(
        Finding::new(
            "HM808",
            homes::file(home, "cron/output"),
            format!(
                "{files} outputs are kept for one job, {} in all",
                output.files
            ),
        )
        .seen(Observation::new(
            "list",
            path.clone(),
            format!("{files} files"),
        ))
        .remedy(Remedy::user(mend::shell(line), &effect).verify(homes::verify(home))),
    );
}
