//! `workload.toml` as written, not yet validated.
//!
//! Serde requires no field (see [`crate::reading::text`]). Required fields are marked for the JSON Schema, and checked
//! when the file is turned into a [`crate::Workload`].

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::JsonSchema;
use crate::program::reading::ProgramWorkloadFile;
use crate::reading::kinds::read_kinds;
use crate::reading::table::{Spanned, Table};
use crate::workload::computed::Computed;
use crate::workload::data::DataBody;
use crate::workload::list::RequestListFile;
use crate::workload::mixed::PartFile;
use crate::workload::{Compared, GeneratedKind};

/// `workload.toml` as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "tolok workload", extend("oneOf" = [{ "required": ["request", "answer"] }, { "required": ["program"] }, { "required": ["part"] }, { "required": ["requests"] }]))]
pub struct WorkloadFile {
    /// A few words for tables.
    #[schemars(required)]
    pub title: Option<String>,
    /// What the workload measures, in one sentence.
    pub summary: Option<String>,
    /// Whether a subject must use a database for the answer. Its trials then have one. Default false.
    pub database: Option<Spanned<bool>>,
    /// Users that share an HTTP/1.1 connection and pipeline their requests on it. Default 1.
    #[schemars(range(min = 1, max = 1000))]
    pub pipeline: Option<Spanned<u32>>,
    /// The request.
    pub request: Option<Table<RequestFile>>,
    /// The correct response.
    pub answer: Option<Table<AnswerFile>>,
    /// Other workloads to request instead of a request and its answer, drawn by weight.
    #[serde(default)]
    pub part: Vec<Table<PartFile>>,
    /// A file of requests, instead of a request and its answer.
    pub requests: Option<Table<RequestListFile>>,
    /// What programs do and print, instead of a request and its answer.
    pub program: Option<Table<ProgramWorkloadFile>>,
    /// What a study can set in the request: `rows?limit=1000`. `rows` has `fields` and `limit`; `queries`, `updates`,
    /// `items`, `compressed` and `react` have `n`; `digest` has `bytes`; other answers have none. Programs have the
    /// parameters that their arguments name.
    #[serde(default)]
    pub parameter: BTreeMap<Spanned<String>, Table<WorkloadParameterFile>>,
}

/// `[parameter.<name>]` of a workload: a whole number in the query of the path.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "WorkloadParameter")]
pub struct WorkloadParameterFile {
    /// The value unless a study sets another.
    #[schemars(required)]
    pub default: Option<Spanned<u32>>,
    /// The smallest value, if any value up to `most` is permitted.
    pub least: Option<Spanned<u32>>,
    /// The largest value.
    pub most: Option<Spanned<u32>>,
    /// The only permitted values, instead of `least` and `most`.
    #[schemars(length(min = 1))]
    pub one_of: Option<Spanned<Vec<u32>>>,
    /// What the parameter means.
    #[serde(default)]
    pub help: String,
}

/// `[request]` of a workload.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RequestFile {
    /// The method: `GET` (default), or `POST` for requests that change something or have a body.
    #[schemars(regex(pattern = "^(GET|POST)$"))]
    pub method: Option<Spanned<String>>,
    /// The path with its leading slash, and any query: `/api/users?page=2`. Percent-encode other characters, such as
    /// `%20`.
    #[schemars(required, regex(pattern = "^/[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*$"))]
    pub path: Option<Spanned<String>>,
    /// A file beside this one with the body of a `POST`. Default none.
    pub body: Option<Spanned<String>>,
    /// Type and subtype of that body.
    pub content_type: Option<Spanned<String>>,
    /// A file beside this one with a body that must be answered with status 422. It detects subjects that do not read
    /// the request's body.
    pub refused: Option<Spanned<String>>,
}

/// `[answer]` of a workload.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AnswerFile {
    /// The status. Default 200.
    #[schemars(range(min = 200, max = 599))]
    pub status: Option<Spanned<u16>>,
    /// Type and subtype; parameters such as a character set are not compared.
    #[schemars(required)]
    pub content_type: Option<String>,
    /// The exact body: a file beside this one, how to generate it, or how it follows from the database's tables or from
    /// the request. Or what to compare of bodies that differ from response to response.
    #[schemars(with = "BodyFile")]
    pub body: Option<Spanned<BodyFile>>,
}

/// Where the bytes of an answer come from: a file beside this one, or { generate = "png", bytes = 546816, seed = 534 },
/// or the tables of the database, as { data = "rows" }, or the request, as { compute = "items" }.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub enum BodyFile {
    /// A file in the workload's folder.
    File(String),
    /// Bytes that the lab generates, the same everywhere.
    Generated(GeneratedBodyFile),
    /// Contents of the lab's database tables.
    Data(DataBodyFile),
    /// Computed from the request alone.
    Computed(ComputedBodyFile),
    /// A body that differs from response to response.
    Varying(VaryingBodyFile),
}

/// A body that the lab generates.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct GeneratedBodyFile {
    /// What to generate.
    #[schemars(required)]
    pub generate: Option<GeneratedKind>,
    /// Exact length of the body in bytes; with `mix`, of the largest.
    #[schemars(required)]
    pub bytes: Option<usize>,
    /// Seed of its content.
    #[schemars(required)]
    pub seed: Option<u64>,
}

/// A body that follows from the tables of the lab's database.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct DataBodyFile {
    /// Which answer.
    pub data: DataBody,
}

/// A body that follows from the request alone.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ComputedBodyFile {
    /// The function.
    pub compute: Computed,
}

/// A body that differs from response to response.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct VaryingBodyFile {
    /// What to compare.
    pub compared: Compared,
    /// With `shape`: a file beside this one with a sample body, in JSON.
    pub file: Option<String>,
    /// The length of every body in bytes. Required with `length`.
    pub bytes: Option<usize>,
}

/// The keys of all tables, so that each can be read without knowing which table is meant.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyTable {
    generate: Option<GeneratedKind>,
    bytes: Option<usize>,
    seed: Option<u64>,
    data: Option<DataBody>,
    compute: Option<Computed>,
    compared: Option<Compared>,
    file: Option<String>,
}

const BODY: &str = "the name of a file, or a table such as { generate = \"png\", bytes = 546816, seed = 534 }, \
                    { data = \"rows\" }, { compute = \"items\" } or { compared = \"shape\", file = \"body.json\" }";

read_kinds!(BodyFile, BODY,
    visit_str(name: &str) Some(BodyFile::File(name.to_owned()));
    [table: BodyTable] table.body();
);

impl BodyTable {
    fn body(self) -> Result<BodyFile, &'static str> {
        let Self { generate, bytes, seed, data, compute, compared, file } = self;
        let is_generated = generate.is_some() || seed.is_some();
        let is_alone = !is_generated && bytes.is_none() && file.is_none();
        match (data, compute, compared) {
            (None, None, None) if file.is_some() => Err("a body in a `file` that differs needs `compared = \"shape\"`"),
            (None, None, None) => Ok(BodyFile::Generated(GeneratedBodyFile { generate, bytes, seed })),
            (Some(data), None, None) if is_alone => Ok(BodyFile::Data(DataBodyFile { data })),
            (None, Some(compute), None) if is_alone => Ok(BodyFile::Computed(ComputedBodyFile { compute })),
            (None, None, Some(compared)) if !is_generated => {
                Ok(BodyFile::Varying(VaryingBodyFile { compared, file, bytes }))
            }
            _ => {
                Err("a body is generated, follows from `data`, is computed, or is `compared` in part: one of the four")
            }
        }
    }
}
