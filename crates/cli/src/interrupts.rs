//! Ctrl-C and SIGTERM.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::{CliError, Exit};

/// Calls `act` on each signal from now on, in a separate thread.
pub fn on_interrupt(mut act: impl FnMut() + Send + 'static) -> Result<(), CliError> {
    let failed = |error| {
        CliError::new(
            Exit::Internal,
            format!(
                "cannot listen for Ctrl-C: {error}. A sandbox or the limits of open files and processes (`ulimit -n`, `ulimit -u`) may forbid it"
            ),
        )
    };
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(failed)?;
    let listening = std::thread::Builder::new().spawn(move || signals.forever().for_each(|_| act()));
    listening.map(drop).map_err(failed)
}
