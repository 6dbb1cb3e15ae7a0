//! The hidden verbs: the processes of a trial's box. Their work is in the lab and host crates.

use std::io;
use std::path::Path;

use tolok_host::isolate::{is_refusal, run_init, run_keeper, run_link, run_namespace_probe};
use tolok_host::timer::run_program_timer;
use tolok_lab::run::{run_block, run_load_part};

use crate::args::{BlockArgs, JobArgs, JobFileArgs};
use crate::exit::{CliError, Exit};

/// Runs the trials of one block. Its job comes from standard input.
pub fn block(_: &BlockArgs) -> Result<Exit, CliError> {
    done(run_block())
}

/// Generates a part of the load of another machine's run. That machine is at the other end of standard input.
pub fn load_part() -> Result<Exit, CliError> {
    done(run_load_part())
}

/// Holds the box together.
pub fn keeper(options: &JobArgs) -> Result<Exit, CliError> {
    done(run_keeper(&options.job))
}

/// Tests whether the box can have namespaces.
pub fn namespace_probe(options: &JobArgs) -> Result<Exit, CliError> {
    done(run_namespace_probe(&options.job))
}

/// Starts the servers of the box.
pub fn init(options: &JobArgs) -> Result<Exit, CliError> {
    done(run_init(&options.job))
}

/// Passes packets between client and subject.
pub fn link(options: &JobArgs) -> Result<Exit, CliError> {
    done(run_link(&options.job))
}

/// Runs a program repeatedly and times it.
pub fn program_timer(options: &JobFileArgs) -> Result<Exit, CliError> {
    done(run_program_timer(options.job.as_deref().unwrap_or(Path::new(""))))
}

fn done(ended: io::Result<()>) -> Result<Exit, CliError> {
    let exit = |error: &io::Error| if is_refusal(error) { Exit::Usage } else { Exit::Internal };
    ended.map(|()| Exit::Done).map_err(|error| CliError::new(exit(&error), error))
}
