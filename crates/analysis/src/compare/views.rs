//! The view that a comparison has of a run: servers and programs alike are scenarios with facts, and cases with figures.

use tolok_model::{LatencyMark, Plan, RunRecord};

use super::ComparedRun;
use super::facts::{self, Fact};
use super::metric::{ComparedMetric, ScenarioKind};

use crate::findings::{
    CaseFinding, Estimate, GateFinding, GateOutcome, MemorySource, NoiseFloor, ProgramCaseFinding, ProgramFinding,
    ScenarioFinding,
};
use crate::flag::Flag;

pub(super) struct ScenarioView<'a> {
    pub(super) id: &'a str,
    pub(super) kind: ScenarioKind,
    pub(super) title: &'a str,
    pub(super) load: &'a str,
    /// The load generator or timer, with its version.
    pub(super) tool: String,
    pub(super) environment: &'a str,
    /// What it asks: equal facts mean the same question.
    pub(super) facts: Vec<Fact>,
    /// What it got, which also affects its figures.
    pub(super) got: Vec<Fact>,
    /// Full versions of its database servers.
    pub(super) database: String,
    pub(super) cases: Vec<CaseView<'a>>,
    pub(super) ceiling: Option<CaseView<'a>>,
    pub(super) noise_floor: Option<&'a NoiseFloor>,
    /// Where its memory figures come from.
    pub(super) memory_source: Option<MemorySource>,
    pub(super) latency_marks: &'a [LatencyMark],
    /// The coarsest step of its timer, in seconds.
    pub(super) step_s: f64,
}

#[derive(Clone, Copy)]
pub(super) struct CaseView<'a> {
    pub(super) of: CaseOf<'a>,
    /// Name of the case in the run's plan.
    pub(super) id: &'a str,
    pub(super) subject: &'a str,
    pub(super) title: &'a str,
    pub(super) runtime: &'a str,
    pub(super) ranked: bool,
    flags: &'a [Flag],
    gates: &'a [GateFinding],
}

#[derive(Clone, Copy)]
pub(super) enum CaseOf<'a> {
    Server(&'a CaseFinding),
    Program(&'a ProgramCaseFinding),
}

/// All scenarios of a run, servers first, each in the order of the study.
pub(super) fn scenarios<'a>(run: &ComparedRun<'a>) -> Vec<ScenarioView<'a>> {
    let (plan, record) = (run.records.plan, run.records.run);
    let servers = run.findings.scenarios.iter().filter_map(|finding| of_servers(finding, run, plan, record));
    let programs = run.findings.programs.iter().filter_map(|finding| of_programs(finding, run, plan, record));
    servers.chain(programs).collect()
}

fn of_servers<'a>(
    finding: &'a ScenarioFinding,
    run: &ComparedRun<'a>,
    plan: &Plan,
    record: &RunRecord,
) -> Option<ScenarioView<'a>> {
    let scenario = plan.scenario(&finding.id)?;
    let versions = finding.database.as_ref().map(|database| database.versions.as_slice()).unwrap_or_default();
    let mut got = facts::cpus(record.cpus.get(&scenario.environment), false);
    let is_own = |case: &str| finding.cases.iter().any(|own| own.case == case);
    got.extend([facts::network(run.records.trials, &is_own), facts::database_series(versions)]);
    let is_open = scenario.load.executor.is_open();
    Some(ScenarioView {
        id: &finding.id,
        kind: if is_open { ScenarioKind::Open } else { ScenarioKind::Closed },
        title: &finding.title,
        load: &finding.load,
        tool: finding.tool.clone(),
        environment: &finding.environment.words,
        facts: facts::of_scenario(scenario, plan, record, run.records.names),
        got,
        database: versions.join(", "),
        cases: finding.cases.iter().map(CaseView::of_server).collect(),
        ceiling: finding.ceiling.as_ref().map(CaseView::of_server),
        noise_floor: finding.noise_floor.as_ref(),
        memory_source: finding.memory_source,
        latency_marks: &finding.latency_marks,
        step_s: 0.0,
    })
}

fn of_programs<'a>(
    finding: &'a ProgramFinding,
    run: &ComparedRun<'a>,
    plan: &Plan,
    record: &RunRecord,
) -> Option<ScenarioView<'a>> {
    let scenario = plan.program(&finding.id)?;
    let tool = format!("{} {}", finding.timer, finding.timer_versions.join(", "));
    let is_own = |case: &str| finding.cases.iter().any(|own| own.case == case);
    let mut got = facts::cpus(record.cpus.get(&scenario.environment), true);
    got.push(facts::network(run.records.trials, &is_own));
    Some(ScenarioView {
        id: &finding.id,
        kind: ScenarioKind::Program,
        title: &finding.title,
        load: &finding.runs,
        tool: tool.trim_end().to_owned(),
        environment: &finding.environment.words,
        facts: facts::of_program(scenario, plan, record, run.records.names),
        got,
        database: String::new(),
        cases: finding.cases.iter().map(CaseView::of_program).collect(),
        ceiling: None,
        noise_floor: None,
        memory_source: None,
        latency_marks: &[],
        step_s: finding.timer_resolution_s.unwrap_or(0.0),
    })
}

impl<'a> CaseView<'a> {
    fn of_server(case: &'a CaseFinding) -> Self {
        Self::new(case, CaseOf::Server(case), &case.gates)
    }

    fn of_program(case: &'a ProgramCaseFinding) -> Self {
        Self::new(case, CaseOf::Program(case), &[])
    }

    fn new<F>(case: &'a CaseFinding<F>, of: CaseOf<'a>, gates: &'a [GateFinding]) -> Self {
        Self {
            of,
            id: &case.case,
            subject: &case.subject,
            title: &case.title,
            runtime: &case.runtime,
            ranked: case.ranked,
            flags: &case.flags,
            gates,
        }
    }

    pub(super) fn figure(&self, metric: ComparedMetric) -> Option<&'a Estimate> {
        match self.of {
            CaseOf::Server(case) => metric.of_server(case),
            CaseOf::Program(case) => metric.of_program(case),
        }
    }

    /// The flags and gates that bar it from the ranking, as stable words, or `None` if it is ranked.
    pub(super) fn barred_by(&self) -> Option<String> {
        if self.ranked {
            return None;
        }
        let flags = self.flags.iter().filter(|flag| flag.voids_rank).map(|flag| flag.kind.word());
        let mut words: Vec<&str> = flags.collect();
        words.dedup();
        if words.is_empty() {
            // A gate that also has a flag would only repeat it in another word.
            let is_failed = |gate: &&GateFinding| gate.bars && gate.outcome == GateOutcome::Failed;
            words = self.gates.iter().filter(is_failed).map(|gate| gate.gate.as_str()).collect();
        }
        Some(if words.is_empty() { "no figure".to_owned() } else { words.join(", ") })
    }
}
