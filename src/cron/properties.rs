//! Tests: what holds for every schedule, and for every text.

use std::hint::black_box;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::expr::CronExpr;
use super::jobs_text::JobsText;
use super::next::{self, Zones};
use super::schedule::Schedule;
use super::stamp::Stamp;
use super::{warning, words};

/// Text that could be a field of a cron expression.
fn field(low: u32, high: u32) -> impl Strategy<Value = String> {
    let value = low..=high;
    prop_oneof![
        3 => Just("*".to_owned()),
        2 => value.clone().prop_map(|value| value.to_string()),
        1 => (1..=high).prop_map(|step| format!("*/{step}")),
        1 => (value.clone(), value.clone()).prop_map(|(a, b)| format!("{a}-{b}")),
        1 => (value.clone(), 1..=30_u32).prop_map(|(a, step)| format!("{a}/{step}")),
        1 => (value.clone(), value).prop_map(|(a, b)| format!("{a},{b}")),
    ]
}

fn expression() -> impl Strategy<Value = String> {
    let day = prop_oneof![9 => field(1, 31), 1 => Just("L".to_owned())];
    let second =
        prop_oneof![4 => Just(String::new()), 1 => field(0, 59).prop_map(|s| " ".to_owned() + &s)];
    (
        field(0, 59),
        field(0, 23),
        day,
        field(1, 12),
        field(0, 6),
        second,
    )
        .prop_map(|(minute, hour, day, month, weekday, second)| {
            format!("{minute} {hour} {day} {month} {weekday}{second}")
        })
}

fn zone() -> impl Strategy<Value = TimeZone> {
    prop::sample::select(vec![
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "America/Sao_Paulo",
        "Asia/Kolkata",
    ])
    .prop_map(|name| TimeZone::get(name).expect("a zone"))
}

/// Instants of 1990 to 2060, many of them near changes of the clock.
fn instant() -> impl Strategy<Value = Timestamp> {
    let near = (0..24_i64, -10_800..10_800_i64).prop_map(|(year, off)| {
        // The last Sundays of March and October lie around these days.
        1_269_738_000 + year * 31_557_600 / 2 + off
    });
    prop_oneof![631_152_000..2_840_140_800_i64, near]
        .prop_map(|second| Timestamp::from_second(second).expect("in range"))
}

fn cron(expr: &str) -> Option<Schedule> {
    let cron = CronExpr::parse(expr).ok()?;
    Some(Schedule::Cron {
        expr: expr.to_owned(),
        cron,
    })
}

