//! What several tools report about the same server, with the wire count as referee.
//!
//! The scenarios of a study's tools differ in nothing else, so every difference of figures comes from the tools: their cost, how
//! they count, and what they call a latency. Counts are compared, not rates, because if the window of a tool is its whole
//! process, it is slightly longer on the wire than the tool reports.

use tolok_model::{Case, Connection, LatencyMark, LoadProfile, LoadTool, Measurement, Role, Scenario};

use crate::environment::Surroundings;
use crate::estimate::{median, ratio_within_blocks};
use crate::findings::{CaseFinding, ScenarioFinding, ToolRow, ToolsFinding};
use crate::flag::FlagKind;
use crate::grouping::sorted_once;
use crate::observations::{Observations, goodput};
use crate::records::Records;
use crate::tool_differences::{Asked, does_not_tell, notes};
use crate::tool_flags::{counted, named};
use crate::tool_rates::Tools;
use crate::tool_sentence::tools_sentence;

/// If a tool's latencies add up to more than its connections had time for, it did not measure them. This share and one longest
/// response per connection are tolerated.
pub const LITTLE_TOLERATED: f64 = 0.05;

impl ToolRow {
    /// Its name with its version: `ab 2.3 (apache2-utils 2.4.71)`.
    pub fn words(&self) -> String {
        named(&self.tool, &self.versions, self.script.as_deref())
    }

    /// The same for tables, without the parentheses after a version: `ab 2.3`.
    pub fn short_words(&self) -> String {
        without_brackets(&self.words())
    }
}

/// Removes the parentheses after a tool's version, which name its package.
pub fn without_brackets(words: &str) -> String {
    let mut rest = words;
    let mut short = String::new();
    while let Some((before, (_, after))) =
        rest.split_once(" (").and_then(|(before, inside)| Some((before, inside.split_once(')')?)))
    {
        short += before;
        rest = after;
    }
    short + rest
}

/// One tool's case before its finding.
pub(crate) struct Answerer<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) case: &'a CaseFinding,
    pub(crate) observations: Observations<'a>,
}

/// One finding for each subject of scenarios that differ only in their tools, in the order of the study.
pub(crate) fn tools(records: &Records, scenarios: &[ScenarioFinding]) -> Vec<ToolsFinding> {
    let plan = records.plan;
    let mut found = Vec::new();
    for (place, first) in plan.scenarios.iter().enumerate() {
        let is_first = !plan.scenarios[..place].iter().any(|earlier| differ_in_tool_only(earlier, first));
        let siblings: Vec<&Scenario> =
            plan.scenarios[place..].iter().filter(|other| differ_in_tool_only(first, other)).collect();
        if !is_first || siblings.len() < 2 {
            continue;
        }
        let mut cases: Vec<&Case> =
            plan.cases.iter().filter(|case| case.scenario == first.id && case.twin_of.is_none()).collect();
        cases.sort_by_key(|case| case.role == Role::Ceiling);
        found.extend(cases.into_iter().filter_map(|case| of_subject(records, scenarios, &siblings, case)));
    }
    found
}

/// True also for a scenario and itself.
fn differ_in_tool_only(one: &Scenario, other: &Scenario) -> bool {
    let asked = |scenario: &Scenario| (scenario.workload.clone(), scenario.environment.clone(), scenario.database);
    let over = |scenario: &Scenario| (scenario.protocol, scenario.streams);
    asked(one) == asked(other) && one.load == other.load && over(one) == over(other)
}

fn of_subject(
    records: &Records,
    scenarios: &[ScenarioFinding],
    siblings: &[&Scenario],
    case: &Case,
) -> Option<ToolsFinding> {
    let Records { run, plan, trials, .. } = *records;
    let of = |scenario: &&'_ Scenario| {
        let is_own =
            |it: &&Case| it.scenario == scenario.id && it.subject.label == case.subject.label && it.twin_of.is_none();
        let own = plan.cases.iter().find(is_own)?;
        let findings = scenarios.iter().find(|it| it.id == scenario.id)?;
        let found = findings.cases.iter().chain(&findings.ceiling).find(|it| it.case == own.id)?;
        Some((plan.scenario(&scenario.id)?, found, Observations::of(&own.id, plan, trials)))
    };
    let answerers: Vec<Answerer> = siblings
        .iter()
        .filter_map(of)
        .map(|(scenario, case, observations)| Answerer { scenario, case, observations })
        .collect();
    let first = answerers.first().filter(|_| answerers.len() > 1)?;
    let around = Surroundings::of(first.scenario, plan, run).finding(first.scenario);
    let rows: Vec<ToolRow> = answerers.iter().map(|answerer| row(answerer, &answerers)).collect();
    let load = &first.scenario.load;
    let mut finding = ToolsFinding {
        workload: first.scenario.workload.clone(),
        title: records.names.scenario(first.scenario),
        load: first.scenario.describe_load(),
        loop_model: load.executor.loop_model().to_owned(),
        environment: around.id,
        environment_words: around.words,
        subject: case.subject.label.clone(),
        subject_title: first.case.title.clone(),
        runtime: first.case.runtime.clone(),
        is_ceiling: case.role == Role::Ceiling,
        verdict: String::new(),
        rows,
    };
    let tools = Tools { answerers: &answerers, smallest_effect: plan.smallest_effect };
    finding.verdict = tools_sentence(&finding, load, &tools);
    Some(finding)
}

