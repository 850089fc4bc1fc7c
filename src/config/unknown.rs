//! Names in a file that mean nothing. Pure.
//!
//! `config.yaml` is the other program's and has hundreds of settings that we do not know: there only a
//! name is a problem that looks like a slip of one we do know, in a section where we know our way.
//! `config.toml` is ours: there every name that we do not know is one. Of a file that is full of them
//! the first are told, and how many more there are.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::LazyLock;

use super::key::{Key, Owner};
use super::keys::{KEYS, THEIR_OTHERS};
use super::layer::Format;
use super::node::{Content, Entry, Node};
use super::problem::{Problem, ProblemKind};
use crate::output::nearest::nearest;

/// So many are told, each with what was probably meant: looking for that takes a while.
const TOLD: usize = 100;

/// The problems with the names of a document.
#[must_use]
pub fn names(format: Format, file: &Path, root: &Node) -> Vec<Problem> {
    let mut found = Found::default();
    found.walk(format, "", root);
    let Found { mut problems, more } = found;
    if more > 0 {
        let message = match format {
            Format::Yaml => format!("{more} more names were not looked at: too many are wrong"),
            Format::Toml => format!("{more} more unknown names"),
        };
        problems.push(Problem {
            kind: ProblemKind::Unknown,
            file: None,
            at: None,
            key: None,
            message,
            hint: None,
        });
    }
    for problem in &mut problems {
        problem.file = Some(file.to_owned());
    }
    problems
}

#[derive(Default)]
struct Found {
    problems: Vec<Problem>,
    /// Names beyond those that are told.
    more: usize,
}

impl Found {
    fn walk(&mut self, format: Format, prefix: &str, node: &Node) {
        for entry in node.entries() {
            let name = format!("{prefix}{}", entry.key);
            if NAMES.is_known(format, &name) {
                continue;
            }
            if NAMES.sections.contains_key(name.as_str()) {
                self.problems.extend(no_table(&name, entry));
                self.walk(format, &format!("{name}."), &entry.node);
            } else if self.problems.len() >= TOLD {
                self.more += 1;
            } else {
                self.problems.extend(match format {
                    Format::Yaml => in_yaml(&name, entry),
                    Format::Toml => Some(in_toml(&name, entry)),
                });
            }
        }
    }
}

/// What names there are, to be asked for tens of thousands of them.
struct Names {
    ours_and_theirs: HashSet<&'static str>,
    in_yaml: HashSet<&'static str>,
    /// What stands before the dots of names, with the names in there cut to that depth, sorted.
    sections: BTreeMap<&'static str, BTreeSet<&'static str>>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let theirs = KEYS.iter().filter(|key| key.owner == Owner::Theirs);
    let theirs = theirs.flat_map(|key| [Some(key.name), key.also]).flatten();
    let mut sections: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for name in all_names() {
        let mut section = "";
        for (dot, _) in name.match_indices('.').chain([(name.len(), "")]) {
            if let Some(cut) = name.get(..dot) {
                sections.entry(section).or_default().insert(cut);
                section = cut;
            }
        }
    }
    Names {
        ours_and_theirs: KEYS.iter().map(|key| key.name).collect(),
        in_yaml: theirs.chain(THEIR_OTHERS.iter().copied()).collect(),
        sections,
    }
});

impl Names {
    fn is_known(&self, format: Format, name: &str) -> bool {
        match format {
            Format::Yaml => self.in_yaml.contains(name),
            Format::Toml => self.ours_and_theirs.contains(name),
        }
    }
}

/// A section that is no table sets nothing; an empty one is none.
fn no_table(name: &str, entry: &Entry) -> Option<Problem> {
    let content = &entry.node.content;
    let fits = matches!(content, Content::Table(_) | Content::Null);
    (!fits).then(|| Problem {
        kind: ProblemKind::IllTyped,
        ..problem(
            name,
            entry,
            format!("{name} is {}, not a table", content.name()),
        )
    })
}

