//! The pages of docs/reference that are generated from the JSON Schemas: every key with its type, default and meaning.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::schema;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

use regex_lite::Regex;
use schema::of_file;
use serde_json::{Map, Value};
use tolok_model::transcription::TranscriptionFile;
use tolok_model::{StudyFile, SubjectFile, WorkloadFile};

const HOW: &str = "TOLOK_WRITE_REFERENCE=1 cargo test -p tolok-model -p tolok-cli reference";

/// Compares a page with the generated one. With `TOLOK_WRITE_REFERENCE` set, writes it instead.
fn check(name: &str, generated: &str) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(format!("{name}.md"));
    if std::env::var_os("TOLOK_WRITE_REFERENCE").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, generated).unwrap();
        return;
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == generated, "docs/reference/{name}.md is out of date; regenerate it with\n{HOW}");
}

/// A page under construction.
struct Page<'a> {
    schema: &'a Value,
    text: String,
    /// Tables that have a section, and those that still need one: name of the definition, and its place as written.
    known: BTreeSet<String>,
    open: Vec<(String, String)>,
    /// Kinds of values to explain at the end.
    kinds: BTreeSet<String>,
    /// Rows of keys, each with the table where it first appears.
    explained: BTreeMap<String, String>,
}

fn page(title: &str, head: &str, schema: &Value) -> String {
    let mut page = Page {
        schema,
        text: String::new(),
        known: BTreeSet::new(),
        open: Vec::new(),
        kinds: BTreeSet::new(),
        explained: BTreeMap::new(),
    };
    let _ = write!(page.text, "# {title}\n\n<!-- Generated, as CONTRIBUTING.md says -->\n\n{head}\n\n");
    let _ = writeln!(page.text, "## At the top\n");
    page.table(schema, "");
    while !page.open.is_empty() {
        let (name, place) = page.open.remove(0);
        let definition = &schema["definitions"][&name];
        let _ = writeln!(page.text, "\n## `{place}`\n\n{}\n", words(definition));
        page.table(definition, &place);
    }
    page.explain_kinds();
    page.text
}

