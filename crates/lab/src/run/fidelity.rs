//! What each driver makes of each type, what two tasks on one connection come to, and what clients that hang up leave behind:
//! a report, and no contest.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tolok_model::{Database, SubjectChoice};

use super::aborts::{Aborts, check_aborts};
use super::databases::Prepared;
use super::serve::{ServeError, Served};
use super::session::Session;
use crate::data::{ColumnVerdict, judge_fidelity};

/// One answer may take this long.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long each of two tasks is busy on a connection, in seconds: what the contract of `/shared-connection` says.
const TASK_S: f64 = 0.2;

/// What was found of the drivers of some subjects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FidelityReport {
    /// Version of this format.
    pub schema_version: u32,
    /// Which database server, as it says itself.
    pub database: String,
    /// Each subject, in the order in which they were asked.
    pub drivers: Vec<DriverReport>,
}

/// Version of [`FidelityReport`] as JSON.
pub const FIDELITY_SCHEMA: u32 = 1;

/// What was found of one subject.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriverReport {
    /// As a person would name it: `bun/serve:mysql2`.
    pub subject: String,
    /// What it does, in a few words.
    pub help: String,
    /// What became of each type.
    pub types: Vec<ColumnVerdict>,
    /// Two tasks on one connection; nothing where a request cannot have two tasks.
    pub one_connection: Option<TwoTasks>,
    /// Two tasks on two connections of the pool.
    pub two_connections: Option<TwoTasks>,
    /// What was found after many clients had hung up, where that was tried.
    pub aborts: Option<Aborts>,
    /// Why it could not be asked, if it could not.
    pub failure: Option<String>,
}

/// What two tasks that ask at the same time come to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TwoTasks {
    /// One after the other, side by side, or refused.
    pub outcome: TwoTasksOutcome,
    /// How long both took together, in seconds; each is busy for 0.2 s.
    pub elapsed_s: f64,
    /// What the driver said, in its own words.
    pub errors: Vec<String>,
}

/// What two tasks that ask at the same time come to, as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TwoTasksOutcome {
    /// The second waited for the first.
    OneAfterTheOther,
    /// Both were served at the same time.
    SideBySide,
    /// The driver refused one of them.
    Refused,
}

/// The answer of `/shared-connection`.
#[derive(Debug, Deserialize)]
struct Told {
    elapsed_s: f64,
    errors: Vec<String>,
}

/// What to look at.
#[derive(Debug, Clone, Copy)]
pub struct FidelityJob<'a> {
    /// The database that all of them ask.
    pub database: (&'a Database, &'a Prepared),
    /// Whether many requests are given up, which takes some seconds for each subject.
    pub aborts: bool,
}

/// Asks one subject after the other; `begins` is told each before it is asked.
pub fn fidelity(
    session: &Session<'_>,
    job: FidelityJob<'_>,
    choices: &[SubjectChoice],
    begins: &mut dyn FnMut(&SubjectChoice),
) -> FidelityReport {
    let (mut drivers, mut database) = (Vec::new(), String::new());
    for choice in choices {
        begins(choice);
        let mut report = DriverReport {
            subject: choice.label.clone(),
            help: help(session, choice),
            types: Vec::new(),
            one_connection: None,
            two_connections: None,
            aborts: None,
            failure: None,
        };
        match fill(session, job, choice, &mut report) {
            Ok(version) => database = version,
            Err(error) => report.failure = Some(error.to_string()),
        }
        drivers.push(report);
    }
    FidelityReport { schema_version: FIDELITY_SCHEMA, database, drivers }
}

fn help(session: &Session<'_>, choice: &SubjectChoice) -> String {
    let subject = session.laboratory.catalogue.subject(&choice.subject);
    let variant = subject.and_then(|subject| subject.variants.get(&choice.variant));
    variant.map(|variant| variant.help.clone()).unwrap_or_default()
}

/// Asks one subject; returns the version of its database.
fn fill(
    session: &Session<'_>,
    job: FidelityJob<'_>,
    choice: &SubjectChoice,
    report: &mut DriverReport,
) -> Result<String, ServeError> {
    let catalogue = &session.laboratory.catalogue;
    let asked_for = catalogue.workload("fidelity").ok_or_else(|| ServeError::new("there is no workload `fidelity`"))?;
    let mut server = Served::start(session, choice, Some(job.database), asked_for)?;
    let answer = server.ask("GET", &asked_for.path, PATIENCE).map_err(ServeError::new)?;
    report.types = judge_fidelity(&answer.body).map_err(ServeError::new)?;
    report.one_connection = two_tasks(&mut server, "one");
    report.two_connections = two_tasks(&mut server, "pool");
    let serves_rows = catalogue
        .subject(&choice.subject)
        .is_some_and(|subject| subject.workloads(&choice.variant).iter().any(|name| name == "rows"));
    if job.aborts && serves_rows {
        report.aborts = Some(check_aborts(&mut server, job.database.0.pool));
    }
    let version = server.database.as_ref().map(|database| database.version.clone()).unwrap_or_default();
    server.stop()?;
    Ok(version)
}

/// Nothing where the subject cannot do it.
fn two_tasks(server: &mut Served, from: &str) -> Option<TwoTasks> {
    let began = Instant::now();
    let answer = server.ask("GET", &format!("/shared-connection?from={from}"), PATIENCE);
    match answer {
        Ok(answer) if answer.status == 200 => serde_json::from_slice::<Told>(&answer.body).ok().map(judged),
        Ok(answer) if answer.status == 404 => None,
        Ok(answer) => {
            let said = String::from_utf8_lossy(&answer.body).into_owned();
            let errors = vec![format!("status {}: {said}", answer.status)];
            Some(judged(Told { elapsed_s: began.elapsed().as_secs_f64(), errors }))
        }
        // A subject that breaks over it has told as well.
        Err(error) => {
            let errors = vec![format!("no answer: {error}")];
            Some(judged(Told { elapsed_s: began.elapsed().as_secs_f64(), errors }))
        }
    }
}

fn judged(told: Told) -> TwoTasks {
    let outcome = if !told.errors.is_empty() {
        TwoTasksOutcome::Refused
    } else if told.elapsed_s >= 2.0 * TASK_S {
        TwoTasksOutcome::OneAfterTheOther
    } else {
        TwoTasksOutcome::SideBySide
    };
    TwoTasks { outcome, elapsed_s: told.elapsed_s, errors: told.errors }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tasks_wait_for_each_other_or_do_not_or_are_refused() {
        let outcome = |body: &str| judged(serde_json::from_str(body).unwrap()).outcome;
        assert_eq!(outcome(r#"{"elapsed_s":0.41,"errors":[]}"#), TwoTasksOutcome::OneAfterTheOther);
        assert_eq!(outcome(r#"{"elapsed_s":0.21,"errors":[]}"#), TwoTasksOutcome::SideBySide);
        let refused = r#"{"elapsed_s":0.2,"errors":["has already been bound to another coroutine"]}"#;
        assert_eq!(outcome(refused), TwoTasksOutcome::Refused);
    }
}
