//! Scenarios of servers: from the records of their trials to what can be said of them.

use std::collections::{BTreeMap, BTreeSet};

use tolok_model::{Case, ExternalServer, LoadTool, Outcome, Role, Scenario, TrialRecord};

use crate::bottleneck::bottleneck;
use crate::case::{failures, places};
use crate::case_inputs::CaseInputs;
use crate::database::{database, database_use};
use crate::demands::demands;
use crate::diagnosis::diagnoses;
use crate::environment::Surroundings;
use crate::estimate::{BlockRatio, median, ratio_within_blocks};
use crate::findings::{
    Better, CaseFinding, Comparison, DatabaseFinding, EnvironmentFinding, MemorySource, NoiseFloor, ScenarioFinding,
    Verdict,
};
use crate::flags::flags;
use crate::gates::gates;
use crate::link::link_use;
use crate::noise::{noise_floor, told_of_itself};
use crate::objectives::objectives;
use crate::observations::{Observations, goodput, per_answer};
use crate::records::Records;
use crate::resources::resources;
use crate::sentence::verdict_sentence;
use crate::steadiness::steadiness;
use crate::tool_flags::named;
use crate::tools::{marks, versions};
use crate::trial_findings;
use crate::usage::Cpus;
use crate::verdict::{Rule, judge};

/// Every scenario of servers, in the order of the study, but for how many blocks it would need and the courses of its cases.
pub(crate) fn of_servers(records: &Records) -> Vec<ScenarioFinding> {
    records.plan.scenarios.iter().map(|scenario| Analysis::of(records, scenario).finding()).collect()
}

/// What all cases of a scenario have in common.
struct Analysis<'a> {
    records: &'a Records<'a>,
    scenario: &'a Scenario,
    around: Surroundings,
    cpus: Cpus,
    /// Its cases and what was observed of each.
    cases: Vec<(&'a Case, Observations<'a>)>,
    memory_source: Option<MemorySource>,
    /// The database, where its workload asks one.
    database: Option<DatabaseFinding>,
}

/// A case on its way: what is said of it, and the goodput that it is compared by.
struct Draft {
    finding: CaseFinding,
    goodput_rps: Vec<Option<f64>>,
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
        let mut competing: Vec<Draft> = drafts(Role::Subject).collect();
        competing.sort_by(|left, right| order(&left.finding, &right.finding));

        // With several ceilings the highest is the limit.
        let ceiling = drafts(Role::Ceiling).min_by(|left, right| order(&left.finding, &right.finding));
        let against_ceiling = ceiling.as_ref().map(|ceiling| ceiling.goodput_rps.as_slice());
        let noise_floor = self.noise_floor(&competing);
        let comparisons = self.comparisons(&competing, noise_floor.as_ref());
        relate(&mut competing, against_ceiling, &comparisons);

