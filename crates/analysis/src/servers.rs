//! Derives the findings of server scenarios from the records of their trials.

use tolok_model::{
    Case, ExternalServer, Judge, LoadTool, Measurement, Outcome, Role, Scenario, TrialRecord, describe_slices,
};

use crate::bottleneck::bottleneck;
use crate::case::{Draft, comparisons, finding, noise_floor_of, relate, settle};
use crate::case_inputs::CaseInputs;
use crate::compare::ComparedMetric;
use crate::contest::by_block;
use crate::database::database;
use crate::demands::demands;
use crate::diagnosis::diagnoses;
use crate::environment::Surroundings;
use crate::estimate::geometric_mean;
use crate::figure::database::{DATABASE_OF_TRIALS, DatabaseUse};
use crate::figure::resources::RESOURCES_OF_TRIALS;
use crate::figure::server::{SERVER_TRIALS, ServerFigures};
use crate::figure::table::{Around, Readings};
use crate::findings::{CaseFinding, DatabaseFinding, EnvironmentFinding, Estimate, MemorySource, ScenarioFinding};
use crate::fit::Fit;
use crate::flags::flags;
use crate::gates::gates;
use crate::grouping::sorted_once;
use crate::objectives::objectives;
use crate::observations::{Observations, per_answer};
use crate::records::Records;
use crate::sentence::verdict_sentence;
use crate::slices::{self, Comparand, slices_finding};
use crate::steadiness::steadiness;
use crate::tool_flags::named;
use crate::tools::{marks, versions};
use crate::trial_findings::of_trials;
use crate::usage::Cpus;

/// The load in words. It always mentions slices.
fn load(scenario: &Scenario) -> String {
    match &scenario.slices {
        None => scenario.describe_load(),
        Some(slices) => format!("{} a launch, in {}", scenario.describe_load(), describe_slices(slices)),
    }
}

/// The figure that cases are compared by, slice by slice if there are slices. More is better for either response: CPU time
/// becomes responses per CPU second.
pub(crate) fn comparand(observations: &Observations, judge: Judge) -> Comparand {
    match judge {
        Judge::Goodput => Comparand::of(observations, observations.goodput_by_block(), slices::goodput),
        Judge::Cpu => {
            let per_second = |trial: &Measurement| per_answer(trial).filter(|cpu_s| *cpu_s > 0.0).map(f64::recip);
            Comparand::of(observations, observations.by_block(per_second), slices::good_per_cpu_second)
        }
    }
}

/// Every scenario of servers, in the order of the study, without the number of blocks that it needs and the courses of its cases.
pub(crate) fn of_servers(records: &Records) -> Vec<ScenarioFinding> {
    records.plan.scenarios.iter().map(|scenario| Analysis::of(records, scenario).finding()).collect()
}

/// What all cases of a scenario have in common.
struct Analysis<'a> {
    records: &'a Records<'a>,
    scenario: &'a Scenario,
    around: Surroundings,
    cpus: Cpus,
    cases: Vec<(&'a Case, Observations<'a>)>,
    memory_source: Option<MemorySource>,
    /// The database, if its workload uses one.
    database: Option<DatabaseFinding>,
}

impl<'a> Analysis<'a> {
    fn of(records: &'a Records<'a>, scenario: &'a Scenario) -> Self {
        let around = Surroundings::of(scenario, records.plan, records.run);
        // The second half of an A/A pair does not compete.
        let own = records.plan.cases.iter().filter(|case| case.scenario == scenario.id && case.twin_of.is_none());
        let cases: Vec<(&Case, Observations)> =
            own.map(|case| (case, Observations::of(&case.id, records.plan, records.trials))).collect();
        let is_own = |trial: &&TrialRecord| cases.iter().any(|(case, _)| case.id == trial.case);
        let trials: Vec<&TrialRecord> = records.trials.iter().filter(is_own).collect();
        let rows_per_answer = records.names.rows_per_answer(&scenario.workload);
        Self {
            database: database(scenario, &around, rows_per_answer, &trials),
            cpus: Cpus::of(&around, records.run.machine.cpus),
            memory_source: MemorySource::of(cases.iter().map(|(_, observations)| observations)),
            records,
            scenario,
            around,
            cases,
        }
    }

