//! Homes that the dispatcher may not write, by the file system's word or by that of owner and mode.

use super::{HOME, Rig};

/// Everything of the home that a reader could change: names, inodes, modes, owners, links, sizes, times
/// and contents.
fn snapshot(rig: &Rig) -> String {
    rig.sh(&format!(
        "cd {HOME} && find . -printf '%p %i %#m %U:%G %n %s %T@ %C@\\n' | sort && \
         find . -type f -exec sha256sum {{}} + | sort"
    ))
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn a_home_on_a_read_only_mount_is_named_and_untouched_and_made_writable_by_what_is_printed() {
    for mount in [
        // A file system of its own.
        "cp -a /var/lib/agent /run/copy && mount -t tmpfs tmpfs /var/lib/agent && \
         cp -a /run/copy/. /var/lib/agent/ && mount -o remount,ro /var/lib/agent",
        // A part of one, and the home is below the mount point.
        "mount --bind /var/lib /var/lib && mount -o remount,bind,ro /var/lib",
    ] {
        let rig = Rig::with_account(&[], true);
        rig.sh(mount);
        let before = snapshot(&rig);
        let look = || rig.doctor_in_service(&[]);
        let report = look();
        assert_eq!(report.says("HM806").exit(), Some(2));
        let says_so = |words: &[&str]| {
            let output = rig.exec(&["--user", "svc"], words);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success(), "{words:?}: {said}");
            assert!(
                said.to_lowercase().contains("read-only"),
                "{words:?}: {said}"
            );
        };
        says_so(&["hermes", "cron", "tick", "--home", HOME]);
        let create =
            "hermes cron create 'every 30m' --script ok.sh --no-agent --home /var/lib/agent";
        let create = ["sh", "-c", create];
        says_so(&create);
        assert_eq!(snapshot(&rig), before);
        rig.cured("HM806", ["scoped", "scoped"], look);
        let output = rig.exec(&["--user", "svc"], &create);
        assert!(output.status.success(), "{output:?}");
        assert_ne!(snapshot(&rig), before);
    }
}

#[test]
#[ignore = "boots a systemd: tests/run rig"]
fn b53_jobs_that_root_wrote_anew_are_given_back() {
    let rig = Rig::with_account(&[], true);
    rig.unit("");
    rig.sh("systemctl start agent.service");
    rig.until("test -S /var/lib/agent/run/serve.sock");
    rig.sh(&format!(
        "cp {HOME}/cron/jobs.json {HOME}/cron/new && chmod 600 {HOME}/cron/new && \
         chown root: {HOME}/cron/new && mv {HOME}/cron/new {HOME}/cron/jobs.json"
    ));
    let look = || rig.doctor_of_unit();
    let uid = rig.sh("id -u svc");
    let report = look();
    let summary = report
        .says("HM805")
        .finding("HM805")
        .expect("it")
        .to_string();
    assert!(summary.contains(&uid), "{summary}");
    rig.cured("HM805", ["scoped", "scoped"], look);
}
