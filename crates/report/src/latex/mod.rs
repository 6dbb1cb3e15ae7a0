//! Tables for a paper: one for each scenario, in LaTeX with booktabs and nothing else.
//!
//! A table stands on its own: its caption says how many blocks and trials it rests on, what the intervals are, under which load
//! and on which machine. [`figures`] sets the charts of a run likewise.

mod captions;
mod escape;
mod numbers;
mod tabular;

use std::fmt::Write as _;

use tolok_analysis::figures::{Figure, NONE, Quantity, figure};
use tolok_analysis::{
    CaseFinding, Estimate, Findings, MemorySource, ProgramCaseFinding, ProgramFinding, ScenarioFinding,
};

use crate::charts::{Chart, file_name};
use crate::documents::run::notes::Notes;
use crate::documents::run::program_table::unmeasured;
use crate::documents::run::programs;
use crate::documents::run::sections::sections;
use crate::wording::{LOWER_BOUND, MARKS, heading, is_lower_bound, no_figure};
use captions::{of_figure, of_program, of_scenario};
use escape::escaped;
use numbers::{interval, number, scaled};
use tabular::{Column, Row, Tabular};

const MIB: f64 = 1024.0 * 1024.0;

const PREAMBLE: &str = "\
% Tables of a run of tolok, for a paper. In the preamble of yours:
%   \\usepackage{booktabs}
% Then \\input this file, or copy a table out of it. The tables are about 16 cm wide, as a page's text is with
% \\usepackage[margin=2.5cm]{geometry}; in a paper of two columns write table* for table.
";

const FIGURES_PREAMBLE: &str = "\
% Figures of a run of tolok, for a paper. In the preamble of yours:
%   \\usepackage{graphicx}
%   \\graphicspath{{figures/}}  % the folder in which this file lies
% Each is 88 mm wide, as a column of most papers is, and its text has 8 to 9 points at that width.
";

pub(crate) fn render(findings: &Findings) -> String {
    let mut text = format!("{PREAMBLE}% Run {}: {}\n", comment(&findings.run.id), comment(&findings.run.command));
    for section in sections(findings) {
        text += &scenario(findings, &section);
    }
    text.extend(findings.programs.iter().map(|finding| program(findings, finding)));
    text
}

/// A figure environment for each chart, with the ending of the files that a document can include (`pdf`), if there are any.
pub fn figures(findings: &Findings, charts: &[Chart], ending: Option<&str>) -> String {
    let mut text = FIGURES_PREAMBLE.to_owned();
    if ending.is_none() {
        text += "% LaTeX cannot include SVG: make PDFs of the files first, such as by rsvg-convert -f pdf -o NAME.pdf NAME.svg\n";
    }
    text += &format!("% Run {}: {}\n", comment(&findings.run.id), comment(&findings.run.command));
    for chart in charts {
        let (name, caption) = (&chart.name, of_figure(findings, chart));
        let file = ending.map_or_else(|| name.clone(), |ending| format!("{name}.{ending}"));
        _ = write!(
            text,
            "\n\\begin{{figure}}[tbp]\n\\centering\n\\includegraphics[width=88mm]{{{file}}}\n\\caption{{{caption}}}\n\
             \\label{{fig:{name}}}\n\\end{{figure}}\n"
        );
    }
    text
}

/// Text for a comment: one line, and nothing that TeX could take for the end of it.
fn comment(text: &str) -> String {
    crate::printable::printable(text)
}

