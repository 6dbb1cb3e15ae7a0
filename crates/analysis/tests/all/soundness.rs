//! Whether the results of a run are reliable.

use crate::invented::{BUN, GO, InventedRun, NODE, fail_requests};
use tolok_model::FailureKind;

/// Three servers in five rounds. The first trials of the first two servers are disturbed.
fn disturbed(trials: u32) -> InventedRun {
    let mut run = InventedRun::new(5);
    run.scenario("json-c64", "json", "JSON", 64);
    for (server, goodput_rps) in [(GO, 30_000.0), (BUN, 40_000.0)] {
        run.steady(server, goodput_rps);
        (1..=trials)
            .for_each(|block| _ = run.disturb(block, "foreign-cpu", 0.2, "other programs used 20% of the CPUs"));
    }
    run
}

#[test]
fn a_run_is_sound_with_some_trials_discarded() {
    for trials in [0, 1, 2] {
        assert!(disturbed(trials).findings().unsound.is_empty(), "{trials} of 5");
    }
}

#[test]
fn a_run_of_which_most_is_discarded_is_not_sound() {
    for (trials, words) in [(3, "6 of 10 trials discarded"), (5, "10 of 10 trials discarded")] {
        assert_eq!(disturbed(trials).findings().unsound, [words]);
    }
}

#[test]
fn discarded_trials_are_counted_among_all_that_ran() {
    let mut run = disturbed(5);
    (1..=3).for_each(|block| _ = run.fail(block, FailureKind::DidNotStart, "it did not start"));
    let unsound = run.findings().unsound;
    assert_eq!(unsound[..2], ["7 of 10 trials discarded".to_owned(), "3 trials failed".to_owned()], "{unsound:?}");
    (4..=5).for_each(|block| _ = run.fail(block, FailureKind::DidNotStart, "it did not start"));
    let unsound = run.findings().unsound;
    assert_eq!(unsound[0], "5 trials failed", "5 of 10 are not the most: {unsound:?}");
}

#[test]
fn a_case_without_a_clean_trial_makes_a_run_unsound() {
    let mut run = disturbed(0);
    run.steady(NODE, 20_000.0);
    (1..=5).for_each(|block| _ = run.disturb(block, "foreign-cpu", 0.2, "other programs used 20% of the CPUs"));
    let words = "1 case disturbed by others in every trial, so run again when the machine is quiet";
    assert_eq!(run.findings().unsound, [words]);
}

#[test]
fn failed_trials_come_before_cases_that_a_check_put_out() {
    let mut run = disturbed(0);
    run.fail(2, FailureKind::DidNotStart, "it did not start").steady(NODE, 20_000.0);
    run.change(|_, trial| fail_requests(trial, 4_000));
    assert_eq!(run.findings().unsound, ["1 trial failed", "1 case with failed requests"]);
}
