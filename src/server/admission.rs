//! Who may connect: Host, Origin, token and tickets. Pure; every refusal looks the same on the wire,
//! and only the log says which it was.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use sha2::{Digest, Sha256};

/// How long a ticket is good for, as in Hermes Agent.
pub const TICKET_LIFE: Duration = Duration::from_secs(30);
/// Most tickets that are out at once.
const TICKETS: usize = 256;

/// Why somebody was not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// `Host` names neither this host's loopback nor what we are bound to.
    #[error("the Host header names another host")]
    Host,
    /// A web page of another site asks.
    #[error("the Origin header names another site")]
    Origin,
    /// The peer is not on this machine, and we serve this machine only.
    #[error("the peer is not on this machine")]
    Peer,
    /// No token, or a wrong one.
    #[error("there is no token, or a wrong one")]
    Token,
}

/// What a connection brings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Knock<'a> {
    /// `Host`.
    pub host: Option<&'a str>,
    /// `Origin`.
    pub origin: Option<&'a str>,
    /// Address of the peer; none over the Unix socket, whose peer the kernel vouches for.
    pub peer: Option<IpAddr>,
    /// The token, from the query or a header.
    pub token: Option<&'a str>,
    /// A ticket.
    pub ticket: Option<&'a str>,
}

/// The rules of one listener.
#[derive(Debug)]
pub struct Admission {
    token: [u8; 32],
    bound: Option<String>,
    tickets: HashMap<[u8; 32], Duration>,
}

/// Digests have one length and tell nothing of where two texts differ, so comparing them takes the
/// same time whatever was sent.
fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

fn same(left: &[u8; 32], right: &[u8; 32]) -> bool {
    left.iter()
        .zip(right)
        .fold(0, |different, (l, r)| different | (l ^ r))
        == 0
}

impl Admission {
    /// The rules of a listener on loopback, or with `bound` on a named host beside it.
    #[must_use]
    pub fn new(token: &str, bound: Option<String>) -> Self {
        Self {
            token: digest(token),
            bound,
            tickets: HashMap::new(),
        }
    }

    /// Judges; a ticket that is shown is used up, whatever becomes of the rest.
    ///
    /// # Errors
    /// Why not.
    pub fn admit(&mut self, knock: Knock<'_>, now: Duration) -> Result<(), Refusal> {
        let ticket = knock.ticket.is_some_and(|ticket| self.redeem(ticket, now));
        if let Some(peer) = knock.peer {
            if self.bound.is_none() && !peer.to_canonical().is_loopback() {
                return Err(Refusal::Peer);
            }
            if !knock.host.is_some_and(|host| self.is_ours(host)) {
                return Err(Refusal::Host);
            }
        }
        if !knock
            .origin
            .is_none_or(|origin| self.is_good_origin(origin))
        {
            return Err(Refusal::Origin);
        }
        let token = knock
            .token
            .is_some_and(|token| same(&digest(token), &self.token));
        if ticket || token {
            Ok(())
        } else {
            Err(Refusal::Token)
        }
    }

    /// Keeps a ticket that was handed out.
    pub fn hand_out(&mut self, ticket: &str, now: Duration) {
        self.tickets.retain(|_, until| *until > now);
        if self.tickets.len() < TICKETS {
            self.tickets.insert(digest(ticket), now + TICKET_LIFE);
        }
    }

    fn redeem(&mut self, ticket: &str, now: Duration) -> bool {
        self.tickets
            .remove(&digest(ticket))
            .is_some_and(|until| until > now)
    }

    /// A host, with or without a port, that is this machine's loopback or the name we are bound to.
    /// Bound to every address we cannot know which of them it is, but a literal one is no name that
    /// somebody else's zone could point at us.
    fn is_ours(&self, host: &str) -> bool {
        let name = without_port(host);
        let literal = name.trim_matches(['[', ']']).parse::<IpAddr>();
        let ours = |ip: IpAddr| ip.is_loopback() || self.anywhere();
        name.eq_ignore_ascii_case("localhost")
            || literal.is_ok_and(ours)
            || self
                .bound
                .as_deref()
                .is_some_and(|bound| bound.eq_ignore_ascii_case(name))
    }

    fn anywhere(&self) -> bool {
        let bound = self.bound.as_deref().and_then(|host| host.parse().ok());
        bound.is_some_and(|ip: IpAddr| ip.is_unspecified())
    }

    /// A web origin must be ours; what is no web page (`null`, `file:`, an application's own scheme)
    /// is kept out by the token alone.
    fn is_good_origin(&self, origin: &str) -> bool {
        let rest = ["http://", "https://"].iter().find_map(|scheme| {
            let start = origin.get(..scheme.len())?;
            start
                .eq_ignore_ascii_case(scheme)
                .then(|| origin.get(scheme.len()..))
                .flatten()
        });
        rest.is_none_or(|host| self.is_ours(host.trim_end_matches('/')))
    }
}

