//! `hermes explain CODE`: what the doctor's codes mean.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Args, Command};
use hermes::doctor::catalog::{self, Entry};
use hermes::doctor::explain;
use hermes::error::{Error, Kind, Result};
use hermes::output::json;
use hermes::runtime::Runtime;

use crate::exit::Exit;

/// Explain a code of the doctor: why it happens, what it does, how to mend it
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  hermes explain HM204
  hermes explain session-bus-mute
  hermes explain --all
  hermes explain HM204 --json")]
pub(crate) struct Explain {
    /// The code, like HM204, or its short name
    #[arg(conflicts_with = "all")]
    #[arg(value_parser = Codes, hide_possible_values = true)]
    code: Option<String>,
    /// List every code
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Any text, as `find` judges it better than a list could; the shell completes the codes.
#[derive(Clone)]
struct Codes;

impl TypedValueParser for Codes {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let code = |entry: &'static Entry| PossibleValue::new(entry.code).help(entry.title);
        Some(Box::new(catalog::all().map(code)))
    }
}

impl Explain {
    /// Prints one explanation, or the list.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        match self.code {
            Some(code) => {
                let entry = find(&code)?;
                if self.json {
                    json::print(&mut runtime.out, &explain::one_json(entry))?;
                } else {
                    let text = explain::one(entry, runtime.out.style, runtime.out.width);
                    runtime.out.print(&text)?;
                }
            }
            None if !self.all => {
                return Err(Error::usage("which code? One is like HM204")
                    .with_hint("hermes explain --all lists every code"));
            }
            None if self.json => json::print(&mut runtime.out, &explain::all_json())?,
            None => {
                let text = explain::list(runtime.out.style, runtime.out.width);
                runtime.out.print(&text)?;
            }
        }
        Ok(Exit::OK)
    }
}

fn find(code: &str) -> Result<&'static Entry> {
    let by_number = || catalog::find(&format!("HM{code}"));
    catalog::find(code).or_else(by_number).ok_or_else(|| {
        let error = Error::new(Kind::NotFound, format!("there is no code '{code}'"));
        let nearest = explain::nearest(code);
        match nearest.as_slice() {
            [] => error.with_hint("hermes explain --all lists the codes"),
            near => error.with_hint(format!("did you mean {}?", near.join(" or "))),
        }
    })
}
