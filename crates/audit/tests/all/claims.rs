//! Claims against the rows that they mean.

use crate::reading;

use proptest::prelude::*;
use reading::{claim, findings, only, rows};
use tolok_audit::AuditVerdict::{CannotTell, Contradicted, Holds};
use tolok_audit::{AuditVerdict, Law};

/// A claim about two rows with these throughputs.
fn of_two(go: &str, bun: &str, keys: &str) -> AuditVerdict {
    let table = rows(&[("go", &format!("throughput_rps = {go}")), ("bun", &format!("throughput_rps = {bun}"))]);
    only(Law::Claims, &format!("{table}{}", claim(keys))).verdict
}

fn ratio(go: &str, bun: &str, ratio: &str) -> AuditVerdict {
    let sides = "figure = \"throughput_rps\"\na = { subject = \"go\" }\nb = { subject = \"bun\" }";
    of_two(go, bun, &format!("{sides}\nratio = {ratio}"))
}

#[test]
fn a_ratio_is_held_to_what_rounds_to_it() {
    assert_eq!(ratio("19.3", "2.75", "7"), Holds);
    assert_eq!(ratio("19.3", "2.75", "7.0"), Holds);
    assert_eq!(ratio("19.3", "2.75", "7.5"), Contradicted);
    assert_eq!(ratio("19.3", "2.75", "\"~7\""), Holds);
    assert_eq!(ratio("19.3", "2.75", "\"6..8\""), Holds);
}

#[test]
fn a_tie_is_equal_figures_and_about_leaves_five_percent() {
    assert_eq!(ratio("100", "100", "1"), Holds);
    assert_eq!(ratio("1.2", "1.4", "1"), Contradicted);
    assert_eq!(ratio("14100", "14000", "1"), Contradicted);
    assert_eq!(ratio("14100", "14000", "\"~1\""), Holds);
    assert_eq!(ratio("17000", "14000", "\"~1\""), Contradicted);
    assert_eq!(ratio("14100", "14000", "1.0"), Holds, "digits after the point say how exact it is");
}

#[test]
fn what_an_author_changes_once_is_told_once() {
    let table =
        rows(&[("go", "throughput_rps = 500"), ("bun", "throughput_rps = 100"), ("php", "throughput_rps = 90")]);
    let of = |id: &str, raw: &str, b: &str| {
        format!(
            "[[claim]]\nid = \"{id}\"\nsays = \"go is twice {b}\"\nraw = \"{raw}\"\nfigure = \"throughput_rps\"\n\
             a = {{ subject = \"go\" }}\nb = {{ subject = \"{b}\" }}\nratio = 2\n"
        )
    };
    let about = |claims: &str| -> Vec<String> {
        let told = findings(Law::Claims, &format!("{table}{claims}"));
        told.into_iter().filter(|finding| finding.verdict == Contradicted).map(|finding| finding.about).collect()
    };
    let one_sentence = of("a", "twice as fast", "bun") + &of("b", "twice as fast", "php");
    assert_eq!(about(&one_sentence), ["go is twice bun; go is twice php"]);
    let same_again = of("a", "twice as fast", "bun") + &of("b", "twice the speed", "bun");
    assert_eq!(about(&same_again), ["go is twice bun"]);
    let two_things = of("a", "twice as fast", "bun") + &of("b", "twice the speed", "php");
    assert_eq!(about(&two_things), ["go is twice bun", "go is twice php"]);
}

#[test]
fn a_limit_is_not_rounded() {
    assert_eq!(ratio("100.0", "99.0", "\"> 1\""), Holds);
    assert_eq!(ratio("99.0", "100.0", "\"> 1\""), Contradicted);
    assert_eq!(ratio("100", "100", "\"> 1\""), Holds);
    assert_eq!(ratio("120", "100", "\"< 1.5\""), Holds);
}

