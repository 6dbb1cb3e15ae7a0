//! A subject's setup, in the words of its own `subject.toml`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tolok_model::{ParameterValue, Subject, SubjectChoice};

use crate::JsonSchema;

/// A subject's setup, as its file described it at the time of the run. Empty in runs that did not store it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SubjectSetup {
    /// What it is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Its variants.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variants: BTreeMap<String, VariantSetup>,
    /// Its parameters.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, ParameterSetup>,
    /// Its processes, or its program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<ProcessSetup>,
    /// Configuration files that are put into its folder. Their contents are not stored here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// A description of a variant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct VariantSetup {
    /// What is different, in a few words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub help: String,
    /// Work per response that others do and it does not, in a few words; absent if it does the same work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub less_work: Option<String>,
}

/// A description of a parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ParameterSetup {
    /// The value used by default.
    pub default: String,
    /// What it tunes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub help: String,
}

/// A process as declared. Parts in braces are filled in at the start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessSetup {
    /// Its name.
    pub name: String,
    /// Its command, each part a template.
    pub command: Vec<String>,
    /// Additional environment variables, each value a template.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

impl SubjectSetup {
    /// Reads the setup from a subject's file.
    pub(crate) fn of(subject: &Subject) -> Self {
        let process = |name: &str, command: &[String], env: &BTreeMap<String, String>| ProcessSetup {
            name: name.to_owned(),
            command: command.to_vec(),
            env: env.clone(),
        };
        let of_server = subject.processes.iter().map(|it| process(&it.name, &it.command, &it.env));
        let of_program = subject.program.iter().map(|it| process("program", &it.command, &it.env));
        let variants = subject.variants.iter().map(|(name, variant)| {
            let setup = VariantSetup { help: variant.help.clone(), less_work: variant.less_work.clone() };
            (name.clone(), setup)
        });
        let parameters = subject.parameters.iter().map(|(name, parameter)| {
            let setup = ParameterSetup { default: parameter.default.to_string(), help: parameter.help.clone() };
            (name.clone(), setup)
        });
        Self {
            summary: subject.summary.clone(),
            variants: variants.collect(),
            parameters: parameters.collect(),
            processes: of_server.chain(of_program).collect(),
            files: subject.files.iter().map(|file| file.to.clone()).collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What it is and how it runs, in words; `None` if the run did not store them.
    pub(crate) fn words(&self, choice: &SubjectChoice) -> Option<String> {
        let help = self.variants.get(&choice.variant).map(|variant| variant.help.as_str()).unwrap_or_default();
        let parts = [self.summary.as_str(), help].map(|part| part.trim_end_matches('.'));
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Work that others do and it does not, if its file states any.
    pub(crate) fn less_work(&self, choice: &SubjectChoice) -> Option<&str> {
        self.variants.get(&choice.variant)?.less_work.as_deref()
    }

    /// Whether a parameter sets the number of processes, threads or connections: an integer described with such words.
    pub(crate) fn is_number_of_workers(&self, name: &str, value: &ParameterValue) -> bool {
        const WORDS: [&str; 6] = ["process", "worker", "thread", "pool", "servers", "connections"];
        let help = self.parameters.get(name).map(|parameter| parameter.help.as_str()).unwrap_or_default();
        // Durations and switches are numbers, too.
        let is_other = name.ends_with("_s") || help.contains("seconds") || help.contains("1 or 0");
        let says = |text: &str| WORDS.iter().any(|word| text.to_lowercase().contains(word));
        let first = help.split(['(', ';', ',']).next().unwrap_or_default();
        matches!(value, ParameterValue::Integer(_)) && !is_other && (says(name) || says(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_a_subject_are_joined_without_their_full_stops() {
        let variant = VariantSetup { help: "the only way to run it.".to_owned(), less_work: None };
        let setup = SubjectSetup {
            summary: "Large files go by sendfile.".to_owned(),
            variants: [("default".to_owned(), variant)].into(),
            ..SubjectSetup::default()
        };
        let choice = SubjectChoice {
            subject: "rust/ceiling".to_owned(),
            variant: "default".to_owned(),
            parameters: Default::default(),
            label: "rust/ceiling:default".to_owned(),
        };
        assert_eq!(setup.words(&choice).unwrap(), "Large files go by sendfile; the only way to run it");
    }

    #[test]
    fn a_number_of_workers_is_known_by_its_words() {
        let help = |help: &str| ParameterSetup { default: "1".to_owned(), help: help.to_owned() };
        let parameters = [
            ("pool", help("PHP-FPM processes (pm.max_children)")),
            ("start_servers", help("processes at the start (StartServers)")),
            ("keep_alive_timeout_s", help("seconds that a process waits for the next request")),
            ("max_keep_alive_requests", help("requests after which a connection is closed, 0 for never")),
            ("opcache_cli", help("opcache.enable_cli: 1 or 0; for worker processes")),
        ];
        let parameters = parameters.map(|(name, setup)| (name.to_owned(), setup)).into();
        let setup = SubjectSetup { parameters, ..SubjectSetup::default() };
        let check = |name: &str, value: ParameterValue, expected: bool| {
            assert_eq!(setup.is_number_of_workers(name, &value), expected, "{name}");
        };
        check("pool", ParameterValue::Integer(16), true);
        check("start_servers", ParameterValue::Integer(5), true);
        check("keep_alive_timeout_s", ParameterValue::Integer(5), false);
        check("max_keep_alive_requests", ParameterValue::Integer(100), false);
        check("opcache_cli", ParameterValue::Integer(1), false);
        check("workers", ParameterValue::Integer(4), true);
        check("workers", ParameterValue::Text("auto".to_owned()), false);
    }
}
