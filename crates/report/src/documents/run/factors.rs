//! The factors of a study: what changes its figures.

use tolok_analysis::figures::{NONE, Quantity, amount, counted};
use tolok_analysis::{FactorLine, FactorPanel, Findings, VarianceFinding};

use super::columns::{falling, named};
use super::program_table::words;
use super::{muted, paragraph, section};
use crate::document::{Block, Cell, Chart, Column, Depth, Look, Row, Table, Text};
use crate::svg::{self, cell};
use crate::wording::share_words;

pub(crate) const SHARES_RULE: &str = "Each factor’s share of all differences in goodput; the shares add up to 100%. Factors together: what a combination does beyond its factors alone. Scatter: what differs between rounds although nothing changed. Computed from sums of squares of the logarithm of goodput; intervals are over the rounds.";

pub(crate) const PANELS_RULE: &str = "The scenarios of a panel differ in one factor only. ×: goodput over that at the factor’s lowest value, within rounds.";

/// The section. A terminal gets a sentence on what matters, a table for a factor with one panel, and a line for each of several.
pub(crate) fn blocks(findings: &Findings, depth: Depth) -> Vec<Block> {
    let (is_short, is_page) = (depth == Depth::Short, depth == Depth::Page);
    let factors = factors(findings);
    let mut blocks: Vec<Block> = Vec::new();
    if !findings.variance.is_empty() && !is_short {
        blocks.extend(paragraph(Text::of(SHARES_RULE, if is_page { Look::Muted } else { Look::Plain })));
    }
    blocks.extend(findings.variance.iter().flat_map(|finding| variance(finding, depth)));
    if !factors.is_empty() && !is_short {
        blocks.extend(if is_page { muted(about_panels(findings)) } else { paragraph(PANELS_RULE) });
    }
    for factor in &factors {
        blocks.push(Block::heading(3, factor.heading()));
        blocks.extend(match depth {
            Depth::Short => factor.short(),
            Depth::Full => factor.panels.iter().flat_map(|panel| full_panel(panel)).collect(),
            Depth::Page => factor.drawn(),
        });
    }
    if is_short && factors.iter().any(|factor| factor.panels.len() > 1) {
        blocks.extend(muted(
            "least, most: goodput at the highest value over that at the lowest, for the subject that keeps least and the one that keeps most · flips: pairs of subjects that certainly change places · all tables: HTML and Markdown reports",
        ));
    }
    section("factors", "What changes it", blocks)
}

/// How much each factor of a workload matters.
fn variance(finding: &VarianceFinding, depth: Depth) -> Vec<Block> {
    let title = of_variance(finding);
    if depth == Depth::Short {
        let said = paragraph(format!("{title}: {}", finding.sentence));
        return said.into_iter().chain(muted(rests_on(finding))).collect();
    }
    let columns = [
        Column::words("factor"),
        Column::numbers("share of the differences"),
        Column::numbers("best over worst level"),
    ];
    let row = |share: &tolok_analysis::VarianceShare| {
        let range = words(share.range_ratio.map(|range| amount(Quantity::Ratio, range)));
        let cells = vec![share.title.as_str().into(), Cell::from(share_words(&share.share)), range];
        Row::of(cells)
    };
    let rows = finding.shares.iter().map(row).collect();
    let table = Table { caption: format!("Shares of {title}"), columns: columns.to_vec(), rows, ..Table::default() };
    let chart = || Block::Charts(vec![Chart::of(svg::shares(finding))]);
    let blocks = [
        Some(Block::heading(3, format!("What matters: {title}"))),
        Some(Block::Verdict(finding.sentence.as_str().into())),
        (depth == Depth::Page).then(chart),
        Some(Block::Table(table)),
        paragraph(rests_on(finding)),
    ];
    blocks.into_iter().flatten().collect()
}

/// `JSON · 1 CPU`
pub(crate) fn of_variance(finding: &VarianceFinding) -> String {
    let fixed = if finding.fixed.is_empty() { String::new() } else { format!(" · {}", finding.fixed) };
    format!("{}{fixed}", finding.workload_title)
}

/// How to read the panels on a page.
fn about_panels(findings: &Findings) -> String {
    let has_flips = findings.sensitivity.iter().flat_map(|panel| &panel.crossovers).any(|crossing| crossing.sure);
    let flips = match has_flips {
        true => " Circle: two subjects certainly change places; whisker: the interval of that place.",
        false => "",
    };
    format!(
        "{PANELS_RULE} Whisker: interval over the trials. Dashed and hollow: another variant of the same runtime.{flips}"
    )
}

fn full_panel(panel: &FactorPanel) -> Vec<Block> {
    let fixed = if panel.fixed.is_empty() { String::new() } else { format!("{}: ", panel.fixed) };
    let said = Text::from(fixed).and(panel.sentence.as_str(), Look::Strong);
    vec![Block::Paragraph(said), Block::Table(table(panel, Depth::Full))]
}

/// Goodput by value, its ratio to that at the lowest value, and its limit.
fn table(panel: &FactorPanel, depth: Depth) -> Table {
    let row = |line: &FactorLine| {
        let of = |value: f64| line.points.iter().find(|point| point.value == value).map(cell);
        let mut row = named(&line.title, &line.runtime, false);
        row.cells.extend(panel.levels.iter().map(|level| words(of(level.value))));
        row.cells.push(limits(panel, line).into());
        row
    };
    let level = |(place, level): (usize, &tolok_analysis::FactorLevel)| {
        Column::numbers(level.label.as_str()).priority(falling(place))
    };
    let levels = panel.levels.iter().enumerate().map(level);
    let columns = std::iter::once(Column::words("subject")).chain(levels).chain([Column::words("limited by")]);
    let table = Table {
        caption: format!("{}, by {}, {}", panel.workload_title, panel.title, panel.fixed),
        title: if depth == Depth::Page { panel_title(panel).to_owned() } else { String::new() },
        columns: columns.collect(),
        rows: panel.lines.iter().map(row).collect(),
    };
    // Paper is taller than wide, so many levels become rows on a page.
    let is_wide = panel.levels.len() > 8 && panel.levels.len() > panel.lines.len();
    if depth == Depth::Page && is_wide { turned(table) } else { table }
}

