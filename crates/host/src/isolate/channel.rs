//! A socket for whole messages between the lab and its keeper, which also carries descriptors.
#![allow(unsafe_code, reason = "a descriptor that a process inherits is known by its number only")]

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::cmsg_space;
use rustix::io::{FdFlags, fcntl_setfd, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longer than any message. The longest one contains the control groups of all parts.
const LONGEST: usize = 128 * 1024;

/// One end of the socket.
#[derive(Debug)]
pub(super) struct Channel {
    socket: OwnedFd,
}

impl Channel {
    /// Both ends. By default, programs that this process starts inherit neither.
    pub(super) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (own, other) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Self { socket: own }, other))
    }

    /// The end inherited under this number, for this process alone.
    pub(super) fn inherited(number: i32) -> io::Result<Self> {
        Ok(Self { socket: inherited(number)? })
    }

    /// A second handle of the same end, for another thread.
    pub(super) fn again(&self) -> io::Result<Self> {
        Ok(Self { socket: self.socket.try_clone()? })
    }

    /// Sends a message, with a descriptor if there is one to pass.
    pub(super) fn send<T: Serialize>(&self, message: &T, file: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let text = serde_json::to_vec(message)?;
        let files: Vec<BorrowedFd<'_>> = file.into_iter().collect();
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&files));
        }
        retry_on_intr(|| sendmsg(&self.socket, &[IoSlice::new(&text)], &mut control, SendFlags::NOSIGNAL))?;
        Ok(())
    }

    /// Waits for the next message, or returns `None` when the other side is gone.
    pub(super) fn receive<T: DeserializeOwned>(&self) -> io::Result<Option<(T, Option<OwnedFd>)>> {
        let mut text = vec![0; LONGEST];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = retry_on_intr(|| {
            recvmsg(&self.socket, &mut [IoSliceMut::new(&mut text)], &mut control, RecvFlags::CMSG_CLOEXEC)
        });
        let length = match received {
            // A peer that is killed before it has read all messages resets the connection.
            Err(rustix::io::Errno::CONNRESET) => 0,
            received => received?.bytes,
        };
        if length == 0 {
            return Ok(None);
        }
        let files = control.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut files) => files.next(),
            _ => None,
        });
        let file = files.last();
        Ok(Some((serde_json::from_slice(&text[..length])?, file)))
    }
}

/// The descriptor inherited under this number, for this process alone. Call it once for each number.
pub(super) fn inherited(number: i32) -> io::Result<OwnedFd> {
    if number < 3 {
        let message = "the number of what is inherited is that of a standard stream";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    // SAFETY: the borrow ends with this line, which fails if the number is not an open descriptor.
    fcntl_setfd(unsafe { BorrowedFd::borrow_raw(number) }, FdFlags::CLOEXEC)?;
    // SAFETY: the number is an open descriptor. It comes from the process that started this one and made the descriptor
    // for it, and no other code in this process uses it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn messages_arrive_whole_in_their_order_and_with_their_descriptors() {
        let (own, other) = Channel::pair().unwrap();
        let other = Channel { socket: other };
        let long = "x".repeat(60_000);
        let (read, write) = io::pipe().unwrap();
        own.send(&long, None).unwrap();
        own.send(&"with a pipe", Some(write.as_fd())).unwrap();
        drop((own, write));
        assert_eq!(other.receive::<String>().unwrap().unwrap().0, long);
        let (text, file) = other.receive::<String>().unwrap().unwrap();
        assert_eq!(text, "with a pipe");
        let mut file = File::from(file.unwrap());
        file.write_all(b"here").unwrap();
        drop(file);
        let mut said = String::new();
        File::from(OwnedFd::from(read)).read_to_string(&mut said).unwrap();
        assert_eq!(said, "here");
        assert!(other.receive::<String>().unwrap().is_none(), "the other side is gone");
    }

    #[test]
    fn a_number_that_is_no_descriptor_is_no_channel() {
        assert!(Channel::inherited(1).is_err(), "standard output is not a channel");
    }
}
