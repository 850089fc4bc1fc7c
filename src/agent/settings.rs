//! What the operator says of the agent: a preset, a command, or a preset with changes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::{Config, Problem, ProblemKind, Source};
use crate::error::{Context as _, Error, Kind, Result};

/// Between SIGTERM and SIGKILL of an agent that is stopped.
pub const STOP_GRACE: Duration = Duration::from_secs(10);
/// Longest turn where nothing else is said: 30 minutes.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(1800);
/// Longest silence of a turn where nothing else is said: 10 minutes, as Hermes Agent's
/// `HERMES_CRON_TIMEOUT`.
pub const DEFAULT_INACTIVITY: Duration = Duration::from_secs(600);

/// What serve's clients present: never given to an agent or a script, whatever it is allowed. With it they
/// could speak as a client.
pub const TOKEN_VARIABLE: &str = "HERMES_DASHBOARD_SESSION_TOKEN";

/// Agents whose command lines we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Hermes Agent.
    Hermes,
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
}

/// How the prompt reaches the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptBy {
    /// On its stdin: nobody else on the host can read it there.
    Stdin,
    /// In place of `{prompt}` among its arguments: every user of the host can read those.
    Argument,
    /// In a file only we can read, whose path takes the place of `{prompt_file}`.
    File,
}

/// Where the answer is in what the agent prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerIn {
    /// All of stdout.
    Text,
    /// All of stdout, and the session is the last line `session_id: ...` of stderr.
    TextSession,
    /// One JSON object with `result`, and `session_id`, `is_error` where there are some.
    JsonResult,
    /// One JSON object a line: the last agent message is the answer.
    JsonLines,
}

impl AnswerIn {
    /// Whether what comes on stdout is the answer itself, and no notation of it.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::TextSession)
    }
}

/// `[agent]` of `config.toml`, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// An agent whose command line we know.
    pub preset: Option<Preset>,
    /// Program and arguments of a first turn.
    pub command: Option<Vec<String>>,
    /// Program and arguments of a later turn; `{session}` is the agent's own session id.
    pub resume: Option<Vec<String>>,
    /// How the prompt reaches it.
    pub prompt: Option<PromptBy>,
    /// Where the answer is.
    pub answer: Option<AnswerIn>,
    /// Longest turn, in seconds; 0 is no limit.
    pub timeout: Option<u64>,
    /// Longest silence, in seconds; 0 is no limit.
    pub inactivity_timeout: Option<u64>,
    /// Names of the variables that it gets beside the usual few; `*` at the end of one stands for any.
    pub env: Vec<String>,
    /// What is written for preset or command and is none, or the file that cannot be read: file, line,
    /// and what is wrong there.
    #[serde(skip)]
    pub misread: Option<String>,
    /// The file that all this is written in.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// That file has the section already, be it an empty one.
    #[serde(skip)]
    pub has_section: bool,
    /// What else is wrong in the section, line by line.
    #[serde(skip)]
    pub problems: Vec<String>,
}

/// An agent that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCommand {
    /// Program and arguments of a first turn.
    pub command: Vec<String>,
    /// Program and arguments of a later turn; empty where the agent has no such form.
    pub resume: Vec<String>,
    /// How the prompt reaches it.
    pub prompt: PromptBy,
    /// Where the answer is.
    pub answer: AnswerIn,
    /// Longest turn.
    pub timeout: Option<Duration>,
    /// Longest silence.
    pub inactivity: Option<Duration>,
    /// Variables that it gets beside the usual few.
    pub env: Vec<String>,
}

/// Variables that every agent and script gets, where they are set.
pub const USUAL_VARIABLES: [&str; 14] = [
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "HERMES_HOME",
];

struct Known {
    command: &'static [&'static str],
    resume: &'static [&'static str],
    prompt: PromptBy,
    answer: AnswerIn,
    env: &'static [&'static str],
}

