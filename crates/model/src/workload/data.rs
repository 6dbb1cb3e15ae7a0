//! Answers that follow from the tables of the lab's database, and the workload parameters that a study can set.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::JsonSchema;
use crate::figures::count;
use crate::reading::table::{Spanned, Table};
use crate::reading::text::{Reading, Span};
use crate::reading::wording::suggestion;
use crate::workload::file::WorkloadParameterFile;
use crate::workload::{Body, Workload};

/// Answers that follow from the tables of the lab's database and the request's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DataBody {
    /// `limit` rows of `fields` fields, as an array of objects in key order.
    Rows,
    /// One row by its key, as an object. The load requests many keys.
    Query,
    /// `n` rows, each by its own query, as an array. The load sends many seeds, which determine the keys.
    Queries,
    /// The rows of `fortune` and one from the request, as an HTML table. The load adds many texts.
    Fortunes,
    /// `n` rows of `stock` after adding 1 to the amount of each. The load sends many seeds, and compares lengths.
    Updates,
    /// Rows of `stock`, read, written and deleted one at a time. The load also draws requests with other methods, and
    /// compares lengths.
    Crud,
    /// The next number of a counter. It depends on earlier requests.
    Counter,
    /// How the driver converts each type. Not a competition, so any answer is accepted.
    Fidelity,
}

/// A parameter of a workload's request, and its permitted values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkloadParameter {
    /// The value unless a study sets another.
    pub default: u32,
    pub least: u32,
    pub most: u32,
    /// The only permitted values, if the range is not enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<u32>,
    pub help: String,
}

/// The problem and, if known, its remedy.
pub(crate) type Refusal = (String, Option<String>);

impl DataBody {
    /// The parameters that the answer depends on, sorted.
    pub fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Rows => &["fields", "limit"],
            Self::Queries | Self::Updates => &["n"],
            Self::Query | Self::Fortunes | Self::Crud | Self::Counter | Self::Fidelity => &[],
        }
    }

    /// Whether its requests add to numbers whose sum is checked after the load.
    pub fn counts(self) -> bool {
        matches!(self, Self::Counter | Self::Updates)
    }

    /// The number of rows in the table with this many fields, or `None` if there is no such table.
    pub fn rows_in_table(fields: u32) -> Option<u32> {
        match fields {
            40 => Some(10_000),
            50 => Some(1_000),
            _ => None,
        }
    }

    /// Checks that the tables can satisfy these values together. Each value is already valid on its own.
    pub(crate) fn check(self, values: &BTreeMap<String, u32>) -> Result<(), Refusal> {
        let (Self::Rows, Some(fields), Some(limit)) = (self, values.get("fields"), values.get("limit")) else {
            return Ok(());
        };
        match Self::rows_in_table(*fields) {
            None => Err((format!("there is no table with {fields} fields"), Some("there are two: 40, 50".to_owned()))),
            Some(rows) if *limit > rows => {
                let (rows, limit) = (count(rows.into()), count((*limit).into()));
                let message = format!("the table with {fields} fields has {rows} rows, and {limit} are asked for");
                Err((message, Some(format!("for example: limit={}", rows.replace(',', "")))))
            }
            Some(_) => Ok(()),
        }
    }

    /// The request in a few words for tables, if the values affect it.
    fn title(self, values: &BTreeMap<String, u32>) -> Option<String> {
        let many = |number: u32, one: &str, many: &str| {
            format!("{} {}", count(number.into()), if number == 1 { one } else { many })
        };
        match self {
            Self::Rows => {
                let (fields, limit) = (values.get("fields")?, values.get("limit")?);
                Some(format!("{} of {}", many(*limit, "row", "rows"), many(*fields, "field", "fields")))
            }
            Self::Queries => Some(format!("{}, one after the other", many(*values.get("n")?, "query", "queries"))),
            Self::Updates => Some(many(*values.get("n")?, "update", "updates")),
            Self::Query | Self::Fortunes | Self::Crud | Self::Counter | Self::Fidelity => None,
        }
    }
}

