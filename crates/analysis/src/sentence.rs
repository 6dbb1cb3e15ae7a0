//! The sentence that answers a scenario's question.
//!
//! It says *faster*, *equivalent*, *no difference found* or *cannot tell*, each with the ratio and its interval. It never names
//! a winner that the verdicts do not support. What is the same for servers and programs stands in [`Answer`].

use tolok_model::Judge;
use tolok_model::sentences::capital_unless;

use crate::estimate::least_trials;
use crate::figure::server::ServerFigures;
use crate::figures::{Quantity, amount, counted, figure, listed};
use crate::findings::{CaseFinding, Comparison, PairComparison, Verdict};
use crate::flag::FlagKind;
use crate::verdict::FALSE_ALARMS;

/// A sentence gives the ratios of at most this many cases without a clear difference from the first; the table has the rest.
const MOST_UNCLEAR_WITH_RATIOS: usize = 3;
/// From this many on, the sentence does not repeat the names of all cases.
const FEWEST_NOT_NAMED: usize = 4;

/// Where all keep up, their goodputs are the same by construction, which is no tie.
const BY_THE_CLOCK: &str =
    "This compares goodput, which cannot exceed the rate that was offered; those that keep up differ in response time.";

/// What the comparisons of a scenario say, in one or two sentences. `cases` are in their order in the table.
pub(crate) fn verdict_sentence(
    cases: &[CaseFinding],
    comparisons: &[Comparison],
    smallest_effect: f64,
    (judge, is_open): (Judge, bool),
) -> String {
    let table = Table { better: better(judge), ..Table::of(cases) };
    let answer = table.answer(comparisons, smallest_effect, &alone, &Answer::sentence);
    let is_by_the_clock = is_open && judge == Judge::Goodput;
    let by_the_clock = if is_by_the_clock && table.ranked.len() > 1 { BY_THE_CLOCK } else { "" };
    in_sentences([answer, by_the_clock.to_owned(), table.not_ranked()])
}

/// What the better of two is.
fn better(judge: Judge) -> &'static str {
    match judge {
        Judge::Goodput => "faster",
        Judge::Cpu => "thriftier with CPU time",
    }
}

/// Sentences beside each other, without those that are empty.
pub(crate) fn in_sentences(parts: [String; 3]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn alone(only: &CaseFinding) -> String {
    let goodput = only.goodput_rps.as_ref().map(|goodput| figure(Quantity::Number, goodput).line());
    let goodput = goodput.unwrap_or_default();
    format!("{} answers {goodput} requests per second; there is nothing to compare it with", only.title)
}

/// The cases of a scenario, in their order.
pub(crate) struct Table<'a, F> {
    pub(crate) ranked: Vec<&'a CaseFinding<F>>,
    unranked: Vec<&'a CaseFinding<F>>,
    /// What the better of two is: `faster`.
    better: &'static str,
}

impl<'a, F> Table<'a, F> {
    pub(crate) fn of(cases: &'a [CaseFinding<F>]) -> Self {
        let (ranked, unranked) = cases.iter().partition(|case| case.ranked);
        Self { ranked, unranked, better: better(Judge::Goodput) }
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
            [] => "Nothing can be ranked here".to_owned(),
            [only] => alone(only),
            [first, others @ ..] => {
                let find = |case: &&'a CaseFinding<F>| (*case, find(comparisons, first, case));
                let is_of_all = self.is_of_all();
                let rivals = others.iter().map(find).collect();
                let answer = Answer { first, rivals, is_of_all, smallest_effect, comparisons, better: self.better };
                answer.too_few_blocks().unwrap_or_else(|| several(&answer))
            }
        };
        format!("{answer}.")
    }

    /// Names the cases that are left out of the ranking, each with its reason.
    pub(crate) fn not_ranked(&self) -> String {
        let reason = |case: &CaseFinding<F>| {
            let voiding = case.flags.iter().filter(|flag| flag.voids_rank);
            let kinds: Vec<&str> = voiding.map(|flag| spoken(flag.kind)).collect();
            if kinds.is_empty() { "not measured".to_owned() } else { kinds.join(", ") }
        };
        let named: Vec<(String, String)> =
            self.unranked.iter().map(|case| (case.title.clone(), reason(case))).collect();
        with_reasons(&named, self.ranked.is_empty())
    }
}

/// The word of a flag as it stands in a sentence; one of them alone would be taken for an adjective.
fn spoken(kind: FlagKind) -> &'static str {
    if kind == FlagKind::Little { "Little’s law" } else { kind.word() }
}

