//! `tolok check`: checks that subjects respond, and refuse, as the contracts of their workloads require.

use std::path::Path;

use tolok_lab::run::{Conformance, Prepared, ServeError, Session, Stop, check_conformance};
use tolok_lab::user_servers::local_subject;
use tolok_model::{Catalogue, Database, Engine, Protocol, Subject, SubjectChoice, Wire, Workload};

use crate::args::CheckArgs;
use crate::bring::UserServers;
use crate::choice::{competing, in_session, loaded, named, split, variants};
use crate::exit::{CliError, Exit};
use crate::laboratory::Lab;
use crate::measuring::interruptible;
use crate::output::{put, say};

/// A database with its data, and its protocol.
type Loaded = (Wire, Database, Prepared);

/// Checks one subject after the other, and prints each result at once.
pub fn check(args: &CheckArgs) -> Result<Exit, CliError> {
    let mut opened = Lab::open()?;
    let chosen = choose(&args.subjects, &mut opened)?;
    let stop = interruptible("subject")?;
    let (ready, lacking) = split(&opened, chosen, None);
    if ready.is_empty() {
        let message = "none of these subjects is ready here; to fetch what is missing: tolok setup";
        return Err(CliError::new(Exit::Missing, message));
    }
    let databases = databases(&opened, &ready, &stop);
    let wrong = each(&opened, &ready, &databases, &stop)?;
    Ok(match () {
        () if stop.is_asked() => Exit::Interrupted,
        () if wrong > 0 => Exit::GateFailed,
        // A missing program matters only for a subject that the user named.
        () if !lacking.is_empty() && !args.subjects.is_empty() => Exit::Missing,
        () => Exit::Done,
    })
}

/// The selected variants. A folder of the user's joins the catalogue, as with `--subject`.
fn choose(names: &[String], opened: &mut Lab) -> Result<Vec<SubjectChoice>, CliError> {
    let mut chosen = Vec::new();
    if names.is_empty() {
        chosen.extend(competing(&opened.laboratory.catalogue, is_server));
    }
    for name in names {
        let catalogue = &opened.laboratory.catalogue;
        let is_known = catalogue.subject(name.split([':', '?']).next().unwrap_or_default()).is_some();
        let is_path = name.starts_with(['.', '/']) && Path::new(name).is_dir();
        if !is_known && (is_path || Path::new(name).join("subject.toml").is_file()) {
            let subject = local_subject(Path::new(name))?;
            chosen.extend(variants(&subject, is_server));
            let bring = UserServers { folders: vec![subject], ..UserServers::default() };
            bring.enter(&mut opened.laboratory.catalogue)?;
            opened.look_again()?;
        } else {
            chosen.extend(of_catalogue(name, catalogue)?);
        }
    }
    Ok(chosen)
}

fn of_catalogue(name: &str, catalogue: &Catalogue) -> Result<Vec<SubjectChoice>, CliError> {
    let found = named(name, catalogue, is_server)
        .map_err(|wrong| CliError::usage(format!("{wrong}; or name a folder with a subject.toml")))?;
    if found.is_empty() {
        return Err(CliError::usage(format!(
            "`{name}` is a program and no server: what it writes is checked in every run of it (tolok run queue)"
        )));
    }
    Ok(found)
}

fn is_server(subject: &Subject, _variant: &str) -> bool {
    subject.program.is_none()
}

/// One database for each protocol that the subjects' workloads need, if one is available.
fn databases(opened: &Lab, chosen: &[SubjectChoice], stop: &Stop) -> Vec<Loaded> {
    let kinds: [(Wire, &[Engine]); 2] =
        [(Wire::Mysql, &[Engine::Mariadb, Engine::Mysql]), (Wire::Postgres, &[Engine::Postgres])];
    let asked = kinds.into_iter().filter(|(wire, _)| chosen.iter().any(|choice| asks(opened, choice, *wire)));
    asked.filter_map(|(wire, engines)| database(opened, wire, engines, stop)).collect()
}

