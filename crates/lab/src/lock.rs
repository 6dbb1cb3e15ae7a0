//! Lock files that one process at a time can hold, for example to make a template or a build.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// How often to check whether the lock is free and still wanted, because no system call waits for both.
const LOOK: Duration = Duration::from_millis(100);

/// Waits for the exclusive right to a file, which it creates. `None` once `is_wanted` returns false. Closing the returned file
/// releases the lock. No child inherits the file, because Rust opens files close-on-exec.
pub(crate) fn lock(path: &Path, is_wanted: &dyn Fn() -> bool) -> io::Result<Option<File>> {
    let file = File::create(path)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if !is_wanted() => return Ok(None),
            Err(TryLockError::WouldBlock) => thread::sleep(LOOK),
        }
    }
}
