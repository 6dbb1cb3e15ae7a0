//! Reports a load that could not run, as JSON for programs.

use tolok_load::error::LoadError;
use tolok_load::options::Options;
use tolok_model::refusal::{LoadRefusal, RefusalKind};

use crate::args::{LoadArgs, LoadFormat};
use crate::exit::CliError;
use crate::output::{json, put};

/// The error of a run that could not start. With `--format json` it is also written in place of the record.
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

/// The obstacle, or `None` if the command line is wrong.
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
