//! A scenario of servers: its verdict, its table, and related blocks.

use tolok_analysis::{Findings, ScenarioFinding};

use super::notes::Notes;
use super::surroundings::{cases, environment, link_did};
use super::{clients, database, judgement, limits, muted, objectives, paragraph, parts, resources, section, table};
use crate::document::{Block, Depth, Heading, Look, Text};
use crate::wording::heading;

/// Everything about a scenario. An environment that all scenarios share is shown before.
pub(crate) fn blocks(scenario: &ScenarioFinding, depth: Depth, is_common: bool) -> Vec<Block> {
    let mut blocks = head(scenario, depth, is_common);
    if depth != Depth::Page {
        blocks.push(Block::Verdict(scenario.verdict.as_str().into()));
    }
    let notes = Notes::of(cases(scenario));
    blocks.push(Block::Table(table::table(scenario, Some(&notes), depth)));
    blocks.push(Block::Legend(table::legend(scenario)));
    blocks.extend(notes.block());
    if depth == Depth::Short {
        blocks.extend(judgement::short("server", scenario.noise_floor.as_ref(), scenario.power.as_ref()));
    }
    blocks.extend(slices(scenario, depth));
    if depth != Depth::Page {
        blocks.extend(limits::of_scenario(scenario, depth));
    }
    blocks.extend(parts::blocks(scenario, depth));
    blocks.extend(clients::blocks(scenario));
    blocks.extend(objectives::blocks(scenario, depth));
    blocks.extend(database::blocks(scenario, depth));
    if depth == Depth::Short {
        blocks.extend(resources::short_diagnoses(scenario));
    }
    blocks
}

/// The tables of all scenarios, as the section of a page.
pub(crate) fn all(findings: &Findings, scenarios: &[&ScenarioFinding]) -> Vec<Block> {
    let is_common = super::surroundings::common_environment(scenarios.iter().copied()).is_some();
    let mut all: Vec<Block> = scenarios.iter().flat_map(|it| blocks(it, Depth::Page, is_common)).collect();
    if all.is_empty() && !findings.programs.is_empty() {
        return all;
    }
    let tiers = match findings.scenarios.iter().any(|scenario| !scenario.comparisons.is_empty()) {
        true => " Same tier letter: no clear difference.",
        false => "",
    };
    all.extend(muted(format!(
        "Goodput, CPU time, memory and all ratios are geometric means over the rounds; other figures are medians over the clean trials.{tiers} A dash: no such figure, or a percentile with fewer than 10 responses of a trial beyond it."
    )));
    section("figures", "All figures", all)
}

/// How its slices were given, and what more of them would gain. A terminal shows only the first two sentences, and the last one, on
/// memory and latency.
fn slices(scenario: &ScenarioFinding, depth: Depth) -> Option<Block> {
    let sentences = &scenario.slices.as_ref()?.sentences;
    let is_shown = |place: usize| depth != Depth::Short || place < 2 || place + 1 == sentences.len();
    let shown =
        sentences.iter().enumerate().filter(|(place, _)| is_shown(*place)).map(|(_, sentence)| sentence.as_str());
    muted(shown.collect::<Vec<_>>().join(" "))
}

/// Only heading, verdict and table, as in a brief report.
pub(crate) fn brief(scenario: &ScenarioFinding, depth: Depth) -> Vec<Block> {
    let mut blocks = match depth {
        Depth::Short => vec![
            Block::heading(2, format!("{}: {}", heading(scenario), scenario.load)),
            Block::Verdict(scenario.verdict.as_str().into()),
        ],
        _ => vec![summary(&heading(scenario), &scenario.verdict)],
    };
    blocks.push(Block::Table(table::table(scenario, None, depth)));
    blocks.push(Block::Legend(table::legend(scenario)));
    blocks
}

/// A title and a verdict in one paragraph.
pub(crate) fn summary(title: &str, verdict: &str) -> Block {
    Block::Paragraph(Text::of(title, Look::Strong).and(format!(": {verdict}"), Look::Plain))
}

fn head(scenario: &ScenarioFinding, depth: Depth, is_common: bool) -> Vec<Block> {
    let own_environment = || muted(environment(scenario)).filter(|_| !is_common);
    match depth {
        Depth::Short => {
            let title = Block::heading(2, format!("{}: {}", heading(scenario), scenario.load));
            let link = link_did(scenario).and_then(|did| muted(format!("link: {did}")));
            [Some(title), own_environment(), link].into_iter().flatten().collect()
        }
        Depth::Full => {
            let said = [format!("{}.", scenario.load), format!("Environment: {}.", environment(scenario))];
            let said = said.into_iter().filter_map(paragraph);
            std::iter::once(Block::heading(2, heading(scenario))).chain(said).collect()
        }
        Depth::Page => {
            let title = Heading { rank: 3, text: heading(scenario).into(), beside: scenario.load.clone() };
            [Some(Block::Heading(title)), own_environment()].into_iter().flatten().collect()
        }
    }
}
