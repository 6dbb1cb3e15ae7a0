//! What a plan does not say but a report needs: the titles of subjects and workloads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tolok_model::{Catalogue, SubjectChoice};

/// Titles of subjects and workloads, as they were when the run was made.
///
/// Stored beside the plan, so that a report of an old run does not change when a subject gets a new title.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// By the id of the subject: `go/nethttp`.
    pub subjects: BTreeMap<String, SubjectName>,
    /// Titles by the name of the workload.
    pub workloads: BTreeMap<String, String>,
}

/// What a subject is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectName {
    /// A few words for tables: `Go net/http`.
    pub title: String,
    /// Its runtime, which gives the colour: `go`.
    pub runtime: String,
    /// The variant that is meant when none is named.
    pub default_variant: String,
}

impl Names {
    /// The names of everything in a catalogue.
    pub fn of(catalogue: &Catalogue) -> Self {
        let subject_name = |subject: &tolok_model::Subject| SubjectName {
            title: subject.title.clone(),
            runtime: subject.runtime.clone(),
            default_variant: subject.default_variant.clone(),
        };
        Self {
            subjects: catalogue.subjects.iter().map(|subject| (subject.id.clone(), subject_name(subject))).collect(),
            workloads: catalogue.workloads.iter().map(|it| (it.name.clone(), it.title.clone())).collect(),
        }
    }

    /// Title of a workload, or its name where no title is known.
    pub(crate) fn workload(&self, name: &str) -> String {
        self.workloads.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    /// Runtime of a subject, or the first part of its id.
    pub(crate) fn runtime(&self, subject: &str) -> String {
        let of_id = || subject.split('/').next().unwrap_or(subject);
        self.subjects.get(subject).map_or_else(|| of_id().to_owned(), |name| name.runtime.clone())
    }

    /// Title of a subject as it is run. How it is run is left out only where it is the way that the bare name means and
    /// no other way stands beside it.
    pub(crate) fn title(&self, choice: &SubjectChoice, has_siblings: bool) -> String {
        let name = self.subjects.get(&choice.subject);
        let title = name.map_or(choice.subject.as_str(), |name| name.title.as_str());
        let way = choice.label.strip_prefix(&choice.subject).unwrap_or(&choice.label).trim_start_matches(':');
        let is_default = name.is_some_and(|name| name.default_variant == way) || way.is_empty();
        if is_default && !has_siblings || way.is_empty() {
            return title.to_owned();
        }
        format!("{title} ({})", way.replace(['?', '&'], ", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(label: &str) -> SubjectChoice {
        let (subject, way) = label.split_once(':').unwrap_or((label, ""));
        let variant = way.split('?').next().unwrap_or_default();
        SubjectChoice {
            subject: subject.to_owned(),
            variant: variant.to_owned(),
            parameters: BTreeMap::new(),
            label: label.to_owned(),
        }
    }

    #[test]
    fn a_title_says_how_the_subject_is_run_unless_it_is_the_usual_way() {
        let name = SubjectName { title: "PHP-FPM".into(), runtime: "php-fpm".into(), default_variant: "plain".into() };
        let names = Names { subjects: [("php/fpm".to_owned(), name)].into(), ..Names::default() };
        let check = |label: &str, has_siblings, title: &str| {
            assert_eq!(names.title(&choice(label), has_siblings), title, "{label}");
        };
        check("php/fpm:plain", false, "PHP-FPM");
        check("php/fpm:plain", true, "PHP-FPM (plain)");
        check("php/fpm:jit", false, "PHP-FPM (jit)");
        check("php/fpm:plain?pool=32&jit=on", false, "PHP-FPM (plain, pool=32, jit=on)");
        check("unknown/one:default", true, "unknown/one (default)");
    }
}
