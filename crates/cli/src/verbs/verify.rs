//! `tolok verify`: recomputes every figure of a run from its raw data, and the reports from the figures.

mod reports;

use tolok_model::CheckOutcome;
use tolok_report::documents::verification;
use tolok_report::print::terminal;
use tolok_store::verify::verify as hold_against_raw_data;

use crate::args::{VerifyArgs, VerifyFormat};
use crate::exit::{CliError, Exit};
use crate::output::{json, put, style};
use crate::reports::find_run;

/// Verifies a run and prints the result. It writes nothing into the run's folder.
pub fn verify(args: &VerifyArgs) -> Result<Exit, CliError> {
    let folder = find_run(args.runs.as_deref(), &args.run)?;
    let mut found = hold_against_raw_data(&folder);
    found.checks.extend(reports::checks(&folder));
    found.is_equal = found.checks.iter().all(|check| check.outcome != CheckOutcome::Differs);
    let output = args.output.as_deref();
    let shown = match args.format {
        VerifyFormat::Text => terminal(&verification(&found), &style(output)),
        VerifyFormat::Json => json(&found)?,
    };
    put(&shown, output)?;
    Ok(if found.is_equal { Exit::Done } else { Exit::GateFailed })
}
