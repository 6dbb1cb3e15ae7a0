//! The kernel's event queue: epoll, edge-triggered.
//!
//! Every HTTP/1.1 socket is registered once, for reading. It is watched for writing only while a request could not be sent completely.
//! Changing this for every request would cost two system calls each and a fifth of a generator's CPU time.
//!
//! Edge-triggered means that the kernel reports new bytes once, so the reader must continue after a read that filled its buffer.
//! Level-triggered, the kernel would check every socket again after its last byte was read, which costs 3 to 10% of a request's CPU time.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll;
use rustix::io::Errno;

use crate::fault::Fault;
use crate::sys;

/// Events taken from the kernel at a time. With more, the first ones would wait longer until the clock is read.
const BATCH: usize = 256;

pub(crate) struct Poller {
    queue: OwnedFd,
    events: Vec<libc::epoll_event>,
    /// Whether the kernel supports waits shorter than a millisecond.
    precise: bool,
}

/// An event on a socket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ready {
    /// The token under which it was registered.
    pub token: u32,
    /// It can be written to.
    pub writable: bool,
    /// It can be read from, or has failed; reading shows which.
    pub readable: bool,
    /// The target has ended the stream; the bytes available now are the last.
    pub ended: bool,
}

/// What a socket is watched for, besides failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interest {
    pub reading: bool,
    pub writing: bool,
}

impl Poller {
    pub fn new() -> Result<Poller, Errno> {
        let queue = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Poller { queue, events: vec![libc::epoll_event { events: 0, u64: 0 }; BATCH], precise: true })
    }

    /// Registers a socket; closing the socket ends the registration.
    pub fn register(&self, socket: BorrowedFd<'_>, token: u32, interest: Interest) -> Result<(), Fault> {
        epoll::add(&self.queue, socket, epoll::EventData::new_u64(u64::from(token)), interest.flags())
            .map_err(|errno| Fault::Local { doing: "register a socket with epoll", errno })
    }

    /// Changes what a socket is watched for.
    pub fn watch(&self, socket: BorrowedFd<'_>, token: u32, interest: Interest) -> Result<(), Fault> {
        epoll::modify(&self.queue, socket, epoll::EventData::new_u64(u64::from(token)), interest.flags())
            .map_err(|errno| Fault::Local { doing: "change a socket's interest with epoll", errno })
    }

    /// Waits for the next events, at most `at_most`, and returns their number.
    pub fn wait(&mut self, at_most: Duration) -> Result<usize, Errno> {
        let waited = if self.precise && !at_most.is_zero() {
            match sys::epoll_wait_ns(self.queue.as_fd(), &mut self.events, at_most) {
                // The kernel is older than 5.11, or a sandbox does not allow the newer call.
                Err(Errno::NOSYS | Errno::PERM) => {
                    self.precise = false;
                    Ok(0)
                }
                waited => waited,
            }
        } else {
            // Rounded down: the caller polls the clock for the rest.
            let ms = at_most.as_millis().min(i32::MAX as u128) as i32;
            sys::epoll_wait_ms(self.queue.as_fd(), &mut self.events, ms)
        };
        match waited {
            // A signal arrived. Its handler has set the stop flag, which the loop checks next.
            Err(Errno::INTR) => Ok(0),
            waited => waited,
        }
    }

    /// One of the events of the last wait.
    pub fn event(&self, index: usize) -> Ready {
        let event = self.events[index];
        let flags = epoll::EventFlags::from_bits_retain(event.events);
        Ready {
            token: event.u64 as u32,
            writable: flags.intersects(epoll::EventFlags::OUT),
            readable: flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::ERR | epoll::EventFlags::HUP),
            ended: flags.intersects(epoll::EventFlags::RDHUP),
        }
    }
}

impl Interest {
    fn flags(self) -> epoll::EventFlags {
        // The end of the stream matters even where no bytes are read at the moment.
        let mut flags = epoll::EventFlags::ET | epoll::EventFlags::RDHUP;
        if self.reading {
            flags |= epoll::EventFlags::IN;
        }
        if self.writing {
            flags |= epoll::EventFlags::OUT;
        }
        flags
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, SystemClock};

    #[test]
    fn a_wait_of_less_than_a_millisecond_is_one() {
        let mut poller = Poller::new().unwrap();
        let before = SystemClock.now();
        for _ in 0..20 {
            assert_eq!(poller.wait(Duration::from_micros(200)).unwrap(), 0);
        }
        // Rounded up to milliseconds it would be 20 ms; rounded down, none. Only the lower bound is independent of timing.
        assert!(!poller.precise || SystemClock.now().since(before) >= Duration::from_millis(4));
    }

    #[test]
    fn a_kernel_without_the_precise_call_is_served_by_the_other() {
        let mut poller = Poller::new().unwrap();
        poller.precise = false;
        let before = SystemClock.now();
        assert_eq!(poller.wait(Duration::from_millis(3)).unwrap(), 0);
        assert!(SystemClock.now().since(before) >= Duration::from_millis(3));
    }
}
