//! The write-ahead log: which of its frames are committed, and laying them over an image.
//!
//! Pure. The layout is that of the published file format, section 4. A log that is stale, torn or
//! foreign has no committed frames; that is no fault, SQLite ignores it in the same way.

use std::collections::HashMap;

use super::damage::Damage;
use super::header::{is_page_size, word};

/// Length of the log's own header in bytes.
pub const HEADER: usize = 32;
/// Length of the header of a frame in bytes.
const FRAME: usize = 24;
/// The magic of a log whose checksums run over little-endian words; plus 1: big-endian.
const MAGIC: u32 = 0x377f_0682;
/// The only version of the log's format.
const VERSION: u32 = 3_007_000;

/// The committed content of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// Bytes in a page.
    pub page_size: u32,
    /// Pages in the database after the last commit.
    pub pages: u32,
    /// Frames up to and with the last commit.
    pub frames: u32,
    /// For each page its latest committed content, as an offset into the log.
    latest: HashMap<u32, usize>,
}

/// The running checksum of a log: two words, fed eight bytes at a time.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Checksum {
    big_endian: bool,
    sums: (u32, u32),
}

impl Checksum {
    fn feed(&mut self, bytes: &[u8]) {
        let (mut a, mut b) = self.sums;
        let (pairs, _) = bytes.as_chunks::<8>();
        for &[p, q, r, s, t, u, v, w] in pairs {
            let (first, second) = if self.big_endian {
                (
                    u32::from_be_bytes([p, q, r, s]),
                    u32::from_be_bytes([t, u, v, w]),
                )
            } else {
                (
                    u32::from_le_bytes([p, q, r, s]),
                    u32::from_le_bytes([t, u, v, w]),
                )
            };
            a = a.wrapping_add(first).wrapping_add(b);
            b = b.wrapping_add(second).wrapping_add(a);
        }
        self.sums = (a, b);
    }

    fn is(self, bytes: &[u8], at: usize) -> bool {
        word(bytes, at) == Some(self.sums.0) && word(bytes, at + 4) == Some(self.sums.1)
    }
}

/// Follows salts and running checksum through a log; none if it holds no commit.
pub fn committed(log: &[u8]) -> Result<Option<Committed>, Damage> {
    let Some((page_size, mut checksum)) = opened(log)? else {
        return Ok(None);
    };
    let salts = log.get(16..24);
    let size = page_size as usize;
    let mut found = None;
    let mut latest = HashMap::new();
    let mut since_commit = Vec::new();
    let frames = log.get(HEADER..).unwrap_or(&[]).chunks_exact(FRAME + size);
    for (index, frame) in frames.enumerate() {
        checksum.feed(frame.get(..8).unwrap_or(&[]));
        checksum.feed(frame.get(FRAME..).unwrap_or(&[]));
        let (page, pages) = (word(frame, 0).unwrap_or(0), word(frame, 4).unwrap_or(0));
        if page == 0 || frame.get(8..16) != salts || !checksum.is(frame, 16) {
            break;
        }
        since_commit.push((page, HEADER + index * (FRAME + size) + FRAME));
        if pages != 0 {
            latest.extend(since_commit.drain(..));
            found = Some((pages, u32::try_from(index + 1).unwrap_or(u32::MAX)));
        }
    }
    Ok(found.map(|(pages, frames)| Committed {
        page_size,
        pages,
        frames,
        latest,
    }))
}

/// Reads the log's own header; none if SQLite would not look at such a log.
fn opened(log: &[u8]) -> Result<Option<(u32, Checksum)>, Damage> {
    let (Some(magic), Some(page_size)) = (word(log, 0), word(log, 8)) else {
        return Ok(None);
    };
    if magic & !1 != MAGIC || !is_page_size(page_size) {
        return Ok(None);
    }
    let mut checksum = Checksum {
        big_endian: magic & 1 == 1,
        sums: (0, 0),
    };
    checksum.feed(log.get(..24).unwrap_or(&[]));
    if !checksum.is(log, 24) {
        return Ok(None);
    }
    match word(log, 4) {
        Some(VERSION) => Ok(Some((page_size, checksum))),
        other => Err(Damage::NewerFormat {
            what: "WAL version",
            version: other.unwrap_or(0),
        }),
    }
}

