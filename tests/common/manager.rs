//! A service manager, as far as a service can tell: a socket that it notifies.

use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::time::Duration;

use super::Sandbox;

/// It keeps what it was told and nobody has heard yet.
pub(crate) struct Manager {
    socket: UnixDatagram,
    told: Vec<String>,
}

impl Manager {
    /// Listens, for the service that this command starts.
    pub(crate) fn of(sandbox: &Sandbox, command: &mut Command) -> Self {
        let path = sandbox.user_home().join("notify.sock");
        let socket = UnixDatagram::bind(&path).expect("a socket");
        let deadline = Some(Duration::from_secs(120));
        socket.set_read_timeout(deadline).expect("a deadline");
        command.env("NOTIFY_SOCKET", &path);
        Self {
            socket,
            told: Vec::new(),
        }
    }

    fn message(&self) -> String {
        let mut buffer = [0; 4096];
        let length = self.socket.recv(&mut buffer).expect("a message");
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }

    /// Waits for a message with this text; the messages before it, and it.
    pub(crate) fn hear(&mut self, text: &str) -> Vec<String> {
        loop {
            let found = self.told.iter().position(|told| told.contains(text));
            if let Some(at) = found {
                return self.told.drain(..=at).collect();
            }
            self.told.push(self.message());
        }
    }

    /// Takes what is there without waiting.
    fn take(&mut self) {
        self.socket.set_nonblocking(true).expect("a mode");
        let mut buffer = [0; 4096];
        while let Ok(length) = self.socket.recv(&mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..length]);
            self.told.push(text.into_owned());
        }
        self.socket.set_nonblocking(false).expect("a mode");
    }

    /// Forgets what was told up to now.
    pub(crate) fn forget(&mut self) {
        self.take();
        self.told.clear();
    }

    /// Nothing with this text was told since.
    pub(crate) fn is_told_nothing_of(&mut self, text: &str) {
        self.take();
        let told = self.told.iter().find(|told| told.contains(text));
        assert!(told.is_none(), "{told:?}");
    }
}
