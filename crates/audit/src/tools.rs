//! The defaults of load generators that affect the meaning of figures.
//!
//! Tested against servers that never answer, answer late, or answer with 500: wrk 4.1.0 and ab 2.3 of Debian 12, hey,
//! h2load of nghttp2 1.52.0, oha 1.16.0, k6 1.8.1. Known only from manuals and sources: wrk2, autocannon, bombardier,
//! vegeta. All count answers with an error status in their rates and times. They differ in how they treat a request
//! that they give up: see the table below.

use tolok_model::transcription::{Conditions, LoopModel};

struct Tool {
    /// Its names in sources, in lower case. Reports use the first.
    names: &'static [&'static str],
    /// Seconds after which it gives up a request; `None` if it waits forever.
    timeout_s: Option<f64>,
    /// Whether it always waits for an answer before the next request.
    is_closed: bool,
    /// Whether its figures begin with its first request, so that none was in flight before.
    begins_empty: bool,
    /// How it treats a request that it gave up.
    given_up: GivenUp,
}

/// How a tool treats a request that it gives up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GivenUp {
    /// It records the time as about the time-out.
    Kept,
    /// The request is in no percentile, mean or maximum. wrk keeps waiting, and counts a time-out when the answer
    /// arrives. A request that is never answered is in none of wrk's figures.
    LeftOut,
    /// The run ends and prints no figures.
    EndsRun,
}

const TOOLS: &[Tool] = &[
    // It discards ten seconds of calibration.
    Tool { names: &["wrk2"], timeout_s: Some(2.0), is_closed: false, begins_empty: false, given_up: GivenUp::Kept },
    Tool { names: &["wrk"], timeout_s: Some(2.0), is_closed: true, begins_empty: true, given_up: GivenUp::LeftOut },
    Tool { names: &["k6"], timeout_s: Some(60.0), is_closed: false, begins_empty: true, given_up: GivenUp::Kept },
    Tool {
        names: &["ab", "apachebench"],
        timeout_s: Some(30.0),
        is_closed: true,
        begins_empty: true,
        given_up: GivenUp::EndsRun,
    },
    Tool { names: &["hey"], timeout_s: Some(20.0), is_closed: true, begins_empty: true, given_up: GivenUp::LeftOut },
    // With several streams, each connection waits for several answers at a time. It can warm up before it counts.
    Tool { names: &["h2load"], timeout_s: None, is_closed: false, begins_empty: false, given_up: GivenUp::LeftOut },
    Tool {
        names: &["autocannon"],
        timeout_s: Some(10.0),
        is_closed: true,
        begins_empty: true,
        given_up: GivenUp::LeftOut,
    },
    Tool { names: &["oha"], timeout_s: None, is_closed: true, begins_empty: true, given_up: GivenUp::LeftOut },
    Tool { names: &["bombardier"], timeout_s: Some(2.0), is_closed: true, begins_empty: true, given_up: GivenUp::Kept },
    Tool { names: &["vegeta"], timeout_s: Some(30.0), is_closed: false, begins_empty: true, given_up: GivenUp::Kept },
];

/// The tool that a source names: `wrk`, `Grafana k6`, `wrk 4.1.0`.
fn known(conditions: &Conditions) -> Option<&'static Tool> {
    let said = conditions.tool.as_ref()?.to_lowercase();
    let mut words = said.split(|letter: char| !letter.is_alphanumeric());
    words.find_map(|word| TOOLS.iter().find(|tool| tool.names.contains(&word)))
}

fn is(conditions: &Conditions, name: &str) -> bool {
    known(conditions).is_some_and(|tool| tool.names[0] == name)
}

/// Whether the tool is wrk itself, not wrk2.
pub(crate) fn is_wrk(conditions: &Conditions) -> bool {
    is(conditions, "wrk")
}

/// Whether the tool is ab, which uses one thread and counts an answer of another length as failed.
pub(crate) fn is_ab(conditions: &Conditions) -> bool {
    is(conditions, "ab")
}

/// How long the tool waits at the end for requests in flight, in seconds: k6's `gracefulStop`.
pub(crate) fn grace_s(conditions: &Conditions) -> f64 {
    if is(conditions, "k6") { 30.0 } else { 0.0 }
}

/// The longest that a run of this stated length can last, in seconds, from its warm-up until the tool has stopped. `tolerance`
/// is a share of the length.
pub(crate) fn longest_run_s(conditions: &Conditions, duration_s: f64, tolerance: f64) -> f64 {
    /// Time that a tool needs to stop.
    const STOP_S: f64 = 0.5;
    (duration_s + conditions.warmup_s.unwrap_or(0.0)) * (1.0 + tolerance) + STOP_S + grace_s(conditions)
}

