//! Runs before and after a change, side by side.

mod words;

use tolok_analysis::figures::counted;
use tolok_analysis::{Change, CompareOutcome, ComparedSide, Difference, RunComparison, ScenarioChange, UnmatchedCase};
use tolok_model::sentences::capital;

use crate::document::{Block, Cell, Chip, Column, Depth, Document, Fact, List, Look, Row, Table, Text};
pub use words::difference;
pub(crate) use words::{Line, lines};
use words::{heading, legend, of_machine, side};

/// The comparison. The short form shows the main figures and those that changed, or with `is_all` every figure. The others fold all figures
/// away.
pub fn compare(found: &RunComparison, is_all: bool, depth: Depth) -> Document {
    let shown = lines(found, is_all && depth == Depth::Short);
    let mut blocks = head(found, depth);
    blocks.extend(Block::section("conditions", "The conditions differ", differing(found)));
    match depth {
        Depth::Full => blocks.extend(in_one_table(found, &shown)),
        Depth::Short => {
            blocks.extend(found.scenarios.iter().map(|scenario| of_scenario(found, scenario, &shown, depth)));
            blocks.extend(below(found, &shown));
        }
        Depth::Page => {
            let mut own = vec![Block::paragraph(legend(found), Look::Muted)];
            own.extend(found.scenarios.iter().map(|scenario| of_scenario(found, scenario, &shown, depth)));
            blocks.extend(Block::section("figures", "Figures", own));
        }
    }
    if depth == Depth::Page {
        blocks.extend(Block::section("only", "Not in every run", only(found)));
    }
    blocks.extend(Block::section("changes", "What else differs", list("-", found.changes.iter().map(difference))));
    blocks.extend(Block::section("cautions", "Before relying on this", list("!", found.cautions.iter().cloned())));
    Document { title: title(found), blocks }
}

/// A pair is named in the title; several runs are named in the facts below.
fn title(found: &RunComparison) -> String {
    match (found.before.as_slice(), found.after.as_slice()) {
        ([before], [after]) => format!("{} and {}", before.id, after.id),
        (before, after) => {
            let [before, after] = [before, after].map(|runs| counted(runs.len() as u64, "run"));
            format!("{before} before and {after} after")
        }
    }
}

/// The names of the runs of one side.
fn ids(runs: &[ComparedSide]) -> String {
    runs.iter().map(|run| run.id.as_str()).collect::<Vec<&str>>().join(", ")
}

/// Conditions that differ, with both values: why a comparison was refused.
pub fn conditions(differences: &[Difference]) -> Document {
    Document { blocks: list("-", differences.iter().map(difference)), ..Document::default() }
}

fn head(found: &RunComparison, depth: Depth) -> Vec<Block> {
    let (look, mark) = match found.outcome {
        CompareOutcome::NoRegression => (Look::Good, '✓'),
        CompareOutcome::Changed | CompareOutcome::CannotTell => (Look::Warning, '?'),
        CompareOutcome::Regression | CompareOutcome::NotSound => (Look::Warning, '!'),
    };
    let chip = Chip { words: format!("{mark} {}", found.outcome.words()), look, section: String::new() };
    let strong = if look == Look::Good { Look::Strong } else { look };
    let of_side = |label: &'static str, runs: &[ComparedSide]| {
        runs.iter().map(|run| Fact::of(label, side(run))).collect::<Vec<_>>()
    };
    let machine = found.after.first().map(|run| Fact::of("machine", run.machine.clone()));
    let facts = [of_side("before", &found.before), of_side("after", &found.after), machine.into_iter().collect()];
    let facts = Block::Facts(facts.concat());
    // The heading of a comment is what a list of comments shows.
    if let (Depth::Full, Some((outcome, rest))) = (depth, found.sentence.split_once(": ")) {
        return vec![Block::heading(2, outcome), Block::Paragraph(capital(rest).into()), facts];
    }
    let verdict = Block::Verdict(Text::of(&found.sentence, strong));
    vec![Block::Section { id: "verdict".to_owned(), blocks: vec![Block::Chips(vec![chip]), verdict, facts] }]
}

fn differing(found: &RunComparison) -> Vec<Block> {
    let mut blocks = list("!", found.conditions.iter().map(difference));
    if !blocks.is_empty() {
        let warning = "A difference between these runs may come from the conditions, not from the programs.";
        blocks.insert(0, Block::paragraph(warning, Look::Warning));
    }
    blocks
}

/// All scenarios in one table, for a comment; facts about the machine are folded away.
fn in_one_table(found: &RunComparison, shown: &[Line]) -> Vec<Block> {
    let all = lines(found, true);
    let mut blocks = vec![
        Block::Table(table("Figures", shown, true, Depth::Full)),
        Block::Paragraph(format!("{}.", legend(found)).into()),
    ];
    if all.len() > shown.len() {
        let table = Block::Table(table("All figures", &all, true, Depth::Full));
        let summary = format!("All {}", counted(all.len() as u64, "figure")).into();
        blocks.push(Block::Folded { summary, blocks: vec![table] });
    }
    let machine = found.scenarios.iter().flat_map(|scenario| {
        let place = format!("{}; {}", heading(scenario), place(scenario));
        [vec![Block::Paragraph(place.into())], list("-", of_machine(scenario))].concat()
    });
    blocks.push(Block::Folded { summary: "The machine, scenario by scenario".into(), blocks: machine.collect() });
    blocks
}

fn place(scenario: &ScenarioChange) -> String {
    format!("{} · {}", scenario.environment, scenario.tool)
}

