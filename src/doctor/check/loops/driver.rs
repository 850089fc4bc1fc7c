//! Who drives a timer: the messaging gateway for a routed one, else the process that holds its
//! session.

use super::Timer;
use crate::doctor::check::scheduler::serving;
use crate::doctor::evidence::read::Trouble;
use crate::doctor::evidence::stores::State;
use crate::doctor::evidence::{Evidence, HomeEvidence, Read};
use crate::host::facts::Role;
use crate::host::liveness::{Identity, Liveness};
use crate::host::scheduler_owner::{self, Scheduler};
use crate::sessions::rows::LiveLease;

/// Who drives a timer.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::doctor::check) enum Driver {
    /// The gateway of this home, by pid.
    Gateway(u32),
    /// Our serve, which drives every route-less timer of its home: its pid, where known.
    Serve(Option<u32>),
    /// The process that holds the session.
    Holder {
        /// Its pid.
        pid: i64,
        /// Whether it is certain that it lives.
        certain: bool,
        /// It belongs to a desktop application.
        desktop: bool,
    },
    /// Several live processes hold the session.
    Several(Vec<i64>),
    /// Nobody: why.
    Nobody(String),
    /// The registry of sessions cannot be read.
    CannotTell(Trouble),
}

impl Driver {
    /// Whether somebody is there to drive it, as far as can be seen.
    pub(in crate::doctor::check) fn is_there(&self) -> bool {
        !matches!(self, Self::Nobody(_) | Self::CannotTell(_))
    }

    /// Who it is, or why it is nobody.
    pub(in crate::doctor::check) fn words(&self) -> String {
        match self {
            Self::Gateway(pid) => format!("gateway, pid {pid}"),
            Self::Serve(Some(pid)) => format!("serve, pid {pid}"),
            Self::Serve(None) => "serve".to_owned(),
            Self::Holder {
                pid,
                certain,
                desktop,
            } => {
                let desktop = if *desktop {
                    " of a desktop application"
                } else {
                    ""
                };
                let sure = if *certain { "" } else { ", unverified" };
                format!("pid {pid}{desktop}{sure}")
            }
            Self::Several(pids) => format!("{} processes", pids.len()),
            Self::Nobody(why) => why.clone(),
            Self::CannotTell(trouble) => trouble.words(),
        }
    }

    /// Who should drive it.
    pub(in crate::doctor::check) fn wanted(routed: bool) -> &'static str {
        if routed {
            "the messaging gateway of this home"
        } else {
            "the process that holds the session"
        }
    }
}

/// Whether the gateway's routing index answers for a session: then it drives its heartbeat.
pub(in crate::doctor::check) fn is_routed(state: &State, session: &str) -> bool {
    state.routing.iter().any(|route| {
        route.entry.as_ref().is_ok_and(|entry| {
            entry.session_id.as_deref() == Some(session) && entry.has_origin && !entry.suspended
        })
    })
}

/// Our serve, where one serves this home.
pub(in crate::doctor::check) fn our_serve(
    evidence: &Evidence,
    home: &HomeEvidence,
) -> Option<Scheduler> {
    let records = serving::records(evidence, home)?;
    scheduler_owner::our_serve(&evidence.facts, records)
}

/// Who drives this timer.
pub(in crate::doctor::check) fn driver(
    evidence: &Evidence,
    home: &HomeEvidence,
    timer: &Timer<'_>,
) -> Driver {
    let servers = serving::servers(evidence, home);
    if timer.routed {
        let gateway = servers.iter().find(|process| process.role == Role::Gateway);
        return match gateway {
            Some(gateway) => Driver::Gateway(gateway.pid),
            None if serving::is_ticked(evidence, home) => {
                // Something ticks that cannot be seen: most likely the gateway.
                let beat = home.ticker.heartbeat.got().and_then(|beat| beat.pid);
                Driver::Gateway(beat.unwrap_or(0))
            }
            None => Driver::Nobody("no gateway of this home runs".to_owned()),
        };
    }
    let serve = our_serve(evidence, home).map(|serve| match timer {
        Timer {
            left: Some(why), ..
        } => Driver::Nobody((*why).to_owned()),
        Timer { own: false, .. } => Driver::Nobody(
            "serve drives the sessions that it made, and nobody has this one".to_owned(),
        ),
        _ => Driver::Serve(serve.pid()),
    });
    match (&home.databases.registry, serve) {
        // Another process may have it, whatever our serve does.
        (Read::Unreadable(trouble), None | Some(Driver::Nobody(_))) => {
            Driver::CannotTell(trouble.clone())
        }
        (Read::Got(registry), serve) => {
            let leases = registry.leases.iter();
            let of_session = leases.filter(|lease| lease.session_id == timer.session);
            held(home, of_session).unwrap_or_else(|nobody| serve.unwrap_or(Driver::Nobody(nobody)))
        }
        (_, Some(serve)) => serve,
        (Read::Absent, None) => Driver::Nobody("no process holds the session".to_owned()),
    }
}

/// Who holds a session by its leases, or why nobody does.
fn held<'a>(
    home: &HomeEvidence,
    leases: impl Iterator<Item = &'a LiveLease>,
) -> Result<Driver, String> {
    let mut holders = Vec::new();
    let mut dead = None;
    for lease in leases {
        match liveness(home, lease) {
            Some(life) if life.is_over() => dead = lease.pid,
            life => holders.push((lease, life == Some(Liveness::Alive))),
        }
    }
    let mut pids: Vec<i64> = holders.iter().filter_map(|(lease, _)| lease.pid).collect();
    pids.sort_unstable();
    pids.dedup();
    match (holders.first(), pids.len(), dead) {
        (_, 2.., _) => Ok(Driver::Several(pids)),
        (Some((lease, certain)), ..) => Ok(Driver::Holder {
            pid: lease.pid.unwrap_or(0),
            certain: *certain,
            desktop: lease.surface.as_deref() == Some("desktop"),
        }),
        (None, _, Some(pid)) => Err(format!("pid {pid}, which held the session, has ended")),
        (None, ..) => Err("no process holds the session".to_owned()),
    }
}

/// Whether the process of a lease lives; `None` where it was not looked at.
pub(in crate::doctor::check) fn liveness(
    home: &HomeEvidence,
    lease: &LiveLease,
) -> Option<Liveness> {
    let pid = u32::try_from(lease.pid?).ok()?;
    home.owners.liveness(&Identity {
        pid,
        started_at: lease
            .process_start_time
            .map(|at| at.as_duration().as_secs_f64()),
        ..Identity::default()
    })
}
