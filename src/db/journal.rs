//! The rollback journal: whether it is hot, and putting its pages back.
//!
//! Pure. The layout is that of the published file format, section 3. A hot journal belongs to a
//! transaction that did not end, be its writer dead or only not done yet: either way the state
//! before it is the last one that was committed.

use super::damage::Damage;
use super::header::{is_page_size, word};

/// Length of the fields of a journal's header in bytes; the header itself fills a sector.
pub const HEADER: usize = 28;
/// What a journal begins with.
const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// In place of the count of records: they go on to the end of the file.
const TO_THE_END: u32 = u32::MAX;
/// The checksum of a record looks at each 200th byte of the page, counted from its end.
const STRIDE: usize = 200;
/// The largest sector that SQLite writes.
const LARGEST_SECTOR: u32 = 65_536;

/// The fields of the first header of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header {
    records: u32,
    nonce: u32,
    pages: u32,
    sector: u32,
    page_size: u32,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.get(..8)? != MAGIC {
            return None;
        }
        Some(Self {
            records: word(bytes, 8)?,
            nonce: word(bytes, 12)?,
            pages: word(bytes, 16)?,
            sector: word(bytes, 20)?,
            page_size: word(bytes, 24)?,
        })
    }
}

/// Whether a journal that begins with these bytes must be rolled back before the database is read.
///
/// A count of zero means that nothing was written into the database yet.
#[must_use]
pub fn is_hot(start: &[u8]) -> bool {
    Header::read(start).is_some_and(|header| header.records != 0)
}

/// The name of the super-journal that decides over this one, if it has any.
///
/// If that file is gone, the transaction over several databases was committed, and this journal is
/// only a left-over.
#[must_use]
pub fn super_journal(journal: &[u8]) -> Option<&str> {
    let tail = journal.len().checked_sub(16)?;
    if journal.get(tail + 8..)? != MAGIC {
        return None;
    }
    let length = word(journal, tail)? as usize;
    let name = journal.get(tail.checked_sub(length)?..tail)?;
    let sum = name.iter().fold(0_u32, |sum, &byte| {
        sum.wrapping_add_signed(i32::from(byte.cast_signed()))
    });
    if name.is_empty() || Some(sum) != word(journal, tail + 4) {
        return None;
    }
    std::str::from_utf8(name).ok()
}

/// Puts the pages of a hot journal back into the image and cuts it to its length of before.
///
/// `most` is the length in bytes that the result may have.
pub fn roll_back(journal: &[u8], image: &mut Vec<u8>, most: u64) -> Result<(), Damage> {
    let bad = |what: &str| Damage::Malformed(format!("the journal {what}"));
    let first = Header::read(journal).ok_or_else(|| bad("has no header"))?;
    let sector_fits = first.sector.is_power_of_two() && first.sector <= LARGEST_SECTOR;
    if !is_page_size(first.page_size) || !sector_fits || first.sector < 32 {
        return Err(bad("has an impossible page or sector size"));
    }
    let length = u64::from(first.pages) * u64::from(first.page_size);
    if length > most {
        return Err(bad("asks for an impossible size"));
    }
    let length = usize::try_from(length).map_err(|_| bad("asks for an impossible size"))?;
    image.resize(length, 0);
    let sector = first.sector as usize;
    let mut at = 0;
    while let Some(header) = journal.get(at..).and_then(Header::read) {
        let records = journal.get(at + sector..).unwrap_or(&[]);
        let Some(used) = put_back(records, &header, first.page_size as usize, image) else {
            break;
        };
        // The next header, if any, begins with the next sector.
        at = (at + sector + used).next_multiple_of(sector);
    }
    Ok(())
}

