//! The wish to stop: once means after this trial, twice means now.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The wish to stop, shared between whoever hears it and the run.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicUsize>);

impl Stop {
    /// Asks to stop; asking a second time means now.
    pub fn ask(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether no further trial should be begun.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }

    /// Whether the trial at hand should be dropped.
    pub fn is_immediate(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 1
    }
}

#[cfg(test)]
mod tests {
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
        assert!(!heard.is_asked(), "another wish is another wish");
    }
}
