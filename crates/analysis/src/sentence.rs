//! The sentence that answers a scenario's question.
//!
//! It states *fastest*, *equivalent*, *no difference found* or *no clear difference*, and a pair's ratio and interval. It never
//! names a winner that the verdicts do not support. [`Answer`] has the parts common to servers and programs.

use tolok_model::Judge;
use tolok_model::sentences::capital_unless;

use crate::estimate::least_trials;
use crate::figure::server::ServerFigures;
use crate::figures::{Quantity, amount, counted, figure, listed};
use crate::findings::{CaseFinding, Comparison, PairComparison, TrialOutcome, Verdict};
use crate::flag::FlagKind;
use crate::verdict::FALSE_ALARMS;

/// From this many cases on, the sentence does not repeat all names.
const FEWEST_NOT_NAMED: usize = 4;
/// A sentence gives the ratios of at most this many other cases. With more, it gives only the next one's; the table has the rest.
pub(crate) const MOST_WITH_RATIOS: usize = 3;

/// If all servers keep up, their goodputs are the same by construction, which is not a tie.
const BY_THE_CLOCK: &str = "This compares correct responses per second, which cannot exceed the offered rate; servers that keep up differ in response time.";

/// The conclusion from the comparisons of a scenario, in a few sentences. `cases` are in the order of the table. References come
/// last, because they do less work than competitors.
pub(crate) fn verdict_sentence(
    cases: &[CaseFinding],
    comparisons: &[Comparison],
    smallest_effect: f64,
    (judge, is_open): (Judge, bool),
    is_reference: impl Fn(&CaseFinding) -> bool,
) -> String {
    let (references, competing): (Vec<&CaseFinding>, Vec<&CaseFinding>) =
        cases.iter().partition(|case| case.ranked && is_reference(case));
    let table = Table { judge, ..Table::of(competing) };
    let answer = table.answer(comparisons, smallest_effect, &alone, &Answer::sentence);
    let is_by_the_clock = is_open && judge == Judge::Goodput;
    let by_the_clock = if is_by_the_clock && table.ranked.len() > 1 { BY_THE_CLOCK } else { "" };
    in_sentences([answer, by_the_clock.to_owned(), table.not_ranked(), beside_the_ranking(&references)])
}

/// Joins the sentences that are not empty.
pub(crate) fn in_sentences(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// `nginx is a reference, not a competitor.`
pub(crate) fn beside_the_ranking<F>(references: &[&CaseFinding<F>]) -> String {
    let names: Vec<String> = references.iter().map(|case| case.short.clone()).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => format!("{only} is a reference, not a competitor."),
        _ => format!("{} are references, not competitors.", listed(&names, "and")),
    }
}

fn alone(only: &CaseFinding) -> String {
    let goodput = only.shown_goodput_rps().map(|goodput| figure(Quantity::Number, goodput).line());
    let goodput = goodput.unwrap_or_default();
    format!("{} serves {goodput} correct responses per second; there is nothing to compare it with", only.short)
}

/// The cases of a scenario, in their order.
pub(crate) struct Table<'a, F> {
    pub(crate) ranked: Vec<&'a CaseFinding<F>>,
    unranked: Vec<&'a CaseFinding<F>>,
    judge: Judge,
}

impl<'a, F> Table<'a, F> {
    pub(crate) fn of(cases: impl IntoIterator<Item = &'a CaseFinding<F>>) -> Self {
        let (ranked, unranked) = cases.into_iter().partition(|case| case.ranked);
        Self { ranked, unranked, judge: Judge::Goodput }
    }

    /// Whether every case is ranked.
    pub(crate) fn is_of_all(&self) -> bool {
        self.unranked.is_empty()
    }

