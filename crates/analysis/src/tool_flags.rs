//! Flags of tools: if the wire contradicts a tool, and if a check is impossible because the tool does not report something. See
//! the table in `flag.rs`.

use tolok_model::{Connection, Link, LoadProfile, LoadTool, Measurement, Scenario};

use crate::figures::{count, counted as number_of, listed};
use crate::flag::{Flag, FlagKind};
use crate::observations::Observations;

/// A tool's count may differ from the wire count by this share, or by one response per connection.
pub const WIRE_TOLERATED: f64 = 0.01;

pub(crate) fn tool_flags(observations: &Observations, scenario: &Scenario, link: &Link) -> [Option<Flag>; 2] {
    [wire_contradicts(observations, scenario, tolerated(link)), tells_little(observations, scenario)]
}

/// The share by which the two counts may differ. If acknowledgements are lost, a response may cross the wire twice.
pub(crate) fn tolerated(link: &Link) -> f64 {
    WIRE_TOLERATED + link.loss
}

/// Correct responses that the tool counted in the window. tolok's own tool keeps responses to warm-up requests separate, but they
/// cross the wire as well, so its goodput is used.
pub(crate) fn counted(trial: &Measurement) -> u64 {
    let is_own = trial.tool.as_ref().is_none_or(|tool| tool.name == LoadTool::Tolok.word());
    if is_own { (trial.goodput_rps * trial.window_s).round() as u64 } else { trial.ledger.good }
}

/// A tool with its versions, and its script if it has one.
pub(crate) fn named(name: &str, versions: &[String], script: Option<&str>) -> String {
    let version = listed(versions, "or");
    let script = script.map(|file| format!("with {file}")).unwrap_or_default();
    let parts = [name.to_owned(), version, script];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// How much the tool's count and the wire count differ beyond the tolerance, or `None` if they agree. A response that the tool
/// calls bad may have crossed the wire as a good one, so failures may explain missing responses.
pub(crate) fn contradiction(trial: &Measurement, load: &LoadProfile, tolerated: f64) -> Option<u64> {
    let (wire, counted) = (trial.wire?.answers_2xx, counted(trial));
    let connections = load.connections_max().map(u64::from).or(trial.ledger.connections).unwrap_or_default();
    // If a tool's window is the life of its process, it stops counting slightly before its connections close.
    let longer = (trial.wire?.window_s / trial.window_s - 1.0).max(0.0);
    let share = |tolerated: f64| ((wire as f64 * tolerated) as u64).max(connections);
    let too_many = Some(counted.saturating_sub(wire)).filter(|off| *off > share(tolerated));
    let too_few = Some(wire.saturating_sub(counted + trial.ledger.failed_total()));
    too_many.or(too_few.filter(|off| *off > share(tolerated + longer)))
}

fn wire_contradicts(observations: &Observations, scenario: &Scenario, tolerated: f64) -> Option<Flag> {
    let off = |trial: &Measurement| contradiction(trial, &scenario.load, tolerated);
    let trials = number_of(observations.scored.len() as u64, "trial");
    let found: Vec<(u64, &Measurement)> =
        observations.trials().filter_map(|trial| Some((off(trial)?, trial))).collect();
    let (_, worst) = found.iter().max_by_key(|(off, _)| *off)?;
    let message = format!(
        "in {} of {trials} the wire contradicts the tool; in the worst it counted {}, and {} crossed the wire",
        found.len(),
        number_of(counted(worst), "correct response"),
        count(worst.wire.map(|wire| wire.answers_2xx).unwrap_or_default()),
    );
    FlagKind::WireContradicts.raised(message)
}

/// The checks of tolok's own tool that are impossible for this one.
fn tells_little(observations: &Observations, scenario: &Scenario) -> Option<Flag> {
    if scenario.tool.name == LoadTool::Tolok || observations.scored.is_empty() {
        return None;
    }
    let lacks = |what: &dyn Fn(&Measurement) -> bool| observations.trials().any(what);
    let is_open = scenario.load.executor.is_open();
    let has_waiting = !is_open && scenario.load.connection == Connection::KeepAlive;
    let gates = [
        (lacks(&|trial| trial.ledger.unaccounted().is_none()), "whether every request is accounted for"),
        (is_open && lacks(&|trial| trial.offered_rps.is_none()), "what rate it offered"),
        (is_open, "whether requests left on time"),
        (
            has_waiting && lacks(&|trial| trial.ledger.connections_unanswered.is_none()),
            "whether connections waited in vain",
        ),
    ];
    let unchecked: Vec<String> =
        gates.into_iter().filter(|(is_lacking, _)| *is_lacking).map(|(_, gate)| gate.to_owned()).collect();
    let message =
        format!("not checked, because {} does not report: {}", scenario.tool.name.word(), listed(&unchecked, "and"));
    if unchecked.is_empty() { None } else { FlagKind::ToolTellsLittle.raised(message) }
}
