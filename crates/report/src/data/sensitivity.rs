//! The rows of factors, one per figure, with their own columns after all others.

use tolok_analysis::{FactorCrossover, FactorLine, FactorPanel, Findings, VarianceFinding};

use super::{Fields, estimate, number};

/// Columns that only these rows fill.
const OWN: [&str; 17] = [
    "factor",
    "factor_unit",
    "factor_fixed",
    "factor_value",
    "of_lowest",
    "of_lowest_low",
    "of_lowest_high",
    "faster_above",
    "between_low",
    "between_high",
    "crossing_at",
    "crossing_at_low",
    "crossing_at_high",
    "crossing_sure",
    "share",
    "share_low",
    "share_high",
];

/// Headings of the columns after those of programs.
pub(crate) fn heading() -> Vec<String> {
    OWN.iter().copied().chain(["range_ratio"]).map(str::to_owned).collect()
}

/// All rows: a subject at a value (`role` `factor`), a crossing (`crossover`), a factor's share (`variance`).
pub(crate) fn lines(findings: &Findings) -> Vec<Fields> {
    let mut all = Vec::new();
    for panel in &findings.sensitivity {
        all.extend(panel.lines.iter().flat_map(|line| points(panel, line)));
        all.extend(panel.crossovers.iter().map(|crossing| crossover(panel, crossing)));
    }
    all.extend(findings.variance.iter().flat_map(shares));
    for fields in &mut all {
        fields.insert("run".to_owned(), findings.run.id.clone());
    }
    all
}

fn of_panel(panel: &FactorPanel, role: &str) -> Fields {
    let pairs = [
        ("workload", &panel.workload),
        ("factor", &panel.factor),
        ("factor_unit", &panel.unit),
        ("factor_fixed", &panel.fixed),
    ];
    let mut fields: Fields = pairs.map(|(name, field)| (name.to_owned(), field.clone())).into();
    fields.insert("role".to_owned(), role.to_owned());
    fields
}

fn points(panel: &FactorPanel, line: &FactorLine) -> Vec<Fields> {
    let point = |point: &tolok_analysis::FactorPoint| {
        let level = panel.levels.iter().find(|level| level.value == point.value);
        let mut fields = of_panel(panel, "factor");
        fields.extend([
            ("scenario".to_owned(), level.map(|level| level.scenario.clone()).unwrap_or_default()),
            ("subject".to_owned(), line.subject.clone()),
            ("title".to_owned(), line.title.clone()),
            ("runtime".to_owned(), line.runtime.clone()),
            ("factor_value".to_owned(), point.value.to_string()),
            ("bottleneck".to_owned(), point.limited_by.clone().unwrap_or_default()),
        ]);
        fields.extend(estimate("goodput_rps", Some(&point.goodput_rps)));
        fields.extend(estimate("of_lowest", point.of_lowest.as_ref()));
        fields
    };
    line.points.iter().map(point).collect()
}

fn crossover(panel: &FactorPanel, crossing: &FactorCrossover) -> Fields {
    let mut fields = of_panel(panel, "crossover");
    fields.extend([
        ("subject".to_owned(), crossing.faster_below.clone()),
        ("faster_above".to_owned(), crossing.faster_above.clone()),
        ("between_low".to_owned(), crossing.between.0.to_string()),
        ("between_high".to_owned(), crossing.between.1.to_string()),
        ("crossing_at".to_owned(), crossing.at.to_string()),
        ("crossing_at_low".to_owned(), number(crossing.at_low)),
        ("crossing_at_high".to_owned(), number(crossing.at_high)),
        ("crossing_sure".to_owned(), crossing.sure.to_string()),
    ]);
    fields
}

fn shares(finding: &VarianceFinding) -> Vec<Fields> {
    let share = |share: &tolok_analysis::VarianceShare| {
        let mut fields: Fields = [
            ("role".to_owned(), "variance".to_owned()),
            ("workload".to_owned(), finding.workload.clone()),
            ("factor".to_owned(), share.factor.clone()),
            ("factor_fixed".to_owned(), finding.fixed.clone()),
            ("range_ratio".to_owned(), number(share.range_ratio)),
        ]
        .into();
        fields.extend(estimate("share", Some(&share.share)));
        fields
    };
    finding.shares.iter().map(share).collect()
}
