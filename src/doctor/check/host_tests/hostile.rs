//! Hosts that nobody would run: whatever a bus, a unit or a process says, the doctor judges it to the
//! end, and no terminal, shell or script acts on what it prints.

use proptest::prelude::*;
use serde_json::Value;

use super::{evidence, fixtures};
use crate::bus::hostile::{unit, words};
use crate::doctor::sample::judged;
use crate::host::Facts;
use crate::host::facts::{Fact, ManagerKind};
use crate::host::unit_probe::from_unit;

/// What takes the place of a value: another of its kind.
#[derive(Clone, Debug)]
struct Lie {
    /// Which of the values, counted around.
    at: usize,
    words: String,
    number: i64,
}

fn lie() -> impl Strategy<Value = Lie> {
    let numbers = prop::sample::select(vec![0, 1, -1, 4_194_305, i64::MAX, i64::MIN, 65_535]);
    (any::<u16>(), words(), numbers).prop_map(|(at, words, number)| Lie {
        at: usize::from(at),
        words,
        number,
    })
}

/// The texts and numbers of a document, in order.
fn leaves<'v>(value: &'v mut Value, found: &mut Vec<&'v mut Value>) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|value| leaves(value, found)),
        Value::Object(fields) => fields.values_mut().for_each(|value| leaves(value, found)),
        Value::String(_) | Value::Number(_) => found.push(value),
        Value::Null | Value::Bool(_) => {}
    }
}

/// The same facts with these lies in them, as far as the types allow each.
fn lied_to(facts: &Facts, lies: &[Lie]) -> Facts {
    let mut told = serde_json::to_value(facts).expect("facts are JSON");
    let mut believed = facts.clone();
    for lie in lies {
        let mut with = told.clone();
        let mut found = Vec::new();
        leaves(&mut with, &mut found);
        let count = found.len();
        let Some(value) = found.get_mut(lie.at % count) else {
            continue;
        };
        **value = match **value {
            Value::String(_) => Value::from(lie.words.as_str()),
            _ => Value::from(lie.number),
        };
        // A word of a fixed list cannot be replaced by any other.
        if let Ok(facts) = serde_json::from_value(with.clone()) {
            believed = facts;
            told = with;
        }
    }
    believed
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_fact_can_stop_the_doctor_or_reach_the_terminal(
        which in any::<prop::sample::Index>(),
        lies in prop::collection::vec(lie(), 1..40),
    ) {
        let all: Vec<_> = fixtures().collect();
        let seen = which.get(&all).evidence(false);
        let facts = lied_to(&seen.facts, &lies);
        judged(&evidence(facts).with_homes(seen.homes));
    }

    #[test]
    fn no_unit_can_stop_the_doctor_or_reach_the_terminal(unit in unit(), user in any::<bool>()) {
        let manager = if user { ManagerKind::User } else { ManagerKind::System };
        let unit = from_unit(&unit, manager);
        let mut facts = Facts::example();
        facts.units = Fact::Known(vec![unit.clone()]);
        facts.dispatcher.unit = Some(unit);
        judged(&evidence(facts));
    }
}
