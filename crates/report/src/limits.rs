//! What limited the cases of a scenario: a line for each bottleneck, with the figures that say so.

use serde::Serialize;
use tolok_analysis::{Bottleneck, CaseFinding, ScenarioFinding};

/// What the lines are, where people can read it.
pub(crate) const RULE: &str = "by the medians of the scored trials";

/// One bottleneck of a scenario.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Line {
    /// In a word: `subject CPU`.
    pub(crate) word: &'static str,
    /// `A (98% of its CPU), B (97% of its CPU)`.
    pub(crate) cases: String,
}

/// Every bottleneck of a scenario, in the order of the table; the ceiling's comes last.
pub(crate) fn lines(scenario: &ScenarioFinding) -> Vec<Line> {
    let competing = scenario.cases.iter().map(|case| (case, case.title.clone()));
    let ceiling = scenario.ceiling.iter().map(|case| (case, format!("ceiling: {}", case.title)));
    let found: Vec<(&Bottleneck, String)> = competing.chain(ceiling).filter_map(of_case).collect();
    let mut lines: Vec<Line> = Vec::new();
    for (bottleneck, _) in &found {
        let word = bottleneck.kind.words();
        if lines.iter().all(|line| line.word != word) {
            let own: Vec<&(&Bottleneck, String)> = found.iter().filter(|(it, _)| it.kind == bottleneck.kind).collect();
            lines.push(Line { word, cases: named(&own) });
        }
    }
    lines
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
