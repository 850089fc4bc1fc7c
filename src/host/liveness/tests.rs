//! Alive, dead, reused, unverified: each by what was recorded and what is seen.

use proptest::prelude::*;

use super::*;

fn recorded() -> Identity {
    Identity {
        pid: 4242,
        start_ticks: Some(100_000),
        ..Identity::default()
    }
}

fn seen() -> Observation {
    Observation {
        signal: Signal::Exists,
        start_ticks: Some(100_000),
        started_at: Some(1_795_991_512.66),
        zombie: false,
        kin: Some(true),
        boot: Some(BootMark {
            id: "a".to_owned(),
            init_start: Some(22),
        }),
        pid_namespace: Some(1),
        ticks_per_second: 100,
    }
}

#[test]
fn the_same_start_is_alive_and_another_is_reuse() {
    assert_eq!(judge(&recorded(), &seen()), Liveness::Alive);
    let near = Identity {
        start_ticks: Some(100_200),
        ..recorded()
    };
    assert_eq!(judge(&near, &seen()), Liveness::Alive);
    let far = Identity {
        start_ticks: Some(100_201),
        ..recorded()
    };
    assert_eq!(judge(&far, &seen()), Liveness::Reused);
}

#[test]
fn gone_is_what_the_kernel_calls_gone() {
    let gone = Observation {
        signal: Signal::Gone,
        start_ticks: None,
        started_at: None,
        ..seen()
    };
    assert_eq!(judge(&recorded(), &gone), Liveness::Dead(Death::Gone));
    let zombie = Observation {
        zombie: true,
        ..seen()
    };
    assert_eq!(judge(&recorded(), &zombie), Liveness::Dead(Death::Zombie));
}

#[test]
fn a_hidden_process_is_unverified_not_dead() {
    let hidden = Observation {
        start_ticks: None,
        started_at: None,
        kin: None,
        ..seen()
    };
    assert_eq!(
        judge(&recorded(), &hidden),
        Liveness::Unverified(Doubt::StartUnknown)
    );
}

#[test]
fn b94_a_start_that_is_missing_on_either_side_is_not_a_death() {
    let bare = Identity {
        start_ticks: None,
        ..recorded()
    };
    assert_eq!(
        judge(&bare, &seen()),
        Liveness::Unverified(Doubt::StartUnknown)
    );
    let unreadable = Observation {
        start_ticks: None,
        started_at: None,
        ..seen()
    };
    assert_eq!(
        judge(&recorded(), &unreadable),
        Liveness::Unverified(Doubt::StartUnknown)
    );
}

#[test]
fn b106_an_unrelated_program_is_not_the_owner() {
    let stranger = Observation {
        start_ticks: None,
        started_at: None,
        kin: Some(false),
        ..seen()
    };
    assert_eq!(judge(&recorded(), &stranger), Liveness::Reused);
    let unreadable = Observation {
        kin: None,
        ..stranger
    };
    assert_eq!(
        judge(&recorded(), &unreadable),
        Liveness::Unverified(Doubt::StartUnknown)
    );
}

#[test]
fn another_boot_is_a_death_and_another_container_is_a_doubt() {
    let mark = |id: &str, start| {
        Some(BootMark {
            id: id.to_owned(),
            init_start: Some(start),
        })
    };
    let of = |boot| Identity { boot, ..recorded() };
    let verdict = |boot| judge(&of(boot), &seen());
    assert_eq!(verdict(mark("a", 22)), Liveness::Alive);
    assert_eq!(verdict(mark("b", 22)), Liveness::Dead(Death::Rebooted));
    assert_eq!(
        verdict(mark("a", 9)),
        Liveness::Unverified(Doubt::OtherInit)
    );
    let elsewhere = Identity {
        pid_namespace: Some(2),
        ..recorded()
    };
    let gone_here = Observation {
        signal: Signal::Gone,
        ..seen()
    };
    assert_eq!(
        judge(&elsewhere, &gone_here),
        Liveness::Unverified(Doubt::OtherNamespace)
    );
}

#[test]
fn a_wall_time_proves_life_but_not_reuse() {
    let epoch = |started_at| Identity {
        pid: 1,
        started_at: Some(started_at),
        ..Identity::default()
    };
    assert_eq!(judge(&epoch(1_795_991_511.0), &seen()), Liveness::Alive);
    assert_eq!(
        judge(&epoch(1_795_990_000.0), &seen()),
        Liveness::Unverified(Doubt::ClockMoved)
    );
    let stranger = Observation {
        kin: Some(false),
        ..seen()
    };
    assert_eq!(judge(&epoch(1_795_990_000.0), &stranger), Liveness::Reused);
}

#[test]
fn boot_marks_of_host_records_are_read() {
    let text = "6F1A0000-0000-0000-0000-00000000000b:22";
    let mark = BootMark::parse(text).unwrap();
    assert_eq!(mark.id, "6f1a0000-0000-0000-0000-00000000000b");
    assert_eq!(mark.init_start, Some(22));
    assert_eq!(BootMark::parse("no mark"), None);
    assert_eq!(BootMark::parse("x:22"), None);
}

proptest! {
    /// Whatever was recorded: a pid that exists and whose start is unknown is over only if another
    /// boot or a foreign command line says so.
    #[test]
    fn unknown_is_never_dead(
        start in proptest::option::of(any::<u64>()),
        kin in proptest::option::of(Just(true)),
        namespace in proptest::option::of(0_u64..3),
    ) {
        let recorded = Identity { start_ticks: start, pid_namespace: namespace, ..recorded() };
        let seen = Observation { start_ticks: None, started_at: None, kin, ..seen() };
        prop_assert!(!judge(&recorded, &seen).is_over());
    }
}
