//! Series and columns with the same digits.

use crate::reading;

use proptest::prelude::*;
use reading::{findings, only, verdicts};
use tolok_audit::AuditVerdict::{Contradicted, Holds};
use tolok_audit::Law;

/// A series of one subject under one setting.
fn series(subject: &str, scenario: &str, values: &[f64]) -> String {
    let second: Vec<String> = (0..values.len()).map(|second| second.to_string()).collect();
    let values: Vec<String> = values.iter().map(|value| format!("{value:.1}")).collect();
    format!(
        "[[series]]\ntable = \"Table 1\"\nsubject = \"{subject}\"\nscenario = \"{scenario}\"\nraw = \"x\"\nsecond = [{}]\nmemory_mb = [{}]\n",
        second.join(", "),
        values.join(", ")
    )
}

fn scenarios() -> String {
    ["a", "b"]
        .map(|name| format!("[[scenario]]\nname = \"{name}\"\ntitle = \"setting {name}\"\nraw = \"x\"\n"))
        .concat()
}

const NOISY: [f64; 12] = [0.0, 11.2, 21.6, 24.4, 24.6, 24.2, 23.9, 24.8, 25.3, 25.1, 24.7, 25.6];

#[test]
fn a_series_that_stands_twice_is_found() {
    let text = format!("{}{}{}", scenarios(), series("node", "a", &NOISY), series("node", "b", &NOISY));
    let found = only(Law::Duplicates, &text);
    assert_eq!(found.verdict, Contradicted);
    assert!(found.arithmetic.starts_with("11 distinct values of memory: (1/11)^10"), "{}", found.arithmetic);
}

#[test]
fn one_digit_that_differs_is_enough() {
    let mut other = NOISY;
    other[7] = 24.9;
    let text = format!("{}{}{}", scenarios(), series("node", "a", &NOISY), series("node", "b", &other));
    assert_eq!(verdicts(Law::Duplicates, &text), [Holds]);
}

#[test]
fn what_is_constant_short_or_set_is_no_copy() {
    let level = [5.0; 30];
    let short = [1.0, 7.0, 3.0];
    let steps: Vec<f64> = (0..30).map(|step| f64::from(step) * 10.0).collect();
    for values in [level.as_slice(), &short, &steps] {
        let text = format!("{}{}{}", scenarios(), series("node", "a", values), series("go", "a", values));
        assert_eq!(verdicts(Law::Duplicates, &text), [Holds], "{values:?}");
    }
}

#[test]
fn the_same_figures_printed_again_are_no_copy() {
    let text = format!("{}{}{}", scenarios(), series("node", "a", &NOISY), series("node", "a", &NOISY));
    assert_eq!(findings(Law::Duplicates, &text), []);
}

/// A table of 12 settings with the latencies of two subjects.
fn columns(of_second: impl Fn(usize) -> f64, p99: impl Fn(usize) -> f64) -> String {
    let mut text = String::new();
    for index in 0..12 {
        text.push_str(&format!("[[scenario]]\nname = \"s{index}\"\ntitle = \"setting {index}\"\nraw = \"x\"\n"));
    }
    for index in 0..12 {
        let value = ((index * 7919) % 101) as f64 + 0.5;
        for (subject, value) in [("go", value), ("node", of_second(index))] {
            text.push_str(&format!(
                "[[row]]\ntable = \"Table 1\"\nsubject = \"{subject}\"\nscenario = \"s{index}\"\nraw = \"x\"\nlatency_mean_ms = {value:.1}\nlatency_p99_ms = {:.1}\n",
                value + p99(index)
            ));
        }
    }
    text
}

#[test]
fn a_column_that_is_another_subjects_is_found() {
    let own = |index: usize| ((index * 7919) % 101) as f64 + 0.5;
    let tail = |index: usize| 10.0 + index as f64;
    assert_eq!(verdicts(Law::Duplicates, &columns(|index| own(index) + 1.0, tail)), []);
    let found = findings(Law::Duplicates, &columns(own, tail));
    let about: Vec<&str> = found.iter().map(|finding| finding.about.as_str()).collect();
    assert_eq!(
        about,
        [
            "mean response time of go and mean response time of node (Table 1)",
            "p99 of the response time of go and p99 of the response time of node (Table 1)",
        ]
    );
}

#[test]
fn a_p99_that_is_the_mean_is_found() {
    let found = only(Law::Duplicates, &columns(|index| 200.0 + index as f64, |_| 0.0));
    assert_eq!(found.about, "mean response time and p99 of the response time (Table 1)");
    assert_eq!(found.verdict, Contradicted);
}

proptest! {
    /// Two series that differ anywhere are never called the same.
    #[test]
    fn random_series_that_differ_are_never_duplicates(
        a in prop::collection::vec(0u16..100, 3..40), b in prop::collection::vec(0u16..100, 3..40),
    ) {
        let length = a.len().min(b.len());
        let values = |of: &[u16]| of[..length].iter().map(|value| f64::from(*value)).collect::<Vec<_>>();
        prop_assume!(values(&a) != values(&b));
        let text = format!("{}{}{}", scenarios(), series("node", "a", &values(&a)), series("go", "b", &values(&b)));
        prop_assert_eq!(verdicts(Law::Duplicates, &text), [Holds]);
    }

    /// Series with so few levels that they can agree by chance are not duplicates either, even if they agree.
    #[test]
    fn series_of_few_levels_are_never_duplicates(levels in prop::collection::vec(0u16..5, 3..40)) {
        let values: Vec<f64> = levels.iter().map(|value| f64::from(*value)).collect();
        let text = format!("{}{}{}", scenarios(), series("node", "a", &values), series("go", "b", &values));
        prop_assert_eq!(verdicts(Law::Duplicates, &text), [Holds]);
    }
}

/// Some programs print a p99 and some do not. Whoever merged their figures wrote the mean in its place.
#[test]
fn a_column_that_is_another_in_some_settings_is_found_there() {
    let setting = |name: &str, p99: &dyn Fn(f64) -> f64| -> String {
        let row = |index: usize| {
            let mean = ((index * 7919) % 101) as f64 + 100.5;
            format!(
                "[[row]]\nsubject = \"s{index}\"\nscenario = \"{name}\"\nlatency_mean_ms = {mean:.1}\nlatency_p99_ms = {:.1}\n",
                p99(mean)
            )
        };
        (0..12).map(row).collect()
    };
    let table = |files: &dyn Fn(f64) -> f64| {
        [setting("json", &|mean| 2.0 * mean), setting("files", files), setting("more files", files)].concat()
    };
    let found = only(Law::Duplicates, &table(&|mean| mean));
    assert_eq!(found.verdict, Contradicted);
    assert!(found.about.contains("(files); ") && found.about.ends_with("(more files)"), "{}", found.about);
    assert!(found.sentence.ends_with("The same holds in 1 more setting."), "{}", found.sentence);
    assert_eq!(findings(Law::Duplicates, &table(&|mean| mean + 0.1)), []);
}
