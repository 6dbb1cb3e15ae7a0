//! What limited the cases of a scenario: a line for each bottleneck, with its figures.

use tolok_analysis::figures::NONE;
use tolok_analysis::{Bottleneck, BottleneckKind, CaseFinding, ScenarioFinding};

use super::{muted, paragraph, section};
use crate::document::{Block, Cell, Column, Depth, Look, Row, Table, Text};
use crate::wording::heading;

/// How the lines are determined.
const RULE: &str = "by the medians of the clean trials";

/// Prefix of the ceiling's title.
const CEILING: &str = "ceiling: ";
/// From this many scenarios on, the words form a table.
const MANY_SCENARIOS: usize = 4;
/// The most columns of such a table.
const MOST_SUBJECTS: usize = 9;

/// One bottleneck of a scenario.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    /// Its word: `subject CPU`.
    word: &'static str,
    /// `A (98% of its CPU), B (97% of its CPU)`.
    cases: String,
    /// The meaning of the word.
    meaning: &'static str,
}

/// What limited the cases of a scenario, below its table.
pub(crate) fn of_scenario(scenario: &ScenarioFinding, depth: Depth) -> Vec<Block> {
    let title = match depth {
        Depth::Short => muted("Bottlenecks"),
        _ => paragraph(format!("Bottlenecks, {RULE}:")),
    };
    let Some(list) = items(&lines(scenario)) else { return Vec::new() };
    title.into_iter().chain([list]).collect()
}

fn items(lines: &[Line]) -> Option<Block> {
    Block::list(lines.iter().map(|line| labelled(line.word, &line.cases)).collect())
}

/// `**word**: text`
pub(crate) fn labelled(word: &str, text: &str) -> Text {
    Text::of(word, Look::Strong).and(format!(": {text}"), Look::Plain)
}

/// The section of a page: all scenarios, grouped by equal text.
pub(crate) fn overview(scenarios: &[&ScenarioFinding]) -> Vec<Block> {
    let mut groups: Vec<(Vec<&ScenarioFinding>, Vec<Line>)> = Vec::new();
    for scenario in scenarios {
        let lines = lines(scenario);
        match groups.iter_mut().find(|(_, known)| *known == lines) {
            Some((alike, _)) => alike.push(scenario),
            None => groups.push((vec![scenario], lines)),
        }
    }
    groups.retain(|(_, lines)| !lines.is_empty());
    if groups.is_empty() {
        return Vec::new();
    }
    let mut lists = Vec::new();
    for (alike, lines) in &groups {
        let names: Vec<String> = alike.iter().map(|it| format!("{} ({})", heading(it), it.id)).collect();
        lists.extend((scenarios.len() > 1).then(|| Block::heading(3, names.join("; "))));
        lists.extend(items(lines));
    }
    let rule =
        muted(format!("The bottleneck of each case, {RULE}: what would have to grow before it could answer more."));
    let mut blocks: Vec<Block> = rule.into_iter().collect();
    match matrix(scenarios) {
        None => blocks.extend(lists),
        Some(table) => {
            let summary = "The figures that say so".into();
            blocks.extend([Block::Table(table), Block::Folded { summary, blocks: lists }]);
        }
    }
    blocks.push(Block::Legend(meanings(groups.iter().flat_map(|(_, lines)| lines))));
    section("limits", "What limits", blocks)
}

/// The words alone, scenarios by subjects: `None` for few scenarios, or too many subjects for a table.
fn matrix(scenarios: &[&ScenarioFinding]) -> Option<Table> {
    type Found<'a> = (&'a ScenarioFinding, Vec<(&'a Bottleneck, String)>);
    let found = scenarios.iter().map(|scenario| (*scenario, found_in(scenario)));
    let found: Vec<Found> = found.filter(|(_, all)| !all.is_empty()).collect();
    let mut subjects: Vec<&String> = Vec::new();
    for (_, title) in found.iter().flat_map(|(_, all)| all) {
        if !subjects.contains(&title) {
            subjects.push(title);
        }
    }
    if found.len() < MANY_SCENARIOS || subjects.len() > MOST_SUBJECTS {
        return None;
    }
    // The ceiling does not compete, so it comes last.
    subjects.sort_by_key(|title| title.starts_with(CEILING));
    let row = |(scenario, all): &Found| {
        let word = |subject: &&String| {
            all.iter().find(|(_, title)| title == *subject).map_or(NONE, |(it, _)| it.kind.words()).into()
        };
        let name = Cell { below: scenario.id.clone(), ..heading(scenario).into() };
        Row::of(std::iter::once(name).chain(subjects.iter().map(word)).collect())
    };
    let columns = std::iter::once("scenario").chain(subjects.iter().map(|title| title.as_str()));
    Some(Table::of("Bottlenecks", columns.map(Column::words).collect(), found.iter().map(row).collect()))
}

/// The words that occur, each with its meaning.
fn meanings<'a>(lines: impl Iterator<Item = &'a Line>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in lines {
        let meaning = format!("{}: {}", line.word, line.meaning);
        if !found.contains(&meaning) {
            found.push(meaning);
        }
    }
    found
}

