//! `tolok load --slices`: loads several servers in turns.

use std::path::Path;

use clap::Parser;
use tolok_load::options::Options;
use tolok_load::slices::{self, SliceEvent, SlicedTarget, SlicesJob};

use super::hear_interrupts;
use super::options::asked;
use super::session;
use crate::args::LoadArgs;
use crate::exit::{CliError, Exit};
use crate::output::{json, put, say};

/// Parses a target's arguments.
#[derive(Debug, Parser)]
#[command(name = "tolok load", no_binary_name = true)]
struct Target {
    #[command(flatten)]
    load: LoadArgs,
}

/// Runs the slices of a file, and writes their lines and the record.
pub fn load(args: &LoadArgs, file: &Path, lines: &Path) -> Result<Exit, CliError> {
    let job = read(file)?;
    let targets = job.targets.iter().map(|target| options(target, file)).collect::<Result<Vec<Options>, CliError>>()?;
    if args.own_session
        && let Some(exit) = session::enter()?
    {
        return Ok(exit);
    }
    let stop = hear_interrupts()?;
    let mut tell = |event: SliceEvent| {
        if let Ok(line) = serde_json::to_string(&event) {
            say(&line);
        }
    };
    let mut silent = |_| {};
    let events: &mut dyn FnMut(SliceEvent) = if args.events { &mut tell } else { &mut silent };
    let (record, slices) = slices::run(&job, &targets, &stop, events)?;
    let mut text = String::new();
    for slice in &slices {
        text +=
            &(serde_json::to_string(slice).map_err(|error| CliError::new(Exit::Internal, error.to_string()))? + "\n");
    }
    put(&text, Some(lines))?;
    put(&json(&record)?, args.output.as_deref().filter(|path| *path != Path::new("-")))?;
    Ok(if record.interrupted { Exit::Interrupted } else { Exit::Done })
}

fn read(file: &Path) -> Result<SlicesJob, CliError> {
    let wrong = |error: String| CliError::new(Exit::Usage, format!("--slices {}: {error}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(format!("cannot read it: {error}")))?;
    let job: SlicesJob = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    job.problem().map_or(Ok(job), |problem| Err(wrong(problem)))
}

/// A target's options, parsed like a command line.
fn options(target: &SlicedTarget, file: &Path) -> Result<Options, CliError> {
    let wrong = |error: String| {
        let first = error.lines().next().unwrap_or_default();
        CliError::new(Exit::Usage, format!("--slices {}: target `{}`: {first}", file.display(), target.name))
    };
    let read = Target::try_parse_from(&target.arguments).map_err(|error| wrong(error.to_string()))?;
    Ok(asked(&read.load)?.options)
}
