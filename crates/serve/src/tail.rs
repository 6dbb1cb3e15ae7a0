//! Reads the events of a run while they are being written: complete lines, each with its number.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use tolok_store::{EVENTS, Folder};

/// Bytes read at a time.
const CHUNK_BYTES: u64 = 256 << 10;
/// A longer line is not an event.
const LINE_BYTES_MAX: usize = 1 << 20;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: u64,
    /// Its text, without the line break.
    pub text: String,
}

/// A position in a growing file.
#[derive(Debug)]
pub struct Tail {
    run: Folder,
    /// Where the next read begins.
    offset: u64,
    /// The beginning of an incomplete line.
    rest: Vec<u8>,
    /// Whether the current line is too long and is being skipped.
    is_overlong: bool,
    /// The number of the last complete line.
    number: u64,
    /// Lines up to this one are skipped, because the client has them.
    known: u64,
}

impl Tail {
    /// Reads the events of a run after a line; 0 for all.
    pub fn after(run: &Path, known: u64) -> Self {
        let (offset, rest, number) = Default::default();
        Self { run: Folder::at(run), offset, rest, is_overlong: false, number, known }
    }

    /// The next complete lines, at most about a chunk of them. Empty if there is nothing new or no file yet.
    ///
    /// Lines that are not JSON are counted but skipped, because a killed tolok may leave half a line.
    pub fn next(&mut self) -> io::Result<VecDeque<Line>> {
        let mut file = match self.run.open(EVENTS) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(VecDeque::new()),
            opened => opened?,
        };
        let mut lines = VecDeque::new();
        // A chunk may end within the first new line; then the next chunk must be read at once.
        while lines.is_empty() {
            let mut chunk = Vec::new();
            file.seek(SeekFrom::Start(self.offset))?;
            file.by_ref().take(CHUNK_BYTES).read_to_end(&mut chunk)?;
            if chunk.is_empty() {
                break;
            }
            self.offset += chunk.len() as u64;
            self.split(&chunk, &mut lines);
        }
        Ok(lines)
    }

    fn split(&mut self, chunk: &[u8], lines: &mut VecDeque<Line>) {
        let mut parts = chunk.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            self.is_overlong |= self.rest.len() + part.len() > LINE_BYTES_MAX;
            if self.is_overlong {
                self.rest.clear();
            } else {
                self.rest.extend_from_slice(part);
            }
            if parts.peek().is_none() {
                break;
            }
            self.number += 1;
            let text = String::from_utf8(std::mem::take(&mut self.rest)).unwrap_or_default();
            let is_event = !self.is_overlong && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            self.is_overlong = false;
            if is_event && self.number > self.known {
                lines.push_back(Line { number: self.number, text: text.trim().to_owned() });
            }
        }
    }
}

/// The last complete line of a run's events, or `None`. Reads only the end of the file.
pub fn last_line(run: &Path) -> Option<String> {
    let mut file = Folder::at(run).open(EVENTS).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(CHUNK_BYTES))).ok()?;
    let mut end = Vec::new();
    file.take(CHUNK_BYTES).read_to_end(&mut end).ok()?;
    let whole = &end[..end.iter().rposition(|byte| *byte == b'\n')?];
    let from = whole.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    String::from_utf8(whole[from..].to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;

    use tempfile::TempDir;

    use super::*;

    /// The folder of a run whose events are written in pieces.
    struct Growing(TempDir);

    impl Growing {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn write(&self, text: &str) {
            let path = self.0.path().join(EVENTS);
            let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }

        fn tail(&self, known: u64) -> Tail {
            Tail::after(self.0.path(), known)
        }
    }

    fn read(tail: &mut Tail) -> Vec<(u64, String)> {
        tail.next().unwrap().into_iter().map(|line| (line.number, line.text)).collect()
    }

    fn line(number: u64, text: &str) -> (u64, String) {
        (number, text.to_owned())
    }

    #[test]
    fn what_is_there_comes_first_and_then_what_is_new() {
        let run = Growing::new();
        let mut tail = run.tail(0);
        assert_eq!(read(&mut tail), []);
        run.write("{\"t_s\":0}\n{\"t_s\":1}\n");
        assert_eq!(read(&mut tail), [line(1, "{\"t_s\":0}"), line(2, "{\"t_s\":1}")]);
        assert_eq!(read(&mut tail), []);
        run.write("{\"t_s\":2}\n");
        assert_eq!(read(&mut tail), [line(3, "{\"t_s\":2}")]);
    }

    #[test]
    fn a_line_is_handed_out_once_it_is_whole() {
        let run = Growing::new();
        let mut tail = run.tail(0);
        run.write("{\"t_s\":0}\n{\"t_");
        assert_eq!(read(&mut tail), [line(1, "{\"t_s\":0}")]);
        run.write("s\":");
        assert_eq!(read(&mut tail), []);
        run.write("1}\n");
        assert_eq!(read(&mut tail), [line(2, "{\"t_s\":1}")]);
    }

    #[test]
    fn a_reader_that_has_lines_gets_the_next_ones_with_their_numbers() {
        let run = Growing::new();
        run.write("1\n2\n3\n");
        assert_eq!(read(&mut run.tail(2)), [line(3, "3")]);
        let mut ahead = run.tail(7);
        assert_eq!(read(&mut ahead), []);
    }

    #[test]
    fn half_a_line_of_a_killed_run_is_counted_and_left_out() {
        let run = Growing::new();
        run.write("{\"t_s\":0}\n{\"t_s\":1, \"ev{\"t_s\":0}\n{\"t_s\":2}\n");
        assert_eq!(read(&mut run.tail(0)), [line(1, "{\"t_s\":0}"), line(3, "{\"t_s\":2}")]);
    }

    #[test]
    fn the_last_line_is_the_last_that_is_whole() {
        let run = Growing::new();
        assert_eq!(last_line(run.0.path()), None);
        run.write("{\"t_s\":0}");
        assert_eq!(last_line(run.0.path()), None);
        run.write("\n");
        assert_eq!(last_line(run.0.path()).as_deref(), Some("{\"t_s\":0}"));
        run.write("{\"t_s\":1}\n{\"t_");
        assert_eq!(last_line(run.0.path()).as_deref(), Some("{\"t_s\":1}"));
    }

    #[test]
    fn a_file_of_many_chunks_is_read_to_its_end() {
        let run = Growing::new();
        let long = "x".repeat(LINE_BYTES_MAX);
        run.write(&format!("\"{long}\"\n"));
        run.write(&(2..=60_000).map(|number| format!("{number}\n")).collect::<String>());
        let mut tail = run.tail(0);
        let mut numbers = Vec::new();
        loop {
            let lines = read(&mut tail);
            if lines.is_empty() {
                break;
            }
            numbers.extend(lines.iter().map(|(number, _)| *number));
        }
        assert_eq!(numbers, (2..=60_000).collect::<Vec<u64>>());
        fs::remove_file(run.0.path().join(EVENTS)).unwrap();
        assert_eq!(read(&mut tail), []);
    }
}