/// The tool's name for sentences.
pub(crate) fn name(conditions: &Conditions) -> &str {
    known(conditions).map(|tool| tool.names[0]).or(conditions.tool.as_deref()).unwrap_or("the tool")
}

/// Whether the tool's rates count all answers, including failed ones. All known tools do.
pub(crate) fn counts_failed_answers(conditions: &Conditions) -> bool {
    known(conditions).is_some()
}

/// Whether no figure includes the times of requests that were given up. wrk before 4.0 counted time-outs and recorded
/// their times.
pub(crate) fn leaves_out_given_up(conditions: &Conditions) -> bool {
    let is_old = is_wrk(conditions) && major_version(conditions).is_some_and(|version| version < 4);
    known(conditions).is_some_and(|tool| tool.given_up == GivenUp::LeftOut) && !is_old
}

/// Whether nothing was in flight before the first counted request. A warm-up of the same run may precede it.
pub(crate) fn begins_empty(conditions: &Conditions) -> bool {
    let warms_up = conditions.warmup_s.is_some_and(|seconds| seconds > 0.0);
    known(conditions).is_some_and(|tool| tool.begins_empty) && !warms_up
}

/// The major version: 4 for `wrk 4.1.0`.
fn major_version(conditions: &Conditions) -> Option<u32> {
    let said = conditions.tool.as_ref()?.to_lowercase();
    let words: Vec<&str> = said.split(|letter: char| !letter.is_alphanumeric()).collect();
    let place = words.iter().position(|word| TOOLS.iter().any(|tool| tool.names.contains(word)))?;
    words.get(place + 1)?.parse().ok()
}

/// Whether giving up a request ends the run, so that no printed time can have been cut.
pub(crate) fn ends_when_one_is_given_up(conditions: &Conditions) -> bool {
    known(conditions).is_some_and(|tool| tool.given_up == GivenUp::EndsRun)
}

/// Requests in flight on a connection at a time: as stated, or 1 for a tool that sends the next request after an answer
/// and cannot pipeline. wrk scripts, k6 batches, autocannon and h2load can have several.
pub(crate) fn streams(conditions: &Conditions) -> Option<u64> {
    let is_single = || ["ab", "hey", "bombardier"].iter().any(|name| is(conditions, name));
    conditions.streams.or_else(|| is_single().then_some(1))
}

/// The time-out in seconds, and whether the source states it. Otherwise it is the tool's default.
pub(crate) fn timeout_s(conditions: &Conditions) -> Option<(f64, bool)> {
    let default = || known(conditions).and_then(|tool| tool.timeout_s).map(|seconds| (seconds, false));
    conditions.timeout_s.map(|seconds| (seconds, true)).or_else(default)
}

/// Whether the time-out, or its absence, is known.
pub(crate) fn timeout_is_known(conditions: &Conditions) -> bool {
    conditions.timeout_s.is_some() || known(conditions).is_some()
}

/// Whether requests wait for answers, or `None` if neither the source nor the tool says.
pub(crate) fn is_closed(conditions: &Conditions) -> Option<bool> {
    let stated = conditions.loop_model.map(|model| model == LoopModel::Closed);
    stated.or_else(|| known(conditions).and_then(|tool| tool.is_closed.then_some(true)))
}

/// Whether users may have paused without the source saying so, because the tool's scripts can pause.
pub(crate) fn may_pause(conditions: &Conditions) -> bool {
    conditions.think_time_s.is_none() && !known(conditions).is_some_and(|tool| tool.is_closed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_by_a_whole_word_of_what_the_source_calls_it() {
        let of = |tool: &str| Conditions { tool: Some(tool.to_owned()), ..Conditions::default() };
        assert_eq!(timeout_s(&of("Grafana k6")), Some((60.0, false)));
        assert_eq!(timeout_s(&of("wrk 4.1.0")), Some((2.0, false)));
        assert!(!is_wrk(&of("wrk2")) && is_ab(&of("ApacheBench 2.3")));
        assert_eq!(timeout_s(&of("a lab of our own")), None);
        assert_eq!((timeout_s(&of("h2load")), timeout_is_known(&of("h2load"))), (None, true));
        assert_eq!(is_closed(&of("ab")), Some(true));
        assert_eq!(is_closed(&of("k6")), None);
        assert!(may_pause(&of("k6")) && !may_pause(&of("ab")));
        assert!(leaves_out_given_up(&of("wrk")) && leaves_out_given_up(&of("wrk 4.1.0")));
        assert!(!leaves_out_given_up(&of("wrk 3.1.2")), "their times were recorded");
        assert!(begins_empty(&of("wrk")) && !begins_empty(&of("wrk2")) && !begins_empty(&of("a lab of our own")));
        assert!(!begins_empty(&Conditions { warmup_s: Some(5.0), ..of("k6") }));
    }
}
