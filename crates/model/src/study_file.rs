//! A study file as it is written, before anything in it is known to make sense.
//!
//! No field is required by serde (see [`crate::text`]); what is required is marked so for the JSON Schema, and asked for
//! when the file is turned into a [`crate::Study`].

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::load_profile::Connection;
use crate::several::Several;
use crate::table::Table;
use crate::units::{Percent, Seconds};

/// A study file as it is written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "tolok study")]
pub struct StudyFile {
    /// A few words for the report's head.
    #[schemars(required)]
    pub title: Option<String>,
    /// The question that the study answers.
    pub question: Option<String>,
    /// Which subjects: `go/nethttp`, `go/nethttp:prerendered`, `php/fpm:jit?pool=32`, `node/http:*` (all its variants) or
    /// `*` (the default variant of every subject that is ready here).
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub subjects: Option<Spanned<Vec<Spanned<String>>>>,
    /// How often every case is run, each time in a new order; 5 is the least for an interval. Default 10.
    #[schemars(with = "Option<u32>", range(min = 1))]
    pub blocks: Option<Spanned<u32>>,
    /// Seed of the order; without it one is drawn and recorded.
    pub seed: Option<u64>,
    /// Differences smaller than this do not matter to the question. Default `3%`.
    #[schemars(with = "Option<Percent>")]
    pub smallest_effect: Option<Spanned<Percent>>,
    /// Whether the machine's limit is measured beside the subjects. Default true.
    pub ceiling: Option<bool>,
    /// What is asked of the subjects, and how.
    #[schemars(with = "Vec<ScenarioFile>", length(min = 1))]
    pub scenario: Option<Vec<Table<ScenarioFile>>>,
    /// CPUs for the subject and for the generator.
    #[serde(default)]
    #[schemars(with = "Option<EnvironmentFile>")]
    pub environment: Table<EnvironmentFile>,
}

/// `[[scenario]]` of a study. Lists make one scenario for each combination.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScenarioFile {
    /// One workload or several.
    #[schemars(with = "Several<String>")]
    pub workload: Option<Spanned<Several<String>>>,
    /// How it is asked.
    #[schemars(with = "LoadFile")]
    pub load: Option<Table<LoadFile>>,
}

/// `load` of a scenario.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoadFile {
    /// The executor, by k6's name.
    // Read as text, so that k6's other executors get an answer of their own.
    #[schemars(with = "ExecutorName")]
    pub executor: Option<Spanned<String>>,
    /// Virtual users, one number or several.
    #[schemars(with = "Several<VirtualUsers>")]
    pub vus: Option<Spanned<Several<u32>>>,
    /// Length of the measured window.
    #[schemars(with = "Seconds")]
    pub duration: Option<Spanned<Seconds>>,
    /// Length of the load that is discarded before it. Default: a fifth of the duration, at least `300ms`.
    pub warmup: Option<Seconds>,
    /// Whether a connection serves many requests (`keep-alive`, default) or one (`per-request`).
    pub connection: Option<Connection>,
    /// After this long an unanswered request counts as failed. Default `10s`.
    #[schemars(with = "Option<Seconds>")]
    pub timeout: Option<Spanned<Seconds>>,
}

/// The executors that this version has.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is used; the value is read as text")]
pub enum ExecutorName {
    /// A closed loop with a constant number of virtual users.
    ConstantVus,
}

/// A number of virtual users.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "only its schema is used; the value is read as a number")]
pub struct VirtualUsers(#[schemars(range(min = 1, max = 28000))] u32);

/// `[environment]` of a study.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct EnvironmentFile {
    /// The subject's share of the machine.
    #[serde(default)]
    #[schemars(with = "Option<CpusFile>")]
    pub subject: Table<CpusFile>,
    /// The generator's share of the machine.
    #[serde(default)]
    #[schemars(with = "Option<CpusFile>")]
    pub generator: Table<CpusFile>,
}

/// CPUs of one part of a trial.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpusFile {
    /// How many CPUs it has for itself. Default 1.
    #[schemars(with = "Option<u32>", range(min = 1))]
    pub cpus: Option<Spanned<u32>>,
}
