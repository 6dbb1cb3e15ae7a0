//! `tolok list`: subjects, workloads, studies, published tables, tools, runs.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use tolok_lab::home::Home;
use tolok_lab::toolbox::ProgramState;
use tolok_model::shown::{visible, visible_line};
use tolok_model::{Catalogue, Role, Study};
use tolok_serve::{Brief, StateWords, briefs};

use super::audit::transcription;
use crate::args::{ListArgs, Listed};
use crate::exit::{CliError, Exit};
use crate::laboratory::{Lab, TOOLS};
use crate::output::put;
use crate::reports::runs_folder;

pub fn list(args: &ListArgs) -> Result<Exit, CliError> {
    let Some(what) = args.what else {
        put(&things(), None)?;
        return Ok(Exit::Done);
    };
    let text = match what {
        Listed::Subjects => subjects(&Lab::open()?),
        Listed::Workloads => workloads(&Home::find()?.catalogue()?),
        Listed::Studies => studies(&Home::find()?)?,
        Listed::Published => published(&Home::find()?)?,
        Listed::Tools => tools(&Lab::open()?.states),
        Listed::Sources => sources(&Home::find()?)?,
        Listed::Runs => runs(args)?,
    };
    put(&visible(&text), None)?;
    Ok(Exit::Done)
}

/// What can be listed.
fn things() -> String {
    let things = Listed::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let line = |thing: PossibleValue| {
        let help = thing.get_help().map(ToString::to_string).unwrap_or_default();
        format!("tolok list {:<10} {help}\n", thing.get_name())
    };
    things.map(line).collect()
}

fn subjects(opened: &Lab) -> String {
    let mut text = String::new();
    for subject in &opened.laboratory.catalogue.subjects {
        let state = match opened.ready(subject, &subject.default_variant) {
            Ok(()) => "ready".to_owned(),
            Err(reason) => format!("not ready: {reason}"),
        };
        let kind = match (subject.role, &subject.program) {
            (Role::Ceiling, _) => ", the machine's limit",
            (Role::Framework, _) => ", a framework",
            (_, Some(_)) => ", a program that is run to its end",
            _ => "",
        };
        let _ = writeln!(text, "{} · {}{kind} · {state}", subject.id, subject.title);
        for (name, variant) in &subject.variants {
            let mark = if *name == subject.default_variant { '*' } else { ' ' };
            let all = subject.workloads(&subject.default_variant).len();
            let narrowed = variant.workloads.len() < all;
            let only = if narrowed { format!(" ({} only)", variant.workloads.join(", ")) } else { String::new() };
            let _ = writeln!(text, "  {mark} :{name:<27} {}{only}", variant.help);
        }
        for (name, parameter) in &subject.parameters {
            let setting = format!("{name}={}", parameter.default);
            let _ = writeln!(text, "    ?{setting:<27} {}", parameter.help);
        }
        text.push('\n');
    }
    text + "* is the variant that a bare name means. ?name=value changes a parameter. In a study or after --subjects:\n\
            go/nethttp, php/fpm:jit, php/fpm:jit?pool=32, node/http:* (every variant)\n"
}

fn workloads(catalogue: &Catalogue) -> String {
    let mut text = String::new();
    for workload in &catalogue.workloads {
        let parts: Vec<&str> =
            workload.parts().map(|(_, part)| part.name.split('?').next().unwrap_or_default()).collect();
        let request = match workload.list() {
            Some(list) => list.file.clone(),
            None if workload.is_mixed() => parts.join(", "),
            None => format!("{} {}", workload.method, workload.path),
        };
        let _ = writeln!(text, "{:<12} {request:<22} {}", workload.name, workload.summary);
    }
    for workload in &catalogue.programs {
        let values: Vec<String> =
            workload.parameters.iter().map(|(name, parameter)| format!("{name}={}", parameter.default)).collect();
        let kind = if values.is_empty() { "program".to_owned() } else { format!("program ?{}", values.join("&")) };
        let _ = writeln!(text, "{:<12} {kind:<22} {}", workload.name, workload.summary);
    }
    text
}

