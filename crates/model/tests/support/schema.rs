//! JSON Schemas of the files that people write, for editors and other programs.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// The schema of a file that people write.
pub fn of_file<T: JsonSchema>() -> Value {
    // Draft 7 is the newest that the TOML plug-ins of editors support.
    let schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>();
    without_null(schema.to_value())
}

/// TOML has no null. An optional key is not in `required`, so it need not allow null as well.
fn without_null(schema: Value) -> Value {
    match schema {
        Value::Object(object) => without_null_object(object),
        Value::Array(items) => Value::Array(items.into_iter().map(without_null).collect()),
        scalar => scalar,
    }
}

fn without_null_object(object: Map<String, Value>) -> Value {
    let is_null = |value: &Value| value == "null" || value.get("type").is_some_and(|kind| kind == "null");
    let mut kept = Map::new();
    for (key, value) in object {
        match (key.as_str(), value) {
            ("default", Value::Null) => {}
            ("type" | "anyOf" | "enum", Value::Array(options)) => {
                let mut options: Vec<Value> =
                    options.into_iter().filter(|option| !is_null(option) && !option.is_null()).collect();
                match (key.as_str(), options.len()) {
                    ("type", 1) => drop(kept.insert(key, options.remove(0))),
                    ("anyOf", 1) => drop(kept.insert("allOf".to_owned(), without_null(Value::Array(options)))),
                    _ => drop(kept.insert(key, without_null(Value::Array(options)))),
                }
            }
            (_, value) => drop(kept.insert(key, without_null(value))),
        }
    }
    Value::Object(kept)
}
