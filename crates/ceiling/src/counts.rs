//! Counts of the server's answers. A benchmark of load generators judges them by these counts instead of their own.
//!
//! Each thread counts on its own cache line, and another thread adds up on request. So counting costs a thread two moves per answer.

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One thread's counts. Only that thread writes them.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Counts {
    answers: AtomicU64,
    refusals: AtomicU64,
    connections: AtomicU64,
}

impl Counts {
    /// Adds answers whose last byte was handed to the kernel, including refusals.
    pub fn answered(&self, answers: u64) {
        add(&self.answers, answers);
    }

    /// Answers so far.
    pub fn answers(&self) -> u64 {
        self.answers.load(Relaxed)
    }

    /// Counts a request that has no workload's answer.
    pub fn refused(&self) {
        add(&self.refusals, 1);
    }

    /// Counts an accepted connection.
    pub fn connected(&self) {
        add(&self.connections, 1);
    }
}

/// With a single writer, no locked instruction is needed.
fn add(count: &AtomicU64, more: u64) {
    count.store(count.load(Relaxed) + more, Relaxed);
}

/// Answers each line of `questions` with the current counts of all threads, as one line of JSON, until the input ends.
pub fn tell(all: &[Arc<Counts>], questions: impl BufRead, mut answers: impl Write) {
    for question in questions.lines() {
        let told = question.and_then(|_| {
            let sum = |count: fn(&Counts) -> &AtomicU64| all.iter().map(|one| count(one).load(Relaxed)).sum::<u64>();
            let (answered, refused) = (sum(|one| &one.answers), sum(|one| &one.refusals));
            let connections = sum(|one| &one.connections);
            writeln!(answers, r#"{{"answers":{answered},"refusals":{refused},"connections":{connections}}}"#)?;
            answers.flush()
        });
        if told.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_all_threads_are_added_up_for_each_question() {
        let all = [Arc::new(Counts::default()), Arc::new(Counts::default())];
        all[0].connected();
        all[0].answered(3);
        all[1].answered(2);
        all[1].refused();
        let mut told = Vec::new();
        tell(&all, &b"\n\n"[..], &mut told);
        let line = "{\"answers\":5,\"refusals\":1,\"connections\":1}\n";
        assert_eq!(String::from_utf8(told).unwrap(), line.repeat(2));
    }
}
