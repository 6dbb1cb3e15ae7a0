//! Files that are written whole or not at all.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tolok_model::RECORD_FORMAT;

use super::error::StoreError;
use super::folder::{Durability, Folder};

/// Writes a file whole or not at all.
pub(super) fn write(folder: &Folder, name: &str, content: &[u8], durability: Durability) -> Result<(), StoreError> {
    let failed = |source| StoreError::Write { path: folder.path().join(name), source };
    folder.replace(name, content, durability).map_err(failed)
}

/// A value as readable JSON with a final newline.
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

/// Reads a value with a format version. `what` describes it in errors.
pub(super) fn read_json<T: DeserializeOwned>(folder: &Folder, name: &str, what: &'static str) -> Result<T, StoreError> {
    let path = || folder.path().join(name);
    let wrong = |reason: String| StoreError::Content { path: path(), what, reason };
    let text = folder.read(name).map_err(|source| StoreError::Read { path: path(), source })?;
    let text = String::from_utf8(text).map_err(|error| wrong(error.to_string()))?;
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

/// The first field of every stored record.
#[derive(Deserialize)]
struct Versioned {
    #[serde(default)]
    format: serde_json::Value,
}