fn of_scenario(found: &RunComparison, scenario: &ScenarioChange, shown: &[Line], depth: Depth) -> Block {
    let (shown, all) = (own(shown, scenario), own(&lines(found, true), scenario));
    let id = &scenario.id;
    let rank = if depth == Depth::Page { 3 } else { 2 };
    let mut blocks = vec![
        Block::heading(rank, heading(scenario)),
        Block::paragraph(place(scenario), Look::Muted),
        Block::Table(table(&format!("Figures of {id}"), &shown, false, depth)),
    ];
    if depth == Depth::Short {
        blocks.extend(list("?", reasons(&shown)));
        blocks.extend(of_machine(scenario).into_iter().map(|known| Block::paragraph(known, Look::Muted)));
    } else {
        blocks.extend(list("-", of_machine(scenario)));
        let table = Block::Table(table(&format!("All figures of {id}"), &all, false, depth));
        let summary = format!("All {} of {id}", counted(all.len() as u64, "figure")).into();
        blocks.extend((all.len() > shown.len()).then(|| Block::Folded { summary, blocks: vec![table] }));
    }
    Block::Section { id: format!("scenario-{id}"), blocks }
}

/// The figures of a scenario.
fn own<'a>(all: &[Line<'a>], scenario: &ScenarioChange) -> Vec<Line<'a>> {
    all.iter().filter(|line| std::ptr::eq(line.scenario, scenario)).copied().collect()
}

/// How to read the tables above, and how many figures they leave out.
fn below(found: &RunComparison, shown: &[Line]) -> Vec<Block> {
    let mut blocks = vec![Block::paragraph(legend(found), Look::Muted)];
    let hidden = found.figures().count() - shown.len();
    if hidden > 0 {
        let further = counted(hidden as u64, "further figure");
        blocks.push(Block::paragraph(format!("{further} without a clear change: --verbose"), Look::Muted));
    }
    blocks
}

fn table(caption: &str, all: &[Line], names_scenario: bool, depth: Depth) -> Table {
    let mut columns = vec![
        Column::words("subject"),
        Column::words("figure"),
        Column::numbers("before").priority(1),
        Column::numbers("after").priority(1),
        Column::numbers("after ÷ before"),
        Column::words("verdict"),
    ];
    if names_scenario {
        columns.insert(0, Column::words("scenario"));
    }
    let row = |(place, line): (usize, &Line)| {
        // A terminal names a case only on its first line.
        let is_named = depth != Depth::Short || place == 0 || all[place - 1].case.subject != line.case.subject;
        let title = if is_named { line.case.title.clone() } else { String::new() };
        let subject = Cell { below: line.case.subject.clone(), ..title.into() };
        let ratio = line.ratio();
        let ratio = Cell { interval: ratio.interval, ..ratio.value.into() };
        let mut cells =
            vec![subject, line.metric().into(), line.before().into(), line.after().into(), ratio, verdict(line, depth)];
        if names_scenario {
            cells.insert(0, line.scenario.id.as_str().into());
        }
        Row { runtime: Some(line.case.runtime.clone()), look: Look::Plain, cells }
    };
    let rows = all.iter().enumerate().map(row).collect();
    Table::of(caption, columns, rows)
}

/// The verdict on a figure. If there is none, the reason follows, unless it appears below the table.
fn verdict(line: &Line, depth: Depth) -> Cell {
    let look = match line.figure.verdict {
        Some(Change::Regression | Change::Worse) => Look::Warning,
        Some(Change::Improvement | Change::Better) => Look::Good,
        _ => Look::Plain,
    };
    let verdict = Text::of(line.verdict(), look);
    match line.reason().filter(|_| depth != Depth::Short) {
        Some(reason) => verdict.and(format!(": {reason}"), Look::Plain),
        None => verdict,
    }
    .into()
}

/// Why there is no verdict: `Bun.serve, goodput, memory: no larger than …`, each reason of a case once.
fn reasons(own: &[Line]) -> Vec<String> {
    let mut all: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for line in own {
        let Some(reason) = line.reason() else { continue };
        let title = line.case.title.as_str();
        match all.iter_mut().find(|(known, of, _)| *known == title && *of == reason) {
            Some((_, _, metrics)) => metrics.push(line.metric()),
            None => all.push((title, reason, vec![line.metric()])),
        }
    }
    all.iter().map(|(title, reason, metrics)| format!("{title}, {}: {reason}", metrics.join(", "))).collect()
}

/// Cases that only one side has.
fn only(found: &RunComparison) -> Vec<Block> {
    let sides = [(ids(&found.before), &found.only_before), (ids(&found.after), &found.only_after)];
    let case = |case: &UnmatchedCase| format!("{} in {}", case.title, case.scenario);
    let fact = |(runs, cases): (String, &Vec<UnmatchedCase>)| {
        let words = cases.iter().map(case).collect::<Vec<String>>().join("; ");
        (!cases.is_empty()).then(|| Fact::of(&runs, words))
    };
    let facts: Vec<Fact> = sides.into_iter().filter_map(fact).collect();
    if facts.is_empty() { Vec::new() } else { vec![Block::Facts(facts)] }
}

/// Items with a sign before each, or no block without items.
pub(super) fn list(sign: &'static str, items: impl IntoIterator<Item = String>) -> Vec<Block> {
    let items: Vec<Text> = items.into_iter().map(Text::from).collect();
    if items.is_empty() { Vec::new() } else { vec![Block::List(List { sign, items })] }
}
