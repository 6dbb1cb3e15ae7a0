//! The charts that a page begins with: throughput, differences and costs, the scenarios side by side.

use tolok_analysis::figures::{Quantity, amount, counted};
use tolok_analysis::{Findings, MemorySource, ScenarioFinding};

use super::sections::is_of_tools;
use super::{muted, pairs, paragraph, section};
use crate::document::{Block, Chart, Key};
use crate::svg;

/// Throughput and differences of a page. A single scenario has its three charts side by side instead.
pub(crate) fn throughput_and_differences(findings: &Findings, scenarios: &[&ScenarioFinding]) -> Vec<Block> {
    let own = own(scenarios);
    if findings.has_programs_only() || (own.is_empty() && !scenarios.is_empty()) {
        return Vec::new();
    }
    if let ([only], []) = (own.as_slice(), findings.programs.as_slice()) {
        return single(findings, only);
    }
    let throughput = own.iter().map(|it| drawn(svg::throughput(it))).collect();
    let differences = own.iter().filter_map(|it| Some(drawn(svg::ratios(it, findings.run.smallest_effect)?))).collect();
    let key = (!findings.scenarios.iter().all(|it| it.comparisons.is_empty())).then(|| key_of_differences(findings));
    let differences: Vec<Block> = muted(differences_note(findings))
        .into_iter()
        .chain(key)
        .chain([Block::Charts(differences)])
        .chain(pairs::of_servers(findings))
        .collect();
    [
        section("throughput", "Throughput", with_note(throughput_note(findings), throughput)),
        section("differences", "Differences", differences),
    ]
    .concat()
}

/// What good answers cost, where there are several scenarios.
pub(crate) fn costs(findings: &Findings, scenarios: &[&ScenarioFinding]) -> Vec<Block> {
    let own = own(scenarios);
    if findings.has_programs_only() || own.is_empty() || (own.len() == 1 && findings.programs.is_empty()) {
        return Vec::new();
    }
    let charts: Vec<Chart> = own.iter().filter(|it| svg::has_costs(it)).map(|it| drawn(svg::costs(it))).collect();
    let mut blocks = Vec::from_iter(muted(costs_note(findings)));
    match charts.is_empty() {
        true => blocks.extend(paragraph("Not known: no subject was started by tolok, or none was measured.")),
        false => blocks.push(Block::Charts(charts)),
    }
    section("costs", "CPU and memory", blocks)
}

/// The scenarios that are not of several tools: those have charts of their own.
fn own<'a>(scenarios: &[&'a ScenarioFinding]) -> Vec<&'a ScenarioFinding> {
    scenarios.iter().copied().filter(|it| !is_of_tools(it)).collect()
}

fn single(findings: &Findings, scenario: &ScenarioFinding) -> Vec<Block> {
    let chart = |svg: String, caption: String| Chart { svg, caption };
    let costs = svg::has_costs(scenario).then(|| chart(svg::costs(scenario), costs_note(findings)));
    let ratios =
        svg::ratios(scenario, findings.run.smallest_effect).map(|ratios| chart(ratios, differences_note(findings)));
    let throughput = chart(svg::throughput(scenario), throughput_note(findings));
    let key = (!scenario.comparisons.is_empty()).then(|| key_of_differences(findings));
    let charts = Block::Charts(std::iter::once(throughput).chain(ratios).chain(costs).collect());
    let blocks = key.into_iter().chain([charts]).chain(pairs::of_servers(findings));
    section("charts", "Throughput, differences, cost", blocks.collect())
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

fn throughput_note(findings: &Findings) -> String {
    let blocks = counted(u64::from(findings.run.blocks), "block");
    let tiers = match is_compared(findings) {
        true => {
            " Tier: cases that share a letter could not be told apart. Bold: the first, and those not told apart from it."
        }
        false => "",
    };
    format!(
        "Good answers per second, median of {blocks}. Whisker: interval over the trials.{tiers} Outlined: not ranked. Dashed: the \
         ceiling, which a minimal server reached in the same blocks (only named where it is far beyond all bars); the share is of that."
    )
}

fn differences_note(findings: &Findings) -> String {
    let note = match is_compared(findings) {
        true => {
            "How many times as many good answers one case gave as the other (goodput of the first over that of the second in the same \
             block; geometric mean of the blocks, on a logarithmic axis). Whisker: its own 95% interval; thin line: the one that holds \
             for all pairs of the scenario together. Each case is shown against the first and against its neighbour; all pairs stand in \
             the table."
        }
        false => "Nothing was compared: no scenario has two ranked cases.",
    };
    note.to_owned()
}

fn key_of_differences(findings: &Findings) -> Block {
    let dot = |class: &str, words: &str| key(&format!(r#"<circle class="dot{class}" cx="6" cy="6" r="4"/>"#), words);
    Block::Key(vec![
        dot("", "faster"),
        dot(" open", "equivalent, or no difference found; a large one would have been seen"),
        dot(" unclear", "cannot tell; the interval is too wide, or there is none"),
        same(findings),
    ])
}

/// What the grey of a chart of ratios is.
pub(crate) fn same(findings: &Findings) -> Key {
    let effect = amount(Quantity::Share, findings.run.smallest_effect);
    key(
        r#"<rect class="same" width="12" height="12"/>"#,
        &format!("differences below {effect} do not matter, says the study"),
    )
}

/// A shape of a chart, 12 units wide, and what it means.
pub(crate) fn key(shape: &str, words: &str) -> Key {
    let svg = format!(r#"<svg viewBox="0 0 12 12" aria-hidden="true">{shape}</svg>"#);
    Key { svg, words: words.to_owned() }
}

fn costs_note(findings: &Findings) -> String {
    format!(
        "Cost of a good answer: CPU time of all processes of the subject; and its memory: {}. Shorter is better.",
        memory(findings)
    )
}

/// What the charts call memory.
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
