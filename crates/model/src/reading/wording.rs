//! Rewords serde's messages for people, and guesses what was meant.

use toml::de::DeValue;

use crate::reading::entries::{Entry, Step};

/// Implements the word for each variant of an enum, as files and reports have it, and the list of all variants in
/// order.
macro_rules! words {
    ($type:ident { $($variant:ident: $word:literal),+ $(,)? }) => {
        impl $type {
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}
pub(crate) use words;

/// What is wrong with an entry.
pub struct Explained {
    /// What is wrong, as a lowercase fragment.
    pub message: String,
    /// What to do about it, if known.
    pub help: Option<String>,
    /// The key that a misspelt key probably stands for. It is then not missing.
    pub meant: Option<String>,
}

/// Keys of `load` that look like a scenario's own.
const OF_LOAD: [&str; 8] = ["executor", "vus", "rate", "stages", "iterations", "duration", "think-time", "warmup"];

/// Keys of a whole study, which in TOML belong above its first table.
const OF_STUDY: [&str; 9] =
    ["title", "question", "subjects", "blocks", "seed", "smallest-effect", "judge", "ceiling", "reruns"];

/// What is wrong with `entry`, which holds `value`, and what may be meant.
pub fn explain(message: &str, entry: &Entry, value: Option<&DeValue<'_>>) -> Explained {
    let (what, expected) = message.rsplit_once(", expected ").unwrap_or((message, ""));
    let names: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let unknown = |kind: &str, name: &str| (format!("unknown {kind} `{name}`"), Some(suggestion(name, &names)));
    let mut meant = None;
    let (message, help) = match (entry.path.last(), value) {
        (Some(Step::Key(key)), _) if entry.is_key && what.starts_with("unknown field") => {
            meant = closest(key, &names).map(str::to_owned);
            let of_load = names.contains(&"load") && OF_LOAD.contains(&key.as_str());
            let of_study = names.contains(&"workload") && names.contains(&"load") && OF_STUDY.contains(&key.as_str());
            let help = of_load.then(|| format!("it belongs into `load`: load = {{ executor = …, {key} = … }}"));
            let help = help
                .or(of_study
                    .then(|| "it belongs to the whole study: write it above the first `[[scenario]]`".to_owned()));
            let (message, known) = unknown("key", key);
            (message, help.or(known))
        }
        (_, Some(DeValue::String(text))) if what.starts_with("unknown variant") => unknown("value", text),
        (_, Some(value)) => (wrong_value(what, expected, value).unwrap_or_else(|| message.to_owned()), None),
        (_, None) => (message.to_owned(), None),
    };
    Explained { message, help, meant }
}

/// Describes a value of the wrong type, or returns `None` if the message is about something else.
fn wrong_value(what: &str, expected: &str, value: &DeValue<'_>) -> Option<String> {
    let expected = match expected {
        _ if !what.starts_with("invalid type") && !what.starts_with("invalid value") => return None,
        "u16" if value.is_integer() => "a whole number from 0 to 65,535",
        "u32" if value.is_integer() => "a whole number from 0 to 4,294,967,295",
        "u64" | "usize" if value.is_integer() => "a whole number that is not negative",
        "u16" | "u32" | "u64" | "usize" => "a whole number",
        "f64" => "a number",
        "a boolean" => "`true` or `false`",
        "a sequence" => "a list",
        "a map" => "a table",
        structure if structure.starts_with("struct ") && value.is_datetime() => "a table",
        words => words,
    };
    Some(format!("expected {expected}, found {}", describe(value)))
}

fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the string \"{text}\""),
        DeValue::Integer(number) => format!("the number {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(is_true) => format!("`{is_true}`"),
        DeValue::Datetime(date) => format!("the date {date}"),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// The name that `wrong` may mean, and all of `names`.
pub fn suggestion(wrong: &str, names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let near = closest(wrong, &names).map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
    let all = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    format!("{near}known here: {all}")
}

/// The one name that `wrong` may mean, or else the three nearest of `names`, as a sentence.
pub(crate) fn likely(wrong: &str, names: &[&str]) -> String {
    match closest(wrong, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("near are {}.", nearest(wrong, names, 3).join(", ")),
    }
}

/// The names without repetitions, in order.
pub(crate) fn each_once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known: Vec<&str> = Vec::new();
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

/// The `most` names most similar to `wrong`, best first. Ties go to later names, which for runs are the newer ones.
pub fn nearest<'a>(wrong: &str, names: &[&'a str], most: usize) -> Vec<&'a str> {
    let mut ranked: Vec<(f64, &str)> = names.iter().map(|name| (likeness(wrong, name), *name)).collect();
    ranked.sort_by(|(left, earlier), (right, later)| right.total_cmp(left).then(later.cmp(earlier)));
    ranked.into_iter().take(most).map(|(_, name)| name).collect()
}

/// The name most similar to `wrong`, if it is similar enough to be meant.
pub fn closest<'a>(wrong: &str, names: &[&'a str]) -> Option<&'a str> {
    names
        .iter()
        .map(|name| (likeness(wrong, name), *name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, name)| name)
}

/// Similarity from 0 to 1. Jaro–Winkler is too strict with short names, in which one slip is a large part.
fn likeness(wrong: &str, name: &str) -> f64 {
    let is_one_slip = name.len() > 2 && strsim::damerau_levenshtein(wrong, name) == 1;
    let likeness = strsim::jaro_winkler(wrong, name);
    if is_one_slip { likeness.max(0.9) } else { likeness }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_gets_a_suggestion_and_an_unrelated_word_gets_none() {
        let names = ["hello", "json", "quicksort"];
        assert_eq!(closest("helo", &names), Some("hello"));
        assert_eq!(closest("jsn", &names), Some("json"));
        assert_eq!(closest("mongo", &names), None);
        assert_eq!(suggestion("helo", &names), "did you mean `hello`? known here: hello, json, quicksort");
        assert_eq!(suggestion("mongo", &names), "known here: hello, json, quicksort");
    }

    #[test]
    fn the_nearest_names_are_the_most_similar_and_then_the_latest() {
        let runs = ["2026-11-20-core-1", "2026-11-21-core-2", "2026-11-21-quick-3"];
        assert_eq!(nearest("2026-11-21-quik-3", &runs, 1), ["2026-11-21-quick-3"]);
        assert_eq!(nearest("zzz", &runs, 2), ["2026-11-21-quick-3", "2026-11-21-core-2"]);
        assert!(nearest("zzz", &[], 3).is_empty());
    }
}
