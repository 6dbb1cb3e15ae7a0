//! The sentence on a scenario of programs: how much less time one takes than another, or that the run cannot decide.

use crate::figure::program::ProgramFigures;
use crate::figures::{Quantity, counted, figure, listed};
use crate::findings::{Comparison, Estimate, PairComparison, ProgramCaseFinding, Verdict};
use crate::sentence::{
    Answer, MOST_WITH_RATIOS, Rival, Table, among_pairs, beside_the_ranking, in_sentences, together, with_ratios,
};

/// The conclusion from the comparisons by wall time and by time above the start. `cases` are in the order of the table.
pub(crate) fn verdict_sentence(
    cases: &[ProgramCaseFinding],
    (walls, above): (&[Comparison], &[Comparison]),
    smallest_effect: f64,
    is_reference: impl Fn(&ProgramCaseFinding) -> bool,
) -> String {
    let (references, competing): (Vec<&ProgramCaseFinding>, Vec<&ProgramCaseFinding>) =
        cases.iter().partition(|case| case.ranked && is_reference(case));
    let table = Table::of(competing);
    let answer = table.answer(walls, smallest_effect, &alone, &|answer| answer.of_times(above));
    let floor = at_floor(&table.ranked, table.is_of_all());
    in_sentences([answer, floor, table.not_ranked(), beside_the_ranking(&references)])
}

fn alone(only: &ProgramCaseFinding) -> String {
    let line = |estimate: &Estimate| figure(Quantity::Seconds, estimate).line();
    let wall = only.shown_wall_s().map(line).unwrap_or_default();
    let above = only.above_floor_s.as_ref().filter(|_| !only.is_at_floor);
    let above = above.map(|above| format!(", {} of it above its start", line(above))).unwrap_or_default();
    format!("{} takes {wall}{above}; there is nothing to compare it with", only.short)
}

impl Answer<'_, ProgramFigures> {
    fn of_times(&self, above: &[Comparison]) -> String {
        let ahead = |(case, against): &Rival<ProgramFigures>| {
            let (title, first, ratio) = (&case.short, &self.first.short, ratio(against));
            format!("within rounds {title} takes less time than {first}, whose median is lower ({ratio})")
        };
        let ahead: Vec<String> = self.with(Verdict::Slower).iter().map(ahead).collect();
        let unclear = with_ratios(&self.with(Verdict::CannotTell), ratio);
        let others = [self.behind(above), self.equivalent(ratio), self.tied(ratio), self.unclear(unclear)];
        self.in_a_sentence(ahead.into_iter().chain(others.into_iter().flatten()))
    }

    /// Cases that take more time than the first, each with the ratio that is below 1.
    fn behind(&self, above: &[Comparison]) -> Option<String> {
        let behind = self.with(Verdict::Faster);
        let words = |(case, wall): &Rival<ProgramFigures>| {
            let value = figure(Quantity::Ratio, &wall.ratio).value;
            let above = above.iter().find(|pair| pair.a == self.first.subject && pair.b == case.subject);
            let without = above.map(|above| format!("; {}", without_start(above, wall))).unwrap_or_default();
            format!("{value} the time of {} ({}{without})", case.short, interval(wall))
        };
        let shown = if behind.len() > MOST_WITH_RATIOS { 1 } else { behind.len() };
        let listed = listed(&behind.iter().take(shown).map(words).collect::<Vec<_>>(), "and");
        let rest = behind.len() - shown;
        let next = if rest == 0 { String::new() } else { format!(", the next; {rest} more take more time than it") };
        (!behind.is_empty()).then(|| format!("{} takes {listed}{next}", self.first.short))
    }
}

/// The difference that remains without the start.
fn without_start(above: &PairComparison, wall: &PairComparison) -> String {
    let words = figure(Quantity::Ratio, &above.ratio).line();
    match above.verdict {
        verdict if verdict == wall.verdict => format!("without the start {words}"),
        Verdict::Equivalent => format!("without the start they are equivalent: {words}"),
        Verdict::NoDifferenceFound => format!("without the start no difference found: {words}"),
        Verdict::CannotTell => format!("without the start no clear difference: {words}"),
        Verdict::Faster | Verdict::Slower => format!("without the start the order reverses: {words}"),
    }
}

/// A ratio of two times that are mostly start-up compares only the start-ups.
fn at_floor(ranked: &[&ProgramCaseFinding], is_of_all: bool) -> String {
    let names: Vec<String> = ranked.iter().filter(|case| case.is_at_floor).map(|case| case.short.clone()).collect();
    if names.is_empty() {
        return String::new();
    }
    let its = if names.len() == 1 { "its" } else { "their" };
    let names = if names.len() == ranked.len() { together(&names, is_of_all) } else { listed(&names, "and") };
    format!("The work of {names} cannot be separated from {its} start.")
}

fn ratio(pair: &PairComparison) -> String {
    let value = figure(Quantity::Ratio, &pair.ratio).value;
    match pair.ratio.low {
        Some(_) => format!("{value} the time, {}{}", interval(pair), among_pairs(pair)),
        None => interval(pair),
    }
}

fn interval(pair: &PairComparison) -> String {
    match figure(Quantity::Ratio, &pair.ratio).interval {
        Some(interval) => {
            let blocks = counted(u64::from(pair.blocks), "round");
            format!("{interval}, less in {} of {blocks}", pair.blocks_won)
        }
        None => counted(u64::from(pair.blocks), "common round"),
    }
}
