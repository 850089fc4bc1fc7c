//! The home that was named on the command line has to be there: a name that was mistyped is no empty home.

use hermes::error::{Error, Kind, Result};
use hermes::home::{self, Home};
use hermes::output::{human, quote};
use hermes::runtime::Runtime;

/// Refuses a home or a profile that was named and is not there. One that nobody named, the default one or
/// that of the environment, may still be to come.
pub(crate) fn are_there(runtime: &Runtime) -> Result<()> {
    let options = &runtime.options;
    if options.home.is_none() && options.profile.is_none() {
        return Ok(());
    }
    let (home, _) = runtime.home()?;
    let by_default = options.home.is_none() && home.profile() == "default";
    if by_default || !home.is_missing() {
        return Ok(());
    }
    Err(if home.profile() == "default" {
        no_home(&home)
    } else {
        no_profile(&home)
    })
}

/// The heading of what is printed of one home, where several are meant.
pub(crate) fn heading(runtime: &mut Runtime, home: &Home) -> Result<()> {
    let path = human::printable(&home.path().display().to_string());
    let line = runtime.out.style.heading(&path);
    runtime.out.line(&line)
}

fn no_home(home: &Home) -> Error {
    let path = home.path().display().to_string();
    let making = quote::command(&["mkdir", "-m", "700", &path]);
    Error::new(Kind::NotFound, format!("there is no home at {path}"))
        .with_hint("name the directory that holds cron/ and config.yaml")
        .with_hint(format!("or make a new one: {making}"))
}

fn no_profile(home: &Home) -> Error {
    let (profile, path) = (home.profile(), home.path().display());
    let message = format!("there is no profile '{profile}' ({path})");
    let all = home::list(&home.root()).unwrap_or_default();
    let names: Vec<_> = all.iter().map(Home::profile).collect();
    Error::new(Kind::NotFound, message)
        .with_hint(format!("the profiles there are: {}", names.join(", ")))
}
