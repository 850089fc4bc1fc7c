//! A whole machine, with a kernel of its own and every controller: what only that can enforce. The steps
//! of the rig leave this file out; `tests/run vm` has the machine.

use std::process::Command;

use serde_json::Value;

use super::{HOME, job::facts, report::over};

/// Names the directory that `qemu-vm build` made.
const MACHINE: &str = "HERMES_RIG_VM";

const QEMU: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rig/qemu-vm");

/// A job that takes more memory than a worker may have, as the machine has 1 GiB and no swap: run by hand in
/// a unit, and by a serve. Then what is known of it, one JSON document a line.
const SCRIPT: &str = r#"
exec 3>&1 >/dev/null 2>&1
install -m 755 /mnt/share/hermes /usr/local/bin/hermes
useradd --system --create-home --user-group --home-dir /var/lib/agent svc
uid=$(id -u svc)
loginctl enable-linger svc
until systemctl is-active -q user@$uid; do :; done
mkdir -p /var/lib/agent/scripts
cat >/var/lib/agent/scripts/fat.sh <<'S'
#!/bin/sh
perl -e 'my $x = q(x) x 400e6; print length($x)'
S
chmod 755 /var/lib/agent/scripts/fat.sh
chown -R svc: /var/lib/agent
as() { runuser -u svc -- "$@"; }
as hermes cron create 'every 30m' --script fat.sh --no-agent --name fat --home /var/lib/agent
cat >/etc/systemd/system/pass.service <<'U'
[Service]
User=svc
Environment=HERMES_HOME=/var/lib/agent TERMINAL_LOCAL_MEMORY_MAX_MB=128
ExecStart=/usr/local/bin/hermes cron run fat
U
systemctl start pass.service
while systemctl is-active -q pass.service; do :; done
# And by a serve, when it is due. It goes on.
as hermes service print --system --home /var/lib/agent >/etc/systemd/system/hermes.service
mkdir /etc/systemd/system/hermes.service.d
printf '[Service]\nEnvironment=TERMINAL_LOCAL_MEMORY_MAX_MB=128\n' >/etc/systemd/system/hermes.service.d/limit.conf
systemctl daemon-reload
as hermes cron edit fat --schedule 'every 1m' --home /var/lib/agent
systemctl start hermes.service
serve=$(systemctl show -P MainPID hermes.service)
until [ "$(as hermes cron runs --json --home /var/lib/agent | grep -c '"failed"')" -ge 2 ]; do
    sleep 1
    waited=$((${waited:-0} + 1))
    [ $waited -lt 120 ] || { systemctl status hermes.service >&3; as hermes cron status --home /var/lib/agent >&3; exit 9; }
done
[ "$serve" = "$(systemctl show -P MainPID hermes.service)" ] || exit 9
as hermes cron pause fat --home /var/lib/agent
systemctl stop hermes.service
one_line() { tr -d '\n' >&3; echo >&3; }
as hermes cron runs --json --home /var/lib/agent | one_line
systemd-run -q --pipe --wait -p User=svc hermes cron doctor --json --shell --deadline 60s \
    --home /var/lib/agent | one_line
"#;

/// The documents that the script prints.
fn documents() -> Vec<Value> {
    let machine = std::env::var(MACHINE).expect("HERMES_RIG_VM names a machine; see tests/run vm");
    let folder = tempfile::tempdir().expect("a folder");
    let share = folder.path().join("share");
    std::fs::create_dir(&share).expect("a folder");
    std::fs::copy(env!("CARGO_BIN_EXE_hermes"), share.join("hermes")).expect("the binary");
    let script = folder.path().join("script");
    std::fs::write(&script, SCRIPT.replace("/var/lib/agent", HOME)).expect("the script");
    let output = Command::new(QEMU)
        .args(["run", &machine, "--timeout", "400", "--share"])
        .args([&share, &script])
        .output()
        .expect("qemu-vm");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = || {
        let errors = String::from_utf8_lossy(&output.stderr);
        format!("{text}{errors}")
    };
    if !output.status.success() {
        over(&told());
    }
    let read = text.lines().map(serde_json::from_str);
    read.collect::<Result<_, _>>()
        .unwrap_or_else(|_| over(&told()))
}

#[test]
#[ignore = "boots a machine: tests/run vm"]
fn b29_a_job_at_its_memory_limit_is_killed_alone_and_the_ledger_says_so() {
    let documents = documents();
    let [runs, doctor] = documents.as_slice() else {
        over(&format!("{documents:?}"));
    };
    let runs = runs["homes"][0]["runs"].as_array().expect("runs");
    assert!(runs.len() >= 2, "{runs:#?}");
    // The dispatcher's variable, and not half of the machine.
    let limit = format!("killed at its memory limit ({} bytes)", 128 << 20);
    for run in runs {
        let error = run["error"].as_str().unwrap_or_default();
        assert!(error.starts_with(&limit), "{run:#}");
        assert_eq!(facts(run), ["failed", "scoped", "scope", "user", "oom"]);
    }
    let codes: Vec<&str> = doctor["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|finding| finding["code"].as_str())
        .collect();
    assert!(!codes.contains(&"HM107"), "a limit is in force: {codes:?}");
    let noted = doctor["checks"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|check| check["id"] == "host-memory");
    let noted = noted.map(Value::to_string).unwrap_or_default();
    assert!(noted.contains("a worker may use"), "{noted}");
}
