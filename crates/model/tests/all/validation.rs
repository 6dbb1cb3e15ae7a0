//! Schema and reader agree. Every study, subject and workload of this repository, and every marked block of TOML in its
//! documents, is valid under the schema that editors use. What the schema refuses, the reader also refuses.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::schema;

use std::fs;
use std::path::{Path, PathBuf};

use regex_lite::Regex;
use schema::of_file;
use serde_json::{Map, Value};
use tolok_model::{Catalogue, Study, StudyFile, Subject, SubjectFile, Workload, WorkloadFile};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The JSON Schema keywords that our schemas use. An unknown keyword fails, so that nothing goes unchecked.
struct Schema<'a> {
    whole: &'a Value,
}

impl Schema<'_> {
    /// The problems of a document, each with its place.
    fn problems(&self, document: &Value) -> Vec<String> {
        let mut problems = Vec::new();
        self.check(self.whole, document, "", &mut problems);
        problems
    }

    fn is_sound(&self, schema: &Value, value: &Value) -> bool {
        let mut problems = Vec::new();
        self.check(schema, value, "", &mut problems);
        problems.is_empty()
    }

    fn check(&self, schema: &Value, value: &Value, place: &str, problems: &mut Vec<String>) {
        let Some(rules) = schema.as_object() else { return assert_eq!(*schema, Value::Bool(true), "{place}") };
        for (keyword, rule) in rules {
            let is_kept = match keyword.as_str() {
                "properties" | "additionalProperties" | "items" | "$ref" | "allOf" => {
                    self.descend((keyword, rule, rules), value, place, problems);
                    true
                }
                "anyOf" => options(rule).any(|option| self.is_sound(option, value)),
                "oneOf" => options(rule).filter(|option| self.is_sound(option, value)).count() == 1,
                keyword => is_kept(keyword, rule, value),
            };
            if !is_kept {
                problems.push(format!("{place}: {value} is not kept by {keyword} {rule}"));
            }
        }
    }

    /// Rules about the parts of a value.
    fn descend(
        &self,
        (keyword, rule, rules): (&str, &Value, &Map<String, Value>),
        value: &Value,
        place: &str,
        problems: &mut Vec<String>,
    ) {
        let known = rules.get("properties").and_then(Value::as_object);
        let is_known = |key: &str| known.is_some_and(|known| known.contains_key(key));
        match (keyword, value) {
            ("$ref", _) => {
                let name = rule.as_str().unwrap().trim_start_matches("#/definitions/");
                self.check(&self.whole["definitions"][name], value, place, problems);
            }
            ("allOf", _) => options(rule).for_each(|all| self.check(all, value, place, problems)),
            ("properties", Value::Object(fields)) => {
                for (key, field) in fields.iter().filter(|(key, _)| is_known(key)) {
                    self.check(&rule[key], field, &format!("{place}/{key}"), problems);
                }
            }
            ("additionalProperties", Value::Object(fields)) => {
                for (key, field) in fields.iter().filter(|(key, _)| !is_known(key)) {
                    match rule {
                        Value::Bool(false) => problems.push(format!("{place}: unknown key {key}")),
                        rule => self.check(rule, field, &format!("{place}/{key}"), problems),
                    }
                }
            }
            ("items", Value::Array(items)) => {
                items.iter().for_each(|item| self.check(rule, item, place, problems));
            }
            _ => {}
        }
    }
}

fn options(rule: &Value) -> impl Iterator<Item = &Value> {
    rule.as_array().unwrap().iter()
}

/// Rules about a value alone.
fn is_kept(keyword: &str, rule: &Value, value: &Value) -> bool {
    let is_least = |most: f64| value.as_f64().is_none_or(|number| number <= most);
    match keyword {
        "type" => match rule {
            Value::Array(several) => several.iter().any(|rule| is_type(rule, value)),
            rule => is_type(rule, value),
        },
        "const" => rule == value,
        "enum" => options(rule).any(|option| option == value),
        "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
        "maximum" => is_least(rule.as_f64().unwrap()),
        "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
        "uniqueItems" => {
            value.as_array().is_none_or(|items| (1..items.len()).all(|place| !items[..place].contains(&items[place])))
        }
        "pattern" => value.as_str().is_none_or(|text| Regex::new(rule.as_str().unwrap()).unwrap().is_match(text)),
        "required" => {
            value.as_object().is_none_or(|fields| options(rule).all(|key| fields.contains_key(key.as_str().unwrap())))
        }
        "$schema" | "title" | "description" | "default" | "examples" | "format" | "definitions" => true,
        other => panic!("this test does not know the keyword {other} of JSON Schema yet"),
    }
}

fn is_type(rule: &Value, value: &Value) -> bool {
    match rule.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("this test does not know the type {other} yet"),
    }
}

fn problems(schema: &Value, toml: &str) -> Vec<String> {
    let document: Value = toml::from_str(toml).unwrap();
    Schema { whole: schema }.problems(&document)
}

