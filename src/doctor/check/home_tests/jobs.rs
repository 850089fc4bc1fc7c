//! Jobs: due, damaged, in want of something, failed, claimed.

use serde_json::{Value, json};

use super::fixture::{Fixture, GONE, codes, own_start};
use crate::doctor::finding::Severity;

fn hostname() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

#[test]
fn b35_overdue_is_shown_as_overdue() {
    let fixture = Fixture::healthy();
    fixture.only_job(|job| job["next_run_at"] = fixture.ago(7 * 60).into());
    let found = fixture.one("HM501");
    assert_eq!(found.summary, "job 'job-00000000000a' is OVERDUE by 7h");
    let seen: Vec<_> = found
        .evidence
        .iter()
        .map(|seen| seen.observed.as_str())
        .collect();
    assert!(seen.contains(&"last tick 30s ago"), "{seen:?}");
    assert!(found.causes.contains(&"HM402") && found.causes.contains(&"HM415"));
}

#[test]
fn b35_a_future_run_and_a_late_one_within_the_grace_are_no_faults() {
    let fixture = Fixture::healthy();
    for minutes in [-29, 0, 14] {
        fixture.only_job(|job| job["next_run_at"] = fixture.ago(minutes).into());
        assert_eq!(codes(&fixture.all_findings()), [""; 0], "{minutes}");
    }
}

#[test]
fn b60_null_and_unparsable_next_runs_are_told() {
    for value in [Value::Null, json!("soon"), json!(""), json!(7)] {
        let fixture = Fixture::healthy();
        fixture.only_job(|job| job["next_run_at"] = value.clone());
        let found = fixture.findings("HM502");
        assert_eq!(found.len(), 1, "{value}");
        assert!(found[0].summary.contains("will never fire"));
    }
}

#[test]
fn b60_a_malformed_job_is_told_and_the_others_are_judged() {
    let fixture = Fixture::healthy();
    let mut odd = fixture.job("00000000000d");
    odd["origin"] = "telegram".into();
    odd["last_run_at"] = Value::Null;
    let mut overdue = fixture.job("00000000000a");
    overdue["next_run_at"] = fixture.ago(60).into();
    fixture.jobs(&[odd, json!(7), overdue]);
    let told = fixture.all_findings();
    assert_eq!(codes(&told), ["HM508", "HM508", "HM501"]);
    assert_eq!(told[0].subject.name, "00000000000d");
    assert!(told[0].summary.contains("origin is text"));
    assert_eq!(told[1].summary, "1 entry of the list of jobs is no job");
}

#[test]
fn ids_must_be_there_be_names_of_files_and_be_unique() {
    let fixture = Fixture::healthy();
    let mut none = fixture.job("");
    none["name"] = "nameless".into();
    let jobs = [
        none,
        fixture.job("../x"),
        fixture.job("aa"),
        fixture.job("aa"),
    ];
    fixture.jobs(&jobs);
    let found = fixture.findings("HM508");
    let words: Vec<_> = found
        .iter()
        .map(|finding| finding.summary.as_str())
        .collect();
    assert_eq!(found.len(), 3, "{words:?}");
    assert!(words[0].contains("it has no id"));
    assert!(words[1].contains("cannot be the name of a file"));
    assert!(words[2].contains("another job has the same id"));
    // Removing by an id that two have would remove the sound one as well.
    let ways = |at: usize| found[at].remedies.iter().map(|way| way.argv[0].as_str());
    assert_eq!(ways(2).collect::<Vec<_>>(), ["vi"]);
    assert_eq!(ways(1).collect::<Vec<_>>(), ["vi", "hermes"]);
}

#[test]
fn b61_a_recurring_job_that_ended_itself() {
    let fixture = Fixture::healthy();
    fixture.only_job(|job| {
        job["enabled"] = false.into();
        job["state"] = "completed".into();
        job["next_run_at"] = Value::Null;
    });
    assert!(fixture.one("HM506").summary.contains("ended itself"));
    fixture.only_job(|job| {
        job["enabled"] = false.into();
        job["state"] = "completed".into();
        job["repeat"] = json!({"times": 1, "completed": 1});
    });
    assert_eq!(codes(&fixture.all_findings()), [""; 0]);
}

