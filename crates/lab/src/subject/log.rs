//! The end of a log, for people.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// No more than this is read: a server that logs every request writes gigabytes.
const READ_BYTES: u64 = 64 << 10;
/// Longer lines are cut.
const LINE_CHARACTERS: usize = 400;

/// The last lines of a log, blank ones left out and long ones cut; none where it cannot be read.
pub fn log_tail(log: &Path, lines: usize) -> Vec<String> {
    let end = read_end(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&end);
    let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    all[all.len().saturating_sub(lines)..].iter().map(|line| line.chars().take(LINE_CHARACTERS).collect()).collect()
}

fn read_end(log: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(log)?;
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(READ_BYTES)))?;
    let mut end = Vec::new();
    file.take(READ_BYTES).read_to_end(&mut end)?;
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(content: &[u8], lines: usize) -> Vec<String> {
        let log = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(log.path(), content).unwrap();
        log_tail(log.path(), lines)
    }

    #[test]
    fn the_last_lines_that_say_something() {
        assert_eq!(tail(b"one\n\ntwo\n  \nthree\n\n", 2), ["two", "three"]);
        assert_eq!(tail(b"only\n", 5), ["only"]);
        assert_eq!(tail(b"bad \xFF byte", 1), ["bad \u{FFFD} byte"]);
        assert_eq!(log_tail(Path::new("/nonexistent"), 3), [""; 0]);
    }

    #[test]
    fn neither_long_lines_nor_long_logs_are_a_burden() {
        assert_eq!(tail(&[b'x'; 1000], 1), ["x".repeat(400)]);
        let long = [vec![b'.'; 10 << 20], b"\nthe end\n".to_vec()].concat();
        assert_eq!(tail(&long, 1), ["the end"]);
    }
}
