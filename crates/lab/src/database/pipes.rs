//! Pipes to and from a child process, with a limit for every wait.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// A pipe that is ready for writing accepts this much without blocking (`PIPE_BUF`).
const CHUNK_BYTES: usize = 4096;
/// How often a wait checks whether it is still wanted.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// Waits until one of the files is ready; returns false if the deadline came first.
pub(super) fn ready_before(files: &mut [PollFd<'_>], deadline: Instant) -> io::Result<bool> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(files, Some(&timeout)) {
            // A handled signal ends the wait, although nothing has arrived.
            Err(Errno::INTR) => {}
            ready => return Ok(ready? > 0),
        }
    }
}

/// Writes into a child's pipe, while this is wanted and the child keeps reading.
pub(super) struct PatientWriter<'a, P> {
    pub(super) pipe: P,
    pub(super) patience: Duration,
    pub(super) is_wanted: &'a dyn Fn() -> bool,
}

impl<P: Write + AsFd> Write for PatientWriter<'_, P> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let deadline = Instant::now() + self.patience;
        loop {
            let look = deadline.min(Instant::now() + LOOK);
            if ready_before(&mut [PollFd::new(&self.pipe, PollFlags::OUT)], look)? {
                return self.pipe.write(&bytes[..bytes.len().min(CHUNK_BYTES)]);
            }
            if !(self.is_wanted)() {
                // Not `Interrupted`, which would be retried.
                return Err(io::Error::other("it is not wanted any more"));
            }
            if Instant::now() >= deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
    }
}

/// Appends the available output of a ready file; returns false at its end.
pub(super) fn take_in(file: &mut impl Read, buffer: &mut Vec<u8>) -> io::Result<bool> {
    let mut chunk = [0; 64 * 1024];
    loop {
        match file.read(&mut chunk) {
            Ok(count) => {
                buffer.extend_from_slice(&chunk[..count]);
                return Ok(count > 0);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn writing_to_a_pipe_that_is_not_read_ends() {
        let (_full, pipe) = io::pipe().unwrap();
        let (patience, looks) = (Duration::from_secs(300), Cell::new(0));
        let is_wanted = || looks.replace(looks.get() + 1) < 1;
        let error = PatientWriter { pipe, patience, is_wanted: &is_wanted }.write_all(&[b'x'; 1 << 20]).unwrap_err();
        assert_eq!((error.to_string().as_str(), looks.get()), ("it is not wanted any more", 2));

        let (_full, pipe) = io::pipe().unwrap();
        let mut writer = PatientWriter { pipe, patience: Duration::from_millis(1), is_wanted: &|| true };
        assert_eq!(writer.write_all(&[b'x'; 1 << 20]).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn what_a_reader_takes_arrives_whole() {
        let (mut read, pipe) = io::pipe().unwrap();
        let sent: Vec<u8> = (0..1_000_000_u32).map(|number| number as u8).collect();
        let expect = sent.clone();
        let reader = std::thread::spawn(move || {
            let mut got = Vec::new();
            while take_in(&mut read, &mut got).unwrap() {}
            got
        });
        PatientWriter { pipe, patience: Duration::from_secs(300), is_wanted: &|| true }.write_all(&sent).unwrap();
        assert!(reader.join().unwrap() == expect);
    }
}
