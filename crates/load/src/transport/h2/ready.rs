//! Lists the streams and connections that have work.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

/// The numbers of woken tasks in order, possibly with duplicates. Wakers must be `Send`, hence the lock; here it is never contended.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadyList(Arc<Mutex<Vec<u32>>>);

struct Numbered {
    number: u32,
    list: ReadyList,
}

impl Wake for Numbered {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.list.push(self.number);
    }
}

impl ReadyList {
    /// A waker that adds this number to the list.
    pub fn waker(&self, number: u32) -> Waker {
        Waker::from(Arc::new(Numbered { number, list: self.clone() }))
    }

    /// Adds a number to the list.
    pub fn push(&self, number: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(number);
    }

    /// Moves the numbers of the list to `taken`.
    pub fn take(&self, taken: &mut Vec<u32>) {
        taken.append(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn woken_tasks_are_on_the_list_until_it_is_taken() {
        let list = ReadyList::default();
        list.waker(9).wake_by_ref();
        list.waker(7).wake();
        let mut taken = Vec::new();
        list.take(&mut taken);
        assert_eq!(taken, [9, 7]);
        taken.clear();
        list.take(&mut taken);
        assert!(taken.is_empty());
    }
}
