//! `tolok fidelity`: what drivers make of types, of two tasks on one connection, and of clients that hang up.

use std::collections::BTreeSet;

use tolok_host::machine::Machine;
use tolok_lab::run::{Capabilities, FidelityJob, Prepared, Session, Stop, fidelity as ask_them, prepare_database};
use tolok_model::fidelity::{FidelityReport, LeftOut};
use tolok_model::{
    Catalogue, Database, DatabaseAddress, Engine, Environment, Role, Subject, SubjectChoice, SubjectSelector,
};
use tolok_report::document::Depth;
use tolok_report::print::{markdown, terminal};
use tolok_report::{data, documents};

use super::plan::deal_cpus;
use crate::args::{FidelityArgs, FidelityFormat};
use crate::exit::{CliError, Exit};
use crate::laboratory::Lab;
use crate::measuring::{interruptible, warn_of};
use crate::output::{put, say, style};

/// The workload that subjects serve which can be asked.
const WORKLOAD: &str = "fidelity";

/// Asks one subject after the other and says what was found.
pub fn fidelity(args: &FidelityArgs) -> Result<Exit, CliError> {
    let opened = Lab::open()?;
    let chosen = choose(&args.subjects, &opened.laboratory.catalogue)?;
    let database = database(args)?;
    let missing = |reason: &str| CliError::new(Exit::Missing, format!("there is no database: {reason}"));
    opened.database_ready(&database).map_err(|reason| missing(&reason))?;
    let (ready, left_out) = split(&opened, chosen);
    left_out.iter().for_each(|left_out| say(format!("left out: {}: {}", left_out.subject, left_out.reason)));
    if ready.is_empty() {
        return Err(nobody(&left_out));
    }
    let stop = interruptible("subject")?;
    let mut loading = || say(format!("loading data into {}, once", database.engine.title()));
    let prepared =
        prepare_database(&opened.laboratory, &database, &mut loading, &|| !stop.is_asked()).map_err(|failure| {
            let exit = if stop.is_asked() { Exit::Interrupted } else { Exit::Missing };
            CliError { exit, ..missing(&failure.message) }
        })?;
    let mut report = ask(&opened, (&database, &prepared), &ready, (!args.no_aborts, &stop))?;
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
        // What is wrong with it is said without its text, as it may hold a password.
        DatabaseAddress::parse(address).map_err(|error| {
            CliError::new(Exit::Usage, format!("--dsn: {error}; an address is mysql://user:password@host:3306/name"))
        })?;
    }
    let engine = if args.dsn.is_some() { Engine::External } else { args.engine.engine() };
    Ok(Database { engine, dsn: args.dsn.clone(), pool: args.pool, ..Database::default() })
}

/// The variants that are meant, each once, in the order in which they are named.
fn choose(named: &[String], catalogue: &Catalogue) -> Result<Vec<SubjectChoice>, CliError> {
    let everything = ["*".to_owned()];
    let named = if named.is_empty() { &everything } else { named };
    let mut chosen: Vec<SubjectChoice> = Vec::new();
    for name in named {
        let selector = SubjectSelector::read(name, catalogue).map_err(|(message, help)| {
            let help = help.map(|help| format!("; {help}")).unwrap_or_default();
            CliError::new(Exit::Usage, format!("{message}{help}"))
        })?;
        let found: Vec<SubjectChoice> = match selector {
            SubjectSelector::EveryReady => {
                let competing = catalogue.subjects.iter().filter(|subject| subject.role == Role::Subject);
                chosen.extend(competing.flat_map(variants));
                continue;
            }
            SubjectSelector::EveryVariant(id) => catalogue.subject(&id).map(variants).unwrap_or_default(),
            SubjectSelector::One(choice) => {
                let serves = catalogue.subject(&choice.subject).is_some_and(|it| serves(it, &choice.variant));
                if serves { vec![choice] } else { Vec::new() }
            }
        };
        if found.is_empty() {
            return Err(CliError::new(Exit::Usage, serves_none(name, catalogue)));
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

/// All variants that can be asked, the default one first.
fn variants(subject: &Subject) -> Vec<SubjectChoice> {
    let mut names: Vec<&String> = subject.variants.keys().filter(|variant| serves(subject, variant)).collect();
    names.sort_by_key(|name| **name != subject.default_variant);
    names.into_iter().filter_map(|name| subject.choose(Some(name), &Default::default()).ok()).collect()
}

fn serves_none(name: &str, catalogue: &Catalogue) -> String {
    let all = catalogue.subjects.iter().filter(|subject| subject.role == Role::Subject).flat_map(variants);
    let all: Vec<String> = all.map(|choice| choice.label).collect();
    let others = if all.is_empty() { "no subject does".to_owned() } else { format!("these do: {}", all.join(", ")) };
    format!("`{name}` does not serve the workload `{WORKLOAD}`; {others}")
}

/// Those that can be asked here, and those that lack something. What holds for several variants of a subject is said once.
fn split(opened: &Lab, chosen: Vec<SubjectChoice>) -> (Vec<SubjectChoice>, Vec<LeftOut>) {
    let (mut ready, mut left_out) = (Vec::new(), Vec::<LeftOut>::new());
    for choice in chosen {
        let Some(subject) = opened.laboratory.catalogue.subject(&choice.subject) else { continue };
        match opened.ready_for(subject, &choice.variant, true) {
            Ok(()) => ready.push(choice),
            Err(reason) => {
                let own = format!("{}:", choice.subject);
                match left_out.iter_mut().find(|known| known.subject.starts_with(&own) && known.reason == reason) {
                    Some(known) => known.subject += &format!(", :{}", &choice.label[own.len()..]),
                    None => left_out.push(LeftOut { subject: choice.label, reason }),
                }
            }
        }
    }
    (ready, left_out)
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
    (database, prepared): (&Database, &Prepared),
    ready: &[SubjectChoice],
    (aborts, stop): (bool, &Stop),
) -> Result<FidelityReport, CliError> {
    let capabilities = Capabilities::prepare();
    warn_of(&capabilities.leftovers);
    let environment = Environment { database: Some(database.clone()), ..Environment::default() };
    // Nothing is measured, so the parts may share CPUs.
    let (cpus, _) =
        deal_cpus(&Machine::read(), &environment, true).map_err(|reason| CliError::new(Exit::Usage, reason))?;
    let workloads = opened.laboratory.catalogue.choose_workload(WORKLOAD).ok();
    let workloads: Vec<_> = workloads.into_iter().collect();
    let session = Session::begin(&opened.laboratory, &capabilities, [(environment.id, cpus)].into(), &workloads)
        .map_err(|error| CliError::new(Exit::Internal, error))?;
    let job = FidelityJob { database: (database, prepared), aborts, stop };
    Ok(ask_them(&session, job, ready, &mut |choice| say(format!("asking {} …", choice.label))))
}

#[cfg(test)]
mod tests;
