//! The report of a run, one file per section.
//!
//! A section is a function from findings and a [`Depth`] to blocks. It is empty if it has nothing to report.

pub(crate) mod again;
pub(crate) mod charts;
pub(crate) mod clients;
pub(crate) mod cold_start;
pub(crate) mod columns;
pub(crate) mod database;
pub(crate) mod factors;
pub(crate) mod failures;
pub(crate) mod fairness;
pub(crate) mod gates;
pub(crate) mod head;
pub(crate) mod headline;
pub(crate) mod isolation;
pub(crate) mod judgement;
pub(crate) mod latency;
pub(crate) mod limits;
pub(crate) mod matrix;
pub(crate) mod notes;
pub(crate) mod objectives;
pub(crate) mod pairs;
pub(crate) mod parts;
pub(crate) mod program_table;
pub(crate) mod program_trust;
pub(crate) mod programs;
pub(crate) mod published;
pub(crate) mod recommendations;
pub(crate) mod resources;
pub(crate) mod scenario;
pub(crate) mod seconds;
pub(crate) mod sections;
pub(crate) mod standings;
pub(crate) mod surroundings;
pub(crate) mod table;
pub(crate) mod tool_remarks;
pub(crate) mod tools;
pub(crate) mod trust;
pub(crate) mod untested;

use tolok_analysis::{Findings, ScenarioFinding};

use super::duel;
use crate::document::{Block, Depth, Document, List, Look, Text};

pub fn document(findings: &Findings, depth: Depth) -> Document {
    let sections = sections::sections(findings);
    let sections: Vec<&ScenarioFinding> = sections.iter().map(AsRef::as_ref).collect();
    let parts = match depth {
        Depth::Short => short(findings, &sections),
        Depth::Full => full(findings, &sections),
        Depth::Page => page(findings, &sections),
    };
    Document { title: findings.run.title.clone(), blocks: parts.concat() }
}

/// The question of a study of tools comes before each tool's figures.
fn short(findings: &Findings, sections: &[&ScenarioFinding]) -> Vec<Vec<Block>> {
    let depth = Depth::Short;
    let is_common = surroundings::common_environment(sections.iter().copied()).is_some();
    vec![
        head::blocks(findings, sections, depth),
        duel::within(findings, depth),
        tools::blocks(findings, depth),
        factors::blocks(findings, depth),
        sections.iter().flat_map(|section| scenario::blocks(section, depth, is_common)).collect(),
        programs::blocks(findings, depth),
        list("Published and measured", "-", published::short_lines(findings)),
        list("Recommendations", "-", recommendations::short_lines(findings)),
        failures::trials(findings, depth),
        gates::summary(findings, depth),
        list("Fairness: what differed between servers", "!", fairness::short(findings)),
        again::cautions(findings, depth),
        again::command(findings, depth),
    ]
}

fn full(findings: &Findings, sections: &[&ScenarioFinding]) -> Vec<Vec<Block>> {
    let depth = Depth::Full;
    vec![
        head::blocks(findings, sections, depth),
        duel::within(findings, depth),
        tools::blocks(findings, depth),
        factors::blocks(findings, depth),
        sections.iter().flat_map(|section| scenario::blocks(section, depth, false)).collect(),
        latency::blocks(findings, depth),
        seconds::blocks(findings, depth),
        cold_start::blocks(findings, depth),
        programs::blocks(findings, depth),
        judgement::blocks(findings, sections, depth),
        published::blocks(findings, depth),
        recommendations::blocks(findings, depth),
        fairness::blocks(findings, depth),
        resources::blocks(sections, depth),
        failures::requests(findings, depth),
        failures::trials(findings, depth),
        gates::summary(findings, depth),
        again::cautions(findings, depth),
        untested::blocks(findings, depth),
        isolation::blocks(findings),
        again::machine(findings),
        again::command(findings, depth),
    ]
}

/// A page begins with an overview. Details for some readers are folded away behind their headings.
fn page(findings: &Findings, sections: &[&ScenarioFinding]) -> Vec<Vec<Block>> {
    let depth = Depth::Page;
    vec![
        head::blocks(findings, sections, depth),
        head::verdicts(findings, sections),
        duel::within(findings, depth),
        tools::blocks(findings, depth),
        charts::throughput(findings, sections),
        latency::blocks(findings, depth),
        charts::differences(findings, sections),
        charts::costs(findings, sections),
        programs::blocks(findings, depth),
        factors::blocks(findings, depth),
        published::blocks(findings, depth),
        recommendations::blocks(findings, depth),
        again::cautions(findings, depth),
        trust::blocks(findings, sections),
        fairness::blocks(findings, depth),
        folded(
            judgement::blocks(findings, sections, depth),
            "noise check, and how small a difference this run can detect",
        ),
        folded(limits::overview(sections), "the evidence for each case"),
        folded(seconds::blocks(findings, depth), "throughput, CPU and memory in each second"),
        folded(cold_start::blocks(findings, depth), "from the start to the first correct response"),
        folded(failures::trials(findings, depth), "what no figure includes, and why"),
        folded(failures::requests(findings, depth), ""),
        folded(scenario::all(findings, sections), "every table, with intervals"),
        folded(resources::blocks(sections, depth), ""),
        folded(isolation::blocks(findings), ""),
        folded(untested::blocks(findings, depth), ""),
        folded(again::machine(findings), ""),
        again::command(findings, depth),
    ]
}

/// The same sections, with everything below their headings folded away.
fn folded(sections: Vec<Block>, summary: &str) -> Vec<Block> {
    let fold = |section: Block| match section {
        Block::Section { id, mut blocks } if matches!(blocks.first(), Some(Block::Heading(_))) => {
            let rest = blocks.split_off(1);
            blocks.push(Block::Folded { summary: summary.into(), blocks: rest });
            Block::Section { id, blocks }
        }
        other => other,
    };
    sections.into_iter().map(fold).collect()
}

/// A paragraph, or `None` if it is empty.
pub(crate) fn paragraph(text: impl Into<Text>) -> Option<Block> {
    let text = text.into();
    (!text.is_empty()).then_some(Block::Paragraph(text))
}

/// A muted paragraph, or `None` if it is empty.
pub(crate) fn muted(words: impl Into<String>) -> Option<Block> {
    paragraph(Text::of(words, Look::Muted))
}

/// A linkable section with its heading, or nothing if it has no blocks.
pub(crate) fn section(id: &str, heading: &str, blocks: Vec<Block>) -> Vec<Block> {
    Block::section(id, heading, blocks).into_iter().collect()
}

/// A heading and items, or nothing if there are no items.
pub(crate) fn list<T: Into<Text>>(heading: &str, sign: &'static str, items: Vec<T>) -> Vec<Block> {
    if items.is_empty() {
        return Vec::new();
    }
    let mut items: Vec<Text> = items.into_iter().map(Into::into).collect();
    if sign == "!" {
        items.iter_mut().flat_map(|item| &mut item.0).for_each(|span| span.look = Look::Warning);
    }
    vec![Block::heading(2, heading), Block::List(List { sign, items })]
}