        let cases: Vec<CaseFinding> = competing.into_iter().map(|draft| draft.finding).collect();
        ScenarioFinding {
            id: scenario.id.clone(),
            workload: scenario.workload.clone(),
            title: names.workload(&scenario.workload),
            load: scenario.load.describe(),
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
            power: None,
            verdict: verdict_sentence(
                &cases,
                &comparisons,
                self.records.plan.smallest_effect,
                scenario.load.executor.is_open(),
            ),
            unscored_diagnoses: diagnoses(&cases, self.records.diagnoses),
            cases,
            ceiling: ceiling.map(|draft| CaseFinding { ranked: false, ..draft.finding }),
            comparisons,
        }
    }

    /// What surrounded the subjects, as far as tolok had them.
    fn environment(&self) -> EnvironmentFinding {
        let is_ours = |(case, _): &(&Case, Observations)| self.external(case).is_none();
        match self.cases.iter().any(is_ours) {
            true => self.around.finding(self.scenario),
            false => self.around.of_external_finding(self.scenario),
        }
    }

    /// The server that a case asks, where tolok did not start it.
    fn external(&self, case: &Case) -> Option<&'a ExternalServer> {
        self.records.plan.brought.server(&case.subject.subject)
    }

    /// The load generator, with the version that it said in the trials.
    fn tool(&self) -> String {
        let choice = &self.scenario.tool;
        let script = choice.script.as_ref().map(|script| script.file.as_str());
        named(choice.name.word(), &self.each_once(versions), script)
    }

    /// What is seen in the trials of any case, each once.
    fn each_once<T: Ord>(&self, of: fn(&Observations) -> Vec<T>) -> Vec<T> {
        let seen: BTreeSet<T> = self.cases.iter().flat_map(|(_, observations)| of(observations)).collect();
        seen.into_iter().collect()
    }

    /// What lay between client and subject in the scenario's trials, each once.
    fn networks(&self) -> Vec<&'a str> {
        let own = |trial: &&TrialRecord| {
            let is_completed = matches!(trial.outcome, Outcome::Completed(_));
            is_completed && self.cases.iter().any(|(case, _)| case.id == trial.case)
        };
        let isolations = self.records.trials.iter().filter(own).filter_map(|trial| trial.isolation.as_ref());
        let mut networks: Vec<&str> = isolations.map(|isolation| isolation.network.as_str()).collect();
        networks.sort_unstable();
        networks.dedup();
        networks
    }

    /// What is said of a case by itself; its relations to others come later.
    fn draft(&self, case: &Case, observations: &Observations) -> Draft {
        let (names, usage) = (self.records.names, self.cpus.usage(observations));
        let siblings = self.cases.iter().filter(|(other, _)| other.subject.subject == case.subject.subject).count();
        let link = link_use(observations, |trial| trial.link.as_ref(), self.around.environment.link.rate_bps);
        let resources = resources(observations, self.around.environment.subject.memory_bytes);
        let database = database_use(observations, self.database.as_ref(), &self.around, usage.database);
        let steady = steadiness(observations, &self.scenario.load);
        let clues = CaseInputs {
            scenario: self.scenario,
            around: &self.around,
            cpus: &self.cpus,
            usage: &usage,
            observations,
            resources: &resources,
            link: link.as_ref(),
            asked: self.database.as_ref(),
            database: database.as_ref(),
            steady: steady.as_ref(),
            external: self.external(case),
        };
        let gates = gates(&clues);
        let (flags, bottleneck, demands) = (flags(&clues, &gates), bottleneck(&clues), demands(&clues));
        let goodput_rps = median(observations.every(goodput));
        let finding = CaseFinding {
            case: case.id.clone(),
            subject: case.subject.label.clone(),
            title: names.title(&case.subject, siblings > 1),
            runtime: names.runtime(&case.subject.subject),
            trials_planned: observations.planned,
            trials_measured: observations.measured().count() as u32,
            trials_scored: observations.scored.len() as u32,
            disturbed: observations.disturbed_trials(),
            reruns: observations.reruns,
            failures: failures(&observations.failed),
            trials: trial_findings::of_server(observations, self.memory_source),
            ranked: goodput_rps.is_some() && !flags.iter().any(|flag| flag.voids_rank),
            goodput_rps,
            goodput_below_rps: observations.goodput_below_rps(),
            body_bytes_per_s: median(observations.every(|trial| Some(trial.body_bytes as f64 / trial.window_s))),
            bottleneck,
            offered_rps: median(observations.every(|trial| trial.offered_rps)),
            of_ceiling: None,
            of_first: None,
            against_first: None,
            tier: None,
            gates: gates.into_iter().map(|gated| gated.finding).collect(),
            steady,
            demands,
            cpu_s_per_good: median(observations.every(per_answer)),
            memory_bytes: self.memory_source.and_then(|source| median(observations.every(|it| source.bytes(it)))),
            latency_p50_s: median(observations.every(|trial| trial.latency.at(0.5))),
            latency_p99_s: median(observations.every(|trial| trial.latency.at(0.99))),
            latency_curve: None,
            slow: None,
            seconds: None,
            cold_start_s: median(observations.every(|trial| trial.cold_start_s)),
            subject_busy: usage.subject,
            generator_busy: usage.generator,
            foreign_busy: usage.foreign,
            stolen: usage.stolen,
            processes_max: observations.scored.iter().map(|(_, it)| it.subject.processes_max).max().unwrap_or(0),
            resources,
            link,
            database,
            errors: errors(observations),
            requests_sent: observations
                .scored
                .iter()
                .map(|(_, it)| it.ledger.sent.unwrap_or(it.ledger.finished()))
                .sum(),
            requests_unaccounted: observations.scored.iter().map(|(_, it)| it.ledger.unaccounted()).sum(),
            requests_unsent: observations.scored.iter().map(|(_, trial)| trial.ledger.unsent).sum(),
            objectives: objectives(self.scenario, observations),
            flags,
        };
        Draft { finding, goodput_rps: observations.goodput_by_block() }
    }

    /// How far apart the case that was entered twice came out; none without such a case, or where its halves share no block.
    fn noise_floor(&self, drafts: &[Draft]) -> Option<NoiseFloor> {
        let Records { plan, trials, .. } = *self.records;
        let twin = plan.cases.iter().find(|case| case.scenario == self.scenario.id && case.twin_of.is_some())?;
        let first = drafts.iter().find(|draft| twin.twin_of.as_ref() == Some(&draft.finding.case))?;
        let again = Observations::of(&twin.id, plan, trials).goodput_by_block();
        let pair = ratio_within_blocks(&again, &first.goodput_rps)?;
        noise_floor((&first.finding.subject, &first.finding.title), pair, plan.smallest_effect, Better::Higher)
    }

    /// Every pair of ranked cases, the higher in the table first.
    fn comparisons(&self, drafts: &[Draft], floor: Option<&NoiseFloor>) -> Vec<Comparison> {
        let ranked: Vec<&Draft> = drafts.iter().filter(|draft| draft.finding.ranked).collect();
        let pairs = ranked.iter().enumerate().flat_map(|(place, a)| ranked[place + 1..].iter().map(move |b| (a, b)));
        let of_both = |(a, b): (&&Draft, &&Draft)| {
            let names = (a.finding.subject.clone(), b.finding.subject.clone());
            Some((names, ratio_within_blocks(&a.goodput_rps, &b.goodput_rps)?))
        };
        let (names, ratios): (Vec<(String, String)>, Vec<BlockRatio>) = pairs.filter_map(of_both).unzip();
        let smallest_effect = self.records.plan.smallest_effect;
        let judged = judge(ratios, Rule { smallest_effect, told_of_itself: told_of_itself(floor) });
        names.iter().zip(judged).map(|((a, b), judged)| judged.comparison(a, b)).collect()
    }
}

