//! The sentence that answers a scenario of programs: by how much one takes less time than another, or that this cannot be told.

use tolok_model::sentences::capital_unless;

use crate::estimate::least_trials;
use crate::figures::{Quantity, counted, figure, listed};
use crate::findings::{Estimate, ProgramCaseFinding, ProgramComparison, TimeComparison, Verdict};
use crate::sentence::{among_pairs, equivalent_to, together, with_reasons};

/// Of so many others the ratios are given; of more, only that of the next, and the rest stand in the table.
const MOST_WITH_RATIOS: usize = 3;

/// What the comparisons say. `cases` are in their order in the table.
pub(crate) fn verdict_sentence(
    cases: &[ProgramCaseFinding],
    comparisons: &[ProgramComparison],
    smallest_effect: f64,
) -> String {
    let (ranked, unranked): (Vec<&ProgramCaseFinding>, Vec<&ProgramCaseFinding>) =
        cases.iter().partition(|case| case.ranked);
    let answer = match ranked.as_slice() {
        [] => "Nothing can be ranked here".to_owned(),
        [only] => alone(only),
        [first, others @ ..] => against(first, others, comparisons, (smallest_effect, unranked.is_empty())),
    };
    let is_all = unranked.is_empty();
    let parts = [format!("{answer}."), at_floor(&ranked, is_all), not_ranked(&unranked, ranked.is_empty())];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn alone(only: &ProgramCaseFinding) -> String {
    let line = |estimate: &Estimate| figure(Quantity::Seconds, estimate).line();
    let wall = only.wall_s.as_ref().map(line).unwrap_or_default();
    let above = only.above_floor_s.as_ref().filter(|_| !only.is_at_floor);
    let above = above.map(|above| format!(", {} of it above its start", line(above))).unwrap_or_default();
    format!("{} takes {wall}{above}; there is nothing to compare it with", only.title)
}

fn against(
    first: &ProgramCaseFinding,
    others: &[&ProgramCaseFinding],
    comparisons: &[ProgramComparison],
    (smallest_effect, is_of_all): (f64, bool),
) -> String {
    let found: Vec<(&ProgramCaseFinding, &ProgramComparison)> =
        others.iter().filter_map(|case| Some((*case, find(comparisons, first, case)?))).collect();
    let apart: Vec<String> = others
        .iter()
        .filter(|case| find(comparisons, first, case).is_none())
        .map(|case| format!("{} (no common block)", case.title))
        .collect();
    if let Some(sentence) = too_few_blocks(first, &found, comparisons, is_of_all).filter(|_| apart.is_empty()) {
        return sentence;
    }
    let of = |verdict| found.iter().filter(|(_, it)| it.wall.verdict == verdict).copied().collect::<Vec<_>>();
    let mut unclear = with_ratios(&of(Verdict::CannotTell));
    unclear.extend(apart);
    let equivalent = with_ratios(&of(Verdict::Equivalent));
    let tied = with_ratios(&of(Verdict::NoDifferenceFound));
    let ahead: Vec<String> = of(Verdict::Slower)
        .iter()
        .map(|(case, against)| {
            format!(
                "within blocks {} takes less time than {}, whose median is lower ({})",
                case.title,
                first.title,
                ratio(&against.wall)
            )
        })
        .collect();
    let any_of = if tied.len() > 1 { "any of " } else { "" };
    let mut parts = ahead;
    parts.extend(behind(first, &of(Verdict::Faster)));
    parts.extend(equivalent_to(&first.title, &equivalent, smallest_effect));
    parts.extend(
        (!tied.is_empty())
            .then(|| format!("no difference found between {} and {any_of}{}", first.title, listed(&tied, "or"))),
    );
    parts.extend((!unclear.is_empty()).then(|| format!("cannot tell {} from {}", first.title, listed(&unclear, "or"))));
    capital_unless(
        &parts.join("; "),
        std::iter::once(first).chain(others.iter().copied()).map(|case| case.title.as_str()),
    )
}

/// Those that take more time than the first, each with the ratio the way round in which it is below 1.
fn behind(first: &ProgramCaseFinding, behind: &[(&ProgramCaseFinding, &ProgramComparison)]) -> Option<String> {
    let words = |(case, against): &(&ProgramCaseFinding, &ProgramComparison)| {
        let value = figure(Quantity::Ratio, &against.wall.ratio).value;
        let without = above(against).map(|text| format!("; {text}")).unwrap_or_default();
        format!("{value} the time of {} ({}{without})", case.title, interval(&against.wall))
    };
    let shown = if behind.len() > MOST_WITH_RATIOS { 1 } else { behind.len() };
    let listed = listed(&behind.iter().take(shown).map(words).collect::<Vec<_>>(), "and");
    let rest = behind.len() - shown;
    let next = if rest == 0 { String::new() } else { format!(", the next; {rest} more take more time than it") };
    (!behind.is_empty()).then(|| format!("{} takes {listed}{next}", first.title))
}

/// What is left of the difference without the start; nothing where that time has no comparison.
fn above(against: &ProgramComparison) -> Option<String> {
    let above = against.above_floor.as_ref()?;
    let words = figure(Quantity::Ratio, &above.ratio).line();
    Some(match above.verdict {
        verdict if verdict == against.wall.verdict => format!("without the start {words}"),
        Verdict::Equivalent => format!("without the start they are equivalent: {words}"),
        Verdict::NoDifferenceFound => format!("without the start no difference found: {words}"),
        Verdict::CannotTell => format!("without the start it cannot be told: {words}"),
        Verdict::Faster | Verdict::Slower => format!("without the start it is the other way round: {words}"),
    })
}

fn too_few_blocks(
    first: &ProgramCaseFinding,
    found: &[(&ProgramCaseFinding, &ProgramComparison)],
    comparisons: &[ProgramComparison],
    is_of_all: bool,
) -> Option<String> {
    let least = least_trials();
    if found.is_empty() || comparisons.iter().any(|comparison| comparison.wall.blocks >= least) {
        return None;
    }
    let blocks = found.iter().map(|(_, against)| against.wall.blocks).max()?;
    let mut titles = vec![first.title.clone()];
    titles.extend(found.iter().map(|(case, _)| case.title.clone()));
    let blocks = counted(u64::from(blocks), "common block");
    let titles = together(&titles, is_of_all);
    Some(format!("Cannot tell {titles} apart: {blocks}, and {least} are the least for an interval"))
}

/// A ratio of two times that are mostly start is one of two starts.
fn at_floor(ranked: &[&ProgramCaseFinding], is_of_all: bool) -> String {
    let names: Vec<String> = ranked.iter().filter(|case| case.is_at_floor).map(|case| case.title.clone()).collect();
    if names.is_empty() {
        return String::new();
    }
    let its = if names.len() == 1 { "its" } else { "their" };
    let names = if names.len() == ranked.len() { together(&names, is_of_all) } else { listed(&names, "and") };
    format!("The work of {names} cannot be told from {its} start.")
}

fn not_ranked(unranked: &[&ProgramCaseFinding], is_all: bool) -> String {
    let reason = |case: &ProgramCaseFinding| {
        let voiding = case.flags.iter().filter(|flag| flag.voids_rank);
        let kinds: Vec<&str> = voiding.map(|flag| flag.kind.word()).collect();
        if kinds.is_empty() { "not measured".to_owned() } else { kinds.join(", ") }
    };
    let named: Vec<(String, String)> = unranked.iter().map(|case| (case.title.clone(), reason(case))).collect();
    with_reasons(&named, is_all)
}

fn find<'a>(
    comparisons: &'a [ProgramComparison],
    a: &ProgramCaseFinding,
    b: &ProgramCaseFinding,
) -> Option<&'a ProgramComparison> {
    comparisons.iter().find(|comparison| comparison.a == a.subject && comparison.b == b.subject)
}

fn with_ratios(found: &[(&ProgramCaseFinding, &ProgramComparison)]) -> Vec<String> {
    found.iter().map(|(case, against)| format!("{} ({})", case.title, ratio(&against.wall))).collect()
}

fn ratio(comparison: &TimeComparison) -> String {
    let value = figure(Quantity::Ratio, &comparison.ratio).value;
    let among = among_pairs(&comparison.ratio, comparison.p_adjusted, comparison.verdict);
    match comparison.ratio.low {
        Some(_) => format!("{value} the time, {}{among}", interval(comparison)),
        None => interval(comparison),
    }
}

fn interval(comparison: &TimeComparison) -> String {
    match figure(Quantity::Ratio, &comparison.ratio).interval {
        Some(interval) => {
            let blocks = counted(u64::from(comparison.blocks), "block");
            format!("{interval}, less in {} of {blocks}", comparison.blocks_won)
        }
        None => counted(u64::from(comparison.blocks), "common block"),
    }
}
