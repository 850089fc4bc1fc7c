//! An invocation of the agent: the words, the stdin and the environment of one turn. Pure.

use std::ffi::{OsStr, OsString};

use crate::error::{Error, Kind, Result};

use super::settings::{AgentCommand, PromptBy, USUAL_VARIABLES};

/// The longest word that the kernel hands to a program, in bytes.
pub const LONGEST_WORD: usize = (128 << 10) - 1;
/// How many agents a process is inside of, each in a turn of the one before it.
pub const DEPTH_VARIABLE: &str = "_HERMES_AGENT_DEPTH";
/// So many are enough for an agent that runs a job by hand whose agent does the same.
pub const DEEPEST: u32 = 3;

/// The depth that such a variable tells.
pub(super) fn depth_of(variable: Option<&OsStr>) -> u32 {
    let told = variable.and_then(OsStr::to_str);
    told.and_then(|depth| depth.parse().ok()).unwrap_or(0)
}

/// What is asked of the agent.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The prompt, with whatever context goes before it.
    pub prompt: &'a str,
    /// The agent's own id of the session, if an earlier turn told one.
    pub session: Option<&'a str>,
    /// Path of the file with the prompt, for an agent that wants one.
    pub prompt_file: Option<&'a str>,
}

/// One run of the agent, ready to be started.
#[derive(Clone, PartialEq, Eq)]
pub struct Invocation {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// What it reads on stdin.
    pub stdin: Option<Vec<u8>>,
    /// It continues the agent's own session; otherwise it knows nothing of earlier turns.
    pub resumes: bool,
}

impl std::fmt::Debug for Invocation {
    /// Without the prompt, which may be on stdin or among the arguments.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invocation")
            .field("program", &self.argv.first())
            .finish_non_exhaustive()
    }
}

impl Invocation {
    /// Whether its words can be given to a program.
    ///
    /// # Errors
    /// When one is too long, or has a NUL byte in it: words are the prompt's place where nothing else was.
    pub(super) fn fits(&self, program: &str) -> Result<()> {
        let bytes = |word: &OsString| word.as_encoded_bytes().to_vec();
        let wrong = self.argv.iter().map(bytes).find_map(|word| {
            if word.contains(&0) {
                Some("has a NUL byte in it, which no argument can have".to_owned())
            } else {
                let kib = word.len() >> 10;
                let words = format!(
                    "has {kib} KiB, and an argument at most {}",
                    (LONGEST_WORD + 1) >> 10
                );
                (word.len() > LONGEST_WORD).then_some(words)
            }
        });
        let Some(wrong) = wrong else { return Ok(()) };
        Err(Error::new(
            Kind::Invalid,
            format!(
                "the prompt cannot be an argument of the agent's program '{program}': it {wrong}"
            ),
        )
        .with_hint(
            "take {prompt} out of agent.command, and give it on stdin or in a file: \
             agent.prompt = \"stdin\", or {prompt_file} in its place",
        ))
    }
}

impl AgentCommand {
    /// Whether prompts are among its arguments, where every user of the host can read them.
    #[must_use]
    pub fn shows_prompts(&self) -> bool {
        let words = self.command.iter().chain(&self.resume);
        words.skip(1).any(|word| word.contains("{prompt}"))
    }

    /// Words in braces that look as if something were put in their place, and nothing is.
    #[must_use]
    pub fn literal_marks(&self) -> Vec<String> {
        let file = self.prompt == PromptBy::File;
        let of = |words: &[String], session: bool| -> Vec<String> {
            let words = words.iter().skip(1);
            let marks = words
                .flat_map(|word| marks(word))
                .filter(|mark| match mark.as_str() {
                    "{prompt}" => false,
                    "{prompt_file}" => !file,
                    "{session}" => !session,
                    _ => true,
                });
            marks.collect()
        };
        let mut literal = of(&self.command, false);
        literal.extend(of(&self.resume, true));
        literal.dedup();
        literal
    }

    /// How long a prompt can be, in bytes, with whatever goes before it.
    #[must_use]
    pub fn longest_prompt(&self) -> usize {
        if self.shows_prompts() {
            // The word may have a beginning of its own.
            LONGEST_WORD - 4096
        } else {
            usize::MAX
        }
    }

    /// Whether the agent can continue a session of its own.
    #[must_use]
    pub fn can_resume(&self) -> bool {
        !self.resume.is_empty()
    }

    /// The invocation of one turn.
    #[must_use]
    pub fn invocation(&self, turn: &Turn<'_>) -> Invocation {
        let session = turn.session.filter(|_| self.can_resume());
        let words = if session.is_some() {
            &self.resume
        } else {
            &self.command
        };
        let argv = words.iter().enumerate().map(|(index, word)| {
            // The program itself is never made of what a prompt says.
            if index == 0 {
                word.clone()
            } else {
                fill(word, turn, session)
            }
        });
        Invocation {
            argv: argv.map(OsString::from).collect(),
            stdin: (self.prompt == PromptBy::Stdin).then(|| turn.prompt.as_bytes().to_vec()),
            resumes: session.is_some(),
        }
    }

