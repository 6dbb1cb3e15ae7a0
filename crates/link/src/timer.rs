//! Waits for packets or for an instant, whichever comes first.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};
use signal_hook::SigId;
use signal_hook::consts::SIGTERM;

const NS_PER_S: u64 = 1_000_000_000;

/// The current time on the monotonic clock.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The time since boot, so neither part is negative.
    now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
}

/// Waits for packets, a signal or an instant.
#[derive(Debug)]
pub(crate) struct Waiting {
    queue: OwnedFd,
    timer: OwnedFd,
    armed_ns: Option<u64>,
}

impl Waiting {
    /// Waits on these devices and on the termination signal.
    pub fn new(ends: &[OwnedFd; 2], termination: &Termination) -> io::Result<Waiting> {
        let queue = epoll::create(CreateFlags::CLOEXEC)?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        let number = EventData::new_u64;
        for end in ends {
            epoll::add(&queue, end, number(0), EventFlags::IN)?;
        }
        epoll::add(&queue, termination.told(), number(1), EventFlags::IN)?;
        // Edge-triggered: an expiry is reported once, so it need not be read.
        epoll::add(&queue, &timer, number(2), EventFlags::IN | EventFlags::ET)?;
        Ok(Waiting { queue, timer, armed_ns: None })
    }

    /// Sleeps until a packet or a signal arrives, or until the instant. Does not sleep if the instant has passed.
    pub fn until(&mut self, instant_ns: u64) -> io::Result<()> {
        if self.armed_ns != Some(instant_ns) {
            let it_value = Timespec { tv_sec: (instant_ns / NS_PER_S) as i64, tv_nsec: (instant_ns % NS_PER_S) as i64 };
            let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
            timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &Itimerspec { it_interval, it_value })?;
            self.armed_ns = Some(instant_ns);
        }
        let mut events = [MaybeUninit::<Event>::uninit(); 4];
        match epoll::wait(&self.queue, &mut events, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        // It expires once; an instant in the past has to be set again.
        if now_ns() >= instant_ns {
            self.armed_ns = None;
        }
        Ok(())
    }
}

/// Whether the process should end.
#[derive(Debug)]
pub(crate) struct Termination {
    asked: Arc<AtomicBool>,
    told: UnixStream,
    handlers: [SigId; 2],
}

impl Termination {
    /// From now on listens to SIGTERM, which then does not end the process.
    pub fn listen() -> io::Result<Termination> {
        let asked = Arc::new(AtomicBool::new(false));
        let (told, teller) = UnixStream::pair()?;
        // Handlers run in this order, so a thread woken by the second sees the flag set by the first.
        let flag = signal_hook::flag::register(SIGTERM, Arc::clone(&asked))?;
        let pipe = signal_hook::low_level::pipe::register(SIGTERM, teller)?;
        Ok(Termination { asked, told, handlers: [flag, pipe] })
    }

    /// Whether the signal has arrived.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    fn told(&self) -> BorrowedFd<'_> {
        self.told.as_fd()
    }
}

impl Drop for Termination {
    fn drop(&mut self) {
        self.handlers.iter().for_each(|handler| {
            signal_hook::low_level::unregister(*handler);
        });
    }
}