    /// The sentence about the ranked cases.
    pub(crate) fn answer(
        &self,
        comparisons: &'a [Comparison],
        smallest_effect: f64,
        alone: &dyn Fn(&CaseFinding<F>) -> String,
        several: &dyn Fn(&Answer<'a, F>) -> String,
    ) -> String {
        let answer = match self.ranked.as_slice() {
            [] => "No result".to_owned(),
            [only] => alone(only),
            [first, others @ ..] => {
                let find = |case: &&'a CaseFinding<F>| (*case, find(comparisons, first, case));
                let is_of_all = self.is_of_all();
                let rivals = others.iter().map(find).collect();
                let answer = Answer { first, rivals, is_of_all, smallest_effect, comparisons, judge: self.judge };
                answer.too_few_rounds().unwrap_or_else(|| several(&answer))
            }
        };
        format!("{answer}.")
    }

    /// Names the cases that are left out of the ranking, each with its reason.
    pub(crate) fn not_ranked(&self) -> String {
        let reason = |case: &CaseFinding<F>| {
            let voiding = case.flags.iter().filter(|flag| flag.voids_rank);
            let kinds: Vec<&str> = voiding.map(|flag| spoken(flag.kind)).collect();
            if kinds.is_empty() { why_unmeasured(case).to_owned() } else { kinds.join(", ") }
        };
        let named: Vec<(String, String)> =
            self.unranked.iter().map(|case| (case.short.clone(), reason(case))).collect();
        with_reasons(&named, self.ranked.is_empty())
    }
}

/// The common outcome of all trials of a case, if there is one.
fn why_unmeasured<F>(case: &CaseFinding<F>) -> &str {
    let others = if case.failures.is_empty() { "not measured" } else { "every trial failed" };
    case.only_failure().unwrap_or(others)
}

/// The word for a flag in a sentence. Some flag words alone would read as adjectives.
fn spoken(kind: FlagKind) -> &'static str {
    match kind {
        FlagKind::Little => "Little’s law",
        FlagKind::Disturbed => "discarded: CPU busy",
        kind => kind.word(),
    }
}

/// `Not ranked: A (errors) and B (not measured).` If all cases of a table share one reason, only their number is given.
fn with_reasons(named: &[(String, String)], is_all: bool) -> String {
    let is_one_reason = named.windows(2).all(|pair| pair[0].1 == pair[1].1);
    match named {
        [] => String::new(),
        [(_, reason), ..] if is_all && is_one_reason && reason == spoken(FlagKind::Disturbed) => {
            let titles: Vec<String> = named.iter().map(|(title, _)| title.clone()).collect();
            format!("Other programs used the CPU during all measurements of {}.", together(&titles, true))
        }
        [(_, reason), ..] if is_all && is_one_reason && named.len() >= FEWEST_NOT_NAMED => {
            format!("Not ranked: all {} ({reason}).", named.len())
        }
        _ => {
            let names: Vec<String> = named.iter().map(|(title, reason)| format!("{title} ({reason})")).collect();
            format!("Not ranked: {}.", listed(&names, "and"))
        }
    }
}

/// `A, B and C`; `the 6` for all cases of a table, or all its ranked ones.
pub(crate) fn together(titles: &[String], is_of_all: bool) -> String {
    match titles.len() {
        few if few < FEWEST_NOT_NAMED => listed(titles, "and"),
        all if is_of_all => format!("the {all}"),
        ranked => format!("the {ranked} that are ranked"),
    }
}

/// `Go is equivalent within 3.0% to Bun (1.01×, 0.99–1.02)`: cases whose difference was shown not to matter.
fn equivalent_to(first: &str, others: &[String], smallest_effect: f64) -> Option<String> {
    let within = amount(Quantity::Share, smallest_effect);
    (!others.is_empty()).then(|| format!("{first} is equivalent within {within} to {}", listed(others, "and")))
}

/// Why two are not told apart although their own interval excludes 1. Empty if it does not.
pub(crate) fn among_pairs(pair: &PairComparison) -> String {
    let PairComparison { ratio, p_adjusted, verdict, .. } = pair;
    match p_adjusted.filter(|_| ratio.excludes_one() && !verdict.is_told_apart()) {
        Some(p) if p >= FALSE_ALARMS => format!("; among all pairs p = {p:.2}"),
        Some(_) if *verdict == Verdict::CannotTell => "; no more than a server differs from itself".to_owned(),
        _ => String::new(),
    }
}

/// A case, and its comparison with the first.
pub(crate) type Rival<'a, F> = (&'a CaseFinding<F>, &'a PairComparison);

/// The first case and all others.
pub(crate) struct Answer<'a, F> {
    pub(crate) first: &'a CaseFinding<F>,
    /// `None` for cases that share no block with the first.
    rivals: Vec<(&'a CaseFinding<F>, Option<&'a PairComparison>)>,
    /// Whether these are all cases of the scenario.
    is_of_all: bool,
    /// Differences smaller than this fraction do not matter.
    smallest_effect: f64,
    comparisons: &'a [Comparison],
    judge: Judge,
}

