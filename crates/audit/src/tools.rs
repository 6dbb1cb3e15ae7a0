//! What load generators do unless they are told otherwise, as far as it changes what their figures mean.
//!
//! From their manuals and sources: wrk 4.2 (`--timeout`, src/stats.c: a time at or above the time-out is counted, not recorded),
//! k6 1.x (`http.request` timeout 60 s; failed requests are in `http_reqs` and `http_req_duration`), ApacheBench 2.4 (`-s`),
//! hey (`-t`), autocannon (`-t`), bombardier (`-t`), vegeta (`-timeout`).

use tolok_model::transcription::{Conditions, LoopModel};

/// Name, seconds after which it gives an answer up, whether it is a closed loop by nature.
const TOOLS: &[(&str, f64, bool)] = &[
    ("wrk2", 2.0, false),
    ("wrk", 2.0, true),
    ("k6", 60.0, false),
    ("ab", 30.0, true),
    ("hey", 20.0, true),
    ("autocannon", 10.0, true),
    ("bombardier", 2.0, true),
    ("vegeta", 30.0, false),
];

/// A tool by the word that a source has for it: `wrk`, `Grafana k6`, `wrk 4.1.0`.
fn known(conditions: &Conditions) -> Option<&'static (&'static str, f64, bool)> {
    let said = conditions.tool.as_ref()?.to_lowercase();
    let mut words = said.split(|letter: char| !letter.is_alphanumeric());
    words.find_map(|word| TOOLS.iter().find(|(name, ..)| *name == word))
}

/// Whether the tool is wrk itself.
pub(crate) fn is_wrk(conditions: &Conditions) -> bool {
    known(conditions).is_some_and(|(name, ..)| *name == "wrk")
}

/// The tool's name for sentences.
pub(crate) fn name(conditions: &Conditions) -> &str {
    known(conditions).map(|(name, ..)| *name).or(conditions.tool.as_deref()).unwrap_or("the tool")
}

/// Whether the tool's times and rates are those of all answers that came, failed ones included. All known ones do that.
pub(crate) fn counts_failed_answers(conditions: &Conditions) -> bool {
    known(conditions).is_some()
}

/// After how long an answer was given up, and whether the source says so (else it is the tool's default).
pub(crate) fn timeout_s(conditions: &Conditions) -> Option<(f64, bool)> {
    let default = || known(conditions).map(|(_, seconds, _)| (*seconds, false));
    conditions.timeout_s.map(|seconds| (seconds, true)).or_else(default)
}

/// Whether requests wait for answers; nothing where neither the source nor the tool says.
pub(crate) fn is_closed(conditions: &Conditions) -> Option<bool> {
    let stated = conditions.loop_model.map(|model| model == LoopModel::Closed);
    stated.or_else(|| known(conditions).and_then(|(_, _, closed)| closed.then_some(true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_by_a_whole_word_of_what_the_source_calls_it() {
        let of = |tool: &str| Conditions { tool: Some(tool.to_owned()), ..Conditions::default() };
        assert_eq!(timeout_s(&of("Grafana k6")), Some((60.0, false)));
        assert_eq!(timeout_s(&of("wrk 4.1.0")), Some((2.0, false)));
        assert!(!is_wrk(&of("wrk2")));
        assert_eq!(timeout_s(&of("a lab of our own")), None);
        assert_eq!(is_closed(&of("ab")), Some(true));
        assert_eq!(is_closed(&of("k6")), None);
    }
}
