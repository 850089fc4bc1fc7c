//! A serve that runs as a process of its own, on a clock that the test drives.

use std::io::{BufRead, BufReader, Read as _, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};

use super::Sandbox;
pub(crate) use super::agent::{asked, configure};
use super::ws::Ws;

/// When the clock of these serves begins.
pub(crate) const BEGIN: &str = "2026-06-01T23:00:00Z";

/// A serve; it is killed where a test forgets it.
pub(crate) struct Serving {
    child: Child,
    clock: Option<BufReader<UnixStream>>,
    /// Its port.
    pub(crate) port: u16,
    /// Its token.
    pub(crate) token: String,
}

/// The command that runs serve at `now`, at any free port where the arguments name none.
pub(crate) fn command(sandbox: &Sandbox, now: &str, arguments: &[&str]) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "a serve outlives the call that starts it"
    )]
    let mut command = Command::new(env!("CARGO_BIN_EXE_hermes"));
    command.arg("serve").args(arguments);
    if !arguments.contains(&"--port") {
        command.args(["--port", "0"]);
    }
    command
        .env_clear()
        .env("HOME", sandbox.user_home())
        .env("PATH", "/usr/bin:/bin")
        .env("TZ", "UTC")
        .env("LC_ALL", "C.UTF-8")
        .env("__HERMES_NOW", now)
        .env("__HERMES_CLOCK", sandbox.user_home().join("clock.sock"))
        .current_dir(sandbox.user_home())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// The same command by a shell, which sets a limit, and has a file at its limit be an error, as on a full
/// disk, and no signal.
pub(crate) fn patient(sandbox: &Sandbox, command: &Command, limit: &str) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "what is limited is started by a shell"
    )]
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", &format!("trap '' XFSZ; {limit} exec \"$0\" \"$@\"")])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(sandbox.user_home());
    shell
}

/// Sends a signal to a process that lives.
pub(crate) fn send(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a pid"), signal).expect("it lives");
}

impl Serving {
    /// Starts one and waits until it is ready.
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        Self::at(sandbox, BEGIN)
    }

    /// The same at another time.
    pub(crate) fn at(sandbox: &Sandbox, now: &str) -> Self {
        let child = command(sandbox, now, &[]).spawn().expect("serve starts");
        Self::ready(sandbox, child)
    }

    /// Waits until a serve that was started is ready.
    pub(crate) fn ready(sandbox: &Sandbox, mut child: Child) -> Self {
        let stdout = child.stdout.take().expect("its stdout");
        let mut lines = BufReader::new(stdout).lines();
        let mut line = || lines.next().expect("a line").expect("text");
        let first = line();
        let port = first
            .strip_prefix("HERMES_BACKEND_READY port=")
            .expect("the ready line");
        assert_eq!(line(), format!("HERMES_DASHBOARD_READY port={port}"));
        let token = std::fs::read_to_string(sandbox.home().join("run/serve.token"));
        let clock = UnixStream::connect(sandbox.user_home().join("clock.sock"));
        Self {
            child,
            clock: clock.ok().map(BufReader::new),
            port: port.parse().expect("a port"),
            token: token.expect("the token"),
        }
    }

    /// Whether it runs still.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Its pid.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A client of it.
    pub(crate) fn client(&self) -> Ws {
        Ws::connect(self.port, &self.token)
    }

    /// Moves its clock, and does not wait until it has seen that.
    pub(crate) fn begin_clock(&mut self, order: &str) {
        let clock = self.clock.as_mut().expect("the clock");
        let order = format!("{order}\n");
        clock
            .get_mut()
            .write_all(order.as_bytes())
            .expect("an order");
    }

    /// Moves its clock, or waits until it has nothing left to do.
    pub(crate) fn clock(&mut self, order: &str) {
        self.begin_clock(order);
        self.hear_clock();
    }

    /// Waits until it has seen what was begun.
    pub(crate) fn hear_clock(&mut self) {
        let clock = self.clock.as_mut().expect("the clock");
        let mut answer = String::new();
        clock.read_line(&mut answer).expect("an answer");
        assert_eq!(answer, "ok\n");
    }

    /// Lets awake time pass in steps, each to its end.
    pub(crate) fn pass(&mut self, seconds: u32, step: u32) {
        for _ in 0..seconds / step {
            self.clock(&format!("advance {step}"));
            self.clock("settle");
        }
    }

    /// A page of it: status and body.
    pub(crate) fn page(&self, path: &str) -> (u16, String) {
        self.ask(&format!("GET {path}"), &[])
    }

    /// A request with these headers, one a line: status and body of the answer.
    pub(crate) fn ask(&self, request: &str, headers: &[&str]) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        let mut request = format!("{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        for header in headers {
            request.extend([header, "\r\n"]);
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        let status = text.split(' ').nth(1).and_then(|word| word.parse().ok());
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
        (status.expect("a status"), body.unwrap_or_default())
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        send(self.pid(), signal);
    }

    /// Limits what it may have of something, or no longer.
    pub(crate) fn limit(&self, resource: Resource, most: Option<u64>) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
        let maximum = getrlimit(resource).maximum;
        let new = Rlimit {
            current: most.or(maximum),
            maximum,
        };
        prlimit(pid, resource, new).expect("a limit");
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("its end")
    }

    /// SIGTERM, and the end.
    pub(crate) fn stop(mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.wait()
    }

    /// SIGKILL.
    pub(crate) fn kill(mut self) {
        self.signal(Signal::KILL);
        self.wait();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}
