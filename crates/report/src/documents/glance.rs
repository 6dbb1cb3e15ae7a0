//! A run on one screen of a terminal: a matrix, a sentence for each scenario, the most serious cautions. The longer reports have the rest.

use tolok_analysis::figures::{NONE, Quantity, amount, counted, listed, moment};
use tolok_analysis::{Findings, NoiseFloor, PowerNote, ScenarioFinding, difference};
use tolok_model::sentences::capital;

use super::run::{factors, judgement, matrix, muted, programs, published, sections, standings, tools, trust};
use crate::document::{Block, Document, Fact, List, Look, Matrix, MatrixRow, Text};
use crate::wording::heading;

/// The most cautions shown; longer reports have the rest.
const MOST_CAUTIONS: usize = 3;
/// The run at a glance.
pub fn document(findings: &Findings) -> Document {
    let sections = sections::sections(findings);
    let sections: Vec<&ScenarioFinding> = sections.iter().map(AsRef::as_ref).collect();
    let (matrix, notes) = matrix::matrix(findings, &sections);
    let mut blocks = head(findings, &sections);
    blocks.extend(tools_of(findings));
    if let Some(matrix) = matrix {
        let legend = legend(findings, &matrix);
        blocks.push(Block::Matrix(matrix));
        blocks.extend(muted(legend));
    }
    blocks.extend(apart(sentences(findings, &sections)));
    let cautions = cautions(findings);
    blocks.extend(apart((!cautions.is_empty()).then_some(Block::List(List { sign: "!", items: cautions }))));
    blocks.extend((!notes.is_empty()).then_some(Block::Notes(notes)));
    blocks.extend(skipped(findings));
    Document { title: findings.run.title.clone(), blocks }
}

/// A block after an empty line.
fn apart(block: Option<Block>) -> Option<Block> {
    block.map(|block| Block::Apart(vec![block]))
}

/// What was compared, and on what.
fn head(findings: &Findings, sections: &[&ScenarioFinding]) -> Vec<Block> {
    let run = &findings.run;
    let mut subjects: Vec<&str> =
        findings.scenarios.iter().flat_map(|it| &it.cases).map(|it| it.subject.as_str()).collect();
    subjects.extend(findings.programs.iter().flat_map(|it| &it.cases).map(|it| it.subject.as_str()));
    subjects.sort_unstable();
    subjects.dedup();
    let noun = if findings.has_programs_only() { "program" } else { "server" };
    let tried = findings.scenarios.len() + findings.programs.len();
    let title = Text::of(run.title.as_str(), Look::Strong).and(
        format!(
            " · {} · {} · {} in random order · {}",
            counted(subjects.len() as u64, noun),
            counted(tried as u64, "scenario"),
            counted(u64::from(run.blocks), "round"),
            moment(&run.started_at),
        ),
        Look::Plain,
    );
    let machine = [machine(&run.machine), places(sections)].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let scaled = findings.scaled().map(|scaled| Block::paragraph(scaled, Look::Warning));
    [Some(Block::Paragraph(title)), muted(machine), run.stopping.clone().and_then(muted), scaled]
        .into_iter()
        .flatten()
        .collect()
}

/// `AMD EPYC · 2 CPUs · Debian 12 · virtual machine`: the kernel and the memory are in the longer reports.
fn machine(line: &str) -> Option<String> {
    let is_shown = |part: &&str| !part.starts_with("Linux ") && !part.ends_with(" memory");
    let short = |part: &str| part.split(" (").next().unwrap_or(part).replace("GNU/Linux ", "");
    let parts: Vec<String> = line.split(" · ").filter(is_shown).map(short).collect();
    (!line.is_empty()).then(|| parts.join(" · "))
}

/// `server on CPU 0, load and database on CPU 1`, if that holds for all scenarios.
fn places(sections: &[&ScenarioFinding]) -> Option<String> {
    let first = &sections.first()?.environment;
    let is_same = |it: &&ScenarioFinding| {
        it.environment.subject.on_cpus == first.subject.on_cpus
            && it.environment.generator.on_cpus == first.generator.on_cpus
    };
    if let Some(nodes) = first.generator_nodes {
        return Some(format!(
            "server on {}, load from {}",
            super::run::surroundings::cpus(&first.subject.on_cpus),
            own_nodes(nodes)
        ));
    }
    let (subject, generator) = (&first.subject.on_cpus, &first.generator.on_cpus);
    if !sections.iter().all(is_same) || subject.is_empty() || generator.is_empty() {
        return None;
    }
    let beside = |it: &&ScenarioFinding| it.database.as_ref().is_some_and(|database| database.on_cpus == *generator);
    let load = if sections.iter().any(beside) { "load and database" } else { "load" };
    let cpus = super::run::surroundings::cpus;
    Some(match subject == generator {
        true => format!("server and load on {}", cpus(subject)),
        false => format!("server on {}, {load} on {}", cpus(subject), cpus(generator)),
    })
}

