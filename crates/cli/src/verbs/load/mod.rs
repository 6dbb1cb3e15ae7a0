//! `tolok load`: the load engine alone.

mod capacity;
mod csv;
mod curl;
mod document;
mod junit;
mod options;
mod others;
mod plan_words;
mod progress;
mod refusal;
mod schedule;
mod session;
mod slices;
pub(super) mod style;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tolok_load::error::LoadError;
use tolok_load::generators::{TOKEN, run_on};
use tolok_load::record::Record;
use tolok_load::threshold::{KeptOrCrossed, Metric, Threshold};
use tolok_report::print::Style;

use crate::args::{LoadArgs, LoadFormat};
use crate::exit::{CliError, Exit};
use crate::interrupts::on_interrupt;
use crate::output::{json, put, width};
pub use options::body_bytes;
use options::{Asked, asked};
use others::Before;
use progress::Progress;

/// Generates load on a URL and prints the result.
pub fn load(args: &LoadArgs) -> Result<Exit, CliError> {
    if let (Some(file), Some(lines)) = (&args.slices, &args.slices_out) {
        return slices::load(args, file, lines);
    }
    let taken = args.curl.as_deref().map(|command| curl::with_request(args, command)).transpose();
    let taken = taken.map_err(CliError::usage)?;
    let args = taken.as_ref().unwrap_or(args);
    refuse_script(&args.url)?;
    if args.capacity {
        return capacity::find(args);
    }
    // This comes first: a wrong command line is refused before anything starts.
    let mut asked = asked(args)?;
    // Only a record for programs contains them; an hour takes at least 30 MB.
    asked.options.second_histograms = args.events || args.format == LoadFormat::Json;
    if args.own_session
        && let Some(exit) = session::enter()?
    {
        return Ok(exit);
    }
    let stop = hear_interrupts()?;
    let before = Before::look(args);
    let record = measure(&asked, args, &stop);
    let mut record = record.map_err(|error| refusal::told(error, args, &asked.options))?;
    if let Some(reason) = before.filter(|_| !record.interrupted).and_then(|before| before.doubt()) {
        record.verdict.distrust(reason);
    }
    let file = args.output.as_deref().filter(|path| *path != Path::new("-"));
    put(&shown(&record, args.format, file.is_some())?, file)?;
    // The lab judges the record itself, and wants it even with failures.
    if args.events && !record.interrupted {
        return Ok(Exit::Done);
    }
    Ok(exit_of(&record, &asked.judgement.thresholds))
}

/// Refuses scripts, which are not addresses.
fn refuse_script(url: &str) -> Result<(), CliError> {
    let is_script = [".js", ".mjs", ".ts"].iter().any(|ending| url.ends_with(ending)) && !url.contains("://");
    if !is_script {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "{url} is a script, and load takes an address: tolok load http://HOST:PORT/PATH. A study runs a script by k6: tool = {{ \
         name = \"k6\", script = \"{url}\" }}; `tolok help docs/tools.md` shows the rest"
    )))
}

/// Runs once, with progress.
fn measure(asked: &Asked, args: &LoadArgs, stop: &AtomicBool) -> Result<Record, LoadError> {
    let mut progress = Progress::new(&asked.options, args.events);
    let (options, judgement) = (&asked.options, &asked.judgement);
    let record = match args.generators.as_slice() {
        [] => tolok_load::run_with(options, judgement, stop, &mut |event| progress.tell(&event)),
        generators => {
            let token = std::env::var(TOKEN).unwrap_or_default();
            run_on(generators, &token, (options, judgement), stop, &mut |event| progress.tell(&event))
        }
    };
    if let Err(LoadError::GeneratorLost { generator, reason }) = &record {
        progress.tell_of_loss(generator, reason);
    }
    progress.end();
    record
}

/// A signal so soon after another is a duplicate: `timeout` and some shells signal both a process and its group.
const ECHO: Duration = Duration::from_millis(300);

/// The first SIGINT or SIGTERM ends the run in an orderly way; the second ends tolok.
fn hear_interrupts() -> Result<Arc<AtomicBool>, CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    let mut first: Option<Instant> = None;
    on_interrupt(move || {
        match first {
            None => asked.store(true, Ordering::Relaxed),
            Some(at) if at.elapsed() > ECHO => signal_hook::low_level::exit(Exit::Interrupted as i32),
            Some(_) => {}
        }
        first.get_or_insert_with(Instant::now);
    })?;
    Ok(stop)
}

fn shown(record: &Record, format: LoadFormat, is_for_file: bool) -> Result<String, CliError> {
    Ok(match format {
        LoadFormat::Json => json(record)?,
        LoadFormat::Md => document::in_markdown(record),
        LoadFormat::Csv => csv::csv(record),
        LoadFormat::Junit => junit::junit(record),
        LoadFormat::Text => document::text(record, Style { colour: !is_for_file, width: width() }),
    })
}

/// The exit code. Whether the figures can be trusted comes before what they show.
fn exit_of(record: &Record, thresholds: &[Threshold]) -> Exit {
    let failed = record.ledger.failed + record.drain.failed;
    // A user who limits failures has defined how many are too many.
    let failures_are_judged = thresholds.iter().any(|threshold| {
        matches!(
            threshold.metric,
            Metric::FailedShare | Metric::FailedCount | Metric::GoodputShare | Metric::GoodputRate
        )
    });
    let no_answer = record.ledger.good + record.drain.good + record.warm_up.carried_over_good == 0;
    if record.interrupted {
        Exit::Interrupted
    } else if !record.verdict.trusted || no_answer || (failed > 0 && !failures_are_judged) {
        Exit::GateFailed
    } else if record.thresholds.iter().any(|judged| judged.outcome != KeptOrCrossed::Kept) {
        // A figure that does not exist does not keep its threshold.
        Exit::ThresholdCrossed
    } else {
        Exit::Done
    }
}

#[cfg(test)]
mod tests;