impl Committed {
    /// Each page with its committed content in `log`, the log that this was read from.
    pub fn pages_of<'a>(&'a self, log: &'a [u8]) -> impl Iterator<Item = (u32, &'a [u8])> {
        self.latest.iter().filter_map(move |(&page, &at)| {
            let content = log.get(at..at + self.page_size as usize)?;
            Some((page, content))
        })
    }

    /// Bytes in the database after the last commit.
    #[must_use]
    pub fn length(&self) -> u64 {
        u64::from(self.pages) * u64::from(self.page_size)
    }

    /// Lays the committed pages over the image of the database file.
    ///
    /// `most` is the length in bytes that the result may have; no sound log exceeds the file and
    /// the log together.
    pub fn apply(&self, log: &[u8], image: &mut Vec<u8>, most: u64) -> Result<(), Damage> {
        let too_long = || Damage::Malformed("the WAL asks for an impossible size".to_owned());
        if self.length() > most {
            return Err(too_long());
        }
        image.resize(usize::try_from(self.length()).map_err(|_| too_long())?, 0);
        let size = self.page_size as usize;
        for (page, content) in self.pages_of(log) {
            let at = (page as usize - 1) * size;
            // A page past the end was cut off by a later commit.
            if let Some(place) = image.get_mut(at..at + size) {
                place.copy_from_slice(content);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes logs as SQLite does, so that each rule can be broken on its own.
    struct Writer {
        log: Vec<u8>,
        checksum: Checksum,
    }

    impl Writer {
        fn new(big_endian: bool) -> Self {
            let mut log = Vec::new();
            for field in [MAGIC | u32::from(big_endian), VERSION, 512, 0, 11, 22] {
                log.extend(field.to_be_bytes());
            }
            let mut checksum = Checksum {
                big_endian,
                sums: (0, 0),
            };
            checksum.feed(&log);
            log.extend(checksum.sums.0.to_be_bytes());
            log.extend(checksum.sums.1.to_be_bytes());
            Self { log, checksum }
        }

        fn frame(mut self, page: u32, commit: u32, fill: u8) -> Self {
            let mut head = Vec::new();
            for field in [page, commit] {
                head.extend(field.to_be_bytes());
            }
            self.checksum.feed(&head);
            self.checksum.feed(&[fill; 512]);
            for field in [11, 22, self.checksum.sums.0, self.checksum.sums.1] {
                head.extend(field.to_be_bytes());
            }
            self.log.extend(head);
            self.log.extend([fill; 512]);
            self
        }
    }

    #[test]
    fn only_frames_up_to_the_last_commit_count() {
        for big_endian in [false, true] {
            let log = Writer::new(big_endian)
                .frame(1, 0, 1)
                .frame(2, 2, 2)
                .frame(1, 0, 9)
                .log;
            let found = committed(&log).unwrap().unwrap();
            assert_eq!((found.pages, found.frames), (2, 2));
            let mut image = vec![0; 512];
            found.apply(&log, &mut image, 4096).unwrap();
            assert_eq!(image, [[1; 512], [2; 512]].concat());
        }
    }

    #[test]
    fn the_later_commit_wins_and_sets_the_length() {
        let log = Writer::new(false)
            .frame(3, 3, 3)
            .frame(1, 1, 5)
            .frame(1, 1, 6)
            .log;
        let found = committed(&log).unwrap().unwrap();
        let mut image = vec![0; 1536];
        found.apply(&log, &mut image, 4096).unwrap();
        assert_eq!(image, vec![6; 512]);
    }

    #[test]
    fn a_flipped_bit_ends_the_log_there() {
        let log = Writer::new(false).frame(1, 1, 1).frame(1, 1, 2).log;
        for at in (HEADER + FRAME + 512)..log.len() {
            let mut torn = log.clone();
            torn[at] ^= 1;
            let found = committed(&torn).unwrap().unwrap();
            assert_eq!(found.frames, 1, "byte {at}");
        }
        for at in 0..HEADER {
            let mut torn = log.clone();
            torn[at] ^= 1;
            assert_eq!(committed(&torn).unwrap(), None, "byte {at}");
        }
    }

    #[test]
    fn a_size_that_cannot_be_is_malformed() {
        let log = Writer::new(false).frame(1, u32::MAX, 1).log;
        let found = committed(&log).unwrap().unwrap();
        let refused = found.apply(&log, &mut vec![0; 512], 4096).unwrap_err();
        assert_eq!(refused.slug(), "malformed");
    }
}