impl<'a, F> Answer<'a, F> {
    /// Cases against which the first has this verdict.
    pub(crate) fn with(&self, verdict: Verdict) -> Vec<Rival<'a, F>> {
        let known = self.rivals.iter().filter_map(|(case, pair)| Some((*case, (*pair)?)));
        known.filter(|(_, pair)| pair.verdict == verdict).collect()
    }

    /// Cases that share no block with the first.
    pub(crate) fn apart(&self) -> impl Iterator<Item = String> {
        self.rivals
            .iter()
            .filter(|(_, pair)| pair.is_none())
            .map(|(case, _)| format!("{} (no common round)", case.short))
    }

    /// Joins the parts of a sentence, which begins with a capital unless it begins with a name.
    pub(crate) fn in_a_sentence(&self, parts: impl IntoIterator<Item = String>) -> String {
        let cases = std::iter::once(self.first).chain(self.rivals.iter().map(|(case, _)| *case));
        let text = parts.into_iter().collect::<Vec<String>>().join("; ");
        capital_unless(&text, cases.map(|case| case.short.as_str()))
    }

    /// The answer if too few rounds leave everything without an interval.
    fn too_few_rounds(&self) -> Option<String> {
        let rounds = self.rivals.iter().map(|(_, pair)| pair.map(|pair| pair.blocks)).collect::<Option<Vec<u32>>>()?;
        let (rounds, least) = (rounds.into_iter().max()?, least_trials());
        // The other cases may have enough rounds among themselves.
        if self.comparisons.iter().any(|comparison| comparison.blocks >= least) {
            return None;
        }
        let is_disturbed = |case: &CaseFinding<F>| case.trials.iter().any(|it| it.outcome == TrialOutcome::Disturbed);
        let is_disturbed = is_disturbed(self.first) || self.rivals.iter().any(|(case, _)| is_disturbed(case));
        let number = u64::from(rounds);
        Some(match is_disturbed {
            true => format!("Not enough clean data: {}, {least} needed", counted(number, "undisturbed round")),
            false => format!("Not enough data: {}, {least} needed", counted(number, "round")),
        })
    }

    pub(crate) fn equivalent(&self, ratio: fn(&PairComparison) -> String) -> Option<String> {
        equivalent_to(&self.first.short, &with_ratios(&self.with(Verdict::Equivalent), ratio), self.smallest_effect)
    }

    pub(crate) fn tied(&self, ratio: fn(&PairComparison) -> String) -> Option<String> {
        let others = with_ratios(&self.with(Verdict::NoDifferenceFound), ratio);
        let any_of = if others.len() > 1 { "any of " } else { "" };
        let others = some_listed(&others, "or")?;
        Some(format!("no difference found between {} and {any_of}{others}", self.first.short))
    }

    /// `others` show no clear difference from the first.
    pub(crate) fn unclear(&self, others: Vec<String>) -> Option<String> {
        let others: Vec<String> = others.into_iter().chain(self.apart()).collect();
        Some(format!("no clear difference between {} and {}", self.first.short, some_listed(&others, "or")?))
    }
}

impl<'a> Answer<'a, ServerFigures> {
    /// The fastest and its lead over the runner-up; or those that overlap, and the cases behind them.
    fn sentence(&self) -> String {
        let second = self.rivals.first().and_then(|(_, pair)| *pair);
        let is_clear = second.is_some_and(|pair| pair.verdict == Verdict::Faster);
        let level = self.level();
        if is_clear && level.is_empty() && self.unclear_ones().is_empty() && self.with(Verdict::Slower).is_empty() {
            return self.fastest().unwrap_or_default();
        }
        // If the second in the table is behind, that is the main answer, and the cases further down follow.
        let mut parts = [self.ahead(), self.overlap(), self.behind()];
        if is_clear {
            parts = [self.behind(), self.ahead(), self.overlap()];
        }
        self.in_a_sentence(parts.into_iter().flatten())
    }

