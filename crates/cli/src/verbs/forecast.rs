//! `tolok forecast`: predicts other numbers of users from a run's service demands.

use tolok_analysis::forecast::{ForecastQuestion, forecast as predict};
use tolok_report::document::Depth;
use tolok_report::print::{markdown, terminal};
use tolok_report::{data, documents};

use crate::args::{ForecastArgs, ForecastFormat};
use crate::exit::{CliError, Exit};
use crate::output::{put, style};
use crate::reports::find_run;
use crate::stored::Stored;

/// Reads a run and prints its predictions.
pub fn forecast(args: &ForecastArgs) -> Result<Exit, CliError> {
    let stored = Stored::read(&find_run(args.runs.as_deref(), &args.run)?)?;
    let found = predict(&stored.records(), &question(args)).map_err(CliError::usage)?;
    let document = |depth| documents::forecast(&found, depth);
    let output = args.output.as_deref();
    let shown = match args.format {
        ForecastFormat::Text => terminal(&document(Depth::Short), &style(output)),
        ForecastFormat::Json => data::json(&found),
        ForecastFormat::Md => markdown(&document(Depth::Full)),
        ForecastFormat::Csv => data::forecast(&found),
    };
    put(&shown, output)?;
    Ok(if found.is_all_refused() { Exit::CannotTell } else { Exit::Done })
}

fn question(args: &ForecastArgs) -> ForecastQuestion {
    ForecastQuestion {
        users: args.users,
        instances: args.instances,
        rtt_s: args.rtt,
        database_rtt_s: args.database_rtt,
        pool: args.pool,
        think_s: args.think_time,
        subject: args.subject.clone(),
        workload: args.workload.clone(),
        mean_below_s: args.objective,
    }
}
