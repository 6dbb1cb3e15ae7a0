//! What changes it, in the shape that the page's template reads.

use serde::Serialize;
use tolok_analysis::{FactorPanel, Findings, VarianceFinding};

use super::{Factor, PANELS_RULE, SHARES_RULE, factors, grid, limits, rests_on, share_rows};
use crate::svg;

/// Everything of factors.
#[derive(Serialize)]
pub(crate) struct Sensitivity<'a> {
    shares_rule: &'static str,
    panels_rule: &'static str,
    variance: Vec<Variance<'a>>,
    factors: Vec<Group>,
    has_flips: bool,
}

#[derive(Serialize)]
struct Variance<'a> {
    title: String,
    sentence: &'a str,
    chart: String,
    rows: Vec<[String; 3]>,
    rests_on: String,
}

/// The panels of one factor.
#[derive(Serialize)]
struct Group {
    title: String,
    columns: &'static str,
    panels: Vec<Panel>,
}

#[derive(Serialize)]
struct Panel {
    fixed: String,
    chart: Option<String>,
    sentence: String,
    columns: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    marker: String,
    title: String,
    cells: Vec<String>,
    limit: String,
}

impl<'a> Sensitivity<'a> {
    /// None where scenarios do not differ in a factor.
    pub(crate) fn of(findings: &'a Findings) -> Option<Self> {
        let has_any = !findings.sensitivity.is_empty() || !findings.variance.is_empty();
        has_any.then(|| Self {
            shares_rule: SHARES_RULE,
            panels_rule: PANELS_RULE,
            variance: findings.variance.iter().map(Variance::of).collect(),
            factors: factors(findings).iter().map(Group::of).collect(),
            has_flips: findings.sensitivity.iter().flat_map(|panel| &panel.crossovers).any(|crossing| crossing.sure),
        })
    }
}

impl<'a> Variance<'a> {
    fn of(finding: &'a VarianceFinding) -> Self {
        let fixed = if finding.fixed.is_empty() { String::new() } else { format!(" · {}", finding.fixed) };
        Self {
            title: format!("{}{fixed}", finding.workload_title),
            sentence: &finding.sentence,
            chart: svg::shares(finding),
            rows: share_rows(finding),
            rests_on: rests_on(finding),
        }
    }
}

impl Group {
    fn of(factor: &Factor) -> Self {
        Self {
            title: factor.heading(),
            columns: if matches!(factor.panels.len(), 1 | 2 | 4) { "two" } else { "three" },
            panels: factor.panels.iter().map(|panel| Panel::of(panel)).collect(),
        }
    }
}

impl Panel {
    fn of(panel: &FactorPanel) -> Self {
        let grid = grid(panel);
        let row = |(row, limit): (super::Row, String)| Row {
            limit: limit.strip_prefix(&format!("{}: ", row.title)).unwrap_or(&limit).to_owned(),
            marker: row.marker,
            title: row.title,
            cells: row.cells,
        };
        Self {
            fixed: if panel.fixed.is_empty() { panel.workload_title.clone() } else { panel.fixed.clone() },
            chart: svg::factor_panel(panel),
            sentence: panel.sentence.clone(),
            columns: grid.columns,
            rows: grid.rows.into_iter().zip(limits(panel)).map(row).collect(),
        }
    }
}