impl Page<'_> {
    /// The keys of a table, required ones first. A key that an earlier table has with the same words is only named.
    fn table(&mut self, table: &Value, place: &str) {
        let required: Vec<&str> =
            table["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let empty = Map::new();
        let keys = table["properties"].as_object().unwrap_or(&empty);
        let (must, may): (Vec<_>, Vec<_>) = keys.iter().partition(|(key, _)| required.contains(&key.as_str()));
        // One line may describe many keys.
        let mut told: BTreeSet<&str> = BTreeSet::new();
        let (mut rows, mut repeated) = (Vec::new(), BTreeMap::<String, Vec<String>>::new());
        for (key, schema) in must.into_iter().chain(may) {
            let key = match schema["x-keys"].as_str() {
                Some(several) if !told.insert(several) => continue,
                several => several.unwrap_or(key.as_str()),
            };
            let bare = place.trim_matches(['[', ']']);
            let path = if bare.is_empty() { key.to_owned() } else { format!("{bare}.{key}") };
            let kind = self.kind(schema, &path);
            let (default, meaning) = default_and_meaning(schema);
            let default = match default.as_str() {
                _ if required.contains(&key) => "; required".to_owned(),
                "none" => String::new(),
                default => format!("; default {default}"),
            };
            let row = format!("- **`{key}`** ({kind}{default}): {meaning}\n");
            match self.explained.get(&row) {
                Some(place) => repeated.entry(place.clone()).or_default().push(format!("`{key}`")),
                None => rows.push(row),
            }
        }
        let mut parts = Vec::new();
        if !rows.is_empty() {
            parts.push(rows.concat());
        }
        let as_elsewhere: Vec<String> = repeated
            .iter()
            .map(|(place, keys)| match place.as_str() {
                "" => format!("As [at the top](#at-the-top): {}.", keys.join(", ")),
                place => format!("As in [`{place}`](#{}): {}.", anchor(place), self.keys_of(place, keys)),
            })
            .collect();
        if !as_elsewhere.is_empty() {
            parts.push(as_elsewhere.join(" ") + "\n");
        }
        self.text += &parts.join("\n");
        self.explained.extend(rows.into_iter().map(|row| (row, place.to_owned())));
    }

    /// Keys that an earlier table explains. If they are most of its keys, names the others instead.
    fn keys_of(&self, place: &str, keys: &[String]) -> String {
        let key_of = |row: &String| row.split("**").nth(1).unwrap_or_default().to_owned();
        let others: Vec<String> = self
            .explained
            .iter()
            .filter(|(_, of)| *of == place)
            .map(|(row, _)| key_of(row))
            .filter(|key| !keys.contains(key))
            .collect();
        match others.as_slice() {
            [] => "all keys".to_owned(),
            others if 2 * others.len() < keys.len() => format!("all keys but {}", others.join(", ")),
            _ => keys.join(", "),
        }
    }

    /// The type of a value, in words. Tables get their own section.
    fn kind(&mut self, schema: &Value, path: &str) -> String {
        if let Some(name) = schema["$ref"].as_str() {
            return self.named(name.trim_start_matches("#/definitions/"), path);
        }
        if let Some(several) = ["allOf", "anyOf", "oneOf"].into_iter().find_map(|keyword| schema[keyword].as_array()) {
            let kinds: Vec<String> = several.iter().map(|option| self.kind(option, path)).collect();
            return match kinds.as_slice() {
                // One of something, or a list of it.
                [one, list] if *list == format!("list of: {one}") => format!("{one}; or a list"),
                kinds => kinds.join("; or "),
            };
        }
        match schema["type"].as_str() {
            _ if schema["const"].is_string() => format!("`{}`", schema["const"]),
            _ if schema["enum"].is_array() => listed(schema["enum"].as_array().unwrap()),
            Some("array") => self.list(schema, path),
            Some("object") if schema["additionalProperties"].is_object() => {
                let of = self.kind(&schema["additionalProperties"], &format!("{path}.NAME"));
                format!("names, each with: {of}")
            }
            Some("object") => self.inline(schema, path),
            Some("string") => "text".to_owned(),
            Some("boolean") => "boolean".to_owned(),
            Some("integer") => format!("integer{}", bounds(schema)),
            Some("number") => format!("number{}", bounds(schema)),
            _ => "integer or text".to_owned(),
        }
    }

    fn list(&mut self, schema: &Value, path: &str) -> String {
        let item = &schema["items"];
        let is_table =
            item["$ref"].as_str().is_some_and(|name| self.is_table(name.trim_start_matches("#/definitions/")));
        if is_table {
            let name = item["$ref"].as_str().unwrap().trim_start_matches("#/definitions/").to_owned();
            let place = format!("[[{path}]]");
            self.ask_for(name, &place);
            return format!("[`{place}`](#{})", anchor(&place));
        }
        format!("list of: {}", self.kind(item, path))
    }

    /// A small table without a name.
    fn inline(&mut self, schema: &Value, path: &str) -> String {
        let keys = schema["properties"].as_object().unwrap();
        let keys: Vec<String> =
            keys.iter().map(|(key, value)| format!("`{key}`: {}", self.kind(value, path))).collect();
        format!("table of {}", keys.join(", "))
    }

    fn is_table(&self, name: &str) -> bool {
        let definition = &self.schema["definitions"][name];
        definition["type"] == "object" && definition["properties"].is_object()
    }

    fn named(&mut self, name: &str, path: &str) -> String {
        if self.is_table(name) && path.is_empty() {
            // A kind of value has no place of its own.
            let definition = self.schema["definitions"][name].clone();
            let text = words(&definition);
            let what = text[..1].to_lowercase() + text[1..].trim_end_matches('.');
            return format!("{what}, a {}", self.inline(&definition, ""));
        }
        if self.is_table(name) {
            let place = format!("[{path}]");
            self.ask_for(name.to_owned(), &place);
            let place = self.place_of(name).unwrap_or(place);
            return format!("[`{place}`](#{})", anchor(&place));
        }
        let definition = self.schema["definitions"][name].clone();
        // Short forms are explained in place; a form that needs examples has its own paragraph.
        match definition["oneOf"].as_array().or(definition["enum"].as_array()) {
            Some(values) => {
                self.kinds.insert(name.to_owned());
                let words: Vec<Value> = values
                    .iter()
                    .map(|it| if it["const"].is_null() { it.clone() } else { it["const"].clone() })
                    .collect();
                format!("[{}](#{})", listed(&words), anchor(&spoken(name)))
            }
            None => {
                self.kinds.insert(name.to_owned());
                format!("[{}](#{})", spoken(name), anchor(&spoken(name)))
            }
        }
    }

    fn ask_for(&mut self, name: String, place: &str) {
        if self.known.insert(name.clone()) {
            self.open.push((name.clone(), place.to_owned()));
        }
    }

    /// The heading of a table that is used in several places.
    fn place_of(&self, name: &str) -> Option<String> {
        let open = self.open.iter().find(|(open, _)| open == name).map(|(_, place)| place.clone());
        open.or_else(|| {
            let head = words(&self.schema["definitions"][name]);
            let before = self.text.split(&format!("`\n\n{head}\n")).next()?;
            before.rsplit("\n## `").next().filter(|_| before.len() < self.text.len()).map(str::to_owned)
        })
    }

    fn explain_kinds(&mut self) {
        if self.kinds.is_empty() {
            return;
        }
        let _ = writeln!(self.text, "\n## Kinds of values");
        let mut kinds: Vec<String> = self.kinds.iter().cloned().collect();
        while let Some(name) = kinds.first().cloned() {
            kinds.remove(0);
            let definition = self.schema["definitions"][&name].clone();
            let values = definition["oneOf"].as_array().cloned().unwrap_or_default();
            let meaning = words(&definition);
            let _ = writeln!(self.text, "\n### {}\n", spoken(&name));
            // A single sentence before explained values would only repeat what the key says.
            if values.is_empty() {
                let _ = writeln!(self.text, "{}", sentence(&meaning));
            } else if meaning.contains(". ") {
                let _ = writeln!(self.text, "{}\n", sentence(&meaning));
            }
            for value in values.iter().filter(|value| value["const"].is_string()) {
                let _ = writeln!(self.text, "- `{}`: {}", value["const"], words(value));
            }
            let known = self.kinds.len();
            // A kind may consist of others.
            if values.is_empty() {
                self.kind(&definition, "");
            }
            if self.kinds.len() > known {
                let later: Vec<String> =
                    self.kinds.iter().filter(|it| **it > name && !kinds.contains(it)).cloned().collect();
                kinds.extend(later);
            }
        }
    }
}

