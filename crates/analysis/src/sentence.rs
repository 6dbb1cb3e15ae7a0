//! The sentence that answers a scenario's question.
//!
//! It says *faster*, *equivalent*, *no difference found* or *cannot tell*, each with the ratio and its interval, and never
//! names a winner that the verdicts do not support.

use tolok_model::sentences::capital_unless;

use crate::estimate::least_trials;
use crate::figures::{Quantity, amount, counted, figure, listed};
use crate::findings::{CaseFinding, Comparison, Estimate, Verdict};
use crate::flag::FlagKind;
use crate::verdict::FALSE_ALARMS;

/// Of so many cases that cannot be told from the first the ratios are given; of more they only stand in the table.
const MOST_UNCLEAR_WITH_RATIOS: usize = 3;
/// From so many on, all cases of a table are not named once more.
const FEWEST_NOT_NAMED: usize = 4;

/// Where all keep up, their goodputs are the same by construction, which is no tie.
const BY_THE_CLOCK: &str =
    "This compares goodput, which cannot exceed the rate that was offered; those that keep up differ in response time.";

/// What the comparisons of a scenario say, in one or two sentences. `cases` are in their order in the table.
pub(crate) fn verdict_sentence(
    cases: &[CaseFinding],
    comparisons: &[Comparison],
    smallest_effect: f64,
    is_open: bool,
) -> String {
    let (ranked, unranked): (Vec<&CaseFinding>, Vec<&CaseFinding>) = cases.iter().partition(|case| case.ranked);
    let answer = match ranked.as_slice() {
        [] => "Nothing can be ranked here".to_owned(),
        [only] => alone(only),
        [first, others @ ..] => {
            let mut answer = Answer::new(first, others, comparisons);
            answer.is_of_all = unranked.is_empty();
            answer.smallest_effect = smallest_effect;
            answer.sentence()
        }
    };
    let by_the_clock = if is_open && ranked.len() > 1 { BY_THE_CLOCK } else { "" };
    [format!("{answer}."), by_the_clock.to_owned(), not_ranked(&unranked, ranked.is_empty())]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn alone(only: &CaseFinding) -> String {
    let goodput = only.goodput_rps.as_ref().map(|goodput| figure(Quantity::Number, goodput).line());
    let goodput = goodput.unwrap_or_default();
    format!("{} answers {goodput} requests per second; there is nothing to compare it with", only.title)
}

/// Names the cases that are left out of the ranking, each with its reason.
fn not_ranked(unranked: &[&CaseFinding], is_all: bool) -> String {
    let reason = |case: &CaseFinding| {
        let kinds: Vec<&str> = case.flags.iter().filter(|flag| flag.voids_rank).map(|flag| spoken(flag.kind)).collect();
        if kinds.is_empty() { "not measured".to_owned() } else { kinds.join(", ") }
    };
    let named: Vec<(String, String)> = unranked.iter().map(|case| (case.title.clone(), reason(case))).collect();
    with_reasons(&named, is_all)
}

/// The word of a flag as it stands in a sentence; one of them alone would be taken for an adjective.
fn spoken(kind: FlagKind) -> &'static str {
    if kind == FlagKind::Little { "Little’s law" } else { kind.word() }
}

/// `Not ranked: A (errors) and B (not measured).` Where all cases of a table share one reason, they are only counted.
pub(crate) fn with_reasons(named: &[(String, String)], is_all: bool) -> String {
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
pub(crate) fn equivalent_to(first: &str, others: &[String], smallest_effect: f64) -> Option<String> {
    let within = amount(Quantity::Share, smallest_effect);
    (!others.is_empty()).then(|| format!("{first} is equivalent within {within} to {}", listed(others, "and")))
}

/// Why two are not told apart though the interval of their own excludes 1; nothing where it does not.
pub(crate) fn among_pairs(ratio: &Estimate, p_adjusted: Option<f64>, verdict: Verdict) -> String {
    let excludes_one = ratio.low.is_some_and(|low| low > 1.0) || ratio.high.is_some_and(|high| high < 1.0);
    match p_adjusted.filter(|_| excludes_one && !verdict.is_told_apart()) {
        Some(p) if p >= FALSE_ALARMS => format!("; among all pairs p = {p:.2}"),
        Some(_) if verdict == Verdict::CannotTell => "; no more than a case differs from itself".to_owned(),
        _ => String::new(),
    }
}

/// Another case of the scenario, and how the first compares with it.
struct Rival<'a> {
    case: &'a CaseFinding,
    against: &'a Comparison,
}