/// `Not ranked: A (errors) and B (not measured).` Where all cases of a table share one reason, they are only counted.
fn with_reasons(named: &[(String, String)], is_all: bool) -> String {
    let is_one_reason = named.windows(2).all(|pair| pair[0].1 == pair[1].1);
    match named {
        [] => String::new(),
        [(_, reason), ..] if is_all && is_one_reason && named.len() >= FEWEST_NOT_NAMED => {
            format!("Not ranked: all {} ({reason}).", named.len())
        }
        _ => {
            let names: Vec<String> = named.iter().map(|(title, reason)| format!("{title} ({reason})")).collect();
            format!("Not ranked: {}.", listed(&names, "and"))
        }
    }
}

/// `A, B and C`; `the 6` where these are all cases of a table, or all that are ranked in it.
pub(crate) fn together(titles: &[String], is_of_all: bool) -> String {
    match titles.len() {
        few if few < FEWEST_NOT_NAMED => listed(titles, "and"),
        all if is_of_all => format!("the {all}"),
        ranked => format!("the {ranked} that are ranked"),
    }
}

/// `Go is equivalent within 3.0% to Bun (1.01×, 0.99–1.02)`: those that were shown not to differ by more than does not matter.
fn equivalent_to(first: &str, others: &[String], smallest_effect: f64) -> Option<String> {
    let within = amount(Quantity::Share, smallest_effect);
    (!others.is_empty()).then(|| format!("{first} is equivalent within {within} to {}", listed(others, "and")))
}

/// Why two are not told apart although their own interval excludes 1. Empty where it does not.
pub(crate) fn among_pairs(pair: &PairComparison) -> String {
    let PairComparison { ratio, p_adjusted, verdict, .. } = pair;
    match p_adjusted.filter(|_| ratio.excludes_one() && !verdict.is_told_apart()) {
        Some(p) if p >= FALSE_ALARMS => format!("; among all pairs p = {p:.2}"),
        Some(_) if *verdict == Verdict::CannotTell => "; no more than a case differs from itself".to_owned(),
        _ => String::new(),
    }
}

/// A case, and how the first compares with it.
pub(crate) type Rival<'a, F> = (&'a CaseFinding<F>, &'a PairComparison);

/// The first case and all others.
pub(crate) struct Answer<'a, F> {
    pub(crate) first: &'a CaseFinding<F>,
    /// `None` of those that share no block with the first.
    rivals: Vec<(&'a CaseFinding<F>, Option<&'a PairComparison>)>,
    /// Whether every case of the scenario is among them.
    is_of_all: bool,
    /// Differences smaller than this fraction do not matter.
    smallest_effect: f64,
    comparisons: &'a [Comparison],
    /// What the better of two is: `faster`.
    better: &'static str,
}

impl<'a, F> Answer<'a, F> {
    /// Those of which the first has this verdict.
    pub(crate) fn with(&self, verdict: Verdict) -> Vec<Rival<'a, F>> {
        let known = self.rivals.iter().filter_map(|(case, pair)| Some((*case, (*pair)?)));
        known.filter(|(_, pair)| pair.verdict == verdict).collect()
    }

    /// Those that share no block with the first.
    pub(crate) fn apart(&self) -> impl Iterator<Item = String> {
        self.rivals
            .iter()
            .filter(|(_, pair)| pair.is_none())
            .map(|(case, _)| format!("{} (no common block)", case.title))
    }

    /// The parts of a sentence, which begins with a capital unless it begins with a name.
    pub(crate) fn in_a_sentence(&self, parts: impl IntoIterator<Item = String>) -> String {
        let titles = std::iter::once(self.first).chain(self.rivals.iter().map(|(case, _)| *case));
        let text = parts.into_iter().collect::<Vec<String>>().join("; ");
        capital_unless(&text, titles.map(|case| case.title.as_str()))
    }

    /// The same for all: with too few blocks nothing has an interval.
    fn too_few_blocks(&self) -> Option<String> {
        let blocks = self.rivals.iter().map(|(_, pair)| pair.map(|pair| pair.blocks)).collect::<Option<Vec<u32>>>()?;
        let (blocks, least) = (blocks.into_iter().max()?, least_trials());
        // The others may well have enough of them among themselves.
        if self.comparisons.iter().any(|comparison| comparison.blocks >= least) {
            return None;
        }
        let titles = std::iter::once(self.first).chain(self.rivals.iter().map(|(case, _)| *case));
        let titles: Vec<String> = titles.map(|case| case.title.clone()).collect();
        let (titles, blocks) = (together(&titles, self.is_of_all), counted(u64::from(blocks), "common block"));
        Some(format!("Cannot tell {titles} apart: {blocks}, and {least} are the least for an interval"))
    }

    pub(crate) fn equivalent(&self, ratio: fn(&PairComparison) -> String) -> Option<String> {
        equivalent_to(&self.first.title, &with_ratios(&self.with(Verdict::Equivalent), ratio), self.smallest_effect)
    }

    pub(crate) fn tied(&self, ratio: fn(&PairComparison) -> String) -> Option<String> {
        let others = with_ratios(&self.with(Verdict::NoDifferenceFound), ratio);
        let any_of = if others.len() > 1 { "any of " } else { "" };
        let others = some_listed(&others, "or")?;
        Some(format!("no difference found between {} and {any_of}{others}", self.first.title))
    }

    /// `others` cannot be told from the first.
    pub(crate) fn unclear(&self, others: Vec<String>) -> Option<String> {
        let others: Vec<String> = others.into_iter().chain(self.apart()).collect();
        Some(format!("cannot tell {} from {}", self.first.title, some_listed(&others, "or")?))
    }
}

