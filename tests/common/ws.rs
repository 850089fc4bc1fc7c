//! A client of serve over a WebSocket, as small as it can be, and blocking.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

/// What serve answered to a request for an upgrade.
pub(crate) enum Answer {
    /// Come in.
    Open(Box<Ws>),
    /// Another status.
    Refused(u16),
}

/// A connection.
pub(crate) struct Ws {
    stream: TcpStream,
    next: u64,
    /// Events that came while an answer was waited for.
    pub(crate) events: Vec<Value>,
}

/// Asks for an upgrade with these headers, one a line.
pub(crate) fn knock(port: u16, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    let deadline = Some(Duration::from_secs(60));
    stream.set_read_timeout(deadline).expect("a deadline");
    let mut request = format!(
        "GET {path} HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    );
    for (name, value) in headers {
        request.extend([name, ": ", value, "\r\n"]);
    }
    stream
        .write_all(format!("{request}\r\n").as_bytes())
        .expect("a request");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("an answer");
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|word| word.parse().ok())
        .expect("a status");
    if status != 101 {
        return Answer::Refused(status);
    }
    let ws = Ws {
        stream,
        next: 0,
        events: Vec::new(),
    };
    Answer::Open(Box::new(ws))
}

impl Ws {
    /// A client that shows the token.
    pub(crate) fn connect(port: u16, token: &str) -> Self {
        let host = format!("127.0.0.1:{port}");
        let path = format!("/api/ws?token={token}");
        match knock(port, &path, &[("Host", &host)]) {
            Answer::Open(ws) => *ws,
            Answer::Refused(status) => panic!("refused with {status}"),
        }
    }

    /// The connection alone, for those who have no manners.
    pub(crate) fn into_stream(self) -> TcpStream {
        self.stream
    }

    /// Gives up what serve does not take for so long.
    pub(crate) fn give_up_after(&self, patience: Duration) {
        let set = self.stream.set_write_timeout(Some(patience));
        set.expect("a deadline");
    }

    /// Sends a text frame. The mask is all zeros, which is a mask like any other.
    pub(crate) fn send(&mut self, text: &str) {
        let mut frame = vec![0x81];
        match text.len() {
            length @ 0..126 => frame.push(0x80 | u8::try_from(length).expect("short")),
            length @ 126..65_536 => {
                frame.push(0x80 | 0x7e);
                frame.extend(u16::try_from(length).expect("middling").to_be_bytes());
            }
            length => {
                frame.push(0x80 | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.stream.write_all(&frame).expect("it takes frames");
    }

    /// The next frame: its kind, and what is in it.
    fn frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 2];
        self.stream.read_exact(&mut head).ok()?;
        let mut length = u64::from(head[1] & 0x7f);
        if length == 126 {
            let mut more = [0; 2];
            self.stream.read_exact(&mut more).ok()?;
            length = u64::from(u16::from_be_bytes(more));
        } else if length == 127 {
            let mut more = [0; 8];
            self.stream.read_exact(&mut more).ok()?;
            length = u64::from_be_bytes(more);
        }
        let mut body = vec![0; usize::try_from(length).expect("it fits")];
        self.stream.read_exact(&mut body).ok()?;
        Some((head[0] & 0x0f, body))
    }

    /// The next text frame; none once serve has closed.
    pub(crate) fn read(&mut self) -> Option<Value> {
        loop {
            match self.frame()? {
                (1, body) => return Some(serde_json::from_slice(&body).expect("JSON")),
                (8, _) => return None,
                _ => {}
            }
        }
    }

    /// Whether so many pings come, none of them answered, before serve closes.
    pub(crate) fn hears_pings(&mut self, count: usize) -> bool {
        let mut heard = 0;
        while heard < count {
            match self.frame() {
                Some((9, _)) => heard += 1,
                Some((8, _)) | None => return false,
                Some(_) => {}
            }
        }
        true
    }

    /// Asks, and gives back the whole answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.send(&request.to_string());
        loop {
            let frame = self.read().expect("an answer");
            if frame["id"] == self.next {
                return frame;
            }
            self.events.push(frame["params"].clone());
        }
    }

    /// Asks, and gives back the result.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        let mut answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Waits for an event of this kind.
    pub(crate) fn wait_for(&mut self, kind: &str) -> Value {
        if let Some(at) = self.events.iter().position(|event| event["type"] == kind) {
            return self.events.remove(at);
        }
        loop {
            let frame = self.read().expect("an event");
            if frame["params"]["type"] == kind {
                return frame["params"].clone();
            }
            self.events.push(frame["params"].clone());
        }
    }
}
