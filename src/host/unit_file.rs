//! Unit files, as far as a dispatcher's service needs them read where no manager can be asked: the
//! settings that matter, drop-ins laid over, words unquoted, the common specifiers filled in. Parsing
//! only; `unit_file_probe` finds the files.

use std::path::PathBuf;

use super::command;
use super::facts::{AccountFacts, Environment, ManagerKind, UnitFacts};

/// The settings of a unit: its file, then its drop-ins, later ones last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(Vec<(String, String, String)>);

impl Settings {
    /// Reads a file over what was read before.
    #[must_use]
    pub fn with(mut self, text: &str) -> Self {
        let mut section = String::new();
        for line in joined(text) {
            let line = line.trim();
            if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                name.clone_into(&mut section);
            } else if let Some((key, value)) = line.split_once('=') {
                let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
                self.0.push((section.clone(), key, value));
            }
        }
        self
    }

    /// The last value of a setting; an empty one takes back all before it.
    #[must_use]
    pub fn last(&self, section: &str, key: &str) -> Option<&str> {
        self.all(section, key).last().copied()
    }

    /// All values of a setting that may be given more than once.
    #[must_use]
    pub fn all(&self, section: &str, key: &str) -> Vec<&str> {
        let mut values = Vec::new();
        for (at, name, value) in &self.0 {
            if at == section && name == key {
                if value.is_empty() {
                    values.clear();
                } else {
                    values.push(value.as_str());
                }
            }
        }
        values
    }
}

/// The lines of a file: comments gone, lines that end in a backslash joined with the next.
pub(super) fn joined(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        if line.trim_start().starts_with(['#', ';']) {
            continue;
        }
        let (part, more) = match line.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (line, false),
        };
        match lines.last_mut().filter(|_| open) {
            Some(last) => {
                last.push(' ');
                last.push_str(part);
            }
            None => lines.push(part.to_owned()),
        }
        open = more;
    }
    lines
}

