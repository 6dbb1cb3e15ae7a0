//! Words and marks shared by charts, tables and captions.

use tolok_analysis::figures::{NONE, Quantity, amount, figure};
use tolok_analysis::{CaseFinding, Estimate, Findings, FlagKind, ScenarioFinding, Verdict, without_brackets};

/// Precedes a goodput that the generator limited.
pub(crate) const LOWER_BOUND: &str = "≥";

/// The mark of a verdict and its meaning.
pub(crate) const MARKS: [(&str, Verdict); 3] =
    [("=", Verdict::Equivalent), ("≈", Verdict::NoDifferenceFound), ("?", Verdict::CannotTell)];

/// The title of a scenario, with its environment if the study has several, and its tool if that is not tolok's own.
pub(crate) fn heading(scenario: &ScenarioFinding) -> String {
    let place = Some(scenario.environment.id.as_str()).filter(|id| !id.is_empty());
    let tool = (!scenario.is_own_tool).then(|| format!("by {}", without_brackets(&scenario.tool)));
    let parts = [Some(scenario.title.as_str()), place, tool.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Whether the generator, not the subject, limited the case's goodput.
pub(crate) fn is_lower_bound(case: &CaseFinding) -> bool {
    case.flags.iter().any(|flag| flag.kind == FlagKind::GeneratorBound)
}

/// The goodput as a share of the machine's limit: `59%`, or `≤38%` if the limit is only a lower bound. `None` if it cannot be told.
pub(crate) fn of_limit(case: &CaseFinding, scenario: &ScenarioFinding) -> Option<String> {
    let share = amount(Quantity::Share, case.of_ceiling.as_ref()?.value);
    match (is_lower_bound(case), scenario.ceiling.as_ref().is_some_and(is_lower_bound)) {
        (true, true) => None,
        (true, false) => Some(format!("{LOWER_BOUND}{share}")),
        (false, true) => Some(format!("≤{share}")),
        (false, false) => Some(share),
    }
}

/// Replaces a missing goodput: a bound, or why every trial failed. It is never 0.
pub(crate) fn no_figure(case: &CaseFinding) -> String {
    if let Some(below_rps) = case.goodput_below_rps {
        return format!("<{}", amount(Quantity::Number, below_rps));
    }
    why_unmeasured(case).to_owned()
}

/// Why every trial failed, if there is a single word for it; a dash otherwise.
pub(crate) fn why_unmeasured<F>(case: &CaseFinding<F>) -> &str {
    case.only_failure().filter(|_| case.trials_measured == 0).unwrap_or(NONE)
}

/// A share. Anything below a thousandth is shown as `<0.1%`.
pub(crate) fn share_words(share: &Estimate) -> String {
    if share.value < 0.001 { "<0.1%".to_owned() } else { figure(Quantity::Share, share).line() }
}

/// The meaning of a whisker or a bracket.
pub(crate) fn interval_words(findings: &Findings) -> &'static str {
    match findings.run.blocks {
        0..=4 => "no interval: it takes 5 trials.",
        5 => "intervals of geometric means: 95%, Student’s t; of medians: the range of the 5 trials (93.75%).",
        _ => "intervals: 95%; geometric means: Student’s t; medians: order statistics; fewer than 5 trials: none.",
    }
}
