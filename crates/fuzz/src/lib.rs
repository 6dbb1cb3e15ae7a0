//! Every reader of external input, as a target for a fuzzer. `script/fuzz TARGET` runs one under libFuzzer, and the
//! tests run each briefly.
//!
//! A target accepts any bytes. It must not panic, must terminate, and must keep the reader's promises: a problem points
//! into its text, and what was read and written is read the same again.

#[cfg(feature = "files")]
mod addresses;
#[cfg(feature = "files")]
mod records;
#[cfg(feature = "files")]
mod texts;
#[cfg(feature = "files")]
mod tools;

/// A reader.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    /// Folders or files of the checkout with good inputs, in addition to those of `corpus/`.
    pub seeds: &'static [&'static str],
    /// The most bytes of an input.
    pub longest: usize,
}

const fn target_of(name: &'static str, run: fn(&[u8]), seeds: &'static [&'static str], longest: usize) -> Target {
    Target { name, run, seeds, longest }
}

/// Readers of the load engine.
const ANSWERS: [Target; 2] = [
    target_of("answer", tolok_load::fuzzing::answer, &[], 2_048),
    target_of("frames", tolok_load::fuzzing::frames, &[], 2_048),
];

/// Readers of files, addresses and outputs.
#[cfg(feature = "files")]
const FILES: [Target; 25] = [
    target_of("study", texts::study, &["studies"], 4_096),
    target_of("subject", texts::subject, &["subjects"], 4_096),
    target_of("workload", texts::workload, &["workloads"], 2_048),
    target_of("transcription", texts::transcription, &["published"], 4_096),
    target_of("csv", texts::csv, &[], 2_048),
    target_of("outputs", texts::outputs, &["crates/transcribe/tests/recorded", "crates/tools/src/recorded"], 4_096),
    target_of("replication", texts::replication, &[], 2_048),
    target_of("dsn", addresses::dsn, &[], 256),
    target_of("url", addresses::url, &[], 256),
    target_of("curl", addresses::curl, &[], 512),
    target_of("run", records::run, &[], 8_192),
    target_of("plan", records::plan, &[], 8_192),
    target_of("trial", records::trial, &[], 8_192),
    target_of("manifest", records::manifest, &[], 4_096),
    target_of("events", records::events, &[], 2_048),
    target_of("samples", records::samples, &[], 2_048),
    target_of("histogram", records::histogram, &[], 2_048),
    target_of("k6", tools::k6, &["crates/tools/src/k6/recorded"], 8_192),
    target_of("wrk", tools::wrk, &["crates/tools/src/recorded/wrk"], 4_096),
    target_of("ab", tools::ab, &["crates/tools/src/recorded/ab"], 4_096),
    target_of("h2load", tools::h2load, &["crates/tools/src/recorded/h2load"], 4_096),
    target_of("hey", tools::hey, &["crates/tools/src/recorded/hey"], 4_096),
    target_of("oha", tools::oha, &["crates/tools/src/recorded/oha"], 8_192),
    target_of("engine", tools::tolok, &["crates/store/src/verify/engine_record.json"], 8_192),
    target_of("timers", tools::timers, &["crates/tools/src/timer/recorded"], 4_096),
];

#[cfg(not(feature = "files"))]
const FILES: [Target; 0] = [];

/// All of them.
pub fn targets() -> impl Iterator<Item = Target> {
    ANSWERS.into_iter().chain(FILES)
}

/// The input as text, if it is UTF-8. Readers of text get no other input.
#[cfg(feature = "files")]
fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}