/// The tools that a study can use instead of tolok's engine.
fn tools(states: &BTreeMap<String, ProgramState>) -> String {
    let mut text = String::new();
    for name in TOOLS {
        let _ = match states.get(name) {
            Some(ProgramState::Ready(program)) => {
                writeln!(text, "{name:<12} ready · {} {}", program.title, program.version)
            }
            Some(ProgramState::Missing { remedy, .. }) => writeln!(text, "{name:<12} not here: {remedy}"),
            Some(ProgramState::Broken { remedy, .. }) => writeln!(text, "{name:<12} does not work: {remedy}"),
            None => continue,
        };
    }
    text
}

fn studies(home: &Home) -> Result<String, CliError> {
    let catalogue = home.catalogue()?;
    let mut text = String::new();
    for name in home.studies()? {
        let (_, _, study): (_, _, Study) = home.study(&name, &catalogue)?;
        let _ = writeln!(text, "{name:<16} {}\n{:<16} {}", study.title, "", study.question);
    }
    Ok(text)
}

/// The sources, each with its parts.
fn sources(home: &Home) -> Result<String, CliError> {
    let mut text = String::new();
    for name in home.sources() {
        let source = home.source(&name)?;
        let _ = writeln!(text, "{name}\n  {}", source.transcription.title);
        let width = source.replication.parts.iter().map(|part| part.name.chars().count()).max().unwrap_or_default();
        for part in &source.replication.parts {
            let _ = writeln!(text, "  {:<width$}  {}", part.name, part.says);
        }
    }
    Ok(text)
}

/// The published tables, each with its title and its authors.
fn published(home: &Home) -> Result<String, CliError> {
    let names = home.published()?;
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for name in &names {
        let table = transcription(&home.published_file(name)?)?;
        let year = table.year.map(|year| year.to_string());
        let source: Vec<String> = table.authors.into_iter().chain(year).collect();
        let _ = writeln!(text, "{name:<width$}  {}", table.title);
        // Some sources name neither author nor year.
        if !source.is_empty() {
            let _ = writeln!(text, "{:<width$}  {}", "", source.join(", "));
        }
    }
    Ok(if text.is_empty() {
        "no published tables here; `tolok help docs/transcribe.md` says how to write one\n".to_owned()
    } else {
        text
    })
}

/// One line per run: how much was measured, whether it is sound, and its title.
fn runs(args: &ListArgs) -> Result<String, CliError> {
    let folder = runs_folder(args.runs.as_deref());
    let all = briefs(folder.clone());
    if all.is_empty() {
        let next = "`tolok quick` makes the first in three minutes, and --runs DIR names another folder";
        return Ok(format!("no runs in {}; {next}\n", folder.display()));
    }
    let width = all.iter().map(|run| run.id.chars().count()).max().unwrap_or_default();
    Ok(all.iter().map(|run| format!("{}\n", visible_line(&line(run, width)))).collect())
}

/// `2026-11-25-104030-quick-7c260f  135/135 trials  ! not sound  A first look · 80 of 135 trials discarded`
fn line(Brief { id, read }: &Brief, width: usize) -> String {
    match read {
        Ok((title, trials, StateWords { sign, word, more, .. })) => {
            let more = if more.is_empty() { String::new() } else { format!(" · {more}") };
            format!("{id:<width$}  {trials:<14}  {:<11}  {title}{more}", format!("{sign} {word}"))
        }
        Err(error) => format!("{id:<width$}  {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_cannot_be_counted_on_has_a_mark_a_word_and_the_reason() {
        let of = |id: &str, class, sign, word, more: &str| {
            let words = StateWords { class, sign, word, more: more.to_owned() };
            Brief { id: id.to_owned(), read: Ok(("A first look".to_owned(), "25/25 trials".to_owned(), words)) }
        };
        let sound = of("one", "ok", "✓", "finished", "");
        let doubtful = of("another", "warn", "!", "not sound", "23 of 25 trials discarded");
        assert_eq!(line(&sound, 7), "one      25/25 trials    ✓ finished   A first look");
        assert_eq!(
            line(&doubtful, 7),
            "another  25/25 trials    ! not sound  A first look · 23 of 25 trials discarded"
        );
    }
}
