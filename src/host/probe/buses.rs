//! The bus part of the second stage: one single-threaded runtime on a thread of its own.

use std::time::Duration;

use crate::bus::Patience;
use crate::host::bus_probe::{BusFacts, Managers, Places, Subject, probe};
use crate::host::facts::{Fact, Gap, ManagerKind, UnitFacts};
use crate::host::unit_probe::{dispatcher_units, from_unit};

use super::bounded::{Started, start};

/// What the buses say.
pub(super) struct Answers {
    /// Doors, logind, linger.
    pub(super) facts: BusFacts,
    /// Units as their managers describe them.
    pub(super) units: Vec<UnitFacts>,
    /// Why the managers could not be asked for theirs.
    pub(super) gap: Option<Gap>,
}

/// Starts to ask. `named` are units to ask for beside those that look like a dispatcher's.
pub(super) fn ask(
    subject: Subject,
    named: Vec<(String, ManagerKind)>,
    within: Duration,
) -> Started<Option<Answers>> {
    start("buses", move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .ok()?;
        Some(runtime.block_on(answers(&subject, &named, within)))
    })
}

async fn answers(subject: &Subject, named: &[(String, ManagerKind)], within: Duration) -> Answers {
    let usual = Patience::default();
    let patience = Patience {
        total: usual.total.min(within),
        stage: usual.stage.min(within),
    };
    let (facts, managers) = probe(subject, &Places::default(), patience).await;
    let (mut units, gap) = match dispatcher_units(&managers).await {
        Fact::Known(units) => (units, None),
        Fact::Unknown(gap) => (Vec::new(), Some(gap)),
    };
    for (name, manager) in named {
        let known = |unit: &UnitFacts| unit.name == *name && unit.manager == Some(*manager);
        if !units.iter().any(known) {
            units.extend(one(&managers, name, *manager).await);
        }
    }
    Answers { facts, units, gap }
}

async fn one(managers: &Managers, name: &str, manager: ManagerKind) -> Option<UnitFacts> {
    let client = match manager {
        ManagerKind::System => managers.system.as_ref(),
        ManagerKind::User => managers.user.as_ref(),
    };
    let unit = client?.unit(name).await.ok()??;
    Some(from_unit(&unit, manager))
}
