//! The cases of a plan: each subject under each scenario or program that it serves.

use std::collections::BTreeSet;

use crate::catalogue::Catalogue;
use crate::environment::Environment;
use crate::limits::CASES;
use crate::plan::skipped::Skipped;
use crate::plan::{Case, CaseId};
use crate::program::ProgramScenario;
use crate::protocol::Protocol;
use crate::study::Scenario;
use crate::subject::brought::reaches;
use crate::subject::{Role, SubjectChoice};
use crate::workload::Workload;
use crate::workload::mixed::lacking;

/// The subjects to make cases from.
#[derive(Clone, Copy)]
pub(super) struct Candidates<'a> {
    pub(super) subjects: &'a [SubjectChoice],
    pub(super) ceilings: &'a [SubjectChoice],
    /// Subjects that cannot use an environment's database: pairs of their label and the environment's id.
    pub(super) without_database: &'a BTreeSet<(String, String)>,
}

pub(super) fn cases(
    scenarios: &[Scenario],
    environments: &[Environment],
    catalogue: &Catalogue,
    candidates: Candidates<'_>,
) -> Vec<Case> {
    let (mut cases, mut taken) = (Vec::<Case>::new(), BTreeSet::new());
    for scenario in scenarios {
        if cases.len() as u64 > CASES.most {
            // The caller refuses a plan this large.
            break;
        }
        let lacks = |it: &SubjectChoice| (it.label.clone(), scenario.environment.clone());
        let is_able = |it: &SubjectChoice| !scenario.database || !candidates.without_database.contains(&lacks(it));
        let is_near = |it: &SubjectChoice| reaches(it, catalogue, scenario, environments);
        let can = |it: &&SubjectChoice| {
            serves(catalogue, it, scenario) && speaks(catalogue, it, scenario) && is_able(it) && is_near(it)
        };
        let competing: Vec<&SubjectChoice> = candidates.subjects.iter().filter(can).collect();
        // A ceiling only makes sense next to a competing case.
        let limits = candidates.ceilings.iter().filter(|_| !competing.is_empty()).filter(can);
        let with_role = |role| move |choice| (choice, role);
        let limits = limits.map(with_role(Role::Ceiling));
        for (choice, role) in competing.iter().copied().map(with_role(Role::Subject)).chain(limits) {
            let id = case_id(&scenario.id, choice, &mut taken);
            cases.push(Case { id, scenario: scenario.id.clone(), subject: choice.clone(), role, twin_of: None });
        }
    }
    cases
}

/// A unique case name. Different labels may become equal once [`folder_name`] replaces their special characters.
fn case_id(scenario: &str, choice: &SubjectChoice, taken: &mut BTreeSet<CaseId>) -> CaseId {
    let name = format!("{scenario}--{}", folder_name(&choice.label));
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut candidates = std::iter::once(name.clone()).chain(numbered);
    candidates.find(|id| taken.insert(id.clone())).unwrap_or(name)
}

/// Adds a case for each timed program and each subject that does its work.
pub(super) fn add_programs(
    cases: &mut Vec<Case>,
    programs: &[ProgramScenario],
    catalogue: &Catalogue,
    choices: &[SubjectChoice],
) {
    let mut taken = cases.iter().map(|case| case.id.clone()).collect();
    for program in programs {
        for choice in choices.iter().filter(|choice| does(catalogue, choice, program.workload_name())) {
            let id = case_id(&program.id, choice, &mut taken);
            cases.push(Case {
                id,
                scenario: program.id.clone(),
                subject: choice.clone(),
                role: Role::Subject,
                twin_of: None,
            });
        }
    }
}

pub(super) fn serves(catalogue: &Catalogue, choice: &SubjectChoice, scenario: &Scenario) -> bool {
    does(catalogue, choice, scenario.workload_name())
}

/// Whether the subject speaks the scenario's protocol.
fn speaks(catalogue: &Catalogue, choice: &SubjectChoice, scenario: &Scenario) -> bool {
    spoken(catalogue, choice).contains(&scenario.protocol)
}

fn spoken<'a>(catalogue: &'a Catalogue, choice: &SubjectChoice) -> &'a [Protocol] {
    catalogue.subject(&choice.subject).map(|subject| subject.protocols(&choice.variant)).unwrap_or_default()
}

/// Each subject that would serve some scenarios if it spoke their protocol, with those scenarios.
pub(super) fn speechless(catalogue: &Catalogue, choices: &[SubjectChoice], scenarios: &[Scenario]) -> Vec<Skipped> {
    let of = |choice: &SubjectChoice| {
        let asked = scenarios.iter().filter(|it| serves(catalogue, choice, it) && !speaks(catalogue, choice, it));
        let ids: Vec<&str> = asked.map(|scenario| scenario.id.as_str()).collect();
        let known: Vec<&str> = spoken(catalogue, choice).iter().map(|protocol| protocol.word()).collect();
        let reason = || format!("it speaks {} only, so it is not in {}", known.join(", "), ids.join(", "));
        (!ids.is_empty()).then(|| Skipped::new(&choice.label, reason()))
    };
    choices.iter().filter_map(of).collect()
}

/// Each subject that lacks a part of a mixed workload, with those workloads.
pub(super) fn partial(catalogue: &Catalogue, choices: &[SubjectChoice], scenarios: &[Scenario]) -> Vec<Skipped> {
    let mut mixed: Vec<&Workload> =
        scenarios.iter().filter_map(|scenario| catalogue.workload(&scenario.workload)).collect();
    mixed.retain(|workload| workload.is_mixed());
    mixed.dedup_by_key(|workload| &workload.name);
    let of = |choice: &SubjectChoice| {
        let served = catalogue.subject(&choice.subject)?.workloads(&choice.variant);
        let reason = |workload: &&Workload| {
            let lacks = lacking(workload, served);
            (!lacks.is_empty()).then(|| format!("of `{}` it does not serve {}", workload.name, lacks.join(", ")))
        };
        let reasons: Vec<String> = mixed.iter().filter_map(reason).collect();
        (!reasons.is_empty()).then(|| Skipped::new(&choice.label, reasons.join("; ")))
    };
    choices.iter().filter_map(of).collect()
}

pub(super) fn does(catalogue: &Catalogue, choice: &SubjectChoice, workload: &str) -> bool {
    let subject = catalogue.subject(&choice.subject);
    subject.is_some_and(|subject| subject.workloads(&choice.variant).iter().any(|served| served == workload))
}

/// Replaces characters that are special in paths and shells.
fn folder_name(label: &str) -> String {
    label.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
}