/// The table of a scenario.
fn scenario(findings: &Findings, scenario: &ScenarioFinding) -> String {
    let notes = Notes::of(scenario);
    let cases: Vec<&CaseFinding> = scenario.cases.iter().chain(&scenario.ceiling).collect();
    let is_compared = scenario.cases.iter().any(|case| case.against_first.is_some());
    let is_ceiling = |place: usize| place >= scenario.cases.len();
    let row = |(place, case): (usize, &&CaseFinding)| {
        let is_marked = !case.ranked && !is_ceiling(place);
        let before = if is_ceiling(place) { "ceiling: " } else { "" };
        let subject = format!("{before}{}{}", escaped(&case.title), superscript(is_marked, &notes.numbers(case)));
        let mut cells = goodput(case);
        if is_compared {
            cells.extend(ratio(case.of_first.as_ref(), place == 0, case.against_first));
            cells.push(escaped(case.tier.as_deref().unwrap_or(NONE)));
        }
        let memory = case.memory_bytes.as_ref();
        cells.extend([
            scaled(case.cpu_s_per_good.as_ref(), 1e6),
            scaled(memory, 1.0 / MIB),
            scaled(case.latency_p50_s.as_ref(), 1e3),
            scaled(case.latency_p99_s.as_ref(), 1e3),
        ]);
        Row { subject, cells, is_apart: is_ceiling(place) }
    };
    let memory = if scenario.memory_source == Some(MemorySource::Pss) { "PSS" } else { "memory" };
    let columns = [
        vec![Column::number("good", "answers/s"), Column::text("r", "interval", "")],
        if is_compared { compared_columns() } else { Vec::new() },
        vec![
            Column::number("CPU", "$\\mu$s/answer"),
            Column::number(memory, "MiB"),
            Column::number("p50", "ms"),
            Column::number("p99", "ms"),
        ],
    ];
    let rows = cases.iter().enumerate().map(row).collect();
    let mut footnotes = marks(scenario.cases.iter().any(|case| !case.ranked), &notes);
    footnotes.extend(of_marks(scenario.cases.iter().map(|case| case.against_first)));
    Tabular { columns: columns.concat(), rows, footnotes }.environment(
        &of_scenario(findings, scenario),
        &format!("tab:{}", file_name(&scenario.id)),
        &escaped(&heading(scenario)),
    )
}

/// The table of a scenario of programs.
fn program(findings: &Findings, program: &ProgramFinding) -> String {
    let notes = Notes::of_programs(program);
    let is_compared = program.cases.iter().any(|case| case.against_first.is_some());
    let has_floor = program.cases.iter().any(|case| case.floor_s.is_some());
    let unit = Unit::of(program);
    let row = |(place, case): (usize, &ProgramCaseFinding)| {
        let subject = format!("{}{}", escaped(&case.title), superscript(!case.ranked, &notes.numbers_of_program(case)));
        let mut cells = time(case.wall_s.as_ref(), unit.per_s, &unmeasured(case).value);
        if is_compared {
            cells.extend(ratio(case.of_first.as_ref(), place == 0, case.against_first));
            cells.push(escaped(case.tier.as_deref().unwrap_or(NONE)));
        }
        if has_floor {
            let above = case.above_floor_s.as_ref().filter(|_| !case.is_at_floor);
            let lacking = if case.is_at_floor { "at start" } else { NONE };
            cells.extend(time(above, unit.per_s, lacking));
        }
        cells.extend([scaled(case.cpu_s.as_ref(), unit.per_s), scaled(case.rss_bytes.as_ref(), 1.0 / MIB)]);
        Row { subject, cells, is_apart: false }
    };
    let columns = [
        vec![Column::number("wall", unit.name), Column::text("r", "interval", "")],
        if is_compared { compared_columns() } else { Vec::new() },
        if has_floor {
            vec![Column::number("above start", unit.name), Column::text("r", "interval", "")]
        } else {
            Vec::new()
        },
        vec![Column::number("CPU", unit.name), Column::number("max RSS", "MiB")],
    ];
    let rows = program.cases.iter().enumerate().map(row).collect();
    let mut footnotes = marks(program.cases.iter().any(|case| !case.ranked), &notes);
    footnotes.extend(of_marks(program.cases.iter().map(|case| case.against_first)));
    Tabular { columns: columns.concat(), rows, footnotes }.environment(
        &of_program(findings, program),
        &format!("tab:{}", file_name(&program.id)),
        &escaped(&programs::heading(program)),
    )
}

