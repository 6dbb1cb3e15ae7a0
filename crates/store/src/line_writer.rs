//! Writes lines to a file or to a reader in a separate thread.
//!
//! The measuring thread hands over a line and continues; it never waits for the disk or the reader of a pipe. The queue is
//! bounded. A line without room is lost, and a `lines-lost` line takes its place.

use std::fmt;
use std::io::{self, Write};
use std::mem::take;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Bytes per write: a pipe that is ready for writing accepts this many.
const PIECE_BYTES: usize = 4096;

/// Bounds on the bytes that wait, and on the wait at the end.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// Enough for days of events of an ordinary run.
    bytes: usize,
    /// How long to wait at the end for a reader that reads nothing.
    patience: Duration,
}

const ROOM: Room = Room { bytes: 16 << 20, patience: Duration::from_secs(10) };

/// Writes lines in a thread of its own.
pub struct LineWriter {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    room: Room,
    began: Instant,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<u8>,
    /// Bytes in the queue and in the hands of the thread.
    unwritten_bytes: usize,
    lost_lines: u64,
    is_over: bool,
    has_ended: bool,
    /// The error that ended all writing; reported once.
    failure: Option<io::Error>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread's loop: writes what waits until the queue is closed or a write fails.
    fn write_to(&self, mut output: impl Write) {
        loop {
            let idle = |queue: &mut Queue| queue.waiting.is_empty() && !queue.is_over;
            let mut queue = self.changed.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
            let bytes = take(&mut queue.waiting);
            drop(queue);
            let written = bytes.chunks(PIECE_BYTES).try_for_each(|piece| {
                output.write_all(piece).and_then(|()| output.flush())?;
                self.lock().unwritten_bytes -= piece.len();
                self.changed.notify_all();
                Ok(())
            });
            if bytes.is_empty() || written.is_err() {
                let mut queue = self.lock();
                (queue.has_ended, queue.failure) = (true, written.err());
                self.changed.notify_all();
                return;
            }
        }
    }
}

impl LineWriter {
    /// Starts writing to `output`.
    pub fn new(output: impl Write + Send + 'static) -> io::Result<Self> {
        Self::with_room(output, ROOM)
    }

    fn with_room(output: impl Write + Send + 'static, room: Room) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let thread = Builder::new().name("lines".to_owned()).spawn(move || of_thread.write_to(output))?;
        Ok(Self { shared, thread: Some(thread), room, began: Instant::now() })
    }

    /// Time since the beginning, in seconds.
    pub fn t_s(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// Queues a line, including its newline. An error belongs to an earlier line and is returned once. All later lines are
    /// dropped.
    pub fn push(&mut self, line: &[u8]) -> io::Result<()> {
        let mut queue = self.shared.lock();
        if queue.has_ended {
            return queue.failure.take().map_or(Ok(()), Err);
        }
        if queue.unwritten_bytes + line.len() > self.room.bytes {
            queue.lost_lines += 1;
            return Ok(());
        }
        queue.tell_lost(self.t_s());
        queue.enter(line);
        self.shared.changed.notify_all();
        Ok(())
    }

    /// Waits until everything is written, or until the reader has read nothing for a while. Returns the number of unwritten
    /// bytes.
    pub fn finish(&mut self) -> io::Result<usize> {
        let Some(thread) = self.thread.take() else { return Ok(0) };
        let mut queue = self.shared.lock();
        queue.tell_lost(self.t_s());
        queue.is_over = true;
        self.shared.changed.notify_all();
        while !queue.has_ended {
            let left_bytes = queue.unwritten_bytes;
            let is_stuck = |queue: &mut Queue| !queue.has_ended && queue.unwritten_bytes == left_bytes;
            let waited = self.shared.changed.wait_timeout_while(queue, self.room.patience, is_stuck);
            let (now, over) = waited.unwrap_or_else(PoisonError::into_inner);
            if over.timed_out() {
                // The blocked thread is abandoned, and ends with tolok.
                return Ok(left_bytes);
            }
            queue = now;
        }
        let failure = queue.failure.take();
        drop(queue);
        // It has ended, and it never panics.
        let _ = thread.join();
        failure.map_or(Ok(0), Err)
    }
}

impl Queue {
    fn enter(&mut self, line: &[u8]) {
        self.waiting.extend_from_slice(line);
        self.unwritten_bytes += line.len();
    }

    /// Queues a line that gives the number of lost lines.
    fn tell_lost(&mut self, t_s: f64) {
        let lines = take(&mut self.lost_lines);
        if lines > 0 {
            self.enter(format!("{{\"event\":\"lines-lost\",\"t_s\":{t_s:.3},\"lines\":{lines}}}\n").as_bytes());
        }
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        // Callers that need the result call `finish` first.
        let _ = self.finish();
    }
}

impl fmt::Debug for LineWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineWriter").field("room", &self.room).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn small(bytes: usize) -> Room {
        Room { bytes, patience: Duration::from_millis(1) }
    }

    #[test]
    fn a_reader_who_is_slow_is_not_waited_for_and_gets_every_line() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut lines = LineWriter::new(writer).unwrap();
        let line = "x".repeat(999) + "\n";
        // Far more than a pipe holds, and nothing reads it.
        (0..1000).for_each(|_| lines.push(line.as_bytes()).unwrap());
        let read = std::thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).map(|_| text)
        });
        assert_eq!(lines.finish().unwrap(), 0);
        assert_eq!(read.join().unwrap().unwrap(), line.repeat(1000));
    }

    #[test]
    fn what_has_no_room_is_lost_and_said_in_its_place() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut lines = LineWriter::with_room(writer, Room { patience: ROOM.patience, ..small(200_000) }).unwrap();
        let line = "y".repeat(9_999) + "\n";
        // A pipe holds 64 KiB, and nothing reads it: 100 lines are more than both hold.
        (0..100).for_each(|_| lines.push(line.as_bytes()).unwrap());
        let read = std::thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).map(|_| text)
        });
        assert_eq!(lines.finish().unwrap(), 0);
        let text = read.join().unwrap().unwrap();
        let (kept, said): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('y'));
        let lost: Vec<u64> = said
            .iter()
            .map(|line| {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                assert_eq!(line["event"], "lines-lost");
                line["lines"].as_u64().unwrap()
            })
            .collect();
        assert!(kept.len() < 100 && !lost.is_empty());
        assert_eq!(kept.len() as u64 + lost.iter().sum::<u64>(), 100);
    }

    #[test]
    fn a_reader_who_takes_nothing_holds_nobody_up_at_the_end() {
        let (reader, writer) = io::pipe().unwrap();
        let mut lines = LineWriter::with_room(writer, small(1 << 20)).unwrap();
        lines.push(&[b'z'; 500_000]).unwrap();
        let unread_bytes = lines.finish().unwrap();
        assert!(unread_bytes > 300_000, "{unread_bytes}");
        drop(reader);
    }

    #[test]
    fn a_reader_who_has_gone_is_told_once_and_ends_nothing() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut lines = LineWriter::new(writer).unwrap();
        lines.push(b"one\n").unwrap();
        let error = lines.finish().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        lines.push(b"two\n").unwrap();
    }
}
