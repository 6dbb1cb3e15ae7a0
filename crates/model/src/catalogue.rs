//! All subjects and workloads that a study can name.

use crate::subject::Subject;
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

    /// The workload with this name.
    pub fn workload(&self, name: &str) -> Option<&Workload> {
        self.workloads.iter().find(|workload| workload.name == name)
    }
}
