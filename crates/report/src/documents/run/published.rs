//! What was published beside what was measured.

use std::fmt::Write as _;

use serde::Serialize;
use tolok_analysis::figures::{NONE, Quantity, amount, figure};
use tolok_analysis::{Findings, PublishedFinding};

use crate::markdown::{escaped, lines};
use crate::svg;

/// So many are said in a terminal.
const MOST_IN_TERMINAL: usize = 8;
/// How the words are to be read.
pub(crate) const RULE: &str = "Reproduced: the published ratio lies in the measured 95% interval, widened by the smallest effect, or both say that nothing that matters differs. Same direction: the same one is ahead, by another ratio. No difference: none was found where one was published. A difference: one was found where none that matters was published. Reversed: the other one is ahead. Cannot tell: there is no figure, no interval, or too wide a one. Other machines, versions and loads are no error of the source.";

/// What the template reads.
#[derive(Serialize)]
pub(crate) struct Published {
    chart: String,
    rows: Vec<Row>,
    rule: &'static str,
}

#[derive(Serialize)]
struct Row {
    source: String,
    place: String,
    scenario: String,
    metric: String,
    pair: String,
    published: String,
    measured: String,
    interval: String,
    reading: &'static str,
    sentence: String,
}

impl Row {
    fn of(finding: &PublishedFinding) -> Self {
        let measured = finding.measured.as_ref().map(|measured| figure(Quantity::Ratio, measured));
        let interval = measured.as_ref().and_then(|measured| measured.interval.clone()).unwrap_or_default();
        Self {
            source: finding.source.clone(),
            place: finding.place.clone().unwrap_or_default(),
            scenario: finding.scenario.clone(),
            metric: finding.metric_words.clone(),
            pair: pair(finding),
            published: amount(Quantity::Ratio, finding.published),
            measured: measured.map_or(NONE.to_owned(), |measured| measured.value),
            interval,
            reading: finding.reading.words(),
            sentence: finding.sentence.clone(),
        }
    }
}

fn pair(finding: &PublishedFinding) -> String {
    format!("{} over {}", finding.a, finding.b)
}

impl Published {
    /// The section; none where there is nothing to show.
    pub(crate) fn of(findings: &Findings) -> Option<Self> {
        (!findings.published.is_empty()).then(|| Self {
            chart: svg::published(&findings.published, findings.run.smallest_effect),
            rows: findings.published.iter().map(Row::of).collect(),
            rule: RULE,
        })
    }
}

/// The section in Markdown, with an empty line before it; empty where there is nothing to show.
pub(crate) fn markdown(findings: &Findings) -> String {
    if findings.published.is_empty() {
        return String::new();
    }
    let row = |finding: &PublishedFinding| {
        let Row { source, place, scenario, metric, pair, published, measured, interval, reading, .. } =
            Row::of(finding);
        let source = if place.is_empty() { source } else { format!("{source}, {place}") };
        let measured = if interval.is_empty() { measured } else { format!("{measured} ({interval})") };
        let reading = format!("**{reading}**");
        [escaped(&pair), published, measured, reading, metric, escaped(&scenario), escaped(&source)].to_vec()
    };
    let rows: Vec<Vec<String>> = findings.published.iter().map(row).collect();
    let headings = ["ratio", "published", "measured", "reading", "of", "scenario", "source"];
    let mut text = format!("\n## Published and measured\n\n{}\n", lines(&headings, &rows, 2));
    text.extend(findings.published.iter().map(|finding| format!("- {}\n", escaped(&finding.sentence))));
    _ = write!(text, "\n{RULE}\n");
    text
}

/// A sentence each, for a terminal.
pub(crate) fn short_lines(findings: &Findings) -> Vec<String> {
    let line = |finding: &PublishedFinding| {
        let place = finding.place.as_ref().map(|place| format!(", {place}")).unwrap_or_default();
        format!("{}{place}: {}", finding.source, finding.sentence)
    };
    let mut found: Vec<String> = findings.published.iter().take(MOST_IN_TERMINAL).map(line).collect();
    let rest = findings.published.len() - found.len();
    found.extend((rest > 0).then(|| format!("and {rest} more, in the HTML and Markdown reports")));
    found
}
