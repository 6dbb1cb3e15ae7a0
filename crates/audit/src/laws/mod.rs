//! The laws, one module each.
//!
//! Each module defines its law in `LAW` and has a line in [`laws!`] below.

mod budgets;
mod bytes;
mod censoring;
mod claims;
mod cpu_time;
mod duplicates;
mod generator;
mod goodput;
mod grim;
mod littles_law;
mod noise;
mod order;
mod percentages;
mod repetitions;
mod room;
mod steadiness;
mod totals;
mod work;

use serde::Serialize;
use tolok_model::transcription::Transcription;

use crate::JsonSchema;
use crate::finding::AuditFinding;

/// The name of a law, what it demands, and how it is checked.
struct LawInfo {
    /// Its name in reports: `Little’s law`.
    title: &'static str,
    /// What it demands of figures, as a sentence.
    says: &'static str,
    /// The table columns it reads, worded to follow "it needs".
    needs: &'static str,
    /// Returns all its findings in a transcription.
    check: fn(&Transcription) -> Vec<AuditFinding>,
}

macro_rules! laws {
    ($($law:ident in $module:ident,)+) => {
        /// The laws that figures are checked against, in report order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[allow(missing_docs, reason = "each law describes itself in its module")]
        pub enum Law {
            $($law,)+
        }

        impl Law {
            /// All laws, in report order.
            pub const ALL: [Self; [$(Self::$law),+].len()] = [$(Self::$law),+];

            fn info(self) -> &'static LawInfo {
                match self {
                    $(Self::$law => &$module::LAW,)+
                }
            }
        }
    };
}

laws! {
    Claims in claims,
    LittlesLaw in littles_law,
    Order in order,
    Censoring in censoring,
    Goodput in goodput,
    Totals in totals,
    Room in room,
    Bytes in bytes,
    CpuTime in cpu_time,
    Work in work,
    Percentages in percentages,
    Grim in grim,
    Duplicates in duplicates,
    Noise in noise,
    Repetitions in repetitions,
    Generator in generator,
    Budgets in budgets,
    Steadiness in steadiness,
}

impl Law {
    /// Its name in reports: `Little’s law`.
    pub fn title(self) -> &'static str {
        self.info().title
    }

    /// What it demands of figures, as a sentence.
    pub fn says(self) -> &'static str {
        self.info().says
    }

    /// The table columns it reads: `throughput and mean response time in a closed loop, and its connections`.
    pub fn needs(self) -> &'static str {
        self.info().needs
    }

    /// Whether the table has the law's columns though the law has no finding. Only these laws can read their columns and say nothing.
    pub(crate) fn reads_in_silence(self, transcription: &Transcription) -> bool {
        match self {
            Self::Percentages => percentages::has_columns(transcription),
            Self::Grim => grim::has_columns(transcription),
            _ => false,
        }
    }

    /// All its findings in a transcription, in file order.
    pub(crate) fn check(self, transcription: &Transcription) -> Vec<AuditFinding> {
        (self.info().check)(transcription)
    }
}
