//! Checks every report as JSON against the schema that is checked in.
//!
//! The validator supports only the JSON Schema keywords that ours uses, and panics at any other. It is stricter than JSON Schema: a
//! property that the schema does not name is an error, so that none is forgotten.

use serde_json::Value;

use super::*;

struct Validator {
    schema: Value,
}

impl Validator {
    /// What is wrong with a value, and where. `None` if it matches its schema.
    fn wrong(&self, schema: &Value, value: &Value, at: &str) -> Option<String> {
        let Some(rules) = schema.as_object() else { return (schema == false).then(|| format!("{at} must not be")) };
        rules.iter().find_map(|(word, rule)| match word.as_str() {
            "$ref" => self.wrong(self.definition(rule.as_str().unwrap()), value, at),
            "type" => {
                let allowed = rule.as_array().map_or_else(|| vec![rule], |several| several.iter().collect());
                let is_allowed = allowed.iter().any(|kind| is_of(kind.as_str().unwrap(), value));
                (!is_allowed).then(|| format!("{at} is {value} and no {rule}"))
            }
            "properties" => self.properties(rule, schema, value, at),
            "required" => {
                let object = value.as_object()?;
                let missing = rule.as_array().unwrap().iter().find(|name| !object.contains_key(name.as_str().unwrap()));
                missing.map(|name| format!("{at} has no {name}"))
            }
            "additionalProperties" => {
                let named = schema["properties"].as_object();
                let other =
                    value.as_object()?.iter().filter(|(name, _)| named.is_none_or(|named| !named.contains_key(*name)));
                other.into_iter().find_map(|(name, value)| self.wrong(rule, value, &format!("{at}.{name}")))
            }
            "items" => {
                let first = schema["prefixItems"].as_array().map_or(0, Vec::len);
                let items = value.as_array()?.iter().enumerate().skip(first);
                items.into_iter().find_map(|(place, item)| self.wrong(rule, item, &format!("{at}[{place}]")))
            }
            "prefixItems" => {
                let pairs = rule.as_array().unwrap().iter().zip(value.as_array()?).enumerate();
                pairs.into_iter().find_map(|(place, (rule, item))| self.wrong(rule, item, &format!("{at}[{place}]")))
            }
            "minItems" => (value.as_array()?.len() < rule.as_u64()? as usize).then(|| format!("{at} is too short")),
            "maxItems" => (value.as_array()?.len() > rule.as_u64()? as usize).then(|| format!("{at} is too long")),
            "minimum" => (value.as_f64()? < rule.as_f64()?).then(|| format!("{at} is below {rule}")),
            "maximum" => (value.as_f64()? > rule.as_f64()?).then(|| format!("{at} is above {rule}")),
            "const" => (value != rule).then(|| format!("{at} is {value} and not {rule}")),
            "enum" => (!rule.as_array().unwrap().contains(value)).then(|| format!("{at} is {value}, none of {rule}")),
            "anyOf" | "oneOf" => {
                let of: Vec<Option<String>> =
                    rule.as_array().unwrap().iter().map(|rule| self.wrong(rule, value, at)).collect();
                let fitting = of.iter().filter(|wrong| wrong.is_none()).count();
                let is_wrong = fitting == 0 || (word == "oneOf" && fitting > 1);
                is_wrong.then(|| format!("{at} fits {fitting} of {}: {of:?}", of.len()))
            }
            "$defs" | "$schema" | "title" | "description" | "format" | "default" => None,
            other => panic!("the check does not know {other:?}, at {at}"),
        })
    }

    fn properties(&self, rule: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
        let (named, object) = (rule.as_object().unwrap(), value.as_object()?);
        let unknown = object.keys().find(|name| !named.contains_key(*name) && schema["additionalProperties"].is_null());
        let of = |(name, value): (&String, &Value)| self.wrong(named.get(name)?, value, &format!("{at}.{name}"));
        unknown
            .map(|name| format!("{at} has {name}, which the schema does not name"))
            .or_else(|| object.iter().find_map(of))
    }

    fn definition(&self, reference: &str) -> &Value {
        let name = reference.strip_prefix("#/$defs/").unwrap();
        &self.schema["$defs"][name]
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other} is not a type"),
    }
}

fn validator() -> Validator {
    let text = include_str!("../../../../../schemas/report.schema.json");
    Validator { schema: serde_json::from_str(text).unwrap() }
}

#[test]
fn every_report_is_as_the_schema_says() {
    let validator = validator();
    for (name, findings) in every_edge_case() {
        let document: Value = serde_json::from_str(&text(findings, Format::Json)).unwrap();
        assert_eq!(validator.wrong(&validator.schema, &document, name), None);
    }
}

#[test]
fn the_check_finds_a_wrong_value_and_a_wrong_name() {
    let validator = validator();
    let document: Value = serde_json::from_str(&text(&edge_case("one-scenario"), Format::Json)).unwrap();
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut changed = document.clone();
        change(&mut changed);
        validator.wrong(&validator.schema, &changed, "it").unwrap_or_default()
    };
    assert_eq!(wrong(&|it| it["run"]["seed"] = "7".into()), "it.run.seed is \"7\" and no \"integer\"");
    assert_eq!(wrong(&|it| it["run"]["sead"] = 7.into()), "it.run has sead, which the schema does not name");
    assert_eq!(wrong(&|it| _ = it["run"].as_object_mut().unwrap().remove("seed")), "it.run has no \"seed\"");
    let verdict = wrong(&|it| it["scenarios"][0]["comparisons"][0]["verdict"] = "won".into());
    assert!(verdict.contains("comparisons[0].verdict"), "{verdict}");
}
