//! Whether a subject keeps the contract of its workloads: the same answers as all others, and the same refusals.
//!
//! A subject that answers a wrong path or a wrong method as if it were right does less work than the others, so this is
//! part of being comparable. The test suite checks every variant of every subject; a trial itself checks the answer that
//! it is about to measure, and the load tool every answer in the window.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use tolok_model::{Environment, SubjectChoice, Workload};

use super::launch::Launch;
use super::session::{Place, Session};
use super::stop::Stop;
use super::trial::{Setback, own_address};
use crate::isolate::TrialBox;
use crate::subject::{Asked, ask, check, log_tail};

/// One answer may take this long.
const PATIENCE: Duration = Duration::from_secs(10);
/// Methods that none of the workloads allows.
const WRONG_METHODS: [&str; 3] = ["POST", "PUT", "DELETE"];
/// Paths that no subject has.
const WRONG_PATHS: [&str; 3] = ["/", "/nothing-here", "/hello/world"];

/// What was asked of a subject, and where it differs from the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conformance {
    /// The workloads that were asked for.
    pub workloads: Vec<String>,
    /// Each difference in a sentence; none for a subject that conforms.
    pub differences: Vec<String>,
}

/// Why a subject could not be checked.
#[derive(Debug, thiserror::Error)]
#[error("{message}{}", if log.is_empty() { String::new() } else { format!("; its log ends with: {}", log.join(" | ")) })]
pub struct ConformanceError {
    message: String,
    log: Vec<String>,
}

impl ConformanceError {
    fn new(message: impl std::fmt::Display) -> Self {
        Self { message: message.to_string(), log: Vec::new() }
    }
}

/// Starts a subject once and asks for every workload that it serves, and for what it must refuse.
pub fn check_conformance(session: &Session<'_>, choice: &SubjectChoice) -> Result<Conformance, ConformanceError> {
    let catalogue = &session.laboratory.catalogue;
    let subject = catalogue.subject(&choice.subject).ok_or_else(|| ConformanceError::new("no such subject"))?;
    let served = subject.workloads(&choice.variant).iter();
    let workloads: Vec<&Workload> = served.filter_map(|name| catalogue.workload(name)).collect();
    let build = session.build(subject, &mut || {}, &|| true).map_err(ConformanceError::new)?;
    let scratch = session.trial_scratch().map_err(ConformanceError::new)?;
    // Beside the private folder, which only the box sees the inside of.
    let log = scratch.path().with_extension("log");
    let launch = Launch { session, subject, choice, build: &build, log: log.clone(), stop: &Stop::default() };
    let differences = serve_and_ask(&launch, scratch.path(), &workloads);
    let differences = differences.map_err(|message| ConformanceError { message, log: log_tail(&log, 10) })?;
    Ok(Conformance { workloads: workloads.iter().map(|workload| workload.name.clone()).collect(), differences })
}

fn serve_and_ask(launch: &Launch<'_>, run: &Path, workloads: &[&Workload]) -> Result<Vec<String>, String> {
    let words = |setback: Setback| match setback {
        Setback::Failed(kind, message) => format!("{}: {message}", kind.word()),
        Setback::Store(error) => error.to_string(),
        Setback::Stopped => "stopped".to_owned(),
    };
    let (session, cpus) = (launch.session, launch.session.any_cpus());
    let run_folder = Some((run, session.owner()));
    let spec = session.ground.spec(&Environment::default(), &cpus, 0, &run.with_extension("jsonl"), run_folder);
    let mut trial_box = TrialBox::open(&session.laboratory.tolok, &spec).map_err(|error| error.to_string())?;
    let address = own_address(&trial_box).map_err(|error| error.to_string())?;
    let place = Place { address, run, cpus: &cpus.subject, diagnosing: false };
    let specs = launch.prepare(&mut trial_box, &place).map_err(words)?;
    let first = workloads.first().ok_or("it serves no workload")?;
    launch.first_good_answer(&mut trial_box, &specs, address, first).map_err(words)?;
    let boxed = RefCell::new(&mut trial_box);
    let connect = |address, patience| boxed.borrow_mut().connect(address, patience);
    let server = || Asked { address, connect: &connect };
    let kept = workloads.iter().filter_map(|workload| contract(session, server(), workload));
    let refused = refusals(&server, workloads);
    let differences = kept.chain(refused).collect();
    trial_box.stop().map_err(|error| error.to_string())?;
    Ok(differences)
}

/// How the answer to a workload's own request differs from the contract.
fn contract(session: &Session<'_>, server: Asked<'_>, workload: &Workload) -> Option<String> {
    let request = format!("{} {}", workload.method, workload.path);
    match ask(server, &workload.method, &workload.path, PATIENCE) {
        Ok(answer) => {
            let difference = check(&answer, workload, session.assets.body(workload)).err()?;
            Some(format!("{request}: {difference}"))
        }
        Err(error) => Some(format!("{request}: {error}")),
    }
}

/// Which wrong requests are not refused as they should be: 404 for a path, 405 with the methods allowed for a method.
fn refusals<'a>(server: &dyn Fn() -> Asked<'a>, workloads: &[&Workload]) -> Vec<String> {
    let paths: BTreeSet<&str> = workloads.iter().map(|workload| workload.path.as_str()).collect();
    let wrong_methods = paths.iter().flat_map(|path| WRONG_METHODS.map(|method| (method, *path, 405)));
    let wrong_paths = WRONG_PATHS.map(|path| ("GET", path, 404));
    let mut differences = Vec::new();
    for (method, path, expected) in wrong_methods.chain(wrong_paths) {
        match ask(server(), method, path, PATIENCE) {
            Ok(answer) if answer.status != expected => {
                differences.push(format!("{method} {path}: status {} instead of {expected}", answer.status));
            }
            Ok(answer) if expected == 405 && answer.header("allow").is_none_or(|allowed| !allowed.contains("GET")) => {
                differences.push(format!("{method} {path}: 405 without saying that GET is allowed"));
            }
            Ok(_) => {}
            Err(error) => differences.push(format!("{method} {path}: {error}")),
        }
    }
    differences
}
