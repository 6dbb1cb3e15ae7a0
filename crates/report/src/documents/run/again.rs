//! What a report ends with: what to know before its figures are quoted, what they were taken on, and how to repeat the run.

use tolok_analysis::Findings;
use tolok_analysis::figures::counted;

use super::{list, paragraph, section, untested};
use crate::document::{Block, Depth, Look, Text};

/// What to know before figures are quoted. A terminal gets what was not tested in the same list.
pub(crate) fn cautions(findings: &Findings, depth: Depth) -> Vec<Block> {
    let untested = untested::line(findings).filter(|_| depth == Depth::Short);
    let items = findings.cautions.iter().cloned().chain(untested).collect();
    let sign = if depth == Depth::Short { "!" } else { "-" };
    list("Before quoting these figures", sign, items)
}

/// What the figures were taken on.
pub(crate) fn machine(findings: &Findings) -> Vec<Block> {
    let run = &findings.run;
    let programs: Vec<String> = run.programs.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let items = [run.machine.clone(), programs.join(", ")].into_iter().filter(|item| !item.is_empty());
    let items = items.map(Text::from).collect();
    section("machine", "Machine and versions", Block::list(items).into_iter().collect())
}

/// How to repeat the run, and what it was planned and recorded as.
pub(crate) fn command(findings: &Findings, depth: Depth) -> Vec<Block> {
    let run = &findings.run;
    if depth == Depth::Short {
        return list("Run it again", "$", vec![run.command.clone()]);
    }
    let blocks = counted(u64::from(run.blocks), "block");
    let plan = Text::from(format!("Seed {}, plan ", run.seed)).and(run.plan_sha256.as_str(), Look::Code);
    let records = run.records_sha256.as_ref().map(|hash| {
        let records = Text::from("Records ").and(hash.as_str(), Look::Code).and("; ", Look::Plain);
        records
            .and("tolok verify", Look::Code)
            .and(" makes every figure again from the raw data and says so.", Look::Plain)
    });
    let command = Block::Code(vec![run.command.clone()]);
    let said = [Some(plan.and(format!(", {blocks}."), Look::Plain)), records];
    let said = said.into_iter().flatten().filter_map(paragraph);
    section("again", "Run it again", std::iter::once(command).chain(said).collect())
}