fn database(opened: &Lab, wire: Wire, engines: &[Engine], stop: &Stop) -> Option<Loaded> {
    let mut databases = engines.iter().map(|engine| Database { engine: *engine, ..Database::default() });
    let Some(database) = databases.find(|database| opened.database_ready(database).is_ok()) else {
        let name = engines.first().and_then(|engine| engine.program()).unwrap_or_default();
        let which = if wire == Wire::Postgres { "no PostgreSQL" } else { "no database" };
        say(format!(
            "there is {which} here, so workloads that need one are not checked; to fetch one: tolok setup {name}"
        ));
        return None;
    };
    let prepared = loaded(opened, &database, stop);
    let prepared =
        prepared.inspect_err(|reason| say(format!("workloads that need a database are not checked: {reason}")));
    prepared.ok().map(|prepared| (wire, database, prepared))
}

/// Whether any of its workloads uses a database with this protocol.
fn asks(opened: &Lab, choice: &SubjectChoice, wire: Wire) -> bool {
    let subject = opened.laboratory.catalogue.subject(&choice.subject);
    let has_driver = subject.is_some_and(|subject| subject.asks(&choice.variant, wire));
    has_driver && served(opened, choice).iter().any(|workload| workload.database)
}

/// The subject's workloads that this checkout has.
fn served(opened: &Lab, choice: &SubjectChoice) -> Vec<Workload> {
    let catalogue = &opened.laboratory.catalogue;
    let names =
        catalogue.subject(&choice.subject).map(|subject| subject.workloads(&choice.variant)).unwrap_or_default();
    names.iter().filter_map(|name| catalogue.choose_workload(name).ok()).collect()
}

/// Checks each subject, prints the results, and counts the subjects that are wrong.
fn each(opened: &Lab, chosen: &[SubjectChoice], databases: &[Loaded], stop: &Stop) -> Result<usize, CliError> {
    let mut workloads: Vec<Workload> = chosen.iter().flat_map(|choice| served(opened, choice)).collect();
    workloads.sort_by(|left, right| left.name.cmp(&right.name));
    workloads.dedup_by(|left, right| left.name == right.name);
    let check_all = |session: &Session<'_>| {
        let mut wrong = 0;
        for choice in chosen.iter().take_while(|_| !stop.is_asked()) {
            say(format!("checking {} …", choice.label));
            let (said, is_right) = one(session, choice, databases);
            wrong += usize::from(!is_right);
            put(&said, None)?;
        }
        Ok(wrong)
    };
    in_session(opened, databases.first().map(|(_, asked, _)| asked), &workloads, check_all)?
}

/// The result for one subject, and whether it is right.
fn one(session: &Session<'_>, choice: &SubjectChoice, databases: &[Loaded]) -> (String, bool) {
    let label = &choice.label;
    let catalogue = &session.laboratory.catalogue;
    let Some(subject) = catalogue.subject(&choice.subject) else { return (String::new(), true) };
    let names = subject.workloads(&choice.variant);
    let unknown: Vec<&str> =
        names.iter().filter(|name| catalogue.workload(name).is_none()).map(String::as_str).collect();
    let is_here = |name: &str| session.laboratory.programs.contains_key(name);
    let can_ask =
        |wire: Wire| subject.asks(&choice.variant, wire) && subject.needs_for(&choice.variant, Some(wire)).all(is_here);
    let mut databases =
        databases.iter().filter(|(wire, ..)| can_ask(*wire)).map(|(_, asked, prepared)| (asked, prepared));
    let database = databases.next();
    let without = |name: &&String| catalogue.workload(name).is_some_and(|workload| !workload.database);
    if database.is_none() && unknown.is_empty() && !names.iter().any(|name| without(&name)) {
        return (format!("{label}: not checked, as all of its workloads ask a database\n"), true);
    }
    match check_over_all(session, choice, database, databases.next()) {
        Ok((found, others)) => {
            let strangers = unknown.iter().map(|name| {
                format!(
                    "there is no workload `{name}`; take it out of `workloads`, or make it: tolok new workload {name}"
                )
            });
            let wrong: Vec<String> = found.differences.into_iter().chain(strangers).collect();
            let verdict = match wrong.as_slice() {
                [] => format!("right ({}){others}", found.workloads.join(", ")),
                _ => "wrong".to_owned(),
            };
            (format!("{label}: {verdict}\n{}{}", indented(&wrong, ""), advised(&found.advice)), wrong.is_empty())
        }
        Err(error) => (format!("{label}: cannot be checked\n  {error}\n"), false),
    }
}

