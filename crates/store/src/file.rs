//! Files that are there whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tolok_model::RECORD_FORMAT;

use super::error::StoreError;

/// Whether a file must be there even if the machine stops the moment after. That costs a wait for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// It can be made again from others.
    Whole,
    /// It cannot.
    WholeAndOnDisk,
}

/// Writes a file under another name and renames it, so that no one ever sees half of it.
pub(super) fn write(path: &Path, content: &[u8], durability: Durability) -> Result<(), StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Two writers of the same file must not share this one; each has its own process.
    let unfinished = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = write_and_rename(&unfinished, path, content, durability);
    if written.is_err() {
        // It may never have been made.
        let _ = fs::remove_file(&unfinished);
    }
    written.map_err(|source| StoreError::Write { path: path.to_owned(), source })
}

fn write_and_rename(unfinished: &Path, path: &Path, content: &[u8], durability: Durability) -> io::Result<()> {
    let mut file = File::create(unfinished)?;
    file.write_all(content)?;
    if durability == Durability::WholeAndOnDisk {
        file.sync_all()?;
    }
    fs::rename(unfinished, path)?;
    if durability == Durability::WholeAndOnDisk {
        // The new name is a change of the folder, which has to reach the disk as well.
        sync(path.parent().unwrap_or(Path::new(".")))?;
    }
    Ok(())
}

/// Waits until a file or folder is on the disk.
pub(super) fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// A value as a JSON text for people too, with a line end.
pub(super) fn pretty<T: Serialize>(path: &Path, value: &T) -> Result<Vec<u8>, StoreError> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|error| not_json(path, &error))?;
    text.push(b'\n');
    Ok(text)
}

/// One JSON line for each row.
pub(super) fn lines<T: Serialize>(path: &Path, rows: &[T]) -> Result<Vec<u8>, StoreError> {
    let mut text = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut text, row).map_err(|error| not_json(path, &error))?;
        text.push(b'\n');
    }
    Ok(text)
}

fn not_json(path: &Path, error: &serde_json::Error) -> StoreError {
    StoreError::Content { path: path.to_owned(), what: "JSON value", reason: error.to_string() }
}

/// Reads a value with a format version; `what` it should be is for the error.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path, what: &'static str) -> Result<T, StoreError> {
    let text = fs::read_to_string(path).map_err(|source| StoreError::Read { path: path.to_owned(), source })?;
    let wrong = |reason: String| StoreError::Content { path: path.to_owned(), what, reason };
    let versioned: Versioned = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    match versioned.format.as_u64() {
        Some(format) if format == u64::from(RECORD_FORMAT) => {}
        Some(format) => {
            let advice = "read it with the version that wrote it";
            return Err(wrong(format!("its format is {format}, and {RECORD_FORMAT} is known; {advice}")));
        }
        None => return Err(wrong("it has no `format`".to_owned())),
    }
    serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))
}

/// What every stored record begins with.
#[derive(Deserialize)]
struct Versioned {
    #[serde(default)]
    format: serde_json::Value,
}
