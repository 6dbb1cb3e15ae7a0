//! Checks a published benchmark table: do its figures agree with each other, and with the text?
//!
//! Each law is a module with one function from a [`Transcription`] to findings. A law claims only what the printed
//! figures imply, and gives their rounding the benefit of the doubt. What they only suggest is marked as an inference.
//!
//! This crate is pure: no I/O, no clock, no randomness.

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

// Only the tests that compare these types with the files under `schemas/` need schemars.
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use tolok_model::transcription::Transcription;
#[cfg(not(feature = "schema"))]
use tolok_schema::JsonSchema;

/// Checks a transcription against every law. Findings are in law order, and within a law in file order.
pub fn audit(transcription: &Transcription) -> Audit {
    let findings: Vec<AuditFinding> = Law::ALL.into_iter().flat_map(|law| law.check(transcription)).collect();
    Audit::of(transcription, findings)
}
