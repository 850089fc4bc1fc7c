//! Progress that an agent declares: a line of its stderr that begins with a marker. It counts as output
//! does, for an agent that prints its answer at the end alone. Pure.

/// How such a line begins; what follows it is shown to clients.
const MARKER: &[u8] = b"HERMES_PROGRESS";
/// No more of a line is kept, in bytes.
const LONGEST: usize = 500;

/// What was declared and nobody was told yet.
#[derive(Debug, Default)]
pub(super) struct Declared {
    line: Vec<u8>,
    newest: Option<String>,
}

impl Declared {
    /// Hears a piece of stderr; whether something was declared.
    pub(super) fn hear(&mut self, piece: &[u8]) -> bool {
        let mut declared = false;
        for byte in piece {
            if *byte != b'\n' {
                if self.line.len() < LONGEST {
                    self.line.push(*byte);
                }
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let words = line.strip_prefix(MARKER);
            // A longer word is another one.
            let ends = |rest: &&[u8]| {
                let next = rest.first();
                next.is_none_or(|next| *next == b':' || next.is_ascii_whitespace())
            };
            if let Some(words) = words.filter(ends) {
                let words = String::from_utf8_lossy(words);
                self.newest = Some(words.trim_start_matches(':').trim().to_owned());
                declared = true;
            }
        }
        declared
    }

    /// The newest, once.
    pub(super) fn take(&mut self) -> Option<String> {
        self.newest.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_that_begins_with_the_marker_and_is_whole() {
        let mut declared = Declared::default();
        assert!(!declared.hear(b"retry 3, wait 61 s\nsee HERMES_PROGRESS\nHERMES_PRO"));
        assert!(!declared.hear(b"GRESS: 3 of 7"));
        assert_eq!(declared.take(), None);
        assert!(declared.hear(b" files\nHERMES"));
        assert_eq!(declared.take().as_deref(), Some("3 of 7 files"));
        assert!(declared.hear(b"_PROGRESS\n"));
        assert_eq!(declared.take().as_deref(), Some(""));
        assert_eq!(declared.take(), None);
    }

    #[test]
    fn a_longer_word_is_no_marker() {
        let mut declared = Declared::default();
        assert!(!declared.hear(b"HERMES_PROGRESSIVE: on\nHERMES_PROGRESS=1\nHERMES_PROGRESS_2\n"));
        assert_eq!(declared.take(), None);
        assert!(declared.hear(b"HERMES_PROGRESS\tof a kind\r\n"));
        assert_eq!(declared.take().as_deref(), Some("of a kind"));
        assert!(declared.hear(b"HERMES_PROGRESS\r\n"));
        assert_eq!(declared.take().as_deref(), Some(""));
    }

    #[test]
    fn an_endless_line_is_not_kept() {
        let mut declared = Declared::default();
        declared.hear(b"HERMES_PROGRESS ");
        for _ in 0..1000 {
            declared.hear(&[b'x'; 1000]);
        }
        assert!(declared.line.len() <= LONGEST);
        assert!(declared.hear(b"\n"));
        assert!(declared.take().is_some_and(|words| words.len() < LONGEST));
    }
}