#[test]
fn marks_of_figures_allow_both() {
    assert_eq!(ratio("\"400+\"", "100", "7"), CannotTell);
    assert_eq!(ratio("\"800+\"", "100", "7"), Contradicted);
    assert_eq!(ratio("\"~14000\"", "10000", "1.45"), Holds);
    assert_eq!(ratio("5", "0", "7"), Contradicted, "0 is at most 0.5, so that the ratio is at least 9");
    assert_eq!(ratio("0", "0", "7"), CannotTell);
}

#[test]
fn a_difference_in_round_numbers_is_read_as_rounded() {
    let difference = |a: &str, is: &str| {
        let sides = "figure = \"throughput_rps\"\na = { subject = \"go\" }\nb = { subject = \"bun\" }";
        of_two(a, "11067", &format!("{sides}\ndifference = {is}"))
    };
    assert_eq!(difference("18164", "\"6000..7000\""), Holds);
    assert_eq!(difference("9657", "\"6000..7000\""), Contradicted);
    assert_eq!(difference("18164", "7097"), Holds);
    assert_eq!(difference("18164", "7091"), Contradicted);
}

#[test]
fn a_value_is_that_of_the_row_or_of_the_mean_of_its_repetitions() {
    let at = "figure = \"timeouts\"\nat = { subject = \"node\" }";
    let node = |figure: &str, is: &str| {
        let table = rows(&[("node", &format!("timeouts = {figure}"))]);
        only(Law::Claims, &format!("{table}{}", claim(&format!("{at}\nvalue = {is}")))).verdict
    };
    assert_eq!(node("[1, 0, 9, 19, 0]", "5.8"), Holds);
    assert_eq!(node("[1, 0, 9, 19, 0]", "6.8"), Contradicted);
    assert_eq!(node("[1, 0, 9, 19, 0]", "\"0..19\""), Holds);
    assert_eq!(node("[1, 0, 9, 19, 0]", "\"0..29\""), Contradicted);
    assert_eq!(node("5", "\"0..29\""), Holds);
    assert_eq!(node("0", "0"), Holds);
}

#[test]
fn a_range_that_begins_in_another_column_says_so() {
    let table = rows(&[
        ("php", "error_rate_percent = 99.9\nhttp_fail_rate_percent = 81.4"),
        ("php", "error_rate_percent = 99.7\nhttp_fail_rate_percent = 92.3"),
    ]);
    let keys = "figure = \"error_rate_percent\"\nat = { subject = \"php\" }\nvalue = \"81.4..99.9\"";
    let found = only(Law::Claims, &format!("{table}{}", claim(keys)));
    assert_eq!(found.verdict, Contradicted);
    assert!(found.inference.is_some_and(|text| text.contains("81.4% is the HTTP fail rate of php")));
}

#[test]
fn an_order_is_contradicted_only_where_intervals_lie_apart() {
    let order = |go: &str, bun: &str| {
        of_two(go, bun, "figure = \"throughput_rps\"\nat = { scenario = \"s\" }\norder = [\"go\", \"bun\"]")
    };
    assert_eq!(order("3.5", "2.75"), Holds);
    assert_eq!(order("2.75", "3.5"), Contradicted);
    assert_eq!(order("3.5", "3.5"), CannotTell);
    assert_eq!(order("\"~28000\"", "\"~29000\""), CannotTell);
}

#[test]
fn a_claimed_highest_must_be_highest_everywhere() {
    let highest = |who: &str| {
        of_two(
            "19.3",
            "2.75",
            &format!("figure = \"throughput_rps\"\nat = {{ scenario = \"s\" }}\nhighest = \"{who}\""),
        )
    };
    assert_eq!((highest("go"), highest("bun")), (Holds, Contradicted));
}

