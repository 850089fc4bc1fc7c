//! The client's side of SASL EXTERNAL as a state machine fed with bytes. Owns no socket and no clock.
//!
//! `NEGOTIATE_UNIX_FD` and `BEGIN` leave in one write, and the answer to the first is awaited before
//! any message: systemd 252's private socket never answers a message that it reads together with
//! `BEGIN`.

use super::report::{Failure, FailureKind};

/// Longest line that the D-Bus reference implementation accepts.
const LONGEST_LINE: usize = 16 * 1024;
/// How much of a foreign line is kept as evidence, in characters.
const KEPT: usize = 200;

/// What the driver has to do next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Wait for more bytes.
    Wait,
    /// Write these bytes, then wait for more.
    Send(&'static [u8]),
    /// Let in.
    Done(Admission),
    /// Not let in.
    Fail(Failure),
}

/// What the handshake agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Admission {
    /// The server's id, 32 hexadecimal digits.
    pub guid: String,
    /// Whether descriptors may be passed.
    pub descriptors: bool,
    /// Bytes that came after the handshake; they belong to the first message.
    pub surplus: Vec<u8>,
}

#[derive(Debug)]
enum State {
    AwaitOk,
    AwaitAgreement { guid: String },
    Over,
}

/// The handshake.
#[derive(Debug)]
pub(crate) struct Sasl {
    state: State,
    unread: Vec<u8>,
}

impl Sasl {
    /// A handshake for the account `uid`, and the bytes that open it.
    pub(crate) fn start(uid: u32) -> (Self, Vec<u8>) {
        let mut opening = b"\0AUTH EXTERNAL ".to_vec();
        for digit in uid.to_string().bytes() {
            opening.extend_from_slice(format!("{digit:02x}").as_bytes());
        }
        opening.extend_from_slice(b"\r\n");
        (
            Self {
                state: State::AwaitOk,
                unread: Vec::new(),
            },
            opening,
        )
    }

    /// Takes what was read, a piece of any size.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Step {
        self.unread.extend_from_slice(bytes);
        let Some(end) = self.unread.windows(2).position(|pair| pair == b"\r\n") else {
            return self.unfinished();
        };
        let surplus = self.unread.split_off(end + 2);
        let line = std::mem::replace(&mut self.unread, surplus);
        self.line(line.get(..end).unwrap_or_default())
    }

    /// The other end hung up.
    pub(crate) fn hung_up(&self) -> Failure {
        let mut failure = Failure::of(FailureKind::Closed);
        if !self.unread.is_empty() {
            failure.text = Some(format!("after {:?}", excerpt(&self.unread)));
        }
        failure
    }

    fn unfinished(&self) -> Step {
        let text = self
            .unread
            .iter()
            .all(|byte| matches!(byte, b' '..=b'~' | b'\r'));
        if text && self.unread.len() <= LONGEST_LINE {
            return Step::Wait;
        }
        Step::Fail(garbage(&self.unread))
    }

    fn line(&mut self, line: &[u8]) -> Step {
        let Ok(text) = std::str::from_utf8(line) else {
            return Step::Fail(garbage(line));
        };
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        match (std::mem::replace(&mut self.state, State::Over), verb) {
            (State::AwaitOk, "OK") if is_guid(rest) => {
                self.state = State::AwaitAgreement {
                    guid: rest.to_owned(),
                };
                Step::Send(b"NEGOTIATE_UNIX_FD\r\nBEGIN\r\n")
            }
            (State::AwaitOk, "REJECTED" | "ERROR") => {
                Step::Fail(Failure::said(FailureKind::Rejected, excerpt(line)))
            }
            (State::AwaitAgreement { guid }, "AGREE_UNIX_FD" | "ERROR") => Step::Done(Admission {
                guid,
                descriptors: verb == "AGREE_UNIX_FD",
                surplus: std::mem::take(&mut self.unread),
            }),
            _ => Step::Fail(garbage(line)),
        }
    }
}

