//! `hermes config …`: what is set, where that stands, and what is wrong with it.

use clap::{Args, Subcommand};
use hermes::config::key::is_secret;
use hermes::config::reference;
use hermes::config::{
    Config as Configuration, Origin, Problem, Setting, Source, Sourced, State, Value,
};
use hermes::error::{Error, Kind, Result};
use hermes::home::Home;
use hermes::output::{human, json, nearest::nearest, table::table};
use hermes::runtime::Runtime;
use serde_json::json;

use crate::exit::Exit;

/// Show the configuration, check it, or name its files
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  hermes config show
  hermes config show cron.max_parallel_jobs
  hermes config check
  hermes config path")]
pub(crate) struct Config {
    #[command(subcommand)]
    verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
enum Verb {
    Show(Show),
    Check(Check),
    Path(Path),
}

/// Show each setting, its value, and where that comes from
///
/// Later layers win: defaults, config.yaml, config.toml, the environment of this shell. A service
/// may have another environment: 'hermes cron doctor' judges with that. Secrets are not shown.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  hermes config show
  hermes config show cron
  hermes config show loops.max_ticks
  hermes config show --set --json")]
struct Show {
    /// A setting, or a section
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Only what somebody set
    #[arg(long)]
    set: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the page of the documentation about all settings
    #[arg(long, hide = true)]
    markdown: bool,
}

/// Check the files of the configuration and the variables that set something
///
/// Ends with 1 if anything is wrong. Settings of Hermes Agent that are unknown here are not wrong;
/// names that look like a slip of a known one are.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  hermes config check
  hermes config check --profile all --json")]
struct Check {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Print where the files of the configuration are looked for
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  hermes config path
  hermes config path --json")]
struct Path {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Config {
    /// Whether only the places of the files are asked for.
    pub(crate) fn is_path(&self) -> bool {
        matches!(self.verb, Verb::Path(_))
    }

    /// Runs the verb.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let loaded = load(runtime)?;
        match self.verb {
            Verb::Show(show) => show.run(runtime, &loaded),
            Verb::Check(check) => check.run(runtime, &loaded),
            Verb::Path(path) => path.run(runtime, &loaded),
        }
    }
}

type Loaded = Vec<(Home, Configuration)>;

fn load(runtime: &Runtime) -> Result<Loaded> {
    let variable = |name: &str| runtime.environ.text(name).map(str::to_owned);
    let load = |home: Home| {
        let configuration = Configuration::load(&home, &variable, &[]);
        (home, configuration)
    };
    Ok(runtime.homes()?.into_iter().map(load).collect())
}

/// Before the answer about each home, if there are several.
fn heading(runtime: &mut Runtime, homes: &Loaded, home: &Home) -> Result<()> {
    if homes.len() < 2 {
        return Ok(());
    }
    let path = human::printable(&home.path().display().to_string());
    let line = runtime.out.style.heading(&path);
    runtime.out.line(&line)
}

impl Show {
    fn run(self, runtime: &mut Runtime, homes: &Loaded) -> Result<Exit> {
        if self.markdown {
            runtime.out.print(&reference::markdown())?;
            return Ok(Exit::OK);
        }
        if let Some(name) = &self.name {
            known(name)?;
        }
        if self.json {
            json::print(&mut runtime.out, &self.document(homes))?;
            return Ok(Exit::OK);
        }
        for (home, configuration) in homes {
            heading(runtime, homes, home)?;
            let settings = self.chosen(configuration);
            match settings.as_slice() {
                [one] if self.name.as_deref() == Some(one.key.name) => detail(runtime, one)?,
                [] => runtime.out.line("Nothing is set.")?,
                several => list(runtime, several)?,
            }
            warn(runtime, configuration.problems());
        }
        Ok(Exit::OK)
    }

    fn chosen<'a>(&self, configuration: &'a Configuration) -> Vec<&'a Setting> {
        let named = |setting: &&Setting| match &self.name {
            None => true,
            Some(name) => is_in(setting.key.name, name),
        };
        let settings = configuration.settings().iter().filter(named);
        settings
            .filter(|setting| !self.set || setting.is_set())
            .collect()
    }

    fn document(&self, homes: &Loaded) -> serde_json::Value {
        let homes: Vec<_> = homes
            .iter()
            .map(|(home, configuration)| {
                let settings = self.chosen(configuration);
                json!({
                    "home": home.path().to_string_lossy(),
                    "profile": home.profile(),
                    "settings": settings.into_iter().map(setting).collect::<Vec<_>>(),
                    "problems": configuration.problems(),
                })
            })
            .collect();
        json!({ "schema": "hermes.config-show/1", "homes": homes })
    }
}

