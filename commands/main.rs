//! The door: clap in, exit code out. No SQL, no D-Bus, no rule lives here.

mod agent;
mod asking;
mod cli;
mod completions;
mod config;
mod cron;
mod doors;
mod exit;
mod explain;
mod heartbeat;
mod homes;
mod r#loop;
mod man;
mod meant;
mod offer;
mod pause;
mod resume;
mod serve;
mod service;
mod session;
mod timer;
mod timer_order;
mod when;
mod worker;

use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::process::ExitCode;

use clap::Parser;
use hermes::error::{Error, Kind};
use hermes::runtime::{Options, Runtime};

use crate::cli::Cli;
use crate::exit::Exit;

fn main() -> ExitCode {
    panic::set_hook(Box::new(report_panic));
    let exit = panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or(Exit::INTERNAL);
    ExitCode::from(exit.code())
}

fn run() -> Exit {
    let arguments: Vec<_> = std::env::args_os().collect();
    let json = arguments
        .iter()
        .take_while(|word| *word != "--")
        .any(|word| word == "--json");
    let first = meant::first_word(&arguments);
    match Cli::try_parse_from(arguments) {
        Ok(cli) => match Runtime::from_process(cli.global.options()) {
            Ok(mut runtime) => {
                hermes::fault::defect();
                let named = if cli.command.wants_home() {
                    homes::are_there(&runtime)
                } else {
                    Ok(())
                };
                let result = named.and_then(|()| cli.command.run(&mut runtime));
                result.unwrap_or_else(|error| fail(&mut runtime, &error, json))
            }
            Err(error) => fail_early(&error, json),
        },
        Err(error) => usage(&meant::meant(error, first.as_deref()), json),
    }
}

/// Tells of an error: as text on stderr, or as the one error object on stdout.
fn fail(runtime: &mut Runtime, error: &Error, json: bool) -> Exit {
    if json && error.kind() != Kind::Output {
        if let Err(unwritten) = hermes::output::json::print(&mut runtime.out, &error.to_json()) {
            runtime.out.error(&unwritten);
            return Exit::OUTPUT;
        }
    } else {
        runtime.out.error(error);
    }
    Exit::of(error.kind())
}

fn fail_early(error: &Error, json: bool) -> Exit {
    match Runtime::from_process(Options::default()) {
        Ok(mut runtime) => fail(&mut runtime, error, json),
        Err(_) => Exit::of(error.kind()),
    }
}

/// Help and version end well, on stdout; anything else that clap says is a usage error.
fn usage(error: &clap::Error, json: bool) -> Exit {
    if json && error.use_stderr() {
        let text = error.render().to_string();
        let mut lines = text
            .lines()
            .map(|line| line.trim_start_matches("error: ").trim());
        let mut message = lines.next().unwrap_or_default().to_owned();
        if message.ends_with(':') {
            // What is missing stands in lines of its own.
            let named: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
            message = format!("{message} {}", named.join(", "));
        }
        return fail_early(
            &Error::usage(message).with_hint("--help shows the usage"),
            true,
        );
    }
    match error.print() {
        Err(unwritten) if unwritten.kind() != std::io::ErrorKind::BrokenPipe => Exit::OUTPUT,
        _ if error.use_stderr() => Exit::USAGE,
        _ => Exit::OK,
    }
}

/// One line instead of a backtrace: symbolising one takes longer than the command.
fn report_panic(panic: &PanicHookInfo<'_>) {
    use std::io::Write as _;
    let payload = panic.payload();
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let place = panic
        .location()
        .map(|place| format!(" ({}:{})", place.file(), place.line()));
    let line = format!("internal error: {message}{}\n", place.unwrap_or_default());
    drop(std::io::stderr().write_all(line.as_bytes()));
}