fn is_guid(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn garbage(bytes: &[u8]) -> Failure {
    Failure::said(FailureKind::Garbage, excerpt(bytes))
}

fn excerpt(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(KEPT).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OK: &[u8] = b"OK 0123456789abcdef0123456789abcdef\r\n";

    fn after(bytes: &[u8]) -> (Sasl, Step) {
        let (mut sasl, _) = Sasl::start(1000);
        let step = sasl.feed(bytes);
        (sasl, step)
    }

    #[test]
    fn the_uid_is_sent_as_hexadecimal_text() {
        assert_eq!(Sasl::start(1000).1, b"\0AUTH EXTERNAL 31303030\r\n");
        assert_eq!(Sasl::start(0).1, b"\0AUTH EXTERNAL 30\r\n");
    }

    #[test]
    fn the_agreement_is_awaited() {
        let (mut sasl, step) = after(OK);
        assert_eq!(step, Step::Send(b"NEGOTIATE_UNIX_FD\r\nBEGIN\r\n"));
        assert_eq!(sasl.feed(b""), Step::Wait);
        let Step::Done(admission) = sasl.feed(b"AGREE_UNIX_FD\r\nl\x04") else {
            panic!("not let in");
        };
        assert!(admission.descriptors);
        assert_eq!(admission.guid, "0123456789abcdef0123456789abcdef");
        assert_eq!(admission.surplus, b"l\x04");
    }

    #[test]
    fn a_server_without_descriptors_lets_in_all_the_same() {
        let (mut sasl, _) = after(OK);
        let Step::Done(admission) = sasl.feed(b"ERROR \"no\"\r\n") else {
            panic!("not let in");
        };
        assert!(!admission.descriptors);
    }

    #[test]
    fn a_rejection_keeps_its_words() {
        let (_, step) = after(b"REJECTED EXTERNAL DBUS_COOKIE_SHA1\r\n");
        let kept = Failure::said(FailureKind::Rejected, "REJECTED EXTERNAL DBUS_COOKIE_SHA1");
        assert_eq!(step, Step::Fail(kept));
    }

    #[test]
    fn another_protocol_is_garbage_with_its_words() {
        let (_, step) = after(b"HTTP/1.1 400 Bad Request\r\n");
        assert_eq!(step, Step::Fail(garbage(b"HTTP/1.1 400 Bad Request")));
        let (_, binary) = after(b"\x16\x03\x01");
        assert!(matches!(
            binary,
            Step::Fail(Failure {
                kind: FailureKind::Garbage,
                ..
            })
        ));
        let (_, bad_id) = after(b"OK nonsense\r\n");
        assert!(matches!(
            bad_id,
            Step::Fail(Failure {
                kind: FailureKind::Garbage,
                ..
            })
        ));
        let (_, endless) = after(&vec![b'a'; LONGEST_LINE + 1]);
        assert!(matches!(
            endless,
            Step::Fail(Failure {
                kind: FailureKind::Garbage,
                ..
            })
        ));
    }

    #[test]
    fn hanging_up_tells_what_came_before() {
        let (sasl, step) = after(b"OK 01");
        assert_eq!(step, Step::Wait);
        assert_eq!(
            sasl.hung_up(),
            Failure::said(FailureKind::Closed, "after \"OK 01\"")
        );
        assert_eq!(Sasl::start(1).0.hung_up(), Failure::of(FailureKind::Closed));
    }

    proptest! {
        /// However the bytes are cut, the verdict is the same.
        #[test]
        fn pieces_do_not_matter(cut in 0..OK.len()) {
            let (mut sasl, first) = after(&OK[..cut]);
            prop_assert_eq!(first, Step::Wait);
            prop_assert_eq!(sasl.feed(&OK[cut..]), Step::Send(b"NEGOTIATE_UNIX_FD\r\nBEGIN\r\n"));
        }

        /// Nothing but a well-formed OK and an answer to the negotiation lets us in.
        #[test]
        fn hostile_bytes_never_let_in(pieces in prop::collection::vec(any::<Vec<u8>>(), 0..8)) {
            let (mut sasl, _) = Sasl::start(1);
            for piece in pieces {
                match sasl.feed(&piece) {
                    Step::Wait => {}
                    Step::Fail(failure) => {
                        prop_assert!(failure.text.unwrap_or_default().chars().count() <= KEPT);
                        break;
                    }
                    Step::Send(_) | Step::Done(_) => prop_assert!(false, "let in by chance"),
                }
            }
        }
    }
}
