//! The first hundred bytes of an SQLite database, as data.
//!
//! Pure. The layout is that of the published file format, section 1.3.

use super::damage::Damage;

/// What every SQLite 3 database begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Length of the header in bytes.
pub const LENGTH: usize = 100;
/// The newest read and write version that is defined: 1 is rollback, 2 is WAL.
const NEWEST_VERSION: u8 = 2;
/// The newest schema format that is defined.
const NEWEST_SCHEMA: u32 = 4;
/// The smallest usable part of a page with which SQLite works.
const LEAST_USABLE: u32 = 480;

/// The fields of the header that matter to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Bytes in a page, a power of two from 512 to 65536.
    pub page_size: u32,
    /// Whether the file is in WAL mode.
    pub wal_mode: bool,
    /// Counts changes in rollback mode.
    pub change_counter: u32,
    /// Pages in the database, where the header can be believed on that.
    pub pages: Option<u32>,
}

/// A big-endian word, or none where the bytes end.
#[must_use]
pub fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

/// Whether a number can be a page size.
#[must_use]
pub fn is_page_size(size: u32) -> bool {
    size.is_power_of_two() && (512..=65_536).contains(&size)
}

impl Header {
    /// Reads and judges the header of a database image that is `length` bytes long.
    pub fn parse(image: &[u8], length: u64) -> Result<Self, Damage> {
        if length == 0 {
            return Err(Damage::Empty);
        }
        let magic = image.get(..MAGIC.len()).unwrap_or(image);
        if magic.is_empty() || !MAGIC.starts_with(magic) {
            return Err(Damage::NotADatabase("wrong magic"));
        }
        let Some(head) = image.get(..LENGTH) else {
            return Err(Damage::Truncated {
                expected: LENGTH as u64,
                actual: length,
            });
        };
        let header = Self::of_fields(head)?;
        header.long_enough(length)?;
        Ok(header)
    }

    fn of_fields(head: &[u8]) -> Result<Self, Damage> {
        let byte = |at: usize| head.get(at).copied().unwrap_or(0);
        let field = |at: usize| word(head, at).unwrap_or(0);
        let page_size = match u32::from(byte(16)) << 8 | u32::from(byte(17)) {
            1 => 65_536,
            other => other,
        };
        if !is_page_size(page_size) {
            return Err(Damage::NotADatabase("impossible page size"));
        }
        for (at, what) in [(18, "write version"), (19, "read version")] {
            if byte(at) > NEWEST_VERSION {
                let version = u32::from(byte(at));
                return Err(Damage::NewerFormat { what, version });
            }
        }
        if head.get(21..24) != Some(&[64, 32, 32]) {
            return Err(Damage::NotADatabase("wrong payload fractions"));
        }
        if page_size.saturating_sub(u32::from(byte(20))) < LEAST_USABLE {
            return Err(Damage::NotADatabase("too little usable space in a page"));
        }
        if field(44) > NEWEST_SCHEMA {
            return Err(Damage::NewerFormat {
                what: "schema format",
                version: field(44),
            });
        }
        // Old writers leave the page count stale; it counts only beside the counter it was set with.
        let believed = field(24) == field(92) && field(28) != 0;
        Ok(Self {
            page_size,
            wal_mode: byte(19) == 2,
            change_counter: field(24),
            pages: believed.then(|| field(28)),
        })
    }

    fn long_enough(self, length: u64) -> Result<(), Damage> {
        let expected = u64::from(self.pages.unwrap_or(1)) * u64::from(self.page_size);
        if expected > length {
            return Err(Damage::Truncated {
                expected,
                actual: length,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> Vec<u8> {
        let mut image = vec![0; 1024];
        image[..16].copy_from_slice(MAGIC);
        image[16..24].copy_from_slice(&[2, 0, 2, 2, 0, 64, 32, 32]);
        image[24..28].copy_from_slice(&7_u32.to_be_bytes());
        image[28..32].copy_from_slice(&2_u32.to_be_bytes());
        image[44..48].copy_from_slice(&4_u32.to_be_bytes());
        image[92..96].copy_from_slice(&7_u32.to_be_bytes());
        image
    }

    fn parse(image: &[u8]) -> Result<Header, Damage> {
        Header::parse(image, image.len() as u64)
    }

    #[test]
    fn a_sound_header_is_read() {
        let header = parse(&sound()).unwrap();
        assert_eq!(header.page_size, 512);
        assert!(header.wal_mode);
        assert_eq!(header.change_counter, 7);
        assert_eq!(header.pages, Some(2));
    }

    #[test]
    fn each_fault_has_its_kind() {
        let broken = |at: usize, value: u8| {
            let mut image = sound();
            image[at] = value;
            parse(&image).unwrap_err().slug()
        };
        assert_eq!(broken(0, b'X'), "not-a-database");
        assert_eq!(broken(16, 3), "not-a-database");
        assert_eq!(broken(18, 3), "newer-format");
        assert_eq!(broken(19, 9), "newer-format");
        assert_eq!(broken(21, 0), "not-a-database");
        assert_eq!(broken(20, 255), "not-a-database");
        assert_eq!(broken(47, 5), "newer-format");
        assert_eq!(broken(31, 3), "truncated");
        assert_eq!(parse(&[]).unwrap_err(), Damage::Empty);
        assert_eq!(parse(b"hello").unwrap_err().slug(), "not-a-database");
        assert_eq!(parse(b"SQLite").unwrap_err().slug(), "truncated");
    }

    #[test]
    fn a_file_short_by_less_than_a_page_is_truncated() {
        let image = sound();
        assert_eq!(
            parse(&image[..1000]).unwrap_err(),
            Damage::Truncated {
                expected: 1024,
                actual: 1000
            }
        );
    }

    #[test]
    fn a_stale_page_count_is_not_believed() {
        let mut image = sound();
        image[31] = 200;
        image[95] = 6;
        assert_eq!(parse(&image).unwrap().pages, None);
    }
}
