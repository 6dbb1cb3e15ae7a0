//! What comes from outside the checkout: folders with subjects or workloads, and servers that run already.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::catalogue::Catalogue;
use crate::environment::Environment;
use crate::plan::Case;
use crate::plan::skipped::Skipped;
use crate::study::Scenario;
use crate::subject::{Subject, SubjectChoice, Variant};
use crate::workload::{Body, Workload, WorkloadFolder};

/// Before the name of a subject that lies in a folder of the user's: `local/mine`.
pub const LOCAL: &str = "local";
/// Before the name of a server that tolok does not start: `external/mine`.
pub const EXTERNAL: &str = "external";
/// The workload whose request is what each URL itself names.
pub const URL_WORKLOAD: &str = "url";
/// The only variant of a server that tolok does not start.
const AS_IT_IS: &str = "as-it-is";

/// What was brought to a run, as its plan keeps it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Brought {
    /// Subjects in folders of the user's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<SubjectFolder>,
    /// Servers that tolok does not start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ExternalServer>,
    /// Workloads in folders of the user's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<WorkloadFolder>,
}

/// A subject outside the checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectFolder {
    /// Id of the subject: `local/mine`.
    pub subject: String,
    pub folder: String,
    /// Fingerprint of all files in it but those written for people (`*.md`).
    pub sha256: String,
    /// What it is called there, or `None` where its own title does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Versions of the programs that it is run with, where they are not those of this machine: `bun` by `1.0.0`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
}

/// A server that tolok does not start: it is asked, and nothing else is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalServer {
    /// Id of the subject that it is: `external/mine`.
    pub subject: String,
    /// What stands before each path: `http://127.0.0.1:3000`.
    pub base: String,
    /// The request that its URL names and the answer that it gave before the run, or `None` where a study says what is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnRequest>,
    /// Its first process, if the user named it. Then its CPU time and memory, and those of all that it started, are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
}

/// What a URL names, and the answer that was given to it before the run: the one expected from then on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnRequest {
    pub path: String,
    pub status: u16,
    /// Its type, if it said one.
    pub content_type: String,
    pub body: OwedBody,
}

/// What of a body is compared: all of it if three answers were the same, else its length, else nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "compared", rename_all = "kebab-case")]
pub enum OwedBody {
    Bytes {
        bytes: u64,
        sha256: String,
    },
    /// Its length alone: the bodies differed.
    Length {
        bytes: u64,
    },
    /// Nothing: the lengths differed as well.
    Nothing,
}

impl Brought {
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty() && self.servers.is_empty() && self.workloads.is_empty()
    }

    /// What the cases of a plan have of what was brought.
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

    /// The server that a subject is, if tolok does not start it.
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

    /// The length that every correct response has, if it is expected.
    pub fn length(&self) -> Option<u64> {
        match self {
            Self::Bytes { bytes, .. } | Self::Length { bytes } => Some(*bytes),
            Self::Nothing => None,
        }
    }
}

impl ExternalServer {
    /// What is asked of it for `workload`: that, or what its own URL names.
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

    /// The server as a subject that serves these workloads. It has no process, so nothing is started and nothing is stopped.
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

/// The workload that stands for what each of these servers' URLs names.
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
        // Each server's own, which is asked for and never read from a file.
        body: Body::File(String::new()),
        database: false,
        pipeline: 1,
        parameters: BTreeMap::new(),
        values: BTreeMap::new(),
        folder: None,
    }
}

/// Why a server that tolok does not start cannot take part in a scenario, if it cannot. Such a scenario needs what only
/// the subjects that tolok starts can have.
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

/// Each server with each scenario that it would serve and cannot take part in.
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
