//! How much the jobs have written, counted up to a bound.

use std::path::Path;

use crate::doctor::evidence::home::Output;
use crate::doctor::evidence::read::{Read, Trouble};

/// Entries that are counted at most, directories and files together: a few milliseconds.
const MOST: usize = 20_000;

/// Counts what lies in this `output` directory.
pub(super) fn look(directory: &Path) -> Read<Output> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Read::Absent,
        Err(error) => return Read::Unreadable(Trouble::of_io(&error)),
    };
    let mut output = Output::default();
    for entry in entries.flatten() {
        if output.directories + output.files >= MOST {
            output.stopped = true;
            break;
        }
        let Ok(files) = std::fs::read_dir(entry.path()) else {
            continue;
        };
        let room = MOST - output.directories - output.files;
        let count = files.take(room).count();
        output.directories += 1;
        output.files += count;
        if output
            .fullest
            .as_ref()
            .is_none_or(|(_, most)| count > *most)
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            output.fullest = Some((name, count));
        }
    }
    Read::Got(output)
}
