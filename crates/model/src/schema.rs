//! Schemas of values with hand-written readers.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::environment::file::{LinkFile, LinkTable, SETTING, Setting};
use crate::load::file::{POOL, PoolFile};
use crate::load::reading::MOST_CONNECTIONS;
use crate::reading::several::Several;
use crate::reading::table::{Spanned, Table};
use crate::sentences::sentence;
use crate::study::aa_pair::AaPair;
use crate::study::blocks::{BLOCKS, BlocksFile, LEAST_FOR_A_RULE};
use crate::tool::reading::{TOOL, ToolFile};
use crate::transcription::{EXPECTED, FAMILIES, Sorted, Written};
use crate::units::{
    BIT_RATE, BYTE_RATE, BYTES, BitRate, ByteRate, Bytes, DURATION, PERCENT, Percent, RATE, Rate, Seconds,
};
use crate::{Link, LoadTool, ParameterValue};

/// One number or a list.
pub struct WrittenNumbers;

/// A value with its place has the value's schema.
macro_rules! as_its_value {
    ($wrapper:ident) => {
        impl<T: JsonSchema> JsonSchema for $wrapper<T> {
            fn schema_name() -> Cow<'static, str> {
                T::schema_name()
            }

            fn schema_id() -> Cow<'static, str> {
                T::schema_id()
            }

            fn inline_schema() -> bool {
                T::inline_schema()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                T::json_schema(generator)
            }
        }
    };
}

as_its_value!(Spanned);
as_its_value!(Table);

/// Implements the schema of a type, under this name. `inline_schema` repeats it wherever it is used.
macro_rules! schema {
    ($type:ty, $name:literal $(, $inline:ident)?: |$generator:pat_param| $schema:expr) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            $(fn $inline() -> bool {
                true
            })?

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

schema!(Seconds, "Duration": |_| json_schema!({
    "type": "string", "description": DURATION, "pattern": "^ *[0-9].*[a-zA-Zµ] *$", "examples": ["500ms", "2s", "1m 30s"],
}));

schema!(Percent, "Percent": |_| json_schema!({
    "type": "string", "description": PERCENT, "pattern": "^[0-9.]+ *%$",
}));

schema!(Rate, "Rate": |_| json_schema!({
    "description": RATE,
    "anyOf": [{ "type": "number", "minimum": 0 }, { "type": "string", "pattern": "^ *[0-9.]+ *(/ *[smh])? *$" }],
    "examples": [500, "500/s", "30000/m"],
}));

schema!(Bytes, "Bytes": |_| json_schema!({
    "type": "string", "description": BYTES,
    "pattern": "^ *[0-9.]+ *(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB) *$", "examples": ["512MiB", "150kB"],
}));

schema!(ByteRate, "ByteRate": |_| json_schema!({
    "type": "string", "description": BYTE_RATE,
    "pattern": "^ *[0-9.]+ *([kKmMgG]?[bB]|[kKmMgG][iI][bB])? *(/s)? *$", "examples": ["10KB/s", "64KiB/s"],
}));

schema!(BitRate, "BitRate": |_| json_schema!({
    "type": "string", "description": BIT_RATE, "pattern": "^ *[0-9.]+ *[kMG]?bit/s *$",
    "examples": ["54Mbit/s", "1Gbit/s"],
}));

schema!(ParameterValue, "ParameterValue": |_| json_schema!({
    "type": ["integer", "string"], "description": "a whole number or a string",
}));

schema!(Setting, "Setting", inline_schema: |_| json_schema!({
    "type": ["integer", "string"], "description": SETTING,
}));

schema!(LinkFile, "LinkOrPreset", inline_schema: |generator| {
    let table = generator.subschema_for::<LinkTable>();
    json_schema!({ "anyOf": [{ "type": "string", "examples": Link::PRESETS }, table] })
});

schema!(PoolFile, "Pool": |_| json_schema!({
    "description": POOL,
    "anyOf": [{ "type": "integer", "minimum": 1, "maximum": MOST_CONNECTIONS }, { "const": "unbounded" }],
}));

schema!(BlocksFile, "Blocks": |generator| {
    let (percent, seconds) = (generator.subschema_for::<Percent>(), generator.subschema_for::<Seconds>());
    let least = LEAST_FOR_A_RULE;
    json_schema!({
        "description": BLOCKS,
        "anyOf": [
            { "type": "integer", "minimum": 1 },
            {
                "type": "object",
                "properties": {
                    "until": percent,
                    "budget": seconds,
                    "at-least": { "type": "integer", "minimum": least, "description": "default 5" },
                    "at-most": { "type": "integer", "minimum": least },
                },
                "anyOf": [{ "required": ["until", "at-most"] }, { "required": ["budget"] }],
                "additionalProperties": false,
            },
        ],
    })
});

schema!(AaPair, "AaPair", inline_schema: |_| json_schema!({
    "anyOf": [{ "type": "boolean" }, { "const": "first" }],
}));

schema!(ToolFile, "Tool": |_| json_schema!({
    "description": TOOL,
    "anyOf": [
        { "enum": LoadTool::ALL.map(LoadTool::word) },
        {
            "type": "object",
            "properties": {
                "name": { "const": "k6" },
                "script": { "type": "string", "description": "a module whose default function is what a virtual user does" },
            },
            "required": ["name", "script"],
            "additionalProperties": false,
        },
    ],
}));

schema!(Written, "Number": |_| {
    let digits = r"-?[0-9]+(\.[0-9]+)?[kM]?";
    let pattern = format!(r"^ *((~|>=|>|<=|<|≥|≤)? *{digits}|{digits} *\+|{digits} *\.\. *{digits}) *$");
    json_schema!({
        "description": EXPECTED,
        "anyOf": [{ "type": "number" }, { "type": "string", "pattern": pattern }],
        "examples": [19.30, "~14000", ">= 400", "0.5..0.9"],
    })
});

schema!(WrittenNumbers, "Numbers": |generator| {
    let one = generator.subschema_for::<Written>();
    json_schema!({
        "description": "one number, or a list with one for each repetition, in a series for each instant",
        "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }],
    })
});

impl<T: JsonSchema> JsonSchema for Several<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Several_{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1, "uniqueItems": true }] })
    }
}

impl<T: JsonSchema> JsonSchema for Sorted<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        let numbers = generator.subschema_for::<WrittenNumbers>();
        let properties = schema.ensure_object().entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
            for family in &FAMILIES {
                // The reference has one line for all keys of a family.
                let keys = family.pattern();
                let figure = json!({ "description": sentence(family.meaning), "x-keys": keys, "allOf": [numbers] });
                properties.extend(family.keys().map(|(key, ..)| (key, figure.clone())));
            }
        }
        schema.insert("additionalProperties".to_owned(), json!(false));
        schema
    }
}
