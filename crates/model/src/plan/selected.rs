//! The subjects that a study's selectors choose here, and those left out, with reasons.

use std::collections::BTreeSet;

use crate::catalogue::Catalogue;
use crate::database::Database;
use crate::environment::Environment;
use crate::plan::cases::{does, partial, serves};
use crate::plan::skipped::Skipped;
use crate::plan::{Here, Ready};
use crate::study::{Scenario, Study, SubjectSelector};
use crate::subject::{Role, Subject, SubjectChoice};

/// The subjects that a study's selectors choose here, and those left out.
#[derive(Debug, Default)]
pub struct Selected {
    /// In study order, without repetitions.
    pub choices: Vec<SubjectChoice>,
    pub skipped: Vec<Skipped>,
}

impl Selected {
    /// Resolves the selectors. `ready` returns why a subject cannot run here.
    pub fn resolve(study: &Study, catalogue: &Catalogue, ready: Ready<'_>) -> Self {
        let mut selected = Self::default();
        for selector in &study.subjects {
            match selector {
                SubjectSelector::EveryReady => {
                    let is_meant = |subject: &&Subject| subject.role == Role::Subject && is_of_kind(study, subject);
                    for subject in catalogue.subjects.iter().filter(is_meant) {
                        selected.add(subject.choose(None, &Default::default()), subject, ready);
                    }
                }
                SubjectSelector::EveryVariant(id) => {
                    for subject in catalogue.subject(id).into_iter() {
                        for variant in subject.variants.keys() {
                            selected.add(subject.choose(Some(variant), &Default::default()), subject, ready);
                        }
                    }
                }
                SubjectSelector::One(choice) => {
                    for subject in catalogue.subject(&choice.subject).into_iter() {
                        selected.add(Ok(choice.clone()), subject, ready);
                    }
                }
            }
        }
        selected
    }

    fn add(&mut self, choice: Result<SubjectChoice, String>, subject: &Subject, ready: Ready<'_>) {
        let variant = choice.as_ref().map_or(&subject.default_variant, |choice| &choice.variant).clone();
        match choice.and_then(|choice| ready(subject, &variant).map(|()| choice)) {
            Ok(choice) if !self.choices.contains(&choice) => self.choices.push(choice),
            Ok(_) => {}
            Err(reason) => self.skip(subject, &variant, Skipped::new(&subject.id, reason)),
        }
    }

    /// Reports a reason that several variants of a subject share only once.
    fn skip(&mut self, subject: &Subject, variant: &str, mut skipped: Skipped) {
        let is_same =
            |known: &Skipped| known.subject.split(':').next() == Some(&subject.id) && known.reason == skipped.reason;
        if self.skipped.iter().any(is_same) {
            return;
        }
        if variant != subject.default_variant {
            skipped.subject = format!("{}:{variant}", subject.id);
        }
        self.skipped.push(skipped);
    }
}

/// Whether the study has scenarios for this kind of subject: a server or a timed program.
fn is_of_kind(study: &Study, subject: &Subject) -> bool {
    match subject.program {
        Some(_) => !study.programs.is_empty(),
        None => !study.scenarios.is_empty(),
    }
}

/// The ceilings to compare with the study's results. A ceiling that the study lists itself counts as a subject.
pub(super) fn ceilings(
    study: &Study,
    catalogue: &Catalogue,
    ready: Ready<'_>,
    selected: &mut Selected,
) -> Vec<SubjectChoice> {
    let mut found = Selected { choices: Vec::new(), skipped: std::mem::take(&mut selected.skipped) };
    let is_listed = |id: &str| selected.choices.iter().any(|choice| choice.subject == id);
    let wanted = catalogue.subjects.iter().filter(|subject| study.ceiling && subject.role == Role::Ceiling);
    for subject in wanted.filter(|subject| !is_listed(&subject.id)) {
        found.add(subject.choose(None, &Default::default()), subject, ready);
    }
    selected.skipped = found.skipped;
    found.choices
}

/// Finds subjects that lack something for a workload with a database. Returns their labels, each with the id of the
/// environment that has the database.
pub(super) fn unable(
    (scenarios, environments): (&[Scenario], &[Environment]),
    catalogue: &Catalogue,
    here: Here<'_>,
    selected: &mut Selected,
    ceilings: &[SubjectChoice],
) -> BTreeSet<(String, String)> {
    let mut unable = BTreeSet::new();
    let databases: Vec<(&str, &Database)> =
        environments.iter().filter_map(|one| Some((one.id.as_str(), one.database.as_ref()?))).collect();
    for choice in selected.choices.clone().iter().chain(ceilings) {
        let Some(subject) = catalogue.subject(&choice.subject) else { continue };
        let is_asked = |environment: &str| {
            let asks = |scenario: &&Scenario| scenario.database && scenario.environment == environment;
            scenarios.iter().filter(asks).any(|scenario| serves(catalogue, choice, scenario))
        };
        for (environment, database) in databases.iter().filter(|(environment, _)| is_asked(environment)) {
            if let Err(reason) = (here.ready_for_database)(subject, &choice.variant, database) {
                let reason = format!("for workloads that ask a database, {reason}");
                let skipped = Skipped { database_only: true, ..Skipped::new(&subject.id, reason) };
                selected.skip(subject, &choice.variant, skipped);
                unable.insert((choice.label.clone(), (*environment).to_owned()));
            }
        }
    }
    unable
}

/// Reports each subject that serves none of the study's workloads. Missing databases and programs are reported
/// elsewhere.
pub(super) fn skip_without_workload(study: &Study, catalogue: &Catalogue, selected: &mut Selected) {
    let partial = partial(catalogue, &selected.choices, &study.scenarios);
    let is_idle = |choice: &&SubjectChoice| {
        let timed = study.programs.iter().any(|one| does(catalogue, choice, one.workload_name()));
        let is_told = partial.iter().any(|told| told.subject == choice.label);
        !timed && !is_told && study.scenarios.iter().all(|one| !serves(catalogue, choice, one))
    };
    for choice in selected.choices.iter().filter(is_idle) {
        let subject = catalogue.subject(&choice.subject);
        let serves = subject.map(|subject| subject.workloads(&choice.variant).join(", ")).unwrap_or_default();
        let reason = format!("it serves none of the study's workloads (it serves {serves})");
        selected.skipped.push(Skipped::new(&choice.label, reason));
    }
    selected.skipped.extend(partial);
}
