//! Charts of the course of a trial: response times, seconds, starts. Also of published ratios.

use tolok_analysis::{Findings, ScenarioFinding};

use super::{Chart, blocks, file_name, of_scenario};
use crate::documents::run::{cold_start, latency, seconds};
use crate::svg;
use crate::wording::heading;

/// Response times by percentile, a chart per scenario.
pub(super) fn latencies(findings: &Findings) -> Vec<Chart> {
    let chart = |(scenario, svg): (&ScenarioFinding, String)| {
        let said = format!(
            "Response times of correct responses by percentile, both axes logarithmic, in a{} loop. Line: median over the trials, {}; band: from the lowest trial to the highest, not a confidence interval. A line ends where a trial has fewer than 10 responses beyond it.",
            if scenario.loop_model == "open" { "n open" } else { " closed" },
            blocks(findings)
        );
        of_scenario("latency", "response times", said, scenario, svg)
    };
    latency::charts(findings, false).into_iter().map(chart).collect()
}

/// Second by second, a chart per case.
pub(super) fn seconds(findings: &Findings, scenario: &ScenarioFinding) -> Vec<Chart> {
    let charts = seconds::charts(scenario).into_iter();
    let of_case = |(case, svg): (&tolok_analysis::CaseFinding, String)| {
        let title = format!("{}: {}, second by second", heading(scenario), case.title);
        let caption = format!(
            "{title}; {}. Line: median over the trials, {}; band: from the lowest trial to the highest, not a confidence interval. Shaded: warm-up, which no figure includes.",
            scenario.load,
            blocks(findings)
        );
        let name = format!("seconds-{}-{}", file_name(&scenario.id), file_name(&case.subject));
        Chart { name, title, caption, svg }
    };
    charts.map(of_case).collect()
}

/// Time from the start to the first correct response.
pub(super) fn cold_starts(findings: &Findings) -> Vec<Chart> {
    let chart = |(group, svg): (String, String)| {
        let title = format!("{group}: time to the first correct response");
        let caption = format!("{title}. {} Each scenario: {}.", cold_start::RULE, blocks(findings));
        Chart { name: format!("cold-start-{}", file_name(&group)), title, caption, svg }
    };
    cold_start::charts(findings).into_iter().map(chart).collect()
}

/// Published ratios beside measured ones; `None` if the study names none.
pub(super) fn published(findings: &Findings) -> Option<Chart> {
    (!findings.published.is_empty()).then(|| {
        let title = "Published and measured".to_owned();
        let caption = format!(
            "{title}: ratios of two subjects on a logarithmic axis; diamond: as published; dot: geometric mean over the rounds, \
             with its 95% interval. {}.",
            capital_blocks(findings)
        );
        let svg = svg::published(&findings.published, findings.run.smallest_effect);
        Chart { name: "published".to_owned(), title, caption, svg }
    })
}

/// As a sentence: `Here n = 6 blocks`
fn capital_blocks(findings: &Findings) -> String {
    format!("Here {}", blocks(findings))
}
