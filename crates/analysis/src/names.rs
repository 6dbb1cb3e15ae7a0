//! What a report needs and a plan lacks: titles of subjects and workloads, and the setups of subjects.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tolok_model::{Catalogue, ProgramWorkload, Protocol, Scenario, SubjectChoice, Workload, WorkloadParameter};

use crate::setup::SubjectSetup;

/// Titles of subjects and workloads at the time of the run.
///
/// They are stored beside the plan, so the report of an old run does not change when a subject gets a new title.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// Names by id of the subject: `go/nethttp`.
    pub subjects: BTreeMap<String, SubjectName>,
    /// Titles by name of the workload, and by its text if a study set parameters: `rows?fields=40&limit=1000`.
    pub workloads: BTreeMap<String, String>,
    /// Values of parameters by name of the workload, for texts that omit them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, BTreeMap<String, u32>>,
}

/// The title and the setup of a subject.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectName {
    /// A few words for tables: `Go net/http`.
    pub title: String,
    /// One word for charts and sentences; empty if the title is short enough.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub short: String,
    /// Its runtime, which gives the colour: `go`.
    pub runtime: String,
    /// The variant to use when none is named.
    pub default_variant: String,
    /// Its setup, in the words of its own file; empty in runs that did not store it.
    #[serde(default, skip_serializing_if = "SubjectSetup::is_empty")]
    pub setup: SubjectSetup,
}

impl Names {
    /// The names of all subjects and workloads in a catalogue.
    pub fn of(catalogue: &Catalogue) -> Self {
        let subject_name = |subject: &tolok_model::Subject| SubjectName {
            title: subject.title.clone(),
            short: subject.short.clone(),
            runtime: subject.runtime.clone(),
            default_variant: subject.default_variant.clone(),
            setup: SubjectSetup::of(subject),
        };
        let of_servers = catalogue.workloads.iter().map(|it| (it.name.clone(), it.title.clone()));
        let of_programs = catalogue.programs.iter().map(|it| (it.name.clone(), it.title.clone()));
        let of_servers_parameters =
            catalogue.workloads.iter().filter_map(|it| defaults(&it.name, &it.parameters, &it.values));
        let of_programs_parameters =
            catalogue.programs.iter().filter_map(|it| defaults(&it.name, &it.parameters, &it.values));
        Self {
            subjects: catalogue.subjects.iter().map(|subject| (subject.id.clone(), subject_name(subject))).collect(),
            workloads: of_servers.chain(of_programs).collect(),
            parameters: of_servers_parameters.chain(of_programs_parameters).collect(),
        }
    }

    /// Adds titles of workloads whose parameters a study has set.
    pub fn with_workloads<'a>(mut self, chosen: impl IntoIterator<Item = &'a Workload>) -> Self {
        self.workloads.extend(chosen.into_iter().map(|it| (it.name.clone(), it.title.clone())));
        self
    }

    /// Adds titles of the workloads of programs.
    pub fn with_programs<'a>(mut self, chosen: impl IntoIterator<Item = &'a ProgramWorkload>) -> Self {
        self.workloads.extend(chosen.into_iter().map(|it| (it.name.clone(), it.title.clone())));
        self
    }

    /// Whether this is a reference: it declares that it does less work, so it shows a limit and cannot replace another subject.
    pub(crate) fn is_reference(&self, choice: &SubjectChoice) -> bool {
        self.subjects.get(&choice.subject).is_some_and(|name| name.setup.less_work(choice).is_some())
    }

    /// Title of a workload. If only the title of its name is known, the parameters follow it. If no title is known, the result is
    /// the workload's text.
    pub(crate) fn workload(&self, text: &str) -> String {
        if let Some(title) = self.workloads.get(text) {
            return title.clone();
        }
        let (name, values) = text.split_once('?').unwrap_or((text, ""));
        match self.workloads.get(name) {
            Some(title) => format!("{title} ({})", values.replace('&', ", ")),
            None => text.to_owned(),
        }
    }

    /// Title of a scenario: its workload, and its protocol as studies name it, unless that is the default.
    pub(crate) fn scenario(&self, scenario: &Scenario) -> String {
        let (title, protocol) = (self.workload(&scenario.workload), scenario.protocol.word());
        match (scenario.protocol, scenario.streams) {
            (Protocol::Http1, _) => title,
            (spoken, streams) if streams == 1 || !spoken.is_http2() => format!("{title} · {protocol}"),
            (_, streams) => format!("{title} · {protocol}, {streams} streams"),
        }
    }

    /// Rows in a response, or `None` if the workload returns no rows or its parameters are unknown.
    pub(crate) fn rows_per_answer(&self, text: &str) -> Option<u32> {
        match text.split('?').next()? {
            "rows" => self.value(text, "limit"),
            "queries" => self.value(text, "n"),
            "query" => Some(1),
            _ => None,
        }
    }

    /// The value of a workload's parameter, or its default.
    fn value(&self, text: &str, parameter: &str) -> Option<u32> {
        self.values(text).get(parameter).copied()
    }

    /// Every parameter of a workload with its value or default.
    pub(crate) fn values(&self, text: &str) -> BTreeMap<String, u32> {
        let (name, values) = text.split_once('?').unwrap_or((text, ""));
        let mut all = self.parameters.get(name).cloned().unwrap_or_default();
        let pairs = values.split('&').filter_map(|pair| pair.split_once('='));
        all.extend(pairs.filter_map(|(key, value)| Some((key.to_owned(), value.parse().ok()?))));
        all
    }

    /// Runtime of a subject, or the first part of its id as a fallback.
    pub(crate) fn runtime(&self, subject: &str) -> String {
        let of_id = || subject.split('/').next().unwrap_or(subject);
        self.subjects.get(subject).map_or_else(|| of_id().to_owned(), |name| name.runtime.clone())
    }

    /// Title of a subject with its variant and parameters. They are omitted only if they are the defaults and no sibling of the
    /// subject is listed.
    pub(crate) fn title(&self, choice: &SubjectChoice, has_siblings: bool) -> String {
        let name = self.subjects.get(&choice.subject);
        self.in_its_way(name.map_or(choice.subject.as_str(), |name| name.title.as_str()), choice, has_siblings)
    }

    /// The short form, for charts and sentences.
    pub(crate) fn short(&self, choice: &SubjectChoice, has_siblings: bool) -> String {
        match self.subjects.get(&choice.subject).filter(|name| !name.short.is_empty()) {
            Some(name) => self.in_its_way(&name.short, choice, has_siblings),
            None => self.title(choice, has_siblings),
        }
    }

    fn in_its_way(&self, title: &str, choice: &SubjectChoice, has_siblings: bool) -> String {
        let name = self.subjects.get(&choice.subject);
        let way = choice.label.strip_prefix(&choice.subject).unwrap_or(&choice.label).trim_start_matches(':');
        let is_default = name.is_some_and(|name| name.default_variant == way) || way.is_empty();
        if is_default && !has_siblings || way.is_empty() {
            return title.to_owned();
        }
        format!("{title} ({})", way.replace(['?', '&'], ", "))
    }
}