fn panel_title(panel: &FactorPanel) -> &str {
    if panel.fixed.is_empty() { &panel.workload_title } else { &panel.fixed }
}

/// The same table, transposed.
fn turned(table: Table) -> Table {
    let Table { caption, title, columns, rows } = table;
    let row = |(place, column): (usize, &Column)| Row {
        cells: std::iter::once(column.heading.as_str().into())
            .chain(rows.iter().map(|row| row.cells[place].clone()))
            .collect(),
        ..Row::default()
    };
    let names = rows.iter().map(|row| Column::numbers(row.cells[0].text.plain()));
    Table {
        caption,
        title,
        columns: std::iter::once(Column::words("")).chain(names).collect(),
        rows: columns.iter().enumerate().skip(1).map(row).collect(),
    }
}

/// Panels of one factor of one workload, which differ in the fixed values.
struct Factor<'a> {
    panels: Vec<&'a FactorPanel>,
}

/// The panels in their order, grouped by factor.
fn factors(findings: &Findings) -> Vec<Factor<'_>> {
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
    fn heading(&self) -> String {
        format!("{}, by {}", self.panels[0].workload_title, self.panels[0].title)
    }

    fn short(&self) -> Vec<Block> {
        match self.panels.as_slice() {
            [panel] => vec![Block::Paragraph(panel.sentence.as_str().into()), Block::Table(short_panel(panel))],
            _ => vec![Block::Table(self.summary())],
        }
    }

    /// A line for each panel.
    fn summary(&self) -> Table {
        let row = |panel: &&FactorPanel| {
            let (least, most) = ends(panel);
            let flips = panel.crossovers.iter().filter(|crossing| crossing.sure).count();
            let cells = [panel.fixed.clone(), from_to(panel), least, most, flips.to_string()];
            Row::of(cells.map(Cell::from).to_vec())
        };
        let columns = ["from – to", "least", "most", "flips"].into_iter().enumerate();
        let columns = columns.map(|(place, heading)| Column::numbers(heading).priority(falling(place)));
        Table::of(
            self.heading(),
            std::iter::once(Column::words("with")).chain(columns).collect(),
            self.panels.iter().map(row).collect(),
        )
    }

    /// The charts of a page, followed by tables.
    fn drawn(&self) -> Vec<Block> {
        let chart =
            |panel: &&FactorPanel| Some(Chart { svg: svg::factor_panel(panel)?, caption: panel.sentence.clone() });
        let charts = Block::Charts(self.panels.iter().filter_map(chart).collect());
        let mut tables: Vec<Block> = self.panels.iter().map(|panel| Block::Table(table(panel, Depth::Page))).collect();
        if tables.len() > 1 {
            tables = vec![Block::Folded { summary: "The same as tables".into(), blocks: tables }];
        }
        std::iter::once(charts).chain(tables).collect()
    }
}

/// Without intervals, which are in the sentence and in the other reports.
fn short_panel(panel: &FactorPanel) -> Table {
    let mut table = table(panel, Depth::Short);
    table.columns.pop();
    for row in &mut table.rows {
        row.cells.pop();
        for cell in &mut row.cells[1..] {
            let words = cell.text.plain();
            *cell = words.split(" (").next().unwrap_or_default().into();
        }
    }
    table
}

fn from_to(panel: &FactorPanel) -> String {
    match panel.levels.as_slice() {
        [first, .., last] => format!("{} – {}", first.label, last.label),
        _ => NONE.to_owned(),
    }
}

/// The goodput retained at the highest value, for the subject that retains least and the one that retains most.
fn ends(panel: &FactorPanel) -> (String, String) {
    let highest = panel.levels.last().map(|level| level.value);
    let points = panel.lines.iter().flat_map(|line| line.points.iter().map(move |point| (line, point)));
    let mut kept: Vec<(f64, &str)> = points
        .filter(|(_, point)| Some(point.value) == highest)
        .filter_map(|(line, point)| Some((point.of_lowest.as_ref()?.value, line.title.as_str())))
        .collect();
    kept.sort_by(|left, right| left.0.total_cmp(&right.0));
    let words = |end: Option<&(f64, &str)>| {
        end.map_or(NONE.to_owned(), |(ratio, title)| format!("{} {title}", amount(Quantity::Ratio, *ratio)))
    };
    (words(kept.first()), words(kept.last()))
}

/// What limited a subject, from the lowest value up.
fn limits(panel: &FactorPanel, line: &FactorLine) -> String {
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
    runs.iter().enumerate().map(words).collect::<Vec<String>>().join(", ")
}

/// What the shares of a workload are based on, and the subjects left out.
fn rests_on(finding: &VarianceFinding) -> String {
    let mut text = format!("{} in {}", counted(finding.cases.into(), "case"), counted(finding.blocks.into(), "round"));
    if finding.filled > 0 {
        let trials = counted(finding.filled.into(), "trial");
        text += &format!("; {trials} without a figure, replaced by the means of case and round");
    }
    if !finding.left_out.is_empty() {
        text += &format!("; left out, as a combination is missing or not ranked: {}", finding.left_out.join(", "));
    }
    text + "."
}
