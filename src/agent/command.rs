//! An invocation of the agent: the words, the stdin and the environment of one turn. Pure.

use std::ffi::{OsStr, OsString};

use super::settings::{AgentCommand, PromptBy, USUAL_VARIABLES};

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

impl AgentCommand {
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
        environment(&self.env, ours, extra)
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
        assert_eq!(names, ["PATH", "GH_TOKEN", "X_1", "HOME"]);
        assert_eq!(
            got.last().map(|(_, value)| value.clone()),
            Some("/other".into())
        );
    }

    #[test]
    fn debug_output_does_not_tell_the_prompt() {
        let invocation = agent("command = ['a', '{prompt}']").invocation(&turn("secret"));
        assert!(!format!("{invocation:?}").contains("secret"));
    }
}