    fn finding(&self) -> ScenarioFinding {
        let (scenario, names) = (self.scenario, self.records.names);
        let of_role = |role| self.cases.iter().filter(move |(case, _)| case.role == role);
        let drafts = |role| of_role(role).map(|(case, observations)| self.draft(case, observations));
        let mut competing: Vec<Draft<ServerFigures>> = drafts(Role::Subject).collect();
        settle(&mut competing);
        self.show_costs(&mut competing);
        let judge = self.records.plan.judge;
        if judge == Judge::Cpu {
            self.judge_by_cpu(&mut competing);
        }

        // With several ceilings, the highest is the limit.
        let mut ceilings: Vec<Draft<ServerFigures>> = drafts(Role::Ceiling).collect();
        settle(&mut ceilings);
        self.show_costs(&mut ceilings);
        let ceiling = ceilings.into_iter().next();
        // The ceiling limits goodput, whichever response judges.
        let against_ceiling = ceiling.as_ref().map(|ceiling| &ceiling.blocks);
        let again =
            |twin: &str| (comparand(&Observations::of(twin, self.records.plan, self.records.trials), judge), 0.0);
        let (noise_floor, rule) = noise_floor_of(self.records.plan, &scenario.id, &competing, again);
        let comparisons = comparisons(&competing, &|draft| Some(&draft.blocks), rule);
        for draft in &mut competing {
            let own = self.goodput_of(&draft.finding);
            let over = |ceiling: &Comparand| own?.over(ceiling).map(|found| found.ratio);
            draft.finding.of_ceiling = against_ceiling.and_then(over);
        }
        relate(&mut competing, &comparisons, rule);

        let cases: Vec<CaseFinding> = competing.into_iter().map(|draft| draft.finding).collect();
        let ranked: Vec<_> = cases.iter().filter(|case| case.ranked).filter_map(|case| self.observed(case)).collect();
        let slices = slices_finding(scenario, &ranked, judge);
        ScenarioFinding {
            id: scenario.id.clone(),
            workload: scenario.workload.clone(),
            title: names.scenario(scenario),
            load: load(scenario),
            tool: self.tool(),
            is_own_tool: scenario.tool.name == LoadTool::Tolok,
            latency_marks: self.each_once(marks),
            executor: scenario.load.executor.name().to_owned(),
            loop_model: scenario.load.executor.loop_model().to_owned(),
            environment: self.environment(),
            database: self.database.clone(),
            link: self.around.link(&self.networks()),
            memory_source: self.memory_source,
            objectives: scenario.objectives.iter().map(ToString::to_string).collect(),
            noise_floor,
            slices,
            power: None,
            judged_by: judge,
            verdict: verdict_sentence(
                &cases,
                &comparisons,
                self.records.plan.smallest_effect,
                (judge, scenario.load.executor.is_open()),
                |case| self.records.is_reference(case),
            ),
            unscored_diagnoses: diagnoses(&cases, self.records.diagnoses),
            cases,
            ceiling: ceiling.map(|draft| CaseFinding { ranked: false, ..draft.finding }),
            comparisons,
        }
    }

    /// Sorts the cases by their CPU time per correct response, and prepares them for comparison by it.
    fn judge_by_cpu(&self, drafts: &mut [Draft<ServerFigures>]) {
        for draft in drafts.iter_mut() {
            let observed = self.observed(&draft.finding).map(|(_, observations)| comparand(observations, Judge::Cpu));
            draft.blocks = observed.unwrap_or_default();
        }
        let cpu_s =
            |draft: &Draft<ServerFigures>| draft.finding.shown_cpu_s_per_good().map_or(f64::INFINITY, |it| it.value);
        drafts.sort_by(|left, right| {
            right.finding.ranked.cmp(&left.finding.ranked).then(cpu_s(left).total_cmp(&cpu_s(right)))
        });
    }

    /// Gives every case the CPU time and the memory that tables show. Ranked cases are fitted together, so that the ratio of two is
    /// that of their values.
    fn show_costs(&self, drafts: &mut [Draft<ServerFigures>]) {
        for metric in [ComparedMetric::Cpu, ComparedMetric::Memory] {
            let mut values: Vec<Option<Estimate>> = drafts
                .iter()
                .map(|draft| metric.of_server(&draft.finding).and_then(|median| geometric_mean(&median.trials)))
                .collect();
            let is_fitted = |place: &usize| drafts[*place].finding.ranked && values[*place].is_some();
            let places: Vec<usize> = (0..drafts.len()).filter(is_fitted).collect();
            let blocks =
                |place: &usize| by_block(self.records, &drafts[*place].finding.case, metric, self.memory_source);
            let blocks: Vec<Comparand> = places.iter().map(blocks).collect();
            let fit = Fit::of(blocks.iter().collect());
            for (row, place) in places.iter().enumerate() {
                values[*place] = fit.value(row).or(values[*place].take());
            }
            for (draft, value) in drafts.iter_mut().zip(values) {
                match metric {
                    ComparedMetric::Cpu => draft.finding.cpu_typical_s_per_good = value,
                    _ => draft.finding.memory_typical_bytes = value,
                }
            }
        }
    }

