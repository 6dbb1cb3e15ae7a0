//! The result of `tolok verify`: the checks, and their first differences.

use serde::Serialize;
use serde_json::Value;

use crate::JsonSchema;

/// Version of the format of [`Verification`].
pub const VERIFICATION_SCHEMA: u32 = 1;

/// Differences that a check keeps; the rest are only counted.
const KEPT: usize = 10;

/// A run compared with its own raw data.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Verification {
    /// Version of this format.
    pub schema_version: u32,
    /// Name of the run.
    pub run: String,
    /// Version of tolok that ran it.
    pub tolok_version: String,
    /// Version of tolok that verified it.
    pub verified_by: String,
    /// The fingerprint of the run's records, or `null` if the run has no manifest.
    pub records_sha256: Option<String>,
    /// Whether no check found a difference.
    pub is_equal: bool,
    /// The checks, in order.
    pub checks: Vec<Check>,
    /// Figures whose raw data was not kept.
    pub not_recomputable: Vec<NotRecomputable>,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Check {
    /// What was checked, in a word: `manifest`, `files`, `plan`, `trials`, `figures`, `report.json`, `report.csv`, `report.md`,
    /// `report.html`.
    pub name: String,
    /// The result.
    pub outcome: CheckOutcome,
    /// How many lines, files, trials or figures were compared.
    pub compared: u64,
    /// The result, in a sentence.
    pub said: String,
    /// The first differences, at most ten.
    pub differences: Vec<Difference>,
    /// The number of all differences.
    pub differences_total: u64,
    /// Remarks that a reader must know, one sentence each.
    pub notes: Vec<String>,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// No difference was found.
    Equal,
    /// A difference was found.
    Differs,
    /// There was nothing to compare, or nothing to compare it with.
    NotChecked,
}

/// A difference.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// The file, relative to the run's folder.
    pub file: String,
    /// The place in it: a JSON path, such as `outcome.latency.percentiles[3].latency_s`, or a line.
    pub at: Option<String>,
    /// The stored value, or `null` if there is none or it is not a single value.
    pub stored: Option<Value>,
    /// The expected value, likewise.
    pub recomputed: Option<Value>,
    /// The difference, in a sentence.
    pub said: String,
    /// What to do about it, in a sentence.
    pub advice: String,
}

/// Figures that cannot be recomputed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotRecomputable {
    /// The figures.
    pub what: String,
    /// Why they cannot be recomputed.
    pub why: String,
}

impl Check {
    /// A check that has compared nothing yet.
    pub fn new(name: &str) -> Self {
        let (compared, said, differences, differences_total, notes) = Default::default();
        let outcome = CheckOutcome::Equal;
        Self { name: name.to_owned(), outcome, compared, said, differences, differences_total, notes }
    }

    /// A check that could not be made, with the reason.
    pub fn not_made(name: &str, why: impl Into<String>) -> Self {
        Self { outcome: CheckOutcome::NotChecked, said: why.into(), ..Self::new(name) }
    }

    pub fn differs(&mut self, difference: Difference) {
        self.outcome = CheckOutcome::Differs;
        self.differences_total += 1;
        if self.differences.len() < KEPT {
            self.differences.push(difference);
        }
    }

    /// Adds the result of the same check elsewhere.
    pub fn add(&mut self, other: Self) {
        self.compared += other.compared;
        let beyond = other.differences_total - other.differences.len() as u64;
        other.differences.into_iter().for_each(|difference| self.differs(difference));
        self.differences_total += beyond;
        let new = other.notes.into_iter().filter(|note| !self.notes.contains(note)).collect::<Vec<_>>();
        self.notes.extend(new);
    }

