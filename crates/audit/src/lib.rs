//! Checks of a published benchmark table: do its figures agree with each other, and with the text?
//!
//! Each law is a module with one function from a [`Transcription`] to findings. A law claims only what the printed figures imply,
//! with their rounding given the benefit of the doubt. What they only suggest is marked as an inference. Pure: no I/O, no
//! clock, no randomness.

mod draft;
mod finding;
mod groups;
mod laws;
mod range;
mod rows;
mod sentences;
mod tools;
mod wording;

pub use finding::{AUDIT_SCHEMA, Audit, AuditFinding, AuditVerdict, Input, LeftOut, Tally, Verdicts};
pub use laws::Law;
pub use sentences::sentence_of_several;

// The schemas are checked in under `schemas/`; only the tests that compare them with the types need schemars.
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use tolok_model::transcription::Transcription;
#[cfg(not(feature = "schema"))]
use tolok_schema::JsonSchema;

/// Holds every law against a transcription. Findings come in the order of the laws, and within a law in that of the file.
pub fn audit(transcription: &Transcription) -> Audit {
    let findings: Vec<AuditFinding> = Law::ALL.into_iter().flat_map(|law| law.check(transcription)).collect();
    Audit::of(transcription, findings)
}
