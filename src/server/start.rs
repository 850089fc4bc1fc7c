//! What a start has to find out: the clock, who we are, who else is on the home.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::control::{self, Control};
use super::hub::Identity;
use super::timepiece::Timepiece;
use super::turn::Surroundings;
use super::{instance, notify, run};
use crate::child::survivor::Survivor;
use crate::clock::ManualClock;
use crate::error::{Context as _, Kind, Result};
use crate::files::Replace;
use crate::home::Home;
use crate::runtime::{NOW_VARIABLE, Runtime};
use crate::sessions::store::Backend;

/// The variable with which a desktop application wants to be told that we are ready.
const READY_FILE: &str = "HERMES_DESKTOP_READY_FILE";

/// The clock of this serve, and whoever drives it.
pub(super) fn time(runtime: &Runtime) -> Result<(Timepiece, Option<Control>)> {
    let Some(path) = runtime.environ.text(control::VARIABLE) else {
        return Ok((Timepiece::new(Arc::clone(&runtime.clock), None), None));
    };
    let text = runtime.environ.text(NOW_VARIABLE).unwrap_or_default();
    let begin = text
        .parse()
        .context(Kind::Usage, format!("{NOW_VARIABLE} is no instant"))?;
    let clock = Arc::new(ManualClock::at(begin));
    let control = Control::bind(path.as_ref(), Arc::clone(&clock))?;
    let time = Timepiece::new(clock, Some(control.moved()));
    Ok((time, Some(control)))
}

/// Whether an address is this host's alone.
pub(super) fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// A source of random ids.
pub(super) fn bits() -> Box<dyn FnMut() -> u64 + Send> {
    Box::new(|| uuid::Uuid::new_v4().as_u64_pair().1)
}

/// Files that are emergency stops where they are there.
pub(super) fn emergency(home: &Home) -> Vec<PathBuf> {
    let mut files = vec![home.join("ESTOP")];
    if home.root() != *home {
        files.push(home.root().join("ESTOP"));
    }
    files
}

/// What all turns have in common.
pub(super) fn surroundings(home: &Home, runtime: &Runtime) -> Surroundings {
    Surroundings {
        environ: Arc::new(runtime.environ.clone()),
        home: home.path().to_owned(),
        run_dir: home.run_dir(),
        cwd: runtime.account.home.clone().filter(|path| path.is_dir()),
        survivor: Survivor::default(),
    }
}

/// Who this serve is.
pub(super) fn identity(home: &Home, runtime: &Runtime, own: &instance::Identity) -> Identity {
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy().into_owned();
    let epoch = run::random();
    let nonce = epoch.get(..8).unwrap_or_default();
    let backend = Backend {
        id: format!("{}@{host}:{}:{nonce}", home.profile(), own.pid),
        pid: own.pid,
        started_at: own.started_at,
        profile: home.profile().to_owned(),
        host,
    };
    Identity {
        backend,
        epoch: epoch.get(..16).unwrap_or_default().to_owned(),
        notes: Vec::new(),
        home_task: home.join("loop.md"),
        desktop: runtime
            .environ
            .text("HERMES_DESKTOP")
            .is_some_and(|set| set != "0"),
    }
}

/// Tells whoever waits that serve can be reached.
pub(super) fn tell(runtime: &mut Runtime, port: u16) -> Result<()> {
    if let Some(path) = runtime.environ.text(READY_FILE) {
        let file = Replace {
            prefix: ".ready_",
            mode: 0o600,
            durable: false,
        };
        let content = json!({"port": port, "pid": std::process::id()}).to_string();
        if let Err(error) = file.write(path.as_ref(), content.as_bytes()) {
            tracing::warn!("{error}");
        }
    }
    notify::ready();
    runtime
        .out
        .line(&format!("HERMES_BACKEND_READY port={port}"))?;
    runtime
        .out
        .line(&format!("HERMES_DASHBOARD_READY port={port}"))
}
