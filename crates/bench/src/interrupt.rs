//! Ctrl-C, noticed at once, even while waiting.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Reports signals to stop.
#[derive(Debug)]
pub struct Interrupt {
    told: OwnedFd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// The file is readable.
    Ready,
    Late,
    Interrupted,
}

impl Interrupt {
    /// Starts to listen; from now on the signals do not end the program.
    pub fn listen() -> io::Result<Interrupt> {
        let (told, teller) = UnixStream::pair()?;
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
            signal_hook::low_level::pipe::register(signal, teller.try_clone()?)?;
        }
        Ok(Interrupt { told: told.into() })
    }

    /// Waits until `file` is readable, at most until `end`.
    pub fn wait(&self, file: BorrowedFd<'_>, end: Instant) -> io::Result<Woken> {
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 3600, tv_nsec: 0 });
            // It stays readable after the first signal, because its bytes are never read.
            let mut files = [
                PollFd::from_borrowed_fd(self.told.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(file, PollFlags::IN),
            ];
            match poll(&mut files, Some(&left)) {
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
                Ok(0) => return Ok(Woken::Late),
                Ok(_) if !files[0].revents().is_empty() => return Ok(Woken::Interrupted),
                Ok(_) => return Ok(Woken::Ready),
            }
        }
    }
}
