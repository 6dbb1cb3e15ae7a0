//! `tolok compare`: compares runs before and after a change, with an exit code for continuous integration.

use std::collections::BTreeSet;

use tolok_analysis::{
    CompareOutcome, CompareRefusal, CompareRequest, ComparedRun, Difference, FEWEST_RUNS, LeftOutRun, UnmatchedCase,
    analyse, compare_runs, history,
};
use tolok_report::document::Depth;
use tolok_report::print::{html, markdown, terminal};
use tolok_report::{data, documents};
use tolok_store::RunFolder;

use crate::args::{CompareArgs, CompareFormat};
use crate::exit::{CliError, Exit};
use crate::output::{put, style};
use crate::reports::{find_run, runs_folder};
use crate::stored::Stored;

/// Compares runs and prints the result.
pub fn compare(args: &CompareArgs) -> Result<Exit, CliError> {
    if !args.history.is_empty() {
        return over_time(args);
    }
    if let (Some(a), None) = (&args.a, &args.b) {
        let message = format!(
            "compare takes two runs, and this is one; name another: tolok compare {a} B. To read it: tolok report {a}"
        );
        return Err(CliError::usage(message));
    }
    let sides = [names(&args.before, args.a.as_ref()), names(&args.after, args.b.as_ref())];
    let stored = |name: &&String| Ok::<_, CliError>(Stored::read(&find_run(args.runs.as_deref(), name)?)?);
    let read = |names: &Vec<&String>| names.iter().map(stored).collect::<Result<Vec<Stored>, CliError>>();
    let stored = [read(&sides[0])?, read(&sides[1])?];
    let records = stored.each_ref().map(|runs| runs.iter().map(Stored::records).collect::<Vec<_>>());
    let findings = records.each_ref().map(|runs| runs.iter().map(analyse).collect::<Vec<_>>());
    let side = |side: usize| {
        let both = records[side].iter().zip(&findings[side]);
        both.map(|(records, findings)| ComparedRun { records, findings }).collect::<Vec<ComparedRun>>()
    };
    let ids = findings.each_ref().map(|runs| runs.iter().map(|of| of.run.id.as_str()).collect::<Vec<_>>().join(", "));
    let found = compare_runs(&side(0), &side(1), &request(args)).map_err(|refusal| refused(&refusal, &ids))?;
    let document = |depth| documents::compare(&found, args.verbose, depth);
    let output = args.output.as_deref();
    let text = match args.format {
        CompareFormat::Text => terminal(&document(Depth::Short), &style(output)),
        CompareFormat::Md => markdown(&document(Depth::Full)),
        CompareFormat::Json => data::json(&found),
        CompareFormat::Csv => data::comparison(&found),
        CompareFormat::Html => html(&document(Depth::Page).under_its_title()),
    };
    put(&text, output)?;
    Ok(match found.outcome {
        CompareOutcome::NoRegression => Exit::Done,
        CompareOutcome::Regression => Exit::ThresholdCrossed,
        // One run of each must not fail a pipeline: the difference may not come from the version.
        CompareOutcome::Changed | CompareOutcome::CannotTell => Exit::CannotTell,
        CompareOutcome::NotSound => Exit::GateFailed,
    })
}

fn request(args: &CompareArgs) -> CompareRequest {
    CompareRequest {
        metrics: args.metric.iter().map(|name| name.metric()).collect(),
        threshold: args.threshold,
        allow_differences: args.allow_differences,
    }
}

/// Prints the history of runs, for people. Only several runs of each side can show a regression.
fn over_time(args: &CompareArgs) -> Result<Exit, CliError> {
    let stored = of_history(args)?.iter().map(Stored::read).collect::<Result<Vec<Stored>, _>>()?;
    let records: Vec<_> = stored.iter().map(Stored::records).collect();
    let findings: Vec<_> = records.iter().map(analyse).collect();
    let both = records.iter().zip(&findings);
    let runs: Vec<ComparedRun> = both.map(|(records, findings)| ComparedRun { records, findings }).collect();
    let found = history(&runs, &request(args)).map_err(|left_out| too_few(runs.len(), &left_out))?;
    let document = |depth| documents::history(&found, args.verbose, depth);
    let output = args.output.as_deref();
    let text = match args.format {
        CompareFormat::Text => terminal(&document(Depth::Short), &style(output)),
        CompareFormat::Md => markdown(&document(Depth::Full)),
        CompareFormat::Json => data::json(&found),
        CompareFormat::Csv => data::history(&found),
        CompareFormat::Html => html(&document(Depth::Page).under_its_title()),
    };
    put(&text, output)?;
    Ok(if found.can_tell() { Exit::Done } else { Exit::CannotTell })
}

/// The named runs; if the only name is a study's, all of its runs.
fn of_history(args: &CompareArgs) -> Result<Vec<RunFolder>, CliError> {
    if let [study] = args.history.as_slice() {
        let all = RunFolder::all_of(&runs_folder(args.runs.as_deref()), study);
        if !all.is_empty() {
            return Ok(all.iter().map(|path| RunFolder::open(path)).collect());
        }
    }
    args.history.iter().map(|name| find_run(args.runs.as_deref(), name)).collect()
}

fn too_few(given: usize, left_out: &[LeftOutRun]) -> CliError {
    let words = |run: &LeftOutRun| {
        // Each once: several scenarios may differ in the same condition.
        let what: BTreeSet<&str> = run.conditions.iter().map(|one: &Difference| one.what.as_str()).collect();
        let what: Vec<&str> = what.into_iter().collect();
        let what = if what.is_empty() { "no common case".to_owned() } else { what.join(", ") };
        format!("\n  {}: {what}", run.id)
    };
    let list: String = left_out.iter().map(words).collect();
    let list = if list.is_empty() {
        String::new()
    } else {
        format!("; left out, because their conditions are not those of the newest run (--allow-differences):{list}")
    };
    let comparable = given - left_out.len();
    CliError::usage(format!(
        "a history needs at least {FEWEST_RUNS} comparable runs of one study; found {comparable}{list}"
    ))
}

/// The runs of one side: those of the option, or the positional one.
fn names<'a>(several: &'a [String], one: Option<&'a String>) -> Vec<&'a String> {
    several.iter().chain(one).collect()
}

/// A refusal is not a result: the user must change the request.
fn refused(refusal: &CompareRefusal, [before, after]: &[String; 2]) -> CliError {
    let message = match refusal {
        CompareRefusal::SameRun { id } => format!("the run {id} is named twice; comparing a run with itself shows nothing (tolok list runs shows all)"),
        CompareRefusal::TooFewRuns => "one side has a single run, which cannot show how its runs differ; name two or more runs with --before and with --after, or one run of each: tolok compare A B"
            .to_owned(),
        CompareRefusal::NoSuchFigure => {
            "no scenario of these runs has any of the figures that --metric names; programs have wall, cpu and memory, all \
             others have all but wall"
                .to_owned()
        }
        CompareRefusal::NothingInCommon { before: of_before, after: of_after } => format!(
            "the runs have no case in common: no subject of one appears under the same scenario in the other\n  {before}: {}\n  {after}: {}\nto compare a server with its earlier self, run the same study twice under one name; to compare two servers, run both at once: tolok duel ONE OTHER",
            UnmatchedCase::listed(of_before),
            UnmatchedCase::listed(of_after)
        ),
        CompareRefusal::Conditions(differences) => format!(
            "the runs {before} and {after} were made under different conditions, so a difference may not come from the programs\n{}to compare them anyway, with a mark on the result: --allow-differences",
            terminal(&documents::conditions(differences), &style(None))
        ),
    };
    CliError::usage(message)
}
