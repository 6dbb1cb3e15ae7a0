//! The parameters of a subject: their types, their permitted values, and the values that variants and studies set.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::reading::kinds::read_kinds;
use crate::reading::table::{Spanned, Table};
use crate::reading::text::{Reading, Span};
use crate::subject::file::ParameterFile;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// The default value.
    pub default: ParameterValue,
    /// The only permitted values; if empty, any of the default's type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<ParameterValue>,
    pub help: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ParameterValue {
    /// A whole number.
    Integer(i64),
    Text(String),
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => write!(formatter, "{number}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

read_kinds!(ParameterValue, "a whole number or a string",
    visit_i64(number: i64) Some(ParameterValue::Integer(number));
    visit_u64(number: u64) i64::try_from(number).ok().map(ParameterValue::Integer);
    visit_str(text: &str) Some(ParameterValue::Text(text.to_owned()));
);

impl Parameter {
    /// Converts `value` to the default's type, because a word may look like a number. Refuses values that are not permitted.
    pub(super) fn accept(&self, name: &str, value: &ParameterValue) -> Result<ParameterValue, String> {
        let value = match (&self.default, value) {
            (ParameterValue::Text(_), value) => ParameterValue::Text(value.to_string()),
            (ParameterValue::Integer(_), ParameterValue::Integer(number)) => ParameterValue::Integer(*number),
            (ParameterValue::Integer(_), ParameterValue::Text(text)) => {
                return Err(format!("parameter `{name}` is a whole number, not `{text}`"));
            }
        };
        if self.one_of.is_empty() || self.one_of.contains(&value) {
            return Ok(value);
        }
        let words: Vec<String> = self.one_of.iter().map(ToString::to_string).collect();
        Err(format!("parameter `{name}` is {}, not `{value}`", words.join(" or ")))
    }
}

pub(super) fn read_parameters(
    files: BTreeMap<String, Table<ParameterFile>>,
    reading: &mut Reading,
) -> BTreeMap<String, Parameter> {
    let mut parameters = BTreeMap::new();
    for (name, file) in files {
        let Table { span, entries: file } = file;
        let default = reading.require(file.default, &span, "default", "default = 16");
        if let Some(listed) = &file.one_of {
            note_empty(listed, &span, reading);
        }
        // A parameter with a wrong default is still known, so that variants can set it.
        let Some(default) = default else {
            let default = ParameterValue::Text(String::new());
            parameters.insert(name, Parameter { default, one_of: Vec::new(), help: file.help });
            continue;
        };
        let mut parameter = Parameter { default: default.get_ref().clone(), one_of: Vec::new(), help: file.help };
        let listed = file.one_of.map(Spanned::into_inner).unwrap_or_default();
        parameter.one_of = read_one_of(&name, listed, &parameter, reading);
        if let Err(message) = parameter.accept(&name, default.get_ref()) {
            reading.note(default.span(), message, None);
        }
        parameters.insert(name, parameter);
    }
    parameters
}

fn note_empty(listed: &Spanned<Vec<Spanned<ParameterValue>>>, table: &Span, reading: &mut Reading) {
    if listed.get_ref().is_empty() && !reading.is_damaged(table, "one-of") {
        reading.note(listed.span(), "no value is listed", "for example: one-of = [\"on\", \"off\"]");
    }
}

/// Converts the permitted values to the default's type. One value of another type empties the list, so that the default is
/// not refused as well.
fn read_one_of(
    name: &str,
    listed: Vec<Spanned<ParameterValue>>,
    of_any_value: &Parameter,
    reading: &mut Reading,
) -> Vec<ParameterValue> {
    let accepted = |value: Spanned<ParameterValue>| match of_any_value.accept(name, value.get_ref()) {
        Ok(value) => Some(value),
        Err(message) => {
            reading.note(value.span(), message, "values of `one-of` have the default's type");
            None
        }
    };
    // Every wrong value is noted, not only the first.
    let values: Vec<Option<ParameterValue>> = listed.into_iter().map(accepted).collect();
    values.into_iter().collect::<Option<_>>().unwrap_or_default()
}

pub(super) fn read_setting(
    name: Spanned<String>,
    value: Spanned<ParameterValue>,
    parameters: &BTreeMap<String, Parameter>,
    reading: &mut Reading,
) -> Option<(String, ParameterValue)> {
    let Some(parameter) = parameters.get(name.get_ref()) else {
        if !reading.was_wrong(name.get_ref()) {
            reading.note_unknown(&name, "there is no parameter", &parameters.keys().collect::<Vec<_>>());
        }
        return None;
    };
    match parameter.accept(name.get_ref(), value.get_ref()) {
        Ok(value) => Some((name.into_inner(), value)),
        Err(message) => {
            reading.note(value.span(), message, None);
            None
        }
    }
}
