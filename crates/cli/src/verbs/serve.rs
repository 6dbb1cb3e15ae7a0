//! `tolok serve`: serves pages of the stored runs and of a current one, until Ctrl-C.

use tolok_serve::{Options, ServeError, Server};

use super::report::open_as_asked;
use crate::args::ServeArgs;
use crate::exit::{CliError, Exit};
use crate::output::{put, say};
use crate::reports::runs_folder;

/// Serves the pages and prints their address.
pub fn serve(args: &ServeArgs) -> Result<Exit, CliError> {
    let runs = runs_folder(args.runs.as_deref());
    let server = Server::bind(&Options { runs: runs.clone(), port: args.port }).map_err(failed)?;
    let address = server.url();
    say(format!("The runs in {}, for this machine only. Ctrl-C ends it.", runs.display()));
    put(&format!("{address}\n"), None)?;
    if args.open {
        open_as_asked(&address);
    }
    server.run().map_err(failed)?;
    Ok(Exit::Done)
}

fn failed(error: ServeError) -> CliError {
    let exit = match error {
        ServeError::Listen { .. } => Exit::Usage,
        ServeError::Runtime(_) => Exit::Internal,
    };
    CliError::new(exit, error)
}
