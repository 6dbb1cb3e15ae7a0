//! The charts of a page: throughput, differences and costs, with scenarios side by side.

use tolok_analysis::figures::{Quantity, amount, counted};
use tolok_analysis::{Findings, MemorySource, ScenarioFinding};
use tolok_model::Judge;

use super::sections::is_of_tools;
use super::{muted, pairs, section};
use crate::document::{Block, Chart, Key};
use crate::svg;

/// Throughput, a chart for each scenario.
pub(crate) fn throughput(findings: &Findings, scenarios: &[&ScenarioFinding]) -> Vec<Block> {
    let charts: Vec<Chart> = own(scenarios).iter().map(|it| drawn(svg::throughput(it))).collect();
    if charts.is_empty() {
        return Vec::new();
    }
    section("throughput", "Throughput", with_note(throughput_note(findings), charts))
}

/// Differences from the first of each scenario; all pairs are folded away.
pub(crate) fn differences(findings: &Findings, scenarios: &[&ScenarioFinding]) -> Vec<Block> {
    let own = own(scenarios);
    let charts: Vec<Chart> =
        own.iter().filter_map(|it| Some(drawn(svg::ratios(it, findings.run.smallest_effect)?))).collect();
    if charts.is_empty() {
        return Vec::new();
    }
    let judge = judge(findings);
    let blocks =
        muted(differences_note(judge)).into_iter().chain([key_of_differences(findings, judge), Block::Charts(charts)]);
    let title = format!("Differences from the {}", judge.superlative());
    section("differences", &title, blocks.chain(pairs::of_servers(findings)).collect())
}

/// The cost of correct responses.
pub(crate) fn costs(findings: &Findings, scenarios: &[&ScenarioFinding]) -> Vec<Block> {
    let own = own(scenarios);
    let charts: Vec<Chart> = own.iter().filter(|it| svg::has_costs(it)).map(|it| drawn(svg::costs(it))).collect();
    if charts.is_empty() {
        return Vec::new();
    }
    section("costs", "CPU and memory", with_note(costs_note(findings), charts))
}

/// The scenarios that do not compare tools: those have charts of their own.
fn own<'a>(scenarios: &[&'a ScenarioFinding]) -> Vec<&'a ScenarioFinding> {
    scenarios.iter().copied().filter(|it| !is_of_tools(it)).collect()
}

fn drawn(svg: String) -> Chart {
    Chart::of(svg)
}

fn with_note(note: String, charts: Vec<Chart>) -> Vec<Block> {
    muted(note).into_iter().chain([Block::Charts(charts)]).collect()
}

fn is_compared(findings: &Findings) -> bool {
    findings.scenarios.iter().any(|scenario| !scenario.comparisons.is_empty())
}

/// The criterion for ranking, which all scenarios of a study share.
fn judge(findings: &Findings) -> Judge {
    findings.scenarios.first().map(|scenario| scenario.judged_by).unwrap_or_default()
}

fn throughput_note(findings: &Findings) -> String {
    let rounds = counted(u64::from(findings.run.blocks), "round");
    let has_limit = findings.scenarios.iter().any(|scenario| scenario.ceiling.is_some());
    let by = match judge(findings) {
        Judge::Goodput => String::new(),
        judge => format!(" in {}", judge.response()),
    };
    let tiers = match is_compared(findings) {
        true => format!(
            " Same tier letter: no clear difference{by}. Bold: the first, and those without a clear difference from it."
        ),
        false => String::new(),
    };
    let limit = if has_limit { " Dashed: the machine limit, which the smallest possible server reached." } else { "" };
    format!(
        "Correct responses per second, geometric mean of {rounds}; whisker: 95% interval.{tiers}{limit} Outlined: not ranked."
    )
}

fn differences_note(judge: Judge) -> String {
    let per = if judge == Judge::Cpu { " per second of CPU time" } else { "" };
    format!(
        "How many times as many correct responses{per} the {} gave: the geometric mean over the rounds, on a logarithmic axis. \
         Whisker: the 95% interval that holds for all pairs of a scenario together, as the verdicts do.",
        judge.superlative()
    )
}

fn key_of_differences(findings: &Findings, judge: Judge) -> Block {
    let dot = |class: &str, words: &str| key(&format!(r#"<circle class="dot{class}" cx="6" cy="6" r="4"/>"#), words);
    Block::Key(vec![
        dot("", judge.comparative()),
        dot(" open", "equivalent, or no difference found; a large one would have been seen"),
        dot(" unclear", "no clear difference; the interval is too wide, or there is none"),
        same(findings),
    ])
}

/// The key of the grey area in a chart of ratios.
pub(crate) fn same(findings: &Findings) -> Key {
    let effect = amount(Quantity::Share, findings.run.smallest_effect);
    key(
        r#"<rect class="same" width="12" height="12"/>"#,
        &format!("differences below {effect} do not matter, says the study"),
    )
}

/// A shape of a chart, 12 units wide, and its meaning.
pub(crate) fn key(shape: &str, words: &str) -> Key {
    let svg = format!(r#"<svg viewBox="0 0 12 12" aria-hidden="true">{shape}</svg>"#);
    Key { svg, words: words.to_owned() }
}

fn costs_note(findings: &Findings) -> String {
    format!(
        "Cost of a correct response: CPU time of all processes of the subject; and its memory: {}. Shorter is better.",
        memory(findings)
    )
}

/// What the charts mean by memory.
fn memory(findings: &Findings) -> &'static str {
    let of = |source| findings.scenarios.iter().any(|scenario| scenario.memory_source == Some(source));
    match (of(MemorySource::Group), of(MemorySource::Pss)) {
        (true, false) => "the most anonymous and kernel memory of the subject’s control group in the window",
        (false, _) => {
            "the proportional set sizes of its processes when the window ended, which count shared pages once"
        }
        (true, true) => {
            "what its heading says, anonymous and kernel memory of a control group or proportional set sizes (PSS)"
        }
    }
}
