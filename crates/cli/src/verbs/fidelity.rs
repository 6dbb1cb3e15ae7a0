//! `tolok fidelity`: how drivers convert types, handle two tasks on one connection, and clients that hang up.

use std::collections::BTreeSet;

use tolok_lab::run::{FidelityJob, Prepared, Stop, fidelity as ask_them};
use tolok_model::fidelity::{FidelityReport, LeftOut};
use tolok_model::{Catalogue, Database, DatabaseAddress, Engine, Subject, SubjectChoice};
use tolok_report::document::Depth;
use tolok_report::print::{markdown, terminal};
use tolok_report::{data, documents};

use crate::args::{FidelityArgs, FidelityFormat};
use crate::choice::{competing, in_session, loaded, named, split};
use crate::exit::{CliError, Exit};
use crate::laboratory::Lab;
use crate::measuring::interruptible;
use crate::output::{check_place, put, say, style};

/// The workload that makes a subject testable.
const WORKLOAD: &str = "fidelity";

/// Tests one subject after the other and prints the result.
pub fn fidelity(args: &FidelityArgs) -> Result<Exit, CliError> {
    check_place(args.output.as_deref())?;
    let opened = Lab::open()?;
    let chosen = choose(&args.subjects, &opened.laboratory.catalogue)?;
    let database = database(args)?;
    let missing = |reason: &str| CliError::new(Exit::Missing, format!("there is no database: {reason}"));
    opened.database_ready(&database).map_err(|reason| missing(&reason))?;
    let (ready, left_out) = split(&opened, chosen, Some(&database));
    if ready.is_empty() {
        return Err(nobody(&left_out));
    }
    let stop = interruptible("subject")?;
    let prepared = loaded(&opened, &database, &stop).map_err(|reason| {
        let exit = if stop.is_asked() { Exit::Interrupted } else { Exit::Missing };
        CliError { exit, ..missing(&reason) }
    })?;
    let mut report = ask(&opened, (&database, &prepared), &ready, !args.no_aborts, &stop)?;
    report.left_out.extend(left_out);
    let document = |depth| documents::fidelity(&report, depth);
    let output = args.output.as_deref();
    let shown = match args.format {
        FidelityFormat::Text => terminal(&document(Depth::Short), &style(output)),
        FidelityFormat::Md => markdown(&document(Depth::Full)),
        FidelityFormat::Json => data::json(&report),
    };
    put(&shown, output)?;
    Ok(if stop.is_asked() {
        Exit::Interrupted
    } else if report.is_sound() {
        Exit::Done
    } else {
        Exit::GateFailed
    })
}

fn database(args: &FidelityArgs) -> Result<Database, CliError> {
    if let Some(address) = args.dsn.as_deref().filter(|dsn| !dsn.starts_with("env:")) {
        // The message omits the address, which may contain a password.
        DatabaseAddress::parse(address).map_err(|error| {
            CliError::usage(format!("--dsn: {error}; an address is mysql://user:password@host:3306/name"))
        })?;
    }
    let engine = if args.dsn.is_some() { Engine::External } else { args.engine.engine() };
    Ok(Database { engine, dsn: args.dsn.clone(), pool: args.pool, ..Database::default() })
}

/// The selected variants, each once, in the order of the names.
fn choose(names: &[String], catalogue: &Catalogue) -> Result<Vec<SubjectChoice>, CliError> {
    let mut chosen: Vec<SubjectChoice> = if names.is_empty() { competing(catalogue, serves) } else { Vec::new() };
    for name in names {
        let found = named(name, catalogue, serves).map_err(CliError::usage)?;
        if found.is_empty() && name != "*" {
            return Err(CliError::usage(serves_none(name, catalogue)));
        }
        chosen.extend(found);
    }
    let mut labels = BTreeSet::new();
    chosen.retain(|choice| labels.insert(choice.label.clone()));
    Ok(chosen)
}

fn serves(subject: &Subject, variant: &str) -> bool {
    subject.workloads(variant).iter().any(|name| name == WORKLOAD)
}

fn serves_none(name: &str, catalogue: &Catalogue) -> String {
    let all: Vec<String> = competing(catalogue, serves).into_iter().map(|choice| choice.label).collect();
    let others = if all.is_empty() { "no subject does".to_owned() } else { format!("these do: {}", all.join(", ")) };
    format!("`{name}` does not serve the workload `{WORKLOAD}`; {others}")
}

fn nobody(left_out: &[LeftOut]) -> CliError {
    if left_out.is_empty() {
        return CliError::new(
            Exit::Missing,
            format!("no subject serves the workload `{WORKLOAD}`; TOLOK_HOME names the checkout with those that do"),
        );
    }
    CliError::new(Exit::Missing, "no subject is ready here; to fetch what is missing: tolok setup")
}

fn ask(
    opened: &Lab,
    database: (&Database, &Prepared),
    ready: &[SubjectChoice],
    aborts: bool,
    stop: &Stop,
) -> Result<FidelityReport, CliError> {
    let workloads: Vec<_> = opened.laboratory.catalogue.choose_workload(WORKLOAD).ok().into_iter().collect();
    let job = FidelityJob { database, aborts, stop };
    let mut asking = |choice: &SubjectChoice| say(format!("asking {} …", choice.label));
    in_session(opened, Some(database.0), &workloads, |session| ask_them(session, job, ready, &mut asking))
}

#[cfg(test)]
mod tests;
