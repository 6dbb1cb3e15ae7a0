//! `[[published]]` of a study, as written.

use serde::Deserialize;

use crate::JsonSchema;
use crate::catalogue::Catalogue;
use crate::plan::available::in_environments;
use crate::reading::table::{Spanned, Table};
use crate::reading::text::{Reading, Span};
use crate::study::published::{PublishedMetric, PublishedRatio};
use crate::study::{Study, SubjectSelector};
use crate::subject::Role;

/// `[[published]]` of a study: a published comparison of two subjects, as a ratio or as two values.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Published", extend("oneOf" = [{ "required": ["ratio"] }, { "required": ["a-value", "b-value"] }]))]
pub struct PublishedFile {
    /// Who published it: a few words for the report.
    #[schemars(required, with = "Option<String>")]
    pub source: Option<String>,
    /// Where in the source: `Table 5`.
    pub place: Option<String>,
    /// Id of the scenario as `tolok plan` prints it, or a workload that only one scenario uses.
    #[schemars(required, with = "Option<String>")]
    pub scenario: Option<Spanned<String>>,
    /// What was compared. Default `goodput`.
    pub metric: Option<PublishedMetric>,
    /// The first subject, as the study writes it.
    #[schemars(required, with = "Option<String>")]
    pub a: Option<Spanned<String>>,
    /// The second.
    #[schemars(required, with = "Option<String>")]
    pub b: Option<Spanned<String>>,
    /// The figure of the first over that of the second.
    pub ratio: Option<Spanned<f64>>,
    /// The figure of the first, in the same unit as `b-value`; instead of `ratio`.
    pub a_value: Option<Spanned<f64>>,
    /// The figure of the second.
    pub b_value: Option<Spanned<f64>>,
}

/// Reads all valid entries. It checks their scenarios against `study` only if nothing else is wrong, because scenarios
/// may be missing otherwise.
pub(crate) fn read_published(
    written: Vec<Table<PublishedFile>>,
    study: &Study,
    catalogue: &Catalogue,
    reading: &mut Reading,
) -> Vec<PublishedRatio> {
    let is_sound = !reading.has_problems();
    written.into_iter().filter_map(|table| read_one(table, study, catalogue, is_sound, reading)).collect()
}

fn read_one(
    table: Table<PublishedFile>,
    study: &Study,
    catalogue: &Catalogue,
    is_sound: bool,
    reading: &mut Reading,
) -> Option<PublishedRatio> {
    let Table { span, entries: written } = table;
    let source = reading.require(written.source, &span, "source", "source = \"a blog, 2026\"");
    let scenario = reading.require(written.scenario, &span, "scenario", "scenario = \"json-c64\"");
    let a = reading.require(written.a, &span, "a", "a = \"go/nethttp\"");
    let b = reading.require(written.b, &span, "b", "b = \"bun/serve\"");
    let ratio = read_ratio(written.ratio, (written.a_value, written.b_value), &span, reading);
    let scenario = scenario.and_then(|name| if is_sound { read_scenario(&name, study, reading) } else { None });
    let b_span = b.as_ref().map(Spanned::span);
    let [a, b] = [a, b].map(|name| read_subject(&name?, study, catalogue, reading));
    if let (Some(a), Some(b), Some(span)) = (&a, &b, b_span)
        && a == b
    {
        reading.note(span, "a subject is compared with itself", "name two subjects");
    }
    Some(PublishedRatio {
        source: source?,
        place: written.place,
        scenario: scenario?,
        metric: written.metric.unwrap_or(PublishedMetric::Goodput),
        a: a?,
        b: b?,
        ratio: ratio?,
    })
}

