//! Programs that are not servers: they run to completion, and tolok measures how long that takes.

pub(crate) mod reading;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::figures::count;
use crate::tool::{Timer, is_own_timer};
use crate::units::duration_words;
use crate::workload::data::{WorkloadParameter, choose_values, folder_name};

/// What programs must do, and what they must print.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramWorkload {
    /// The name of its folder. Once a study has chosen it, this includes the parameters that the study sets:
    /// `queue-sync?n=1000`.
    pub name: String,
    pub title: String,
    pub summary: String,
    /// Arguments after the subject's command, each a template over the parameters.
    pub arguments: Vec<String>,
    /// Arguments with which the program starts and ends without doing any work.
    pub floor: Vec<String>,
    /// The exact standard output that it must write: also a template.
    pub output: String,
    /// The exact standard output that it must write when it does no work.
    pub floor_output: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, WorkloadParameter>,
    /// The values of the parameters, including defaults, once a study has chosen it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, u32>,
}

/// How to start a subject that is a program. The workload's arguments follow the command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SubjectProgram {
    /// The command, each part a template; empty parts are dropped.
    pub command: Vec<String>,
    /// Extra environment variables, each value a template.
    pub env: BTreeMap<String, String>,
}

/// How often a program runs in one trial, or for each case in one launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Runs {
    /// Maximum number of counted runs.
    pub runs: u32,
    /// Uncounted runs before them.
    pub warmup_runs: u32,
    /// No further run starts once the counted ones have taken this long, in seconds. There is at least one.
    pub at_most_s: f64,
    /// A longer run is ended, and its trial fails, in seconds.
    pub timeout_s: f64,
}

/// A program's workload, how often it runs, and what times it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramScenario {
    /// A name for folders and tables: `queue-sync-n1000`, `queue-sync-n1000-hyperfine`.
    pub id: String,
    /// Id of its environment; empty if there is only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub environment: String,
    /// The workload, with the parameters that the study sets: `queue-sync?n=1000`.
    pub workload: String,
    pub runs: Runs,
    #[serde(default, skip_serializing_if = "is_own_timer")]
    pub timer: Timer,
    /// Whether its cases take turns in a launch, run by run. Otherwise each case has its own trials.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_turns: bool,
}

impl ProgramScenario {
    /// The name of its workload without parameters, which subjects list.
    pub fn workload_name(&self) -> &str {
        self.workload.split('?').next().unwrap_or_default()
    }

    /// A short description of its runs. Figures from turns are never shown without it.
    pub fn describe(&self) -> String {
        let turns = if self.in_turns { " per launch, in turns" } else { "" };
        format!("{}{turns}", self.runs.describe())
    }
}

impl Runs {
    /// A short description for tables: `10 runs after 1 warm-up run, at most 5 s`.
    pub fn describe(&self) -> String {
        let number = |number: u32| if number == 1 { "1 run".to_owned() } else { format!("{number} runs") };
        let warm_up = match self.warmup_runs {
            0 => String::new(),
            1 => " after 1 warm-up run".to_owned(),
            runs => format!(" after {runs} warm-up runs"),
        };
        format!("{}{warm_up}, at most {}", number(self.runs), duration_words(self.at_most_s))
    }
}

impl ProgramWorkload {
    /// The workload with the parameters that `query` sets, as for a [`crate::Workload`].
    pub(crate) fn choose(&self, query: &str) -> Result<Self, (String, Option<String>)> {
        let chosen = choose_values(&self.name, &self.parameters, query)?;
        let said: Vec<String> =
            chosen.values.iter().map(|(name, value)| format!("{name} = {}", count((*value).into()))).collect();
        let title = if said.is_empty() { self.title.clone() } else { format!("{}, {}", self.title, said.join(", ")) };
        let name = if chosen.says_any { format!("{}{}", self.name, chosen.tail) } else { self.name.clone() };
        Ok(Self { name, title, values: chosen.values, ..self.clone() })
    }

    /// Its name, suitable for a folder: `queue-sync-n1000`.
    pub(crate) fn folder_name(&self) -> String {
        folder_name(&self.name)
    }
}