/// All files below a folder whose names end in `ending`.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => found.extend(files(&path, ending)),
            // A source's folder also has its replication, which has its own schema.
            false if path.ends_with("replication.toml") => {}
            false if path.to_string_lossy().ends_with(ending) => found.push(path),
            false => {}
        }
    }
    found
}

#[test]
fn all_studies_subjects_and_workloads_are_sound_by_their_schemas() {
    let kinds = [
        ("studies", ".toml", of_file::<StudyFile>()),
        ("subjects", "subject.toml", of_file::<SubjectFile>()),
        ("workloads", "workload.toml", of_file::<WorkloadFile>()),
    ];
    for (folder, ending, schema) in kinds {
        let found = files(&root().join(folder), ending);
        assert!(found.len() > 5, "{folder}: {found:?}");
        for file in found {
            let text = fs::read_to_string(&file).unwrap();
            assert_eq!(problems(&schema, &text), Vec::<String>::new(), "{}", file.display());
        }
    }
}

#[test]
fn every_study_names_its_schema_in_its_first_line() {
    for file in files(&root().join("studies"), ".toml") {
        let text = fs::read_to_string(&file).unwrap();
        let named =
            text.lines().next().unwrap().strip_prefix("#:schema ").unwrap_or_else(|| panic!("{}", file.display()));
        let schema = file.parent().unwrap().join(named);
        assert_eq!(
            fs::canonicalize(&schema).unwrap(),
            fs::canonicalize(root().join("schemas/study.schema.json")).unwrap()
        );
    }
}

#[test]
fn what_the_documents_show_is_sound_by_the_schemas() {
    let (study, subject, workload) = (of_file::<StudyFile>(), of_file::<SubjectFile>(), of_file::<WorkloadFile>());
    for document in [
        "CONTRIBUTING.md",
        "docs/databases.md",
        "docs/environment.md",
        "docs/guide.md",
        "docs/queue.md",
        "docs/tools.md",
    ] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        for part in text.split("<!-- check: ").skip(1) {
            let (kind, rest) = part.split_once(" -->\n```toml\n").unwrap();
            // A part of a file is not a whole file.
            if kind.contains(", but for its ") {
                continue;
            }
            let schema = match kind.split(' ').next().unwrap() {
                "subject" => &subject,
                "workload" => &workload,
                _ => &study,
            };
            let block = rest.split_once("```").unwrap().0;
            assert_eq!(problems(schema, block), Vec::<String>::new(), "{document}: {kind}\n{block}");
        }
    }
}

#[test]
fn what_a_schema_refuses_the_reader_refuses_as_well() {
    let scenario = "[[scenario]]\nworkload = 'hello'\nload = { executor = 'constant-vus', vus = 1, duration = '1s' }";
    let studies = [
        format!("title = 'T'\n{scenario}"),
        "title = 'T'\nsubjects = ['*']".to_owned(),
        format!("title = 'T'\nsubjects = ['*']\nblocks = 0\n{scenario}"),
        format!("title = 'T'\nsubjects = ['*']\nsmallest-effect = '3'\n{scenario}"),
        format!("title = 'T'\nsubjects = ['*']\nceiling = 'yes'\n{scenario}"),
        format!("title = 'T'\nsubjects = ['*']\ntitel = 'T'\n{scenario}"),
        format!("title = 'T'\nsubjects = ['*']\n{}", scenario.replace("'1s'", "'1'")),
        format!("title = 'T'\nsubjects = ['*']\n{}", scenario.replace("constant-vus", "constant-users")),
    ];
    for text in studies {
        assert!(!problems(&of_file::<StudyFile>(), &text).is_empty(), "{text}");
        assert!(Study::read(&text, &Catalogue::default()).is_err(), "{text}");
    }
    let subjects = [
        "title = 'T'\nruntime = 'go'\nworkloads = ['hello']",
        "title = 'T'\nruntime = 'go'\nworkloads = ['hello']\n[[process]]\nname = 's'",
        "title = 'T'\nruntime = 'go'\nworkloads = ['hello']\n[[process]]\nname = 's'\ncommand = ['s']\nstop = 'HUP'",
        "title = 'T'\nruntime = 'go'\nworkloads = []\n[[process]]\nname = 's'\ncommand = ['s']",
    ];
    for text in subjects {
        assert!(!problems(&of_file::<SubjectFile>(), text).is_empty(), "{text}");
        assert!(Subject::read("a/b", text).is_err(), "{text}");
    }
    let workloads = [
        "title = 'T'\n[request]\npath = '/a'",
        "title = 'T'\n[request]\npath = 'a'\n[answer]\ncontent-type = 'text/html'\nbody = 'b'",
        "title = 'T'\n[request]\nmethod = 'PUT'\npath = '/a'\n[answer]\ncontent-type = 'text/html'\nbody = 'b'",
        "title = 'T'\n[request]\npath = '/a'\n[answer]\nstatus = 99\ncontent-type = 'text/html'\nbody = 'b'",
    ];
    for text in workloads {
        assert!(!problems(&of_file::<WorkloadFile>(), text).is_empty(), "{text}");
        assert!(Workload::read("a", text).is_err(), "{text}");
    }
}