/// The ratio as written, or that of the two values.
fn read_ratio(
    ratio: Option<Spanned<f64>>,
    (a, b): (Option<Spanned<f64>>, Option<Spanned<f64>>),
    table: &Span,
    reading: &mut Reading,
) -> Option<f64> {
    let mut positive = |number: Spanned<f64>, key: &str| {
        let value = *number.get_ref();
        if value > 0.0 && value.is_finite() {
            return Some(value);
        }
        reading.note(number.span(), format!("`{key}` must be more than 0"), None);
        None
    };
    match (ratio, a, b) {
        (Some(ratio), None, None) => positive(ratio, "ratio"),
        (None, Some(a), Some(b)) => {
            let (a, b) = (positive(a, "a-value"), positive(b, "b-value"));
            Some(a? / b?)
        }
        (Some(ratio), ..) => {
            reading.note(ratio.span(), "the ratio is given twice", "leave out `ratio`, or `a-value` and `b-value`");
            None
        }
        (None, ..) => {
            let was_wrong = ["ratio", "a-value", "b-value"].iter().any(|key| reading.is_damaged(table, key));
            if !was_wrong {
                let help = "for example: ratio = 1.3, or a-value = 52000 and b-value = 40000";
                reading.note(table.clone(), "no ratio is given", help);
            }
            None
        }
    }
}

/// The id of the scenario that the text names by its id, or by a workload that only it has.
fn read_scenario(name: &Spanned<String>, study: &Study, reading: &mut Reading) -> Option<String> {
    let text = name.get_ref();
    // The scenarios of all environments, whether or not they are available here.
    let known = in_environments(study, &study.environments);
    if known.iter().any(|scenario| scenario.id == *text) {
        return Some(text.clone());
    }
    let has_workload = |workload: &str| workload == text || workload.split('?').next() == Some(text);
    let own = known.iter().filter(|scenario| has_workload(&scenario.workload));
    let own: Vec<&str> = own.map(|scenario| scenario.id.as_str()).collect();
    match own.as_slice() {
        [only] => return Some((*only).to_owned()),
        [] => {
            let ids: Vec<&str> = known.iter().map(|scenario| scenario.id.as_str()).collect();
            reading.note_unknown(name, "the study has no scenario", &ids);
        }
        several => {
            let message = format!("the workload `{text}` is in {} scenarios", several.len());
            reading.note(name.span(), message, format!("name one of them: {}", several.join(", ")));
        }
    }
    None
}

/// The label of a subject that the study lists.
fn read_subject(name: &Spanned<String>, study: &Study, catalogue: &Catalogue, reading: &mut Reading) -> Option<String> {
    let text = name.get_ref();
    let choice = match SubjectSelector::read(text, catalogue) {
        Ok(SubjectSelector::One(choice)) => choice,
        Ok(_) => {
            let help = "for example: \"go/nethttp\" or \"php/fpm:jit\"";
            reading.note(name.span(), format!("`{text}` is more than one subject"), help);
            return None;
        }
        Err((message, help)) => {
            reading.note(name.span(), message, help);
            return None;
        }
    };
    let subject = catalogue.subject(&choice.subject)?;
    let is_default =
        choice.variant == subject.default_variant && subject.choose(None, &Default::default()).ok()? == choice;
    let lists = |selector: &SubjectSelector| match selector {
        SubjectSelector::EveryReady => subject.role == Role::Subject && is_default,
        SubjectSelector::EveryVariant(id) => *id == choice.subject,
        SubjectSelector::One(listed) => *listed == choice,
    };
    // If a subject was wrong, the list may be incomplete.
    if !study.subjects.iter().any(lists) && !reading.was_wrong("subjects") && !study.subjects.is_empty() {
        reading.note(name.span(), format!("the study does not list `{text}`"), format!("it has {}", listed(study)));
        return None;
    }
    Some(choice.label)
}

/// The subjects of a study as it lists them.
fn listed(study: &Study) -> String {
    let words = |selector: &SubjectSelector| match selector {
        SubjectSelector::EveryReady => "*".to_owned(),
        SubjectSelector::EveryVariant(id) => format!("{id}:*"),
        SubjectSelector::One(choice) => choice.label.clone(),
    };
    study.subjects.iter().map(words).collect::<Vec<_>>().join(", ")
}
