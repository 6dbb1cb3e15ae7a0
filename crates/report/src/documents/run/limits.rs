//! What limited the cases of a scenario: a line for each bottleneck, with the figures that say so.

use serde::Serialize;
use tolok_analysis::figures::NONE;
use tolok_analysis::{Bottleneck, BottleneckKind, CaseFinding, ScenarioFinding};

use crate::documents::run::surroundings::heading;

/// What the lines are, where people can read it.
pub(crate) const RULE: &str = "by the medians of the scored trials";

/// Before the title of a ceiling.
const CEILING: &str = "ceiling: ";
/// From so many scenarios on, their words stand in a table.
const MANY_SCENARIOS: usize = 4;
/// Columns that such a table may have.
const MOST_SUBJECTS: usize = 9;

/// One bottleneck of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Line {
    /// In a word: `subject CPU`.
    pub(crate) word: &'static str,
    /// `A (98% of its CPU), B (97% of its CPU)`.
    pub(crate) cases: String,
    /// What the word means.
    meaning: &'static str,
}

/// Scenarios of which the same is said.
#[derive(Debug, Serialize)]
pub(crate) struct Group {
    /// Title and id of each.
    scenarios: Vec<(String, String)>,
    lines: Vec<Line>,
}

/// The bottlenecks of all scenarios, those of which the same is said together.
pub(crate) fn groups(scenarios: &[&ScenarioFinding]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for scenario in scenarios {
        let (lines, name) = (lines(scenario), (heading(scenario), scenario.id.clone()));
        match groups.iter_mut().find(|group| group.lines == lines) {
            Some(group) => group.scenarios.push(name),
            None => groups.push(Group { scenarios: vec![name], lines }),
        }
    }
    groups.retain(|group| !group.lines.is_empty());
    groups
}

/// The words alone, scenarios by subjects, where lists would be too long to compare.
#[derive(Debug, Serialize)]
pub(crate) struct Matrix {
    subjects: Vec<String>,
    /// Title and id of a scenario, and a word for each subject.
    rows: Vec<(String, String, Vec<&'static str>)>,
}

/// None of few scenarios, or of more subjects than a table has room for.
pub(crate) fn matrix(scenarios: &[&ScenarioFinding]) -> Option<Matrix> {
    let found: Vec<(&ScenarioFinding, Vec<(&Bottleneck, String)>)> = scenarios
        .iter()
        .map(|scenario| (*scenario, of_scenario(scenario)))
        .filter(|(_, all)| !all.is_empty())
        .collect();
    let mut subjects: Vec<String> = Vec::new();
    for (_, title) in found.iter().flat_map(|(_, all)| all) {
        if !subjects.contains(title) {
            subjects.push(title.clone());
        }
    }
    // The ceiling is none of the competitors.
    subjects.sort_by_key(|title| title.starts_with(CEILING));
    let row = |(scenario, all): &(&ScenarioFinding, Vec<(&Bottleneck, String)>)| {
        let word =
            |subject: &String| all.iter().find(|(_, title)| title == subject).map_or(NONE, |(it, _)| it.kind.words());
        (heading(scenario), scenario.id.clone(), subjects.iter().map(word).collect())
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    (rows.len() >= MANY_SCENARIOS && subjects.len() <= MOST_SUBJECTS).then_some(Matrix { subjects, rows })
}

/// The words that occur, each with its meaning.
pub(crate) fn meanings(groups: &[Group]) -> Vec<(&'static str, &'static str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for line in groups.iter().flat_map(|group| &group.lines) {
        if !found.contains(&(line.word, line.meaning)) {
            found.push((line.word, line.meaning));
        }
    }
    found
}

/// What a bottleneck is, for whoever has not read the method.
fn meaning(kind: BottleneckKind) -> &'static str {
    match kind {
        BottleneckKind::Generator => "the load generator could send no more, so the figure is a lower bound",
        BottleneckKind::OfferedRate => "no more was asked for: the subject kept up with the rate",
        BottleneckKind::DatabaseCpu => "the database used all of its CPUs",
        BottleneckKind::SubjectCpu => "the subject used all CPU time that it was given",
        BottleneckKind::SharedCpu => "parts that ran on the same CPUs used all of them together",
        BottleneckKind::OneThread => "one thread of the subject had no time left, while others of its CPUs had",
        BottleneckKind::Link => "a link carried as much as it can",
        BottleneckKind::ClientPace => "clients that read slowly, as asked of them, took most of the time of an answer",
        BottleneckKind::Pool => "requests waited for one of the connections to the database",
        BottleneckKind::Workers => "as many requests were served at a time as there are workers, and the others waited",
        BottleneckKind::Memory => "memory was at its limit",
        BottleneckKind::Latency => "nothing was busy: the users waited for round trips",
        BottleneckKind::Backlog => "requests waited for a connection of the generator’s, and nothing was busy",
        BottleneckKind::NotSteady => "the windows had no single level, so no one thing limited them",
        BottleneckKind::Noisy => "the trials differ too much to say",
        BottleneckKind::NoneFound => "nothing that was looked at was used up",
    }
}

/// Every bottleneck of a scenario, in the order of the table; the ceiling's comes last.
pub(crate) fn lines(scenario: &ScenarioFinding) -> Vec<Line> {
    let found = of_scenario(scenario);
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

fn of_scenario(scenario: &ScenarioFinding) -> Vec<(&Bottleneck, String)> {
    let competing = scenario.cases.iter().map(|case| (case, case.title.clone()));
    let ceiling = scenario.ceiling.iter().map(|case| (case, format!("{CEILING}{}", case.title)));
    competing.chain(ceiling).filter_map(of_case).collect()
}

fn of_case((case, title): (&CaseFinding, String)) -> Option<(&Bottleneck, String)> {
    Some((case.bottleneck.as_ref()?, title))
}

/// Evidence that is the same for several cases in a row is given once.
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
