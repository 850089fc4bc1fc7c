//! Stores as people have them: good, odd, and broken.

use super::*;
use crate::doctor::evidence::read::TroubleKind;

fn store(text: &str) -> JobStore {
    parse(text.as_bytes()).unwrap()
}

fn trouble(text: &[u8]) -> Trouble {
    parse(text).unwrap_err()
}

const ONE: &str = r#"{"id":"a1","name":"n","prompt":"p","schedule":{"kind":"interval","minutes":5},
  "repeat":{"times":null,"completed":2},"enabled":true,"state":"scheduled","next_run_at":"x",
  "fire_claim":{"at":"t","by":"h:1:ff"},"last_dispatch":{"kind":"late","lateness_seconds":4.5}}"#;

#[test]
fn a_good_store_has_no_oddities() {
    let store = store(&format!(r#"{{"jobs":[{ONE}],"updated_at":"x"}}"#));
    assert_eq!((store.jobs.len(), store.oddities.len()), (1, 0));
    let job = &store.jobs[0];
    assert_eq!((job.id.as_str(), job.schedule.minutes), ("a1", Some(5)));
    assert_eq!(job.times, None);
    assert_eq!(job.claims.fire.as_ref().unwrap().by, "h:1:ff");
    assert!((job.last.dispatch.as_ref().unwrap().lateness - 4.5).abs() < 1e-9);
    assert!(job.ill_typed.is_empty() && job.is_armed());
}

#[test]
fn b55_a_byte_order_mark_is_noted_and_read_over() {
    let store = store(&format!("\u{feff}{{\"jobs\":[{ONE}]}}"));
    assert_eq!(store.oddities, [ShapeNote::Bom]);
    assert_eq!(store.jobs.len(), 1);
}

#[test]
fn b56_a_bare_list_loads_and_other_shapes_are_named() {
    assert_eq!(store(&format!("[{ONE}]")).oddities, [ShapeNote::BareList]);
    let map = store(&format!("{{\"jobs\":{{\"k\":{ONE},\"m\":{{}}}}}}"));
    assert_eq!(map.oddities, [ShapeNote::Map]);
    assert_eq!(
        (map.jobs[0].id.as_str(), map.jobs[1].id.as_str()),
        ("a1", "m")
    );
    for text in ["7", "null", "\"x\"", "{\"jobs\":7}", "{\"jobs\":\"x\"}"] {
        assert_eq!(trouble(text.as_bytes()).slug, "wrong-shape", "{text}");
    }
    assert_eq!(store("{}").oddities, [ShapeNote::NoJobs]);
}

#[test]
fn b57_truncated_text_has_line_and_column() {
    let text = format!("{{\n \"jobs\": [{ONE}");
    let cut = trouble(text.as_bytes());
    assert_eq!((cut.slug, cut.kind), ("truncated", TroubleKind::Damaged));
    assert_eq!(cut.at, Some((4, 95)));
    assert_eq!(trouble(b"").slug, "empty");
    assert_eq!(trouble(b"{\"jobs\":[\xff]}").at, Some((1, 10)));
}

#[test]
fn b57_a_raw_control_character_is_read_over_and_placed() {
    let text = ONE.replace("\"p\"", "\"p\u{7}q\"");
    let store = store(&format!("{{\"jobs\":[{text}]}}"));
    assert_eq!(store.jobs.len(), 1);
    assert!(matches!(
        store.oddities[..],
        [ShapeNote::ControlCharacters { line: 1, .. }]
    ));
}

#[test]
fn b60_one_bad_record_hides_no_other() {
    let store = store(&format!(
        r#"{{"jobs":[7, "x", null, [1], true, -1.5e3, {{"id":5,"origin":"telegram","enabled":"yes"}}, {ONE}]}}"#
    ));
    assert_eq!(store.dropped, 6);
    assert_eq!(
        store.jobs[0].ill_typed,
        [("id", "a number"), ("origin", "text"), ("enabled", "text")]
    );
    assert_eq!(store.jobs[1].id, "a1");
}

#[test]
fn a_name_that_comes_twice_counts_once() {
    let store = store(r#"{"jobs":[{"id":"a","id":"b"}]}"#);
    assert_eq!(store.jobs[0].id, "b");
}

#[test]
fn copies_are_found_newest_first() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("jobs.json"), "{").unwrap();
    std::fs::write(dir.path().join("jobs.json.bak"), format!("[{ONE}]")).unwrap();
    std::fs::write(dir.path().join(".jobs_x.tmp"), "{").unwrap();
    let found = backups(dir.path());
    assert_eq!(found.len(), 2);
    assert!(found.is_sorted_by(|a, b| a.modified >= b.modified));
    let usable: Vec<_> = found
        .iter()
        .filter_map(|copy| copy.jobs.clone().ok())
        .collect();
    assert_eq!(usable, [1]);
}
