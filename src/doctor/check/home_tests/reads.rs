//! What checks read is what they declare: a part of the evidence that a check does not name can be
//! anything and changes nothing of what it says, each that it names can, and one that told nothing is
//! never taken for good.

mod ruins;
mod silent;
mod swap;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use silent::silent;
use swap::given;

use crate::doctor::check::{Check, Outcome, all, host_tests};
use crate::doctor::evidence::{Evidence, Part};
use crate::home::Home;

/// The home of the example's host, and here of every other.
const HOME: &str = "/srv/bot/.hermes";

/// Whatever the homes and hosts of these tests show.
struct World {
    homes: Vec<Evidence>,
    hosts: Vec<Evidence>,
}

impl World {
    fn get() -> &'static Self {
        static WORLD: OnceLock<World> = OnceLock::new();
        WORLD.get_or_init(|| Self {
            homes: ruins::homes().into_iter().map(moved).collect(),
            hosts: host_tests::all_evidence().collect(),
        })
    }

    fn all(&self) -> impl Iterator<Item = &Evidence> {
        self.homes.iter().chain(&self.hosts)
    }

    /// All of it that has something to say of this part.
    fn with(&self, part: Part) -> impl Iterator<Item = &Evidence> {
        self.all()
            .filter(move |other| !part.is_of_home() || !other.homes.is_empty())
    }
}

/// The evidence as if its home lay where all others lie: who serves one serves each.
fn moved(mut evidence: Evidence) -> Evidence {
    let own = evidence.facts.home.path.display().to_string();
    let facts = serde_json::to_string(&evidence.facts).unwrap();
    evidence.facts = serde_json::from_str(&facts.replace(&own, HOME)).unwrap();
    if let [home] = evidence.homes.as_mut_slice() {
        home.home = Home::at(HOME);
    }
    evidence
}

/// A check and a part of the evidence, by name.
type Pair = (&'static str, &'static str);

fn pair(check: &Check, part: Part) -> Pair {
    (check.id, part.name())
}

/// The checks that say something else of this evidence once a part that they do not declare is another.
fn undeclared<'a>(evidence: &Evidence, others: impl Iterator<Item = &'a Evidence>) -> Vec<Pair> {
    let before: Vec<_> = all().map(|check| (check, (check.run)(evidence))).collect();
    let mut pairs = Vec::new();
    let others: Vec<_> = others.collect();
    for part in Part::ALL {
        let given = others.iter().map(|other| given(part, other, evidence));
        for state in given.chain(silent(part, evidence)) {
            let blind = before
                .iter()
                .filter(|(check, _)| !check.reads.contains(&part));
            let told = blind.filter(|(check, said)| (check.run)(&state) != *said);
            pairs.extend(told.map(|(check, _)| pair(check, part)));
        }
    }
    pairs
}

/// What a check says of this evidence does not hang on what it does not declare. Asked of whatever any
/// test of a home looks at.
pub(super) fn hold(evidence: &Evidence) {
    let others = World::get().homes.iter().take(3);
    assert_eq!(undeclared(&moved(evidence.clone()), others), []);
}

#[test]
fn what_a_check_does_not_declare_changes_nothing_of_what_it_says() {
    let world = World::get();
    for home in &world.homes {
        let pairs = undeclared(home, world.homes.iter());
        assert_eq!(pairs, []);
    }
    // Hosts differ in one thing each: of their pairs some tell enough.
    for (place, host) in world.hosts.iter().enumerate() {
        let pairs = undeclared(host, world.all().skip(place % 9).step_by(9));
        assert_eq!(pairs, []);
    }
}

#[test]
fn what_a_check_declares_can_change_what_it_says() {
    let world = World::get();
    let tells = |check: &Check, part: Part| {
        world.all().any(|evidence| {
            let said = (check.run)(evidence);
            let given = world.with(part).map(|other| given(part, other, evidence));
            let mut states = given.chain(silent(part, evidence));
            states.any(|state| (check.run)(&state) != said)
        })
    };
    let declared = all().flat_map(|check| check.reads.iter().map(move |part| (check, *part)));
    let unread: Vec<_> = declared
        .filter(|(check, part)| !tells(check, *part))
        .map(|(check, part)| pair(check, part))
        .collect();
    assert_eq!(unread, []);
}

/// Where the check passes, and would not if this part said something else, that the part told nothing
/// is no pass.
#[test]
fn a_part_that_told_nothing_is_never_taken_for_good() {
    let world = World::get();
    let mut taken = BTreeSet::<Pair>::new();
    for evidence in world.all() {
        for check in all().filter(|check| is_plain(&(check.run)(evidence))) {
            for part in check.reads {
                let Some(silence) = silent(*part, evidence) else {
                    continue;
                };
                if !is_plain(&(check.run)(&silence)) || taken.contains(&pair(check, *part)) {
                    continue;
                }
                let others = world
                    .with(*part)
                    .filter(|other| alike(*part, other, evidence));
                let mut states = others.map(|other| given(*part, other, evidence));
                if states.any(|state| !(check.run)(&state).findings.is_empty()) {
                    taken.insert(pair(check, *part));
                }
            }
        }
    }
    assert_eq!(taken, JUSTIFIED.iter().map(|(pair, _)| *pair).collect());
}

/// Silence that is no gap, and why.
const JUSTIFIED: [(Pair, &str); 7] = [
    (
        ("host-cgroup", "cgroup"),
        "what is mounted is always seen; only what scopes are given can be silent",
    ),
    (
        ("scheduler-ticker", "owners"),
        "a young heartbeat is life, unless its process is known to have ended",
    ),
    (
        ("session-bus", "runtime-dir"),
        "what is wrong with the directory its own check says",
    ),
    (
        ("session-bus", "session-bus"),
        "without systemd there is no user manager that could answer",
    ),
    (
        ("loops", "owners"),
        "who holds a session and was not looked at is not known to have ended",
    ),
    (
        ("sessions", "config"),
        "of a file that is broken nothing counts, and its own check says so",
    ),
    (
        ("sessions", "owners"),
        "a process that was not looked at is not known to have ended",
    ),
];

/// Whether two hosts agree in what of this part is always known: whose point of view is taken, and
/// whether a process is there.
fn alike(part: Part, one: &Evidence, other: &Evidence) -> bool {
    let known = |evidence: &Evidence| {
        let dispatcher = &evidence.facts.dispatcher;
        let process = dispatcher.process.as_ref();
        let role = process.map(|process| (process.role, process.program));
        (
            dispatcher.viewpoint,
            dispatcher.program,
            dispatcher.desktop,
            role,
        )
    };
    part != Part::Dispatcher || known(one) == known(other)
}

/// Neither a finding nor a gap.
fn is_plain(outcome: &Outcome) -> bool {
    outcome.findings.is_empty() && outcome.unchecked.is_empty()
}