#[test]
fn b61_a_job_in_state_error_and_schedules_that_cannot_be_used() {
    let fixture = Fixture::healthy();
    fixture.only_job(|job| job["state"] = "error".into());
    assert!(fixture.one("HM507").summary.contains("state error"));
    for schedule in [
        json!({}),
        json!({"kind": "cron", "expr": "61 * * * *"}),
        json!({"kind": "cron", "expr": "0 0 30 2 *"}),
        json!({"kind": "interval", "minutes": 0}),
        json!({"kind": "interval"}),
        json!({"kind": "lunar"}),
    ] {
        fixture.only_job(|job| job["schedule"] = schedule.clone());
        assert_eq!(fixture.findings("HM507").len(), 1, "{schedule}");
    }
    fixture.only_job(|job| job["schedule"] = json!({"kind": "once", "run_at": "2026-11-30T25:00"}));
    let edit = fixture.one("HM507").remedies.remove(0).argv;
    assert!(
        edit.contains(&"in 1h".to_owned()),
        "once is not for ever: {edit:?}"
    );
}

#[test]
fn b66_a_next_run_of_another_zone_shows_both_wall_clocks() {
    let fixture = Fixture::healthy();
    let mut job = fixture.hourly();
    job["schedule"]["expr"] = "0 9 * * *".into();
    job["next_run_at"] = "2026-11-30T09:00:00+00:00".into();
    fixture.jobs(&[job.clone()]);
    let found = fixture.one("HM504");
    for said in [
        "of another zone, which is 2026-11-30T10:00:00 Europe/Berlin",
        "the next pass sets it to 2026-11-30T09:00:00",
    ] {
        assert!(found.summary.contains(said), "{}", found.summary);
    }
    job["next_run_at"] = "2026-11-30T11:00:00+00:00".into();
    fixture.jobs(&[job]);
    let said = fixture.one("HM504").summary;
    assert!(said.contains("T11:00:00 is what was stored"), "{said}");
}

#[test]
fn b66_the_offset_before_a_gap_is_meant() {
    let mut fixture = Fixture::healthy();
    fixture.now = "2026-03-28T12:00:00Z".parse().unwrap();
    let mut job = fixture.hourly();
    job["schedule"]["expr"] = "30 2 * * *".into();
    job["next_run_at"] = "2026-03-29T02:30:00+01:00".into();
    fixture.jobs(&[job]);
    assert!(fixture.findings("HM504").is_empty() && fixture.findings("HM503").is_empty());
}

#[test]
fn b86_next_runs_that_are_not_on_the_schedule() {
    let fixture = Fixture::healthy();
    let mut job = fixture.hourly();
    job["next_run_at"] = "2026-11-30T02:17:00+01:00".into();
    fixture.jobs(&[job.clone()]);
    assert!(
        fixture
            .one("HM503")
            .summary
            .contains("'0 * * * *' does not fire at")
    );
    for key in ["quota_hold_until", "manual_run_at"] {
        job[key] = job["next_run_at"].clone();
        fixture.jobs(&[job.clone()]);
        assert!(fixture.findings("HM503").is_empty(), "{key}");
        job[key] = Value::Null;
    }
    fixture.only_job(|job| job["next_run_at"] = fixture.ago(-600).into());
    assert!(fixture.one("HM503").summary.contains("10h ahead"));
    let mut moved = fixture.once(-300);
    moved["next_run_at"] = fixture.ago(-30).into();
    fixture.jobs(&[moved]);
    assert_eq!(fixture.findings("HM503").len(), 1);
}

#[test]
fn b74_b75_b76_a_missed_one_shot_has_one_outcome_in_both_shapes() {
    let fixture = Fixture::healthy();
    for (minutes, stored) in [(3, true), (300, true), (300, false), (2 * 1440, false)] {
        let mut job = fixture.once(minutes);
        if !stored {
            job["next_run_at"] = Value::Null;
        }
        fixture.jobs(&[job]);
        assert!(fixture.one("HM505").summary.contains("is not done"));
    }
    fixture.jobs(&[fixture.once(1)]);
    assert_eq!(codes(&fixture.all_findings()), [""; 0]);
    let mut ran = fixture.once(300);
    ran["last_run_at"] = fixture.ago(300).into();
    fixture.jobs(&[ran]);
    assert!(fixture.findings("HM505").is_empty());
}