fn words(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let whole = first + letters.as_str();
    if whole.ends_with('.') { whole } else { whole + "." }
}

/// Splits a description into the default and the rest. The default is a sentence of its own, or in brackets after a
/// value.
fn default_and_meaning(schema: &Value) -> (String, String) {
    let text = words(schema);
    let sentence = Regex::new(r"\s*Default:? (`[^`]*`|[^.;]*)([.;])\s*").unwrap();
    if let Some(found) = sentence.captures(&text) {
        let rest = match (text[..found.get(0).unwrap().start()].trim_end(), &text[found.get(0).unwrap().end()..]) {
            (before, after) if after.is_empty() || before.is_empty() => format!("{before}{after}"),
            (before, after) => format!("{before} {after}"),
        };
        return (found[1].to_owned(), rest);
    }
    if let Some(found) = Regex::new(r"(`[^`]+`)(?: \(|, )default\)").unwrap().captures(&text) {
        let bracket = found.get(0).unwrap();
        let value = &found[1];
        // `word (default)` keeps the word; `(word, default)` also keeps the brackets.
        let kept = if text[..bracket.start()].ends_with('(') { format!("{value})") } else { value.to_owned() };
        return (value.to_owned(), format!("{}{kept}{}", &text[..bracket.start()], &text[bracket.end()..]));
    }
    let is_something =
        |value: &&Value| !value.is_null() && **value != "" && value.as_array().is_none_or(|it| !it.is_empty());
    let stored =
        schema.get("default").filter(is_something).filter(|value| value.as_object().is_none_or(|it| !it.is_empty()));
    (stored.map(|value| format!("`{value}`")).unwrap_or_else(|| "none".to_owned()), text)
}