/// The defaults of a workload's parameters, or `None` if it has no parameters.
fn defaults(
    name: &str,
    parameters: &BTreeMap<String, WorkloadParameter>,
    values: &BTreeMap<String, u32>,
) -> Option<(String, BTreeMap<String, u32>)> {
    let defaults = parameters.iter().map(|(name, parameter)| (name.clone(), parameter.default));
    let defaults: BTreeMap<String, u32> = defaults.chain(values.clone()).collect();
    (!defaults.is_empty()).then(|| (name.to_owned(), defaults))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(label: &str) -> SubjectChoice {
        let (subject, way) = label.split_once(':').unwrap_or((label, ""));
        let variant = way.split('?').next().unwrap_or_default();
        SubjectChoice {
            subject: subject.to_owned(),
            variant: variant.to_owned(),
            parameters: BTreeMap::new(),
            label: label.to_owned(),
        }
    }

    #[test]
    fn a_title_says_how_the_subject_is_run_unless_it_is_the_usual_way() {
        let (title, runtime, default_variant) = ("PHP-FPM".into(), "php-fpm".into(), "plain".into());
        let name = SubjectName { title, runtime, default_variant, ..SubjectName::default() };
        let names = Names { subjects: [("php/fpm".to_owned(), name)].into(), ..Names::default() };
        let check = |label: &str, has_siblings, title: &str| {
            assert_eq!(names.title(&choice(label), has_siblings), title, "{label}");
        };
        check("php/fpm:plain", false, "PHP-FPM");
        check("php/fpm:plain", true, "PHP-FPM (plain)");
        check("php/fpm:jit", false, "PHP-FPM (jit)");
        check("php/fpm:plain?pool=32&jit=on", false, "PHP-FPM (plain, pool=32, jit=on)");
        check("unknown/one:default", true, "unknown/one (default)");
    }

    fn rows() -> Names {
        let parameters = [("fields".to_owned(), 40), ("limit".to_owned(), 10_000)].into();
        Names {
            workloads: [("rows".to_owned(), "Rows of a table".to_owned())].into(),
            parameters: [("rows".to_owned(), parameters)].into(),
            ..Names::default()
        }
    }

    #[test]
    fn a_workload_is_called_by_its_text_its_name_or_itself() {
        let mut names = rows();
        assert_eq!(names.workload("rows"), "Rows of a table");
        assert_eq!(names.workload("rows?fields=40&limit=5"), "Rows of a table (fields=40, limit=5)");
        assert_eq!(names.workload("other?n=3"), "other?n=3");
        names.workloads.insert("rows?fields=40&limit=5".to_owned(), "5 rows of 40 fields".to_owned());
        assert_eq!(names.workload("rows?fields=40&limit=5"), "5 rows of 40 fields");
    }

    #[test]
    fn a_value_is_what_the_text_says_or_else_the_default() {
        let check = |text: &str, fields: u32, limit: u32| {
            assert_eq!(
                rows().values(text),
                [("fields".to_owned(), fields), ("limit".to_owned(), limit)].into(),
                "{text}"
            );
        };
        check("rows", 40, 10_000);
        check("rows?limit=7", 40, 7);
        check("rows?fields=1&limit=2", 1, 2);
        assert_eq!(rows().values("hello"), BTreeMap::new());
    }

    #[test]
    fn rows_are_what_the_text_says_or_else_the_default() {
        let rows = rows();
        let check = |text: &str, expected: Option<u32>| assert_eq!(rows.rows_per_answer(text), expected, "{text}");
        check("rows?fields=50&limit=1000", Some(1_000));
        check("rows?fields=50", Some(10_000));
        check("rows", Some(10_000));
        check("queries?n=20", Some(20));
        check("queries", None);
        check("query", Some(1));
        check("counter", None);
        check("hello", None);
    }
}
