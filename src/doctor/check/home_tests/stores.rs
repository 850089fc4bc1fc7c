//! Files, disks, databases, configuration.

use std::os::unix::fs::PermissionsExt as _;

use super::fixture::{Fixture, codes};
use crate::doctor::check::{Outcome, all};
use crate::doctor::evidence::Evidence;
use crate::doctor::evidence::home::Disk;
use crate::doctor::evidence::read::{Read, Trouble};
use crate::doctor::finding::Severity;
use crate::host::Fact;
use crate::host::locks::{Holder, SqliteLock, SqliteRole};

fn check(id: &str, evidence: &Evidence) -> Outcome {
    let check = all().find(|check| check.id == id).unwrap();
    (check.run)(evidence)
}

fn mode(fixture: &Fixture, relative: &str, mode: u32) {
    let mode = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(fixture.path(relative), mode).unwrap();
}

/// The evidence of a home in which this file has another owner and mode.
fn owned(fixture: &Fixture, relative: &'static str, owner: u32, mode: u32) -> Evidence {
    let mut evidence = fixture.evidence();
    let Some(Read::Got(stat)) = evidence.homes[0].files.get_mut(relative) else {
        panic!("{relative} is there");
    };
    (stat.uid, stat.gid, stat.mode) = (owner, owner, mode);
    evidence
}

#[test]
fn b53_a_store_of_roots_names_both_uids_and_the_last_success() {
    let fixture = Fixture::healthy();
    let evidence = owned(&fixture, "cron/jobs.json", 0, 0o600);
    let uid = evidence.homes[0].reader.uid;
    if uid == 0 {
        return;
    }
    let found = check("stores-access", &evidence).findings;
    assert_eq!(codes(&found), ["HM805"]);
    assert!(
        found[0]
            .summary
            .contains(&format!("the service (uid {uid}) may not read"))
    );
    assert!(found[0].summary.contains("it belongs to uid 0"));
    assert_eq!(found[0].evidence[1].observed, "last good tick 30s ago");
    assert_eq!(found[0].remedies[0].argv[0], "chown");
}

#[test]
fn b54_each_path_that_cannot_be_used_is_a_finding() {
    let fixture = Fixture::healthy();
    for (path, wrong, right) in [
        ("cron", 0o700, 0o777),
        ("cron/executions.db", 0o644, 0o666),
        ("config.yaml", 0o600, 0o604),
        ("scripts", 0o700, 0o705),
    ] {
        for (mode, wanted) in [(wrong, 1), (right, 0)] {
            let evidence = owned(&fixture, path, 0, mode);
            if evidence.homes[0].reader.uid == 0 {
                return;
            }
            let found = check("stores-access", &evidence).findings;
            assert_eq!(found.len(), wanted, "{path} {mode:o}");
        }
    }
    // Its own file with a mode that keeps its owner out.
    let uid = fixture.evidence().homes[0].reader.uid;
    let evidence = owned(&fixture, "cron/jobs.json", uid, 0o060);
    assert_eq!(
        check("stores-access", &evidence).findings[0].remedies[0].argv[0],
        "chmod"
    );
}

#[test]
fn a_group_that_is_not_known_is_no_proof_of_anything() {
    let fixture = Fixture::healthy();
    let mut evidence = owned(&fixture, "cron/jobs.json", 5, 0o640);
    if evidence.homes[0].reader.uid == 0 {
        return;
    }
    evidence.homes[0].reader.groups = None;
    let outcome = check("stores-access", &evidence);
    assert!(outcome.findings.is_empty() && outcome.note.is_none());
    assert!(outcome.unchecked[0].gap.why.contains("groups of uid"));
}

