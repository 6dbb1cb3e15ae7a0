//! What comes from outside the checkout: folders with subjects or workloads, and servers that already run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::catalogue::Catalogue;
use crate::environment::Environment;
use crate::plan::Case;
use crate::plan::skipped::Skipped;
use crate::study::Scenario;
use crate::subject::{Subject, SubjectChoice, Variant};
use crate::workload::{Body, Workload, WorkloadFolder};

/// Prefix of a subject in the user's own folder: `local/mine`.
pub const LOCAL: &str = "local";
/// Prefix of an external server: `external/mine`.
pub const EXTERNAL: &str = "external";
/// The workload whose request is given by each URL.
pub const URL_WORKLOAD: &str = "url";
/// The only variant of an external server.
const AS_IT_IS: &str = "as-it-is";

/// What a run uses from outside the checkout, as stored in its plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Brought {
    /// Subjects in the user's folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<SubjectFolder>,
    /// External servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ExternalServer>,
    /// Workloads in the user's folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<WorkloadFolder>,
}

/// A subject outside the checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectFolder {
    /// Id of the subject: `local/mine`.
    pub subject: String,
    pub folder: String,
    /// Fingerprint of all its files except those for people (`*.md`).
    pub sha256: String,
    /// Its name in that folder, or `None` if its own title is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Versions of its programs, if they differ from this machine's: `bun` maps to `1.0.0`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
}

/// A server that tolok does not start. tolok sends it requests and knows nothing else about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalServer {
    /// Its id as a subject: `external/mine`.
    pub subject: String,
    /// The prefix of each path: `http://127.0.0.1:3000`.
    pub base: String,
    /// The request that its URL names, and the answer that it gave before the run. `None` if a study defines the
    /// request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnRequest>,
    /// Its first process, if the user named it. tolok then measures CPU time and memory of it and its descendants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
}

/// The request of a URL, and the answer to it before the run, which is the expected one from then on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnRequest {
    pub path: String,
    pub status: u16,
    /// Its type; empty if it had none.
    pub content_type: String,
    pub body: OwedBody,
}

/// What of a body is compared: all of it if three answers were equal, else its length, else nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "compared", rename_all = "kebab-case")]
pub enum OwedBody {
    Bytes {
        bytes: u64,
        sha256: String,
    },
    /// Its length only, because the bodies differed.
    Length {
        bytes: u64,
    },
    /// Nothing, because the lengths differed too.
    Nothing,
}

impl Brought {
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty() && self.servers.is_empty() && self.workloads.is_empty()
    }

    /// What the cases of a plan use from outside the checkout.
    pub(crate) fn of(cases: &[Case], scenarios: &[Scenario], catalogue: &Catalogue) -> Self {
        let mut brought = Self::default();
        for subject in catalogue.subjects.iter().filter(|it| cases.iter().any(|case| case.subject.subject == it.id)) {
            brought.folders.extend(subject.folder.clone());
            brought.servers.extend(subject.external.clone());
        }
        let is_run = |workload: &&Workload| {
            let asks = |scenario: &&Scenario| {
                let asked = catalogue.workload(&scenario.workload);
                let is_part = |asked: &Workload| {
                    asked.parts().any(|(_, part)| part.name.split('?').next() == Some(&workload.name))
                };
                scenario.workload_name() == workload.name || asked.is_some_and(is_part)
            };
            let of_it = scenarios.iter().filter(asks);
            of_it.into_iter().any(|scenario| cases.iter().any(|case| case.scenario == scenario.id))
        };
        let run = catalogue.workloads.iter().filter(is_run);
        brought.workloads.extend(run.filter_map(|workload| workload.folder.clone()));
        brought
    }

    /// The external server of this subject, if it is one.
    pub fn server(&self, subject: &str) -> Option<&ExternalServer> {
        self.servers.iter().find(|server| server.subject == subject)
    }
}

impl OwedBody {
    /// What of each answer is compared, as the end of a sentence.
    pub fn words(&self) -> &'static str {
        match self {
            Self::Bytes { .. } => "status and every byte of the body are compared with the first answer",
            Self::Length { .. } => {
                "three answers had different bodies of one length, so only status and length are compared with the first"
            }
            Self::Nothing => {
                "three answers had bodies of different lengths, so only the status is compared with the first answer"
            }
        }
    }

    /// The length that every correct response must have, if any.
    pub fn length(&self) -> Option<u64> {
        match self {
            Self::Bytes { bytes, .. } | Self::Length { bytes } => Some(*bytes),
            Self::Nothing => None,
        }
    }
}