/// Splits a value into words, as systemd does: blanks part, quotes and backslashes hold together.
#[must_use]
pub fn words(value: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut rest = value.chars();
    while let Some(next) = rest.next() {
        match (next, quote) {
            ('\\', _) => {
                let escaped = match rest.next() {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('s') => ' ',
                    Some(other) => other,
                    None => '\\',
                };
                word.get_or_insert_default().push(escaped);
            }
            (c, Some(open)) if c == open => quote = None,
            (c @ ('"' | '\''), None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_ascii_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Whose unit it is, for specifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner<'a> {
    /// Name of the unit.
    pub unit: &'a str,
    /// Its manager.
    pub manager: ManagerKind,
    /// The account that it runs as.
    pub account: Option<&'a AccountFacts>,
}

impl Owner<'_> {
    /// Fills in specifiers; those that are not known stay as they are.
    fn fill(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text.chars();
        while let Some(next) = rest.next() {
            if next != '%' {
                filled.push(next);
                continue;
            }
            let specifier = rest.next();
            if let Some(value) = specifier.and_then(|letter| self.specifier(letter)) {
                filled.push_str(&value);
            } else {
                filled.push('%');
                filled.extend(specifier);
            }
        }
        filled
    }

    fn specifier(&self, letter: char) -> Option<String> {
        let name = self.unit.strip_suffix(".service").unwrap_or(self.unit);
        let instance = name.split_once('@').map(|(_, instance)| instance);
        // Of a system unit these are root's, whatever `User=` says.
        let account = self.account.filter(|_| self.manager == ManagerKind::User);
        match letter {
            '%' => Some("%".to_owned()),
            'n' => Some(self.unit.to_owned()),
            'N' => Some(name.to_owned()),
            'i' | 'I' => Some(instance.unwrap_or_default().to_owned()),
            'p' => Some(name.split('@').next().unwrap_or_default().to_owned()),
            'h' if self.manager == ManagerKind::System => Some("/root".to_owned()),
            'h' => account?
                .home
                .as_ref()
                .map(|home| home.display().to_string()),
            'u' if self.manager == ManagerKind::System => Some("root".to_owned()),
            'u' => account?.name.clone(),
            'U' if self.manager == ManagerKind::System => Some("0".to_owned()),
            'U' => Some(account?.uid.to_string()),
            't' if self.manager == ManagerKind::System => Some("/run".to_owned()),
            't' => Some(format!("/run/user/{}", account?.uid)),
            _ => None,
        }
    }
}

/// The command of a unit, its prefixes (`-`, `@`, `+`, `!`, `:`) taken off.
#[must_use]
pub fn exec(settings: &Settings, owner: &Owner<'_>) -> Vec<String> {
    let Some(line) = settings.all("Service", "ExecStart").first().copied() else {
        return Vec::new();
    };
    let bare = line.trim_start_matches(['-', '@', '+', '!', ':']);
    words(bare).iter().map(|word| owner.fill(word)).collect()
}

/// What the settings say of a unit; nothing of its state.
#[must_use]
pub fn facts(settings: &Settings, owner: &Owner<'_>) -> UnitFacts {
    let service = |key| settings.last("Service", key).map(|value| owner.fill(value));
    let argv = exec(settings, owner);
    let command = command::read_exec(&argv);
    let pairs: Vec<String> = settings
        .all("Service", "Environment")
        .into_iter()
        .flat_map(words)
        .map(|word| owner.fill(&word))
        .collect();
    let pulled = ["Wants", "Requires", "BindsTo"]
        .iter()
        .flat_map(|key| settings.all("Unit", key))
        .flat_map(words);
    UnitFacts {
        name: owner.unit.to_owned(),
        manager: Some(owner.manager),
        role: command.as_ref().map(|command| command.role),
        program: command.as_ref().map(|command| command.program),
        profile: command.as_ref().and_then(|command| command.profile.clone()),
        service_type: service("Type"),
        // systemd's own default, where no file says otherwise.
        kill_mode: service("KillMode").or_else(|| Some("control-group".to_owned())),
        user: service("User"),
        environment: Environment::select(pairs.iter().filter_map(|pair| pair.split_once('='))),
        environment_files: settings
            .all("Service", "EnvironmentFile")
            .into_iter()
            .map(|path| owner.fill(path.trim_start_matches('-')))
            .collect(),
        exec: command.map_or_else(
            || argv.first().cloned().into_iter().collect(),
            |command| command.words,
        ),
        working_directory: service("WorkingDirectory"),
        restart: service("Restart"),
        wants: pulled.map(|word| owner.fill(&word)).collect(),
        protect_home: service("ProtectHome"),
        unix_sockets_forbidden: unix_forbidden(settings),
        limit_nofile: service("LimitNOFILE").and_then(|value| {
            let soft = value.split(':').next().unwrap_or_default().to_owned();
            soft.parse().ok()
        }),
        oom_policy: service("OOMPolicy"),
        ..UnitFacts::default()
    }
}

fn unix_forbidden(settings: &Settings) -> Option<bool> {
    let lists = settings.all("Service", "RestrictAddressFamilies");
    let first = lists.first()?;
    let forbids = first.starts_with('~');
    let named = lists
        .iter()
        .flat_map(|list| list.trim_start_matches('~').split_ascii_whitespace())
        .any(|family| family == "AF_UNIX");
    Some(named == forbids)
}

/// The home that a unit's process would serve, by its environment, command and account.
#[must_use]
pub fn home(unit: &UnitFacts, account: Option<&AccountFacts>) -> Option<PathBuf> {
    let mut environ = unit.environment.clone();
    environ.variables.remove("HOME");
    let command = command::Command {
        program: unit.program?,
        role: unit.role?,
        profile: unit.profile.clone(),
        home: None,
        words: Vec::new(),
    };
    let account_home = account.and_then(|account| account.home.as_deref());
    let own = unit.environment.get("HOME").map(std::path::Path::new);
    super::home_of::by_environment(&environ, Some(&command), own.or(account_home))
}

#[cfg(test)]
mod tests;
