//! All subjects and workloads that a study can name.

use crate::subject::Subject;
use crate::wording::suggestion;
use crate::workload::Workload;

/// All subjects and workloads that a study can name, each list sorted by name.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// The subjects, the ceiling among them.
    pub subjects: Vec<Subject>,
    /// The workloads.
    pub workloads: Vec<Workload>,
}

impl Catalogue {
    /// The subject with this id.
    pub fn subject(&self, id: &str) -> Option<&Subject> {
        self.subjects.iter().find(|subject| subject.id == id)
    }

    /// The workload with this name, whatever parameters are set behind a `?`; its own parameters are not set.
    pub fn workload(&self, text: &str) -> Option<&Workload> {
        let name = text.split('?').next().unwrap_or_default();
        self.workloads.iter().find(|workload| workload.name == name)
    }

    /// The workload that a study means by `rows`, or `rows?limit=1000`, with the value of every parameter. Its name is the text in
    /// one form: `rows` stays so, and as soon as one parameter is set all are written, sorted (`rows?fields=40&limit=1000`).
    /// Says what is wrong, and what to do about it if that is known.
    pub fn choose_workload(&self, text: &str) -> Result<Workload, (String, Option<String>)> {
        let (name, query) = text.split_once('?').unwrap_or((text, ""));
        let Some(workload) = self.workload(name) else {
            let all: Vec<&str> = self.workloads.iter().map(|workload| workload.name.as_str()).collect();
            return Err((format!("there is no workload `{name}`"), Some(suggestion(name, &all))));
        };
        workload.choose(query)
    }
}