impl WorkloadParameter {
    fn check(&self, name: &str, value: u32) -> Result<(), Refusal> {
        let help = (!self.help.is_empty()).then(|| format!("{name}: {}", self.help));
        if !self.one_of.is_empty() && !self.one_of.contains(&value) {
            return Err((format!("`{name}` is {}, not {value}", any_of(&self.one_of)), help));
        }
        if !(self.least..=self.most).contains(&value) {
            let (least, most) = (count(self.least.into()), count(self.most.into()));
            return Err((format!("`{name}` is a number from {least} to {most}, not {value}"), help));
        }
        Ok(())
    }
}

/// `40 or 50`.
fn any_of(values: &[u32]) -> String {
    values.iter().map(u32::to_string).collect::<Vec<_>>().join(" or ")
}

impl Workload {
    /// The workload with the parameters that `query` sets (`fields=40&limit=1000`), and defaults for the others.
    ///
    /// Once one is set, the name contains all of them, sorted. A later change of a default therefore does not change
    /// the meaning of a name in an old record, and `a=1&b=2` and `b=2&a=1` are the same.
    pub(crate) fn choose(&self, query: &str) -> Result<Self, (String, Option<String>)> {
        let Chosen { values, tail, says_any } = choose_values(&self.name, &self.parameters, query)?;
        self.body.check(&values)?;
        let title = match &self.body {
            Body::Data { data } => data.title(&values),
            Body::Computed { compute } => compute.title(&self.title, &values),
            _ => None,
        };
        Ok(Self {
            name: if says_any { format!("{}{tail}", self.name) } else { self.name.clone() },
            title: title.unwrap_or_else(|| self.title.clone()),
            // Parameters of a drawn body are not part of the query.
            path: if self.body.sends_drawn() { self.path.clone() } else { format!("{}{tail}", self.path) },
            values,
            ..self.clone()
        })
    }

    /// Its name, suitable for a folder: `rows-fields40-limit1000` for `rows?fields=40&limit=1000`.
    pub(crate) fn folder_name(&self) -> String {
        folder_name(&self.name)
    }
}

/// Makes the text of a workload suitable for a folder.
pub(crate) fn folder_name(text: &str) -> String {
    text.replace(['?', '&'], "-").replace('=', "")
}

/// The values of a workload's parameters.
pub(crate) struct Chosen {
    pub(crate) values: BTreeMap<String, u32>,
    /// All of them after a `?`, sorted; empty without any.
    pub(crate) tail: String,
    pub(crate) says_any: bool,
}

/// The values that `query` sets (`fields=40&limit=1000`), and defaults for the others.
pub(crate) fn choose_values(
    name: &str,
    parameters: &BTreeMap<String, WorkloadParameter>,
    query: &str,
) -> Result<Chosen, Refusal> {
    let written = written(name, parameters, query)?;
    let says_any = !written.is_empty();
    let mut values: BTreeMap<String, u32> =
        parameters.iter().map(|(name, parameter)| (name.clone(), parameter.default)).collect();
    values.extend(written);
    for (name, parameter) in parameters {
        parameter.check(name, values[name])?;
    }
    let pairs: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let tail = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
    Ok(Chosen { values, tail, says_any })
}

fn written(
    name: &str,
    parameters: &BTreeMap<String, WorkloadParameter>,
    query: &str,
) -> Result<BTreeMap<String, u32>, Refusal> {
    let mut written = BTreeMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| (format!("`{pair}` is not of the form parameter=value, such as limit=1000"), None))?;
        if !parameters.contains_key(key) {
            let names: Vec<&str> = parameters.keys().map(String::as_str).collect();
            let message = format!("`{name}` has no parameter `{key}`");
            return Err((message, Some(suggestion(key, &names))));
        }
        let number: u32 =
            value.parse().map_err(|_| (format!("parameter `{key}` is a whole number, not `{value}`"), None))?;
        if written.insert(key.to_owned(), number).is_some() {
            return Err((format!("parameter `{key}` is set twice; leave one of them out"), None));
        }
    }
    Ok(written)
}

