//! Whether the subjects of a run had the same CPUs, memory, processes, connections and bytes.
//!
//! The rules of `fairness_rules.rs` judge only recorded facts. Everything else is *unknown*.

use std::collections::BTreeSet;

use tolok_model::{Case, CpuMode, Environment, Limits, Measurement, ProgramTiming, Resources, Role, Scenario};

use crate::estimate::middle;
use crate::fairness_rules::judged;
use crate::findings::{FairnessAnswers, FairnessLedger, FairnessRow, ParameterFact};
use crate::grouping::each_once;
use crate::observations::{Observations, Trials, answers};
use crate::records::Records;

/// Replaces the limits of an external server, which are unknown.
const NOTHING_GIVEN: &str = "not known: not started by tolok";

/// The subjects and the facts about them, as input of the rules.
pub(crate) struct Entrants<'a> {
    pub(crate) records: &'a Records<'a>,
    /// Competing subjects, in the order of the study.
    pub(crate) competing: Vec<Entrant<'a>>,
}

/// A subject with all its cases.
pub(crate) struct Entrant<'a> {
    pub(crate) row: FairnessRow,
    /// Whether tolok did not start it, so what it was given is unknown.
    pub(crate) is_external: bool,
    pub(crate) cases: Vec<Entry<'a>>,
}

/// A case: a subject in a scenario.
pub(crate) struct Entry<'a> {
    pub(crate) case: &'a Case,
    /// Its environment; the default if the plan has none.
    pub(crate) environment: Environment,
    /// Its scenario; `None` for programs.
    pub(crate) scenario: Option<&'a Scenario>,
    /// The trials of its server; empty for programs.
    pub(crate) trials: Observations<'a>,
    /// Trials behind its figures, for servers and programs.
    pub(crate) scored: u32,
    pub(crate) planned: u32,
}

pub(crate) fn fairness(records: &Records) -> FairnessLedger {
    let of_role = |role| -> Vec<Entrant> {
        let cases = records.plan.cases.iter().filter(move |case| case.twin_of.is_none() && case.role == role);
        let labels = each_once(cases.clone().map(|case| case.subject.label.as_str()));
        labels.into_iter().map(|label| entrant(records, cases.clone().filter(|it| it.subject.label == label))).collect()
    };
    let entrants = Entrants { records, competing: of_role(Role::Subject) };
    let (unequal, equal, unknown) = judged(&entrants);
    let ceilings = of_role(Role::Ceiling);
    let rows = entrants.competing.into_iter().chain(ceilings).map(|entrant| entrant.row);
    FairnessLedger { rows: rows.collect(), unequal, equal, unknown }
}

fn entrant<'a>(records: &'a Records<'a>, cases: impl Iterator<Item = &'a Case>) -> Entrant<'a> {
    let cases: Vec<Entry> = cases.map(|case| entry(records, case)).collect();
    let is_external = is_external(records, cases[0].case);
    Entrant { row: row(records, &cases), is_external, cases }
}

/// Whether tolok did not start the subject of a case.
fn is_external(records: &Records, case: &Case) -> bool {
    records.plan.brought.server(&case.subject.subject).is_some()
}

fn entry<'a>(records: &'a Records<'a>, case: &'a Case) -> Entry<'a> {
    let plan = records.plan;
    let scenario = plan.scenario(&case.scenario);
    let of_program = plan.program(&case.scenario).and_then(|program| plan.program_environment(program));
    let environment = scenario.and_then(|scenario| plan.environment(scenario)).or(of_program);
    let trials = Observations::of(&case.id, plan, records.trials);
    let timed = Trials::<ProgramTiming>::of(&case.id, plan, records.trials);
    Entry {
        case,
        environment: environment.cloned().unwrap_or_default(),
        scenario,
        scored: (trials.scored.len() + timed.scored.len()) as u32,
        planned: trials.planned,
        trials,
    }
}

fn row(records: &Records, cases: &[Entry]) -> FairnessRow {
    let (names, choice) = (records.names, &cases[0].case.subject);
    let is_sibling = |other: &&Case| other.subject.subject == choice.subject && other.subject.label != choice.label;
    let setup = names.subjects.get(&choice.subject).map(|name| name.setup.clone()).unwrap_or_default();
    let parameter = |(name, value): (&String, &tolok_model::ParameterValue)| {
        let declared = setup.parameters.get(name);
        ParameterFact {
            name: name.clone(),
            value: value.to_string(),
            is_changed: declared.map(|declared| declared.default != value.to_string()),
            help: declared.map(|declared| declared.help.clone()).unwrap_or_default(),
            is_number_of_workers: setup.is_number_of_workers(name, value),
        }
    };
    let most = |of: fn(&Resources) -> u32| {
        let seen = cases.iter().flat_map(|entry| entry.trials.measured()).filter_map(|it| it.subject.as_ref().map(of));
        seen.max().filter(|most| *most > 0)
    };
    let pools = cases.iter().filter_map(|entry| Some(entry.database()?.pool)).collect::<BTreeSet<u32>>();
    let (given, memory_limits_bytes) = match is_external(records, cases[0].case) {
        true => (vec![NOTHING_GIVEN.to_owned()], Vec::new()),
        false => (
            each_once(cases.iter().map(|entry| entry.limits().describe())),
            each_once(cases.iter().filter_map(|entry| entry.limits().memory_bytes)),
        ),
    };
    FairnessRow {
        subject: choice.label.clone(),
        title: names.title(choice, records.plan.cases.iter().any(|case| is_sibling(&case))),
        runtime: names.runtime(&choice.subject),
        is_ceiling: cases[0].case.role == Role::Ceiling,
        setup: setup.words(choice),
        less_work: setup.less_work(choice).map(str::to_owned),
        parameters: choice.parameters.iter().map(parameter).collect(),
        given,
        memory_limits_bytes,
        processes_max: most(|used| used.processes_max),
        threads_max: most(|used| used.threads_max),
        database_pools: pools.into_iter().collect(),
        scenarios: cases.iter().map(Entry::answers).collect(),
        declared: setup.processes,
        files: setup.files,
    }
}

impl Entry<'_> {
    pub(crate) fn limits(&self) -> &Limits {
        &self.environment.subject
    }

    /// The most CPUs that it may run on at a time.
    pub(crate) fn cpus(&self) -> u32 {
        self.limits().whole_cpus()
    }

    pub(crate) fn is_quota(&self) -> bool {
        self.limits().mode == CpuMode::Quota
    }

    /// The database, if its workload uses one.
    pub(crate) fn database(&self) -> Option<&tolok_model::Database> {
        let asks = self.scenario.is_some_and(|scenario| scenario.database);
        self.environment.database.as_ref().filter(|_| asks)
    }

    fn answers(&self) -> FairnessAnswers {
        let each = |figure: &dyn Fn(&Measurement) -> Option<f64>| middle(&self.trials.every(figure));
        FairnessAnswers {
            scenario: self.case.scenario.clone(),
            body_bytes: each(&|trial| Some(trial.body_bytes as f64 / answers(trial)?)),
            network_bytes_per_answer: each(&|trial| {
                Some(trial.subject.as_ref()?.network?.sent_bytes as f64 / answers(trial)?)
            }),
            connections: each(&|trial| trial.ledger.connections.map(|opened| opened as f64)),
            busiest_thread_share: each(&|trial| {
                let cpu_s = Some(trial.subject.as_ref()?.cpu_s).filter(|cpu_s| *cpu_s > 0.0)?;
                Some((trial.subject.as_ref()?.busiest_thread_cpu_s? / cpu_s).min(1.0))
            }),
            trials_scored: self.scored,
        }
    }
}
