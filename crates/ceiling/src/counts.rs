//! What the server has answered, for a benchmark of load generators: they are judged by the server's count and not by
//! their own.
//!
//! Each thread counts for itself on a cache line of its own, and somebody else adds up when asked; so counting costs a
//! thread two moves an answer.

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
    /// Answers handed to the kernel to the last byte, refusals included.
    pub fn answered(&self, answers: u64) {
        add(&self.answers, answers);
    }

    /// How many were so far.
    pub fn answers(&self) -> u64 {
        self.answers.load(Relaxed)
    }

    /// A request that is no request for a workload's answer.
    pub fn refused(&self) {
        add(&self.refusals, 1);
    }

    /// A connection was accepted.
    pub fn connected(&self) {
        add(&self.connections, 1);
    }
}

/// With a single writer no locked instruction is needed.
fn add(count: &AtomicU64, more: u64) {
    count.store(count.load(Relaxed) + more, Relaxed);
}

/// Answers each line of `questions` with the counts of all threads so far, one JSON line each, until there are no more.
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
