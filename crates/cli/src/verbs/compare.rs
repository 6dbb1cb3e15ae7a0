//! `tolok compare`: two runs beside each other, with an exit code for continuous integration.

use tolok_analysis::{
    CompareOutcome, CompareRefusal, CompareRequest, ComparedRun, Findings, UnmatchedCase, analyse, compare_runs,
};
use tolok_report::document::Depth;
use tolok_report::print::{markdown, terminal};
use tolok_report::{data, documents};

use crate::args::{CompareArgs, CompareFormat};
use crate::exit::{CliError, Exit};
use crate::output::{put, style};
use crate::reports::find_run;
use crate::stored::Stored;

/// A message names this many cases.
const NAMED: usize = 5;

/// Compares two runs and prints what follows.
pub fn compare(args: &CompareArgs) -> Result<Exit, CliError> {
    let stored = |name: &str| Ok::<_, CliError>(Stored::read(&find_run(args.runs.as_deref(), name)?)?);
    let (before, after) = (stored(&args.before)?, stored(&args.after)?);
    let request = CompareRequest {
        metrics: args.metric.iter().map(|name| name.metric()).collect(),
        threshold: args.threshold,
        allow_differences: args.allow_differences,
    };
    let records = [before.records(), after.records()];
    let findings = records.each_ref().map(analyse);
    let side = |place: usize| ComparedRun { records: &records[place], findings: &findings[place] };
    let found = compare_runs(&side(0), &side(1), &request).map_err(|refusal| refused(&refusal, &findings))?;
    let document = |depth| documents::compare(&found, args.verbose, depth);
    let output = args.output.as_deref();
    let text = match args.format {
        CompareFormat::Text => terminal(&document(Depth::Short), &style(output)),
        CompareFormat::Md => markdown(&document(Depth::Full)),
        CompareFormat::Json => data::json(&found),
        CompareFormat::Csv => data::comparison(&found),
    };
    put(&text, output)?;
    Ok(match found.outcome {
        CompareOutcome::NoRegression => Exit::Done,
        CompareOutcome::Regression => Exit::ThresholdCrossed,
        CompareOutcome::CannotTell => Exit::CannotTell,
        CompareOutcome::NotSound => Exit::GateFailed,
    })
}

/// A refusal is not a result: the request itself has to change.
fn refused(refusal: &CompareRefusal, findings: &[Findings; 2]) -> CliError {
    let [before, after] = findings.each_ref().map(|findings| &findings.run.id);
    let message = match refusal {
        CompareRefusal::SameRun => format!("both are the run {before}; to compare a run with itself says nothing (tolok list runs shows all)"),
        CompareRefusal::NoSuchFigure => {
            "no scenario of these runs has any of the figures that --metric names; programs have wall, cpu and memory, all \
             others have all but wall"
                .to_owned()
        }
        CompareRefusal::NothingInCommon { before: of_before, after: of_after } => format!(
            "the runs have no case in common: no subject of the one stands under the same scenario in the other\n  \
             {before}: {}\n  {after}: {}\nrun the same study, or one that shares scenarios and subjects with it, twice",
            listed(of_before),
            listed(of_after)
        ),
        CompareRefusal::Conditions(differences) => format!(
            "the runs {before} and {after} were taken in different conditions, so a difference between them need not be \
             one of the programs\n{}\
             to compare them nevertheless, and have the result marked: --allow-differences",
            terminal(&documents::conditions(differences), &style(None))
        ),
    };
    CliError::usage(message)
}

fn listed(cases: &[UnmatchedCase]) -> String {
    let name = |case: &UnmatchedCase| format!("{} in {}", case.subject, case.scenario);
    let more = cases.len().saturating_sub(NAMED);
    let named: Vec<String> = cases.iter().take(NAMED).map(name).collect();
    match (named.is_empty(), more) {
        (true, _) => "none".to_owned(),
        (false, 0) => named.join(", "),
        (false, more) => format!("{}, and {more} more", named.join(", ")),
    }
}
