//! Values: CSV with a header line, or JSON Lines of objects.

use std::path::Path;

use serde_json::{Map, Value};
use tolok_load::options::{Data, DataOrder, is_name};
use tolok_model::limits::DATA;

use super::ListError;
use crate::bounded;

/// Reads the rows of a file. The first character decides the format, since no CSV column name begins with a brace.
pub fn read(path: &Path, order: DataOrder) -> Result<Data, ListError> {
    let (what, here) = ("the data", || path.to_owned());
    let text = bounded::text(path, &DATA).map_err(|error| ListError::Unreadable { what, path: here(), error })?;
    let rows = if text.trim_start().starts_with('{') { of_json(&text) } else { of_csv(&text) };
    let wrong = |problem| ListError::Wrong { path: here(), problems: vec![problem] };
    let (columns, values) = rows.map_err(wrong)?;
    if values.is_empty() {
        return Err(ListError::Empty { path: here(), lacks: "row of values" });
    }
    if let Some((place, name)) = columns.iter().enumerate().find(|(place, name)| columns[..*place].contains(name)) {
        return Err(wrong((1, format!("column {} has the name `{name}` of another column", place + 1))));
    }
    if let Some(name) = columns.iter().find(|name| !is_name(name)) {
        return Err(wrong((1, format!("`{name}` is no name of a column; use letters, digits, `_`, `-` and `.`"))));
    }
    Ok(Data { columns, values, order })
}

type Rows = Result<(Vec<String>, Vec<Box<str>>), (u64, String)>;

fn of_csv(text: &str) -> Rows {
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let refused = |error: &csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                (line, format!("{len} values, and {expected_len} names in the first line"))
            }
            _ => (line, error.to_string()),
        }
    };
    let names = reader.headers().map_err(|error| refused(&error))?.iter().map(|name| name.trim().to_owned()).collect();
    let mut values = Vec::new();
    for row in reader.records() {
        values.extend(row.map_err(|error| refused(&error))?.iter().map(Box::from));
    }
    Ok((names, values))
}

/// Every object must have the keys of the first.
fn of_json(text: &str) -> Rows {
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let object: Map<String, Value> = serde_json::from_str(line)
            .map_err(|_| (number, "no object such as {\"id\":1,\"name\":\"Ada\"}".to_owned()))?;
        if names.is_empty() {
            names = object.keys().cloned().collect::<Vec<String>>();
        }
        if let Some(other) = object.keys().find(|key| !names.contains(key)) {
            return Err((number, format!("`{other}` is no key of the first object; all have the same keys")));
        }
        for name in &names {
            let value = object.get(name).ok_or_else(|| (number, format!("`{name}` is missing")))?;
            values.push(match value {
                Value::String(text) => text.as_str().into(),
                Value::Number(_) | Value::Bool(_) => value.to_string().into(),
                _ => return Err((number, format!("`{name}` is no text, number or boolean"))),
            });
        }
    }
    Ok((names, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Data, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows");
        std::fs::write(&file, text).unwrap();
        let told = |error: ListError| error.to_string().replace(&file.display().to_string(), "rows");
        read(&file, DataOrder::InOrder).map_err(told)
    }

    fn rows(text: &str) -> (Vec<String>, Vec<String>) {
        let data = read_text(text).unwrap();
        (data.columns, data.values.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn csv_and_json_lines_give_the_same_rows() {
        let expected = rows("id,name\n1,\"Ada, L\"\n2,Bo\n");
        assert_eq!(expected.0, ["id", "name"]);
        assert_eq!(expected.1, ["1", "Ada, L", "2", "Bo"]);
        assert_eq!(rows("{\"id\":1,\"name\":\"Ada, L\"}\n\n{\"name\":\"Bo\",\"id\":2}\n"), expected);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, problem) in [
            ("", "rows has no row of values"),
            ("id\n", "rows has no row of values"),
            ("id,name\n1\n", "rows:2: 1 values, and 2 names in the first line"),
            ("id,id\n1,2\n", "rows:1: column 2 has the name `id` of another column"),
            ("a b\n1\n", "rows:1: `a b` is no name of a column; use letters, digits, `_`, `-` and `.`"),
            ("{\"id\":1}\n{\"ix\":1}\n", "rows:2: `ix` is no key of the first object; all have the same keys"),
            ("{\"id\":1}\n{}\n", "rows:2: `id` is missing"),
            ("{\"id\":null}\n", "rows:1: `id` is no text, number or boolean"),
            ("{\"id\":1}\n7\n", "rows:2: no object such as {\"id\":1,\"name\":\"Ada\"}"),
        ] {
            assert_eq!(read_text(text).unwrap_err(), problem, "{text:?}");
        }
    }
}