/// The meaning of a bottleneck, for readers who do not know the method.
fn meaning(kind: BottleneckKind) -> &'static str {
    match kind {
        BottleneckKind::Generator => "the load generator could send no more, so the figure is a lower bound",
        BottleneckKind::OfferedRate => "the subject kept up with the offered rate",
        BottleneckKind::DatabaseCpu => "the database used all of its CPUs",
        BottleneckKind::SubjectCpu => "the subject used all of its CPU time",
        BottleneckKind::SharedCpu => "parts that ran on the same CPUs used all of them together",
        BottleneckKind::OneThread => {
            "one thread of the subject was busy all the time, while its other CPUs had time left"
        }
        BottleneckKind::Link => "a link carried as much as it can",
        BottleneckKind::ClientPace => "slow clients, as the study asks for, took most of a response’s time",
        BottleneckKind::Pool => "requests waited for one of the connections to the database",
        BottleneckKind::Workers => "every worker served a request, and the other requests waited",
        BottleneckKind::Memory => "memory was at its limit",
        BottleneckKind::Latency => "nothing was busy: the users waited for round trips",
        BottleneckKind::Backlog => "requests waited for a free connection of the generator, and nothing was busy",
        BottleneckKind::NotSteady => "the windows had no single level, so no one thing limited them",
        BottleneckKind::Noisy => "the trials differ too much to say",
        BottleneckKind::NoneFound => "no observed resource was used up",
    }
}

/// Every bottleneck of a scenario, in the order of the table; the ceiling's comes last.
fn lines(scenario: &ScenarioFinding) -> Vec<Line> {
    let found = found_in(scenario);
    let mut lines: Vec<Line> = Vec::new();
    for (bottleneck, _) in &found {
        let word = bottleneck.kind.words();
        if lines.iter().all(|line| line.word != word) {
            let own: Vec<&(&Bottleneck, String)> = found.iter().filter(|(it, _)| it.kind == bottleneck.kind).collect();
            lines.push(Line { word, cases: named(&own), meaning: meaning(bottleneck.kind) });
        }
    }
    lines
}

fn found_in(scenario: &ScenarioFinding) -> Vec<(&Bottleneck, String)> {
    let competing = scenario.cases.iter().map(|case| (case, case.title.clone()));
    let ceiling = scenario.ceiling.iter().map(|case| (case, format!("{CEILING}{}", case.title)));
    competing.chain(ceiling).filter_map(of_case).collect()
}

fn of_case((case, title): (&CaseFinding, String)) -> Option<(&Bottleneck, String)> {
    Some((case.bottleneck.as_ref()?, title))
}

/// Evidence that several adjacent cases share is printed once.
fn named(own: &[&(&Bottleneck, String)]) -> String {
    let groups = own.chunk_by(|left, right| left.0.evidence == right.0.evidence);
    let words = |group: &[&(&Bottleneck, String)]| {
        let titles: Vec<&str> = group.iter().map(|(_, title)| title.as_str()).collect();
        let evidence = &group[0].0.evidence;
        let each = match evidence.starts_with(|letter: char| letter.is_ascii_digit()) {
            _ if titles.len() == 1 => "",
            true => "each ",
            false => "each: ",
        };
        format!("{} ({each}{evidence})", titles.join(", "))
    };
    groups.map(words).collect::<Vec<_>>().join("; ")
}
