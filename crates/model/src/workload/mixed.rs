//! A workload that requests several others, drawn by weight.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::JsonSchema;
use crate::catalogue::Catalogue;
use crate::reading::table::{Spanned, Table};
use crate::reading::text::{ROOT, Reading, Span};
use crate::workload::computed::Computed;
use crate::workload::file::WorkloadFile;
use crate::workload::{Body, DataBody, Workload};

/// The largest weight. Each part may have a hundred kinds of requests, and the engine adds up all their weights.
const MOST_WEIGHT: u32 = 100;
const MOST_PARTS: usize = 5;
const ONE_PART: &str = "[[part]] with workload = \"json\" and weight = 3";

/// One part of a mixed workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MixedPart {
    /// As written: `items?n=50`.
    pub workload: String,
    /// How often it is drawn, in proportion to the others.
    pub weight: u32,
    /// The workload it names, once the catalogue has all workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meant: Option<Box<Workload>>,
}

/// `[[part]]` of a mixed workload.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "WorkloadPart")]
pub struct PartFile {
    /// A workload, with any parameters: `items?n=50`.
    #[schemars(required)]
    pub workload: Option<Spanned<String>>,
    /// How often it is drawn, in proportion to the others. Default 1.
    #[schemars(range(min = 1, max = 100))]
    pub weight: Option<Spanned<u32>>,
}

/// Reads a workload that has parts.
pub(super) fn read(name: &str, title: Option<String>, file: WorkloadFile, reading: &mut Reading) -> Option<Workload> {
    refuse_others(&file, reading);
    let mut mixed: Vec<MixedPart> = Vec::new();
    let first = file.part.first().map(|part| part.span.clone()).unwrap_or(ROOT);
    for part in file.part {
        let read = read_part(part, &mixed, reading);
        mixed.extend(read);
    }
    if !reading.has_problems() && !(2..=MOST_PARTS).contains(&mixed.len()) {
        let message = format!("a mixed workload has 2 to {MOST_PARTS} parts, and this one has {}", mixed.len());
        reading.note(first, message, format!("each part is {ONE_PART}"));
    }
    Some(Workload::asking(name, title?, file.summary, Body::Mixed { mixed }))
}

/// Refuses keys of a single request: each part's own workload defines them.
fn refuse_others(file: &WorkloadFile, reading: &mut Reading) {
    let others: [(&str, Option<Span>); 5] = [
        ("request", file.request.as_ref().map(|table| table.span.clone())),
        ("answer", file.answer.as_ref().map(|table| table.span.clone())),
        ("database", Spanned::place(&file.database)),
        ("pipeline", Spanned::place(&file.pipeline)),
        ("parameter", file.parameter.keys().next().map(Spanned::span)),
    ];
    refuse_keys("parts", others, "leave it out: the workload of each part says it", reading);
}

/// Reports the keys that a workload with `what` does not have.
pub(super) fn refuse_keys(what: &str, keys: [(&str, Option<Span>); 5], help: &str, reading: &mut Reading) {
    for (key, span) in keys {
        if let Some(span) = span {
            reading.note(span, format!("a workload with {what} has no `{key}`"), help);
        }
    }
}

fn read_part(part: Table<PartFile>, earlier: &[MixedPart], reading: &mut Reading) -> Option<MixedPart> {
    let Table { span, entries: part } = part;
    let weight = part.weight.map_or(1, |weight| {
        let help = format!("a whole number from 1 to {MOST_WEIGHT}; only proportions count");
        let is_weight = (1..=MOST_WEIGHT).contains(weight.get_ref());
        reading.note_if(!is_weight, weight.span(), format!("{} is not a weight", weight.get_ref()), Some(help));
        weight.into_inner()
    });
    let workload = reading.require(part.workload, &span, "workload", "workload = \"json\"")?;
    if earlier.iter().any(|other| other.workload == *workload.get_ref()) {
        let message = format!("`{}` is listed twice", workload.get_ref());
        reading.note(workload.span(), message, "add up the weights");
    }
    Some(MixedPart { workload: workload.into_inner(), weight, meant: None })
}

