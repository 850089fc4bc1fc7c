//! Commands that mend what lies between a dispatcher and its service manager, with the real account
//! and unit filled in. Data only: nothing here runs anything.

use crate::bus::{LingerMarker, Right};
use crate::doctor::finding::{Needs, Remedy, argv};
use crate::host::Facts;
use crate::host::facts::{ManagerKind, UnitFacts};
use crate::output::human::is_unsafe;
use crate::output::quote;

/// `user@UID.service` of the account.
pub(super) fn user_manager(facts: &Facts) -> String {
    format!("user@{}.service", facts.account.uid)
}

/// `/run/user/UID` of the account.
pub(super) fn run_user(facts: &Facts) -> String {
    format!("/run/user/{}", facts.account.uid)
}

/// Asks the doctor again. The report has it ask for the one finding that is to be gone, from the same
/// point of view: a unit that is active may be what is wrong.
pub(super) fn verify() -> Vec<String> {
    argv(["hermes", "cron", "doctor"])
}

/// Turns linger on.
pub(super) fn enable_linger(facts: &Facts) -> Remedy {
    let effect = "keeps the user manager running without a login, from now on and after each boot";
    set_linger(facts, effect)
        .undo(["loginctl", "disable-linger", &facts.account.label()])
        .verify(verify())
}

/// Sets linger, by whoever may.
pub(super) fn set_linger(facts: &Facts, effect: &str) -> Remedy {
    let account = facts.account.label();
    let words = ["loginctl", "enable-linger", &account];
    let granted = facts.system_bus.logind.set_linger == Some(Right::Granted);
    if granted && facts.caller.uid == facts.account.uid {
        Remedy::user(words, effect)
    } else {
        Remedy::root(words, effect)
    }
}

/// Has logind look at the marker of linger again.
pub(super) fn relinger(facts: &Facts) -> Remedy {
    let account = facts.account.label();
    set_linger(
        facts,
        "tells logind of the account again, and starts its user manager",
    )
    .verify(shell(format!(
        "loginctl show-user {} --property=Linger && systemctl is-active {}",
        inner(&account),
        user_manager(facts)
    )))
}

/// Starts the user manager, which then runs until the next logout or boot.
pub(super) fn start_user_manager(facts: &Facts) -> Remedy {
    let manager = user_manager(facts);
    let start = Remedy::root(
        ["systemctl", "start", &manager],
        "starts the user manager of the account",
    );
    // Linger starts it again at the next boot.
    let start = match facts.linger_marker {
        LingerMarker::Present => start,
        _ => start.until_reboot(),
    };
    start.undo(["systemctl", "stop", &manager]).verify(verify())
}

/// Restarts the user manager.
pub(super) fn restart_user_manager(facts: &Facts) -> Remedy {
    let manager = user_manager(facts);
    Remedy::root(
        ["systemctl", "restart", &manager],
        "starts the user manager anew; all that runs under it ends",
    )
    .disruptive()
    .verify(verify())
}

/// Restarts the message bus of the account, by the manager's own door.
pub(super) fn restart_bus(facts: &Facts) -> Remedy {
    let runtime = format!("XDG_RUNTIME_DIR={}", run_user(facts));
    let ask = ["env", runtime.as_str(), "systemctl", "--user", "restart"];
    Remedy::user(
        ask.into_iter().chain(["dbus.socket", "dbus.service"]),
        "starts the account's message bus anew; jobs go on",
    )
    .verify(verify())
}

/// Makes the user manager connect to the system bus again.
pub(super) fn reexec_user_manager(facts: &Facts) -> Remedy {
    let runtime = format!("XDG_RUNTIME_DIR={}", run_user(facts));
    let ask = ["env", runtime.as_str(), "systemctl", "--user"];
    let place = ["env", runtime.as_str(), "systemd-run", "--user", "--scope"];
    Remedy::user(
        ask.into_iter().chain(["daemon-reexec"]),
        "has the user manager execute itself again, which connects it anew; what runs under it goes on",
    )
    .verify(place.into_iter().chain(["--quiet", "true"]))
}

/// Restarts a unit.
pub(super) fn restart_unit(facts: &Facts, unit: &UnitFacts, effect: &str) -> Remedy {
    of_manager(facts, unit, &["restart", &unit.name], effect).verify(verify())
}

