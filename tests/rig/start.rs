//! Units whose start fails before there is a process, and a serve whose start is told wrongly.

use super::cure::{EDITOR, every_cure};
use super::{HOME, Rig};

const SCOPED: [&str; 2] = ["scoped", "scoped"];

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_unit_that_systemd_cannot_load_is_written_anew_or_opened() {
    let broken = || {
        let rig = Rig::with_account(&[], true);
        rig.unit("");
        // Two commands are one too many. The editor does what its user would.
        rig.sh(&format!(
            "sed -i '/^ExecStart=/aExecStart=/bin/true' /etc/systemd/system/agent.service && \
             systemctl daemon-reload && \
             printf '#!/bin/sh\\nsed -i /bin.true/d \"$1\"\\n' >{EDITOR} && chmod +x {EDITOR}"
        ));
        rig
    };
    every_cure("HM310", SCOPED, broken, Rig::doctor_of_unit);
    // It runs, and what it was started from is gone.
    let gone = || {
        let rig = Rig::with_account(&[], true);
        rig.unit("");
        rig.sh("systemctl start agent.service");
        rig.until("test -S /var/lib/agent/run/serve.sock");
        rig.sh("rm /etc/systemd/system/agent.service && systemctl daemon-reload");
        rig
    };
    every_cure("HM310", SCOPED, gone, |rig| rig.doctor(&[], &[]));
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_condition_that_does_not_hold_is_named_and_dropped() {
    let rig = Rig::with_account(&[], true);
    rig.unit("[Unit]\nConditionPathExists=/nowhere\nConditionPathExists=!/somewhere");
    rig.sh("systemctl start agent.service");
    let look = || rig.doctor_of_unit();
    assert!(
        look()
            .summary("HM312")
            .contains("ConditionPathExists=/nowhere")
    );
    rig.cured("HM312", SCOPED, look);
    // The other one is in force still.
    rig.sh("touch /somewhere && systemctl restart agent.service");
    assert!(
        look()
            .summary("HM312")
            .contains("ConditionPathExists=!/somewhere")
    );
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_clock_that_was_set_under_a_serve_is_told_by_its_record() {
    let rig = Rig::with_account(&[], true);
    rig.unit("");
    rig.sh("systemctl start agent.service");
    rig.until("test -S /var/lib/agent/run/serve.sock");
    let look = || rig.doctor_of_unit();
    look().does_not_say("HM111");
    rig.sh(&format!(
        "sed -i 's/\"started_at\":[0-9.]*/\"started_at\":1700000000.5/' {HOME}/run/serve.json"
    ));
    rig.cured("HM111", SCOPED, look);
}
