//! All subjects and workloads that a study can name.

use serde::{Deserialize, Serialize};

use crate::program::ProgramWorkload;
use crate::reading::wording::suggestion;
use crate::subject::Subject;
use crate::workload::Workload;

/// All subjects and workloads that a study can name, each list sorted by name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Catalogue {
    /// The subjects, the ceiling among them.
    pub subjects: Vec<Subject>,
    pub workloads: Vec<Workload>,
    /// The workloads of programs that are no servers.
    pub programs: Vec<ProgramWorkload>,
}

impl Catalogue {
    pub fn subject(&self, id: &str) -> Option<&Subject> {
        self.subjects.iter().find(|subject| subject.id == id)
    }

    /// The workload with this name, whatever parameters are set behind a `?`; its own parameters are not set.
    pub fn workload(&self, text: &str) -> Option<&Workload> {
        let name = text.split('?').next().unwrap_or_default();
        self.workloads.iter().find(|workload| workload.name == name)
    }

    /// Whether it has a workload of this name, for servers or for programs.
    pub fn has_workload(&self, name: &str) -> bool {
        self.workload(name).is_some() || self.programs.iter().any(|program| program.name == name)
    }

    /// The workload that a study means by `rows`, or `rows?limit=1000`, with the value of every parameter. Its name is the text in
    /// one form: `rows` stays so, and as soon as one parameter is set all are written, sorted (`rows?fields=40&limit=1000`).
    /// Says what is wrong, and what to do about it if that is known.
    pub fn choose_workload(&self, text: &str) -> Result<Workload, (String, Option<String>)> {
        let (name, query) = text.split_once('?').unwrap_or((text, ""));
        let Some(workload) = self.workload(name) else {
            if self.programs.iter().any(|program| program.name == name) {
                let help = "name it in a [[program]]".to_owned();
                return Err((format!("`{name}` is a workload for programs, not for servers"), Some(help)));
            }
            let all: Vec<&str> = self.workloads.iter().map(|workload| workload.name.as_str()).collect();
            return Err((format!("there is no workload `{name}`"), Some(suggestion(name, &all))));
        };
        workload.choose(query)
    }

    /// The same for a workload of programs: `queue-sync?n=1000`.
    pub fn choose_program(&self, text: &str) -> Result<ProgramWorkload, (String, Option<String>)> {
        let (name, query) = text.split_once('?').unwrap_or((text, ""));
        let Some(program) = self.programs.iter().find(|program| program.name == name) else {
            if self.workload(name).is_some() {
                let help = "name it in a [[scenario]]".to_owned();
                return Err((format!("`{name}` is a workload for servers, not for programs"), Some(help)));
            }
            let all: Vec<&str> = self.programs.iter().map(|program| program.name.as_str()).collect();
            return Err((format!("there is no workload `{name}`"), Some(suggestion(name, &all))));
        };
        program.choose(query)
    }
}
