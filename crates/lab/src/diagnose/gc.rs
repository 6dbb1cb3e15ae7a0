//! Garbage collections, from what a runtime writes about them into the subject's log.
//!
//! A *pause* is the time in which the program stood still; what a collector does beside the program is CPU time and no
//! pause.
//!
//! Go (`GODEBUG=gctrace=1`, documented in `runtime/extern.go` of Go):
//!
//! ```text
//! gc 13 @0.010s 5%: 0.053+0.24+0.001 ms clock, 0.10+0.027/0.022/0.029+0.002 ms cpu, 18->24->23 MB, …
//! ```
//!
//! `@` is the time since the program started, and the `clock` phases are the stop that ends sweeping, the marking beside
//! the program, and the stop that ends marking. Each collection has two stops, and its pause is the sum of the two.
//!
//! V8 (`--trace-gc`, printed by `GCTracer::Output` in `src/heap/gc-tracer.cc` of V8):
//!
//! ```text
//! [13041:0x2189cc00]        9 ms: Scavenge 3.9 (4.0) -> 3.7 (5.0) MB, 0.37 / 0.00 ms  (average mu = 1.000, …
//! ```
//!
//! In brackets stand the process and its heap (isolate), then the time since that heap was made. Of the two durations the
//! first is the stop, and the second the part of it that the embedder's callbacks took. The steps of incremental marking
//! that a Mark-Compact sums up behind it (`+ 0.4 ms in 16 steps since start of marking`) are short stops of their own,
//! spread over an unknown time, and are not counted.

use std::ops::Range;

use tolok_model::{GarbageCollection, GcLog};

/// A collection that the log tells of.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Told {
    /// Since the start of its program, or of its heap.
    since_start_s: f64,
    pause_s: f64,
}

/// The collections in a window, which is given in seconds since the start of the subject's process.
///
/// Several processes write into one log, and their lines interleave; their collections are summed, and each line has its
/// own process's time. A process that the subject starts later counts from its own start, so its window lies later by as
/// much. That shift is some tenths of a second (workers are started at once), against a window of many.
pub fn collections(log: &str, format: GcLog, since_start_window: Range<f64>) -> GarbageCollection {
    let read = match format {
        GcLog::Go => read_go,
        GcLog::V8 => read_v8,
    };
    let told = log.lines().filter_map(read).filter(|told| since_start_window.contains(&told.since_start_s));
    told.fold(GarbageCollection::default(), |sum, told| GarbageCollection {
        collections: sum.collections + 1,
        pause_s_total: sum.pause_s_total + told.pause_s,
        pause_s_max: sum.pause_s_max.max(told.pause_s),
    })
}

/// Reads `gc 13 @0.010s 5%: 0.053+0.24+0.001 ms clock, …`, or `None` for any other line.
fn read_go(line: &str) -> Option<Told> {
    let (number, rest) = line.strip_prefix("gc ")?.split_once(" @")?;
    number.parse::<u64>().ok()?;
    let (since_start_s, rest) = rest.split_once("s ")?;
    // What follows the share of CPU time is a remark of some versions: "5% (checking for goroutine leaks): ".
    let (_, phases) = rest.split_once(": ")?;
    // Versions before 1.8 told of five phases, whose stops were others.
    let mut phases_ms = phases.split_once(" ms clock")?.0.split('+').map(number_of);
    let (first, _marking, last) = (phases_ms.next()??, phases_ms.next()??, phases_ms.next()??);
    let is_whole = phases_ms.next().is_none();
    is_whole.then_some(Told { since_start_s: number_of(since_start_s)?, pause_s: (first + last) / 1e3 })
}

/// Reads `[pid:heap] 9 ms: Scavenge … MB, 0.37 / 0.00 ms …`, or `None` for any other line.
fn read_v8(line: &str) -> Option<Told> {
    let (owner, rest) = line.strip_prefix('[')?.split_once(']')?;
    owner.split_once(':')?.0.parse::<u32>().ok()?;
    let (since_start_ms, rest) = rest.split_once(" ms: ")?;
    let (_, durations) = rest.split_once("MB, ")?;
    let (pause_ms, of_callbacks_ms) = durations.split_once(" ms")?.0.split_once(" / ")?;
    number_of(of_callbacks_ms)?;
    Some(Told { since_start_s: number_of(since_start_ms)? / 1e3, pause_s: number_of(pause_ms)? / 1e3 })
}

/// A number as the traces write them: digits and perhaps a point.
fn number_of(text: &str) -> Option<f64> {
    let text = text.trim();
    text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.').then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests;
