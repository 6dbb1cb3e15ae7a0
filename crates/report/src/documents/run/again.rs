//! The end of a report: what to know before quoting figures, the machine, and how to repeat the run.

use tolok_analysis::Findings;
use tolok_analysis::figures::counted;

use super::{list, paragraph, section, untested};
use crate::document::{Block, Depth, Look, Text};

/// The most cautions that a page shows unfolded.
const MOST_SHOWN: usize = 4;

/// Cautions before figures are quoted. On a terminal, the list includes what was not tested.
pub(crate) fn cautions(findings: &Findings, depth: Depth) -> Vec<Block> {
    let untested = untested::line(findings).filter(|_| depth == Depth::Short);
    let items: Vec<String> = findings.cautions.iter().cloned().chain(untested).collect();
    let quotable = findings.quotable.clone().map(Text::from).and_then(paragraph);
    if depth == Depth::Page && !items.is_empty() {
        return section("cautions", "Cautions", quotable.into_iter().chain(of_page(items)).collect());
    }
    let sign = if depth == Depth::Short { "!" } else { "-" };
    list("Cautions", sign, items).into_iter().chain(quotable).collect()
}

/// The most serious cautions; the others are folded away.
fn of_page(mut items: Vec<String>) -> Vec<Block> {
    let rest = items.split_off(MOST_SHOWN.min(items.len()));
    let texts = |items: Vec<String>| items.iter().map(|item| Text::with_code(item)).collect();
    let more = format!("{} more", rest.len()).into();
    let folded = Block::list(texts(rest)).map(|list| Block::Folded { summary: more, blocks: vec![list] });
    Block::list(texts(items)).into_iter().chain(folded).collect()
}

/// The machine and the program versions.
pub(crate) fn machine(findings: &Findings) -> Vec<Block> {
    let run = &findings.run;
    let programs: Vec<String> = run.programs.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let items = [run.machine.clone(), programs.join(", ")].into_iter().filter(|item| !item.is_empty());
    let items = items.map(Text::from).collect();
    section("machine", "Machine and versions", Block::list(items).into_iter().collect())
}

/// How to repeat the run, and the identity of its plan and records.
pub(crate) fn command(findings: &Findings, depth: Depth) -> Vec<Block> {
    let run = &findings.run;
    if depth == Depth::Short {
        return list("Run it again", "$", vec![run.command.clone()]);
    }
    let blocks = counted(u64::from(run.blocks), "round");
    let plan = Text::from(format!("Seed {}, plan ", run.seed)).and(run.plan_sha256.as_str(), Look::Code);
    let records = run.records_sha256.as_ref().map(|hash| {
        let records = Text::from("Records ").and(hash.as_str(), Look::Code).and("; ", Look::Plain);
        records
            .and("tolok verify", Look::Code)
            .and(" recomputes every figure from the raw data and reports any difference.", Look::Plain)
    });
    let command = Block::Code(vec![run.command.clone()]);
    let said = [Some(plan.and(format!(", {blocks}."), Look::Plain)), records];
    let said = said.into_iter().flatten().filter_map(paragraph);
    section("again", "Run it again", std::iter::once(command).chain(said).collect())
}