impl ExternalServer {
    /// The request for `workload`: the workload's own, or the one that the URL names.
    pub fn asked(&self, workload: Workload) -> Workload {
        match &self.own {
            Some(own) if workload.name == URL_WORKLOAD => Workload {
                path: own.path.clone(),
                status: own.status,
                content_type: own.content_type.clone(),
                ..workload
            },
            _ => workload,
        }
    }

    /// The server as a subject that serves these workloads. It has no process, so tolok starts and stops nothing.
    pub fn subject(&self, workloads: Vec<String>) -> Subject {
        let as_it_is = Variant { help: "as it runs already".to_owned(), workloads, ..Variant::default() };
        Subject {
            id: self.subject.clone(),
            title: self.subject.split_once('/').map_or(self.subject.as_str(), |(_, name)| name).to_owned(),
            runtime: EXTERNAL.to_owned(),
            summary: format!("a server at {} that tolok does not start", self.base),
            variants: [(AS_IT_IS.to_owned(), as_it_is)].into(),
            default_variant: AS_IT_IS.to_owned(),
            external: Some(self.clone()),
            ..Subject::default()
        }
    }
}

/// The workload in which each of these servers gets the request of its own URL.
pub fn url_workload(servers: &[ExternalServer]) -> Workload {
    let mut paths: Vec<&str> = servers.iter().filter_map(|server| Some(server.own.as_ref()?.path.as_str())).collect();
    paths.dedup();
    let title = match paths.as_slice() {
        [one] => format!("GET {one}"),
        _ => "What each URL names".to_owned(),
    };
    Workload {
        name: URL_WORKLOAD.to_owned(),
        title,
        summary: "the request that a URL names; the expected answer is the one given before the run".to_owned(),
        method: "GET".to_owned(),
        path: "/".to_owned(),
        sent: None,
        status: 200,
        content_type: String::new(),
        // Each server has its own expected body, which comes from a request and not from a file.
        body: Body::File(String::new()),
        database: false,
        pipeline: 1,
        parameters: BTreeMap::new(),
        values: BTreeMap::new(),
        folder: None,
    }
}

/// Why an external server cannot take part in a scenario, if it cannot: the scenario needs something that only subjects
/// started by tolok can have.
fn out_of_reach(subject: &Subject, scenario: &Scenario, environments: &[Environment]) -> Option<String> {
    subject.external.as_ref()?;
    let environment = environments.iter().find(|environment| environment.id == scenario.environment)?;
    let asked = if scenario.database {
        "a database with tolok's tables"
    } else {
        let without_database = Environment { database: None, ..environment.clone() };
        without_database.needs_namespaces().or(without_database.needs_groups())?
    };
    Some(format!("for {} the study asks for {asked}, which only subjects that tolok starts can have", scenario.id))
}

/// Whether a subject can take part in a scenario.
pub(crate) fn reaches(
    choice: &SubjectChoice,
    catalogue: &Catalogue,
    scenario: &Scenario,
    environments: &[Environment],
) -> bool {
    let subject = catalogue.subject(&choice.subject);
    subject.is_some_and(|subject| out_of_reach(subject, scenario, environments).is_none())
}

/// Each external server that would serve a scenario but cannot take part in it, with the reason.
pub(crate) fn kept_out(
    choices: &[SubjectChoice],
    catalogue: &Catalogue,
    scenarios: &[Scenario],
    environments: &[Environment],
) -> Vec<Skipped> {
    let of = |choice: &SubjectChoice| {
        let subject = catalogue.subject(&choice.subject)?;
        let reasons: Vec<String> = scenarios
            .iter()
            .filter(|scenario| subject.workloads(&choice.variant).iter().any(|it| it == scenario.workload_name()))
            .filter_map(|scenario| out_of_reach(subject, scenario, environments))
            .collect();
        (!reasons.is_empty()).then(|| Skipped::new(&choice.subject, reasons.join("; ")))
    };
    choices.iter().filter_map(of).collect()
}