fn all_names() -> impl Iterator<Item = &'static str> {
    let also = KEYS.iter().filter_map(|key| key.also);
    let names = KEYS.iter().map(|key| key.name);
    names.chain(also).chain(THEIR_OTHERS.iter().copied())
}

/// Known names in the same place: with the same section before them, cut to the same depth.
fn siblings(name: &str) -> impl Iterator<Item = &'static str> + Clone {
    let section = name.rsplit_once('.').map_or("", |(section, _)| section);
    NAMES.sections.get(section).into_iter().flatten().copied()
}

/// The known name in the same place that differs by a slip: one letter, two in a long word.
fn slip(name: &str) -> Option<&'static str> {
    let near = nearest(last(name), siblings(name).map(last));
    let near = near.first().copied()?;
    siblings(name).find(|known| last(known) == near)
}

/// In a short word any other short word is near, and in a section of theirs it may well be meant.
fn is_sure(typed: &str, near: &str) -> bool {
    let (typed, near) = (last(typed), last(near));
    let same_start = typed.chars().next() == near.chars().next();
    typed.len() >= 5 && same_start && typed.len().abs_diff(near.len()) <= 2
}

/// A section whose name is a slip, by what stands in it: nothing else has a setting of that name.
fn by_content(name: &str, entry: &Entry) -> Option<&'static str> {
    let inside = entry.node.entries();
    if inside.is_empty() {
        return None;
    }
    let may_be_meant = |near: &&str| {
        let (typed, near) = (last(name), last(near));
        let same_start = typed.chars().next() == near.chars().next();
        same_start && typed.len().abs_diff(near.len()) <= 1
    };
    let holds = |near: &str| {
        let known = |key: &str| NAMES.is_known(Format::Yaml, &format!("{near}.{key}"));
        let mut inside = inside.iter();
        inside.any(|entry| entry.key.len() >= 5 && known(&entry.key))
    };
    siblings(name)
        .filter(may_be_meant)
        .filter(|near| NAMES.sections.contains_key(near) && holds(near))
        .find(|near| !nearest(last(name), std::iter::once(last(near))).is_empty())
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn in_yaml(name: &str, entry: &Entry) -> Option<Problem> {
    // Their `agent` section has names that ours has too.
    let ours = Key::find(name).is_some_and(|key| key.owner == Owner::Ours);
    if ours {
        return (!name.starts_with("agent.")).then(|| Problem {
            kind: ProblemKind::Misplaced,
            ..problem(name, entry, format!("{name} is read from config.toml only"))
        });
    }
    // Whatever is near and sure is as long, nearly, and begins with the same letter.
    let sure = siblings(name).any(|near| is_sure(name, near));
    let by_name = || slip(name).filter(|near| sure && is_sure(name, near));
    let near = by_content(name, entry).or_else(by_name)?;
    let mut problem = problem(name, entry, format!("unknown name {name}"));
    problem.hint = Some(format!("did you mean {near}?"));
    Some(problem)
}

fn in_toml(name: &str, entry: &Entry) -> Problem {
    let mut problem = problem(name, entry, format!("unknown name {name}"));
    let elsewhere = || {
        KEYS.iter()
            .map(|key| key.name)
            .find(|known| last(known) == last(name))
    };
    problem.hint = slip(name)
        .or_else(elsewhere)
        .map(|near| format!("did you mean {near}?"));
    problem
}

