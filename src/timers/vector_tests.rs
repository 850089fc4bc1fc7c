//! Every recorded reading of a `/loop` or `/heartbeat` text, and readings found by asking for more.

use serde_json::{Value, json};

use super::args::{loop_format_interval, loop_interval_token, parse_loop_args};
use super::heartbeat_args::{
    HeartbeatCommand, HeartbeatInterval, heartbeat_command, heartbeat_format_interval,
    heartbeat_interval,
};

const VECTORS: &str = include_str!("../../tests/data/vectors/loop-args-a.json");

fn loop_args(text: &str) -> Value {
    match parse_loop_args(text) {
        Ok(args) => json!({"result": {
            "interval_seconds": args.interval_seconds, "prompt": args.prompt,
            "times": args.times, "until": args.until, "error": null,
        }}),
        Err(error) => json!({"result": {
            "interval_seconds": null, "prompt": "", "times": 0, "until": "",
            "error": error.category(),
        }}),
    }
}

fn interval(text: &str) -> Value {
    match heartbeat_interval(text) {
        HeartbeatInterval::Seconds(seconds) => json!({ "seconds": seconds }),
        HeartbeatInterval::TooSmall => json!({ "seconds": -1 }),
        HeartbeatInterval::Unreadable => json!({ "seconds": null }),
    }
}

fn command(text: &str) -> Value {
    match heartbeat_command(text) {
        Ok(HeartbeatCommand::Bare | HeartbeatCommand::Status) => json!({"action": "status"}),
        Ok(HeartbeatCommand::Pause) => json!({"action": "pause"}),
        Ok(HeartbeatCommand::Resume) => json!({"action": "resume"}),
        Ok(HeartbeatCommand::Clear) => json!({"action": "clear"}),
        Ok(HeartbeatCommand::Set {
            interval_seconds,
            prompt,
        }) => {
            json!({"action": "set", "interval_seconds": interval_seconds, "prompt": prompt})
        }
        Err(error) => json!({"action": "error", "category": error.category()}),
    }
}

#[test]
fn every_vector_is_read_as_recorded() {
    let file: Value = serde_json::from_str(VECTORS).unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 86);
    for vector in vectors {
        let input = &vector["input"];
        let text = input.as_str().unwrap_or_default();
        let got = match vector["fn"].as_str().unwrap() {
            "parse_loop_args" => loop_args(text),
            "loop_interval_token" => json!({"seconds": loop_interval_token(text)}),
            "heartbeat_interval" => interval(text),
            "heartbeat_command" => command(text),
            "loop_format_interval" => {
                json!({"text": loop_format_interval(input.as_f64().unwrap())})
            }
            "heartbeat_format_interval" => {
                json!({"text": heartbeat_format_interval(input.as_i64().unwrap())})
            }
            other => panic!("unknown function {other}"),
        };
        assert_eq!(got, vector["expect"], "{} {input}", vector["id"]);
    }
}

type Reading = (&'static str, Option<u128>, &'static str, u128, &'static str);

/// `(text, interval, prompt, times, until)`: what the other program answers, beyond the vectors.
const READINGS: &[Reading] = &[
    ("every morning do x", None, "morning do x", 0, ""),
    ("EVERY\t5m\tx", Some(300), "x", 0, ""),
    ("every5m x", None, "every5m x", 0, ""),
    ("every every 5m x", None, "every 5m x", 0, ""),
    ("every --times 3 --until y", None, "every", 3, "y"),
    ("5m check --times", Some(300), "check --times", 0, ""),
    ("5m check\n--times 3\nmore", Some(300), "check\nmore", 3, ""),
    (
        "5m check  --times  3  more",
        Some(300),
        "check   more",
        3,
        "",
    ),
    ("5m x --times 1_000", Some(300), "x", 1000, ""),
    ("5m x --times ３", Some(300), "x", 3, ""),
    ("5m x --times 00003", Some(300), "x", 3, ""),
    ("--times 3 x", None, "--times 3 x", 0, ""),
    ("--until x --times 2", None, "--until x", 2, ""),
    ("5m --TIMES 3 x", Some(300), "--TIMES 3 x", 0, ""),
    ("x --until  --times 3", None, "x --until", 3, ""),
    ("x --until --until y", None, "x", 0, "--until y"),
    ("--until --until x", None, "--until", 0, "x"),
    ("٥m x", Some(300), "x", 0, ""),
    ("５h5ſ x", Some(18_005), "x", 0, ""),
    ("5ｍ x", None, "5ｍ x", 0, ""),
    ("5m\u{a0}x", Some(300), "x", 0, ""),
    ("5m x\u{1c}--times 3", Some(300), "x", 3, ""),
    ("5m x --times 2\u{85}y", Some(300), "x\u{85}y", 2, ""),
    ("\u{feff}5m x", None, "\u{feff}5m x", 0, ""),
    ("1h 30m x", Some(3600), "30m x", 0, ""),
    ("-5m x", None, "-5m x", 0, ""),
];

#[test]
fn loop_texts_at_the_edges() {
    for &(text, seconds, prompt, times, until) in READINGS {
        let args = parse_loop_args(text).unwrap();
        assert_eq!(
            (
                args.interval_seconds,
                args.prompt.as_str(),
                args.times,
                args.until.as_str()
            ),
            (seconds, prompt, times, until),
            "{text:?}"
        );
    }
    for bad in [
        "0",
        "+0",
        "-0",
        "_1",
        "1_",
        "0x3",
        "3.0",
        "²",
        "3,",
        "1\u{200b}",
        "3--until",
    ] {
        let text = format!("5m x --times {bad}");
        assert_eq!(
            parse_loop_args(&text).unwrap_err().category(),
            "times",
            "{text:?}"
        );
    }
}

#[test]
fn heartbeat_texts_at_the_edges() {
    for (text, seconds) in [
        ("every\n10m", 600),
        ("10\u{a0}m", 600),
        ("٦٠s", 60),
        ("1.٥h", 5400),
        ("1.999m", 119),
        ("2.675m", 160),
        ("9007199254740993s", 9_007_199_254_740_992),
        ("59.99999999999999999s", 60),
    ] {
        assert_eq!(
            heartbeat_interval(text),
            HeartbeatInterval::Seconds(seconds),
            "{text:?}"
        );
    }
    for text in [
        "every10m",
        "every every 10m",
        "10m x",
        "1_0m",
        "+10m",
        "1,5m",
        "90 ſ",
        "10 Mın",
    ] {
        assert_eq!(
            heartbeat_interval(text),
            HeartbeatInterval::Unreadable,
            "{text:?}"
        );
    }
    assert_eq!(
        heartbeat_interval(&format!("{}d", "9".repeat(400))),
        HeartbeatInterval::Unreadable
    );
    assert_eq!(
        heartbeat_command("every 10 minutes x")
            .unwrap_err()
            .category(),
        "usage"
    );
    assert_eq!(
        heartbeat_command("30s").unwrap_err().category(),
        "interval_too_small"
    );
    assert_eq!(
        heartbeat_command("hello there").unwrap_err().category(),
        "usage"
    );
}