impl<'a> Answer<'a, ServerFigures> {
    fn sentence(&self) -> String {
        let unclear = self.with(Verdict::CannotTell);
        let unclear = match unclear.len() {
            many if many > MOST_UNCLEAR_WITH_RATIOS => unclear.iter().map(|(case, _)| case.title.clone()).collect(),
            _ => with_ratios(&unclear, ratio_or_blocks),
        };
        let mut parts = [self.ahead(), self.equivalent(ratio), self.tied(ratio), self.unclear(unclear), self.behind()];
        // If the second in the table is behind, that is the answer, and the cases further down follow.
        let second = self.rivals.first().and_then(|(_, pair)| *pair);
        if second.is_some_and(|pair| pair.verdict == Verdict::Faster) {
            parts.rotate_right(1);
        }
        self.in_a_sentence(parts.into_iter().flatten())
    }

    /// Ratios within blocks can contradict the order of the medians when blocks differ much.
    fn ahead(&self) -> Option<String> {
        let others = with_ratios(&self.with(Verdict::Slower), reciprocal);
        let verb = if others.len() == 1 { "is" } else { "are" };
        let (first, better) = (&self.first.title, self.better);
        Some(format!(
            "within blocks {} {verb} {better} than {first}, whose median is better",
            some_listed(&others, "and")?
        ))
    }

    fn behind(&self) -> Option<String> {
        let behind = self.with(Verdict::Faster);
        let (next, against) = *behind.first()?;
        let the_next = if behind.len() == 1 { "" } else { ", the next" };
        let than_next = format!("{} than {}{the_next}", self.better, next.title);
        let line = |pair: &PairComparison| figure(Quantity::Ratio, &pair.ratio).line();
        let level = self.level();
        if level.is_empty() && self.is_clear() {
            let blocks = counted(u64::from(against.blocks), "block");
            let won = against.blocks_won;
            return Some(format!("{} is {than_next}: {}, {won} of {blocks}", self.first.title, line(against)));
        }
        if let Some(weakest) = self.whole_group_is_faster_than(next) {
            let group = if level.len() == 1 { "both are" } else { "all of these are" };
            return Some(format!("{group} {than_next}: at least {}", line(weakest)));
        }
        Some(format!("{} is {than_next}: {}", self.first.title, line(against)))
    }

    /// Those that are level with the first: equivalent to it, or no difference was found.
    fn level(&self) -> Vec<Rival<'a, ServerFigures>> {
        [self.with(Verdict::Equivalent), self.with(Verdict::NoDifferenceFound)].concat()
    }

    /// Whether it is clear of all others whether they are behind the first.
    fn is_clear(&self) -> bool {
        let unclear = [Verdict::CannotTell, Verdict::Slower].map(|verdict| self.with(verdict).len());
        unclear == [0, 0] && self.apart().next().is_none()
    }

    /// The smallest of the ratios of the first and all that are level with it over `next`, if all of them are faster.
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

fn find<'a, F>(comparisons: &'a [Comparison], a: &CaseFinding<F>, b: &CaseFinding<F>) -> Option<&'a PairComparison> {
    comparisons.iter().find(|pair| pair.a == a.subject && pair.b == b.subject).map(|pair| &pair.by)
}

pub(crate) fn with_ratios<F>(rivals: &[Rival<F>], words: fn(&PairComparison) -> String) -> Vec<String> {
    rivals.iter().map(|(case, against)| format!("{} ({})", case.title, words(against))).collect()
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
    if pair.ratio.low.is_some() { ratio(pair) } else { counted(u64::from(pair.blocks), "common block") }
}

/// The ratio the other way round, as it is written when the second of a pair is the faster one.
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
        assert_eq!(together(&titles(4), false), "the 4 that are ranked", "others stand beneath them");
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
