//! Means of whole numbers.

use crate::reading;

use proptest::prelude::*;
use reading::{findings, only, rows, verdicts};
use tolok_audit::AuditVerdict::{Contradicted, Holds};
use tolok_audit::Law;

/// One row with a mean of this many repetitions.
fn with(repetitions: u64, figure: &str) -> String {
    format!("[method]\nrepetitions = {repetitions}\n{}", rows(&[("go", figure)]))
}

#[test]
fn a_mean_of_counts_is_a_multiple_of_one_over_their_number() {
    assert_eq!(verdicts(Law::Grim, &with(5, "requests = 8952.4")), [Holds]);
    assert_eq!(verdicts(Law::Grim, &with(5, "requests = 8952.5")), [Contradicted]);
    assert_eq!(verdicts(Law::Grim, &with(3, "timeouts = 0.33")), [Holds]);
    assert_eq!(verdicts(Law::Grim, &with(3, "timeouts = 0.50")), [Contradicted]);
    assert_eq!(verdicts(Law::Grim, &with(4, "failures = 0.0")), [Holds]);
}

#[test]
fn a_number_may_be_cut_off_instead_of_rounded() {
    assert_eq!(verdicts(Law::Grim, &with(3, "timeouts = 2.66")), [Holds]);
    assert_eq!(verdicts(Law::Grim, &with(3, "timeouts = 2.67")), [Holds]);
    assert_eq!(verdicts(Law::Grim, &with(3, "timeouts = 2.68")), [Contradicted]);
}

#[test]
fn the_neighbours_are_named() {
    let found = only(Law::Grim, &with(5, "requests = 8952.5"));
    assert_eq!(found.arithmetic, "44762 / 5 = 8952.4 and 44763 / 5 = 8952.6; printed 8952.5");
    assert_eq!(found.sentence, "8952.5 is not the mean of 5 whole numbers: the nearest are 8952.4 and 8952.6.");
}

#[test]
fn means_that_prove_nothing_have_no_finding() {
    for nothing in [
        with(10, "requests = 8952.4"),
        with(5, "requests = 8952"),
        with(1, "requests = 8952.4"),
        with(3, "requests = [1, 2, 3]"),
        with(5, "requests = \"~8952.5\""),
        rows(&[("go", "requests = 8952.5")]),
        with(3, "throughput_rps = 14.23"),
    ] {
        assert_eq!(findings(Law::Grim, &nothing), [], "{nothing}");
    }
}

#[test]
fn thirds_confirm_three_readings() {
    let text = |repetitions: u64| {
        let table = rows(&[
            ("go", "cpu_max_percent = 50.67"),
            ("swoole", "cpu_max_percent = 49.33"),
            ("node", "cpu_max_percent = 20"),
        ]);
        format!("[method]\nrepetitions = {repetitions}\n{table}")
    };
    let found = only(Law::Grim, &text(3));
    assert_eq!(found.verdict, Holds);
    assert!(found.sentence.contains("3 readings in steps of 1%"), "{}", found.sentence);
    assert_eq!(findings(Law::Grim, &text(4)), [], "readings of unknown step contradict nothing");
}

proptest! {
    /// The mean of whole numbers is never contradicted, whether rounded or truncated.
    #[test]
    fn means_of_whole_numbers_are_never_contradicted(
        counts in prop::collection::vec(0u32..2_000_000, 2..40), decimals in 1usize..5, cut in any::<bool>(),
    ) {
        let n = counts.len() as u64;
        let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        let unit = 10u64.pow(decimals as u32);
        // Computed in whole numbers, rounding half up like a decimal library.
        let scaled = if cut { total * unit / n } else { (2 * total * unit + n) / (2 * n) };
        let printed = format!("{}.{:0decimals$}", scaled / unit, scaled % unit);
        let found = verdicts(Law::Grim, &with(n, &format!("requests = {printed}")));
        prop_assert!(!found.contains(&Contradicted));
    }

    /// With two decimals and five runs, 18 of 20 numbers are neither a multiple of 0.2 nor 0.01 below one, and are found.
    #[test]
    fn means_between_two_multiples_are_contradicted(k in 0u32..100_000, off in 1u32..19) {
        let hundredths = k * 20 + off;
        let verdict = verdicts(Law::Grim, &with(5, &format!("requests = {}.{:02}", hundredths / 100, hundredths % 100)));
        prop_assert_eq!(verdict, vec![Contradicted]);
    }
}
