//! How each driver represents each type, how two tasks on one connection behave, and what aborted requests leave behind.
//! The result is a report, not a ranking.

use std::time::{Duration, Instant};

use serde::Deserialize;
use tolok_model::fidelity::{DriverReport, FIDELITY_SCHEMA, FidelityReport, LeftOut, TwoTasks, TwoTasksOutcome};
use tolok_model::{Database, Protocol, SubjectChoice, Wire};

use crate::data_contract::judge_fidelity;
use crate::run::check::aborts::{Search, check_aborts};
use crate::run::check::started_server::{ServeError, StartedServer, words};
use crate::run::database::prepared::Prepared;
use crate::run::session::Session;
use crate::run::stop::Stop;

/// Limit for one answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// Each of two tasks keeps a connection busy for 0.2 s by the database's clock. The subject reads another clock, so two in a row
/// may appear to take slightly less than 0.4 s. Two in parallel never take this long.
const IN_A_ROW_S: f64 = 0.39;

/// The answer of `/shared-connection`.
#[derive(Debug, Deserialize)]
struct Told {
    elapsed_s: f64,
    errors: Vec<String>,
}

/// What to check.
#[derive(Debug, Clone, Copy)]
pub struct FidelityJob<'a> {
    /// The database that all subjects use.
    pub database: (&'a Database, &'a Prepared),
    /// Whether to abort many requests, which takes some seconds for each subject.
    pub aborts: bool,
    /// Once means after the current subject, twice means now.
    pub stop: &'a Stop,
}

/// Checks one subject after the other, and calls `begins` before each.
pub fn fidelity(
    session: &Session<'_>,
    job: FidelityJob<'_>,
    choices: &[SubjectChoice],
    begins: &mut dyn FnMut(&SubjectChoice),
) -> FidelityReport {
    let pool = job.database.0.pool;
    let mut found = FidelityReport {
        schema_version: FIDELITY_SCHEMA,
        database: String::new(),
        pool,
        drivers: Vec::new(),
        left_out: Vec::new(),
    };
    for choice in choices {
        if job.stop.is_asked() {
            let reason = "not asked any more: interrupted".to_owned();
            found.left_out.push(LeftOut { subject: choice.label.clone(), reason });
            continue;
        }
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
        let asked = ask_all(session, job, choice, (&mut report, &mut found.database));
        report.failure = asked.err().map(|error| error.to_string());
        found.drivers.push(report);
    }
    found
}

fn help(session: &Session<'_>, choice: &SubjectChoice) -> String {
    let subject = session.laboratory.catalogue.subject(&choice.subject);
    let variant = subject.and_then(|subject| subject.variants.get(&choice.variant));
    variant.map(|variant| variant.help.clone()).unwrap_or_default()
}

/// Checks one subject. Keeps what was found before an error.
fn ask_all(
    session: &Session<'_>,
    job: FidelityJob<'_>,
    choice: &SubjectChoice,
    (report, version): (&mut DriverReport, &mut String),
) -> Result<(), ServeError> {
    let catalogue = &session.laboratory.catalogue;
    let no_workload = || ServeError::new("there is no workload `fidelity`");
    let asked_for = catalogue.workload("fidelity").ok_or_else(no_workload)?;
    let mut server =
        StartedServer::start(session, (choice, Protocol::default()), Some(job.database), asked_for, job.stop)?;
    if let Some(database) = &server.database {
        *version = titled(&database.version, job.database.1.wire());
    }
    let answer = server.ask("GET", &asked_for.path, PATIENCE).map_err(ServeError::new)?;
    if answer.status != 200 {
        return Err(ServeError::new(format!("{} answers with status {}", asked_for.path, answer.status)));
    }
    report.types = judge_fidelity(&answer.body, job.database.1.wire()).map_err(ServeError::new)?;
    report.one_connection = two_tasks(&mut server, "one");
    report.two_connections = two_tasks(&mut server, "pool");
    let subject = catalogue.subject(&choice.subject);
    let serves =
        |name: &str| subject.is_some_and(|it| it.workloads(&choice.variant).iter().any(|served| served == name));
    if job.aborts && serves("rows") && serves("query") {
        let aborts = check_aborts(&mut server, job.database.0.pool, Search::Rare, job.stop);
        report.aborts = Some(aborts.map_err(|error| ServeError::new(words(error)))?);
    }
    server.stop()
}

/// The version with the server's name. Only MariaDB names itself in it.
fn titled(version: &str, wire: Wire) -> String {
    match wire {
        Wire::Mysql if version.contains("MariaDB") => version.to_owned(),
        Wire::Mysql => format!("MySQL {version}"),
        Wire::Postgres => format!("PostgreSQL {version}"),
    }
}

/// `None` if the subject does not offer it.
fn two_tasks(server: &mut StartedServer, from: &str) -> Option<TwoTasks> {
    let began = Instant::now();
    let answer = server.ask("GET", &format!("/shared-connection?from={from}"), PATIENCE);
    let refused = match answer {
        Ok(answer) if answer.status == 200 => match serde_json::from_slice::<Told>(&answer.body) {
            Ok(told) => return Some(judged(told)),
            Err(error) => format!("a response that is none: {error}"),
        },
        Ok(answer) if answer.status == 404 => return None,
        Ok(answer) => format!("status {}: {}", answer.status, String::from_utf8_lossy(&answer.body).trim()),
        // A subject that breaks during this request has given its answer too.
        Err(error) => format!("no answer: {error}"),
    };
    Some(judged(Told { elapsed_s: began.elapsed().as_secs_f64(), errors: vec![refused] }))
}

fn judged(told: Told) -> TwoTasks {
    let outcome = if !told.errors.is_empty() {
        TwoTasksOutcome::Refused
    } else if told.elapsed_s >= IN_A_ROW_S {
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
    fn every_server_is_named_with_its_version() {
        assert_eq!(titled("10.11.19-MariaDB", Wire::Mysql), "10.11.19-MariaDB");
        assert_eq!(titled("8.4.2", Wire::Mysql), "MySQL 8.4.2");
        assert_eq!(titled("15.13 (Debian)", Wire::Postgres), "PostgreSQL 15.13 (Debian)");
    }

    #[test]
    fn two_tasks_wait_for_each_other_or_do_not_or_are_refused() {
        let outcome = |body: &str| judged(serde_json::from_str(body).unwrap()).outcome;
        assert_eq!(outcome(r#"{"elapsed_s":0.41,"errors":[]}"#), TwoTasksOutcome::OneAfterTheOther);
        assert_eq!(outcome(r#"{"elapsed_s":0.399,"errors":[]}"#), TwoTasksOutcome::OneAfterTheOther);
        assert_eq!(outcome(r#"{"elapsed_s":0.21,"errors":[]}"#), TwoTasksOutcome::SideBySide);
        let refused = r#"{"elapsed_s":0.2,"errors":["has already been bound to another coroutine"]}"#;
        assert_eq!(outcome(refused), TwoTasksOutcome::Refused);
    }
}
