//! All subjects and workloads that a study can name.

use serde::{Deserialize, Serialize};

use crate::program::ProgramWorkload;
use crate::reading::wording::suggestion;
use crate::subject::Subject;
use crate::workload::Workload;

/// All subjects and workloads that a study can name. Each list is sorted by name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Catalogue {
    /// Includes the ceiling.
    pub subjects: Vec<Subject>,
    pub workloads: Vec<Workload>,
    /// Workloads for programs that are not servers.
    pub programs: Vec<ProgramWorkload>,
}

impl Catalogue {
    pub fn subject(&self, id: &str) -> Option<&Subject> {
        self.subjects.iter().find(|subject| subject.id == id)
    }

    /// Finds a workload by name, ignoring any parameters after `?`. The result's own parameters are not set.
    pub fn workload(&self, text: &str) -> Option<&Workload> {
        let name = text.split('?').next().unwrap_or_default();
        self.workloads.iter().find(|workload| workload.name == name)
    }

    /// Whether a workload for servers or for programs has this name.
    pub fn has_workload(&self, name: &str) -> bool {
        self.workload(name).is_some() || self.programs.iter().any(|program| program.name == name)
    }

    /// Resolves a study's `rows` or `rows?limit=1000` to a workload with a value for every parameter. The name is
    /// normalised: `rows` stays as it is, but once one parameter is set, all are written, sorted
    /// (`rows?fields=40&limit=1000`).
    ///
    /// The error is the problem and, if known, its remedy.
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

    /// Like [`choose_workload`](Self::choose_workload), for programs: `queue-sync?n=1000`.
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
