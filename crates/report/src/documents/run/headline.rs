//! The answer of a run in one sentence: which is best where, and what is undecided.

use tolok_analysis::figures::{Quantity, amount, count, counted, listed};
use tolok_analysis::{CaseFinding, Comparison, Findings, ScenarioFinding, Verdict, least_trials};
use tolok_model::Judge;
use tolok_model::sentences::capital_unless;

use super::sections::is_of_tools;
use super::standings::{competitors, first_tier};
use crate::document::{Look, Text};
use crate::documents::run::matrix;

/// The most scenarios that are named; more are only counted.
const MOST_NAMED: usize = 2;
/// The most overlapping subjects that are named.
const MOST_OVERLAPPING: usize = 4;
/// The most groups of scenarios that are named.
const MOST_GROUPS: usize = 3;

/// A scenario: who is in its first tier, and by how much a single winner leads.
struct Result {
    label: String,
    first: Vec<String>,
    lead: Option<f64>,
    judge: Judge,
}

/// The headline; a warning if most trials were discarded, or nothing was ranked.
pub(crate) fn headline(findings: &Findings, sections: &[&ScenarioFinding]) -> Option<Text> {
    let results = results(findings, sections);
    if results.is_empty() {
        return None;
    }
    let counts = findings.trials;
    let ran = counts.measured + counts.failed;
    let most_discarded = counts.disturbed * 2 > ran;
    let has_result = results.iter().any(|result| !result.first.is_empty());
    let discarded = || {
        format!(
            "Not enough clean data: other programs used the CPU in {} of {}",
            count(u64::from(counts.disturbed)),
            counted(u64::from(ran), "trial")
        )
    };
    Some(match (most_discarded, has_result) {
        (true, false) => Text::of(format!("{}.", discarded()), Look::Warning),
        (true, true) => Text::of(format!("{}. What is left: {}.", discarded(), sentence(&results)), Look::Warning),
        (false, false) if counts.disturbed > 0 => Text::of(format!("{}.", discarded()), Look::Warning),
        (false, false) => Text::of(nothing(findings, sections), Look::Warning),
        (false, true) => {
            let names = results.iter().flat_map(|result| &result.first).map(String::as_str);
            Text::from(capital_unless(&format!("{}.", sentence(&results)), names))
        }
    })
}

/// The verdict of the only scenario, since it explains why nothing is ranked.
fn nothing(findings: &Findings, sections: &[&ScenarioFinding]) -> String {
    match (sections, findings.programs.as_slice()) {
        ([only], []) => only.verdict.clone(),
        ([], [only]) => only.verdict.clone(),
        _ if findings.run.blocks < least_trials() => {
            let rounds = counted(u64::from(findings.run.blocks), "round");
            format!("No result: {rounds}, and an interval takes {}.", least_trials())
        }
        _ => "No result: no two subjects could be compared.".to_owned(),
    }
}

fn results(findings: &Findings, sections: &[&ScenarioFinding]) -> Vec<Result> {
    let labels = matrix::labels(findings, sections);
    let own = sections.iter().filter(|section| !is_of_tools(section));
    let of_servers = own.map(|it| {
        let cases = competitors(findings, &it.cases);
        (winners(&cases, matrix::is_told(it)), lead(&cases, &it.comparisons), it.judged_by)
    });
    let of_programs = findings
        .programs
        .iter()
        .map(|it| (winners(&competitors(findings, &it.cases), matrix::is_program_told(it)), None, Judge::Goodput));
    let all = of_servers.chain(of_programs).zip(labels);
    all.map(|((first, lead, judge), label)| Result { label, lead: lead.filter(|_| first.len() == 1), first, judge })
        .collect()
}

/// Those that share the first tier; empty if nothing is compared.
fn winners<F>(cases: &[&CaseFinding<F>], is_told: bool) -> Vec<String> {
    let is_compared = is_told && cases.iter().filter(|case| case.tier.is_some()).count() > 1;
    first_tier(cases).into_iter().filter(|_| is_compared).map(|case| case.short.clone()).collect()
}

/// By how much the first leads the second, if that is clear.
fn lead(cases: &[&CaseFinding], comparisons: &[Comparison]) -> Option<f64> {
    let [first, next, ..] = cases else { return None };
    let pair = comparisons.iter().find(|pair| pair.a == first.subject && pair.b == next.subject)?;
    (pair.verdict == Verdict::Faster).then_some(pair.ratio.value)
}

/// Scenarios with the same result together, the most common first; those without a result last.
fn sentence(results: &[Result]) -> String {
    let mut groups: Vec<(Vec<String>, Vec<&Result>)> = Vec::new();
    for result in results {
        let mut key = result.first.clone();
        key.sort_unstable();
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, alike)) => alike.push(result),
            None => groups.push((key, vec![result])),
        }
    }
    groups.sort_by_key(|(first, alike)| (first.is_empty(), first.len() > 1, std::cmp::Reverse(alike.len())));
    let shown = groups.iter().take(MOST_GROUPS).map(|(_, alike)| group(alike, results.len()));
    let mut parts: Vec<String> = shown.collect();
    let rest: usize = groups.iter().skip(MOST_GROUPS).map(|(_, alike)| alike.len()).sum();
    let verb = if rest == 1 { "differs" } else { "differ" };
    parts.extend((rest > 0).then(|| format!("{} {verb}", counted(rest as u64, "more scenario"))));
    parts.join("; ")
}

fn group(alike: &[&Result], all: usize) -> String {
    let place = match alike.len() {
        whole if whole == all && all == 1 => String::new(),
        2 if all == 2 => " in both scenarios".to_owned(),
        whole if whole == all => format!(" in all {all} scenarios"),
        few if few <= MOST_NAMED => {
            format!(" in {}", listed(&alike.iter().map(|it| it.label.clone()).collect::<Vec<_>>(), "and"))
        }
        many => format!(" in {many} of {all} scenarios"),
    };
    match alike[0].first.as_slice() {
        [] => format!("no result{place}"),
        [only] => format!("{only} is {}{place}{}", alike[0].judge.superlative(), lead_words(alike)),
        many if many.len() > MOST_OVERLAPPING => format!("no clear winner{place}: {} overlap", many.len()),
        some => format!("no clear winner{place}: {} overlap", listed(some, "and")),
    }
}

/// ` (1.66–1.90× the runner-up)`
fn lead_words(alike: &[&Result]) -> String {
    let leads = || alike.iter().filter_map(|result| result.lead);
    let (Some(low), Some(high)) = (leads().reduce(f64::min), leads().reduce(f64::max)) else { return String::new() };
    let [low, high] = [low, high].map(|lead| amount(Quantity::Ratio, lead));
    let range = if low == high { high } else { format!("{}–{high}", low.trim_end_matches('×')) };
    format!(" ({range} the runner-up)")
}
