//! Whose command a remedy is, for whoever reads it. Pure.

use super::super::finding::{Needs, Remedy};
use crate::host::facts::{AccountFacts, OwnName};

/// Who reads the report, and which account dispatches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whose<'a> {
    /// The uid of the reader.
    pub(super) reader: u32,
    /// The account; none where the host could not be looked at.
    pub(super) account: Option<&'a AccountFacts>,
    /// How the reader calls this program.
    pub(super) own_name: &'a OwnName,
}

impl Whose<'_> {
    /// The remedy as this reader must type it: what another account must run begins with what makes the
    /// reader that account.
    pub(super) fn told(self, mut remedy: Remedy) -> Remedy {
        let before = self.before(remedy.needs);
        prefix(&mut remedy.argv, &before);
        prefix(&mut remedy.undo, &before);
        // Only root's own things are seen by root alone, and `systemctl` answers anybody; but the
        // account's manager and home answer nobody else.
        if remedy.needs == Needs::User || is_of_account(&remedy.verify) {
            prefix(&mut remedy.verify, &self.before(Needs::User));
        }
        for argv in [&mut remedy.argv, &mut remedy.undo, &mut remedy.verify] {
            self.name(argv);
        }
        remedy
    }

    /// Where this program is called, calls it so that no other of its name is started.
    pub(super) fn name(self, argv: &mut [String]) {
        let sudo = argv.first().is_some_and(|program| program == "sudo");
        let mut words = argv.iter_mut().skip(usize::from(sudo)).peekable();
        if words.next_if(|word| sudo && *word == "-u").is_some() {
            words.next();
        }
        let env = words.next_if(|word| *word == "env").is_some();
        while words.next_if(|word| env && word.contains('=')).is_some() {}
        if let Some(program) = words.next().filter(|word| *word == OwnName::BARE) {
            *program = if sudo {
                self.own_name.behind_sudo()
            } else {
                self.own_name.here()
            };
        }
    }

    fn before(self, needs: Needs) -> Vec<String> {
        let account = match needs {
            Needs::Root if self.reader == 0 => return Vec::new(),
            Needs::Root => return vec!["sudo".to_owned()],
            Needs::User => self.account.filter(|account| account.uid != self.reader),
        };
        let Some(account) = account else {
            return Vec::new();
        };
        let numbered = || format!("#{}", account.uid);
        let name = account.name.clone().unwrap_or_else(numbered);
        vec!["sudo".to_owned(), "-u".to_owned(), name]
    }
}

/// Whether this asks the account's own manager.
fn is_of_account(argv: &[String]) -> bool {
    let mut words = argv.iter();
    words.next().is_some_and(|program| program == "env")
        && words.any(|word| word.starts_with("XDG_RUNTIME_DIR="))
}

fn prefix(argv: &mut Vec<String>, before: &[String]) {
    if argv.first().is_some_and(|program| program != "sudo") {
        argv.splice(0..0, before.iter().cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Facts;

    fn told(reader: u32, remedy: &Remedy) -> [String; 3] {
        let facts = Facts::example();
        let account = Some(&facts.account);
        let own_name = &facts.own_name;
        let whose = Whose {
            reader,
            account,
            own_name,
        };
        let told = whose.told(remedy.clone());
        [told.argv, told.undo, told.verify].map(|words| words.join(" "))
    }

    #[test]
    fn a_command_of_the_account_is_run_as_the_account_whoever_reads_it() {
        let remedy = Remedy::user(["kill", "812"], "").undo(["a"]).verify(["b"]);
        assert_eq!(told(1001, &remedy), ["kill 812", "a", "b"]);
        for other in [0, 1000] {
            let wanted = ["sudo -u bot kill 812", "sudo -u bot a", "sudo -u bot b"];
            assert_eq!(told(other, &remedy), wanted);
        }
    }

    #[test]
    fn a_command_of_root_is_run_by_root_and_anybody_sees_that_it_worked() {
        let remedy = Remedy::root(["a"], "").undo(["b"]).verify(["c"]);
        assert_eq!(told(0, &remedy), ["a", "b", "c"]);
        assert_eq!(told(1001, &remedy), ["sudo a", "sudo b", "c"]);
        let ask = ["env", "XDG_RUNTIME_DIR=/run/user/1001", "systemctl"];
        let remedy = remedy.verify(ask);
        assert!(told(0, &remedy)[2].starts_with("sudo -u bot env "));
        assert!(told(1001, &remedy)[2].starts_with("env "));
    }

    #[test]
    fn what_names_its_account_is_left_alone_and_an_account_without_a_name_has_a_number() {
        let remedy = Remedy::user(["sudo", "-u", "#7", "x"], "");
        assert_eq!(told(0, &remedy)[0], "sudo -u #7 x");
        let mut account = Facts::example().account;
        account.name = None;
        let whose = Whose {
            reader: 0,
            account: Some(&account),
            own_name: &OwnName::default(),
        };
        let remedy = whose.told(Remedy::user(["x"], ""));
        assert_eq!(remedy.argv, ["sudo", "-u", "#1001", "x"]);
        assert!(remedy.undo.is_empty() && remedy.verify.is_empty());
    }

    #[test]
    fn this_program_is_called_by_its_file_where_its_name_means_another() {
        let named = |on_path: Option<&str>, line: &str| {
            let own_name = OwnName {
                file: Some("/opt/us/hermes".into()),
                on_path: on_path.map(Into::into),
            };
            let whose = Whose {
                reader: 0,
                account: None,
                own_name: &own_name,
            };
            let mut argv: Vec<_> = line.split(' ').map(str::to_owned).collect();
            whose.name(&mut argv);
            argv.join(" ")
        };
        for (line, wanted) in [
            ("hermes loop stop hermes", "/opt/us/hermes loop stop hermes"),
            ("sudo hermes x", "sudo /opt/us/hermes x"),
            ("sudo -u hermes hermes x", "sudo -u hermes /opt/us/hermes x"),
            ("env A=b C=d hermes x", "env A=b C=d /opt/us/hermes x"),
            (
                "sudo -u b env A=b hermes",
                "sudo -u b env A=b /opt/us/hermes",
            ),
            ("kill hermes", "kill hermes"),
        ] {
            assert_eq!(named(None, line), wanted);
        }
        let own = Some("/home/b/bin/hermes");
        assert_eq!(named(own, "hermes x"), "hermes x");
        assert_eq!(named(own, "sudo hermes x"), "sudo /opt/us/hermes x");
    }
}
