//! The agent of the tests. It does what a script says, step by step, as a real one would on a good day or
//! on a bad one; what a turn costs, how it fails and what it leaves behind is up to the test.
//!
//! `agent SCRIPT` reads its prompt on stdin, notes it in `agent-log` beside the script, and does the steps
//! that stand there, one a line. It reads the script anew in each turn; without one it says "all good". The
//! pipe `agent-alive`, where there is one beside the script, is held open as long as it lives.
//!
//! ```text
//! say TEXT            prints TEXT as a line
//! complain TEXT       the same on stderr
//! echo                prints the prompt
//! environment         prints its variables, sorted
//! bytes HEX...        prints these bytes, which need not be text
//! drip TEXT           prints TEXT byte by byte, twenty a second
//! flood STREAM N      prints N bytes on stdout or stderr
//! wait PIPE           goes on when somebody tells this named pipe beside the script
//! tell PIPE           tells it, as soon as somebody waits
//! stall               does nothing for ever
//! ignore SIGNAL       is not impressed by SIGNAL from here on
//! crash SIGNAL        dies of it
//! exit CODE           ends at once
//! child STEP; STEP    starts another one that does these steps, and does not wait for it
//! leave               leaves its process group for a session of its own
//! ```

#![expect(
    clippy::disallowed_methods,
    reason = "it plays a program that knows nothing of our windows"
)]

use std::error::Error;
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal, raise};

/// Says of the next word that it is the steps of a child.
const CHILD: &str = "--child";
/// Between two bytes of what drips.
const PAUSE: Duration = Duration::from_millis(50);

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let script = PathBuf::from(words.first().ok_or("usage: agent SCRIPT")?);
    let pipe = script.with_file_name("agent-alive");
    // Open both ways it waits for nobody.
    let _alive = std::fs::File::options().read(true).write(true).open(pipe);
    if let [_, word, steps] = words.as_slice()
        && word == CHILD
    {
        let prompt = String::new();
        return Agent { script, prompt }.perform(steps.split(';'));
    }
    let prompt = std::io::read_to_string(std::io::stdin())?;
    note(&script.with_file_name("agent-log"), &prompt)?;
    let steps = if script.exists() {
        std::fs::read_to_string(&script)?
    } else {
        "say all good".to_owned()
    };
    Agent { script, prompt }.perform(steps.lines())
}

/// Leaves a line: which life of serve it is, where a test counts them, the session, and the prompt with
/// U+001F between its lines. One write, which nobody else's comes into, and no half of an earlier one
/// before it.
fn note(log: &Path, prompt: &str) -> std::io::Result<()> {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let (life, session) = (variable("HERMES_LIFE"), variable("HERMES_SESSION_ID"));
    let prompt = prompt.replace('\n', "\u{1f}");
    let mut log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(log)?;
    log.write_all(format!("\n{life}\t{session}\t{prompt}\n").as_bytes())
}

struct Agent {
    script: PathBuf,
    prompt: String,
}

impl Agent {
    fn perform<'a>(&self, steps: impl Iterator<Item = &'a str>) -> Result<ExitCode> {
        for step in steps.map(str::trim).filter(|step| !step.is_empty()) {
            if let Some(code) = self.step(step)? {
                return Ok(code);
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Does one step; tells the status where that ends it.
    fn step(&self, step: &str) -> Result<Option<ExitCode>> {
        let (verb, what) = step.split_once(' ').unwrap_or((step, ""));
        match verb {
            "say" => print(format!("{what}\n").as_bytes())?,
            "complain" => writeln!(std::io::stderr(), "{what}")?,
            "echo" => print(self.prompt.as_bytes())?,
            "environment" => print(environment().as_bytes())?,
            "bytes" => print(&bytes(what)?)?,
            "drip" => drip(what)?,
            "flood" => flood(what)?,
            "wait" => drop(std::fs::read(self.script.with_file_name(what))?),
            "tell" => std::fs::write(self.script.with_file_name(what), "go")?,
            "stall" => loop {
                std::thread::park();
            },
            // A signal that is blocked waits for ever, which from outside is the same.
            "ignore" => SigSet::from(what.parse::<Signal>()?).thread_block()?,
            "crash" => raise(what.parse()?)?,
            "exit" => return Ok(Some(ExitCode::from(what.parse::<u8>()?))),
            "child" => self.child(what)?,
            "leave" => drop(nix::unistd::setsid()?),
            _ => return Err(format!("no such step: {step}").into()),
        }
        Ok(None)
    }

    fn child(&self, steps: &str) -> std::io::Result<()> {
        Command::new(std::env::current_exe()?)
            .arg(&self.script)
            .args([CHILD, steps])
            .stdin(Stdio::null())
            .spawn()?;
        Ok(())
    }
}

/// Prints it now, whole lines or not.
fn print(bytes: &[u8]) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

fn environment() -> String {
    let mut variables: Vec<_> = std::env::vars()
        .map(|(name, value)| format!("{name}={value}\n"))
        .collect();
    variables.sort_unstable();
    variables.concat()
}

fn bytes(hex: &str) -> Result<Vec<u8>> {
    let byte = |digits| Ok(u8::from_str_radix(digits, 16)?);
    hex.split_whitespace().map(byte).collect()
}

fn drip(text: &str) -> std::io::Result<()> {
    for byte in text.bytes() {
        print(&[byte])?;
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

fn flood(what: &str) -> Result<()> {
    let (stream, bytes) = what.split_once(' ').ok_or("flood STREAM N")?;
    let mut flood = std::io::repeat(b'x').take(bytes.parse()?);
    let mut stream: Box<dyn Write> = match stream {
        "stdout" => Box::new(std::io::stdout()),
        "stderr" => Box::new(std::io::stderr()),
        _ => return Err(format!("no such stream: {stream}").into()),
    };
    std::io::copy(&mut flood, &mut stream)?;
    Ok(stream.flush()?)
}