fn problem(name: &str, entry: &Entry, message: String) -> Problem {
    Problem {
        kind: ProblemKind::Unknown,
        file: None,
        at: Some(entry.at),
        key: Some(name.to_owned()),
        message,
        hint: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{toml, yaml};

    fn yaml_problems(text: &str) -> Vec<(String, Option<String>)> {
        let root = yaml::parse(text).unwrap();
        let found = names(Format::Yaml, Path::new("config.yaml"), &root);
        found.into_iter().map(|p| (p.message, p.hint)).collect()
    }

    #[test]
    fn slips_of_known_names_are_seen_in_yaml() {
        for (text, meant) in [
            ("timezome: UTC", "timezone"),
            ("cron: {max_paralel_jobs: 3}", "cron.max_parallel_jobs"),
            ("loop: {max_ticks: 3}", "loops"),
            ("loop: {speed: 3}", ""),
            ("loops: {max_tick: 3}", "loops.max_ticks"),
            ("crn: {require_restart_safe_scope: true}", "cron"),
            ("crn: {mode: fast}", ""),
            ("dashboards: {ws_ping_interval: 3}", "dashboard"),
            (
                "agent: {turn_liveness: {timeout: 3}}",
                "agent.turn_liveness.timeout_s",
            ),
        ] {
            let hints: Vec<_> = yaml_problems(text)
                .into_iter()
                .filter_map(|p| p.1)
                .collect();
            let expected = format!("did you mean {meant}?");
            let expected = if meant.is_empty() {
                vec![]
            } else {
                vec![expected]
            };
            assert_eq!(hints, expected, "{text}");
        }
    }

    #[test]
    fn other_names_of_the_other_program_are_no_problem() {
        let text = "model: {default: x}\nterminal: {backend: local}\ncron: {model: x, preflight: no, \
                    delivery: {notify: no}, brand_new: 1}\nagent: {max_turns: 9, env: {A: 1}, prompt: x}\n\
                    display: {skin: x, mode: y}\ngateway: {max_live_sessions: 3, telegram: {}}\n\
                    _config_version: 50\ntools: []\nmcp_servers: {cron: 1}";
        assert_eq!(yaml_problems(text), []);
    }

    #[test]
    fn a_section_that_is_no_table_is_a_problem_and_an_empty_one_is_none() {
        let found = yaml_problems("cron: 3\nloops:\nserve: yes\n");
        let messages: Vec<_> = found.into_iter().map(|p| p.0).collect();
        assert_eq!(
            messages,
            [
                "cron is a whole number, not a table",
                "serve is a truth value, not a table"
            ]
        );
    }

    #[test]
    fn ours_in_their_file_is_said_to_be_misplaced() {
        let found = yaml_problems("serve: {port: 1}\nheartbeats: {max_beats: 1}");
        let messages: Vec<_> = found.into_iter().map(|p| p.0).collect();
        assert_eq!(
            messages,
            [
                "serve.port is read from config.toml only",
                "heartbeats.max_beats is read from config.toml only"
            ]
        );
    }

    #[test]
    fn of_very_many_wrong_names_the_first_are_told_and_the_rest_counted() {
        let lines = |name: &str, mid: &str| {
            let line = |i| format!("{name}{i}{mid} 1\n");
            (0..300).map(line).collect::<String>()
        };
        let root = toml::parse(&lines("key", " =")).unwrap();
        let found = names(Format::Toml, Path::new("config.toml"), &root);
        assert_eq!(found.len(), TOLD + 1);
        assert_eq!(found[TOLD].message, "200 more unknown names");
        let found = yaml_problems(&lines("timezon", ":"));
        assert_eq!(found.len(), TOLD + 1);
        assert!(found[TOLD].0.starts_with("200 more names"), "{found:?}");
        // Names of the other program's are no problem, however many there are.
        assert_eq!(yaml_problems(&lines("a_setting_of_theirs_", ":")), []);
    }

    #[test]
    fn every_unknown_name_in_our_file_is_a_problem_with_its_place() {
        let text =
            "port = 1\n[serve]\nprot = 2\n[cron]\nmax_parallel_jobs = 1\n[unheard]\nof = 1\n";
        let root = toml::parse(text).unwrap();
        let found = names(Format::Toml, Path::new("config.toml"), &root);
        let mut told: Vec<_> = found
            .iter()
            .map(|p| (p.to_string(), p.hint.as_deref()))
            .collect();
        told.sort();
        assert_eq!(
            told,
            [
                (
                    "config.toml:1:1: unknown name port".to_owned(),
                    Some("did you mean serve.port?")
                ),
                ("config.toml:3:1: unknown name serve.prot".to_owned(), None),
                ("config.toml:6:2: unknown name unheard".to_owned(), None),
            ]
        );
    }
}
