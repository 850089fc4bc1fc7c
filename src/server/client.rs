//! A client of our own serve, over its Unix socket: for the command line. One request at a time.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::protocol::code;
use crate::error::{Context as _, Error, Kind, Result};
use crate::files;
use crate::home::Home;

/// An answer that takes longer is none.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection to the serve of a home.
#[derive(Debug)]
pub struct Client {
    reader: BufReader<UnixStream>,
    next: u64,
    /// Events that came while an answer was waited for.
    events: Vec<Value>,
}

impl Client {
    /// Connects to the serve of a home; `None` where none listens.
    ///
    /// # Errors
    /// When one is there and does not let us in.
    pub fn connect(home: &Home) -> Result<Option<Self>> {
        use std::io::ErrorKind::{ConnectionRefused, NotFound};
        let path = home.run_dir().join("serve.sock");
        let stream = match files::at_socket(&path, |path| UnixStream::connect(path)) {
            Ok(stream) => stream,
            Err(error) if matches!(error.kind(), NotFound | ConnectionRefused) => return Ok(None),
            Err(error) => {
                return Err(Error::io(
                    format!("failed to reach {}", path.display()),
                    error,
                ));
            }
        };
        stream
            .set_read_timeout(Some(PATIENCE))
            .context(Kind::Io, "failed to set a deadline")?;
        let mut client = Self {
            reader: BufReader::new(stream),
            next: 0,
            events: Vec::new(),
        };
        let _greeting = client.line()?;
        Ok(Some(client))
    }

    fn line(&mut self) -> Result<Value> {
        let mut line = String::new();
        let gone = "serve did not answer";
        let length = self
            .reader
            .read_line(&mut line)
            .context(Kind::Unavailable, gone)?;
        if length == 0 {
            return Err(Error::new(Kind::Unavailable, "serve closed the connection"));
        }
        serde_json::from_str(&line).context(Kind::Invalid, "serve sent no JSON")
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// When serve refuses, or does not answer.
    pub fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.call_within(method, params, PATIENCE)
    }

    /// The same, for an answer that may take longer, or must not.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn call_within(
        &mut self,
        method: &str,
        params: &Value,
        patience: Duration,
    ) -> Result<Value> {
        let stream = self.reader.get_ref();
        let set = stream.set_read_timeout(Some(patience));
        set.context(Kind::Io, "failed to set a deadline")?;
        self.next += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        let line = format!("{request}\n");
        self.reader
            .get_mut()
            .write_all(line.as_bytes())
            .context(Kind::Unavailable, "failed to ask serve")?;
        loop {
            let mut frame = self.line()?;
            if frame.get("id").and_then(Value::as_u64) != Some(self.next) {
                self.events.push(frame);
                continue;
            }
            if let Some(error) = frame.get("error") {
                return Err(refusal(error));
            }
            return Ok(frame.get_mut("result").map(Value::take).unwrap_or_default());
        }
    }

    /// The next event, as its `params`; `None` where none came within the time.
    ///
    /// # Errors
    /// When serve closed the connection.
    pub fn event(&mut self, within: Option<Duration>) -> Result<Option<Value>> {
        let params = |mut frame: Value| frame.get_mut("params").map(Value::take);
        if !self.events.is_empty() {
            return Ok(params(self.events.remove(0)));
        }
        let stream = self.reader.get_ref();
        let set = stream.set_read_timeout(within);
        set.context(Kind::Io, "failed to set a deadline")?;
        let waited = self.reader.fill_buf().map(<[u8]>::len);
        let again = self.reader.get_ref().set_read_timeout(Some(PATIENCE));
        again.context(Kind::Io, "failed to set a deadline")?;
        match waited {
            Ok(0) => Err(Error::new(Kind::Unavailable, "serve closed the connection")),
            Ok(_) => Ok(params(self.line()?)),
            // A stop of the terminal and its end cut the wait short as well.
            Err(error) if is_pause(&error) => Ok(None),
            Err(error) => Err(Error::io("failed to read from serve", error)),
        }
    }
}

fn is_pause(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn refusal(error: &Value) -> Error {
    let number = error
        .get("code")
        .and_then(Value::as_i64)
        .unwrap_or_default();
    let text = error
        .get("message")
        .and_then(Value::as_str)
        .unwrap_or("no reason");
    let kind = match number {
        code::SESSION_NOT_FOUND | code::STORED_NOT_FOUND | code::UNKNOWN_METHOD => Kind::NotFound,
        code::BUSY | code::LEASE_REFUSED | code::DELETE_ACTIVE => Kind::Busy,
        code::STORE | code::AGENT | code::RETIRING => Kind::Unavailable,
        code::INVALID_PARAMS | code::BAD_ARGUMENT | code::SESSION_ID_REQUIRED => Kind::Usage,
        _ => Kind::Failed,
    };
    Error::new(kind, text)
}