#[test]
fn b54_the_groups_of_the_service_let_it_in_or_keep_it_out() {
    let fixture = Fixture::healthy();
    for (mode, groups, found) in [
        (0o640, vec![4, 5], 0),
        (0o640, vec![4], 1),
        (0o604, vec![4], 0),
        // Whoever is in the group is not one of the others.
        (0o604, vec![5], 1),
    ] {
        let mut evidence = owned(&fixture, "cron/jobs.json", 5, mode);
        let reader = &mut evidence.homes[0].reader;
        (reader.uid, reader.groups) = (1_001, Some(groups));
        for path in evidence.homes[0].files.values_mut() {
            if let Read::Got(stat) = path
                && stat.uid != 5
            {
                stat.uid = 1_001;
            }
        }
        let outcome = check("stores-access", &evidence);
        assert_eq!(outcome.findings.len(), found, "{mode:o}: {outcome:?}");
        assert!(outcome.unchecked.is_empty());
    }
}

#[test]
fn b55_a_byte_order_mark_is_noted_and_left() {
    let fixture = Fixture::healthy();
    let text = std::fs::read_to_string(fixture.path("cron/jobs.json")).unwrap();
    let marked = format!("\u{feff}{text}");
    fixture.write("cron/jobs.json", &marked);
    let found = fixture.one("HM804");
    assert_eq!(found.severity, Some(Severity::Info));
    assert_eq!(
        std::fs::read_to_string(fixture.path("cron/jobs.json")).unwrap(),
        marked
    );
}

#[test]
fn b56_a_bare_list_warns_and_other_shapes_are_damage() {
    let fixture = Fixture::healthy();
    fixture.write("cron/jobs.json", "[]");
    assert_eq!(fixture.one("HM804").severity, Some(Severity::Warning));
    for text in ["7", "\"x\"", "null"] {
        fixture.write("cron/jobs.json", text);
        assert_eq!(fixture.findings("HM803").len(), 1, "{text}");
    }
}

#[test]
fn b57_damage_has_its_place_and_the_newest_usable_copy() {
    let fixture = Fixture::healthy();
    let text = std::fs::read_to_string(fixture.path("cron/jobs.json")).unwrap();
    fixture.write("cron/jobs.json.bak", &text);
    fixture.write("cron/jobs.json.bak2", "{");
    fixture.write("cron/jobs.json", "{\n\"jobs\": [\n");
    let found = fixture.findings("HM803").remove(0);
    assert!(
        found.summary.contains("(line 3, column 1)"),
        "{}",
        found.summary
    );
    assert!(
        found.evidence[1]
            .observed
            .starts_with("a usable copy: 2 jobs")
    );
    // B57: what is damaged may hold jobs that the copy has not.
    let line = &found.remedies[0].argv[2];
    assert!(line.contains("jobs.json.damaged && cp -p ") && line.contains("jobs.json.bak "));
    std::fs::remove_file(fixture.path("cron/jobs.json")).unwrap();
    assert!(
        fixture.findings("HM803")[0]
            .summary
            .contains("is missing, though")
    );
}

#[test]
fn b57_b60_a_control_character_is_told_with_its_place() {
    let fixture = Fixture::healthy();
    let text = std::fs::read_to_string(fixture.path("cron/jobs.json")).unwrap();
    fixture.write("cron/jobs.json", &text.replace("\"hi\"", "\"h\u{7}i\""));
    assert!(
        fixture
            .one("HM804")
            .summary
            .contains("raw control character stands at line 1")
    );
}

#[test]
fn what_lies_in_the_place_of_a_store_and_is_no_file() {
    let fixture = Fixture::healthy();
    std::fs::remove_file(fixture.path("cron/jobs.json")).unwrap();
    std::fs::create_dir(fixture.path("cron/jobs.json")).unwrap();
    assert_eq!(fixture.findings("HM802").len(), 1);
}

#[test]
fn b104_damage_of_databases_is_told_apart() {
    let slug = |bytes: &[u8]| {
        let fixture = Fixture::healthy();
        std::fs::write(fixture.path("state.db"), bytes).unwrap();
        let found = fixture.findings("HM809").remove(0);
        (found.evidence[0].stage.clone().unwrap(), found.severity)
    };
    assert_eq!(slug(b""), ("empty".to_owned(), Some(Severity::Warning)));
    assert_eq!(slug(&[b'x'; 4096]).0, "not-a-database");
    let fixture = Fixture::healthy();
    let whole = std::fs::read(fixture.path("state.db")).unwrap();
    assert_eq!(slug(&whole[..whole.len() / 2]).0, "truncated");
    let mut newer = whole.clone();
    newer[18..20].fill(9);
    std::fs::write(fixture.path("state.db"), newer).unwrap();
    assert_eq!(fixture.findings("HM812").len(), 1);
    let mut broken = whole;
    let end = broken.len();
    broken[4096..end].fill(0xAB);
    std::fs::write(fixture.path("state.db"), broken).unwrap();
    let found = fixture.findings("HM809").remove(0);
    assert_eq!(found.evidence[0].stage.as_deref(), Some("malformed"));
}

