//! What jobs need: of the host, and of their dispatcher.

use serde_json::json;

use super::fixture::Fixture;
use crate::doctor::check;
use crate::doctor::evidence::Evidence;
use crate::doctor::evidence::home::PlaceSeen;
use crate::host::facts::{Fact, ProgramLookup};

#[test]
fn what_our_dispatcher_does_not_do_is_refused_with_the_reason() {
    let fixture = Fixture::healthy();
    fixture.only_job(|job| {
        job["deliver"] = "telegram:42".into();
        job["skills"] = json!(["x"]);
    });
    let found = fixture.findings("HM519");
    let summary = &found[0].summary;
    assert!(
        summary.contains("it needs skills and delivery to telegram:42, which"),
        "{summary}"
    );
    // Without its message it would be refused for its skills: that is no way out.
    let pause = ["hermes", "cron", "pause", "00000000000a"];
    assert_eq!(found[0].remedies.len(), 1);
    assert_eq!(found[0].remedies[0].argv[..4], pause);
    fixture.only_job(|job| job["deliver"] = "telegram:42".into());
    let local = &fixture.findings("HM519")[0].remedies[0].argv;
    assert_eq!(local[4..6], ["--deliver", "local"]);
    // The words are those of the dispatcher's own refusal, whatever the need.
    for (key, value, need) in [
        ("model", json!("m"), "a pinned model"),
        (
            "context_from",
            json!(["b"]),
            "the output of other jobs as context",
        ),
        (
            "failure_deliver",
            json!("slack:1"),
            "delivery of failures to slack:1",
        ),
        ("monitor_url", json!("http://x"), "a monitored URL"),
    ] {
        let fixture = Fixture::healthy();
        fixture.only_job(|job| job[key] = value);
        let found = fixture.findings("HM519");
        assert!(found[0].summary.contains(need), "{}", found[0].summary);
    }
}

#[test]
fn b31_b32_programs_are_looked_up_on_the_services_path() {
    let mut fixture = Fixture::healthy();
    let environ = crate::host::facts::Environment::select([("PATH", "/nowhere")].into_iter());
    fixture.facts.dispatcher.environ = Fact::Known(environ);
    fixture.write("scripts/x.sh", "#!/usr/bin/env bash\n");
    fixture.only_job(|job| job["script"] = "x.sh".into());
    let found = &fixture.findings("HM517")[0];
    assert!(found.summary.contains("'bash'"));
    assert_eq!(found.evidence[0].observed, "PATH=/nowhere");
}

#[test]
fn b31_what_every_job_calls_matters_where_a_job_is_armed() {
    let mut fixture = Fixture::healthy();
    fixture.facts.dispatcher.programs = vec![ProgramLookup {
        name: "date".to_owned(),
        wanted_by: ProgramLookup::JOBS.to_owned(),
        found: Fact::Known(None),
    }];
    let found = &fixture.findings("HM317")[0];
    assert_eq!(found.summary, "not on the dispatcher's PATH: date");
    assert_eq!(found.evidence[1].target, "by jobs");
    fixture.jobs(&[]);
    assert!(fixture.findings("HM317").is_empty());
}

#[test]
fn b50_a_working_directory_that_hangs_is_named_and_its_jobs_can_be_paused() {
    let fixture = Fixture::healthy();
    let path = fixture.path("cron").display().to_string();
    fixture.only_job(|job| job["workdir"] = path.clone().into());
    let found = |evidence: &Evidence| {
        let all = check::all().flat_map(|check| (check.run)(evidence).findings);
        all.filter(|finding| finding.code == "HM510")
            .collect::<Vec<_>>()
    };
    let mut evidence = fixture.evidence();
    assert!(found(&evidence).is_empty());
    let places = &mut evidence.homes[0].needs.workdirs;
    assert_eq!(
        places.insert(path, PlaceSeen::Hangs),
        Some(PlaceSeen::Directory)
    );
    let hangs = &found(&evidence)[0];
    assert!(
        hangs.summary.ends_with("does not answer within 2s"),
        "{}",
        hangs.summary
    );
    assert!(hangs.remedies[0].argv.contains(&"pause".to_owned()));
}
