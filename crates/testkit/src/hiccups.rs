//! How late a thread of this machine runs that only wants to sleep: what a test that measures time has to allow for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long the witness sleeps at a time.
const NAP: Duration = Duration::from_millis(1);

/// A thread that sleeps a millisecond at a time and notes how much longer it took.
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
