//! `subject.toml` as written, not yet validated.
//!
//! Serde requires no field (see [`crate::reading::text`]). Required fields are marked for the JSON Schema, and checked
//! when the file is turned into a [`crate::Subject`].

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::JsonSchema;
use crate::database::file::EngineWord;
use crate::program::reading::SubjectProgramFile;
use crate::protocol::Protocol;
use crate::reading::table::{Spanned, Table};
use crate::subject::{GcLog, Marker, ParameterValue, Role};
use crate::units::Seconds;

/// `subject.toml` as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "tolok subject", extend("oneOf" = [{ "required": ["process"] }, { "required": ["program"] }]))]
pub struct SubjectFile {
    /// A few words for tables.
    #[schemars(required)]
    pub title: Option<String>,
    /// One word for charts and sentences. Default: the title.
    pub short: Option<String>,
    /// The runtime. It groups subjects in tables and determines their colour.
    #[schemars(required)]
    pub runtime: Option<String>,
    /// The colour of its runtime in reports. One subject of a runtime sets it for all.
    pub colour: Option<Table<ColourFile>>,
    /// The shape of its runtime's points in charts. Default `ring`.
    pub marker: Option<Marker>,
    /// `subject`, `framework` for a subject that `*` excludes, or `ceiling` for the server that shows the machine's
    /// limit.
    pub role: Option<Role>,
    /// What it is, in one sentence.
    pub summary: Option<String>,
    /// Programs of the toolbox that it needs.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Further programs for workloads with a database. Without them, tolok measures its other workloads.
    #[serde(default)]
    pub database_needs: Vec<String>,
    /// Further programs for workloads with PostgreSQL, instead of `database-needs`.
    #[serde(default)]
    pub postgres_needs: Vec<String>,
    /// Databases for which it has drivers. Default `["mariadb", "mysql"]`.
    pub databases: Option<Vec<EngineWord>>,
    /// Workloads that it serves.
    #[schemars(required, length(min = 1))]
    pub workloads: Option<Spanned<Vec<String>>>,
    /// Protocols that it speaks. Default `["http1"]`.
    pub protocols: Option<Spanned<Vec<Protocol>>>,
    /// The variant that the bare id means. Optional if there is only one.
    pub default: Option<Spanned<String>>,
    /// How long it may take until its first correct response. Default `20s`.
    pub start_timeout: Option<Seconds>,
    /// How to build it.
    pub build: Option<Table<BuildFile>>,
    /// Template files to render into the trial's folder before the start.
    #[serde(default)]
    pub file: Vec<Table<TemplateFileFile>>,
    /// The subject's processes, in start order.
    #[schemars(length(min = 1))]
    pub process: Option<Vec<Table<ProcessFile>>>,
    /// How to start it, if it is a program rather than a server. It then has no `process`.
    pub program: Option<Table<SubjectProgramFile>>,
    /// Changes for an unscored diagnosis.
    pub diagnosis: Option<Table<DiagnosisFile>>,
    /// Tunable parameters, with defaults.
    #[serde(default)]
    pub parameter: BTreeMap<String, Table<ParameterFile>>,
    /// Named sets of parameter values.
    #[serde(default)]
    pub variant: BTreeMap<Spanned<String>, Table<VariantFile>>,
}

/// `colour` of a subject, as `#` and six hexadecimal digits.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColourFile {
    /// On a light page and on paper.
    #[schemars(required, regex(pattern = "^#[0-9a-f]{6}$"))]
    pub light: Option<Spanned<String>>,
    /// On a dark page.
    #[schemars(required, regex(pattern = "^#[0-9a-f]{6}$"))]
    pub dark: Option<Spanned<String>>,
}

/// `[build]` of a subject: one command, run once for the same sources and program versions.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BuildFile {
    /// The command, each part a template.
    #[schemars(required, length(min = 1))]
    pub command: Option<Spanned<Vec<String>>>,
    /// Extra environment variables, each value a template.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Files outside the subject's folder that the build depends on, relative to it. A change in one triggers a new
    /// build.
    #[serde(default)]
    pub inputs: Vec<String>,
}

/// `[[file]]` of a subject: a template that is rendered into the trial's folder.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TemplateFile")]
pub struct TemplateFileFile {
    /// The template, relative to the subject's folder.
    #[schemars(required)]
    pub from: Option<Spanned<String>>,
    /// Where it goes, relative to the trial's folder.
    #[schemars(required)]
    pub to: Option<Spanned<String>>,
}

/// `[[process]]` of a subject.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessFile {
    /// A name for logs.
    #[schemars(required)]
    pub name: Option<String>,
    /// The command, each part a template; empty parts are dropped.
    #[schemars(required, length(min = 1))]
    pub command: Option<Spanned<Vec<String>>>,
    /// Extra environment variables, each value a template.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Its working folder, a template such as `{{ subject }}`. Default: the trial's private folder.
    pub cwd: Option<String>,
    /// The signal that stops it: `TERM` (default), `INT`, `QUIT` or `WINCH`.
    #[schemars(with = "Option<StopSignal>")]
    pub stop: Option<Spanned<String>>,
}

/// `[diagnosis]` of a subject: changes for an unscored trial with counters.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DiagnosisFile {
    /// The format of garbage collections in the subject's log.
    pub gc_log: Option<GcLog>,
    /// Extra environment variables for every process, each value a template.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// Signals that stop servers.
#[derive(JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[expect(dead_code, reason = "only its schema is used; the value is read as text")]
pub enum StopSignal {
    /// For most servers.
    Term,
    /// As sent by Ctrl-C.
    Int,
    /// Graceful for nginx and PHP-FPM.
    Quit,
    /// Graceful for Apache.
    Winch,
}

/// `[parameter.<name>]` of a subject: something that can be tuned.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ParameterFile {
    /// The value unless a variant or a study sets another.
    #[schemars(required)]
    pub default: Option<Spanned<ParameterValue>>,
    /// The only permitted values. Default: any of the default's type.
    #[schemars(length(min = 1))]
    pub one_of: Option<Spanned<Vec<Spanned<ParameterValue>>>>,
    /// What it tunes.
    #[serde(default)]
    pub help: String,
}

/// `[variant.<name>]` of a subject.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct VariantFile {
    /// What is different, in a few words.
    #[serde(default)]
    pub help: String,
    /// The parameter values that make the variant.
    #[serde(default)]
    pub set: BTreeMap<Spanned<String>, Spanned<ParameterValue>>,
    /// Programs of the toolbox that it needs in addition to the subject's.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Further programs that it needs for workloads with a database.
    #[serde(default)]
    pub database_needs: Vec<String>,
    /// Further programs for workloads with PostgreSQL, instead of `database-needs`.
    #[serde(default)]
    pub postgres_needs: Vec<String>,
    /// Databases for which it has drivers, if not the subject's.
    pub databases: Option<Vec<EngineWord>>,
    /// The workloads it serves, if not all of the subject's.
    pub workloads: Option<Vec<Spanned<String>>>,
    /// The protocols it speaks, if not the subject's.
    pub protocols: Option<Spanned<Vec<Protocol>>>,
    /// Work that others do for each response but this variant does not, in a few words. Reports show it in every
    /// comparison.
    pub less_work: Option<String>,
}