#[test]
fn a_schema_that_is_newer_than_known_and_a_ledger_that_is_gone() {
    let fixture = Fixture::healthy();
    fixture.sql("state.db", "INSERT INTO schema_version VALUES (32)");
    assert!(fixture.one("HM812").summary.contains("schema 32"));
    let fixture = Fixture::healthy();
    std::fs::remove_file(fixture.path("cron/executions.db")).unwrap();
    assert_eq!(fixture.one("HM809").severity, Some(Severity::Warning));
}

#[test]
fn a_kanban_store_that_cannot_be_read() {
    let fixture = Fixture::healthy();
    fixture.write(
        "kanban.db",
        "not a database at all, but long enough to be taken for one",
    );
    assert!(
        fixture
            .one("HM809")
            .summary
            .starts_with("kanban.db is damaged")
    );
}

fn disk(change: impl FnOnce(&mut Disk)) -> Outcome {
    let fixture = Fixture::healthy();
    let mut evidence = fixture.evidence();
    let mut disk = Disk {
        kind: "ext4".to_owned(),
        read_only: false,
        free: 100 << 30,
        total: 200 << 30,
        free_inodes: Some(1_000_000),
        total_inodes: Some(2_000_000),
    };
    change(&mut disk);
    evidence.homes[0].disk = Read::Got(disk);
    check("stores-disk", &evidence)
}

#[test]
fn b63_little_room_and_few_inodes() {
    assert!(disk(|_| ()).findings.is_empty());
    let little = disk(|disk| disk.free = 100 << 20).findings;
    assert_eq!((codes(&little), little[0].severity), (vec!["HM807"], None));
    let none = disk(|disk| disk.free = 1 << 20).findings;
    assert_eq!(none[0].severity, Some(Severity::Error));
    let inodes = disk(|disk| disk.free_inodes = Some(50)).findings;
    assert!(inodes[0].summary.contains("50 inodes left"));
    assert!(
        disk(|disk| (disk.free_inodes, disk.total_inodes) = (None, None))
            .findings
            .is_empty()
    );
    // A small disk that is half empty is not full.
    assert!(
        disk(|disk| (disk.free, disk.total) = (200 << 20, 400 << 20))
            .findings
            .is_empty()
    );
}

#[test]
fn b41_b63_network_file_systems_and_read_only_mounts() {
    for kind in ["nfs", "cifs", "9p"] {
        assert_eq!(
            codes(&disk(|disk| disk.kind = kind.to_owned()).findings),
            ["HM813"]
        );
    }
    assert_eq!(
        codes(&disk(|disk| disk.read_only = true).findings),
        ["HM806"]
    );
}

