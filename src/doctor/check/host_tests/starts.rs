//! What is offered where systemd cannot load a unit, skips its start, or has no logind to keep a user
//! manager.

use super::found;
use crate::bus::{Failure, FailureKind};
use crate::doctor::finding::{Finding, Needs};
use crate::host::Facts;
use crate::host::facts::{OwnName, Program, UnitCondition, UnitFacts, Viewpoint};

fn with_unit(edit: impl Fn(&mut UnitFacts)) -> Facts {
    let mut facts = Facts::example();
    facts.edit_unit(|unit| {
        unit.active_state = Some("inactive".to_owned());
        edit(unit);
    });
    facts
}

/// The lines for `sh` of a finding's ways out; of another command its words.
fn lines(finding: &Finding) -> Vec<String> {
    let remedies = finding.remedies.iter();
    let line = remedies.map(|remedy| match remedy.argv.as_slice() {
        [sh, _, line] if sh == "sh" => line.clone(),
        words => words.join(" "),
    });
    line.collect()
}

/// A serve without Unix sockets ends at each start, until systemd has had enough: no start mends that.
#[test]
fn a_serve_that_may_not_listen_is_explained_by_what_forbids_it() {
    let dead = |state: &str, program| {
        let mut facts = with_unit(|unit| {
            unit.active_state = Some(state.to_owned());
            unit.unix_sockets_forbidden = Some(true);
            unit.program = Some(program);
        });
        facts.dispatcher.process = None;
        facts.dispatcher.viewpoint = Viewpoint::Unit;
        facts
    };
    for (state, code) in [("failed", "HM313"), ("inactive", "HM318")] {
        let causes = |program| found(dead(state, program), code).unwrap().causes;
        assert!(causes(Program::Ours).contains(&"HM308"), "{state}");
        assert!(!causes(Program::HermesAgent).contains(&"HM308"), "{state}");
    }
    let line = |state| lines(&found(dead(state, Program::Ours), "HM308").unwrap()).remove(0);
    let restart = " && systemctl restart hermes.service";
    let forgive = " && systemctl reset-failed hermes.service";
    assert!(line("failed").ends_with(&format!("{forgive}{restart}")));
    assert!(line("inactive").ends_with(&format!(" && systemctl daemon-reload{restart}")));
}

#[test]
fn a_unit_that_cannot_be_loaded_is_written_anew_or_opened() {
    let broken = |unit: &mut UnitFacts| unit.load_state = Some("bad-setting".to_owned());
    let finding = found(with_unit(broken), "HM310").unwrap();
    let file = "/etc/systemd/system/hermes.service";
    assert_eq!(
        lines(&finding),
        [
            format!(
                "runuser -u bot -- hermes service print --system --home /srv/bot/.hermes >{file}.new \
                 && ln {file} {file}.broken && mv {file}.new {file} && systemctl daemon-reload"
            ),
            "systemctl edit --full hermes.service".to_owned()
        ]
    );
    let undo = &finding.remedies[0].undo[2];
    assert!(
        undo.starts_with(&format!("mv {file}.broken {file} && ")),
        "{undo}"
    );
    // A drop-in may be what is wrong.
    let facts = with_unit(|unit| {
        broken(unit);
        unit.drop_ins = vec![format!("{file}.d/x.conf")];
    });
    assert_eq!(found(facts, "HM310").unwrap().remedies.len(), 1);
    // The unit of another program is its own to write.
    let facts = with_unit(|unit| {
        broken(unit);
        unit.program = Some(Program::HermesAgent);
    });
    assert_eq!(found(facts, "HM310").unwrap().remedies.len(), 1);
}

#[test]
fn where_the_file_of_a_unit_is_gone_there_is_nothing_to_open() {
    let gone = |unit: &mut UnitFacts| {
        unit.load_state = Some("not-found".to_owned());
        unit.fragment = None;
    };
    let finding = found(with_unit(gone), "HM310").unwrap();
    let lines = lines(&finding);
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].starts_with("mkdir -p /etc/systemd/system && runuser "),
        "{lines:?}"
    );
    // A unit of the account is the account's to write.
    let mut facts = with_unit(gone);
    facts.in_user_unit();
    facts.edit_unit(gone);
    let finding = found(facts.clone(), "HM310").unwrap();
    assert_eq!(finding.remedies[0].needs, Needs::User);
    let line = &finding.remedies[0].argv[2];
    assert!(
        line.contains("&& hermes service print --user --home "),
        "{line}"
    );
    assert!(line.contains("/hermes.service.new && mv "), "{line}");
    // Behind sudo the bare name may be nothing, or another program.
    facts.own_name = OwnName {
        file: Some("/root/bin/hermes".into()),
        on_path: Some("/root/bin/hermes".into()),
    };
    for (reader, name) in [(facts.account.uid, "hermes"), (0, "/root/bin/hermes")] {
        facts.caller.uid = reader;
        let finding = found(facts.clone(), "HM310").unwrap();
        let line = &finding.remedies[0].argv[2];
        let print = format!("&& {name} service print --user ");
        assert!(line.contains(&print), "{line}");
    }
}

#[test]
fn only_the_condition_that_does_not_hold_is_dropped() {
    let condition = |line: &str, held| UnitCondition {
        line: line.to_owned(),
        held,
    };
    let facts = with_unit(|unit| {
        unit.condition_result = Some(false);
        unit.conditions = vec![
            condition("ConditionACPower=true", Some(true)),
            condition("ConditionPathExists=/nowhere", Some(false)),
            condition("ConditionPathExists=!/x", None),
        ];
    });
    let finding = found(facts, "HM312").unwrap();
    assert!(finding.summary.contains("ConditionPathExists=/nowhere"));
    let line = &lines(&finding)[0];
    let kept = "\"[Unit]\" ConditionPathExists= ConditionACPower=true 'ConditionPathExists=!/x' >";
    assert!(line.contains(kept), "{line}");
}

#[test]
fn without_logind_an_older_systemd_alone_starts_a_user_manager() {
    let masked = |version: &str| {
        let mut facts = Facts::example();
        facts.without_linger();
        facts.system_bus.logind.failure = Some(Failure::of(FailureKind::ErrorReply));
        facts.system_bus.logind.file_state = Some("masked".to_owned());
        for door in &mut facts.system_bus.doors {
            if let Some(manager) = &mut door.manager {
                version.clone_into(&mut manager.version);
            }
        }
        let finding = found(facts, "HM221").unwrap();
        assert!(finding.causes.contains(&"HM105"));
        lines(&finding)
    };
    let start = ["systemctl start user@1001.service"];
    assert_eq!(masked("252.38-1~deb12u1"), start);
    assert_eq!(masked("257.7-1"), [""; 0]);
    assert_eq!(masked("unheard of"), [""; 0]);
}