fn without_port(host: &str) -> &str {
    if host.starts_with('[') {
        return host
            .find(']')
            .and_then(|end| host.get(..=end))
            .unwrap_or(host);
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(100);

    fn knock() -> Knock<'static> {
        Knock {
            host: Some("127.0.0.1:9119"),
            peer: Some(IpAddr::from([127, 0, 0, 1])),
            token: Some("right"),
            ..Knock::default()
        }
    }

    fn judge(knock: Knock<'_>) -> Result<(), Refusal> {
        Admission::new("right", None).admit(knock, NOW)
    }

    #[test]
    fn loopback_names_with_any_port_are_ours() {
        for host in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:9119",
            "[::1]:9119",
            "127.8.8.8",
        ] {
            assert_eq!(
                judge(Knock {
                    host: Some(host),
                    ..knock()
                }),
                Ok(()),
                "{host}"
            );
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1:9119",
            "",
            "[::2]",
        ] {
            assert_eq!(
                judge(Knock {
                    host: Some(host),
                    ..knock()
                }),
                Err(Refusal::Host),
                "{host}"
            );
        }
        assert_eq!(
            judge(Knock {
                host: None,
                ..knock()
            }),
            Err(Refusal::Host)
        );
    }

    #[test]
    fn web_pages_of_others_are_kept_out() {
        for origin in [
            "http://localhost:3000",
            "null",
            "file://",
            "app://desktop",
            "https://[::1]:1",
        ] {
            assert_eq!(
                judge(Knock {
                    origin: Some(origin),
                    ..knock()
                }),
                Ok(()),
                "{origin}"
            );
        }
        for origin in [
            "http://evil.example",
            "HTTPS://evil.example",
            "http://localhost.evil.example",
        ] {
            let knock = Knock {
                origin: Some(origin),
                ..knock()
            };
            assert_eq!(judge(knock), Err(Refusal::Origin), "{origin}");
        }
    }

    #[test]
    fn without_the_token_nobody_comes_in() {
        for token in [None, Some(""), Some("wrong"), Some("righ"), Some("rightt")] {
            assert_eq!(judge(Knock { token, ..knock() }), Err(Refusal::Token));
        }
        let far = Knock {
            peer: Some(IpAddr::from([10, 0, 0, 7])),
            ..knock()
        };
        assert_eq!(judge(far), Err(Refusal::Peer));
    }

    #[test]
    fn a_ticket_is_good_once_and_for_a_while() {
        let mut admission = Admission::new("right", None);
        let shown = |ticket| Knock {
            token: None,
            ticket: Some(ticket),
            ..knock()
        };
        admission.hand_out("t", NOW);
        assert_eq!(admission.admit(shown("t"), NOW), Ok(()));
        assert_eq!(admission.admit(shown("t"), NOW), Err(Refusal::Token));
        admission.hand_out("late", NOW);
        assert_eq!(
            admission.admit(shown("late"), NOW + TICKET_LIFE),
            Err(Refusal::Token)
        );
    }

    #[test]
    fn bound_elsewhere_that_name_is_ours_too() {
        let mut admission = Admission::new("right", Some("box.example".into()));
        let far = Knock {
            host: Some("Box.example:80"),
            peer: Some(IpAddr::from([10, 0, 0, 7])),
            ..knock()
        };
        assert_eq!(admission.admit(far, NOW), Ok(()));
    }

    #[test]
    fn bound_to_every_address_each_of_them_is_ours_and_no_name_is() {
        for bound in ["0.0.0.0", "::"] {
            let mut admission = Admission::new("right", Some(bound.into()));
            for host in ["192.168.1.20:9119", "[fd00::7]:9119", "localhost:9119"] {
                let origin = format!("http://{host}");
                let far = Knock {
                    host: Some(host),
                    origin: Some(&origin),
                    peer: Some(IpAddr::from([192, 168, 1, 7])),
                    ..knock()
                };
                assert_eq!(admission.admit(far, NOW), Ok(()), "{host}");
            }
            let named = Knock {
                host: Some("evil.example:9119"),
                ..knock()
            };
            assert_eq!(admission.admit(named, NOW), Err(Refusal::Host));
        }
        let mut admission = Admission::new("right", Some("192.168.1.20".into()));
        let other = Knock {
            host: Some("192.168.1.21"),
            ..knock()
        };
        assert_eq!(admission.admit(other, NOW), Err(Refusal::Host));
    }
}