/// The first case and all others, by what can be said of them.
struct Answer<'a> {
    first: &'a CaseFinding,
    behind: Vec<Rival<'a>>,
    equivalent: Vec<Rival<'a>>,
    tied: Vec<Rival<'a>>,
    unclear: Vec<Rival<'a>>,
    ahead: Vec<Rival<'a>>,
    /// Share no block with the first.
    apart: Vec<String>,
    /// Whether the first is faster than the second in the table.
    second_is_behind: bool,
    /// Whether every case of the scenario is among them.
    is_of_all: bool,
    /// Differences smaller than this fraction do not matter.
    smallest_effect: f64,
    comparisons: &'a [Comparison],
}

impl<'a> Answer<'a> {
    fn new(first: &'a CaseFinding, others: &[&'a CaseFinding], comparisons: &'a [Comparison]) -> Self {
        let second = others.first().and_then(|second| find(comparisons, first, second));
        let second_is_behind = second.is_some_and(|against| against.verdict == Verdict::Faster);
        let mut answer = Self {
            first,
            behind: vec![],
            equivalent: vec![],
            tied: vec![],
            unclear: vec![],
            ahead: vec![],
            apart: vec![],
            second_is_behind,
            is_of_all: false,
            smallest_effect: 0.0,
            comparisons,
        };
        for case in others {
            let Some(against) = find(comparisons, first, case) else {
                answer.apart.push(format!("{} (no common block)", case.title));
                continue;
            };
            let place = match against.verdict {
                Verdict::Faster => &mut answer.behind,
                Verdict::Equivalent => &mut answer.equivalent,
                Verdict::NoDifferenceFound => &mut answer.tied,
                Verdict::CannotTell => &mut answer.unclear,
                Verdict::Slower => &mut answer.ahead,
            };
            place.push(Rival { case, against });
        }
        answer
    }

    fn sentence(&self) -> String {
        if let Some(sentence) = self.too_few_blocks() {
            return sentence;
        }
        let mut parts = [self.ahead(), self.equivalent(), self.tied(), self.unclear(), self.behind()];
        // Where the second in the table is behind, that is the answer, and what is said of those further down comes after.
        if self.second_is_behind {
            parts.rotate_right(1);
        }
        let text = parts.into_iter().flatten().collect::<Vec<String>>().join("; ");
        let rivals = [&self.behind, &self.equivalent, &self.tied, &self.unclear, &self.ahead];
        let rivals = rivals.into_iter().flatten().map(|rival| rival.case);
        capital_unless(&text, std::iter::once(self.first).chain(rivals).map(|case| case.title.as_str()))
    }

    /// The same for all: with too few blocks nothing has an interval.
    fn too_few_blocks(&self) -> Option<String> {
        let blocks = self.unclear.iter().map(|rival| rival.against.blocks).max()?;
        let known = [&self.behind, &self.equivalent, &self.tied, &self.ahead];
        let something_is_known = known.iter().any(|rivals| !rivals.is_empty());
        // The others may well have enough of them among themselves.
        let others_have_enough = self.comparisons.iter().any(|comparison| comparison.blocks >= least_trials());
        if others_have_enough || something_is_known || !self.apart.is_empty() {
            return None;
        }
        let mut titles = vec![self.first.title.clone()];
        titles.extend(self.unclear.iter().map(|rival| rival.case.title.clone()));
        let blocks = counted(u64::from(blocks), "common block");
        let least = least_trials();
        Some(format!(
            "Cannot tell {} apart: {blocks}, and {least} are the least for an interval",
            together(&titles, self.is_of_all)
        ))
    }

    /// Ratios within blocks can contradict the order of the medians when blocks differ much.
    fn ahead(&self) -> Option<String> {
        let others = with_ratios(&self.ahead, &reciprocal);
        let verb = if self.ahead.len() == 1 { "is" } else { "are" };
        let first = &self.first.title;
        non_empty(&others, || {
            format!("within blocks {} {verb} faster than {first}, whose median is higher", listed(&others, "and"))
        })
    }

    fn equivalent(&self) -> Option<String> {
        equivalent_to(&self.first.title, &with_ratios(&self.equivalent, &ratio), self.smallest_effect)
    }

    fn tied(&self) -> Option<String> {
        let others = with_ratios(&self.tied, &ratio);
        let any_of = if others.len() > 1 { "any of " } else { "" };
        non_empty(&others, || {
            format!("no difference found between {} and {any_of}{}", self.first.title, listed(&others, "or"))
        })
    }

    fn unclear(&self) -> Option<String> {
        let mut others = with_ratios(&self.unclear, &ratio_or_blocks);
        if others.len() > MOST_UNCLEAR_WITH_RATIOS {
            others = self.unclear.iter().map(|rival| rival.case.title.clone()).collect();
        }
        others.extend(self.apart.iter().cloned());
        non_empty(&others, || format!("cannot tell {} from {}", self.first.title, listed(&others, "or")))
    }

    fn behind(&self) -> Option<String> {
        let next = self.behind.first()?;
        let the_next = if self.behind.len() == 1 { "" } else { ", the next" };
        let than_next = format!("faster than {}{the_next}", next.case.title);
        let line = |comparison: &Comparison| figure(Quantity::Ratio, &comparison.ratio).line();
        if self.level().next().is_none() && self.is_clear() {
            let blocks = counted(u64::from(next.against.blocks), "block");
            let won = next.against.blocks_won;
            return Some(format!("{} is {than_next}: {}, {won} of {blocks}", self.first.title, line(next.against)));
        }
        if let Some(weakest) = self.whole_group_is_faster_than(next.case) {
            let group = if self.level().count() == 1 { "both are" } else { "all of these are" };
            return Some(format!("{group} {than_next}: at least {}", line(weakest)));
        }
        Some(format!("{} is {than_next}: {}", self.first.title, line(next.against)))
    }

    /// Those that are level with the first: equivalent to it, or no difference was found.
    fn level(&self) -> impl Iterator<Item = &Rival<'a>> {
        self.equivalent.iter().chain(&self.tied)
    }

    /// Whether of all others it is clear whether they are behind the first.
    fn is_clear(&self) -> bool {
        self.unclear.is_empty() && self.ahead.is_empty() && self.apart.is_empty()
    }

    /// The smallest of the ratios of the first and all that are level with it over `next`, if all of them are faster.
    fn whole_group_is_faster_than(&self, next: &CaseFinding) -> Option<&'a Comparison> {
        if self.level().next().is_none() || !self.is_clear() {
            return None;
        }
        let group = std::iter::once(self.first).chain(self.level().map(|rival| rival.case));
        let over_next =
            group.map(|case| find(self.comparisons, case, next).filter(|over| over.verdict == Verdict::Faster));
        let over_next: Option<Vec<&Comparison>> = over_next.collect();
        over_next?.into_iter().min_by(|left, right| left.ratio.value.total_cmp(&right.ratio.value))
    }
}

