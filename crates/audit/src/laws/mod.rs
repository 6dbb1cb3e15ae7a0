//! The laws, one module each.

use tolok_model::transcription::Transcription;

use crate::finding::AuditFinding;

/// A law: what it finds in a transcription.
type Check = fn(&Transcription) -> Vec<AuditFinding>;

/// All of them, in the order of [`crate::Law`].
pub(crate) const ALL: &[Check] = &[];
