//! The window on the terminal. Data goes to stdout, everything else to stderr.
//!
//! A closed pipe is quiet: what is written after it is dropped, and the command keeps the exit code
//! of its verdict. Any other failed write is an error of kind [`Kind::Output`].

pub mod human;
pub mod json;
pub mod layout;
pub mod nearest;
pub mod quote;
pub mod style;
pub mod table;
pub mod wrap;

use std::borrow::Cow;
use std::io::{ErrorKind, Write};

use crate::error::{Error, Kind, Result};
pub use style::{ColorChoice, Style};

/// Where a command writes.
pub struct Out {
    stdout: Box<dyn Write + Send>,
    stderr: Box<dyn Write + Send>,
    closed: bool,
    /// How stdout looks.
    pub style: Style,
    /// How stderr looks.
    pub err_style: Style,
    /// Columns of the terminal; `None` off a terminal, where nothing is fitted to a width.
    pub width: Option<usize>,
    /// Nothing but ASCII is written: somebody asked for that.
    pub ascii: bool,
}

impl Out {
    /// An output over two writers.
    #[must_use]
    pub fn new(
        stdout: Box<dyn Write + Send>,
        stderr: Box<dyn Write + Send>,
        style: Style,
        err_style: Style,
    ) -> Self {
        Self {
            stdout,
            stderr,
            closed: false,
            style,
            err_style,
            width: None,
            ascii: false,
        }
    }

    /// Writes data to stdout.
    ///
    /// # Errors
    /// When the data could not be written, a closed pipe excepted.
    pub fn print(&mut self, text: &str) -> Result<()> {
        if self.closed {
            return Ok(());
        }
        let text = self.fit(text);
        match self
            .stdout
            .write_all(text.as_bytes())
            .and_then(|()| self.stdout.flush())
        {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            Err(error) => {
                self.closed = true;
                Err(Error::new(Kind::Output, "failed to write the output").with_source(error))
            }
        }
    }

    /// Writes one line of data to stdout.
    ///
    /// # Errors
    /// As [`Out::print`].
    pub fn line(&mut self, text: &str) -> Result<()> {
        self.print(&format!("{text}\n"))
    }

    fn fit<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.ascii {
            human::ascii(text)
        } else {
            Cow::Borrowed(text)
        }
    }

    /// Text from the host, made safe to print, as it will stand there: for what is laid out in columns.
    #[must_use]
    pub fn printable(&self, text: &str) -> String {
        self.fit(&human::printable(text)).into_owned()
    }

    /// Whether the reader of stdout has gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Tells the person something that is not data: one line on stderr. Nobody can be told of a
    /// stderr that does not take it, so that failure is dropped.
    pub fn note(&mut self, text: &str) {
        let text = self.fit(text);
        drop(writeln!(self.stderr, "{text}"));
    }

    /// Warns on stderr.
    pub fn warn(&mut self, text: &str) {
        let word = self.err_style.warning("warning");
        self.note(&format!("{word}: {text}"));
    }

    /// Prints an error with its causes and hints to stderr.
    pub fn error(&mut self, error: &Error) {
        let word = self.err_style.error("error");
        self.note(&format!("{word}: {}", human::printable(error.message())));
        for cause in error.causes() {
            self.note(&format!("  because: {}", human::printable(&cause)));
        }
        for hint in error.hints() {
            let word = self.err_style.hint("hint");
            let mut lines = hint.lines().map(human::printable);
            let first = lines.next().unwrap_or_default();
            self.note(&format!("  {word}: {first}"));
            for line in lines {
                self.note(&format!("    {line}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken(ErrorKind);
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn out(kind: ErrorKind) -> Out {
        Out::new(
            Box::new(Broken(kind)),
            Box::new(std::io::sink()),
            Style::plain(),
            Style::plain(),
        )
    }

    #[test]
    fn a_closed_pipe_is_quiet_and_a_full_disk_is_not() {
        let mut closed = out(ErrorKind::BrokenPipe);
        assert!(closed.line("x").is_ok());
        assert!(closed.is_closed());
        let mut full = out(ErrorKind::StorageFull);
        assert_eq!(full.line("x").unwrap_err().kind(), Kind::Output);
    }
}