#[test]
fn what_has_no_rows_or_no_figures_cannot_be_told() {
    let table = rows(&[("go", "throughput_rps = 5")]);
    let over_time =
        "[[series]]\nsubject = \"go\"\nscenario = \"s\"\nsecond = [0, 1]\nmemory_mb = [5, 6]\nraw = \"x\"\n";
    let of_series = claim("figure = \"memory_mb\"\nat = { subject = \"go\" }\nvalue = 5");
    let found = only(Law::Claims, &format!("{table}{over_time}{of_series}"));
    assert_eq!((found.verdict, found.missing), (CannotTell, vec!["one memory for the whole run".to_owned()]));
    let untestable = only(Law::Claims, &format!("{table}{}", claim("untestable = \"no profile\"")));
    assert_eq!(untestable.verdict, CannotTell);
    assert_eq!(untestable.sentence, "No figure of the source can settle this: no profile.");
}

#[test]
fn usually_allows_for_exceptions_up_to_a_half() {
    let text = |holding: usize, otherwise: usize| {
        let mut text = rows(&[("go", "throughput_rps = 5"), ("bun", "throughput_rps = 2")]);
        for (index, ratio) in
            [(holding, "2.5"), (otherwise, "9")].into_iter().flat_map(|(n, ratio)| (0..n).map(move |i| (i, ratio)))
        {
            text.push_str(&format!(
                "[[claim]]\nid = \"c{index}-{}\"\nsays = \"x\"\nraw = \"usually more\"\nfigure = \"throughput_rps\"\na = {{ subject = \"go\" }}\nb = {{ subject = \"bun\" }}\nratio = {ratio}\n",
                ratio.replace('.', "-")
            ));
        }
        findings(Law::Claims, &text).into_iter().map(|finding| finding.verdict).collect::<Vec<_>>()
    };
    assert_eq!(text(1, 1), [Holds, CannotTell]);
    assert_eq!(text(1, 2), [Holds, Contradicted], "one sentence has one finding");
}

#[test]
fn figures_that_are_printed_twice_are_compared() {
    let table = |number: usize, rate: &str| {
        format!(
            "[[row]]\ntable = \"Table {number}\"\nsubject = \"go\"\nscenario = \"s\"\nraw = \"x\"\nthroughput_rps = {rate}\n"
        )
    };
    let scenario = "[[scenario]]\nname = \"s\"\ntitle = \"hello\"\nraw = \"x\"\n";
    let both =
        |first: &str, second: &str| only(Law::Claims, &format!("{scenario}{}{}", table(4, first), table(6, second)));
    assert_eq!(both("19.3", "19.30").verdict, Holds);
    assert_eq!(both("19.3", "19").verdict, Holds);
    assert_eq!(both("19.3", "19.4").verdict, CannotTell);
}

proptest! {
    /// Whatever is measured, the ratio of the measured values, rounded like the values themselves, is never
    /// contradicted.
    #[test]
    fn a_ratio_computed_from_the_rows_never_contradicts(
        a in 0.01f64..1e6, b in 0.01f64..1e6, of_a in 0usize..4, of_b in 0usize..4, of_ratio in 0usize..4,
    ) {
        let ratio_is = a / b;
        prop_assume!(b >= 10f64.powi(-(of_b as i32)) && ratio_is < 1e9);
        let (a, b) = (format!("{a:.of_a$}"), format!("{b:.of_b$}"));
        let said = format!("{ratio_is:.of_ratio$}");
        // A plain 1 is a tie, not a rounded ratio.
        prop_assume!(said != "1");
        let verdict = ratio(&a, &b, &said);
        prop_assert_ne!(verdict, Contradicted);
    }

    /// The order of the measured values is never contradicted either, however much they are rounded.
    #[test]
    fn the_order_of_what_was_measured_never_contradicts(a in 0.0f64..1e4, b in 0.0f64..1e4, decimals in 0usize..4) {
        let (go, bun) = (format!("{:.decimals$}", a.max(b)), format!("{:.decimals$}", a.min(b)));
        let order = of_two(&go, &bun, "figure = \"throughput_rps\"\nat = { scenario = \"s\" }\norder = [\"go\", \"bun\"]");
        prop_assert_ne!(order, Contradicted);
    }
}