    /// `Bun.serve is fastest: 1.66× the runner-up, nginx (95% CI 1.52–1.81), ahead in all 5 rounds`
    fn fastest(&self) -> Option<String> {
        let behind = self.with(Verdict::Faster);
        let (next, against) = *behind.first()?;
        let rounds = rounds_won(against);
        let (first, ratio) = (&self.first.short, value(against));
        let (ci, comparative, superlative) = (ci(against), self.judge.comparative(), self.judge.superlative());
        Some(match behind.len() {
            1 => format!("{first} is {comparative} than {}: {ratio}{ci}, ahead in {rounds}", next.short),
            _ => format!("{first} is {superlative}: {ratio} the runner-up, {}{ci}, ahead in {rounds}", next.short),
        })
    }

    /// Ratios within rounds can contradict the order of the medians when rounds differ much.
    fn ahead(&self) -> Option<String> {
        let others = with_ratios(&self.with(Verdict::Slower), reciprocal);
        let verb = if others.len() == 1 { "is" } else { "are" };
        let (first, faster) = (&self.first.short, self.judge.comparative());
        Some(format!(
            "within rounds {} {verb} {faster} than {first}, whose mean is higher",
            some_listed(&others, "and")?
        ))
    }

    /// Cases that this run cannot separate from the first.
    fn overlap(&self) -> Option<String> {
        let (equivalent, none_found) = (self.with(Verdict::Equivalent), self.with(Verdict::NoDifferenceFound));
        let unclear = self.unclear_ones();
        let of = |rivals: &[(&'a CaseFinding, Option<&PairComparison>)]| -> String {
            match rivals {
                [(only, Some(pair))] => format!("{} ({})", only.short, ratio_or_blocks(pair)),
                [(only, None)] => format!("{} (no common round)", only.short),
                _ => listed(&rivals.iter().map(|(case, _)| case.short.clone()).collect::<Vec<_>>(), "and"),
            }
        };
        let some = |rivals: Vec<Rival<'a, ServerFigures>>| -> Vec<_> {
            rivals.into_iter().map(|(case, pair)| (case, Some(pair))).collect()
        };
        let first = &self.first.short;
        let kinds = [!equivalent.is_empty(), !none_found.is_empty(), !unclear.is_empty()];
        match kinds {
            [false, false, false] => None,
            [true, false, false] => {
                let within = amount(Quantity::Share, self.smallest_effect);
                Some(format!("{first} is equivalent within {within} to {}", of(&some(equivalent))))
            }
            [false, true, false] => Some(format!("no difference found between {first} and {}", of(&some(none_found)))),
            [false, false, true] if unclear.len() == 1 => {
                Some(format!("no clear difference between {first} and {}", of(&unclear)))
            }
            _ => {
                let is_of_group = |verdict| !matches!(verdict, Some(Verdict::Faster | Verdict::Slower));
                let group = self.rivals.iter().filter(|(_, pair)| is_of_group(pair.map(|pair| pair.verdict)));
                let names: Vec<String> =
                    std::iter::once(first.clone()).chain(group.map(|(case, _)| case.short.clone())).collect();
                let all = names.len() == self.rivals.len() + 1;
                Some(format!("no clear winner: {} overlap", together(&names, self.is_of_all && all)))
            }
        }
    }

    fn behind(&self) -> Option<String> {
        let behind = self.with(Verdict::Faster);
        let (next, against) = *behind.first()?;
        if let Some(weakest) = self.whole_group_is_faster_than(next) {
            let group = if self.level().len() == 1 { "both are" } else { "all of them are" };
            let (faster, least) = (self.judge.comparative(), value(weakest));
            return Some(format!("{group} {faster} than {}: at least {least}{}", next.short, ci(weakest)));
        }
        Some(format!("{} beats {}: {}{}", self.first.short, next.short, value(against), ci(against)))
    }

    /// Cases without a clear answer on whether they differ from the first.
    fn unclear_ones(&self) -> Vec<(&'a CaseFinding, Option<&'a PairComparison>)> {
        let is_unclear = |pair: &Option<&PairComparison>| pair.is_none_or(|pair| pair.verdict == Verdict::CannotTell);
        self.rivals.iter().filter(|(_, pair)| is_unclear(pair)).copied().collect()
    }

