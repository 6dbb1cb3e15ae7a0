//! The response that decides verdicts.

use serde::{Deserialize, Serialize};

use crate::JsonSchema;

/// The response that decides verdicts, tiers and order. The other stands beside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Judge {
    /// Correct responses per second.
    #[default]
    Goodput,
    /// CPU time of the subject per correct response.
    Cpu,
}

impl Judge {
    /// Whether it is what a study has that names none.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
