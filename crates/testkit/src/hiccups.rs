//! Measures how late a sleeping thread wakes on this machine: the tolerance that a test of times needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long the witness sleeps each time.
const NAP: Duration = Duration::from_millis(1);

/// A thread that repeatedly sleeps a millisecond and notes the greatest delay.
pub struct Hiccups {
    stop: Arc<AtomicBool>,
    witness: JoinHandle<Duration>,
}

impl Hiccups {
    pub fn start() -> Hiccups {
        let stop = Arc::new(AtomicBool::new(false));
        let witness = thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                let mut longest = Duration::ZERO;
                while !stop.load(Ordering::Relaxed) {
                    let before = Instant::now();
                    thread::sleep(NAP);
                    longest = longest.max(before.elapsed().saturating_sub(NAP));
                }
                longest
            }
        });
        Hiccups { stop, witness }
    }

    pub fn longest(self) -> Duration {
        self.stop.store(true, Ordering::Relaxed);
        self.witness.join().expect("the witness only sleeps")
    }
}
