//! One run: starts it, waits for it, and compares its output with what is expected.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::time::Duration;

use super::child::{Child, Ended, Streams};
use super::job::{Fault, Task, TimerJob};
use super::prepared::Prepared;

/// The most bytes of an output to show.
const SHOWN_BYTES: usize = 200;

/// Runs `task` once. An error is the timer's own; a fault is the run's.
pub(super) fn run_once(job: &TimerJob, log: &File, task: &Task) -> io::Result<Result<Ended, Fault>> {
    // An unnamed file: it never makes the program wait for a reader, and can be read after the program's end at no
    // cost. It is in the trial's folder, which has limited capacity.
    let mut output = tempfile::tempfile_in(&job.cwd)?;
    let streams = Streams { input: File::open("/dev/null")?, output: output.try_clone()?, error: log.try_clone()? };
    let ended = match Prepared::new(job, task).and_then(|prepared| Child::start(prepared, &streams)) {
        Ok(child) => child.wait(Duration::from_secs_f64(job.timeout_s))?,
        Err(error) => Err(error),
    };
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => return Ok(Err(Fault::NotStarted { reason: error.to_string() })),
    };
    Ok(match fault_of(&ended) {
        Some(fault) => Err(fault),
        None => compare(&mut output, &task.output)?.map_or(Ok(ended), Err),
    })
}

fn fault_of(ended: &Ended) -> Option<Fault> {
    use std::os::unix::process::ExitStatusExt;
    match (ended.timed_out, ended.status.code(), ended.status.signal()) {
        (true, ..) => Some(Fault::Hung),
        (false, Some(0), _) => None,
        (false, Some(code), _) => Some(Fault::Exited { code }),
        (false, None, signal) => Some(Fault::Killed { signal: signal.unwrap_or_default() }),
    }
}

/// Compares byte for byte, and reads no more than necessary.
fn compare(output: &mut File, owed: &str) -> io::Result<Option<Fault>> {
    output.rewind()?;
    let mut came = Vec::new();
    output.take((owed.len().max(SHOWN_BYTES) + 1) as u64).read_to_end(&mut came)?;
    if came == owed.as_bytes() {
        return Ok(None);
    }
    let (came, owed) = apart(&came, owed.as_bytes());
    Ok(Some(Fault::WrongOutput { came: shown(came), owed: shown(owed) }))
}

/// Skips most of a long common beginning, so that the difference is visible.
fn apart<'a>(came: &'a [u8], owed: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let same = came.iter().zip(owed).take_while(|(one, other)| one == other).count();
    let skipped = if same < SHOWN_BYTES / 2 { 0 } else { same - SHOWN_BYTES / 4 };
    (&came[skipped..], &owed[skipped..])
}

/// As a literal, so that an extra newline is visible.
fn shown(bytes: &[u8]) -> String {
    let cut = if bytes.len() > SHOWN_BYTES { "…" } else { "" };
    format!("{:?}{cut}", String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_BYTES)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(came: &str, owed: &str) -> Option<(String, String)> {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, came.as_bytes()).unwrap();
        match compare(&mut file, owed).unwrap()? {
            Fault::WrongOutput { came, owed } => Some((came, owed)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_output_is_compared_to_the_last_byte() {
        assert_eq!(compared("500500\n", "500500\n"), None);
        assert_eq!(compared("", ""), None);
        let check = |came: &str, owed: &str| {
            assert_eq!(compared(came, owed), Some((format!("{came:?}"), format!("{owed:?}"))));
        };
        check("500500", "500500\n");
        check("500500\n\n", "500500\n");
        check("", "500500\n");
        check("warming up\n", "");
    }

    #[test]
    fn a_long_output_is_shown_where_it_differs() {
        let owed = "ab".repeat(5_000) + "end\n";
        assert_eq!(compared(&owed, &owed), None);
        let (came, owed) = compared(&("ab".repeat(5_000) + "END\n"), &owed).unwrap();
        assert!(came.ends_with("abEND\\n\"") && came.len() < 100, "{came}");
        assert!(owed.ends_with("abend\\n\""), "{owed}");
        let (came, _) = compared(&"x".repeat(9_999), "0\n").unwrap();
        assert!(came.ends_with("x\"…") && came.len() < 300, "{came}");
    }
}