#[test]
fn b78_what_would_be_caught_up_is_counted_before_the_start() {
    let mut fixture = Fixture::healthy();
    fixture.no_server();
    let jobs: Vec<_> = (0..40)
        .map(|number| {
            let mut job = fixture.job(&format!("{number:012x}"));
            job["next_run_at"] = fixture.ago(600).into();
            job
        })
        .collect();
    fixture.jobs(&jobs);
    let found = &fixture.findings("HM515")[0];
    assert!(
        found
            .summary
            .starts_with("40 overdue jobs would be run once each by the next hermes serve, 4 in")
    );
    assert_eq!(found.severity, Some(Severity::Warning));
    let seen = |place: &str| found.evidence.iter().any(|seen| seen.target == place);
    assert!(seen("cron.max_catch_ups_per_tick"), "{found:?}");
    fixture.write("config.toml", "[cron]\nmax_catch_ups_per_tick = 0\n");
    let uncapped = &fixture.findings("HM515")[0].summary;
    assert!(uncapped.contains("at once"), "{uncapped}");
    fixture.write("config.yaml", "cron:\n  catch_up_missed: false\n");
    assert!(
        fixture.findings("HM515")[0]
            .summary
            .contains("would be skipped")
    );
}

#[test]
fn b50_b141_scripts_and_working_directories() {
    let fixture = Fixture::healthy();
    fixture.only_job(|job| {
        job["no_agent"] = true.into();
        job["script"] = "gone.sh".into();
    });
    let gone = fixture.one("HM509");
    assert!(gone.summary.contains("'gone.sh'"));
    assert!(
        !gone.causes.contains(&"HM805"),
        "it is not there, for anybody"
    );
    fixture.write("out.sh", "");
    std::os::unix::fs::symlink("../out.sh", fixture.path("scripts/gone.sh")).unwrap();
    assert!(fixture.one("HM509").summary.contains("outside of scripts/"));
    fixture.only_job(|job| job["no_agent"] = true.into());
    assert!(fixture.one("HM509").summary.contains("names no script"));
    fixture.only_job(|job| job["workdir"] = "/no/such/directory".into());
    assert!(fixture.one("HM510").summary.contains("is gone"));
}

#[test]
fn only_a_run_that_never_started_is_explained_by_jobs_that_never_launch() {
    let causes = |started: Value| {
        let fixture = Fixture::healthy();
        fixture.row(
            "00000000000a",
            &json!({"status": "failed", "claimed_at": fixture.ago(3), "started_at": started,
                "finished_at": fixture.ago(2), "error": "x"}),
        );
        fixture.only_job(|job| {
            job["last_status"] = "error".into();
            job["last_error"] = "x".into();
        });
        fixture.findings("HM511").remove(0).causes
    };
    assert!(causes(json!(null)).contains(&"HM601"));
    assert!(!causes(json!("2026-11-29T21:00:00+00:00")).contains(&"HM601"));
}

#[test]
fn b100_where_the_job_has_no_reason_the_ledger_s_is_told() {
    let fixture = Fixture::healthy();
    fixture.row(
        "00000000000a",
        &json!({"status": "unknown", "claimed_at": fixture.ago(3), "finished_at": fixture.ago(2),
            "error": "the worker went away"}),
    );
    fixture.only_job(|job| job["last_status"] = "error".into());
    let found = fixture.findings("HM511").remove(0);
    assert!(
        found.summary.ends_with("the worker went away"),
        "{}",
        found.summary
    );
    assert_eq!(found.evidence[0].kind, "row");
}

#[test]
fn b143_a_failed_run_keeps_the_time_of_the_last_good_one() {
    let fixture = Fixture::healthy();
    fixture.run("00000000000a", 5, "failed");
    fixture.only_job(|job| {
        job["last_status"] = "error".into();
        job["last_error"] = "POST https://u:p@h.example/x?key=1 failed".into();
        job["last_delivery_error"] = "unreachable".into();
        job["failure_streak"] = 3.into();
    });
    let told = fixture.all_findings();
    assert_eq!(codes(&told), ["HM511", "HM512"]);
    assert_eq!(told[0].severity, Some(Severity::Error));
    assert!(told[0].summary.contains("the 3rd time in a row"));
    for finding in &told {
        let words: Vec<_> = finding.evidence.iter().map(|seen| &seen.observed).collect();
        assert!(
            words.iter().any(|words| *words == "last good run 19m ago"),
            "{words:?}"
        );
        assert!(!format!("{finding:?}").contains("u:p@"));
    }
}

#[test]
fn b144_a_good_run_with_a_failed_delivery_is_a_finding_of_its_own() {
    let fixture = Fixture::healthy();
    fixture.only_job(|job| job["last_delivery_error"] = "chat not found".into());
    assert!(fixture.one("HM512").summary.contains("did not arrive"));
}

