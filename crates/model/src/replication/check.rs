//! Compares a replication's names with its studies.

use crate::catalogue::Catalogue;
use crate::plan::available::{in_environments, programs_in_environments};
use crate::reading::wording::suggestion;
use crate::replication::{Replication, ReplicationPart};
use crate::study::{Study, SubjectSelector};
use crate::subject::{Role, Subject};

impl Replication {
    /// What a part, the factors and the settlements name that the part's study lacks, one sentence each. Ignores
    /// whether a subject can run here.
    pub fn check_part(&self, part: &ReplicationPart, study: &Study, catalogue: &Catalogue) -> Vec<String> {
        let labels = labels(study, catalogue);
        let mut scenarios: Vec<String> =
            in_environments(study, &study.environments).into_iter().map(|scenario| scenario.id).collect();
        scenarios.extend(programs_in_environments(study, &study.environments).into_iter().map(|program| program.id));
        let missing = |what: &str, name: &str, known: &[String]| {
            (!known.iter().any(|one| one == name)).then(|| {
                format!("part `{}`: {} has no {what} `{name}` ({})", part.name, part.study, suggestion(name, known))
            })
        };
        let levels = || self.factors.iter().flat_map(|factor| &factor.levels).filter(|level| level.part == part.name);
        let pairs = || self.settlements.iter().flat_map(|settlement| &settlement.pairs);
        let cases = || pairs().flat_map(|pair| [&pair.a, &pair.b]).filter(|case| case.part == part.name);
        let of_factors = levels().flat_map(|level| [&level.a, &level.b]);
        let named = part.subjects.values().chain(of_factors).chain(cases().map(|case| &case.subject));
        let is_listed = |name: &str| matches!(SubjectSelector::read(name, catalogue), Ok(SubjectSelector::One(choice)) if labels.contains(&choice.label));
        let subjects = named.filter(|name| !is_listed(name)).filter_map(|name| missing("subject", name, &labels));
        let of_factors = levels().map(|level| &level.scenario);
        let settings = part.scenarios.values().chain(of_factors).chain(cases().map(|case| &case.scenario));
        let settings = settings.filter_map(|id| missing("scenario", id, &scenarios));
        let mut found: Vec<String> = subjects.chain(settings).collect();
        found.sort();
        found.dedup();
        found
    }
}

/// The label of every subject that the study lists, with its variant, as in a plan.
fn labels(study: &Study, catalogue: &Catalogue) -> Vec<String> {
    let default = |subject: &Subject| subject.choose(None, &Default::default()).ok().map(|choice| choice.label);
    let of = |selector: &SubjectSelector| -> Vec<String> {
        match selector {
            SubjectSelector::EveryReady => {
                catalogue.subjects.iter().filter(|it| it.role == Role::Subject).filter_map(default).collect()
            }
            SubjectSelector::EveryVariant(id) => {
                let variants = catalogue.subject(id).into_iter().flat_map(|subject| {
                    subject.variants.keys().filter_map(|it| subject.choose(Some(it), &Default::default()).ok())
                });
                variants.map(|choice| choice.label).collect()
            }
            SubjectSelector::One(choice) => vec![choice.label.clone()],
        }
    };
    study.subjects.iter().flat_map(of).collect()
}
