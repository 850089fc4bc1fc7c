//! `hermes explain`.

use predicates::prelude::*;
use serde_json::Value;

use crate::common::Sandbox;

fn all() -> Vec<Value> {
    let output = Sandbox::new()
        .hermes()
        .args(["explain", "--all", "--json"])
        .output();
    let document: Value = serde_json::from_slice(&output.expect("it runs").stdout).expect("JSON");
    assert_eq!(document["schema"], "hermes.explain/1");
    document["codes"].as_array().expect("codes").clone()
}

#[test]
fn every_code_is_explained_by_code_and_by_name() {
    let sandbox = Sandbox::new();
    let codes = all();
    assert!(!codes.is_empty());
    for entry in codes {
        let (code, slug) = (entry["code"].as_str(), entry["slug"].as_str());
        let (code, slug) = (code.expect("a code"), slug.expect("a slug"));
        assert!(
            code.len() == 5 && code.starts_with("HM") && code[2..].parse::<u16>().is_ok(),
            "{code}"
        );
        assert!(
            entry["explanation"]
                .as_str()
                .is_some_and(|text| text.len() > 80),
            "{code}"
        );
        let title = entry["title"].as_str().expect("a title");
        assert!(
            !title.is_empty() && !title.ends_with('.'),
            "{code}: {title}"
        );
        sandbox
            .hermes()
            .args(["explain", &code.to_lowercase()])
            .assert()
            .code(0)
            .stdout(predicate::str::contains(slug))
            .stdout(predicate::str::contains(title));
        let by_name = sandbox.hermes().args(["explain", slug, "--json"]).output();
        let by_name: Value =
            serde_json::from_slice(&by_name.expect("it runs").stdout).expect("JSON");
        assert_eq!(by_name["code"], entry);
    }
}

#[test]
fn the_list_has_every_code() {
    let output = Sandbox::new().hermes().args(["explain", "--all"]).output();
    let text = String::from_utf8(output.expect("it runs").stdout).expect("UTF-8");
    for entry in all() {
        assert!(text.contains(entry["code"].as_str().expect("a code")));
    }
}

#[test]
fn codes_are_completed_and_found_whatever_the_case_and_by_number_alone() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh"] {
        let output = sandbox.hermes().args(["completions", shell]).output();
        let script = String::from_utf8(output.expect("it runs").stdout).expect("UTF-8");
        for entry in all() {
            let code = entry["code"].as_str().expect("a code");
            assert!(script.contains(code), "{shell}: {code}");
        }
    }
    for typed in ["HM204", "hm204", "Hm204", "204", "Session-Bus-Mute"] {
        let told = sandbox.hermes().args(["explain", typed]).assert().code(0);
        told.stdout(predicate::str::starts_with("HM204 session-bus-mute"));
    }
    for (typed, meant) in [("HM2O4", "HM204"), ("session-bus-mut", "session-bus-mute")] {
        let told = sandbox.hermes().args(["explain", typed]).assert().code(1);
        told.stderr(predicate::str::contains(format!("did you mean {meant}")));
    }
    let help = sandbox.hermes().args(["explain", "--help"]).assert();
    help.stdout(predicate::str::contains("HM205").not());
}

#[test]
fn an_unknown_code_brings_the_nearest_to_mind() {
    let sandbox = Sandbox::new();
    let code = all()[0]["code"].as_str().expect("a code").to_owned();
    let near = format!("{code}0");
    sandbox
        .hermes()
        .args(["explain", &near])
        .assert()
        .code(1)
        .stderr(predicate::str::contains(format!("did you mean {code}")));
    sandbox
        .hermes()
        .args(["explain", "something else"])
        .assert()
        .code(1)
        .stderr(predicate::str::contains("hermes explain --all"));
    let bare = sandbox.hermes().arg("explain").assert().code(64);
    bare.stderr(predicate::str::contains("hermes explain --all"));
}
