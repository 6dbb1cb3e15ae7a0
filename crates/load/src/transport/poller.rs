//! The kernel's event queue: epoll, level-triggered.
//!
//! Every socket is registered once, for reading. Interest in writing is added only while a request could not be sent as a
//! whole: arming and disarming it for every request costs two system calls each and a fifth of a generator's CPU time.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use crate::fault::Fault;

/// Events taken from the kernel at a time. More would let the first ones wait longer for the clock to be read.
const BATCH: usize = 256;

/// The queue.
pub(crate) struct Poller {
    queue: OwnedFd,
    events: Vec<epoll::Event>,
}

/// A socket that is ready for something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ready {
    /// The number under which it was registered.
    pub token: u32,
    /// It can be written to.
    pub writable: bool,
    /// It can be read from, or has failed, which reading will tell.
    pub readable: bool,
    /// The target has ended the stream; what can be read now is the last of it.
    pub ended: bool,
}

impl Poller {
    pub fn new() -> Result<Poller, Errno> {
        let queue = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Poller { queue, events: Vec::with_capacity(BATCH) })
    }

    /// Registers a socket; closing it is what ends the registration.
    pub fn register(&self, socket: BorrowedFd<'_>, token: u32) -> Result<(), Fault> {
        epoll::add(&self.queue, socket, epoll::EventData::new_u64(u64::from(token)), interest(false))
            .map_err(|errno| Fault::Local { doing: "register a socket with epoll", errno })
    }

    /// Adds or drops the interest in writing.
    pub fn watch_writing(&self, socket: BorrowedFd<'_>, token: u32, on: bool) -> Result<(), Fault> {
        epoll::modify(&self.queue, socket, epoll::EventData::new_u64(u64::from(token)), interest(on))
            .map_err(|errno| Fault::Local { doing: "change a socket's interest with epoll", errno })
    }

    /// Waits for the next events, at most so long, and returns their number.
    pub fn wait(&mut self, at_most: Duration) -> Result<usize, Errno> {
        let timeout = Timespec { tv_sec: at_most.as_secs() as i64, tv_nsec: i64::from(at_most.subsec_nanos()) };
        self.events.clear();
        match epoll::wait(&self.queue, rustix::buffer::spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(count) => Ok(count),
            // A signal came; whoever handles it has set the stop flag, which the loop looks at next.
            Err(Errno::INTR) => Ok(0),
            Err(errno) => Err(errno),
        }
    }

    /// One of the events of the last wait.
    pub fn event(&self, index: usize) -> Ready {
        let event = self.events[index];
        let flags = event.flags;
        Ready {
            token: event.data.u64() as u32,
            writable: flags.intersects(epoll::EventFlags::OUT),
            readable: flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::ERR | epoll::EventFlags::HUP),
            ended: flags.intersects(epoll::EventFlags::RDHUP),
        }
    }
}

fn interest(writing: bool) -> epoll::EventFlags {
    let reading = epoll::EventFlags::IN | epoll::EventFlags::RDHUP;
    if writing { reading | epoll::EventFlags::OUT } else { reading }
}
