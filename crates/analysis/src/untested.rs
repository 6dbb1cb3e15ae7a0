//! What a run did not look at, so that nobody reads it into its figures.

use crate::analyse::Records;
use crate::findings::ScenarioFinding;

/// A sentence each, the weightiest first.
pub(crate) fn untested(_records: &Records, _scenarios: &[ScenarioFinding]) -> Vec<String> {
    Vec::new()
}
