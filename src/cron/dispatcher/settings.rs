//! The parts of a dispatcher, from the runtime and the configuration of a home.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Parts;
use crate::agent;
use crate::agent::settings::TOKEN_VARIABLE;
use crate::config::dotenv::Environment;
use crate::config::{Config, Settings};
use crate::cron::zone::Zone;
use crate::dispatch::verdict_probe::Verdicts;
use crate::error::{Error, Kind, Result};
use crate::fault;
use crate::home::Home;
use crate::host::identity_probe::own_identity;
use crate::host::probe::Caller;
use crate::runtime::{NOW_VARIABLE, Runtime};

/// Variables that speak of this process alone, and would be wrong for what it runs; and what it keeps for
/// itself and its clients.
const OWN: [&str; 14] = [
    TOKEN_VARIABLE,
    "HERMES_DESKTOP_READY_FILE",
    "NOTIFY_SOCKET",
    "WATCHDOG_USEC",
    "WATCHDOG_PID",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "MAINPID",
    "SYSTEMD_EXEC_PID",
    "_HERMES_GATEWAY",
    "HERMES_SUPERVISED_CHILD",
];

impl Parts {
    /// The parts for one home, with its configuration as it is now. `say` gets each sentence that an
    /// operator should read.
    ///
    /// # Errors
    /// When the agent is configured and makes no sense, or an environment file of the home
    /// cannot be read.
    pub fn of(
        runtime: &Runtime,
        home: &Home,
        config: &Config,
        say: Box<dyn Fn(&str) + Send + Sync>,
    ) -> Result<Self> {
        let settings = Settings::of(config);
        let zone = Zone::of(config);
        let identity = own_identity();
        let machine = machine(settings.cron.machine_id.as_deref(), identity.pid);
        Ok(Self {
            home: home.clone(),
            zone,
            clock: Arc::clone(&runtime.clock),
            agent: agent::Settings::of(config)?.of_jobs(settings.cron.inactivity_timeout),
            settings: settings.cron,
            identity,
            machine,
            environment: environment(runtime, home)?,
            verdicts: Arc::new(Verdicts::new(Caller::of(runtime))),
            test_variables: test_variables(runtime),
            say,
        })
    }
}

/// Who a process of this machine is in claims: the name that was given to it, or `host:pid`.
#[must_use]
pub fn machine(named: Option<&str>, pid: u32) -> String {
    let host = || {
        let host = rustix::system::uname();
        format!("{}:{pid}", host.nodename().to_string_lossy())
    };
    let named = named.filter(|name| !name.is_empty());
    named.map_or_else(host, str::to_owned)
}

/// What jobs get: our environment, the home's own files of variables over it, our program's directory
/// first on the path, and nothing that speaks of this process alone.
fn environment(runtime: &Runtime, home: &Home) -> Result<BTreeMap<String, String>> {
    let pairs = runtime
        .environ
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())));
    let under = pairs
        .collect::<Environment>()
        .under_home(home)
        .map_err(|why| {
            Error::new(
                Kind::Io,
                format!("the environment of jobs is not known: {why}"),
            )
            .with_hint(format!(
                "mend or remove that file in {}",
                home.path().display()
            ))
        })?;
    let mut environment: BTreeMap<String, String> = under
        .names()
        .filter(|name| !OWN.contains(name) && !name.starts_with("__HERMES"))
        .filter_map(|name| Some((name.to_owned(), under.get(name)?.to_owned())))
        .collect();
    environment.insert(
        "HERMES_HOME".to_owned(),
        home.path().to_string_lossy().into_owned(),
    );
    let path = environment
        .get("PATH")
        .cloned()
        .unwrap_or_else(|| "/usr/bin:/bin".to_owned());
    environment.insert("PATH".to_owned(), with_own_directory(&path));
    Ok(environment)
}

/// Jobs that call `hermes` by its bare name find this one.
fn with_own_directory(path: &str) -> String {
    let own = std::env::current_exe().ok();
    let directory = own.as_deref().and_then(Path::parent).map(PathBuf::from);
    match directory.as_deref().and_then(Path::to_str) {
        Some(own) if !path.split(':').any(|part| part == own) => format!("{own}:{path}"),
        _ => path.to_owned(),
    }
}

/// The hidden variables of tests go on to workers.
fn test_variables(runtime: &Runtime) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    [NOW_VARIABLE, fault::VARIABLE, fault::PACE_VARIABLE]
        .into_iter()
        .filter_map(|name| Some((name.into(), runtime.environ.get(name)?.to_owned())))
        .collect()
}