fn find<'a>(comparisons: &'a [Comparison], a: &CaseFinding, b: &CaseFinding) -> Option<&'a Comparison> {
    comparisons.iter().find(|comparison| comparison.a == a.subject && comparison.b == b.subject)
}

fn with_ratios(rivals: &[Rival], words: &dyn Fn(&Comparison) -> String) -> Vec<String> {
    rivals.iter().map(|rival| format!("{} ({})", rival.case.title, words(rival.against))).collect()
}

fn non_empty(items: &[String], sentence: impl Fn() -> String) -> Option<String> {
    (!items.is_empty()).then(sentence)
}

fn ratio(comparison: &Comparison) -> String {
    let figure = figure(Quantity::Ratio, &comparison.ratio);
    let among = among_pairs(&comparison.ratio, comparison.p_adjusted, comparison.verdict);
    match figure.interval {
        Some(interval) => format!("{}, {interval}{among}", figure.value),
        None => figure.value,
    }
}

fn ratio_or_blocks(comparison: &Comparison) -> String {
    if comparison.ratio.low.is_some() {
        ratio(comparison)
    } else {
        counted(u64::from(comparison.blocks), "common block")
    }
}

/// The ratio the other way round, as it is written when the second of a pair is the faster one.
fn reciprocal(comparison: &Comparison) -> String {
    let mut turned = comparison.clone();
    turned.ratio.value = comparison.ratio.value.recip();
    turned.ratio.low = comparison.ratio.high.map(f64::recip);
    turned.ratio.high = comparison.ratio.low.map(f64::recip);
    ratio(&turned)
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