#[test]
fn b111_records_that_name_another_home() {
    let fixture = Fixture::healthy();
    fixture.write(
        "cron/external-workers/e1.json",
        r#"{"job": {}, "profile_home": "/srv/other"}"#,
    );
    let found = fixture.findings("HM814");
    assert!(found[0].summary.contains("written as /srv/other"));
    let own = fixture.path("").display().to_string();
    let own = own.trim_end_matches('/');
    fixture.write(
        "cron/external-workers/e1.json",
        &format!(r#"{{"profile_home": "{own}"}}"#),
    );
    assert!(fixture.findings("HM814").is_empty());
}

#[test]
fn unreadable_and_not_ours_is_never_green() {
    let mut fixture = Fixture::healthy();
    if rustix::process::getuid().is_root() {
        // Root reads everything: the gap is made by hand.
        let mut evidence = fixture.evidence();
        evidence.facts.shell.uid = Fact::Known(4000);
        let denied = std::io::Error::from_raw_os_error(13);
        let trouble = Trouble::of_io(&denied);
        evidence.homes[0].jobs = Read::Unreadable(trouble);
        let outcome = check("stores-jobs", &evidence);
        assert!(outcome.findings.is_empty() && outcome.unchecked[0].matters);
        assert_eq!(outcome.unchecked[0].gap.would_tell[0], "sudo");
        return;
    }
    mode(&fixture, "cron/jobs.json", 0);
    assert_eq!(fixture.findings("HM802").len(), 1);
    fixture.facts.shell.uid = Fact::Known(4000);
    assert!(
        fixture
            .unchecked()
            .iter()
            .any(|gap| gap.what.contains("jobs.json"))
    );
}

#[test]
fn the_configuration_is_a_finding_and_never_an_end() {
    let fixture = Fixture::healthy();
    for (yaml, code) in [
        ("timezone: [\n", "HM901"),
        ("timezone: Mars/Olympus\n", "HM903"),
        ("cron:\n  catch_up_missed: 7\n", "HM902"),
    ] {
        fixture.write("config.yaml", yaml);
        fixture.modified("config.yaml", -86_400);
        let found = fixture.findings(code);
        assert_eq!(
            found.len(),
            1,
            "{yaml}: {:?}",
            codes(&fixture.all_findings())
        );
        assert!(
            found[0].summary.contains("config.yaml:"),
            "{}",
            found[0].summary
        );
    }
}

#[test]
fn what_is_set_before_a_command_is_told_by_no_finding() {
    let fixture = Fixture::healthy();
    for line in [
        "command = \"API_KEY=hunter2 claude\"",
        "env = \"TOKEN=hunter2\"",
    ] {
        fixture.write("config.toml", &format!("[agent]\n{line}\n"));
        let found = fixture.findings("HM902").remove(0);
        assert!(found.summary.contains("one text"), "{}", found.summary);
        assert!(!format!("{found:?}").contains("hunter2"), "{found:?}");
    }
}

#[test]
fn a_prompt_needs_an_agent() {
    let fixture = Fixture::healthy();
    fixture.write("config.toml", "");
    assert!(
        fixture
            .one("HM904")
            .summary
            .starts_with("no agent is configured")
    );
    fixture.write("config.toml", "[agent]\ncommand = [\"/no/such/agent\"]\n");
    assert!(fixture.one("HM904").summary.contains("was not found"));
    fixture.only_job(|job| job["no_agent"] = true.into());
    fixture.sql("state.db", "DELETE FROM state_meta");
    assert!(fixture.findings("HM904").is_empty());
}

#[test]
fn b65_the_zone_and_its_source_are_printed_when_all_is_well() {
    let evidence = Fixture::healthy().evidence();
    let note = check("config", &evidence).note.unwrap();
    assert_eq!(note, "zone Europe/Berlin, timezone in config.yaml");
}

#[test]
fn who_keeps_others_out_of_a_database_is_named() {
    let told = |role, holder| {
        let mut evidence = Fixture::healthy().evidence();
        let lock = SqliteLock { role, holder };
        let hidden = Read::Unreadable(Trouble::damaged("locks", "hidden"));
        evidence.homes[0].held_databases =
            [("kanban.db", hidden), ("state.db", Read::Got(lock))].into();
        let mut outcome = check("stores-databases", &evidence);
        assert_eq!(outcome.unchecked[0].what, "who holds kanban.db");
        let found = outcome.findings.remove(0);
        assert_eq!(found.code, "HM811");
        (found.summary, found.remedies[0].argv[0].clone())
    };
    let held = Holder::Held {
        pid: 812,
        confirmed: true,
    };
    let (summary, look) = told(SqliteRole::Exclusive, held);
    assert_eq!(
        (summary.as_str(), look.as_str()),
        ("pid 812 keeps everybody out of state.db", "ps")
    );
    let why = "the table of locks cannot be read".to_owned();
    let (summary, look) = told(SqliteRole::Pending, Holder::CannotTell { why });
    assert!(summary.ends_with("waits to write to state.db"), "{summary}");
    assert_eq!(look, "lsof");
}
