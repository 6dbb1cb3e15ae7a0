//! Waits with a time limit.

use std::io;
use std::os::fd::AsFd;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Waits for the end of a child. `None` if it still runs after `patience`.
pub fn wait_within(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    if let Some(status) = child.try_wait()? {
        return Ok(Some(status));
    }
    let ended = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    readable_before(&ended, Instant::now() + patience)?;
    child.try_wait()
}

/// Waits for the end of a child, and kills it if it still runs after `patience`.
pub fn end_within(child: &mut Child, patience: Duration) -> io::Result<ExitStatus> {
    if let Some(status) = wait_within(child, patience)? {
        return Ok(status);
    }
    child.kill()?;
    child.wait()
}

/// Waits until there is something to read. False if the deadline came first.
pub fn readable_before(file: impl AsFd, deadline: Instant) -> io::Result<bool> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&file, PollFlags::IN)], Some(&timeout)) {
            // A signal that was handled ends the wait, although nothing has arrived.
            Err(Errno::INTR) => {}
            ready => return Ok(ready? > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_child_that_ends_is_waited_for_and_one_that_stays_is_not() {
        let mut ends = Command::new("true").spawn().unwrap();
        assert!(wait_within(&mut ends, Duration::from_secs(60)).unwrap().unwrap().success());
        // It ends when its input does, so it cannot end while the pipe is open.
        let mut stays = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        assert_eq!(wait_within(&mut stays, Duration::from_millis(10)).unwrap(), None);
        drop(stays.stdin.take());
        assert!(wait_within(&mut stays, Duration::from_secs(60)).unwrap().is_some());
    }
}