/// Whether a setting is the named one, or in the named section.
fn is_in(setting: &str, name: &str) -> bool {
    let rest = setting.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn known(name: &str) -> Result<()> {
    let names = || hermes::config::KEYS.iter().map(|key| key.name);
    if names().any(|setting| is_in(setting, name)) {
        return Ok(());
    }
    let error = Error::new(Kind::NotFound, format!("there is no setting '{name}'"));
    Err(match nearest(name, names()).as_slice() {
        [] => error.with_hint("hermes config show lists the settings"),
        near => error.with_hint(format!("did you mean {}?", near.join(" or "))),
    })
}

fn setting(setting: &Setting) -> serde_json::Value {
    let name = setting.key.name;
    let layer =
        |sourced: &Sourced| json!({ "value": shown(name, sourced), "origin": sourced.origin });
    json!({
        "name": name,
        "value": shown(name, &setting.current),
        "secret": is_secret(name),
        "origin": setting.current.origin,
        "overridden": setting.overridden.iter().map(layer).collect::<Vec<_>>(),
        "variable": setting.key.variable,
        "help": setting.key.help,
    })
}

/// The value as JSON; of a secret only that there is one.
fn shown(name: &str, sourced: &Sourced) -> serde_json::Value {
    if is_secret(name) && sourced.value != Value::Unset {
        return json!("(hidden)");
    }
    json!(sourced.value)
}

/// The value as text; of a secret only that there is one.
fn text(name: &str, sourced: &Sourced) -> String {
    if is_secret(name) && sourced.value != Value::Unset {
        return "(hidden)".to_owned();
    }
    sourced.value.to_string()
}

/// Where a value stands, in a word.
fn place(origin: &Origin) -> String {
    let file = origin.file.as_ref().and_then(|file| file.file_name());
    let place = match (origin.source, file, origin.at, &origin.name) {
        (Source::Default, ..) => "default".to_owned(),
        (_, Some(file), Some(at), _) => format!("{}:{}", file.to_string_lossy(), at.line),
        (_, _, _, Some(name)) => name.clone(),
        (..) => "elsewhere".to_owned(),
    };
    human::printable(&place)
}

fn list(runtime: &mut Runtime, settings: &[&Setting]) -> Result<()> {
    let row = |setting: &&Setting| {
        let name = setting.key.name;
        vec![
            name.to_owned(),
            text(name, &setting.current),
            place(&setting.current.origin),
        ]
    };
    let rows = settings.iter().map(row).collect();
    let text = table(&runtime.out, &["setting", "value", "from"], rows);
    runtime.out.line(&text)
}

fn detail(runtime: &mut Runtime, setting: &Setting) -> Result<()> {
    let name = setting.key.name;
    let current = &setting.current;
    let from = place(&current.origin);
    runtime
        .out
        .line(&format!("{name} = {}  ({from})", text(name, current)))?;
    runtime.out.line(&format!("  {}", setting.key.help))?;
    if let Some(variable) = setting.key.variable {
        runtime.out.line(&format!("  Variable: {variable}"))?;
    }
    for below in &setting.overridden {
        let line = format!(
            "  instead of {}  ({})",
            text(name, below),
            place(&below.origin)
        );
        runtime.out.line(&line)?;
    }
    Ok(())
}

fn warn(runtime: &mut Runtime, problems: &[Problem]) {
    for problem in problems {
        runtime.out.warn(&human::printable(&problem.to_string()));
    }
}

impl Check {
    fn run(self, runtime: &mut Runtime, homes: &Loaded) -> Result<Exit> {
        let problems = || {
            homes
                .iter()
                .flat_map(|(_, configuration)| configuration.problems())
        };
        if self.json {
            json::print(&mut runtime.out, &documents("hermes.config-check/1", homes))?;
        } else {
            for problem in problems() {
                runtime.out.line(&human::printable(&problem.to_string()))?;
                if let Some(hint) = &problem.hint {
                    runtime.out.line(&format!("  {}", human::printable(hint)))?;
                }
            }
            let count = problems().count();
            match count {
                0 => runtime.out.line("The configuration is sound.")?,
                count => runtime
                    .out
                    .note(&human::count(count, "problem", "problems")),
            }
        }
        let sound = problems().next().is_none();
        Ok(if sound { Exit::OK } else { Exit::FAILED })
    }
}

fn documents(schema: &str, homes: &Loaded) -> serde_json::Value {
    let homes: Vec<_> = homes
        .iter()
        .map(|(home, configuration)| {
            json!({
                "home": home.path().to_string_lossy(),
                "profile": home.profile(),
                "files": configuration.files(),
                "problems": configuration.problems(),
            })
        })
        .collect();
    json!({ "schema": schema, "homes": homes })
}

impl Path {
    fn run(self, runtime: &mut Runtime, homes: &Loaded) -> Result<Exit> {
        if self.json {
            json::print(&mut runtime.out, &documents("hermes.config-path/1", homes))?;
            return Ok(Exit::OK);
        }
        for file in homes
            .iter()
            .flat_map(|(_, configuration)| configuration.files())
        {
            let state = match file.state {
                State::Absent => "  (absent)",
                State::Failed => "  (cannot be read)",
                State::Read => "",
            };
            let path = human::printable(&file.path.display().to_string());
            runtime.out.line(&format!("{path}{state}"))?;
        }
        Ok(Exit::OK)
    }
}