fn bounds(schema: &Value) -> String {
    let number = |keyword: &str| schema[keyword].as_f64();
    match (number("minimum").filter(|least| *least > 0.0), number("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" from {least}"),
        (None, Some(most)) => format!(" up to {most}"),
        (None, None) => String::new(),
    }
}

fn listed(values: &[Value]) -> String {
    values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
}

/// `BitRate` as `bit rate`, `ScenarioFile` as `scenario`.
fn spoken(name: &str) -> String {
    let bare = name.strip_suffix("File").or(name.strip_suffix("Name")).or(name.strip_suffix("Word")).unwrap_or(name);
    Regex::new("([a-z])([A-Z])").unwrap().replace_all(bare, "$1 $2").to_lowercase()
}

/// The anchor that GitHub makes of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[test]
fn reference_of_studies_is_up_to_date() {
    let head = "A study is a file in `studies/`, or anywhere. How to write one: [guide.md](../guide.md#writing-a-study). `tolok plan \
                FILE` reads it, reports every mistake at once and prints every value that holds; `tolok new study NAME` begins one. \
                Unknown keys are mistakes. With `#:schema ../schemas/study.schema.json` in its first line, an editor checks it.";
    check("study", &page("study.toml", head, &of_file::<StudyFile>()));
}

#[test]
fn reference_of_subjects_is_up_to_date() {
    let head = "A subject is a folder `subjects/<runtime>/<name>/` with this file and its sources. What a server must do, and what \
                templates can name: [CONTRIBUTING.md](../../CONTRIBUTING.md#a-subject). `tolok new subject NAME` begins one, and \
                `tolok check SUBJECT` checks its responses.";
    check("subject", &page("subject.toml", head, &of_file::<SubjectFile>()));
}

#[test]
fn reference_of_workloads_is_up_to_date() {
    let head = "A workload is a folder `workloads/<name>/` with this file, the bytes of its answer where they are stored, and a \
                README that says why. More: [CONTRIBUTING.md](../../CONTRIBUTING.md#a-workload). `tolok new workload NAME` begins one.";
    check("workload", &page("workload.toml", head, &of_file::<WorkloadFile>()));
}

#[test]
fn reference_of_transcriptions_is_up_to_date() {
    let head = "A transcription is a file in `published/`, or anywhere: a published comparison as data. How to write one: \
                [transcribe.md](../transcribe.md). `tolok audit FILE` reads it, reports every mistake at once and compares its figures \
                with each other; `tolok new audit NAME` begins one. Unknown keys are mistakes. With `#:schema \
                ../schemas/transcription.schema.json` in its first line, an editor checks it.";
    check("transcription", &page("A transcription", head, &of_file::<TranscriptionFile>()));
}

#[test]
fn reference_of_limits_is_up_to_date() {
    let mut text = "# Limits\n\n<!-- Generated, as CONTRIBUTING.md says -->\n\n\
         tolok takes no more than this from others, and says in one sentence what to do instead.\n\n"
        .to_owned();
    for bound in tolok_model::limits::ALL {
        let _ = writeln!(text, "- {}: {}; {}", bound.of, bound.most_words(), bound.instead);
    }
    check("limits", &text);
}