/// The parameters of a workload for programs. Its arguments determine which exist.
pub(crate) fn read_free_parameters(
    files: BTreeMap<Spanned<String>, Table<WorkloadParameterFile>>,
    reading: &mut Reading,
) -> BTreeMap<String, WorkloadParameter> {
    files.into_iter().filter_map(|(name, file)| Some((name.into_inner(), read_parameter(file, reading)?))).collect()
}

/// The parameters of a workload with this body, given with its place. The body determines which can be set.
pub(crate) fn read_parameters(
    files: BTreeMap<Spanned<String>, Table<WorkloadParameterFile>>,
    body: Option<(&Body, Span)>,
    reading: &mut Reading,
) -> BTreeMap<String, WorkloadParameter> {
    let expected = body.as_ref().map_or(&[][..], |(body, _)| body.parameters());
    let mut parameters = BTreeMap::new();
    let mut given: Vec<String> = Vec::new();
    for (name, file) in files {
        given.push(name.get_ref().clone());
        // If the body was unreadable, its parameters are unknown.
        if body.is_some() && !expected.contains(&name.get_ref().as_str()) {
            let message = format!("the answer does not depend on `{}`", name.get_ref());
            let help = match expected {
                [] => "only answers that follow from `data` or are computed have parameters".to_owned(),
                expected => suggestion(name.get_ref(), expected),
            };
            reading.note(name.span(), message, help);
        }
        let read = read_parameter(file, reading);
        parameters.extend(read.map(|parameter| (name.into_inner(), parameter)));
    }
    let Some((body, span)) = body else { return parameters };
    for missing in expected.iter().filter(|name| !given.iter().any(|given| given == *name)) {
        if !reading.was_wrong(missing) && !reading.was_wrong("parameter") {
            let help = format!("add [parameter.{missing}] with `default`, `least` and `most`");
            reading.note(span.clone(), format!("the answer depends on a parameter `{missing}`"), help);
        }
    }
    let defaults = parameters.iter().map(|(name, parameter)| (name.clone(), parameter.default)).collect();
    if let Err((message, help)) = body.check(&defaults) {
        reading.note(span, format!("with the defaults of the parameters, {message}"), help);
    }
    parameters
}

fn read_parameter(file: Table<WorkloadParameterFile>, reading: &mut Reading) -> Option<WorkloadParameter> {
    let Table { span, entries: file } = file;
    let default = reading.require(file.default, &span, "default", "default = 20");
    let (least, most, one_of) = match file.one_of {
        Some(one_of) => {
            for (key, range) in [("least", &file.least), ("most", &file.most)] {
                if let Some(range) = range {
                    reading.note(range.span(), format!("`{key}` follows from `one-of`"), format!("leave out `{key}`"));
                }
            }
            read_one_of(one_of, &span, reading)?
        }
        None => {
            let least = reading.require(file.least, &span, "least", "least = 1");
            let most = reading.require(file.most, &span, "most", "most = 500");
            let (least, most) = (least?, most?);
            if least.get_ref() > most.get_ref() {
                reading.note(least.span(), "`least` is more than `most`", None);
                return None;
            }
            (least.into_inner(), most.into_inner(), Vec::new())
        }
    };
    let default = default?;
    let parameter = WorkloadParameter { default: *default.get_ref(), least, most, one_of, help: file.help };
    if let Err((message, _)) = parameter.check("default", parameter.default) {
        reading.note(default.span(), message, None);
    }
    Some(parameter)
}

fn read_one_of(one_of: Spanned<Vec<u32>>, table: &Span, reading: &mut Reading) -> Option<(u32, u32, Vec<u32>)> {
    let span = one_of.span();
    let values = one_of.into_inner();
    let Some((least, most)) = values.iter().min().zip(values.iter().max()) else {
        if !reading.is_damaged(table, "one-of") {
            reading.note(span, "no value is listed", "for example: one-of = [40, 50]");
        }
        return None;
    };
    Some((*least, *most, values))
}