/// Starts a unit.
pub(super) fn start_unit(facts: &Facts, unit: &UnitFacts) -> Remedy {
    let start = of_manager(facts, unit, &["start", &unit.name], "starts it");
    let start = match unit.file_state.as_deref() {
        Some("enabled") => start,
        _ => start.until_reboot(),
    };
    start
        .undo(ask(facts, unit, &["stop", &unit.name]))
        .verify(ask(facts, unit, &["is-active", &unit.name]))
}

/// Ends a process, waits for its end, and starts a unit in its place.
pub(super) fn replace_by_unit(facts: &Facts, pid: u32, unit: &UnitFacts) -> Remedy {
    let start = line(&ask(facts, unit, &["start", &unit.name]));
    let effect = "ends the one that runs by hand, and starts the unit in its place";
    needed_by(unit, shell(format!("{} && {start}", end(pid))), effect)
        .until_reboot()
        .verify(ask(facts, unit, &["is-active", &unit.name]))
}

/// Ends a process and waits for it: two dispatchers at once would fight for the home.
pub(super) fn end(pid: u32) -> String {
    format!("kill {pid} && timeout 60 tail --pid={pid} -f /dev/null")
}

/// A `systemctl` command about a unit, run by whoever owns its manager.
pub(super) fn of_manager(facts: &Facts, unit: &UnitFacts, words: &[&str], effect: &str) -> Remedy {
    needed_by(unit, ask(facts, unit, words), effect)
}

/// A command of whoever owns the unit's manager.
pub(super) fn needed_by(unit: &UnitFacts, words: Vec<String>, effect: &str) -> Remedy {
    match needs(unit) {
        Needs::Root => Remedy::root(words, effect),
        Needs::User => Remedy::user(words, effect),
    }
}

fn needs(unit: &UnitFacts) -> Needs {
    match unit.manager {
        Some(ManagerKind::User) => Needs::User,
        _ => Needs::Root,
    }
}

/// `systemctl …`, or the same for the user manager of the account.
pub(super) fn ask(facts: &Facts, unit: &UnitFacts, words: &[&str]) -> Vec<String> {
    let mut command = match needs(unit) {
        Needs::Root => argv(["systemctl"]),
        Needs::User => {
            let runtime = format!("XDG_RUNTIME_DIR={}", run_user(facts));
            argv(["env", &runtime, "systemctl", "--user"])
        }
    };
    command.extend(words.iter().map(|word| (*word).to_owned()));
    command
}

/// Shows that a property of the unit has a value that this basic regular expression matches.
pub(super) fn verify_property(
    facts: &Facts,
    unit: &UnitFacts,
    property: &str,
    pattern: &str,
) -> Vec<String> {
    let show = ask(
        facts,
        unit,
        &["show", "--value", "-p", property, &unit.name],
    );
    shell(format!("{} | grep -q {}", line(&show), inner(pattern)))
}

/// Adds lines to the `[Service]` section of a unit by a file of its own, and restarts the unit.
pub(super) fn drop_in(facts: &Facts, unit: &UnitFacts, lines: &[&str], effect: &str) -> Remedy {
    let lines: Vec<&str> = std::iter::once("[Service]")
        .chain(lines.iter().copied())
        .collect();
    drop_in_file(facts, unit, &lines, effect)
}

/// The same with the name of the section before its lines.
pub(super) fn drop_in_file(
    facts: &Facts,
    unit: &UnitFacts,
    lines: &[&str],
    effect: &str,
) -> Remedy {
    let folder = format!("{}/{}.d", unit_folder(facts, unit), unit.name);
    let key = lines.get(1).and_then(|line| line.split('=').next());
    let key = key.unwrap_or_default().to_lowercase();
    let file = format!("{folder}/50-hermes-{key}.conf");
    let text: Vec<String> = lines.iter().copied().map(inner).collect();
    let reload = line(&ask(facts, unit, &["daemon-reload"]));
    let restart = line(&ask(facts, unit, &["restart", &unit.name]));
    // One that was started too often is not restarted before it is forgiven.
    let restart = match unit.active_state.as_deref() {
        Some("failed") => {
            let forgive = line(&ask(facts, unit, &["reset-failed", &unit.name]));
            format!("{forgive} && {restart}")
        }
        _ => restart,
    };
    let (folder, file) = (inner(&folder), inner(&file));
    let write = format!(
        "mkdir -p {folder} && printf \"%s\\n\" {} >{file}",
        text.join(" ")
    );
    needed_by(
        unit,
        shell(format!("{write} && {reload} && {restart}")),
        effect,
    )
    .undo(shell(format!("rm {file} && {reload} && {restart}")))
}

