//! Scripts of statements, for data too large for single statements.

use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::error::DatabaseError;
use super::pipes::{LOOK, PatientWriter};
use crate::subject::log_tail;
use tolok_host::isolate::{Placement, place, wait_within};

/// What writes the statements.
pub type Script<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// A server that accepts nothing for this long is stuck; a slow disk may need much of it for one statement.
const PATIENCE: Duration = Duration::from_secs(300);

/// Feeds the script to the client program, which must stop at an error.
pub(super) fn load(
    mut command: Command,
    script: Script<'_>,
    is_wanted: &dyn Fn() -> bool,
) -> Result<(), DatabaseError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |how: String, tail: Vec<String>| DatabaseError::Command { command: name.clone(), how, tail };
    let broken = |source: io::Error| failed(format!("cannot be run: {source}"), Vec::new());
    let log = tempfile::NamedTempFile::new().map_err(broken)?;
    command.stdout(Stdio::null()).stderr(log.reopen().map_err(broken)?);
    place(&mut command, &Placement { dies_with_parent: true, ..Placement::default() }).map_err(broken)?;
    let mut child = command.spawn().map_err(broken)?;
    let pipe = child.stdin.take();
    let mut writer = pipe.map(|pipe| io::BufWriter::new(PatientWriter { pipe, patience: PATIENCE, is_wanted }));
    let written = writer.as_mut().map_or(Ok(()), |writer| script(writer).and_then(|()| writer.flush()));
    let is_cut = written.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::BrokenPipe);
    if is_cut {
        // Otherwise the client would run the half of a statement that it has received. (If the client ended first, that has its own
        // reason.)
        let _ = child.kill();
    }
    // Discards what a failed script left in the buffer. After a successful one, it is empty.
    drop(writer.map(io::BufWriter::into_parts));
    let deadline = Instant::now() + PATIENCE;
    loop {
        match wait_within(&mut child, LOOK).map_err(broken)? {
            Some(status) if status.success() && !is_cut => return Ok(()),
            Some(_) if !is_wanted() => return Err(DatabaseError::Stopped),
            Some(_) if is_cut => {
                let why = written.err().map(|error| error.to_string()).unwrap_or_default();
                return Err(failed(format!("did not get all data: {why}"), Vec::new()));
            }
            Some(status) => {
                return Err(failed(format!("did not load the data ({status})"), log_tail(log.path(), 5)));
            }
            None if is_wanted() && Instant::now() < deadline => {}
            None => {
                let _ = child.kill();
                let _ = child.wait();
                let hung = failed(format!("did not end within {PATIENCE:?}"), log_tail(log.path(), 5));
                return Err(if is_wanted() { hung } else { DatabaseError::Stopped });
            }
        }
    }
}
