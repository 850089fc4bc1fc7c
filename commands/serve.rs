//! `hermes serve`.

use clap::{Args, ValueEnum};
use hermes::error::Result;
use hermes::runtime::Runtime;
use hermes::server::{self, Ended, Options};

use crate::cron::desk::is_ours_to_run;
use crate::exit::Exit;

/// Host sessions, drive loops and heartbeats, tick cron
#[derive(Args, Debug)]
#[command(after_help = "\
One serve has a home: a second one says who has it and ends with status 78.

Examples:
  hermes serve                  for clients of this host, at port 9119
  hermes serve --port 0         at a free port; the ready line tells which
  hermes serve --passive        wait until the other serve ends, then take over
  hermes service print --user   a unit that keeps it running")]
pub(crate) struct Serve {
    /// Address to listen at [default: serve.host, else 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    host: Option<String>,
    /// Port to listen at; 0 takes a free one [default: serve.port, else 9119]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Do not tick cron jobs
    #[arg(long)]
    no_cron: bool,
    /// Stay in the foreground; serve always does
    #[arg(long)]
    foreground: bool,
    /// Wait while another serve has the home, then take over
    #[arg(long)]
    passive: bool,
    /// Who else than this host may connect
    #[arg(long, value_name = "HOW")]
    auth: Option<Auth>,
}

/// How clients of other hosts prove who they are.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Auth {
    /// By the token of serve.token, at least 32 characters
    Token,
}

impl Serve {
    /// Serves until it is asked to stop.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let mut flags = Vec::new();
        flags.extend(self.host.map(|host| ("serve.host", host)));
        flags.extend(self.port.map(|port| ("serve.port", port.to_string())));
        if self.no_cron {
            flags.push(("serve.cron", "false".to_owned()));
        }
        if self.passive {
            flags.push(("serve.passive", "true".to_owned()));
        }
        let options = Options {
            flags,
            auth: self.auth.is_some(),
        };
        is_ours_to_run(runtime, &runtime.one_home()?, "serve")?;
        match server::serve(runtime, options)? {
            Ended::Stopped => Ok(Exit::OK),
            Ended::Held(error) => {
                runtime.out.error(&error);
                Ok(Exit::CONFLICT)
            }
        }
    }
}
