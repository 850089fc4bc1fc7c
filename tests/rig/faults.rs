//! Places at which a serve of a rig, or a worker of it, is killed or stops: the first that comes there. And what
//! is left of runs, which is nothing once all is over.

use super::Rig;
use super::service::Service;

/// Where the places stand.
const FOLDER: &str = "/var/lib/agent/faults";

/// Says what is left of runs: units of workers, workers, what a run has started.
const LEFT: &str = r#"#!/bin/sh
uid=$(id -u svc)
user="runuser -u svc -- env XDG_RUNTIME_DIR=/run/user/$uid systemctl --user"
for systemctl in systemctl "$user"; do
    $systemctl list-units --all --plain --no-legend 'hermes-worker-*' 2>/dev/null
done
for process in /proc/[0-9]*; do
    words=$(tr '\0' ' ' <$process/cmdline 2>/dev/null)
    case $words in *'worker --execution'* | '/bin/sleep 43210 ') echo "$words$(cat $process/cgroup)" ;; esac
done
"#;

/// The faults of one rig.
pub(super) struct Faults<'a>(&'a Rig);

impl<'a> Faults<'a> {
    /// With none yet.
    pub(super) fn of(rig: &'a Rig) -> Self {
        rig.sh(&format!(
            "mkdir {FOLDER} && chown svc {FOLDER} && cat >/usr/local/bin/left <<'X'\n{LEFT}X\n\
             chmod +x /usr/local/bin/left"
        ));
        Self(rig)
    }

    /// Lines of a unit whose serve has these faults, and is started anew at once, however often it is killed.
    pub(super) fn lines() -> String {
        format!(
            "Environment=__HERMES_FAULT=@{FOLDER}\nRestartSec=0\n[Unit]\nStartLimitIntervalSec=0"
        )
    }

    /// Somebody is to be killed at each of these places.
    pub(super) fn arm(&self, places: &str) -> &Self {
        let touch = format!("cd {FOLDER} && touch {places} && chown svc *");
        self.0.sh(&touch);
        self
    }

    /// Workers that are services of the account's manager have its environment: there they stand as well.
    pub(super) fn in_services_too(&self, serve: &Service<'_>) -> &Self {
        let now = serve.now();
        self.0.sh(&format!(
            "runuser -u svc -- env XDG_RUNTIME_DIR=/run/user/$(id -u svc) systemctl --user set-environment \
             __HERMES_FAULT=@{FOLDER} __HERMES_NOW={now}"
        ));
        self
    }

    /// Waits until somebody has come to every place.
    pub(super) fn are_met(&self) {
        let met = format!("while ls {FOLDER} | grep -q .; do :; done");
        let met = format!("timeout 20 sh -c '{met}' || ls {FOLDER}");
        assert_eq!(self.0.sh(&met), "", "nobody came there");
    }

    /// Waits until a worker stands still, and does something before it goes on.
    pub(super) fn while_it_stands(&self, act: impl FnOnce()) {
        self.are_met();
        let stands = "grep -lz -e --execution $(grep -l '^State:.T' /proc/[0-9]*/status | sed s/status/cmdline/)";
        self.0.until(&format!("{stands} >/dev/null 2>&1"));
        act();
        let pid = format!("{stands} | cut -d/ -f3");
        self.0.sh(&format!("kill -CONT $({pid})"));
    }

    /// Waits until nothing is left of runs, and says what is.
    pub(super) fn left(&self) -> String {
        let gone = "until [ -z \"$(left)\" ]; do :; done";
        self.0.sh(&format!("timeout 20 sh -c '{gone}' || left"))
    }
}
