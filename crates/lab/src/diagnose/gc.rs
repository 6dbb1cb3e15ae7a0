//! Garbage collections, parsed from a runtime's trace in the subject's log.
//!
//! A *pause* is the time in which the program stood still. A collector's concurrent work is CPU time, not a
//! pause.
//!
//! Go (`GODEBUG=gctrace=1`, documented in `runtime/extern.go` of Go):
//!
//! ```text
//! gc 13 @0.010s 5%: 0.053+0.24+0.001 ms clock, 0.10+0.027/0.022/0.029+0.002 ms cpu, 18->24->23 MB, …
//! ```
//!
//! `@` is the time since the program started. The `clock` phases are the stop that ends sweeping, concurrent
//! marking, and the stop that ends marking. The pause of a collection is the sum of its two stops.
//!
//! V8 (`--trace-gc`, printed by `GCTracer::Output` in `src/heap/gc-tracer.cc` of V8):
//!
//! ```text
//! [13041:0x2189cc00]        9 ms: Scavenge 3.9 (4.0) -> 3.7 (5.0) MB, 0.37 / 0.00 ms  (average mu = 1.000, …
//! ```
//!
//! The brackets hold the process and its heap (isolate), followed by the time since that heap was created. The
//! first duration is the stop, and the second the part of it spent in the embedder's callbacks. A Mark-Compact line ends with the
//! sum of its incremental marking steps (`+ 0.4 ms in 16 steps since start of marking`). These are short stops of their own,
//! spread over an unknown time, and are not counted.

use std::ops::Range;

use tolok_model::{GarbageCollection, GcLog};

/// A collection in the log.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Told {
    /// Since the start of its program, or the creation of its heap.
    since_start_s: f64,
    pause_s: f64,
}

/// The collections in a window, which is given in seconds since the start of the subject's process.
///
/// Several processes write into one log, and their lines interleave. Their collections are summed, and each line has the
/// time of its own process. A process that the subject starts later counts from its own start, so its window is later by as
/// much. That shift is some tenths of a second (workers are started at once), small against a window of many seconds.
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
    // Some versions insert a remark after the share of CPU time: "5% (checking for goroutine leaks): ".
    let (_, phases) = rest.split_once(": ")?;
    // Versions before 1.8 have five phases with different stops.
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

/// A number in trace notation: digits and at most a decimal point.
fn number_of(text: &str) -> Option<f64> {
    let text = text.trim();
    text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.').then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests;
