//! Ctrl-C: seen at once, also while waiting.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Where a signal to stop is seen.
#[derive(Debug)]
pub struct Interrupt {
    told: OwnedFd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// What was waited for has come.
    Ready,
    Late,
    Interrupted,
}

impl Interrupt {
    /// Listens from here on; the signals no longer end the program.
    pub fn listen() -> io::Result<Interrupt> {
        let (told, teller) = UnixStream::pair()?;
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
            signal_hook::low_level::pipe::register(signal, teller.try_clone()?)?;
        }
        Ok(Interrupt { told: told.into() })
    }

    /// Waits for `file` to be readable, but not longer than until `end`.
    pub fn wait(&self, file: BorrowedFd<'_>, end: Instant) -> io::Result<Woken> {
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 3600, tv_nsec: 0 });
            // What told once stays told: nothing is ever read from it.
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
