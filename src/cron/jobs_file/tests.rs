//! The job store on a disk: what survives a round trip, and who waits for whom.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::*;

struct Place {
    _directory: tempfile::TempDir,
    file: JobsFile,
}

fn place(content: Option<&str>) -> Place {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    if let Some(content) = content {
        fs::create_dir(home.cron()).unwrap();
        fs::write(home.jobs_file(), content).unwrap();
    }
    let file = JobsFile::new(&home, TimeZone::UTC).with_patience(Duration::ZERO);
    Place {
        _directory: directory,
        file,
    }
}

fn now() -> Timestamp {
    "2026-06-17T10:00:00Z".parse().unwrap()
}

fn add(jobs: &mut JobList<'_>, id: &str) {
    jobs.push(json!({ "id": id }).as_object().unwrap().clone());
}

fn ids(file: &JobsFile) -> Vec<String> {
    let loaded = file.read().unwrap();
    loaded
        .jobs
        .jobs
        .iter()
        .map(|job| job["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn keys_that_we_do_not_know_survive() {
    let text = r#"{"jobs":[{"id":"a","future":{"x":1.50}}],"updated_at":"t","top":[1]}"#;
    let place = place(Some(text));
    place
        .file
        .update(now(), |jobs| {
            add(jobs, "b");
            Ok(Change::Write(()))
        })
        .unwrap();
    let written = fs::read_to_string(place.file.path()).unwrap();
    assert!(
        written.contains(r#"{"id":"a","future":{"x":1.50}}"#),
        "{written}"
    );
    assert!(written.contains("\"top\""), "{written}");
    assert!(
        written.contains("\"updated_at\": \"2026-06-17T10:00:00+00:00\""),
        "{written}"
    );
    assert!(!written.ends_with('\n'));
}

#[test]
fn b57_an_unreadable_store_refuses_every_write_and_names_the_backup() {
    let place = place(Some("{\"jobs\": [{\"id\": \"a\"\n"));
    let before = fs::read(place.file.path()).unwrap();
    let backups = place.file.home.join("cron/backups");
    fs::create_dir(&backups).unwrap();
    fs::write(
        backups.join("jobs-20260101T000000.000000Z.json"),
        "{\"jobs\":[]}",
    )
    .unwrap();
    fs::write(backups.join("jobs-20260201T000000.000000Z.json"), "{").unwrap();
    let error = place
        .file
        .update(now(), |_| Ok(Change::Write(())))
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Invalid);
    assert!(error.message().contains("line 2"), "{error}");
    assert!(
        error
            .hints()
            .iter()
            .any(|hint| hint.contains("jobs-20260101")),
        "{:?}",
        error.hints()
    );
    assert_eq!(fs::read(place.file.path()).unwrap(), before);
}

#[test]
fn b55_b56_small_damage_is_mended_by_the_next_write_and_kept_as_a_backup() {
    for text in [
        "\u{feff}{\"jobs\":[{\"id\":\"a\"}]}",
        "[{\"id\":\"a\"}]",
        "{\"jobs\":{\"a\":{}}}",
    ] {
        let place = place(Some(text));
        assert_eq!(ids(&place.file), ["a"], "{text}");
        place.file.update(now(), |_| Ok(Change::Write(()))).unwrap();
        assert!(
            fs::read_to_string(place.file.path())
                .unwrap()
                .starts_with("{\n  \"jobs\": [")
        );
        let kept = backups(&place.file.home.join("cron/backups"));
        assert_eq!(fs::read_to_string(&kept[0]).unwrap(), text);
    }
}

#[test]
fn a_write_past_the_lock_is_not_lost() {
    let place = place(Some("{\"jobs\":[]}"));
    let path = place.file.path();
    let mut rounds = 0;
    place
        .file
        .update(now(), |jobs| {
            rounds += 1;
            if rounds == 1 {
                fs::write(&path, "{\"jobs\":[{\"id\":\"theirs\"}]}").unwrap();
            }
            add(jobs, "ours");
            Ok(Change::Write(()))
        })
        .unwrap();
    assert_eq!(ids(&place.file), ["theirs", "ours"]);
}

#[test]
fn a_change_that_refuses_and_one_that_does_nothing_leave_the_file() {
    let place = place(Some("[]"));
    let refused = place.file.update(now(), |jobs| {
        add(jobs, "x");
        Err::<Change<()>, _>(Error::new(Kind::NotFound, "no such job"))
    });
    assert!(refused.is_err());
    place
        .file
        .update(now(), |_| Ok(Change::Nothing(())))
        .unwrap();
    assert_eq!(fs::read_to_string(place.file.path()).unwrap(), "[]");
}

#[test]
fn the_last_twenty_backups_are_kept() {
    let place = place(Some("{\"jobs\":[]}"));
    for minute in 0..25 {
        let at = now() + jiff::SignedDuration::from_mins(minute);
        place
            .file
            .update(at, |_| Ok(Change::WriteAfterBackup(())))
            .unwrap();
    }
    let kept = backups(&place.file.home.join("cron/backups"));
    assert_eq!(kept.len(), BACKUPS);
    assert!(kept[0].to_string_lossy().contains("T102400"), "{kept:?}");
}

#[test]
fn a_new_store_is_private_and_a_missing_home_is_not_made() {
    let place = place(None);
    place.file.update(now(), |_| Ok(Change::Write(()))).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place.file.path()), 0o600);
    assert_eq!(mode(&place.file.home.cron()), 0o700);
    let gone = Home::at(place.file.home.join("profiles/gone"));
    let file = JobsFile::new(&gone, TimeZone::UTC);
    assert!(file.update(now(), |_| Ok(Change::Write(()))).is_err());
    assert!(!gone.path().exists());
}