#[test]
fn b51_b68_b77_late_dispatches_stay_visible_with_their_slot() {
    let fixture = Fixture::healthy();
    fixture.write("cron/catch_up_occurrences", "21");
    fixture.only_job(|job| {
        job["last_dispatch"] = json!({"scheduled_at": "2026-11-28T16:00:00+01:00",
            "dispatched_at": "2026-11-30T10:06:00+01:00", "lateness_seconds": 151_560.0,
            "kind": "catch_up"});
    });
    let found = fixture.one("HM513");
    assert!(
        found
            .summary
            .contains("ran 1d 18h late, once for all that it had missed")
    );
    assert!(found.summary.contains("slot 2026-11-28T16:00:00+01:00"));
    let last = found.evidence.last().unwrap();
    assert_eq!(last.observed, "21 catch-up runs in this home so far");
}

#[test]
fn a_slot_that_could_not_be_fired() {
    let fixture = Fixture::healthy();
    fixture.only_job(|job| {
        job["last_fire_error"] = json!({"at": fixture.ago(5), "detail": "no worker"});
    });
    assert!(fixture.one("HM518").summary.ends_with("5m ago: no worker"));
    fixture.only_job(|job| {
        job["last_fire_error"] = json!({"at": fixture.ago(500), "detail": "no worker"});
    });
    assert!(fixture.findings("HM518").is_empty());
}

#[test]
fn b97_a_claim_of_a_dead_pid_of_this_host_is_stale_at_any_age() {
    let fixture = Fixture::healthy();
    let claim = |by: String, minutes: i64| {
        fixture.only_job(|job| {
            job["fire_claim"] = json!({"at": fixture.ago(minutes), "by": by});
        });
        fixture.findings("HM514")
    };
    let dead = claim(format!("{}:{GONE}:ff", hostname()), 0);
    assert!(dead[0].summary.contains("has ended"));
    assert!(claim(format!("elsewhere:{GONE}:ff"), 4).is_empty());
    assert!(claim("garbage".to_owned(), 4).is_empty());
    let old = claim(format!("elsewhere:{GONE}:ff"), 6);
    assert!(old[0].summary.contains("not renewed for 6m"));
    let future = claim("elsewhere:1:ff".to_owned(), -10);
    assert!(future[0].summary.contains("stamped in the future"));
}

#[test]
fn b79_b108_left_over_slots_and_markers() {
    let fixture = Fixture::healthy();
    let by = format!("{}:{GONE}", hostname());
    fixture.only_job(|job| {
        job["pending_slot"] =
            json!({"scheduled_at": fixture.ago(20), "at": fixture.ago(20), "by": by});
    });
    assert!(fixture.one("HM514").summary.contains("never claimed"));
    fixture.only_job(|job| job["run_claim"] = json!({"at": fixture.ago(600), "by": "x"}));
    assert!(fixture.one("HM514").summary.contains("not renewed for 10h"));
    // The very process that runs this test lives, and its start is not recorded: its age decides.
    let own = format!("{}:{}", hostname(), std::process::id());
    fixture.only_job(|job| job["fire_claim"] = json!({"at": fixture.ago(1), "by": own}));
    assert!(fixture.findings("HM514").is_empty() && own_start() > 0);
}

#[test]
fn b88_a_job_that_is_marked_as_run_and_never_ran() {
    let fixture = Fixture::healthy();
    fixture.only_job(|job| job["last_run_at"] = fixture.ago(8).into());
    assert!(
        fixture
            .one("HM516")
            .summary
            .contains("marked as run 8m ago")
    );
    // Before the oldest kept end nothing can be proved.
    fixture.only_job(|job| job["last_run_at"] = fixture.ago(3000).into());
    assert!(fixture.findings("HM516").is_empty());
}

#[test]
fn b141_five_faults_are_five_findings_under_their_jobs() {
    let fixture = Fixture::healthy();
    let change = |id: &str, key: &str, value: Value| {
        let mut job = fixture.job(id);
        job[key] = value;
        job
    };
    let mut scripted = change("04", "script", "gone.sh".into());
    scripted["no_agent"] = true.into();
    fixture.jobs(&[
        change("01", "last_status", "error".into()),
        change("02", "next_run_at", fixture.ago(600).into()),
        change("03", "next_run_at", Value::Null),
        scripted,
        change("05", "workdir", "/no/such/directory".into()),
    ]);
    let mut told: Vec<_> = fixture
        .all_findings()
        .into_iter()
        .filter(|finding| finding.code != "HM516")
        .map(|finding| (finding.subject.name, finding.code))
        .collect();
    told.sort();
    let told: Vec<_> = told
        .iter()
        .map(|(name, code)| (name.as_str(), *code))
        .collect();
    let wanted = [
        ("01", "HM511"),
        ("02", "HM501"),
        ("03", "HM502"),
        ("04", "HM509"),
        ("05", "HM510"),
    ];
    assert_eq!(told, wanted);
}
