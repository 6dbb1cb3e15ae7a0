//! `tolok forecast`: what a run's service demands say of numbers of users that nobody measured.

use tolok_analysis::forecast::{ForecastQuestion, forecast as predict};
use tolok_analysis::{Names, Records};
use tolok_lab::home::Home;
use tolok_lab::store::RunFolder;
use tolok_report::data::{self, json};
use tolok_report::forecast::{markdown, text};

use crate::args::{ForecastArgs, ForecastFormat};
use crate::exit::{Complaint, Exit};
use crate::output::{put, width};

/// Columns of a text in a file.
const PAGE: u16 = 100;

/// Reads a run and says what it predicts.
pub fn forecast(args: &ForecastArgs) -> Result<Exit, Complaint> {
    let runs = args.runs.clone().map_or_else(|| Home::find().map(|home| home.runs_folder()), Ok)?;
    let folder = RunFolder::open(&RunFolder::find(&runs, &args.run)?);
    let stored = folder.read()?;
    let names: Names = folder.names()?;
    let records = Records {
        run: &stored.run,
        plan: &stored.plan,
        names: &names,
        trials: &stored.trials,
        diagnoses: &stored.diagnoses,
        records_sha256: stored.records_sha256.as_deref(),
    };
    let found = predict(&records, &question(args)).map_err(|reason| Complaint::new(Exit::Usage, reason))?;
    let shown = match args.format {
        ForecastFormat::Text => text(&found, if args.output.is_some() { PAGE } else { width() }),
        ForecastFormat::Json => json(&found),
        ForecastFormat::Md => markdown(&found),
        ForecastFormat::Csv => data::forecast(&found),
    };
    put(&shown, args.output.as_deref())?;
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
