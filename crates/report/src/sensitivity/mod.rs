//! What changes it: the factors of a study, in every format.

pub(crate) mod html;
pub(crate) mod markdown;
mod terminal;

use tolok_analysis::figures::{NONE, Quantity, amount, counted, figure};
use tolok_analysis::{Estimate, FactorLine, FactorPanel, Findings, VarianceFinding};

use crate::palette::marker;
use crate::svg::cell;

/// What the shares are of.
pub(crate) const SHARES_RULE: &str = "How much of all differences in goodput each factor makes up; the shares add up to 100%. Factors together: what a combination does that its factors alone do not. Scatter: what differs from block to block though nothing was changed. Computed from sums of squares of the logarithm of goodput; intervals are over the blocks.";

/// What a panel is.
pub(crate) const PANELS_RULE: &str = "Each panel holds scenarios that differ in one factor only. × is goodput over that at the lowest value of the factor, within blocks.";

/// A table of subjects by the values of a factor.
pub(crate) struct Grid {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

/// A subject in it.
pub(crate) struct Row {
    pub(crate) marker: String,
    pub(crate) title: String,
    pub(crate) cells: Vec<String>,
}

/// Panels of one factor of one workload, which differ in what is fixed.
pub(crate) struct Factor<'a> {
    pub(crate) panels: Vec<&'a FactorPanel>,
}

/// The panels in their order, those of one factor together.
pub(crate) fn factors(findings: &Findings) -> Vec<Factor<'_>> {
    let mut factors: Vec<Factor> = Vec::new();
    for panel in &findings.sensitivity {
        let is_own = |factor: &&mut Factor| {
            let first = factor.panels[0];
            first.factor == panel.factor && first.workload == panel.workload
        };
        match factors.iter_mut().find(is_own) {
            Some(factor) => factor.panels.push(panel),
            None => factors.push(Factor { panels: vec![panel] }),
        }
    }
    factors
}

impl Factor<'_> {
    /// `1,000 rows of 40 fields, by round-trip time to the database`
    pub(crate) fn heading(&self) -> String {
        format!("{}, by {}", self.panels[0].workload_title, self.panels[0].title)
    }
}

/// Goodput by value, and what it is of the lowest one's.
pub(crate) fn grid(panel: &FactorPanel) -> Grid {
    let row = |line: &FactorLine| {
        let of = |value: f64| line.points.iter().find(|point| point.value == value).map(cell);
        let cells = panel.levels.iter().map(|level| of(level.value).unwrap_or_else(|| NONE.to_owned()));
        Row { marker: marker(&line.runtime), title: line.title.clone(), cells: cells.collect() }
    };
    let columns = panel.levels.iter().map(|level| level.label.clone());
    Grid { columns: columns.collect(), rows: panel.lines.iter().map(row).collect() }
}

/// What limited each subject at each value; none where it is not known.
pub(crate) fn limits(panel: &FactorPanel) -> Vec<String> {
    let of = |line: &FactorLine| {
        let mut runs: Vec<(&str, &str)> = Vec::new();
        for point in &line.points {
            let limit = point.limited_by.as_deref().unwrap_or(NONE);
            let level = panel.levels.iter().find(|level| level.value == point.value).map_or("", |it| &it.label);
            if runs.last().is_none_or(|(_, last)| *last != limit) {
                runs.push((level, limit));
            }
        }
        let words = |(place, (level, limit)): (usize, &(&str, &str))| {
            if place == 0 { (*limit).to_owned() } else { format!("from {level} {limit}") }
        };
        let words: Vec<String> = runs.iter().enumerate().map(words).collect();
        format!("{}: {}", line.title, words.join(", "))
    };
    panel.lines.iter().map(of).collect()
}

/// A share, of which a thousandth or less is as good as none.
pub(crate) fn share_words(share: &Estimate) -> String {
    if share.value < 0.001 { "<0.1%".to_owned() } else { figure(Quantity::Share, share).line() }
}

/// Factor, share, and how far apart its best and worst levels are.
pub(crate) fn share_rows(finding: &VarianceFinding) -> Vec<[String; 3]> {
    let row = |share: &tolok_analysis::VarianceShare| {
        let range = share.range_ratio.map_or(NONE.to_owned(), |range| amount(Quantity::Ratio, range));
        [share.title.clone(), share_words(&share.share), range]
    };
    finding.shares.iter().map(row).collect()
}

/// What the shares of a workload rest on, and who is not in them.
pub(crate) fn rests_on(finding: &VarianceFinding) -> String {
    let mut text = format!("{} in {}", counted(finding.cases.into(), "case"), counted(finding.blocks.into(), "block"));
    if finding.filled > 0 {
        let trials = counted(finding.filled.into(), "trial");
        text += &format!("; {trials} without a figure, for which the means of case and block stand in");
    }
    if !finding.left_out.is_empty() {
        text += &format!("; left out, as a combination is missing or not ranked: {}", finding.left_out.join(", "));
    }
    text + "."
}