impl Preset {
    fn known(self) -> Known {
        match self {
            Self::Hermes => Known {
                command: &["hermes", "chat", "-Q", "--query-file", "-"],
                resume: &[
                    "hermes",
                    "chat",
                    "-Q",
                    "--resume",
                    "{session}",
                    "--query-file",
                    "-",
                ],
                prompt: PromptBy::Stdin,
                answer: AnswerIn::TextSession,
                env: &["OPENROUTER_API_KEY", "HERMES_*"],
            },
            Self::Claude => Known {
                command: &["claude", "-p", "--output-format", "json"],
                resume: &[
                    "claude",
                    "-p",
                    "--output-format",
                    "json",
                    "--resume",
                    "{session}",
                ],
                prompt: PromptBy::Stdin,
                answer: AnswerIn::JsonResult,
                env: &["ANTHROPIC_*", "CLAUDE_*"],
            },
            Self::Codex => Known {
                command: &["codex", "exec", "--json", "-"],
                resume: &["codex", "exec", "resume", "{session}", "--json", "-"],
                prompt: PromptBy::Stdin,
                answer: AnswerIn::JsonLines,
                env: &["OPENAI_*", "CODEX_*"],
            },
        }
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn limit(seconds: Option<u64>, default: Duration) -> Option<Duration> {
    match seconds {
        None => Some(default),
        Some(0) => None,
        Some(seconds) => Some(Duration::from_secs(seconds)),
    }
}

impl Settings {
    /// What a configuration says of the agent: its section `agent`, which is ours alone.
    ///
    /// # Errors
    /// When the section makes no sense.
    pub fn of(config: &Config) -> Result<Self> {
        let section = serde_json::Value::Object(config.section("agent"));
        let settings: Self = serde_json::from_value(section).context(
            Kind::Invalid,
            "the section [agent] of config.toml makes no sense",
        )?;
        let is_meant = |problem: &&Problem| {
            let key = problem.key.as_deref();
            problem.kind == ProblemKind::IllTyped
                && matches!(key, Some("agent.preset" | "agent.command"))
        };
        let hidden = |problem: &&Problem| problem.source() == Source::Toml;
        let misread = config.problems().iter().find(is_meant);
        let misread = misread.or_else(|| config.broken().find(hidden));
        let mut files = config.files().iter().map(|file| &file.path);
        let file = files.find(|file| file.extension().is_some_and(|end| end == "toml"));
        Ok(Self {
            misread: misread.map(ToString::to_string),
            has_section: config.has_section("agent"),
            problems: problems(config),
            file: file.cloned(),
            ..settings
        })
    }

    /// Whether anything was said of an agent at all.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.preset.is_some() || self.command.is_some() || self.misread.is_some()
    }

    /// The agent that these settings mean: the preset, and over it what was written.
    ///
    /// # Errors
    /// When there is neither preset nor command, either cannot be read, a command has no program, or the
    /// prompt has no place in it.
    pub fn resolve(&self) -> Result<AgentCommand> {
        if let Some(misread) = &self.misread {
            return Err(Error::new(
                Kind::Refused,
                format!("the agent is not known, so a prompt cannot be run: {misread}"),
            )
            .with_hint("mend that, then try it: hermes agent check"));
        }
        let known = self.preset.map(Preset::known);
        let command = match (&self.command, &known) {
            (Some(command), _) => command.clone(),
            (None, Some(known)) => owned(known.command),
            (None, None) => return Err(self.not_configured()),
        };
        // A command of the operator's own does not get the preset's resume form with it.
        let resume = match (&self.resume, &self.command, &known) {
            (Some(resume), _, _) => resume.clone(),
            (None, None, Some(known)) => owned(known.resume),
            _ => Vec::new(),
        };
        // A place for the prompt among words of the operator's own says where it goes.
        let placed = self.command.as_deref().and_then(place_of_prompt);
        let prompt = placed.or(known.as_ref().map(|known| known.prompt));
        let prompt = self.prompt.or(prompt);
        let answer = self.answer.or(known.as_ref().map(|known| known.answer));
        let mut env = known
            .as_ref()
            .map_or_else(Vec::new, |known| owned(known.env));
        env.extend(self.env.iter().cloned());
        let agent = AgentCommand {
            prompt: prompt.unwrap_or(PromptBy::Stdin),
            answer: answer.unwrap_or(AnswerIn::Text),
            timeout: limit(self.timeout, DEFAULT_TIMEOUT),
            inactivity: limit(self.inactivity_timeout, DEFAULT_INACTIVITY),
            command,
            resume,
            env,
        };
        agent.check()?;
        Ok(agent)
    }

    /// The same with this silence where none is written: of a job's agent another setting tells it.
    #[must_use]
    pub fn of_jobs(mut self, silence: Option<Duration>) -> Self {
        if self.inactivity_timeout.is_none() {
            let whole = |limit: Duration| limit.as_secs() + u64::from(limit.subsec_nanos() > 0);
            self.inactivity_timeout = Some(silence.map_or(0, whole));
        }
        self
    }

    fn not_configured(&self) -> Error {
        let file = self.file.as_deref().unwrap_or(Path::new("config.toml"));
        not_configured(file, self.has_section)
    }
}

/// The place that a command has for the prompt.
fn place_of_prompt(command: &[String]) -> Option<PromptBy> {
    let has = |mark: &str| command.iter().any(|word| word.contains(mark));
    if has("{prompt_file}") {
        Some(PromptBy::File)
    } else {
        has("{prompt}").then_some(PromptBy::Argument)
    }
}

/// What is wrong in the section.
fn problems(config: &Config) -> Vec<String> {
    let problems = config.problems().iter();
    let is_own = |key: &String| key.starts_with("agent.");
    problems
        .filter(|problem| problem.key.as_ref().is_some_and(is_own))
        .map(ToString::to_string)
        .collect()
}

impl AgentCommand {
    fn check(&self) -> Result<()> {
        for (key, words) in [
            ("agent.command", &self.command),
            ("agent.resume", &self.resume),
        ] {
            if words.is_empty() && key == "agent.resume" {
                continue;
            }
            check_program(key, words)?;
            let mark = match self.prompt {
                PromptBy::Stdin => continue,
                PromptBy::Argument => "{prompt}",
                PromptBy::File => "{prompt_file}",
            };
            if !words.iter().skip(1).any(|word| word.contains(mark)) {
                return Err(Error::new(
                    Kind::Invalid,
                    format!("{key} has no {mark}, so the prompt would not reach the agent"),
                )
                .with_hint(format!(
                    "put {mark} among its arguments, or set agent.prompt = \"stdin\""
                )));
            }
        }
        Ok(())
    }
}

/// The program is a name to be looked for, or a whole path: what runs it has a directory of its own.
fn check_program(key: &str, words: &[String]) -> Result<()> {
    let program = words.first().map(String::as_str).unwrap_or_default();
    let wrong = |words| Error::new(Kind::Invalid, words);
    if program.is_empty() {
        return Err(wrong(format!("{key} names no program")));
    }
    if ["{prompt}", "{prompt_file}", "{session}"]
        .iter()
        .any(|mark| program.contains(mark))
    {
        let hint = format!("name the program first: {key} = [\"my-agent\", \"{program}\"]");
        return Err(wrong(format!(
            "{key} names no program: its first word is '{program}'"
        ))
        .with_hint(hint));
    }
    if program.contains('/') && !program.starts_with('/') {
        return Err(wrong(format!(
            "{key} names its program by a part of a path, '{program}', and jobs and sessions have \
             directories of their own"
        ))
        .with_hint(format!("name it by its whole path in {key}")));
    }
    Ok(())
}

/// What is said wherever an agent is needed and none is configured. What is to be added to this file is
/// shown as it is to stand there; it may have the section already.
#[must_use]
pub fn not_configured(file: &Path, has_section: bool) -> Error {
    let (place, head) = if has_section {
        ("under [agent] in", "")
    } else {
        ("at the end of", "[agent]\n")
    };
    Error::new(
        Kind::Refused,
        "no agent is configured, so a prompt cannot be run",
    )
    .with_hint(format!(
        "name one (\"claude\", \"codex\" or \"hermes\") {place} {}:\n{head}preset = \"claude\"",
        file.display()
    ))
    .with_hint(format!(
        "or any command:\n{head}command = [\"my-agent\", \"{{prompt}}\"]"
    ))
    .with_hint("then try it: hermes agent check")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Settings {
        toml::from_str(text).expect("valid settings")
    }

    #[test]
    fn a_preset_is_complete_and_can_be_changed() {
        let agent = settings("preset = 'claude'\ntimeout = 0\nenv = ['GH_TOKEN']")
            .resolve()
            .unwrap();
        assert_eq!(agent.prompt, PromptBy::Stdin);
        assert_eq!(agent.timeout, None);
        assert_eq!(agent.inactivity, Some(DEFAULT_INACTIVITY));
        assert!(agent.env.contains(&"GH_TOKEN".to_owned()));
        assert!(agent.resume.contains(&"{session}".to_owned()));
        for preset in ["hermes", "codex"] {
            settings(&format!("preset = '{preset}'")).resolve().unwrap();
        }
    }

    #[test]
    fn the_place_of_the_prompt_follows_from_the_command() {
        let by = |text: &str| settings(text).resolve().map(|agent| agent.prompt);
        assert_eq!(by("command = ['a']").unwrap(), PromptBy::Stdin);
        assert_eq!(
            by("command = ['a', '--ask={prompt}']").unwrap(),
            PromptBy::Argument
        );
        assert_eq!(
            by("command = ['a', '{prompt_file}']").unwrap(),
            PromptBy::File
        );
        let error = by("command = ['a']\nprompt = 'argument'").unwrap_err();
        assert!(error.message().contains("{prompt}"), "{error}");
        assert_eq!(by("command = []").unwrap_err().kind(), Kind::Invalid);
    }

    #[test]
    fn nothing_said_is_refused_with_the_way_out() {
        let error = Settings::default().resolve().unwrap_err();
        assert_eq!(error.kind(), Kind::Refused);
        let check = |hint: &String| hint.contains("hermes agent check");
        assert!(error.hints().iter().any(check));
    }
}
