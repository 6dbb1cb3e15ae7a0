//! Every chart of a report, in one place: the page shows them, and [`figures`] makes files of them.
//!
//! [`crate::svg`] draws a chart. A new chart of the page must be added to [`all`] too; a test counts the drawings of every page and
//! finds a missing one.

pub(crate) mod card;
mod courses;
mod raster;
mod sheet;
mod standalone;

use tolok_analysis::figures::{Quantity, amount, counted};
use tolok_analysis::{FactorPanel, Findings, MemorySource, ProgramSeries, ScenarioFinding, VarianceFinding};
use tolok_model::sentences::capital;

use crate::documents::run::factors::{PANELS_RULE, SHARES_RULE};
use crate::documents::run::programs;
use crate::documents::run::sections::{is_of_tools, sections};
use crate::documents::run::tools;
use crate::svg::{self, Time};
use crate::wording::{heading, interval_words};

/// A chart of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// A name for its file, without extension: `throughput-json-c64`.
    pub name: String,
    /// Its content in a few words.
    pub title: String,
    /// Its content and how it was measured: marks, n, interval and method.
    pub caption: String,
    /// The drawing: styled by the page on a page, with its own colours in a file.
    pub svg: String,
}

impl Chart {
    /// Width and height of its file, in millimetres.
    pub fn size_mm(&self) -> [f64; 2] {
        standalone::size(&self.svg).map(|units| units / standalone::UNITS_PER_MM)
    }
}

/// Every chart of a run as a self-contained drawing: with its own colours, for a light background, and named fonts.
pub fn figures(findings: &Findings) -> Vec<Chart> {
    let mut charts = all(findings);
    for chart in &mut charts {
        chart.svg = standalone::standalone(&chart.svg, &chart.title);
    }
    distinct(&mut charts);
    charts
}

/// Every chart of a run, in the order of the page.
pub(crate) fn all(findings: &Findings) -> Vec<Chart> {
    let sections = sections(findings);
    let own: Vec<&ScenarioFinding> = sections.iter().map(AsRef::as_ref).filter(|it| !is_of_tools(it)).collect();
    let mut charts: Vec<Chart> = findings.tools.iter().map(|tools| of_tools(findings, tools)).collect();
    charts.extend(own.iter().map(|scenario| throughput(findings, scenario)));
    charts.extend(own.iter().filter_map(|scenario| ratios(findings, scenario)));
    charts.extend(courses::latencies(findings));
    charts.extend(own.iter().flat_map(|scenario| courses::seconds(findings, scenario)));
    charts.extend(own.iter().filter(|it| svg::has_costs(it)).map(|scenario| costs(findings, scenario)));
    charts.extend(courses::cold_starts(findings));
    for series in &findings.program_series {
        charts.extend([Time::Wall, Time::AboveFloor].into_iter().filter_map(|time| of_series(findings, series, time)));
    }
    charts.extend(findings.variance.iter().map(|finding| shares(findings, finding)));
    charts.extend(findings.sensitivity.iter().filter_map(|panel| factor(findings, panel)));
    charts.extend(courses::published(findings));
    charts
}

/// Correct responses per second of every case.
pub(crate) fn throughput(findings: &Findings, scenario: &ScenarioFinding) -> Chart {
    let tiers = if scenario.comparisons.is_empty() {
        ""
    } else {
        " Same tier letter: no clear difference (Holm over all pairs)."
    };
    let ceiling =
        if scenario.ceiling.is_none() { "" } else { " Dashed: a minimal server in the same rounds, the ceiling." };
    let means = over_rounds(findings, "Geometric mean");
    let said = format!("Correct responses per second. {means}{tiers}{ceiling} Outlined: not ranked.");
    of_scenario("throughput", "correct responses per second", said, scenario, svg::throughput(scenario))
}

/// Ratios of goodput; `None` if nothing was compared.
pub(crate) fn ratios(findings: &Findings, scenario: &ScenarioFinding) -> Option<Chart> {
    let drawing = svg::ratios(scenario, findings.run.smallest_effect)?;
    let effect = amount(Quantity::Share, findings.run.smallest_effect);
    let pairs = match scenario.comparisons.len() {
        1 => "the only pair".to_owned(),
        several => format!("all {several} pairs"),
    };
    let said = format!(
        "Goodput of one case over that of another in the same round: geometric mean over {}, on a logarithmic axis. Whisker: 95% interval (Student’s t of the log ratios). Filled: a difference, by a test corrected for {pairs} (Holm); hollow: equivalent, or no difference found; dashed: no clear difference. Grey: differences below {effect} do not matter.",
        blocks(findings)
    );
    Some(of_scenario("differences", "differences", said, scenario, drawing))
}

/// The cost of a correct response.
pub(crate) fn costs(findings: &Findings, scenario: &ScenarioFinding) -> Chart {
    let memory = match scenario.memory_source {
        Some(MemorySource::Group) => {
            "the most anonymous and kernel memory of the subject’s control group in the window"
        }
        Some(MemorySource::Pss) => "the proportional set sizes of the subject’s processes when the window ended",
        None => "not measured",
    };
    let means = over_rounds(findings, "Geometric mean");
    let said = format!("CPU time of all processes of the subject per correct response; memory: {memory}. {means}");
    of_scenario("cost", "CPU and memory", said, scenario, svg::costs(scenario))
}

