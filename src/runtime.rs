//! Every handle to the world, built once in `main`, lent to each command.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use nix::unistd::{Uid, User};

use crate::clock::{Clock, ManualClock, SystemClock};
use crate::error::{Context, Error, Kind, Result};
use crate::home::{self, Home};
use crate::output::{ColorChoice, Out, Style, style::ColorEnvironment};

/// Hidden: an RFC 3339 instant at which the wall clock stands, so that a test of the whole binary
/// says the same every day.
pub const NOW_VARIABLE: &str = "__HERMES_NOW";

/// The environment of this process, as it was at start.
#[derive(Clone, Debug, Default)]
pub struct Environ(BTreeMap<OsString, OsString>);

impl Environ {
    /// The real one.
    #[must_use]
    pub fn capture() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the one place that reads it"
        )]
        Self(std::env::vars_os().collect())
    }

    /// A value, empty ones included.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// A value that is set, not empty and valid UTF-8.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)
            .and_then(OsStr::to_str)
            .filter(|value| !value.is_empty())
    }

    /// Whether it is set and not empty.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !value.is_empty())
    }

    /// All of it.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl FromIterator<(OsString, OsString)> for Environ {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

/// Who runs this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The effective user id.
    pub uid: u32,
    /// The effective group id.
    pub gid: u32,
    /// The name, where the user database knows one.
    pub name: Option<String>,
    /// The home directory: `HOME` if set, else the user database's.
    pub home: Option<PathBuf>,
}

impl Account {
    /// The name, or the number where there is none.
    #[must_use]
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.uid.to_string())
    }
}

/// The options of every command that say where to look and how to print.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `--home`.
    pub home: Option<PathBuf>,
    /// `--profile`: a name, or `all` where the command reads.
    pub profile: Option<String>,
    /// `--color`.
    pub color: ColorChoice,
    /// `--ascii`.
    pub ascii: bool,
}

/// Every handle to the world.
pub struct Runtime {
    /// The clocks.
    pub clock: Arc<dyn Clock>,
    /// The environment at start.
    pub environ: Environ,
    /// Who runs this.
    pub account: Account,
    /// The working directory, if it still exists.
    pub cwd: Option<PathBuf>,
    /// The options that every command has.
    pub options: Options,
    /// Where output goes.
    pub out: Out,
}

impl Runtime {
    /// The runtime of the real process.
    ///
    /// # Errors
    /// When the hidden clock variable is set and is no instant.
    pub fn from_process(mut options: Options) -> Result<Self> {
        // A person names a directory from where he stands.
        options.home = options
            .home
            .map(|home| std::path::absolute(&home).unwrap_or(home));
        let environ = Environ::capture();
        let clock = clock(&environ)?;
        let out = terminal(&environ, &options);
        let account = account(&environ);
        Ok(Self {
            clock,
            environ,
            account,
            cwd: std::env::current_dir().ok(),
            options,
            out,
        })
    }

    /// The home that this command is about, by its options and the environment of the caller.
    ///
    /// # Errors
    /// When none can be chosen, or the profile has no valid name.
    pub fn home(&self) -> Result<(Home, home::Source)> {
        let (home, source) = Home::resolve(
            self.options.home.as_deref(),
            self.environ.get("HERMES_HOME"),
            self.account.home.as_deref(),
        )?;
        match self.options.profile.as_deref() {
            None | Some("all") => Ok((home, source)),
            Some(name) => Ok((home.with_profile(name)?, source)),
        }
    }

    /// The homes that a reading command is about: the one chosen, or with `--profile all` each under
    /// its root.
    ///
    /// # Errors
    /// As [`Runtime::home`], and when the profiles cannot be listed.
    pub fn homes(&self) -> Result<Vec<Home>> {
        let (home, _) = self.home()?;
        if self.options.profile.as_deref() == Some("all") {
            home::list(&home.root())
        } else {
            Ok(vec![home])
        }
    }

    /// The one home that a writing command is about.
    ///
    /// # Errors
    /// As [`Runtime::home`], and for `--profile all`.
    pub fn one_home(&self) -> Result<Home> {
        if self.options.profile.as_deref() == Some("all") {
            return Err(Error::usage("--profile all is for commands that only read")
                .with_hint("name one profile"));
        }
        Ok(self.home()?.0)
    }
}

fn clock(environ: &Environ) -> Result<Arc<dyn Clock>> {
    match environ.text(NOW_VARIABLE) {
        None => Ok(Arc::new(SystemClock)),
        Some(text) => {
            let now = text
                .parse()
                .context(Kind::Usage, format!("{NOW_VARIABLE} is no instant"))?;
            Ok(Arc::new(ManualClock::at(now)))
        }
    }
}

fn account(environ: &Environ) -> Account {
    let uid = Uid::effective();
    let entry = User::from_uid(uid).ok().flatten();
    let home = environ
        .get("HOME")
        .filter(|home| !home.is_empty())
        .map(PathBuf::from)
        .or_else(|| entry.as_ref().map(|user| user.dir.clone()));
    Account {
        uid: uid.as_raw(),
        gid: nix::unistd::getegid().as_raw(),
        name: entry.map(|user| user.name),
        home,
    }
}

fn terminal(environ: &Environ, options: &Options) -> Out {
    let not_zero = |name| environ.text(name).is_some_and(|value| value != "0");
    let colors = ColorEnvironment {
        no_color: environ.has("NO_COLOR"),
        force: not_zero("CLICOLOR_FORCE") || not_zero("FORCE_COLOR"),
        dumb: environ.text("TERM") == Some("dumb"),
    };
    let ascii = options.ascii || !utf8_locale(environ);
    let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
    let paint = |terminal| Style::new(options.color.decide(colors, terminal), ascii);
    let (style, err_style) = (paint(stdout.is_terminal()), paint(stderr.is_terminal()));
    let width = stdout
        .is_terminal()
        .then(|| columns(environ, &stdout))
        .flatten();
    let mut out = Out::new(Box::new(stdout), Box::new(stderr), style, err_style);
    out.width = width;
    out.ascii = options.ascii;
    out
}

/// `COLUMNS` if a person set it, else what the terminal says.
fn columns(environ: &Environ, terminal: &std::io::Stdout) -> Option<usize> {
    let set = environ
        .text("COLUMNS")
        .and_then(|columns| columns.parse().ok());
    let asked = || {
        rustix::termios::tcgetwinsize(terminal)
            .ok()
            .map(|size| usize::from(size.ws_col))
    };
    set.or_else(asked).filter(|columns| *columns > 0)
}

/// Whether the locale can show more than ASCII, by the variables in their order of precedence. With
/// none set the locale is "C".
fn utf8_locale(environ: &Environ) -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| environ.text(name))
        .is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        })
}