#[test]
fn without_the_lock_nothing_is_written() {
    let place = place(Some("{\"jobs\":[]}"));
    let held = files::try_lock(&place.file.home.join("cron/.jobs.lock")).unwrap();
    let error = place
        .file
        .update(now(), |_| Ok(Change::Write(())))
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Busy);
    assert_eq!(
        fs::read_to_string(place.file.path()).unwrap(),
        "{\"jobs\":[]}"
    );
    drop(held);
}

#[test]
fn what_python_writes_beyond_json_is_kept_through_a_change() {
    let text = "{\n  \"jobs\": [\n    {\n      \"id\": \"a\",\n      \"last_error\": \"cut \\ud83d\",\n      \
                \"cost\": NaN,\n      \"limits\": [\n        Infinity,\n        -Infinity,\n        1.50\n      ]\n    }";
    let whole = format!("{text}\n  ],\n  \"updated_at\": \"u\"\n}}");
    let place = place(Some(&whole));
    let change = |id: &'static str| {
        let added = |jobs: &mut JobList<'_>| {
            add(jobs, id);
            Ok(Change::Write(()))
        };
        place.file.update(now(), added)
    };
    change("b").unwrap();
    let written = fs::read_to_string(place.file.path()).unwrap();
    assert!(written.starts_with(text), "{written}");
    assert_eq!(ids(&place.file), ["a", "b"]);
    // Keeping them repairs nothing, so it fills no folder with backups.
    assert!(!place.file.home.join("cron/backups").exists());
    let error = change("\u{10f83d}").unwrap_err();
    assert_eq!(error.kind(), Kind::Refused);
    assert_eq!(fs::read_to_string(place.file.path()).unwrap(), written);
}

#[test]
fn a_change_is_told_its_version_and_leaves_the_one_that_a_look_sees() {
    let place = place(Some(r#"{"jobs":[{"id":"a"}]}"#));
    let before = place.file.version().unwrap();
    let mut given = None;
    let ((), left) = place
        .file
        .update_since(jobs_lock::awake(), now(), |jobs, version| {
            given = Some(version);
            add(jobs, "b");
            Ok(Change::Write(()))
        })
        .unwrap();
    assert_eq!(given, Some(before));
    assert_ne!(left, before);
    assert_eq!(left, place.file.version().unwrap());
    let still = place
        .file
        .update_since(jobs_lock::awake(), now(), |_, version| {
            Ok(Change::Nothing(version))
        })
        .unwrap();
    assert_eq!(still, (left, left));
}

#[test]
fn a_link_that_leads_nowhere_is_no_empty_store() {
    let place = place(Some("{}"));
    let path = place.file.path();
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/nowhere/jobs.json", &path).unwrap();
    let error = place.file.read().unwrap_err().to_string();
    assert!(error.contains("leads nowhere"), "{error}");
    assert!(place.file.version().is_err() && place.file.job("a").is_err());
    // The same of the directory it is in.
    fs::remove_file(&path).unwrap();
    let cron = path.parent().unwrap();
    fs::remove_dir(cron).unwrap();
    std::os::unix::fs::symlink("/nowhere/cron", cron).unwrap();
    assert!(place.file.read().is_err());
}