proptest! {
    #[test]
    fn the_next_instant_lies_ahead_and_on_the_schedule(
        expr in expression(), base in instant(), zone in zone(),
    ) {
        let Some(schedule) = cron(&expr) else { return Ok(()) };
        if let Some(fire) = next::next_fire(&schedule, base, &zone) {
            prop_assert!(fire.instant > base);
            prop_assert!(next::on_lattice(&schedule, fire.instant, &zone), "{} {}", expr, fire.stamp);
            prop_assert_eq!(fire.stamp.instant(&zone), Some(fire.instant));
            // No instant of the schedule was left out.
            let until = fire.instant.checked_sub(SignedDuration::from_secs(1)).expect("earlier");
            let skipped = next::occurrences_between(&schedule, None, (base, until), &zone).next();
            if let Some(skipped) = skipped {
                // Only times that the clock had skipped before `base` may lie between.
                let shown = zone.to_offset(skipped.instant);
                prop_assert!(skipped.stamp.offset() != Some(shown), "{} {}", expr, skipped.stamp);
            }
        }
    }

    #[test]
    fn occurrences_rise_and_lie_on_the_schedule(
        expr in expression(), base in instant(), zone in zone(),
    ) {
        let Some(schedule) = cron(&expr) else { return Ok(()) };
        let end = base.checked_add(SignedDuration::from_hours(24 * 400)).expect("later");
        let mut last = base;
        for fire in next::occurrences_between(&schedule, None, (base, end), &zone).take(50) {
            prop_assert!(fire.instant > last && fire.instant <= end);
            prop_assert!(next::on_lattice(&schedule, fire.instant, &zone));
            last = fire.instant;
        }
    }

    #[test]
    fn slots_of_a_cadence_keep_their_distance(
        minutes in 1..100_000_i64, anchor in instant(), later in 0..100_000_000_i64,
    ) {
        let schedule = Schedule::Interval { minutes };
        let now = anchor.checked_add(SignedDuration::from_secs(later)).expect("later");
        let fire = next::next_in_cadence(&schedule, anchor, now, &TimeZone::UTC).expect("a slot");
        let since = fire.instant.duration_since(anchor).as_secs();
        prop_assert!(fire.instant > now && since % (minutes * 60) == 0);
        prop_assert!(fire.instant.duration_since(now).as_secs() <= minutes * 60);
    }

    #[test]
    fn what_was_read_is_read_again_from_the_store(text in schedule_text(), now in instant()) {
        let zone = TimeZone::get("Europe/Berlin").expect("a zone");
        let Ok(reading) = Schedule::parse(&text, now, &zone) else { return Ok(()) };
        let stored = serde_json::Value::Object(reading.to_json());
        let again = Schedule::from_json(&stored).expect("what we wrote");
        let zones = Zones::of(zone);
        prop_assert_eq!(
            next::next_run(&again, None, now, &zones),
            next::next_run(&reading.schedule, None, now, &zones)
        );
        prop_assert_eq!(again, reading.schedule);
    }

    #[test]
    fn no_text_brings_the_reader_down(text in "\\PC{0,40}", now in instant(), zone in zone()) {
        read_all(&text, now, &zone);
    }

    #[test]
    fn no_likely_text_brings_the_reader_down(text in schedule_text(), zone in zone()) {
        for now in [Timestamp::MIN, Timestamp::UNIX_EPOCH, Timestamp::MAX] {
            read_all(&text, now, &zone);
        }
    }

    #[test]
    fn a_stamp_is_written_as_it_was_read(
        now in instant(), micros in 0..1_000_000_i64, zone in zone(),
    ) {
        let now = now.checked_add(SignedDuration::from_micros(micros)).expect("later");
        let stamp = Stamp::of(now, &zone);
        let again = Stamp::parse(&stamp.to_string()).expect("what we wrote");
        prop_assert_eq!((again, again.instant(&zone)), (stamp, Some(now)));
    }

    #[test]
    fn no_bytes_bring_the_reader_of_the_store_down(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        if let Ok(text) = JobsText::new(&bytes) {
            prop_assert_eq!(text.typed().is_ok(), text.raw().is_ok());
        }
    }
}

fn read_all(text: &str, now: Timestamp, zone: &TimeZone) {
    if let Ok(reading) = Schedule::parse(text, now, zone) {
        black_box(words::say(&reading.schedule));
        black_box(warning::warnings(&reading, text, now, zone));
        black_box(next::next_fire(&reading.schedule, now, zone));
    }
    if let Ok(cron) = CronExpr::parse(text) {
        let schedule = Schedule::Cron {
            expr: text.to_owned(),
            cron,
        };
        black_box(next::on_lattice(&schedule, now, zone));
    }
    if let Some(stamp) = Stamp::parse(text) {
        black_box(stamp.instant(zone));
    }
}

fn schedule_text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "every",
        "in",
        "day",
        "weekday",
        "mon",
        "tuesday",
        "and",
        "at",
        "9am",
        "9:30",
        "noon",
        "30m",
        "2",
        "hours",
        "1h30m",
        "*",
        "*/5",
        "5-1",
        "L",
        "l5",
        "0",
        "99999999999999999999m",
        "2026-07-01",
        "2026-07-01T14:00:00",
        "2026-W27-3T09",
        "9999-12-31T23:59:59+23:59",
        "0001-01-01",
        "@daily",
        "#",
        "mon#2",
        "\u{3000}",
        "T",
        "٣m",
        ",",
    ]);
    let words = prop::collection::vec(word, 0..8).prop_map(|words| words.join(" "));
    prop_oneof![words, expression()]
}
