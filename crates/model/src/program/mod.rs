//! Programs that are no servers: they run to their end, and tolok measures how long that takes.

pub(crate) mod reading;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::tool::{Timer, is_own_timer};
use crate::units::duration_words;
use crate::workload::data::{WorkloadParameter, choose_values, folder_name, grouped};

/// What programs are asked to do, and what they must say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramWorkload {
    /// The name of its folder; with the parameters that a study sets once it has chosen: `queue-sync?n=1000`.
    pub name: String,
    pub title: String,
    pub summary: String,
    /// Arguments behind the subject's command, each a template that has the parameters.
    pub arguments: Vec<String>,
    /// Arguments with which the program starts and ends and does none of the work.
    pub floor: Vec<String>,
    /// All that it must write to its standard output: a template, too.
    pub output: String,
    /// All that it must write there if it does none of the work.
    pub floor_output: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, WorkloadParameter>,
    /// The values of the parameters, defaults included, once a study has chosen.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, u32>,
}

/// How a subject that is a program is started; the workload's arguments come behind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SubjectProgram {
    /// The command, each part a template; parts that render to nothing are dropped.
    pub command: Vec<String>,
    /// Added environment, each value a template.
    pub env: BTreeMap<String, String>,
}

/// How often a program is run in one trial, or by each case in one launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Runs {
    /// Runs that count, at most.
    pub runs: u32,
    /// Runs before them that do not.
    pub warmup_runs: u32,
    /// No further run starts once those that count have taken this long, in seconds. There is at least one.
    pub at_most_s: f64,
    /// A run that takes longer is ended, and the trial has failed, in seconds.
    pub timeout_s: f64,
}

/// A program's workload, how often it is run, and what times it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramScenario {
    /// A name for folders and tables: `queue-sync-n1000`, `queue-sync-n1000-hyperfine`.
    pub id: String,
    /// Id of its environment; empty where there is one only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub environment: String,
    /// The workload, with the parameters that the study sets: `queue-sync?n=1000`.
    pub workload: String,
    pub runs: Runs,
    #[serde(default, skip_serializing_if = "is_own_timer")]
    pub timer: Timer,
    /// Whether its cases take turns in a launch, run by run. Otherwise each case has trials of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_turns: bool,
}

impl ProgramScenario {
    /// The name of its workload, without the parameters that are set: what subjects say that they serve.
    pub fn workload_name(&self) -> &str {
        self.workload.split('?').next().unwrap_or_default()
    }

    /// How often it is run, in short words. Figures from turns are never shown without saying so.
    pub fn describe(&self) -> String {
        let turns = if self.in_turns { " per launch, in turns" } else { "" };
        format!("{}{turns}", self.runs.describe())
    }
}

impl Runs {
    /// Short words for tables: `10 runs after 1 that does not count, at most 5s`.
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
    /// The workload with the parameters that `query` sets, as [`crate::Workload`] has it.
    pub(crate) fn choose(&self, query: &str) -> Result<Self, (String, Option<String>)> {
        let chosen = choose_values(&self.name, &self.parameters, query)?;
        let said: Vec<String> =
            chosen.values.iter().map(|(name, value)| format!("{name} = {}", grouped(*value))).collect();
        let title = if said.is_empty() { self.title.clone() } else { format!("{}, {}", self.title, said.join(", ")) };
        let name = if chosen.says_any { format!("{}{}", self.name, chosen.tail) } else { self.name.clone() };
        Ok(Self { name, title, values: chosen.values, ..self.clone() })
    }

    /// Its name, fit for a folder: `queue-sync-n1000`.
    pub(crate) fn folder_name(&self) -> String {
        folder_name(&self.name)
    }
}
