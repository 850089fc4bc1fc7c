//! The memory that workers may use: whether a limit is in force at all, and whether all of them
//! together fit. Pure.

use super::{Check, Group, Outcome, mend};
use crate::dispatch::Mode;
use crate::dispatch::memory::{self, LEAST, MIB};
use crate::doctor::evidence::{Evidence, HomeEvidence, Part, Read};
use crate::doctor::finding::{Finding, Observation, Subject};
use crate::host::facts::{Fact, Program};
use crate::host::{Gap, GapKind};

/// The check of memory.
pub(super) const CHECKS: &[Check] = &[Check {
    id: "host-memory",
    group: Group::Host,
    title: "whether the memory limit of workers is in force, and adds up",
    codes: &["HM107", "HM108"],
    reads: &[
        Part::Memory,
        Part::Cgroup,
        Part::Dispatcher,
        Part::Environment,
        Part::Units,
        Part::Decision,
        Part::Config,
        Part::Jobs,
    ],
    run: judge,
}];

/// The limit of one worker's scope. Hermes Agent gives none more than its own unit may use.
fn limit(evidence: &Evidence) -> Option<u64> {
    let total = evidence.facts.machine.memory.total?;
    let dispatcher = &evidence.facts.dispatcher;
    let environ = dispatcher.environ.known();
    let variable = environ.and_then(|environ| environ.get(memory::VARIABLE));
    let own = memory::worker_limit(total, variable);
    let of_unit = dispatcher
        .unit
        .as_ref()
        .filter(|_| dispatcher.program == Program::HermesAgent)
        .and_then(|unit| unit.memory_max)
        .filter(|max| *max >= LEAST);
    Some(of_unit.map_or(own, |max| max.min(own)))
}

fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes / MIB)
}

fn judge(evidence: &Evidence) -> Outcome {
    if evidence.decision_jobs.mode != Mode::Scoped {
        return Outcome::not_applicable("workers get no scope, and so no limit of their own");
    }
    let Some(limit) = limit(evidence) else {
        let mut outcome = Outcome::default();
        let gap = Gap {
            kind: GapKind::Hidden,
            why: "/proc/meminfo does not tell".to_owned(),
            would_tell: Vec::new(),
        };
        outcome.could_not("how much memory there is for workers", &gap);
        return outcome;
    };
    let controllers = match &evidence.facts.scope_controllers {
        Fact::Known(controllers) => controllers,
        Fact::Unknown(gap) => {
            let mut outcome = Outcome::passed(format!("a worker may use {}", mib(limit)));
            outcome.could_not("whether the memory limit of workers is in force", gap);
            return outcome;
        }
    };
    if !controllers.iter().any(|controller| controller == "memory") {
        return no_limit(controllers);
    }
    let mut outcome = Outcome::passed(format!("a worker may use {}", mib(limit)));
    if let Some(finding) = overcommitted(evidence, limit) {
        outcome.find(finding);
    }
    outcome
}

fn no_limit(controllers: &[String]) -> Outcome {
    let mut outcome = Outcome::default();
    let given = if controllers.is_empty() {
        "none".to_owned()
    } else {
        controllers.join(" ")
    };
    outcome.find(
        Finding::new(
            "HM107",
            Subject::new("host", "this host"),
            "no memory limit is in force for workers: their scopes have no memory controller",
        )
        .seen(Observation::new("read", "cgroup.controllers", given)),
    );
    outcome
}

/// How many workers may run at once: as many as somebody allowed, and no more than there are jobs.
/// Without a word of anybody's any machine would be too small.
fn workers(evidence: &Evidence) -> Option<u32> {
    let allowed = evidence.max_parallel?;
    let armed = |home: &HomeEvidence| match &home.jobs {
        Read::Absent => Some(0),
        Read::Unreadable(_) => None,
        Read::Got(store) => Some(store.armed().count()),
    };
    let jobs: Option<usize> = evidence.homes.iter().map(armed).sum();
    let jobs = jobs.filter(|_| !evidence.homes.is_empty());
    let most = jobs.map_or(u32::MAX, |jobs| u32::try_from(jobs).unwrap_or(u32::MAX));
    Some(allowed.min(most)).filter(|workers| *workers > 1)
}

fn overcommitted(evidence: &Evidence, limit: u64) -> Option<Finding> {
    let parallel = workers(evidence)?;
    let memory = &evidence.facts.machine.memory;
    let total = memory.total?;
    let together = limit.saturating_mul(u64::from(parallel));
    if together <= total {
        return None;
    }
    let swap = match memory.swaps.as_slice() {
        [] => "no swap".to_owned(),
        swaps if swaps.iter().all(|swap| swap.contains("zram")) => {
            "swap on zram only, which is memory itself".to_owned()
        }
        swaps => format!("swap on {}", swaps.join(", ")),
    };
    let summary = format!(
        "{parallel} workers may use {} together, and the machine has {}",
        mib(together),
        mib(total)
    );
    let facts = &evidence.facts;
    let fits = (total / limit).max(1);
    let mut finding = Finding::new("HM108", Subject::new("host", "this host"), summary);
    if let Some(unit) = &facts.dispatcher.unit {
        let line = format!("Environment=HERMES_CRON_MAX_PARALLEL={fits}");
        let effect = "runs no more jobs at once than the memory holds, and restarts the service";
        let shown = format!("HERMES_CRON_MAX_PARALLEL={fits}");
        finding = finding.remedy(
            mend::drop_in(facts, unit, &[&line], effect).verify(mend::verify_property(
                facts,
                unit,
                "Environment",
                &shown,
            )),
        );
    }
    Some(
        finding
            .seen(Observation::new(
                "limit",
                "MemoryMax of a worker",
                mib(limit),
            ))
            .seen(Observation::new(
                "setting",
                "cron.max_parallel_jobs",
                parallel.to_string(),
            ))
            .seen(Observation::new("read", "/proc/swaps", swap)),
    )
}