/// Checks everything over the subject's first protocol, and reports problems over the others, with their names. Over those it skips
/// the database: its responses do not depend on the protocol. A second database is checked over the first protocol.
fn check_over_all(
    session: &Session<'_>,
    choice: &SubjectChoice,
    database: Option<(&Database, &Prepared)>,
    other_database: Option<(&Database, &Prepared)>,
) -> Result<(Conformance, String), ServeError> {
    let catalogue = &session.laboratory.catalogue;
    let subject = catalogue.subject(&choice.subject);
    let protocols = subject.map(|subject| subject.protocols(&choice.variant)).unwrap_or_default();
    let (first, others) =
        protocols.split_first().map_or((Protocol::Http1, [].as_slice()), |(first, rest)| (*first, rest));
    let mut found = check_conformance(session, choice, first, database)?;
    let asks_no_database = |name: &String| catalogue.workload(name).is_some_and(|workload| !workload.database);
    let mut over = Vec::new();
    for protocol in others.iter().filter(|_| found.workloads.iter().any(asks_no_database)) {
        let more = check_conformance(session, choice, *protocol, None)?;
        let word = protocol.word();
        found.differences.extend(more.differences.iter().map(|difference| format!("over {word}: {difference}")));
        found.advice.extend(more.advice.iter().map(|advice| format!("over {word}: {advice}")));
        over.push(word);
    }
    let mut others = if over.is_empty() { String::new() } else { format!("; the same over {}", over.join(", ")) };
    if let Some((asked, prepared)) = other_database {
        let more = check_conformance(session, choice, first, Some((asked, prepared)))?;
        let title = asked.engine.title();
        found.differences.extend(more.differences.iter().map(|difference| format!("with {title}: {difference}")));
        found.advice.extend(more.advice.iter().map(|advice| format!("with {title}: {advice}")));
        others += &format!("; with {title}: {}", more.workloads.join(", "));
    }
    Ok((found, others))
}

/// The advice, about requests that no measurement sends and that frameworks answer differently.
fn advised(advice: &[String]) -> String {
    if advice.is_empty() {
        return String::new();
    }
    format!("  advice, as no measurement asks it:\n{}", indented(&once(advice), "  "))
}

/// Reports the same remark about several requests once, for the first: a framework without 405 answers every path alike.
fn once(advice: &[String]) -> Vec<String> {
    let said = |line: &str| line.split_once(": ").map_or(line, |(_, said)| said).to_owned();
    let mut lines: Vec<(&String, usize)> = Vec::new();
    for line in advice {
        match lines.iter_mut().find(|(first, _)| said(first) == said(line)) {
            Some((_, others)) => *others += 1,
            None => lines.push((line, 0)),
        }
    }
    let line = |(first, others): (&String, usize)| match others {
        0 => first.clone(),
        others => format!("{first} ({others} more like it)"),
    };
    lines.into_iter().map(line).collect()
}

fn indented(lines: &[String], by: &str) -> String {
    lines.iter().map(|line| format!("  {by}{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_several_requests_is_said_once() {
        let advice =
            ["POST /a: status 404 instead of 405", "HEAD /a: a body of 2 bytes", "PUT /a: status 404 instead of 405"];
        assert_eq!(
            once(&advice.map(str::to_owned)),
            ["POST /a: status 404 instead of 405 (1 more like it)", "HEAD /a: a body of 2 bytes"]
        );
    }
}
