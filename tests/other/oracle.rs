//! croniter itself, asked anew about thousands of random expressions and instants.

use std::path::PathBuf;
use std::process::Command;

use hermes::cron::expr::CronExpr;
use jiff::civil::{DateTime, date};

/// Beside the one whose answers are recorded in `tests/data/vectors/croniter.tsv`.
const SEEDS: [u32; 2] = [1, 2];
const LINES: usize = 3000;

/// Seeds from the environment, to look further: `HERMES_ORACLE_SEEDS="3 4 5"`.
fn seeds() -> Vec<u32> {
    let named = std::env::var("HERMES_ORACLE_SEEDS").unwrap_or_default();
    let named: Vec<u32> = named
        .split_whitespace()
        .map(|word| word.parse().expect("a seed"))
        .collect();
    if named.is_empty() {
        SEEDS.to_vec()
    } else {
        named
    }
}

fn ask(seed: u32) -> String {
    let python = std::env::var_os("HERMES_AGENT_PYTHON").map(PathBuf::from);
    let output = Command::new(python.expect("an interpreter: run tests/run other"))
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/oracle/ask_croniter.py"
        ))
        .args([seed.to_string(), LINES.to_string()])
        .output()
        .expect("it starts");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(text.lines().count(), LINES);
    text
}

/// The instants that follow, as many as the answer has; nothing for an expression that is refused.
fn theirs(base: DateTime, answer: &str) -> Option<Vec<Option<DateTime>>> {
    if answer == "bad" {
        return None;
    }
    let mut at = base;
    let step = |word: &str| {
        let nanos = match word.split_once('.') {
            _ if word == "none" => return None,
            Some((whole, micros)) => {
                seconds(whole) + i128::from(micros.parse::<u32>().ok()?) * 1000
            }
            None => seconds(word),
        };
        let step = jiff::SignedDuration::from_nanos_i128(nanos);
        at = at.checked_add(step).expect("in range");
        Some(at)
    };
    Some(answer.split(' ').map(step).collect())
}

fn seconds(word: &str) -> i128 {
    word.parse::<i128>().expect("seconds") * 1_000_000_000
}

fn ours(base: DateTime, expr: &str, count: usize) -> Option<Vec<Option<DateTime>>> {
    let cron = CronExpr::parse(expr).ok()?;
    let mut found = Vec::new();
    let mut at = base;
    while found.len() < count {
        let next = cron.next_after(at);
        found.push(next);
        let Some(next) = next else { break };
        at = next;
    }
    Some(found)
}

/// The one intended difference, `short-month-ends` of `tests/data/intended_differences.json`: beside a
/// day from 29 on, croniter leaves out the last day of a shorter month and 1 and 2 March.
fn is_intended(expr: &str, ours: Option<DateTime>, theirs: Option<DateTime>) -> bool {
    let Some(ours) = ours else { return false };
    if theirs.is_some_and(|theirs| theirs <= ours) {
        return false;
    }
    let days = expr.split_whitespace().nth(2).unwrap_or_default();
    let (last, plain): (Vec<&str>, Vec<&str>) = days
        .split(',')
        .partition(|item| item.eq_ignore_ascii_case("l"));
    let late = CronExpr::parse(&format!("0 0 {} * *", plain.join(",")));
    let late =
        late.is_ok_and(|late| (29..=31).any(|day| late.matches(date(2027, 1, day).at(0, 0, 0, 0))));
    let short = ours.date() == ours.date().last_of_month() && ours.day() < 31 && !last.is_empty();
    late && (short || (ours.month() == 3 && ours.day() <= 2))
}

#[test]
#[ignore = "needs croniter: tests/run other"]
fn croniter_asked_anew_agrees_or_we_differ_on_purpose() {
    let mut differ = Vec::new();
    for seed in seeds() {
        for line in ask(seed).lines() {
            let [id, base, answer, expr] = line.splitn(4, '\t').collect::<Vec<_>>()[..] else {
                panic!("{line:?}")
            };
            let base: DateTime = base.parse().expect("an instant");
            let theirs = theirs(base, answer);
            let ours = ours(base, expr, theirs.as_ref().map_or(3, Vec::len));
            let on_purpose = match (&ours, &theirs) {
                (Some(ours), Some(theirs)) => ours
                    .iter()
                    .zip(theirs)
                    .find(|(ours, theirs)| ours != theirs)
                    .is_none_or(|(ours, theirs)| is_intended(expr, *ours, *theirs)),
                (ours, theirs) => ours.is_none() && theirs.is_none(),
            };
            if !on_purpose {
                differ.push(format!(
                    "{seed} {id} {expr:?} from {base}: {ours:?}, not {theirs:?}"
                ));
            }
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
