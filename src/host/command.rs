//! What a command line runs: which of the two programs, in which role, for which profile. Pure; it reads
//! processes and `ExecStart=` of units alike.
//!
//! Hermes Agent is a Python program: the kernel shows its interpreter, then its script or `-m` and a
//! module. Ours is one binary, called `hermes` itself.

use std::path::{Path, PathBuf};

use super::facts::{Program, Role};

/// What a command line runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Which program.
    pub program: Program,
    /// In which role; [`Role::Other`] for subcommands that end by themselves.
    pub role: Role,
    /// `-p` or `--profile`.
    pub profile: Option<String>,
    /// `--home`.
    pub home: Option<PathBuf>,
    /// Program and subcommand, without arguments: those may be secret.
    pub words: Vec<String>,
}

/// Reads a command line; `None` where it is neither program's. `exe` is the program file, where known.
#[must_use]
pub fn read(argv: &[String], exe: Option<&Path>) -> Option<Command> {
    if let [title] = argv
        && title.contains(' ')
    {
        // A title that the process gave itself.
        let words: Vec<String> = title.split_ascii_whitespace().map(str::to_owned).collect();
        return read(&words, exe);
    }
    let (first, rest) = argv.split_first()?;
    let name = base(first);
    if is_python(name) {
        return python(first, rest);
    }
    (name == "hermes").then(|| {
        let script = exe
            .and_then(Path::file_name)
            .is_some_and(|name| name.to_str().is_some_and(is_python));
        let mut command = subcommand(rest, vec![first.clone()]);
        if script || command.role == Role::Gateway {
            command.program = Program::HermesAgent;
        }
        command
    })
}

