//! A Unix socket as zbus's transport, after our own handshake. Owns the reading of whole headers (so
//! that the private door's sender can be mended) and descriptors both ways; no deadline lives here.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::Arc,
};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use tokio::{io::Interest, net::UnixStream};
use zbus::{
    connection::socket::{ReadHalf, Socket, Split, WriteHalf},
    export::async_trait::async_trait,
};

use super::frame::{self, FIXED};

/// Descriptors that one message may carry: three are what a launch needs.
const DESCRIPTORS: usize = 16;

/// An admitted socket.
#[derive(Debug)]
pub(crate) struct Admitted {
    /// The connected stream.
    pub stream: UnixStream,
    /// Bytes already read beyond the handshake.
    pub surplus: Vec<u8>,
    /// Whether descriptors may be passed.
    pub descriptors: bool,
    /// Whether senders need mending (the private door).
    pub mend: bool,
}

impl Socket for Admitted {
    type ReadHalf = Reader;
    type WriteHalf = Writer;

    fn split(self) -> Split<Reader, Writer> {
        let stream = Arc::new(self.stream);
        let reader = Reader {
            stream: Arc::clone(&stream),
            surplus: self.surplus,
            header: Vec::new(),
            handed: 0,
            body: 0,
            descriptors: self.descriptors,
            mend: self.mend,
        };
        Split::new(
            reader,
            Writer {
                stream,
                descriptors: self.descriptors,
            },
        )
    }
}

/// The half that is read.
#[derive(Debug)]
pub(crate) struct Reader {
    stream: Arc<UnixStream>,
    surplus: Vec<u8>,
    /// The header of the current message, mended once complete.
    header: Vec<u8>,
    /// How much of it zbus already has.
    handed: usize,
    /// How much of the body is still to come.
    body: usize,
    descriptors: bool,
    mend: bool,
}

impl Reader {
    /// Reads up to `wanted` more bytes of the header.
    async fn read_header(&mut self, until: usize, fds: &mut Vec<OwnedFd>) -> io::Result<()> {
        while self.header.len() < until {
            let mut piece = vec![0; until - self.header.len()];
            let (count, new) = self.read(&mut piece).await?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.header.extend(piece.iter().take(count));
            fds.extend(new);
        }
        Ok(())
    }

    /// Reads a whole header, mended, ready to be handed on.
    async fn next_header(&mut self) -> io::Result<Vec<OwnedFd>> {
        let mut fds = Vec::new();
        self.header.clear();
        self.handed = 0;
        self.read_header(FIXED, &mut fds).await?;
        let extent = self
            .header
            .first_chunk()
            .and_then(frame::extent)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not a D-Bus message"))?;
        self.read_header(extent.header, &mut fds).await?;
        if self.mend {
            frame::mend_sender(&mut self.header);
        }
        self.body = extent.body;
        Ok(fds)
    }

    /// Surplus of the handshake first, then the socket.
    async fn read(&mut self, into: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
        if !self.surplus.is_empty() {
            let count = self.surplus.len().min(into.len());
            for (to, from) in into.iter_mut().zip(self.surplus.drain(..count)) {
                *to = from;
            }
            return Ok((count, Vec::new()));
        }
        let stream = &self.stream;
        stream
            .async_io(Interest::READABLE, || receive(stream.as_fd(), into))
            .await
    }
}

#[async_trait]
impl ReadHalf for Reader {
    async fn recvmsg(&mut self, buffer: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
        let mut fds = Vec::new();
        if self.handed == self.header.len() && self.body == 0 {
            fds = self.next_header().await?;
        }
        let waiting = self.header.get(self.handed..).unwrap_or_default();
        if !waiting.is_empty() {
            let count = waiting.len().min(buffer.len());
            for (to, from) in buffer.iter_mut().zip(waiting) {
                *to = *from;
            }
            self.handed += count;
            return Ok((count, fds));
        }
        let wanted = self.body.min(buffer.len());
        let (count, fds) = self
            .read(buffer.get_mut(..wanted).unwrap_or_default())
            .await?;
        self.body -= count;
        Ok((count, fds))
    }

    fn can_pass_unix_fd(&self) -> bool {
        self.descriptors
    }
}

/// The half that is written.
#[derive(Debug)]
pub(crate) struct Writer {
    stream: Arc<UnixStream>,
    descriptors: bool,
}

#[async_trait]
impl WriteHalf for Writer {
    async fn sendmsg(&mut self, buffer: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
        let stream = &self.stream;
        stream
            .async_io(Interest::WRITABLE, || send(stream.as_fd(), buffer, fds))
            .await
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(rustix::net::shutdown(
            &*self.stream,
            rustix::net::Shutdown::Both,
        )?)
    }

    fn can_pass_unix_fd(&self) -> bool {
        self.descriptors
    }
}

fn receive(socket: BorrowedFd<'_>, into: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let got = recvmsg(socket, &mut [IoSliceMut::new(into)], &mut control, flags)?;
    let mut fds = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    Ok((got.bytes, fds))
}

fn send(socket: BorrowedFd<'_>, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "too many descriptors",
        ));
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    Ok(sendmsg(
        socket,
        &[IoSlice::new(bytes)],
        &mut control,
        flags,
    )?)
}