impl Workload {
    /// A workload whose requests are defined elsewhere, each with its own method, path and answer.
    pub(super) fn asking(name: &str, title: String, summary: Option<String>, body: Body) -> Self {
        Self {
            name: name.to_owned(),
            title,
            summary: summary.unwrap_or_default(),
            method: "GET".to_owned(),
            path: "/".to_owned(),
            sent: None,
            status: 200,
            content_type: String::new(),
            body,
            database: false,
            pipeline: 1,
            parameters: BTreeMap::new(),
            values: BTreeMap::new(),
            folder: None,
        }
    }

    /// The workloads that it requests, with their weights; empty for a single one.
    pub fn parts(&self) -> impl Iterator<Item = (u32, &Self)> {
        let Body::Mixed { mixed } = &self.body else { return [].iter().filter_map(meant) };
        mixed.iter().filter_map(meant)
    }

    /// Whether it requests several others.
    pub fn is_mixed(&self) -> bool {
        matches!(self.body, Body::Mixed { .. })
    }

    /// The workload to use where only one request is sent: its first part, or itself.
    pub fn first_part(&self) -> &Self {
        self.parts().next().map_or(self, |(_, part)| part)
    }
}

fn meant(part: &MixedPart) -> Option<(u32, &Workload)> {
    Some((part.weight, part.meant.as_deref()?))
}

/// A part that names no workload, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongPart {
    /// The mixed workload.
    pub mixed: String,
    /// The part as written.
    pub part: String,
    pub message: String,
    pub help: Option<String>,
}

impl Catalogue {
    /// Resolves the workloads that parts name. A subject that serves all parts also serves the mixed workload. Call
    /// this again after adding workloads or subjects.
    pub fn settle_mixed(&mut self) -> Result<(), WrongPart> {
        for place in 0..self.workloads.len() {
            let mut workload = self.workloads[place].clone();
            let Body::Mixed { mixed } = &mut workload.body else { continue };
            for part in mixed {
                let wrong = |(message, help)| WrongPart {
                    mixed: workload.name.clone(),
                    part: part.workload.clone(),
                    message,
                    help,
                };
                part.meant = Some(Box::new(self.choose_part(&part.workload).map_err(wrong)?));
            }
            let database = workload.parts().any(|(_, part)| part.database);
            workload.database = database;
            self.serve_mixed(&workload);
            self.workloads[place] = workload;
        }
        Ok(())
    }

    fn choose_part(&self, text: &str) -> Result<Workload, (String, Option<String>)> {
        let workload = self.choose_workload(text)?;
        let why = match &workload.body {
            Body::Mixed { .. } | Body::Data { data: DataBody::Crud } => "has parts itself",
            Body::List { .. } => "has a file of requests",
            Body::Data { data: DataBody::Counter | DataBody::Updates }
            | Body::Computed { compute: Computed::Upstream } => "is checked by counting all requests",
            Body::Data { data: DataBody::Fidelity } => "has no answer that could be compared",
            _ if workload.pipeline > 1 => "has connections of its own",
            _ => return Ok(workload),
        };
        Err((format!("`{text}` cannot be a part: it {why}"), None))
    }

    fn serve_mixed(&mut self, mixed: &Workload) {
        for variant in self.subjects.iter_mut().flat_map(|subject| subject.variants.values_mut()) {
            let is_there = variant.workloads.contains(&mixed.name);
            if !is_there && lacking(mixed, &variant.workloads).is_empty() {
                variant.workloads.push(mixed.name.clone());
            }
        }
    }
}

/// The parts of a mixed workload that are not in `served`; empty for any other workload.
pub(crate) fn lacking<'a>(mixed: &'a Workload, served: &[String]) -> Vec<&'a str> {
    let names = mixed.parts().map(|(_, part)| part.name.split('?').next().unwrap_or_default());
    names.filter(|name| !served.iter().any(|served| served == name)).collect()
}