fn compared_columns() -> Vec<Column> {
    vec![
        Column::number("of first", "ratio"),
        Column::text("r", "interval", ""),
        Column::text("c", "", ""),
        Column::text("l", "tier", ""),
    ]
}

/// Value and interval of a case's goodput; in the place of a value that there is none of, what the other reports have there.
fn goodput(case: &CaseFinding) -> Vec<String> {
    let bound = if is_lower_bound(case) { escaped(LOWER_BOUND) } else { String::new() };
    match &case.goodput_rps {
        Some(goodput) => vec![format!("{bound}{}", number(goodput, 1.0)), interval(goodput, 1.0)],
        None => vec![escaped(&no_figure(case)), "--".to_owned()],
    }
}

/// A time and its interval, or what stands in their place.
fn time(estimate: Option<&Estimate>, per_s: f64, lacking: &str) -> Vec<String> {
    let nothing = || vec![escaped(lacking), "--".to_owned()];
    estimate.map_or_else(nothing, |time| vec![number(time, per_s), interval(time, per_s)])
}

/// A ratio to the first and its interval, in the digits of all reports, and the mark of its verdict.
fn ratio(ratio: Option<&Estimate>, is_first: bool, verdict: Option<tolok_analysis::Verdict>) -> Vec<String> {
    let Some(ratio) = ratio.filter(|_| !is_first) else {
        let value = if is_first && ratio.is_some() { "1" } else { "--" };
        return vec![value.to_owned(), "--".to_owned(), String::new()];
    };
    let Figure { value, interval } = figure(Quantity::Ratio, ratio);
    let mark = MARKS.iter().find(|(_, of)| verdict == Some(*of)).map_or("", |(mark, _)| mark);
    let interval =
        interval.map_or_else(|| "--".to_owned(), |interval| format!("[{}]", escaped(&interval).replace("--", ", ")));
    vec![escaped(value.trim_end_matches('×')), interval, escaped(mark)]
}

/// The unit of the times of a scenario: that in which the shortest of them can be read.
struct Unit {
    name: &'static str,
    per_s: f64,
}

impl Unit {
    fn of(program: &ProgramFinding) -> Self {
        let walls = program.cases.iter().filter_map(|case| case.wall_s.as_ref()).map(|wall| wall.value);
        match walls.reduce(f64::min) {
            Some(shortest) if shortest >= 1.0 => Self { name: "s", per_s: 1.0 },
            _ => Self { name: "ms", per_s: 1e3 },
        }
    }
}

/// A dagger for what is not ranked, and the numbers of notes.
fn superscript(is_marked: bool, numbers: &[usize]) -> String {
    let dagger = is_marked.then(|| "\\dagger".to_owned());
    let marks: Vec<String> = dagger.into_iter().chain(numbers.iter().map(usize::to_string)).collect();
    if marks.is_empty() { String::new() } else { format!("$^{{{}}}$", marks.join(",")) }
}

/// What the marks behind subjects mean.
fn marks(has_unranked: bool, notes: &Notes) -> Vec<String> {
    let unranked = has_unranked.then(|| "$^{\\dagger}$~not ranked.".to_owned());
    let notes = notes.numbered().map(|(number, note)| format!("$^{{{number}}}$~{}", escaped(&note)));
    unranked.into_iter().chain(notes).collect()
}

/// What the marks behind ratios mean, as far as they occur.
fn of_marks(verdicts: impl Iterator<Item = Option<tolok_analysis::Verdict>>) -> Option<String> {
    let occurring: Vec<_> = verdicts.flatten().collect();
    let occurs = MARKS.iter().filter(|(_, verdict)| occurring.contains(verdict));
    let meanings: Vec<String> =
        occurs.map(|(mark, verdict)| format!("{}~{}", escaped(mark), verdict.words())).collect();
    (!meanings.is_empty()).then(|| format!("{}.", meanings.join("; ")))
}
