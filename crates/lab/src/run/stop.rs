//! A request to stop: once means after this trial, twice means now.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Stop requests, shared between the signal thread and the run.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Wish>);

#[derive(Default)]
struct Wish {
    asked: AtomicUsize,
    listeners: Mutex<Vec<Listener>>,
}

/// Returns false when it no longer wants to be called.
type Listener = Box<dyn Fn() -> bool + Send>;

impl Stop {
    /// Requests a stop. A second request means now.
    pub fn ask(&self) {
        let mut listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        listeners.retain(|listener| listener());
    }

    /// Whether no further trial should be begun.
    pub fn is_asked(&self) -> bool {
        self.times() > 0
    }

    /// Whether to abandon the current trial.
    pub fn is_immediate(&self) -> bool {
        self.times() > 1
    }

    fn times(&self) -> usize {
        self.0.asked.load(Ordering::SeqCst)
    }

    /// Calls `listener` for each request from now on, until it returns false. Returns how many requests there were before.
    pub(super) fn on_ask(&self, listener: impl Fn() -> bool + Send + 'static) -> usize {
        let mut listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.push(Box::new(listener));
        self.times()
    }
}

impl fmt::Debug for Wish {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Wish").field("asked", &self.asked).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn once_means_after_this_trial_and_twice_means_now() {
        let (stop, heard) = (Stop::default(), Stop::default());
        let run = stop.clone();
        assert_eq!((run.is_asked(), run.is_immediate()), (false, false));
        stop.ask();
        assert_eq!((run.is_asked(), run.is_immediate()), (true, false));
        stop.ask();
        stop.ask();
        assert_eq!((run.is_asked(), run.is_immediate()), (true, true));
        assert!(!heard.is_asked(), "other stop requests are independent");
    }

    #[test]
    fn a_listener_hears_every_time_until_it_has_heard_enough() {
        let stop = Stop::default();
        let (sender, heard) = channel();
        stop.ask();
        assert_eq!(stop.on_ask(move || sender.send(()).is_ok()), 1);
        stop.ask();
        stop.ask();
        assert_eq!(heard.try_iter().count(), 2);
        drop(heard);
        stop.ask();
        assert!(stop.0.listeners.lock().unwrap().is_empty());
    }
}
