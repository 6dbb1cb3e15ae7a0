//! Selects subjects to test or check without measuring them.

use std::collections::BTreeMap;

use tolok_host::machine::Machine;
use tolok_lab::run::{Capabilities, Prepared, Session, Stop, prepare_database};
use tolok_model::fidelity::LeftOut;
use tolok_model::{Catalogue, Database, Environment, Role, Subject, SubjectChoice, SubjectSelector, Workload};

use crate::exit::{CliError, Exit, with_help};
use crate::laboratory::Lab;
use crate::measuring::warn_of;
use crate::output::say;
use crate::verbs::plan::deal_cpus;

/// Whether a variant of a subject can be tested.
type IsMeant = fn(&Subject, &str) -> bool;

/// All variants of a subject that can be tested, the default one first.
pub fn variants(subject: &Subject, is_meant: IsMeant) -> Vec<SubjectChoice> {
    let mut names: Vec<&String> = subject.variants.keys().filter(|variant| is_meant(subject, variant)).collect();
    names.sort_by_key(|name| **name != subject.default_variant);
    names.into_iter().filter_map(|name| subject.choose(Some(name), &BTreeMap::new()).ok()).collect()
}

/// The variants of all competing subjects.
pub fn competing(catalogue: &Catalogue, is_meant: IsMeant) -> Vec<SubjectChoice> {
    let subjects = catalogue.subjects.iter().filter(|subject| subject.role == Role::Subject);
    subjects.flat_map(|subject| variants(subject, is_meant)).collect()
}

/// The subjects that a name refers to, or why it refers to none in the catalogue. For a subject that cannot be tested, the list is
/// empty.
pub fn named(name: &str, catalogue: &Catalogue, is_meant: IsMeant) -> Result<Vec<SubjectChoice>, String> {
    let subject = |id: &str| catalogue.subject(id);
    Ok(match SubjectSelector::read(name, catalogue).map_err(with_help)? {
        SubjectSelector::EveryReady => competing(catalogue, is_meant),
        SubjectSelector::EveryVariant(id) => subject(&id).map(|it| variants(it, is_meant)).unwrap_or_default(),
        SubjectSelector::One(choice) => {
            let can_be_asked = subject(&choice.subject).is_some_and(|it| is_meant(it, &choice.variant));
            if can_be_asked { vec![choice] } else { Vec::new() }
        }
    })
}

/// Separates subjects that can start here from those that lack something. A reason shared by several variants of a subject appears
/// once.
pub fn split(
    opened: &Lab,
    chosen: Vec<SubjectChoice>,
    database: Option<&Database>,
) -> (Vec<SubjectChoice>, Vec<LeftOut>) {
    let (mut ready, mut left_out) = (Vec::new(), Vec::<LeftOut>::new());
    for choice in chosen {
        let Some(subject) = opened.laboratory.catalogue.subject(&choice.subject) else { continue };
        match opened.ready_for(subject, &choice.variant, database) {
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
    left_out.iter().for_each(|left_out| say(format!("left out: {}: {}", left_out.subject, left_out.reason)));
    (ready, left_out)
}

/// Prepares a database with its data, or returns why that failed.
pub fn loaded(opened: &Lab, database: &Database, stop: &Stop) -> Result<Prepared, String> {
    let mut loading = || say(format!("loading data into {}, once", database.engine.title()));
    prepare_database(&opened.laboratory, database, &mut loading, &|| !stop.is_asked())
        .map_err(|failure| [vec![failure.message], failure.log_tail].concat().join("\n  "))
}

/// Runs `act` in a session. It measures nothing, so its parts may share CPUs.
pub fn in_session<T>(
    opened: &Lab,
    database: Option<&Database>,
    workloads: &[Workload],
    act: impl FnOnce(&Session<'_>) -> T,
) -> Result<T, CliError> {
    let capabilities = Capabilities::prepare();
    warn_of(&capabilities.leftovers);
    let environment = Environment { database: database.cloned(), ..Environment::default() };
    let (cpus, _) = deal_cpus(&Machine::read(), &environment, (true, 0)).map_err(CliError::usage)?;
    let session = Session::begin(&opened.laboratory, &capabilities, [(environment.id, cpus)].into(), workloads);
    Ok(act(&session.map_err(|error| CliError::new(Exit::Internal, error))?))
}