/// Puts one run of records back; the bytes it took, or none if the run broke off.
fn put_back(records: &[u8], header: &Header, page_size: usize, image: &mut [u8]) -> Option<usize> {
    let size = page_size + 8;
    let count = match header.records {
        TO_THE_END => records.len() / size,
        count => count as usize,
    };
    for index in 0..count {
        let record = records.get(index.checked_mul(size)?..)?.get(..size)?;
        let (page, content) = (word(record, 0)?, record.get(4..4 + page_size)?);
        if page == 0 || checksum(header.nonce, content) != word(record, 4 + page_size)? {
            return None;
        }
        let at = (page as usize - 1).checked_mul(page_size)?;
        if let Some(place) = image.get_mut(at..at.checked_add(page_size)?) {
            place.copy_from_slice(content);
        }
    }
    count.checked_mul(size)
}

fn checksum(nonce: u32, page: &[u8]) -> u32 {
    let mut at = page.len().saturating_sub(STRIDE);
    let mut sum = nonce;
    while at > 0 {
        sum = sum.wrapping_add(u32::from(page.get(at).copied().unwrap_or(0)));
        at = at.saturating_sub(STRIDE);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTOR: usize = 512;

    fn header(records: u32, pages: u32) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        for field in [records, 77, pages, 512, 512] {
            out.extend(field.to_be_bytes());
        }
        out.resize(SECTOR, 0);
        out
    }

    fn record(page: u32, fill: u8) -> Vec<u8> {
        let mut out = page.to_be_bytes().to_vec();
        out.extend([fill; 512]);
        out.extend(checksum(77, &[fill; 512]).to_be_bytes());
        out
    }

    fn rolled(journal: &[u8]) -> Vec<u8> {
        let mut image = vec![9; 512 * 4];
        roll_back(journal, &mut image, 1 << 20).unwrap();
        image
    }

    #[test]
    fn hot_is_a_header_with_records() {
        assert!(is_hot(&header(1, 1)));
        assert!(is_hot(&header(TO_THE_END, 1)));
        assert!(!is_hot(&header(0, 1)));
        assert!(!is_hot(&[0; 28]));
        assert!(!is_hot(&MAGIC));
    }

    #[test]
    fn pages_are_put_back_and_the_length_cut() {
        let journal = [header(1, 3), record(2, 5)].concat();
        assert_eq!(rolled(&journal), [[9; 512], [5; 512], [9; 512]].concat());
        let endless = [header(TO_THE_END, 2), record(1, 4), record(2, 5)].concat();
        assert_eq!(rolled(&endless), [[4; 512], [5; 512]].concat());
    }

    #[test]
    fn a_second_header_follows_in_its_own_sector() {
        let mut journal = [header(1, 2), record(1, 4)].concat();
        journal.resize(journal.len().next_multiple_of(SECTOR), 0);
        journal.extend(header(1, 2));
        journal.extend(record(2, 5));
        assert_eq!(rolled(&journal), [[4; 512], [5; 512]].concat());
    }

    #[test]
    fn a_torn_record_ends_the_roll_back() {
        let mut journal = [header(2, 2), record(1, 4), record(2, 5)].concat();
        let last = journal.len() - 1;
        journal[last] ^= 1;
        assert_eq!(rolled(&journal), [[4; 512], [9; 512]].concat());
        journal.truncate(last - 100);
        assert_eq!(rolled(&journal), [[4; 512], [9; 512]].concat());
    }

    #[test]
    fn the_name_of_a_super_journal_is_found() {
        let mut journal = [header(1, 2), record(1, 4), 2_u32.to_be_bytes().to_vec()].concat();
        assert_eq!(super_journal(&journal), None);
        let name = b"/tmp/x-mj1";
        let sum: u32 = name.iter().map(|&byte| u32::from(byte)).sum();
        journal.extend(name);
        journal.extend(u32::try_from(name.len()).unwrap().to_be_bytes());
        journal.extend(sum.to_be_bytes());
        journal.extend(MAGIC);
        assert_eq!(super_journal(&journal), Some("/tmp/x-mj1"));
    }
}
