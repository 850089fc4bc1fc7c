//! The hidden subcommands by which a doctor asks itself: as another account, and whether it may confine
//! itself.

use std::io::Read;

use clap::Args;
use hermes::doctor::confine::confine_for_trial;
use hermes::error::{Error, Kind, Result};
use hermes::host::bus_probe::doors_from_stdin;
use hermes::runtime::Runtime;

use crate::exit::Exit;

/// More than any request needs.
const LONGEST_REQUEST: u64 = 64 << 10;

/// Dial the doors that a request on stdin names, and print what they said
#[derive(Args, Debug)]
pub(crate) struct Doors {}

impl Doors {
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let Self {} = self;
        let mut request = Vec::new();
        std::io::stdin()
            .take(LONGEST_REQUEST)
            .read_to_end(&mut request)
            .map_err(|error| Error::new(Kind::Io, format!("stdin: {error}")))?;
        let reactor = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::new(Kind::Io, format!("no event loop: {error}")))?;
        let answer = reactor
            .block_on(doors_from_stdin(&request))
            .map_err(|error| Error::new(Kind::Invalid, format!("request: {error}")))?;
        runtime.out.print(&String::from_utf8_lossy(&answer))?;
        Ok(Exit::OK)
    }
}

/// Confine this process, and end; where that is forbidden on pain of death, by a signal
#[derive(Args, Debug)]
pub(crate) struct Confine {}

impl Confine {
    pub(crate) fn run(self) -> Exit {
        let Self {} = self;
        confine_for_trial();
        Exit::OK
    }
}