/// Where the files of its owner lie.
pub(super) fn unit_folder(facts: &Facts, unit: &UnitFacts) -> String {
    match (needs(unit), &facts.account.home) {
        (Needs::Root, _) => "/etc/systemd/system".to_owned(),
        (Needs::User, Some(home)) => home.join(".config/systemd/user").display().to_string(),
        // Readable by every user manager; only root may write there.
        (Needs::User, None) => "/etc/systemd/user".to_owned(),
    }
}

/// A word inside a line for `sh`, which is itself put into single quotes when it is printed: double
/// quotes keep that readable, as long as nothing in the word means something between them.
pub(super) fn inner(word: &str) -> String {
    // `$'…'` is not known to every sh: there a line break stands as it is, and what prints the whole
    // line escapes it.
    if word.chars().any(is_unsafe) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let quoted = quote::word(word);
    let special = |c: char| matches!(c, '"' | '$' | '`' | '\\' | '!' | '\'');
    if quoted == word || word.contains(special) {
        quoted
    } else {
        format!("\"{word}\"")
    }
}

/// A line for `sh`.
pub(super) fn shell(line: String) -> Vec<String> {
    vec!["sh".to_owned(), "-c".to_owned(), line]
}

/// How a line for `sh` calls this program. The line is the account's, whoever reads it.
pub(super) fn own_name(facts: &Facts) -> String {
    inner(&if facts.caller.uid == facts.account.uid {
        facts.own_name.here()
    } else {
        facts.own_name.behind_sudo()
    })
}

/// Words as a part of such a line.
pub(super) fn line(words: &[String]) -> String {
    words
        .iter()
        .map(|word| inner(word))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drop_in_of_a_system_unit_is_root_s_and_one_line() {
        let facts = Facts::example();
        let unit = facts.dispatcher.unit.as_ref().unwrap();
        let remedy = drop_in(&facts, unit, &["ProtectHome=read-only"], "lets it see");
        assert_eq!(remedy.needs, Needs::Root);
        assert_eq!(
            remedy.argv[2],
            "mkdir -p /etc/systemd/system/hermes.service.d && \
             printf \"%s\\n\" \"[Service]\" ProtectHome=read-only \
             >/etc/systemd/system/hermes.service.d/50-hermes-protecthome.conf && \
             systemctl daemon-reload && systemctl restart hermes.service"
        );
        assert_eq!(remedy.argv.len(), 3);
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "a shell reads what is made for it"
    )]
    fn a_line_for_sh_says_the_same_to_every_sh() {
        for word in [
            "a\nb 'c' \"d\"",
            "it's \"x\" $HOME `id` \\ !",
            "tab\there",
            "two words",
            "gr\u{f6}\u{df}e \u{202e}x",
        ] {
            let argv = shell(format!("printf %s {}", inner(word)));
            let said = std::process::Command::new(&argv[0])
                .args(&argv[1..])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&said.stdout), word);
        }
    }

    #[test]
    fn units_of_the_user_manager_are_asked_through_its_own_directory() {
        let mut facts = Facts::example();
        facts.in_user_unit();
        let unit = facts.dispatcher.unit.as_ref().unwrap();
        let remedy = start_unit(&facts, unit);
        assert_eq!(remedy.needs, Needs::User);
        assert_eq!(
            remedy.argv,
            [
                "env",
                "XDG_RUNTIME_DIR=/run/user/1001",
                "systemctl",
                "--user",
                "start",
                "hermes.service"
            ]
        );
        let drop_in = drop_in(&facts, unit, &["KillMode=process"], "");
        assert!(drop_in.argv[2].contains("/srv/bot/.config/systemd/user/hermes.service.d"));
    }
}
