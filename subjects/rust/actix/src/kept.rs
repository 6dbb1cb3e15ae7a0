//! A cache of rows in this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

use crate::tables::Stock;

const MOST: usize = 512;

/// An entry is added before its row is read. So a change always invalidates it, however long the read takes.
#[derive(Default)]
pub struct Kept(Mutex<HashMap<i32, Entry>>);

/// A row, or `None` if it does not exist. The first request reads it, and the others wait.
type Entry = Arc<OnceCell<Option<Stock>>>;

impl Kept {
    pub fn entry(&self, id: i32) -> Entry {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !entries.contains_key(&id) && entries.len() >= MOST {
            let any = entries.keys().next().copied();
            any.and_then(|other| entries.remove(&other));
        }
        Arc::clone(entries.entry(id).or_default())
    }

    /// Removes a row when the returned guard is dropped.
    pub fn forget_later(&self, id: i32) -> Forget<'_> {
        Forget { kept: self, id }
    }
}

pub struct Forget<'a> {
    kept: &'a Kept,
    id: i32,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.kept.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}