/// `a node of its own`, `2 nodes of their own`.
pub(crate) fn own_nodes(nodes: u32) -> String {
    if nodes == 1 { "a node of its own".to_owned() } else { format!("{nodes} nodes of their own") }
}

/// A study of tools is about the tools, so their tables come first.
fn tools_of(findings: &Findings) -> Vec<Block> {
    let facts = findings.tools.iter().map(|it| Fact { label: tools::heading(it), words: it.verdict.as_str().into() });
    let facts: Vec<Fact> = facts.collect();
    apart((!facts.is_empty()).then_some(Block::Facts(facts))).into_iter().collect()
}

pub(crate) fn legend(findings: &Findings, matrix: &Matrix) -> String {
    let rounds = counted(u64::from(findings.run.blocks), "round");
    let judge = findings.scenarios.first().map(|scenario| capital(scenario.judged_by.response()));
    let what = match (judge, findings.programs.is_empty()) {
        (Some(judge), true) => judge,
        (Some(judge), false) => format!("{judge}, and wall times"),
        (None, _) => "Wall time".to_owned(),
    };
    let has_tiers = matrix.rows.iter().flat_map(|row| &row.cells).any(|cell| !cell.tier.is_empty());
    let tiers = if has_tiers { " Same letter: this run cannot tell them apart." } else { "" };
    let has_bounds = matrix.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.value.starts_with('≥'));
    let bounds = if has_bounds { " ≥: the load generator was the limit." } else { "" };
    let is_gap = |row: &MatrixRow| row.cells.iter().map(|cell| &cell.value).chain(&row.costs).any(|it| it == NONE);
    let has_gaps = matrix.rows.iter().any(is_gap);
    let gaps = if has_gaps { " –: no figure." } else { "" };
    let in_turns = findings.programs.iter().filter(|program| program.turns.is_some()).count();
    let turns = match in_turns {
        0 => "",
        all if all == findings.programs.len() => " Programs took turns, run by run.",
        _ => " Some programs took turns, run by run.",
    };
    format!("{what}, geometric mean of {rounds}.{turns}{tiers}{bounds}{gaps}")
}

/// A sentence for each scenario, equal ones together. For very many scenarios: who comes first in how many.
fn sentences(findings: &Findings, sections: &[&ScenarioFinding]) -> Option<Block> {
    let fact = |label: &str, words: &str| Fact::of(label, words);
    let standings = standings::standings(findings, sections);
    let mut facts: Vec<Fact> = match standings.is_empty() {
        true => together(&verdicts(findings, sections)),
        false => standings.iter().map(|it| fact(&it.first, &it.number)).collect(),
    };
    let matters =
        findings.variance.iter().map(|it| (format!("What matters: {}", factors::of_variance(it)), &it.sentence));
    facts.extend(matters.map(|(label, words)| fact(&label, words)));
    facts.extend(published::short_lines(findings).iter().map(|line| fact("Published", line)));
    (!facts.is_empty()).then_some(Block::Facts(facts))
}

/// The name and the verdict of each scenario.
pub(crate) fn verdicts(findings: &Findings, sections: &[&ScenarioFinding]) -> Vec<(String, String)> {
    let own = sections.iter().filter(|section| !sections::is_of_tools(section)).map(|it| it.verdict.clone());
    let verdicts = own.chain(findings.programs.iter().map(|it| it.verdict.clone()));
    matrix::labels(findings, sections).into_iter().zip(verdicts).collect()
}

/// The same, with equal verdicts together.
fn together(verdicts: &[(String, String)]) -> Vec<Fact> {
    let mut groups: Vec<(Vec<&str>, &str)> = Vec::new();
    for (label, words) in verdicts {
        match groups.iter_mut().find(|(_, known)| *known == words) {
            Some((labels, _)) => labels.push(label),
            None => groups.push((vec![label], words)),
        }
    }
    let label = |labels: &[&str]| match labels {
        [only] => (*only).to_owned(),
        [one, other] => format!("{one}, {other}"),
        all if all.len() == verdicts.len() => "All scenarios".to_owned(),
        many => format!("{} scenarios", many.len()),
    };
    groups.iter().map(|(labels, words)| Fact::of(label(labels), *words)).collect()
}