/// Puts every case beside the ceiling, and every ranked case beside the first and into its tiers.
fn relate(drafts: &mut [Draft], ceiling: Option<&[Option<f64>]>, comparisons: &[Comparison]) {
    let first = drafts.first().filter(|draft| draft.finding.ranked).map(|draft| draft.goodput_rps.clone());
    for draft in drafts.iter_mut() {
        let over = |other: &[Option<f64>]| ratio_within_blocks(&draft.goodput_rps, other).map(|found| found.ratio);
        draft.finding.of_ceiling = ceiling.and_then(over);
        draft.finding.of_first = first.as_deref().filter(|_| draft.finding.ranked).and_then(over);
    }
    let of_ranked = drafts.iter().filter(|draft| draft.finding.ranked);
    let ranked: Vec<String> = of_ranked.map(|draft| draft.finding.subject.clone()).collect();
    let verdicts: Vec<(&str, &str, Verdict)> =
        comparisons.iter().map(|pair| (pair.a.as_str(), pair.b.as_str(), pair.verdict)).collect();
    // Ranked cases stand before the others.
    for (draft, (tier, against_first)) in drafts.iter_mut().zip(places(&ranked, &verdicts)) {
        draft.finding.tier = Some(tier);
        draft.finding.against_first = against_first;
    }
}

/// Ranked before unranked, the higher goodput first; names decide between equals, so that the order is always the same.
fn order(left: &CaseFinding, right: &CaseFinding) -> std::cmp::Ordering {
    let goodput = |case: &CaseFinding| case.goodput_rps.as_ref().map_or(f64::NEG_INFINITY, |goodput| goodput.value);
    (right.ranked.cmp(&left.ranked))
        .then_with(|| goodput(right).total_cmp(&goodput(left)))
        .then_with(|| left.case.cmp(&right.case))
}

/// Failed requests by class, the most frequent first.
fn errors(observations: &Observations) -> Vec<(String, u64)> {
    let mut errors: BTreeMap<&str, u64> = BTreeMap::new();
    for (class, number) in observations.scored.iter().flat_map(|(_, trial)| &trial.ledger.failed) {
        *errors.entry(class).or_default() += number;
    }
    let mut errors: Vec<(String, u64)> = errors
        .into_iter()
        .filter(|(_, number)| *number > 0)
        .map(|(class, number)| (class.to_owned(), number))
        .collect();
    errors.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    errors
}