fn of_scenario(kind: &str, words: &str, said: String, scenario: &ScenarioFinding, svg: String) -> Chart {
    let title = format!("{}: {words}", heading(scenario));
    let caption = format!("{}, {}. {said}", heading(scenario), scenario.load);
    Chart { name: format!("{kind}-{}", file_name(&scenario.id)), title, caption, svg }
}

/// Each tool's report of one server.
fn of_tools(findings: &Findings, finding: &tolok_analysis::ToolsFinding) -> Chart {
    let heading = tools::heading(finding);
    let wire = finding.rows.iter().any(|row| row.wire_rps.is_some());
    let wire = if wire { " Dashed stroke: what crossed the wire, by the kernel’s count." } else { "" };
    let medians = over_rounds(findings, "Median");
    let caption = format!(
        "{heading}, {}: correct responses per second as each tool reports them. {medians}{wire} Outlined: the tool was the limit.",
        finding.load
    );
    let place = [finding.workload.as_str(), &finding.environment, &finding.subject, &finding.load].join("-");
    let (name, svg) = (format!("tools-{}", file_name(&place)), svg::tools(finding, &heading));
    Chart { name, title: format!("{heading}: what each tool says"), caption, svg }
}

/// Times of programs across a parameter; `None` if no program has that time.
fn of_series(findings: &Findings, series: &ProgramSeries, time: Time) -> Option<Chart> {
    let svg = svg::series(series, time)?;
    let kind = if time == Time::Wall { "times" } else { "times-above-start" };
    let place = [series.workload.as_str(), &series.fixed, &series.environment, &series.timer].join("-");
    let heading = programs::series_heading(series);
    let means = over_rounds(findings, if time == Time::Wall { "Geometric mean" } else { "Median" });
    let caption = format!(
        "{heading}: {}, both axes logarithmic. {means} A trial’s time is the median over its runs. Dashed and hollow: another \
         variant of the same runtime.",
        time.words()
    );
    Some(Chart {
        name: format!("{kind}-{}", file_name(&place)),
        title: format!("{heading}: {}", time.words()),
        caption,
        svg,
    })
}

/// The importance of each factor.
fn shares(findings: &Findings, finding: &VarianceFinding) -> Chart {
    let place = [finding.workload.as_str(), &finding.fixed].join("-");
    let fixed = if finding.fixed.is_empty() { String::new() } else { format!(" ({})", finding.fixed) };
    let title = format!("{}{fixed}: what matters", finding.workload_title);
    let caption = format!("{title}. {SHARES_RULE} {}.", capital(&blocks(findings)));
    Chart { name: format!("shares-{}", file_name(&place)), title, caption, svg: svg::shares(finding) }
}

/// Subjects across the values of a factor; `None` if there is nothing to draw.
fn factor(findings: &Findings, panel: &FactorPanel) -> Option<Chart> {
    let svg = svg::factor_panel(panel)?;
    let place = [panel.factor.as_str(), &panel.workload, &panel.fixed].join("-");
    let fixed = if panel.fixed.is_empty() { String::new() } else { format!(" ({})", panel.fixed) };
    let title = format!("{}{fixed} by {}", panel.workload_title, panel.title);
    let means = over_rounds(findings, "Geometric mean");
    let caption = format!("{title}. {PANELS_RULE} {means} Dashed and hollow: another variant of the same runtime.");
    Some(Chart { name: format!("factor-{}", file_name(&place)), title, caption, svg })
}

/// The meaning of a figure that is a median or a mean, and its interval.
fn over_rounds(findings: &Findings, what: &str) -> String {
    let interval = interval_words(findings);
    format!("{what} over {}, one trial of each case in each round; {interval}", blocks(findings))
}

/// `n = 6 blocks`
pub(crate) fn blocks(findings: &Findings) -> String {
    format!("n = {}", counted(u64::from(findings.run.blocks), "round"))
}

/// Only characters that are safe in every file system, shell and TeX.
pub(crate) fn file_name(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' })
        .collect();
    plain.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// Appends numbers to duplicate names.
fn distinct(charts: &mut [Chart]) {
    for place in 1..charts.len() {
        let earlier = |name: &str, charts: &[Chart]| charts[..place].iter().any(|chart| chart.name == name);
        let own = charts[place].name.clone();
        let numbered = (2..).map(|number| format!("{own}-{number}"));
        if let Some(free) = std::iter::once(own.clone()).chain(numbered).find(|name| !earlier(name, charts)) {
            charts[place].name = free;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(file_name("rows?fields=40&limit=10/../x é"), "rows-fields-40-limit-10-x");
    }

    #[test]
    fn no_two_files_have_the_same_name() {
        let chart = |name: &str| Chart {
            name: name.to_owned(),
            title: String::new(),
            caption: String::new(),
            svg: String::new(),
        };
        let mut charts = ["a", "a", "a-2", "b"].map(chart);
        distinct(&mut charts);
        assert_eq!(charts.map(|chart| chart.name), ["a", "a-2", "a-2-2", "b"]);
    }
}