    /// Sets the sentence for a check without differences.
    pub fn saying(mut self, said: impl Into<String>) -> Self {
        self.said = said.into();
        self
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ValueDifference {
    /// The path to it: `outcome.latency.percentiles[3].latency_s`.
    pub at: String,
    pub stored: Option<Value>,
    /// The recomputed value.
    pub made: Option<Value>,
}

/// Compares two values leaf by leaf. Numbers may differ by `tolerance` of the larger one; all else must be equal.
/// Returns the number of compared leaves, and the differences.
pub fn compare(stored: &Value, made: &Value, tolerance: f64) -> (u64, Vec<ValueDifference>) {
    let mut compared = Comparison { leaves: 0, differences: Vec::new(), tolerance };
    compared.values(String::new(), Some(stored), Some(made));
    (compared.leaves, compared.differences)
}

struct Comparison {
    leaves: u64,
    differences: Vec<ValueDifference>,
    tolerance: f64,
}

impl Comparison {
    fn values(&mut self, at: String, stored: Option<&Value>, made: Option<&Value>) {
        match (stored, made) {
            (Some(Value::Object(stored)), Some(Value::Object(made))) => {
                let names = stored.keys().chain(made.keys().filter(|name| !stored.contains_key(*name)));
                for name in names {
                    let dot = if at.is_empty() { "" } else { "." };
                    self.values(format!("{at}{dot}{name}"), stored.get(name), made.get(name));
                }
            }
            (Some(Value::Array(stored)), Some(Value::Array(made))) => {
                for place in 0..stored.len().max(made.len()) {
                    self.values(format!("{at}[{place}]"), stored.get(place), made.get(place));
                }
            }
            _ => {
                self.leaves += 1;
                if !self.is_equal(stored, made) {
                    self.differences.push(ValueDifference { at, stored: stored.cloned(), made: made.cloned() });
                }
            }
        }
    }

    fn is_equal(&self, stored: Option<&Value>, made: Option<&Value>) -> bool {
        let numbers = stored.and_then(Value::as_f64).zip(made.and_then(Value::as_f64));
        let is_near = |(one, other): (f64, f64)| (one - other).abs() <= self.tolerance * one.abs().max(other.abs());
        stored == made || numbers.is_some_and(is_near)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(stored: &Value, made: &Value) -> Vec<String> {
        compare(stored, made, 1e-9).1.into_iter().map(|difference| difference.at).collect()
    }

    #[test]
    fn values_are_compared_leaf_by_leaf_and_differences_are_named_by_their_path() {
        let stored = json!({ "a": { "b": [1, { "c": 2.0 }] }, "d": "x" });
        assert_eq!(compare(&stored, &stored.clone(), 0.0), (3, Vec::new()));
        let made = json!({ "a": { "b": [1, { "c": 2.5 }] }, "d": "y" });
        assert_eq!(paths(&stored, &made), ["a.b[1].c", "d"]);
    }

    #[test]
    fn what_only_one_of_them_has_is_a_difference() {
        assert_eq!(paths(&json!({ "a": 1 }), &json!({})), ["a"]);
        assert_eq!(paths(&json!({}), &json!({ "a": null })), ["a"], "a missing key is not null");
        assert_eq!(paths(&json!([1]), &json!([1, 2])), ["[1]"]);
    }

    #[test]
    fn numbers_may_differ_by_a_billionth_of_themselves_and_a_whole_number_is_one_however_it_is_written() {
        assert!(paths(&json!(1_000_000_000.0), &json!(1_000_000_000.5)).is_empty());
        assert_eq!(paths(&json!(1.0), &json!(1.000_000_01)), [""]);
        assert!(paths(&json!(5), &json!(5.0)).is_empty());
        assert_eq!(paths(&json!(0.0), &json!(1e-300)), [""]);
    }

    #[test]
    fn a_check_keeps_the_first_differences_and_counts_all() {
        let difference = |place: usize| Difference {
            file: "trial.json".to_owned(),
            at: Some(place.to_string()),
            stored: None,
            recomputed: None,
            said: String::new(),
            advice: String::new(),
        };
        let mut check = Check::new("figures");
        (0..12).for_each(|place| check.differs(difference(place)));
        let mut all = Check::new("figures");
        all.add(check.clone());
        all.add(check);
        assert_eq!((all.outcome, all.differences.len(), all.differences_total), (CheckOutcome::Differs, 10, 24));
        assert_eq!(all.differences[9].at.as_deref(), Some("9"));
    }
}
