//! What polkit says of a right of whoever asks. Nothing is started for the question: polkit is activatable,
//! so its name must have an owner before it is asked. Nobody is asked for a password.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use zbus::Variant;

use super::{
    client::{CallError, Client, Target},
    dial::BUS,
    report::{Failure, FailureKind},
};

const POLKIT: &str = "org.freedesktop.PolicyKit1";
const AUTHORITY: Target<'static> = Target {
    name: POLKIT,
    path: "/org/freedesktop/PolicyKit1/Authority",
    interface: "org.freedesktop.PolicyKit1.Authority",
};
/// Of `CheckAuthorization`: nobody is to be asked.
const NO_INTERACTION: u32 = 0;

/// What logind asks polkit about before it turns linger on, for whoever asks or for somebody else.
#[must_use]
pub fn set_linger(own: bool) -> &'static str {
    if own {
        "org.freedesktop.login1.set-self-linger"
    } else {
        "org.freedesktop.login1.set-user-linger"
    }
}

/// Whether who asks may do something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Right {
    /// It may.
    Granted,
    /// It may once somebody has shown who he is, as by a password.
    OnceAuthenticated,
    /// It may not.
    Denied,
    /// There is no polkit on this host: only root may.
    NoPolkit,
    /// polkit is there and does not run: it would have to be started.
    NotRunning,
    /// It could not be asked, and why.
    Unknown(Failure),
}

impl Client {
    /// Whether this process may do what `action` names.
    pub async fn right(&self, action: &str) -> Right {
        let asking = async {
            let owned: bool = self.call(BUS, "NameHasOwner", &POLKIT).await?;
            if owned {
                return self.authorization(action).await;
            }
            let names: Vec<String> = self.call(BUS, "ListActivatableNames", &()).await?;
            let installed = names.iter().any(|name| name == POLKIT);
            Ok(if installed {
                Right::NotRunning
            } else {
                Right::NoPolkit
            })
        };
        let failed = |error: CallError| Right::Unknown(error.failure());
        asking.await.unwrap_or_else(failed)
    }

    /// We are named by our connection: a pid may be another one where polkit lives.
    async fn authorization(&self, action: &str) -> Result<Right, CallError> {
        let Some(name) = &self.name else {
            let why = "this connection has no name";
            return Ok(Right::Unknown(Failure::said(FailureKind::Unknown, why)));
        };
        let subject = HashMap::from([("name", Variant::from(name.as_str()))]);
        let question = (
            ("system-bus-name", subject),
            action,
            HashMap::<&str, &str>::new(),
            NO_INTERACTION,
            "",
        );
        let (is_authorized, is_challenge, _): (bool, bool, HashMap<String, String>) = self
            .call(AUTHORITY, "CheckAuthorization", &question)
            .await?;
        Ok(match (is_authorized, is_challenge) {
            (true, _) => Right::Granted,
            (false, true) => Right::OnceAuthenticated,
            (false, false) => Right::Denied,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::fake::{Call, Fake, MemberName, refuses, returns};
    use crate::bus::{Door, Patience, dial};

    /// What a bus says of polkit: who runs, who could be started, what it answers.
    #[derive(Clone)]
    struct Bus {
        owned: bool,
        activatable: &'static [&'static str],
        answer: Result<(bool, bool), &'static str>,
    }

    type Question = (
        (String, HashMap<String, zbus::OwnedVariant>),
        String,
        HashMap<String, String>,
        u32,
        String,
    );

    impl Bus {
        fn says(&self, message: &Call) -> Vec<Call> {
            let header = message.header();
            assert!(
                !header
                    .primary()
                    .flags()
                    .contains(zbus::message::Flags::ALLOW_INTERACTIVE_AUTH)
            );
            vec![match header.member().map(MemberName::as_str) {
                Some("Hello") => returns(&header, &":1.7"),
                Some("NameHasOwner") => returns(&header, &self.owned),
                Some("ListActivatableNames") => returns(&header, &self.activatable),
                Some("CheckAuthorization") => {
                    let asked: Question = message.body().deserialize().unwrap();
                    let ((kind, subject), action, details, flags, cancel) = asked;
                    assert_eq!(kind, "system-bus-name");
                    assert_eq!(*subject["name"], Variant::from(":1.7"));
                    assert_eq!(action, set_linger(true));
                    assert_eq!((details.len(), flags, cancel.as_str()), (0, 0, ""));
                    match self.answer {
                        Ok((authorized, challenge)) => {
                            let details = HashMap::<&str, &str>::new();
                            returns(&header, &((authorized, challenge, details),))
                        }
                        Err(name) => refuses(&header, name, "no"),
                    }
                }
                _ => refuses(&header, "org.freedesktop.DBus.Error.UnknownMethod", "no"),
            }]
        }

        async fn right(self) -> Right {
            let fake = Fake::answering(move |message| self.says(message));
            let own = rustix::process::geteuid().as_raw();
            let (_, client) = dial(Door::SystemBus, &fake.path(), own, Patience::default()).await;
            client.unwrap().right(set_linger(true)).await
        }
    }

    #[tokio::test]
    async fn b21_polkit_is_asked_where_it_runs_and_is_started_nowhere() {
        let runs = |answer| Bus {
            owned: true,
            activatable: &[],
            answer,
        };
        assert_eq!(runs(Ok((true, false))).right().await, Right::Granted);
        assert_eq!(
            runs(Ok((false, true))).right().await,
            Right::OnceAuthenticated
        );
        assert_eq!(runs(Ok((false, false))).right().await, Right::Denied);
        let denied = "org.freedesktop.DBus.Error.AccessDenied";
        let Right::Unknown(failure) = runs(Err(denied)).right().await else {
            panic!("an error is no answer");
        };
        assert_eq!(failure.kind, FailureKind::PermissionDenied);
        // Who is not there is not called.
        let idle = |activatable| Bus {
            owned: false,
            activatable,
            answer: Err("called"),
        };
        assert_eq!(idle(&[POLKIT]).right().await, Right::NotRunning);
        assert_eq!(idle(&["org.example"]).right().await, Right::NoPolkit);
    }
}