    /// Cases that are level with the first: equivalent to it, or without a difference found.
    fn level(&self) -> Vec<Rival<'a, ServerFigures>> {
        [self.with(Verdict::Equivalent), self.with(Verdict::NoDifferenceFound)].concat()
    }

    /// Whether every other case is clearly level with the first or behind it.
    fn is_clear(&self) -> bool {
        self.unclear_ones().is_empty() && self.with(Verdict::Slower).is_empty()
    }

    /// The smallest ratio over `next` among the first and all that are level with it, if all of them are faster.
    fn whole_group_is_faster_than(&self, next: &CaseFinding) -> Option<&'a PairComparison> {
        let level = self.level();
        if level.is_empty() || !self.is_clear() {
            return None;
        }
        let group = std::iter::once(self.first).chain(level.iter().map(|(case, _)| *case));
        let over_next =
            group.map(|case| find(self.comparisons, case, next).filter(|over| over.verdict == Verdict::Faster));
        let over_next: Option<Vec<&PairComparison>> = over_next.collect();
        over_next?.into_iter().min_by(|left, right| left.ratio.value.total_cmp(&right.ratio.value))
    }
}

/// `all 5 rounds`, `4 of 5 rounds`
fn rounds_won(pair: &PairComparison) -> String {
    let rounds = counted(u64::from(pair.blocks), "round");
    if pair.blocks_won == pair.blocks { format!("all {rounds}") } else { format!("{} of {rounds}", pair.blocks_won) }
}

fn value(pair: &PairComparison) -> String {
    figure(Quantity::Ratio, &pair.ratio).value
}

/// ` (95% CI 1.52–1.81)`, or nothing.
fn ci(pair: &PairComparison) -> String {
    figure(Quantity::Ratio, &pair.ratio).interval.map(|ends| format!(" (95% CI {ends})")).unwrap_or_default()
}

fn find<'a, F>(comparisons: &'a [Comparison], a: &CaseFinding<F>, b: &CaseFinding<F>) -> Option<&'a PairComparison> {
    comparisons.iter().find(|pair| pair.a == a.subject && pair.b == b.subject).map(|pair| &pair.by)
}

pub(crate) fn with_ratios<F>(rivals: &[Rival<F>], words: fn(&PairComparison) -> String) -> Vec<String> {
    rivals.iter().map(|(case, against)| format!("{} ({})", case.short, words(against))).collect()
}

/// `None` if there is nothing to list.
fn some_listed(items: &[String], last: &str) -> Option<String> {
    (!items.is_empty()).then(|| listed(items, last))
}

fn ratio(pair: &PairComparison) -> String {
    let figure = figure(Quantity::Ratio, &pair.ratio);
    match figure.interval {
        Some(interval) => format!("{}, {interval}{}", figure.value, among_pairs(pair)),
        None => figure.value,
    }
}

fn ratio_or_blocks(pair: &PairComparison) -> String {
    if pair.ratio.low.is_some() { ratio(pair) } else { counted(u64::from(pair.blocks), "common round") }
}

/// The reciprocal ratio, for when the second of a pair is faster.
fn reciprocal(pair: &PairComparison) -> String {
    ratio(&PairComparison { ratio: pair.ratio.turned(), ..pair.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(number: usize) -> Vec<String> {
        ["A", "B", "C", "D", "E"].into_iter().take(number).map(str::to_owned).collect()
    }

    #[test]
    fn all_cases_of_a_large_table_are_counted_and_not_named() {
        assert_eq!(together(&titles(3), true), "A, B and C");
        assert_eq!(together(&titles(4), true), "the 4");
        assert_eq!(together(&titles(4), false), "the 4 that are ranked", "others are unranked");
    }

    #[test]
    fn one_reason_of_all_cases_is_said_once() {
        let all = |reason: &str| -> Vec<(String, String)> {
            titles(4).into_iter().map(|title| (title, reason.to_owned())).collect()
        };
        assert_eq!(with_reasons(&all("errors"), true), "Not ranked: all 4 (errors).");
        assert_eq!(
            with_reasons(&all("errors"), false),
            "Not ranked: A (errors), B (errors), C (errors) and D (errors)."
        );
        let mut mixed = all("errors");
        mixed[3].1 = "disturbed".to_owned();
        assert!(with_reasons(&mixed, true).ends_with("C (errors) and D (disturbed)."));
        assert_eq!(with_reasons(&[], true), "");
    }
}