fn row(answerer: &Answerer, all: &[Answerer]) -> ToolRow {
    let Answerer { scenario, case, observations } = answerer;
    let load = &scenario.load;
    let each = |figure: &dyn Fn(&Measurement) -> Option<f64>| median(observations.every(figure));
    let own = all.iter().find(|it| it.scenario.tool.name == LoadTool::Tolok);
    let of_own = |figure: fn(&Measurement) -> Option<f64>| {
        let own = own.filter(|own| own.scenario.id != scenario.id)?;
        let [above, below] = [observations.by_block(figure), own.observations.by_block(figure)];
        ratio_within_blocks(&above, &below).map(|found| found.ratio)
    };
    let kinds: Vec<FlagKind> = case.flags.iter().filter(|flag| flag.voids_rank).map(|flag| flag.kind).collect();
    let has = |kind: FlagKind| kinds.contains(&kind);
    let mut row = ToolRow {
        tool: scenario.tool.name.word().to_owned(),
        versions: versions(observations),
        script: scenario.tool.script.as_ref().map(|script| script.file.clone()),
        scenario: scenario.id.clone(),
        case: case.case.clone(),
        trials_planned: case.trials_planned,
        trials_scored: case.trials_scored,
        failures: sorted_once(case.failures.iter().map(|failure| failure.reason.clone())),
        goodput_rps: case.goodput_rps.clone(),
        wire_rps: each(&wire_rps),
        counted_of_wire: each(&counted_of_wire),
        is_contradicted: has(FlagKind::WireContradicts),
        goodput_of_own: of_own(goodput),
        latency_mean_s: each(&|trial| trial.latency.mean_s),
        latency_p50_s: case.latency_p50_s.clone(),
        latency_p99_s: case.latency_p99_s.clone(),
        latency_max_s: each(&|trial| trial.latency.max_s),
        latency_marks: marks(observations),
        little: each(&|trial| little(trial, load)),
        trials_against_little: observations.number(|trial| is_against_little(trial, load)) as u32,
        generator_cpu_s_per_good: each(&generator_cpu_s),
        generator_cpu_of_own: of_own(generator_cpu_s),
        subject_cpu_s_per_good: case.cpu_s_per_good.clone(),
        subject_cpu_s_per_wire: each(&subject_cpu_s),
        generator_busy: case.generator_busy,
        subject_busy: case.subject_busy,
        is_limit: has(FlagKind::GeneratorBound),
        errors: case.errors.clone(),
        voided_by: kinds,
        does_not_tell: does_not_tell(scenario, observations),
        notes: Vec::new(),
    };
    row.notes = notes(&row, &Asked { scenario, case, own });
    row
}

/// Versions of the tool in the scored trials, each once.
pub(crate) fn versions(observations: &Observations) -> Vec<String> {
    let used = observations.trials().filter_map(|trial| trial.tool.as_ref());
    sorted_once(used.map(|tool| tool.version.clone()).filter(|it| !it.is_empty()))
}

/// The latency marks of any scored trial, each once.
pub(crate) fn marks(observations: &Observations) -> Vec<LatencyMark> {
    sorted_once(observations.trials().flat_map(|trial| trial.latency.marks.iter().copied()))
}

fn wire_rps(trial: &Measurement) -> Option<f64> {
    Some(goodput(trial)? / counted_of_wire(trial)?)
}

/// `None` if no response crossed the wire, or if the tool counted none.
fn counted_of_wire(trial: &Measurement) -> Option<f64> {
    let (counted, wire) = (counted(trial) as f64, trial.wire?.answers_2xx as f64);
    (counted > 0.0 && wire > 0.0).then_some(counted / wire)
}

fn generator_cpu_s(trial: &Measurement) -> Option<f64> {
    let counted = counted(trial) as f64;
    (counted > 0.0).then(|| trial.generator.cpu_s / counted)
}

/// Per response on the wire.
pub(crate) fn subject_cpu_s(trial: &Measurement) -> Option<f64> {
    let answers = trial.wire?.answers as f64;
    let used_s = trial.subject.as_ref()?.cpu_s;
    (answers > 0.0).then(|| used_s / answers)
}

/// By Little's law, the mean share of the connections that waited for a response.
fn little(trial: &Measurement, load: &LoadProfile) -> Option<f64> {
    let is_steady = !load.executor.is_open() && !load.executor.is_ramp() && load.connection == Connection::KeepAlive;
    let connections = load.connections_max().filter(|connections| is_steady && *connections > 0)?;
    Some(goodput(trial)? * trial.latency.mean_s? / f64::from(connections))
}

/// Responses of the window cannot take more time than their connections had in it, plus the time before it of one response each.
fn is_against_little(trial: &Measurement, load: &LoadProfile) -> bool {
    let before_s = trial.latency.max_s.or(trial.latency.mean_s).unwrap_or_default();
    let most = 1.0 + LITTLE_TOLERATED + before_s / trial.window_s;
    little(trial, load).is_some_and(|little| little > most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tool_says_in_brackets_is_too_long_for_tables() {
        assert_eq!(without_brackets("ab 2.3 (apache2-utils 2.4.71-1)"), "ab 2.3");
        assert_eq!(without_brackets("ab 2.3 (Debian) or 2.4 (own) with x.js"), "ab 2.3 or 2.4 with x.js");
        assert_eq!(without_brackets("wrk 4.1.0"), "wrk 4.1.0");
        assert_eq!(without_brackets("odd (never closed"), "odd (never closed");
    }
}
