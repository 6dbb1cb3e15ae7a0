//! One subject under one workload: the scenarios of the run that describe it.

use std::collections::BTreeSet;

use tolok_model::{Case, Scenario, SubjectChoice};

use super::ForecastQuestion;
use super::observed::{Observed, Setting};
use crate::environment::Surroundings;
use crate::observations::Observations;
use crate::records::Records;

/// The run's data on one subject under one workload.
pub(super) struct Group {
    /// The subject with its variant and parameters.
    pub(super) subject: String,
    pub(super) title: String,
    pub(super) workload: String,
    pub(super) workload_title: String,
    pub(super) observed: Vec<Observed>,
    /// Scenarios that the forecast cannot use, and why.
    pub(super) left_out: Vec<(String, &'static str)>,
    /// Seed of the resampling.
    pub(super) seed: u64,
}

impl Group {
    /// All groups of a run, in the order of its plan.
    pub(super) fn all(records: &Records) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for scenario in &records.plan.scenarios {
            for case in records.plan.cases.iter().filter(|case| case.scenario == scenario.id && case.competes()) {
                let is_same = |group: &Self| group.subject == case.subject.label && group.workload == scenario.workload;
                let place = groups.iter().position(is_same).unwrap_or_else(|| {
                    groups.push(Self::new(records, &case.subject, &scenario.workload));
                    groups.len() - 1
                });
                groups[place].add(records, scenario, case);
            }
        }
        groups
    }

    fn new(records: &Records, subject: &SubjectChoice, workload: &str) -> Self {
        let is_sibling = |case: &Case| case.subject.subject == subject.subject && case.subject.label != subject.label;
        let has_siblings = records.plan.cases.iter().any(is_sibling);
        Self {
            subject: subject.label.clone(),
            title: records.names.title(subject, has_siblings),
            workload: workload.to_owned(),
            workload_title: records.names.workload(workload),
            observed: Vec::new(),
            left_out: Vec::new(),
            seed: records.plan.seed,
        }
    }

    fn add(&mut self, records: &Records, scenario: &Scenario, case: &Case) {
        let around = Surroundings::of(scenario, records.plan, records.run);
        let observations = Observations::of(&case.id, records.plan, records.trials);
        match Observed::of(scenario, &around, records.run.machine.cpus, &observations) {
            Ok(observed) => self.observed.push(observed),
            Err(reason) => self.left_out.push((scenario.id.clone(), reason)),
        }
    }

    pub(super) fn is_asked(&self, question: &ForecastQuestion) -> bool {
        let begins = |whole: &str, name: &str, ends: &[char]| {
            whole.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(ends))
        };
        let is_subject = |name: &String| begins(&self.subject, name, &[':', '?']);
        let is_workload = |name: &String| begins(&self.workload, name, &['?']);
        question.subject.as_ref().is_none_or(is_subject) && question.workload.as_ref().is_none_or(is_workload)
    }

    /// The blocks with a scored trial. A run that stopped early has fewer than its plan.
    pub(super) fn blocks(&self) -> Vec<u32> {
        let trials = self.observed.iter().flat_map(|observed| &observed.trials);
        trials.map(|(block, _)| *block).collect::<BTreeSet<u32>>().into_iter().collect()
    }

    /// The scenario with the most users, the first of them in the plan.
    pub(super) fn base(&self) -> Option<&Observed> {
        let most = self.observed.iter().map(|observed| observed.setting.users).max()?;
        self.observed.iter().find(|observed| observed.setting.users == most)
    }

    /// The conditions that the question asks for.
    pub(super) fn setting(&self, question: &ForecastQuestion) -> Option<Setting> {
        let mut setting = self.base()?.setting.clone();
        setting.users = question.users;
        setting.instances = question.instances;
        setting.rtt_s = question.rtt_s.unwrap_or(setting.rtt_s);
        setting.think_s = question.think_s.unwrap_or(setting.think_s);
        if let Some(database) = &mut setting.database {
            database.rtt_s = question.database_rtt_s.unwrap_or(database.rtt_s);
            database.pool = question.pool.unwrap_or(database.pool);
        }
        Some(setting)
    }
}