    /// The environment of the agent: the usual few, what the operator allows, and what is set for this
    /// run; nothing else of ours reaches it.
    pub fn environment<'a>(
        &self,
        ours: impl Iterator<Item = (&'a OsStr, &'a OsStr)>,
        extra: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        let ours: Vec<_> = ours.collect();
        let outer = ours.iter().find(|(name, _)| *name == DEPTH_VARIABLE);
        let depth = depth_of(outer.map(|(_, value)| *value)).saturating_add(1);
        let depth = (DEPTH_VARIABLE.into(), depth.to_string().into());
        environment(
            &self.env,
            ours.into_iter(),
            extra.into_iter().chain([depth]),
        )
    }
}

/// The environment of a child: of ours only the usual variables and those allowed, then what is set
/// for this run, which wins.
pub fn environment<'a>(
    allowed: &[String],
    ours: impl Iterator<Item = (&'a OsStr, &'a OsStr)>,
    extra: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let extra: Vec<_> = extra.into_iter().collect();
    let mut variables: Vec<(OsString, OsString)> = ours
        .filter(|(name, _)| name.to_str().is_some_and(|name| is_allowed(name, allowed)))
        .filter(|(name, _)| !extra.iter().any(|(set, _)| set == name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    variables.extend(extra);
    variables
}

fn is_allowed(name: &str, allowed: &[String]) -> bool {
    USUAL_VARIABLES.contains(&name)
        || allowed
            .iter()
            .any(|pattern| match pattern.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => pattern == name,
            })
}

/// The names in braces in a word.
fn marks(word: &str) -> Vec<String> {
    let inside = word
        .split('{')
        .skip(1)
        .filter_map(|part| part.split_once('}'));
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let names = inside.map(|(name, _)| name).filter(|name| is_name(name));
    names.map(|name| format!("{{{name}}}")).collect()
}

/// Fills the marks of one word in a single pass: text that was filled in is never read for marks.
fn fill(word: &str, turn: &Turn<'_>, session: Option<&str>) -> String {
    let marks = [
        ("{prompt_file}", turn.prompt_file),
        ("{prompt}", Some(turn.prompt)),
        ("{session}", session),
    ];
    let mut filled = String::new();
    let mut rest = word;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        filled.push_str(before);
        let mark = marks
            .iter()
            .find(|(mark, value)| value.is_some() && from.starts_with(mark));
        if let Some((mark, Some(value))) = mark {
            filled.push_str(value);
            rest = from.strip_prefix(mark).unwrap_or_default();
        } else {
            filled.push('{');
            rest = from.strip_prefix('{').unwrap_or_default();
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::settings::Settings;

    fn agent(text: &str) -> AgentCommand {
        toml::from_str::<Settings>(text)
            .expect("settings")
            .resolve()
            .expect("an agent")
    }

    fn turn(prompt: &str) -> Turn<'_> {
        Turn {
            prompt,
            session: None,
            prompt_file: None,
        }
    }

    #[test]
    fn the_prompt_is_one_argument_and_is_not_read_for_marks() {
        let agent = agent("command = ['a', 'say: {prompt} {x}']");
        let invocation = agent.invocation(&turn("rm -rf / '{session}' {prompt}"));
        assert_eq!(
            invocation.argv,
            ["a", "say: rm -rf / '{session}' {prompt} {x}"]
        );
        assert_eq!(invocation.stdin, None);
    }

    #[test]
    fn a_later_turn_resumes_where_the_agent_can() {
        let agent = agent("preset = 'claude'");
        let later = Turn {
            session: Some("s-1"),
            ..turn("hi")
        };
        let invocation = agent.invocation(&later);
        assert!(invocation.resumes);
        assert!(
            invocation
                .argv
                .ends_with(&["--resume".into(), "s-1".into()])
        );
        assert_eq!(invocation.stdin.as_deref(), Some(b"hi".as_slice()));
        assert!(!agent.invocation(&turn("hi")).resumes);
    }

    #[test]
    fn only_allowed_variables_reach_the_agent() {
        let agent = agent("command = ['a']\nenv = ['GH_TOKEN', 'X_*']");
        let ours = [
            ("PATH", "/bin"),
            ("SECRET", "s"),
            ("GH_TOKEN", "t"),
            ("X_1", "1"),
            ("HOME", "/h"),
        ];
        let ours = ours
            .iter()
            .map(|(name, value)| (OsStr::new(*name), OsStr::new(*value)));
        let got = agent.environment(ours, [("HOME".into(), "/other".into())]);
        let names: Vec<_> = got
            .iter()
            .map(|(name, _)| name.to_str().unwrap_or_default())
            .collect();
        assert_eq!(names, ["PATH", "GH_TOKEN", "X_1", "HOME", DEPTH_VARIABLE]);
        assert_eq!((&got[3].1, &got[4].1), (&"/other".into(), &"1".into()));
    }

    #[test]
    fn debug_output_does_not_tell_the_prompt() {
        let invocation = agent("command = ['a', '{prompt}']").invocation(&turn("secret"));
        assert!(!format!("{invocation:?}").contains("secret"));
    }
}
