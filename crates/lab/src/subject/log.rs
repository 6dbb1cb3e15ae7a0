//! The telling part of a log: its end, preceded by the line that names the error.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use tolok_store::Folder;

/// The most that is read, because a server that logs every request writes gigabytes.
const READ_BYTES: u64 = 64 << 10;
/// Longer lines are cut.
const LINE_CHARACTERS: usize = 400;

/// Marks omitted lines between the line that names the error and the end of the log.
const LEFT_OUT: &str = "…";

/// Lower-case fragments of lines that name an error: those of Node.js, Python, Ruby, Java, Go, PHP and nginx.
const NAMES_AN_ERROR: [&str; 7] = ["error:", "error [", "error)", "[error]", "exception", "panic:", "fatal"];

/// The last lines of a log without blank ones, and with long ones cut; empty if it cannot be read. A stack trace may fill them, so
/// the first line that names an error precedes them.
pub fn log_tail(log: &Path, lines: usize) -> Vec<String> {
    last_lines(&File::open(log).and_then(read_end).unwrap_or_default(), lines)
}

/// The most telling line of a log's end: the first that names an error, else the last.
pub fn telling_line(tail: &[String]) -> Option<&str> {
    // Node.js prints its version last, whatever the error was.
    let last = || tail.iter().rev().find(|line| !line.starts_with("Node.js v"));
    tail.iter().find(|line| names_an_error(line)).or_else(last).map(String::as_str)
}

/// The same for a log in a trial's folder.
pub fn log_tail_in(folder: &Folder, log: &str, lines: usize) -> Vec<String> {
    last_lines(&folder.open(log).and_then(read_end).unwrap_or_default(), lines)
}

fn last_lines(end: &[u8], lines: usize) -> Vec<String> {
    let text = String::from_utf8_lossy(end);
    let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &all[all.len().saturating_sub(lines)..];
    let shown = match all.iter().position(|line| names_an_error(line)) {
        Some(place) if lines > 2 && place < all.len() - last.len() => [&[all[place], LEFT_OUT], &last[2..]].concat(),
        _ => last.to_vec(),
    };
    shown.into_iter().map(|line| line.chars().take(LINE_CHARACTERS).collect()).collect()
}

fn names_an_error(line: &str) -> bool {
    let line = line.to_lowercase();
    NAMES_AN_ERROR.iter().any(|words| line.contains(words))
}

fn read_end(mut file: File) -> io::Result<Vec<u8>> {
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
    fn one_line_says_most() {
        let tail = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        assert_eq!(telling_line(&tail(&["throw err;", "Error: no module", "  at load"])), Some("Error: no module"));
        assert_eq!(telling_line(&tail(&["one", "two"])), Some("two"));
        assert_eq!(telling_line(&tail(&["Uncaught 'no'", "Node.js v20.20.2"])), Some("Uncaught 'no'"));
        assert_eq!(
            telling_line(&tail(&["AssertionError [ERR_ASSERTION]: no", "}"])),
            Some("AssertionError [ERR_ASSERTION]: no")
        );
        assert_eq!(telling_line(&[]), None);
    }

    #[test]
    fn a_stack_trace_does_not_hide_the_error() {
        let trace = "node:internal/modules/cjs/loader:1228\n  throw err;\n\nError: Cannot find module 'fastify'\n";
        let log = format!("{trace}{}", "    at Module._load\n".repeat(9));
        let end = "    at Module._load";
        assert_eq!(tail(log.as_bytes(), 4), ["Error: Cannot find module 'fastify'", "…", end, end]);
        assert_eq!(tail(b"one\nValueError: no\ntwo", 2), ["ValueError: no", "two"], "it is there already");
        for line in ["in `require': cannot load such file -- puma (LoadError)", "panic: no", "Exception in thread main"]
        {
            assert!(names_an_error(line), "{line}");
        }
        assert!(!names_an_error("listening, errors go to error.log"));
    }

    #[test]
    fn neither_long_lines_nor_long_logs_are_a_burden() {
        assert_eq!(tail(&[b'x'; 1000], 1), ["x".repeat(400)]);
        let long = [vec![b'.'; 10 << 20], b"\nthe end\n".to_vec()].concat();
        assert_eq!(tail(&long, 1), ["the end"]);
    }
}
