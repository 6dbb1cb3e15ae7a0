//! CSV as RFC 4180 has it: one line a case and scenario, the ceilings included, numbers unrounded in base units.
//!
//! A figure that does not exist is an empty field. Columns may be added at the end in later versions, and none is ever
//! moved.

use tolok_analysis::{CaseFinding, Estimate, Findings, ObjectiveFinding, ObjectiveOutcome, ScenarioFinding, Verdict};

const LINE_END: &str = "\r\n";

/// A column: its name and what stands in it.
type Column = (&'static str, fn(&Line) -> String);

/// What one line is about.
struct Line<'a> {
    run: &'a str,
    scenario: &'a ScenarioFinding,
    role: &'static str,
    case: &'a CaseFinding,
}

const TEXT_COLUMNS: [Column; 10] = [
    ("run", |line| line.run.to_owned()),
    ("scenario", |line| line.scenario.id.clone()),
    ("workload", |line| line.scenario.workload.clone()),
    ("load", |line| line.scenario.load.clone()),
    ("loop", |line| line.scenario.loop_model.clone()),
    ("role", |line| line.role.to_owned()),
    ("subject", |line| line.case.subject.clone()),
    ("title", |line| line.case.title.clone()),
    ("runtime", |line| line.case.runtime.clone()),
    ("ranked", |line| line.case.ranked.to_string()),
];

/// An estimate takes three columns: the name, and the name with `_low` and `_high`.
type EstimateColumn = (&'static str, fn(&CaseFinding) -> &Option<Estimate>);

const ESTIMATE_COLUMNS: [EstimateColumn; 8] = [
    ("goodput_rps", |case| &case.goodput_rps),
    ("of_ceiling", |case| &case.of_ceiling),
    ("of_first", |case| &case.of_first),
    ("cpu_s_per_good", |case| &case.cpu_s_per_good),
    ("memory_bytes", |case| &case.memory_bytes),
    ("latency_p50_s", |case| &case.latency_p50_s),
    ("latency_p99_s", |case| &case.latency_p99_s),
    ("cold_start_s", |case| &case.cold_start_s),
];

const COUNT_COLUMNS: [Column; 12] = [
    ("against_first", |line| line.case.against_first.map(Verdict::words).unwrap_or_default().to_owned()),
    ("trials_planned", |line| line.case.trials_planned.to_string()),
    ("trials_measured", |line| line.case.trials_measured.to_string()),
    ("trials_failed", |line| line.case.failures.len().to_string()),
    ("requests_sent", |line| line.case.requests_sent.to_string()),
    ("requests_failed", |line| line.case.errors.iter().map(|(_, number)| number).sum::<u64>().to_string()),
    ("subject_busy", |line| number(line.case.subject_busy)),
    ("generator_busy", |line| number(line.case.generator_busy)),
    ("foreign_busy", |line| number(line.case.foreign_busy)),
    ("stolen", |line| number(line.case.stolen)),
    ("processes_max", |line| line.case.processes_max.to_string()),
    ("flags", |line| line.case.flags.iter().map(|flag| flag.kind.as_str()).collect::<Vec<_>>().join(" ")),
];

/// What came after the columns above were read by others.
const LATER_COLUMNS: [Column; 4] = [
    ("executor", |line| line.scenario.executor.clone()),
    ("offered_rps", |line| number(line.case.offered_rps.as_ref().map(|offered| offered.value))),
    ("requests_unsent", |line| line.case.requests_unsent.to_string()),
    ("objectives", |line| line.case.objectives.iter().map(objective).collect::<Vec<_>>().join("; ")),
];

/// `p95 < 50ms: crossed`
fn objective(found: &ObjectiveFinding) -> String {
    let outcome = match found.outcome {
        ObjectiveOutcome::Kept => "kept",
        ObjectiveOutcome::Crossed => "crossed",
        ObjectiveOutcome::Unknown => "unknown",
    };
    format!("{}: {outcome}", found.objective)
}

pub(crate) fn render(findings: &Findings) -> String {
    let mut text = heading().join(",") + LINE_END;
    for scenario in &findings.scenarios {
        let competing = scenario.cases.iter().map(|case| ("subject", case));
        let ceiling = scenario.ceiling.iter().map(|case| ("ceiling", case));
        for (role, case) in competing.chain(ceiling) {
            let fields = fields(&Line { run: &findings.run.id, scenario, role, case });
            text += &fields.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(",");
            text += LINE_END;
        }
    }
    text
}

fn heading() -> Vec<String> {
    let texts = TEXT_COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    let estimates =
        ESTIMATE_COLUMNS.iter().flat_map(|(name, _)| ["", "_low", "_high"].map(|end| format!("{name}{end}")));
    let counts = COUNT_COLUMNS.iter().chain(&LATER_COLUMNS).map(|(name, _)| (*name).to_owned());
    texts.chain(estimates).chain(counts).collect()
}

fn fields(line: &Line) -> Vec<String> {
    let texts = TEXT_COLUMNS.iter().map(|(_, field)| field(line));
    let estimates = ESTIMATE_COLUMNS.iter().flat_map(|(_, estimate)| {
        let estimate = estimate(line.case).as_ref();
        let low = estimate.and_then(|estimate| estimate.low);
        let high = estimate.and_then(|estimate| estimate.high);
        [estimate.map(|estimate| estimate.value), low, high].map(number)
    });
    let counts = COUNT_COLUMNS.iter().chain(&LATER_COLUMNS).map(|(_, field)| field(line));
    texts.chain(estimates).chain(counts).collect()
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// In quotes where the text would otherwise be read as several fields or lines.
fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_would_be_misread_is_quoted() {
        let check = |field: &str, written: &str| assert_eq!(quoted(field), written);
        check("Go net/http", "Go net/http");
        check("closed loop, 64", "\"closed loop, 64\"");
        check("a \"b\"", "\"a \"\"b\"\"\"");
        check("two\nlines", "\"two\nlines\"");
        check("", "");
    }
}