/// The most serious cautions, and the smallest difference that the run can show.
fn cautions(findings: &Findings) -> Vec<Text> {
    let warning = |words: String| Text::of(words, Look::Warning);
    let resolution = resolution(findings);
    let room = MOST_CAUTIONS - usize::from(resolution.is_some());
    let more = findings.cautions.len().saturating_sub(room);
    let mut shown: Vec<String> = findings.cautions.iter().take(room).map(|caution| first_sentence(caution)).collect();
    if let (Some(last), true) = (shown.last_mut(), more > 0) {
        *last += &format!(" ({more} more: tolok report -v)");
    }
    shown.into_iter().chain(resolution).map(warning).collect()
}

/// A caution without its further explanation, which the longer reports have.
fn first_sentence(words: &str) -> String {
    words.split_once(". ").map_or_else(|| words.to_owned(), |(first, _)| format!("{first}."))
}

/// The result of the noise check, and the smallest visible difference.
fn resolution(findings: &Findings) -> Option<String> {
    let of_servers = findings.scenarios.iter().map(|it| (heading(it), it.noise_floor.as_ref(), it.power.as_ref()));
    let of_programs =
        findings.programs.iter().map(|it| (programs::heading(it), it.noise_floor.as_ref(), it.power.as_ref()));
    let all: Vec<(String, Option<&NoiseFloor>, Option<&PowerNote>)> = of_servers.chain(of_programs).collect();
    let what = if findings.has_programs_only() { "program" } else { "server" };
    let noise = noise(what, &all.iter().filter_map(|(_, floor, _)| *floor).collect::<Vec<_>>());
    let found: Vec<(String, f64)> =
        all.iter().filter_map(|(name, _, power)| Some((name.clone(), power.as_ref()?.smallest_found))).collect();
    let parts: Vec<String> = [noise, detectable(&found)].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn noise(what: &str, floors: &[&NoiseFloor]) -> Option<String> {
    let ratios = || floors.iter().map(|floor| floor.ratio.value);
    let (low, high) = (ratios().reduce(f64::min)?, ratios().reduce(f64::max)?);
    let [low, high] = [low, high].map(|ratio| amount(Quantity::Ratio, ratio));
    let range = match low == high {
        true => format!("a ratio of {high}"),
        false => format!("ratios of {}–{high}", low.trim_end_matches('×')),
    };
    let most = floors.iter().copied().max_by_key(|floor| floor.pairs.len())?;
    Some(format!("Noise check: {}, entered twice, had {range}.", judgement::entered(what, most)))
}

/// `Typical pairs closer than 21% (Hello), 30% (JSON) or 12% (rows) cannot be separated yet.`
fn detectable(found: &[(String, f64)]) -> Option<String> {
    /// The most scenarios that are named.
    const MOST_NAMED: usize = 3;
    let of_each = || {
        listed(&found.iter().map(|(name, found)| format!("{} ({name})", difference(*found))).collect::<Vec<_>>(), "or")
    };
    let (low, high) = (found.iter().map(|it| it.1).reduce(f64::min)?, found.iter().map(|it| it.1).reduce(f64::max)?);
    let below = match found.len() {
        1 => difference(high),
        few if few <= MOST_NAMED => of_each(),
        _ => format!("{} to {}, by scenario,", difference(low), difference(high)),
    };
    Some(format!("Typical pairs closer than {below} cannot be separated yet."))
}

/// A line for each subject that could not take part, with the command that helps.
fn skipped(findings: &Findings) -> Option<Block> {
    let of_checks = of_checks(findings);
    let skipped = findings.skipped.iter().map(|it| {
        let remedy = it.reason.split_once(": ").map_or(it.reason.as_str(), |(_, remedy)| remedy);
        let part = if it.database_only { ", with a database" } else { "" };
        Fact::of("Skipped", format!("{}{part}: {remedy}", it.subject))
    });
    let quoting = findings.quotable.as_ref().map(|words| Fact::of("Quoting", words.as_str()));
    let facts: Vec<Fact> = skipped.chain(of_checks.map(|words| Fact::of("Checks", words))).chain(quoting).collect();
    (!facts.is_empty()).then_some(Block::Facts(facts))
}

/// How many checks of the run failed, and which.
fn of_checks(findings: &Findings) -> Option<String> {
    const MOST_NAMED: usize = 2;
    let checks = trust::checks(findings);
    let failed: Vec<String> = checks.iter().filter(|check| check.has_failed()).map(|it| it.rule.to_owned()).collect();
    if failed.is_empty() {
        return None;
    }
    let named: Vec<String> = failed.iter().take(MOST_NAMED).map(|rule| format!("“{rule}”")).collect();
    let more = if failed.len() > MOST_NAMED { ", …" } else { "" };
    Some(format!("{} of {} failed: {}{more}", failed.len(), checks.len(), named.join(", ")))
}
