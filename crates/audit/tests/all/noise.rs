//! Differences and spreads.

use crate::reading;

use proptest::prelude::*;
use reading::{findings, rows};
use tolok_audit::AuditVerdict::{CannotTell, Contradicted, Holds};
use tolok_audit::{AuditFinding, AuditVerdict, Law};

/// Times of two programs: mean, standard deviation, runs.
fn of_programs(a: (&str, &str, u32), b: (&str, &str, u32)) -> Vec<AuditFinding> {
    let keys = |(mean, sd, runs): (&str, &str, u32)| format!("time_mean_ms = {mean}\ntime_sd_ms = {sd}\nruns = {runs}");
    findings(Law::Noise, &format!("[method]\ntool = \"hyperfine\"\n{}", rows(&[("go", &keys(a)), ("bun", &keys(b))])))
}

fn verdicts(found: &[AuditFinding]) -> Vec<AuditVerdict> {
    found.iter().map(|finding| finding.verdict).collect()
}

#[test]
fn welch_from_what_is_printed() {
    let found = of_programs(("756.1", "21.2", 10), ("769.8", "10.6", 10));
    assert_eq!(found[0].verdict, CannotTell);
    assert!(found[0].arithmetic.contains("t = −1.83, 13.2 degrees of freedom, p = 0.09"), "{}", found[0].arithmetic);
    assert_eq!(of_programs(("98.2", "6.7", 31), ("117.7", "2.5", 25))[0].verdict, Holds);
}

#[test]
fn rounding_is_held_against_a_difference() {
    // Printed 0.7 and 0.6 may be 0.651 and 0.649.
    assert_eq!(of_programs(("0.7", "0.0", 4000), ("0.6", "0.0", 4000))[0].verdict, CannotTell);
    assert_eq!(of_programs(("0.70", "0.00", 4000), ("0.60", "0.00", 4000))[0].verdict, Holds);
}

#[test]
fn a_single_run_is_not_tested() {
    let found = of_programs(("756.1", "21.2", 1), ("769.8", "10.6", 10));
    assert!(found[0].sentence.contains("their order is not shown"), "{}", found[0].sentence);
}

#[test]
fn lists_of_repetitions_are_tested() {
    let table =
        |a: &str, b: &str| rows(&[("apache", &format!("requests = {a}")), ("node", &format!("requests = {b}"))]);
    let verdict = |a: &str, b: &str| findings(Law::Noise, &table(a, b))[0].verdict;
    assert_eq!(verdict("[9133, 8946, 9019, 8832, 8832]", "[11809, 11752, 11803, 11842, 11843]"), Holds);
    assert_eq!(verdict("[9133, 8946, 9019, 8832, 8832]", "[9100, 8950, 9010, 8840, 8835]"), CannotTell);
}

#[test]
fn neighbours_without_a_spread_are_named_within_five_percent() {
    let found = |a: &str, b: &str| {
        let table = rows(&[("go", &format!("throughput_rps = {a}")), ("swoole", &format!("throughput_rps = {b}"))]);
        findings(Law::Noise, &format!("[method]\nrepetitions = 3\n{table}"))
    };
    assert_eq!(found("35509", "21626"), []);
    let close = found("35509", "34919");
    assert_eq!(
        close[0].sentence,
        "go and swoole are 1.66% apart; these are means of 3 runs without a spread, so their order is not shown."
    );
    assert_eq!(found("0", "0"), []);
}

#[test]
fn short_times_hold_the_start_of_the_program() {
    let short = of_programs(("0.6", "0.1", 4000), ("13.1", "0.8", 213));
    assert_eq!(verdicts(&short), [Holds, CannotTell]);
    assert!(short[1].sentence.contains("Below 5 ms: 1 time of go under hello."), "{}", short[1].sentence);
    assert_eq!(verdicts(&of_programs(("7.9", "0.4", 369), ("40.1", "1.5", 72))), [Holds, Holds]);
}

/// A row with a mean, a deviation, both ends and a number of runs.
fn spread_of(mean: f64, sd: f64, min: f64, max: f64, runs: usize) -> AuditVerdict {
    let keys = format!(
        "time_mean_ms = {mean:.1}\ntime_sd_ms = {sd:.1}\ntime_min_ms = {min:.1}\ntime_max_ms = {max:.1}\nruns = {runs}"
    );
    let found = findings(Law::Noise, &rows(&[("go", &keys)]));
    found
        .iter()
        .find(|finding| finding.statement.starts_with("The mean, least and largest allow"))
        .map_or(CannotTell, |one| one.verdict)
}

#[test]
fn a_deviation_fits_between_its_ends() {
    assert_eq!(spread_of(8863.0, 245.0, 8679.0, 9442.0, 10), Holds);
    assert_eq!(spread_of(8863.0, 500.0, 8679.0, 9442.0, 10), Contradicted);
    assert_eq!(spread_of(8863.0, 24.5, 8679.0, 9442.0, 10), Contradicted);
}

proptest! {
    /// The rounded figures of any times are possible.
    #[test]
    fn deviations_of_real_times_are_possible(times in prop::collection::vec(5.0f64..500.0, 2..60), population in any::<bool>()) {
        let n = times.len() as f64;
        let mean = times.iter().sum::<f64>() / n;
        let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
        let sd = (squares / if population { n } else { n - 1.0 }).sqrt();
        let min = times.iter().copied().fold(f64::INFINITY, f64::min);
        let max = times.iter().copied().fold(0.0, f64::max);
        prop_assert_eq!(spread_of(mean, sd, min, max, times.len()), Holds);
    }
}

#[test]
fn a_mean_that_no_values_have_is_told_without_an_empty_interval() {
    let of = |mean: &str| {
        let figures =
            format!("time_min_ms = 90.0\ntime_mean_ms = {mean}\ntime_max_ms = 110.0\nruns = 10\ntime_sd_ms = 6.2");
        let text = format!("[method]\ntool = \"hyperfine\"\n{}", rows(&[("go", &figures)]));
        findings(Law::Noise, &text)
            .into_iter()
            .filter(|it| it.statement.starts_with("The mean, least"))
            .collect::<Vec<_>>()
    };
    assert_eq!(of("93.0")[0].verdict, Holds);
    let found = &of("91.0")[0];
    assert_eq!(found.verdict, Contradicted);
    assert!(found.sentence.contains("allow means from 91.9"), "{}", found.sentence);
    assert!(found.sentence.contains("whatever their deviation"), "{}", found.sentence);
}
