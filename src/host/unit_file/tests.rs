//! Unit files, drop-ins, specifiers and words.

use proptest::prelude::*;

use super::*;
use crate::host::facts::{Program, Role};

fn bot() -> AccountFacts {
    AccountFacts {
        uid: 1001,
        gid: Some(1001),
        name: Some("bot".to_owned()),
        home: Some("/home/bot".into()),
    }
}

const UNIT: &str = "\
[Unit]
Wants=network-online.target user@1001.service

[Service]
Type=simple
User=bot
# ExecStart=/bin/false
ExecStart=/opt/venv/bin/python -m hermes_cli.main \\
    -p ops gateway run --replace
Environment=\"HERMES_HOME=/srv/my home\" HERMES_SUPERVISED_CHILD=1
Environment=API_TOKEN=hunter2
EnvironmentFile=-/etc/default/hermes
KillMode=mixed
LimitNOFILE=4096:8192
RestrictAddressFamilies=AF_INET AF_INET6
";

fn owner(manager: ManagerKind, account: &AccountFacts) -> Owner<'_> {
    Owner {
        unit: "hermes@x.service",
        manager,
        account: Some(account),
    }
}

#[test]
fn a_service_is_read_with_its_command() {
    let bot = bot();
    let settings = Settings::default().with(UNIT);
    let unit = facts(&settings, &owner(ManagerKind::System, &bot));
    assert_eq!(unit.role, Some(Role::Gateway));
    assert_eq!(unit.program, Some(Program::HermesAgent));
    assert_eq!(unit.profile.as_deref(), Some("ops"));
    assert_eq!(unit.user.as_deref(), Some("bot"));
    assert_eq!(unit.kill_mode.as_deref(), Some("mixed"));
    assert_eq!(unit.limit_nofile, Some(4096));
    assert_eq!(unit.unix_sockets_forbidden, Some(true));
    assert_eq!(unit.environment.get("HERMES_HOME"), Some("/srv/my home"));
    assert_eq!(unit.environment_files, ["/etc/default/hermes"]);
    assert!(unit.wants.contains(&"user@1001.service".to_owned()));
    assert!(!format!("{unit:?}").contains("hunter2"));
    assert_eq!(
        home(&unit, Some(&bot)),
        Some(PathBuf::from("/srv/my home/profiles/ops"))
    );
}

#[test]
fn a_drop_in_lays_over_and_takes_back() {
    let bot = bot();
    let settings = Settings::default().with(UNIT).with(
        "[Service]\nExecStart=\nExecStart=-/usr/bin/hermes serve\nKillMode=process\nEnvironment=\n\
         RestrictAddressFamilies=\n",
    );
    let unit = facts(&settings, &owner(ManagerKind::System, &bot));
    assert_eq!(unit.exec, ["/usr/bin/hermes", "serve"]);
    assert_eq!(unit.program, Some(Program::Ours));
    assert_eq!(unit.kill_mode.as_deref(), Some("process"));
    assert_eq!(unit.environment.get("HERMES_HOME"), None);
    assert_eq!(unit.unix_sockets_forbidden, None);
    assert_eq!(home(&unit, Some(&bot)), Some("/home/bot/.hermes".into()));
}

#[test]
fn what_no_file_says_is_systemds_default() {
    let bot = bot();
    let settings = Settings::default().with("[Service]\nExecStart=/usr/bin/hermes serve\n");
    let unit = facts(&settings, &owner(ManagerKind::System, &bot));
    assert_eq!(unit.kill_mode.as_deref(), Some("control-group"));
}

#[test]
fn specifiers_are_those_of_the_manager() {
    let bot = bot();
    let fill = |manager, text: &str| owner(manager, &bot).fill(text);
    assert_eq!(
        fill(ManagerKind::User, "%h/x %i %u %U"),
        "/home/bot/x x bot 1001"
    );
    assert_eq!(fill(ManagerKind::User, "%t"), "/run/user/1001");
    assert_eq!(
        fill(ManagerKind::System, "%h %t %n"),
        "/root /run hermes@x.service"
    );
    assert_eq!(fill(ManagerKind::System, "100%% %Z %"), "100% %Z %");
}

#[test]
fn words_are_unquoted() {
    assert_eq!(
        words(r#"a "b c" 'd "e' f\sg"#),
        ["a", "b c", "d \"e", "f g"]
    );
    assert_eq!(words(r#""" x"#), ["", "x"]);
    assert!(words("  ").is_empty());
}

proptest! {
    #[test]
    fn no_text_panics(text in "(\\[Service\\]\n)?[A-Za-z=%\\\\\"' ~\n-]{0,80}") {
        let bot = bot();
        let settings = Settings::default().with(&text);
        let unit = facts(&settings, &owner(ManagerKind::User, &bot));
        drop((home(&unit, None), words(&text)));
    }
}
