//! A subject from its sources to its first correct response: response bodies, templates, build, probe.

mod assets;
mod build;
mod check;
mod log;
mod png;
mod requests;
mod template;

pub use assets::{AssetError, Assets};
pub(crate) use assets::{DRAWN_TYPE, SENT_TYPE, body_sent};
pub use build::{BuildError, BuildJob, Builds, fingerprint};
pub use check::check;
pub use log::{log_tail, log_tail_in, telling_line};
pub use png::noise_png;
pub use template::{
    BuildNames, DatabaseNames, ProgramNames, Render, TemplateError, TemplateNames, TlsNames, program_names,
};
pub use tolok_load::ask::{Answer, ProbeError, ProbeTarget, Question, Rehearsal, Speech, ask, ask_by_name, ask_while};
use tolok_model::Protocol;

/// How the lab's own requests speak a scenario's protocol.
pub(crate) fn speech(protocol: Protocol) -> Speech {
    Speech { tls: protocol.is_encrypted(), http2: protocol.is_http2() }
}