/// The same for `ExecStart=`, where a shell, `env` or a runner of Python tools may stand before.
#[must_use]
pub fn read_exec(argv: &[String]) -> Option<Command> {
    if let Some(command) = read(argv, None) {
        return Some(command);
    }
    let (first, rest) = argv.split_first()?;
    match base(first) {
        "sh" | "bash" | "dash" => {
            let script = rest.iter().find(|word| !word.starts_with('-'))?;
            let words: Vec<String> = script
                .split_ascii_whitespace()
                .skip_while(|word| *word == "exec" || is_assignment(word))
                .map(|word| word.trim_matches(['"', '\'']).to_owned())
                .collect();
            read(&words, None)
        }
        "env" => {
            let at = rest
                .iter()
                .position(|word| !word.starts_with('-') && !is_assignment(word))?;
            read_exec(rest.get(at..)?)
        }
        "uv" | "uvx" | "nice" | "ionice" | "setpriv" | "runuser" | "tini" | "dumb-init" => {
            let at = rest.iter().position(|word| base(word) == "hermes")?;
            read(rest.get(at..)?, None).map(|mut command| {
                if base(first).starts_with("uv") {
                    command.program = Program::HermesAgent;
                }
                command
            })
        }
        _ => None,
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && !name.contains(['/', '-']))
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_python(name: &str) -> bool {
    let version = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    ["python", "pypy"]
        .iter()
        .any(|prefix| name.strip_prefix(prefix).is_some_and(version))
}

fn python(interpreter: &str, rest: &[String]) -> Option<Command> {
    let mut at = 0;
    loop {
        let word = rest.get(at)?;
        let after = rest.get(at + 1..)?;
        match word.as_str() {
            "-m" => {
                let (module, after) = after.split_first()?;
                let words = vec![interpreter.to_owned(), word.clone(), module.clone()];
                return module_of_agent(module, after, words);
            }
            "-X" | "-W" => at += 2,
            option if option.starts_with('-') => at += 1,
            script => {
                let words = vec![interpreter.to_owned(), script.to_owned()];
                return script_of_agent(script, after, words);
            }
        }
    }
}

fn module_of_agent(module: &str, rest: &[String], words: Vec<String>) -> Option<Command> {
    match module {
        "hermes_cli" | "hermes_cli.main" | "hermes_cli.__main__" => {
            Some(of_agent(subcommand(rest, words)))
        }
        "gateway" | "gateway.run" => Some(Command {
            role: Role::Gateway,
            ..of_agent(subcommand(&[], words))
        }),
        "cron.scheduler" => Some(Command {
            role: if rest
                .iter()
                .any(|word| word.starts_with("--external-worker"))
            {
                Role::Worker
            } else {
                Role::Other
            },
            ..of_agent(subcommand(&[], words))
        }),
        _ => None,
    }
}

fn script_of_agent(script: &str, rest: &[String], words: Vec<String>) -> Option<Command> {
    if base(script) == "hermes" || script.ends_with("hermes_cli/main.py") {
        return Some(of_agent(subcommand(rest, words)));
    }
    script.ends_with("gateway/run.py").then(|| Command {
        role: Role::Gateway,
        ..of_agent(subcommand(&[], words))
    })
}

fn of_agent(command: Command) -> Command {
    Command {
        program: Program::HermesAgent,
        ..command
    }
}

/// Reads what follows the program's name.
fn subcommand(rest: &[String], mut words: Vec<String>) -> Command {
    let (mut profile, mut home) = (None, None);
    let mut bare: Vec<&str> = Vec::new();
    let mut ends = false;
    let mut rest = rest.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        match word.split_once('=').unwrap_or((word, "")) {
            ("-p" | "--profile", "") => profile = rest.next(),
            ("--profile", name) => profile = Some(name),
            ("--home", "") => home = rest.next(),
            ("--home", path) => home = Some(path),
            ("--stop" | "--status" | "--help" | "-h" | "--version", _) => ends = true,
            (option, _) if option.starts_with('-') => {}
            _ => bare.push(word),
        }
    }
    let role = match bare.as_slice() {
        _ if ends => Role::Other,
        ["serve", ..] => Role::Serve,
        ["worker", ..] => Role::Worker,
        // A restart without a service manager goes on as the gateway itself.
        ["gateway"] | ["gateway", "run" | "restart", ..] => Role::Gateway,
        _ => Role::Other,
    };
    let kept = match bare.as_slice() {
        ["serve" | "worker", ..] => 1,
        _ => 2,
    };
    words.extend(bare.iter().take(kept).map(|word| (*word).to_owned()));
    Command {
        program: Program::Ours,
        role,
        profile: profile.map(str::to_owned),
        home: home.map(PathBuf::from),
        words,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn of(line: &str) -> Option<(Program, Role)> {
        read(&words(line), None).map(|command| (command.program, command.role))
    }

    #[test]
    fn hermes_agent_in_its_forms() {
        for line in [
            "/opt/venv/bin/python3 /opt/venv/bin/hermes gateway run --replace",
            "/opt/venv/bin/python -u -X utf8 -m hermes_cli.main -p ops gateway run",
            "python3.11 -m gateway.run",
            "hermes gateway run",
            "python3 /srv/src/gateway/run.py",
            "hermes --profile ops gateway restart",
        ] {
            let found = of(line);
            assert_eq!(found, Some((Program::HermesAgent, Role::Gateway)), "{line}");
        }
        assert_eq!(
            of("python3 /v/bin/hermes serve --port 9119"),
            Some((Program::HermesAgent, Role::Serve))
        );
        assert_eq!(
            of("python -m cron.scheduler --external-worker-file /x"),
            Some((Program::HermesAgent, Role::Worker))
        );
    }

    #[test]
    fn ours_is_the_binary_itself() {
        assert_eq!(
            of("/usr/bin/hermes serve"),
            Some((Program::Ours, Role::Serve))
        );
        assert_eq!(of("hermes worker"), Some((Program::Ours, Role::Worker)));
        let python = Path::new("/usr/bin/python3.11");
        let command = read(&words("hermes serve"), Some(python)).unwrap();
        assert_eq!(command.program, Program::HermesAgent);
    }

    #[test]
    fn what_ends_by_itself_is_neither_serve_nor_gateway() {
        for line in [
            "hermes gateway status",
            "hermes serve --status",
            "hermes cron doctor",
            "python /v/bin/hermes chat",
        ] {
            assert_eq!(of(line).map(|(_, role)| role), Some(Role::Other), "{line}");
        }
    }

    #[test]
    fn other_programs_are_not_ours() {
        for line in [
            "vim hermes",
            "python3 app.py",
            "python3",
            "bash hermes gateway run",
            "pythonx hermes serve",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
        assert_eq!(read(&[], None), None);
    }

    #[test]
    fn profile_and_home_are_found_and_arguments_are_dropped() {
        let line = words("/v/bin/hermes -p ops --home=/srv/h serve --token secret");
        let command = read(&line, None).unwrap();
        assert_eq!(command.profile.as_deref(), Some("ops"));
        assert_eq!(command.home.as_deref(), Some(Path::new("/srv/h")));
        assert_eq!(command.words, ["/v/bin/hermes", "serve"]);
    }

    #[test]
    fn a_title_is_split() {
        let command = read(&["hermes gateway run".to_owned()], None).unwrap();
        assert_eq!(command.role, Role::Gateway);
    }

    #[test]
    fn units_may_start_through_others() {
        let role = |argv: &[&str]| {
            let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
            read_exec(&argv).map(|command| (command.program, command.role))
        };
        let gateway = Some((Program::HermesAgent, Role::Gateway));
        assert_eq!(
            role(&["/bin/sh", "-c", "exec /v/bin/hermes gateway run"]),
            gateway
        );
        assert_eq!(
            role(&[
                "/usr/bin/env",
                "A=1",
                "/v/bin/python",
                "-m",
                "hermes_cli",
                "gateway",
                "run"
            ]),
            gateway
        );
        assert_eq!(
            role(&["/bin/uv", "run", "hermes", "gateway", "run"]),
            gateway
        );
        assert_eq!(role(&["/bin/true"]), None);
    }

    proptest! {
        #[test]
        fn no_words_panic(argv in proptest::collection::vec("[a-z=/ .-]{0,12}|hermes|python3|-m|-p", 0..8)) {
            drop((read(&argv, None), read_exec(&argv)));
        }
    }
}
