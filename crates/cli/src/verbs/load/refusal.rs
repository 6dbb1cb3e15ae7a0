//! A run that could not take place, as JSON for programs.

use tolok_load::error::LoadError;
use tolok_load::options::Options;
use tolok_model::refusal::{LoadRefusal, RefusalKind};

use crate::args::{LoadArgs, LoadFormat};
use crate::exit::CliError;
use crate::output::{json, put};

/// The complaint of a run that could not start. With `--format json` it is also written where the record would be.
pub fn told(error: LoadError, args: &LoadArgs, options: &Options) -> CliError {
    let kind = kind_of(&error);
    let complaint = CliError::from(error);
    let Some(kind) = kind.filter(|_| args.format == LoadFormat::Json) else { return complaint };
    let sentence = complaint.text.trim_start_matches("error: ").to_owned();
    let refusal = LoadRefusal::new(options.target.url(), kind, sentence);
    match json(&refusal).and_then(|text| put(&text, args.output.as_deref())) {
        Ok(()) => complaint,
        Err(unwritten) => unwritten,
    }
}

/// What was in the way, unless it is the command line.
fn kind_of(error: &LoadError) -> Option<RefusalKind> {
    Some(match error {
        LoadError::Url { .. } | LoadError::Option { .. } => return None,
        LoadError::Host { .. } => RefusalKind::Host,
        LoadError::Unreachable { .. } => RefusalKind::Unreachable,
        LoadError::Tls { .. } => RefusalKind::Tls,
        LoadError::Http2 { .. } => RefusalKind::Http2,
        LoadError::OnGenerator { .. }
        | LoadError::GeneratorLost { .. }
        | LoadError::OpenFiles { .. }
        | LoadError::Thread(_)
        | LoadError::Freezer(_)
        | LoadError::EventQueue(_) => RefusalKind::Machine,
    })
}
