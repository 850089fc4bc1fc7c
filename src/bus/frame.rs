//! The outer shape of a D-Bus message: how long it is, and the sender's name mended where the private
//! door gets it wrong. Owns no socket; bodies are zbus's business.
//!
//! Over its private socket systemd names itself `org.freedesktop.systemd1` as sender, a well-known
//! name where the protocol wants a unique one. zbus gives up the whole connection over it, so the
//! first letter is replaced by a colon, which keeps every length.

/// Bytes before the fields: fixed header, and the length of the fields.
pub(crate) const FIXED: usize = 16;
/// Longest message that we read, in bytes. `ListUnits` of ten thousand units takes about 3 MB.
const LONGEST: usize = 32 << 20;
/// Longest header that we read: names and a path, each at most 255 bytes or so.
const LONGEST_HEADER: usize = 64 << 10;
/// Header field code of the sender.
const SENDER: u8 = 7;

/// The extent of a message, told by its first [`FIXED`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Bytes of the whole header, padding included.
    pub header: usize,
    /// Bytes of the body.
    pub body: usize,
}

/// Reads the extent; `None` for what is no message, or one longer than anything we ask for.
pub(crate) fn extent(fixed: &[u8; FIXED]) -> Option<Extent> {
    let big = big_endian(fixed)?;
    let body = number(fixed, 4, big)?;
    let header = (FIXED.checked_add(number(fixed, 12, big)?)?).checked_next_multiple_of(8)?;
    let known = (1..=4).contains(&fixed[1]) && fixed[3] == 1;
    (known && header <= LONGEST_HEADER && body <= LONGEST).then_some(Extent { header, body })
}

/// Makes a well-known sender look like a unique one. A header of another shape is left as it is.
pub(crate) fn mend_sender(header: &mut [u8]) {
    if let Some(at) = sender_at(header)
        && let Some(first) = header.get_mut(at)
        && first.is_ascii_alphabetic()
    {
        *first = b':';
    }
}

/// Where the text of the sender begins.
fn sender_at(header: &[u8]) -> Option<usize> {
    let big = big_endian(header)?;
    let end = FIXED
        .checked_add(number(header, 12, big)?)?
        .min(header.len());
    let mut at = FIXED;
    while at < end {
        let (code, kind) = (*header.get(at)?, signature(header, at + 1)?);
        let value = at + 4;
        if code == SENDER && kind == b's' {
            return Some(value + 4);
        }
        let next = match kind {
            b's' | b'o' => value
                .checked_add(number(header, value, big)?)?
                .checked_add(5)?,
            b'g' => value + usize::from(*header.get(value)?) + 2,
            b'u' => value + 4,
            _ => return None,
        };
        at = next.checked_next_multiple_of(8)?;
    }
    None
}

/// The one type in a signature of one type: length 1, letter, NUL.
fn signature(bytes: &[u8], at: usize) -> Option<u8> {
    match bytes.get(at..at.checked_add(3)?)? {
        [1, letter, 0] => Some(*letter),
        _ => None,
    }
}

fn big_endian(header: &[u8]) -> Option<bool> {
    match header.first()? {
        b'l' => Some(false),
        b'B' => Some(true),
        _ => None,
    }
}

fn number(bytes: &[u8], at: usize, big: bool) -> Option<usize> {
    let four: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    let value = if big {
        u32::from_be_bytes(four)
    } else {
        u32::from_le_bytes(four)
    };
    usize::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use zbus::Message;

    use super::*;

    fn fixed(bytes: &[u8]) -> [u8; FIXED] {
        bytes[..FIXED].try_into().unwrap()
    }

    /// A method return as systemd's private socket sends it.
    fn private_reply() -> Vec<u8> {
        let call = Message::method_call("/a", "Get").build(&()).unwrap();
        let reply = Message::method_return(&call.header())
            .sender(":rg.freedesktop.systemd1")
            .build(&("252",))
            .unwrap();
        let mut bytes = reply.data().to_vec();
        let at = bytes.windows(4).position(|four| four == b":rg.").unwrap();
        bytes[at] = b'o';
        bytes
    }

    #[test]
    fn the_extent_covers_the_message() {
        let bytes = private_reply();
        let extent = extent(&fixed(&bytes)).unwrap();
        assert_eq!(extent.header + extent.body, bytes.len());
    }

    #[test]
    fn only_the_sender_is_mended() {
        let mut bytes = private_reply();
        let before = bytes.clone();
        mend_sender(&mut bytes);
        let changed: Vec<usize> = (0..bytes.len())
            .filter(|at| bytes[*at] != before[*at])
            .collect();
        assert_eq!(changed.len(), 1);
        assert!(bytes[changed[0]..].starts_with(b":rg.freedesktop.systemd1"));
        let mended = bytes.clone();
        mend_sender(&mut bytes);
        assert_eq!(bytes, mended, "a unique name is left alone");
    }

    #[test]
    fn what_is_no_message_has_no_extent() {
        assert_eq!(extent(b"HTTP/1.1 200 OK\r"), None);
        let mut huge = fixed(&private_reply());
        huge[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(extent(&huge), None);
        let mut long_header = fixed(&private_reply());
        long_header[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(extent(&long_header), None);
    }

    proptest! {
        #[test]
        fn hostile_headers_do_no_harm(
            mut header in prop::collection::vec(any::<u8>(), 0..200),
            big in any::<bool>(),
            length in 0u8..200,
        ) {
            if header.len() > FIXED {
                header[0] = if big { b'B' } else { b'l' };
                header[if big { 15 } else { 12 }] = length;
            }
            let length = header.len();
            mend_sender(&mut header);
            prop_assert_eq!(header.len(), length);
            if header.len() >= FIXED && let Some(extent) = extent(&fixed(&header)) {
                prop_assert!(extent.header <= LONGEST_HEADER && extent.body <= LONGEST);
            }
        }
    }
}