    fn goodput_of(&self, case: &CaseFinding) -> Option<Comparand> {
        self.observed(case).map(|(_, observations)| comparand(observations, Judge::Goodput))
    }

    fn observed<'f>(&'f self, case: &'f CaseFinding) -> Option<(&'f CaseFinding, &'f Observations<'f>)> {
        let (_, observations) = self.cases.iter().find(|(own, _)| own.id == case.case)?;
        Some((case, observations))
    }

    /// The environment of the subjects, as far as tolok set it.
    fn environment(&self) -> EnvironmentFinding {
        let is_ours = |(case, _): &(&Case, Observations)| self.external(case).is_none();
        match self.cases.iter().any(is_ours) {
            true => self.around.finding(self.scenario),
            false => self.around.of_external_finding(self.scenario),
        }
    }

    /// The external server of a case, if tolok did not start the subject.
    fn external(&self, case: &Case) -> Option<&'a ExternalServer> {
        self.records.plan.brought.server(&case.subject.subject)
    }

    /// The load generator, with the version that it reported in the trials.
    fn tool(&self) -> String {
        let choice = &self.scenario.tool;
        let script = choice.script.as_ref().map(|script| script.file.as_str());
        named(choice.name.word(), &self.each_once(versions), script)
    }

    /// Values from the trials of any case, each once.
    fn each_once<T: Ord>(&self, of: fn(&Observations) -> Vec<T>) -> Vec<T> {
        sorted_once(self.cases.iter().flat_map(|(_, observations)| of(observations)))
    }

    /// The networks between client and subject in the scenario's trials, each once.
    fn networks(&self) -> Vec<&'a str> {
        let own = |trial: &&TrialRecord| {
            let is_completed = matches!(trial.outcome, Outcome::Completed(_));
            is_completed && self.cases.iter().any(|(case, _)| case.id == trial.case)
        };
        let isolations = self.records.trials.iter().filter(own).filter_map(|trial| trial.isolation.as_ref());
        sorted_once(isolations.map(|isolation| isolation.network.as_str()))
    }

    /// A single case, without its relations to others.
    fn draft(&self, case: &Case, observations: &Observations) -> Draft<ServerFigures> {
        let readings = Readings { trials: observations, around: &self.readings_around() };
        let mut figures = ServerFigures::of(&readings);
        let asks_database = self.database.is_some() && !observations.scored.is_empty();
        figures.database = asks_database.then(|| DatabaseUse::of(&readings));
        let steady = steadiness(observations, &self.scenario.load);
        let inputs = CaseInputs {
            scenario: self.scenario,
            around: &self.around,
            cpus: &self.cpus,
            figures: &figures,
            observations,
            asked: self.database.as_ref(),
            steady: steady.as_ref(),
            external: self.external(case),
        };
        let gates = gates(&inputs);
        let (flags, bottleneck, demands) = (flags(&inputs, &gates), bottleneck(&inputs), demands(&inputs));
        figures.gates = gates.into_iter().map(|gated| gated.finding).collect();
        (figures.bottleneck, figures.demands, figures.steady) = (bottleneck, demands, steady);
        figures.objectives = objectives(self.scenario, observations);
        let own: Vec<&Case> = self.cases.iter().map(|(case, _)| *case).collect();
        let found = of_trials(&readings, &[SERVER_TRIALS, RESOURCES_OF_TRIALS, DATABASE_OF_TRIALS]);
        let finding = finding(case, self.records.names, &own, observations, (figures, flags, found));
        Draft { finding, blocks: comparand(observations, Judge::Goodput), step: 0.0 }
    }

    fn readings_around(&self) -> Around {
        let environment = &self.around.environment;
        Around {
            memory: self.memory_source,
            cpus: self.cpus,
            rows_per_answer: self.database.as_ref().and_then(|database| database.rows_per_answer),
            memory_limit_bytes: environment.subject.memory_bytes,
            database_limit_bytes: self.database.as_ref().and_then(|database| database.memory_bytes),
            link_rate_bps: environment.link.rate_bps,
            database_rate_bps: environment.database.as_ref().and_then(|database| database.link.rate_bps),
        }
    }
}
