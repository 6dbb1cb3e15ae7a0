//! `tolok verify`: every figure of a run made again from its raw data, and the reports from the figures.

mod reports;

use tolok_lab::home::Home;
use tolok_lab::store::RunFolder;
use tolok_lab::verify::verify as hold_against_raw_data;
use tolok_model::CheckOutcome;
use tolok_report::verification::text;

use crate::args::{VerifyArgs, VerifyFormat};
use crate::exit::{Complaint, Exit};
use crate::output::{json, put, width};

/// Verifies a run and says what was found; nothing in the run's folder is written.
pub fn verify(args: &VerifyArgs) -> Result<Exit, Complaint> {
    let runs = match &args.runs {
        Some(folder) => folder.clone(),
        None => Home::find()?.runs_folder(),
    };
    let folder = RunFolder::open(&RunFolder::find(&runs, &args.run)?);
    let mut found = hold_against_raw_data(&folder);
    found.checks.extend(reports::checks(&folder));
    found.is_equal = found.checks.iter().all(|check| check.outcome != CheckOutcome::Differs);
    let shown = match args.format {
        VerifyFormat::Text => text(&found, width()),
        VerifyFormat::Json => json(&found)?,
    };
    put(&shown, args.output.as_deref())?;
    Ok(if found.is_equal { Exit::Done } else { Exit::GateFailed })
}
