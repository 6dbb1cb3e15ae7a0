//! A workload whose requests are in a file, in the format of `tolok load --request-file`.

use serde::{Deserialize, Serialize};

use crate::JsonSchema;
use crate::reading::table::{Spanned, Table};
use crate::reading::text::{Reading, Span};
use crate::workload::file::WorkloadFile;
use crate::workload::mixed::refuse_keys;
use crate::workload::{Body, Workload, file_here};

/// A file of requests, each with its correct response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestList {
    /// A file in the workload's folder.
    pub file: String,
    /// A file beside it with values to fill requests with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    #[serde(default)]
    pub data_order: DataOrder,
    /// Whether an iteration sends all of them in order, instead of one drawn by weight.
    #[serde(default)]
    pub sequence: bool,
}

/// Which row of a data file the next iteration takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DataOrder {
    /// Any row, all equally likely.
    #[default]
    Random,
    /// The next one; the first follows the last.
    InOrder,
}

/// `[requests]` of a workload.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RequestListFile {
    /// A file beside this one, in the format of `tolok load --request-file`.
    #[schemars(required)]
    pub file: Option<Spanned<String>>,
    /// A file beside this one with values, in the format of `--data`.
    pub data: Option<Spanned<String>>,
    /// Which row the next iteration takes. Default `random`.
    pub data_order: Option<Spanned<DataOrder>>,
    /// Whether an iteration sends all requests in order, instead of one drawn by weight.
    #[serde(default)]
    pub sequence: bool,
}

/// Reads a workload that has `[requests]`.
pub(super) fn read(
    name: &str,
    title: Option<String>,
    table: Table<RequestListFile>,
    file: WorkloadFile,
    reading: &mut Reading,
) -> Option<Workload> {
    refuse_others(&file, reading);
    let Table { span, entries: list } = table;
    let requests = reading.require(list.file, &span, "file", "file = \"requests.jsonl\"");
    for here in [requests.as_ref(), list.data.as_ref()].into_iter().flatten() {
        file_here(here.get_ref(), here.span(), reading);
    }
    if let Some(order) = list.data_order.as_ref().filter(|_| list.data.is_none()) {
        reading.note(order.span(), "there is no `data` to be taken in an order", "add data = \"values.csv\"");
    }
    let list = RequestList {
        file: requests?.into_inner(),
        data: list.data.map(Spanned::into_inner),
        data_order: list.data_order.map(Spanned::into_inner).unwrap_or_default(),
        sequence: list.sequence,
    };
    let database = file.database.is_some_and(Spanned::into_inner);
    Some(Workload { database, ..Workload::asking(name, title?, file.summary, Body::List { list }) })
}

/// Refuses keys of a single request: the file of requests defines them.
fn refuse_others(file: &WorkloadFile, reading: &mut Reading) {
    let others: [(&str, Option<Span>); 5] = [
        ("request", file.request.as_ref().map(|table| table.span.clone())),
        ("answer", file.answer.as_ref().map(|table| table.span.clone())),
        ("pipeline", Spanned::place(&file.pipeline)),
        ("part", file.part.first().map(|table| table.span.clone())),
        ("parameter", file.parameter.keys().next().map(Spanned::span)),
    ];
    refuse_keys("`requests`", others, "leave it out: the file of requests says it", reading);
}

impl Workload {
    /// The file of its requests, if it has one.
    pub fn list(&self) -> Option<&RequestList> {
        match &self.body {
            Body::List { list } => Some(list),
            _ => None,
        }
    }

    /// Whether it has its own method, path and answer, rather than parts or a file of requests.
    pub fn is_single(&self) -> bool {
        !self.is_mixed() && self.list().is_none()
    }
}
