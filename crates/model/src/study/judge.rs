//! The response that decides verdicts.

use serde::{Deserialize, Serialize};

use crate::JsonSchema;

/// The response that decides verdicts, tiers and order. Reports show the other next to it.
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
    /// Whether it is the default of a study that names none.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The word for the better of two.
    pub fn comparative(self) -> &'static str {
        match self {
            Self::Goodput => "faster",
            Self::Cpu => "more CPU-efficient",
        }
    }

    /// The word for the best of all.
    pub fn superlative(self) -> &'static str {
        match self {
            Self::Goodput => "fastest",
            Self::Cpu => "most CPU-efficient",
        }
    }

    /// What is compared.
    pub fn response(self) -> &'static str {
        match self {
            Self::Goodput => "correct responses per second",
            Self::Cpu => "CPU time per correct response",
        }
    }
}
