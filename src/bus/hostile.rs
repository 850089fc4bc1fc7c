//! For tests: units as a manager might describe them that lies, errs, or was given strange names.

use std::collections::HashMap;

use proptest::prelude::*;
use zbus::{OwnedVariant, Variant};

use super::bag::Bag;
use super::unit::Unit;

/// Texts that a terminal, a shell or a reader of paths might act on.
pub(crate) fn words() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "",
        "\u{1b}[2J\u{1b}]0;x\u{7}",
        "a\nb\tc\r",
        "it's \"$(reboot)\" `id` ; rm -rf / #",
        "\u{202e}\u{200b}\u{feff}",
        "-rf",
        "../../etc",
        "/run/user/0/bus",
        "größe \u{1f600}",
        "x.service",
        "hermes",
        "%h \\x2d ${HOME}",
        "99999999999999999999",
    ]);
    let odd = odd.prop_map(str::to_owned);
    prop_oneof![3 => odd, 1 => "\\PC{0,12}", 1 => "[\\x01-\\x1f'\"\\\\ ]{0,8}"]
}

/// A value of any of the types that properties have.
fn variant() -> impl Strategy<Value = Variant<'static>> {
    let numbers = prop::sample::select(vec![0, 1, u64::MAX - 1, u64::MAX]);
    prop_oneof![
        words().prop_map(Variant::from),
        prop::collection::vec(words(), 0..4).prop_map(Variant::from),
        any::<bool>().prop_map(Variant::from),
        numbers.prop_map(Variant::from),
        any::<u32>().prop_map(Variant::from),
        any::<i32>().prop_map(Variant::from),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Variant::from),
        (words(), words()).prop_map(Variant::from),
        (any::<bool>(), prop::collection::vec(words(), 0..3)).prop_map(Variant::from),
        prop::collection::vec((words(), any::<bool>()), 0..3).prop_map(Variant::from),
        prop::collection::vec(
            (words(), any::<bool>(), any::<bool>(), words(), any::<i32>()),
            0..3
        )
        .prop_map(Variant::from),
        prop::collection::vec(
            (words(), prop::collection::vec(words(), 0..4), any::<bool>()),
            0..3
        )
        .prop_map(Variant::from),
    ]
}

/// Every property that is read.
const NAMES: [&str; 35] = [
    "Id",
    "LoadState",
    "LoadError",
    "ActiveState",
    "SubState",
    "UnitFileState",
    "ConditionResult",
    "Conditions",
    "ConditionTimestamp",
    "InvocationID",
    "FragmentPath",
    "DropInPaths",
    "Wants",
    "Requires",
    "BindsTo",
    "NeedDaemonReload",
    "ActiveEnterTimestamp",
    "Result",
    "Type",
    "KillMode",
    "User",
    "UID",
    "Environment",
    "EnvironmentFiles",
    "ExecStart",
    "WorkingDirectory",
    "Restart",
    "NRestarts",
    "MainPID",
    "ControlGroup",
    "TimeoutStopUSec",
    "ProtectHome",
    "RestrictAddressFamilies",
    "LimitNOFILESoft",
    "MemoryMax",
];

/// A unit of such values; some of them are of the type that is promised.
pub(crate) fn unit() -> impl Strategy<Value = Unit> {
    let texts = prop::collection::vec(words(), 35..=35);
    let others = prop::collection::vec(prop::option::of(variant()), 35..=35);
    (texts, others).prop_map(|(texts, others)| {
        let value = |(text, other): (String, Option<Variant<'static>>)| {
            other.unwrap_or_else(|| Variant::from(text))
        };
        let values = texts.into_iter().zip(others).map(value);
        let owned = |(name, value): (&str, Variant<'static>)| -> Option<(String, OwnedVariant)> {
            Some((name.to_owned(), value.try_into_owned().ok()?))
        };
        let replies: HashMap<_, _> = NAMES.into_iter().zip(values).filter_map(owned).collect();
        let mut bag = Bag::default();
        bag.extend(replies);
        Unit::read(&bag)
    })
}
