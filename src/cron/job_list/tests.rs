//! A list of jobs as texts and as objects.

use proptest::prelude::*;
use serde_json::json;

use super::super::jobs_text::JobsText;
use super::*;

const STORE: &str = "{\"top\": 1.50, \"jobs\": [ {\"id\":\"a\",  \"n\":1e2},\n{\"id\": \"\\u0062\"}, \
                     {\"note\": \"a\", \"id\": \"c\"}, {\"id\": \"a\"} ], \"updated_at\": \"t\"}";

fn changed(change: impl Fn(&mut JobList<'_>)) -> String {
    let text = JobsText::new(STORE.as_bytes()).unwrap();
    let mut list = text.list().unwrap();
    change(&mut list);
    written(&list, "now")
}

/// The document, whole.
pub(in crate::cron) fn written(list: &JobList<'_>, at: &str) -> String {
    let mut bytes = Vec::new();
    list.written(at).unwrap().to(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn what_is_not_touched_stays_letter_by_letter() {
    let written = changed(|list| {
        list.find("c").unwrap().insert("x".into(), json!([1]));
    });
    let expected = "{\n  \"jobs\": [\n    {\"id\":\"a\",  \"n\":1e2},\n    {\"id\": \"\\u0062\"},\n    \
                    {\n      \"note\": \"a\",\n      \"id\": \"c\",\n      \"x\": [\n        1\n      ]\n    \
                    },\n    {\"id\": \"a\"}\n  ],\n  \"updated_at\": \"now\",\n  \"top\": 1.50\n}";
    assert_eq!(written, expected);
}

#[test]
fn jobs_are_found_by_their_id_however_it_is_written() {
    let text = JobsText::new(STORE.as_bytes()).unwrap();
    let mut list = text.list().unwrap();
    assert!(list.find("a").unwrap().contains_key("n"), "the first");
    assert!(list.find("b").is_some(), "written with an escape");
    assert!(list.find("note").is_none(), "a key is no id");
    assert!(list.find("").is_none());
    assert!(list.remove("a"), "both of them");
    assert!(!list.remove("a"));
    assert_eq!(list.find("c").unwrap()["note"], "a");
    list.find("c").unwrap().insert("id".into(), json!("d"));
    assert!(list.find("c").is_none(), "found by what it is called now");
    list.get_mut(0).unwrap().insert("id".into(), json!("d"));
    assert!(!list.find("d").unwrap().contains_key("note"), "the first");
}

#[test]
fn odd_shapes_are_read_the_long_way() {
    for (odd, mended) in [
        (r#"{"jobs": {"k": {"n": 1}}}"#, true),
        (r#"[{"id": "k"}]"#, true),
        (r#"{"jobs": [{"id": "k"}, 5]}"#, true),
        ("{\"jobs\": [{\"id\": \"k\", \"p\": \"a\tb\"}]}", true),
        (r#"{"jobs": [{"id": "k", "p": "\ud800"}]}"#, false),
        (r#"{"jobs": [{"id": "k", "p": NaN}]}"#, false),
        (r#"{"jobs": [{"id": "k"}]}"#, false),
    ] {
        let text = JobsText::new(odd.as_bytes()).unwrap();
        let mut list = text.list().unwrap();
        assert_eq!(list.is_mended(), mended, "{odd}");
        assert!(list.find("k").is_some(), "{odd}");
    }
    for broken in [
        r#"{"jobs": [{"id": }]}"#,
        r#"{"jobs": 5}"#,
        r#"{"jobs": [{"a": 01}]}"#,
    ] {
        assert!(
            JobsText::new(broken.as_bytes()).unwrap().list().is_err(),
            "{broken}"
        );
    }
}

proptest! {
    /// Texts and objects are two ways to the same document.
    #[test]
    fn a_list_of_texts_changes_as_a_list_of_objects_does(
        jobs in prop::collection::vec(("[a-dé\"\\\\]{0,2}", any::<i32>()), 0..8),
        steps in prop::collection::vec(("[a-dé\"\\\\]{0,2}", 0..4_u8, any::<u8>()), 0..8),
        compact in any::<bool>(),
    ) {
        let jobs: Vec<_> = jobs.iter().map(|(id, n)| json!({"id": id, "n": n})).collect();
        let store = json!({"jobs": jobs, "other": {"k": [1, 2]}});
        let source = if compact { store.to_string() } else { to_text(&store) };
        let text = JobsText::new(source.as_bytes()).unwrap();
        let mut texts = text.list().unwrap();
        let raw = text.raw().unwrap();
        let mut objects = JobList::of(raw);
        for (id, what, n) in &steps {
            for list in [&mut texts, &mut objects] {
                match what {
                    0 => list.push(json!({"id": id}).as_object().unwrap().clone()),
                    1 => drop(list.remove(id)),
                    2 => list.remove_at(|index| index == usize::from(*n)),
                    _ => if let Some(job) = list.find(id) {
                        job.insert("seen".into(), json!(n));
                    },
                }
            }
        }
        let (texts, objects) = (texts.text("t"), objects.text("t"));
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        prop_assert_eq!(parsed(&texts), parsed(&objects));
        if !compact {
            prop_assert_eq!(texts, objects);
        }
    }
}
