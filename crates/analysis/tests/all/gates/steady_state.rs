//! Steady state by the seconds of windows, and the growth of memory.

use super::*;
use tolok_analysis::SteadyClass;

/// A case whose trials have these seconds, by block.
fn with(good: impl Fn(u32, u64) -> u64) -> CaseFinding {
    changed(CLOSED, |block, trial| {
        let good = (0..20).map(|second| good(block, second)).collect();
        trial.series = Some(SecondSeries { good, ..SecondSeries::default() });
    })
}

/// A small, regular fluctuation.
fn flat(second: u64) -> u64 {
    2_000 + [0, 9, 3, 7, 1][second as usize % 5]
}

fn warming(second: u64) -> u64 {
    if second < 6 { flat(second) / 2 } else { flat(second) }
}

#[test]
fn passes_where_the_window_has_one_level() {
    let case = with(|_, second| flat(second));
    assert_eq!(
        told(&case, "steady-state"),
        (GateOutcome::Passed, "all of 6 trials had one level throughout".to_owned())
    );
    let steady = case.figures.steady.unwrap();
    assert_eq!(
        (steady.class, steady.trials, steady.steady_after_s),
        (SteadyClass::Flat, vec![(SteadyClass::Flat, 6)], None)
    );
    assert_eq!(steady.sentence, "All of 6 trials had one level throughout.");
}

#[test]
fn some_unsteady_trials_are_a_note_and_most_of_them_bar() {
    let warm_in = |blocks: u32| with(move |block, second| if block <= blocks { warming(second) } else { flat(second) });
    let some = warm_in(3);
    let found = gate(&some, "steady-state");
    assert_eq!((found.outcome, found.trials_failed.len(), found.bars), (GateOutcome::Failed, 3, false));
    assert_eq!((kinds(&some), some.ranked), (vec!["not-steady"], true));
    assert_eq!(some.flags[0].message, "of 6 trials 3 had one level throughout and 3 became faster and stayed so");
    let most = warm_in(4);
    barred(&most, "steady-state", "not-steady");
    let steady = most.figures.steady.unwrap();
    assert_eq!((steady.class, steady.steady_after_s), (SteadyClass::Inconsistent, Some(6.0)));
    let sentence = "Of 6 trials 4 became faster and stayed so and 2 had one level throughout; the median of those that \
                    changed was steady after 6 s.";
    assert_eq!(steady.sentence, sentence);
}

#[test]
fn slower_and_never_settled_are_not_steady_either() {
    let slower = with(|_, second| if second < 8 { flat(second) } else { flat(second) / 2 });
    assert_eq!(slower.steady.as_ref().unwrap().class, SteadyClass::Slowdown);
    barred(&slower, "steady-state", "not-steady");
    let never = with(|_, second| if second < 17 { flat(second) } else { flat(second) / 2 });
    assert_eq!(never.steady.as_ref().unwrap().class, SteadyClass::NoSteadyState);
    barred(&never, "steady-state", "not-steady");
}

#[test]
fn short_windows_are_unknown() {
    let case = changed(CLOSED, |_, trial| {
        trial.series = Some(SecondSeries { good: vec![2_000; 2], ..SecondSeries::default() });
    });
    assert_eq!(told(&case, "steady-state"), (GateOutcome::Unknown, "the window is too short".to_owned()));
    assert_eq!(case.steady, None);
}

/// Memory that grows by this many bytes per second, from 64 MB on, in windows of 20 s.
fn growing(bytes_per_s: impl Fn(u32) -> u64) -> CaseFinding {
    changed(CLOSED, |block, trial| {
        trial.window_s = 20.0;
        let memory = |second: u64| Some(64_000_000 + second * bytes_per_s(block));
        trial.series = Some(SecondSeries {
            good: (0..20).map(flat).collect(),
            subject_memory_bytes: (0..20).map(memory).collect(),
            ..SecondSeries::default()
        });
    })
}

#[test]
fn memory_that_grows_is_spoken_of() {
    let case = growing(|block| 60_000 + 1_000 * u64::from(block));
    assert_eq!((kinds(&case), case.ranked), (vec!["memory-grows"], true));
    let growth = case.figures.steady.unwrap().memory_growth_bytes_per_s.unwrap();
    assert_eq!((growth.value.round(), growth.low.is_some_and(|low| low > 0.0)), (63_500.0, true));
    let message = case.flags[0].message.replace('\u{a0}', " ");
    assert!(
        message.starts_with("its memory grew by 62.0 KiB (") && message.ends_with(", over the window"),
        "{message}"
    );
}

#[test]
fn memory_that_grows_by_little_or_by_chance_is_not() {
    assert_eq!(kinds(&growing(|_| 20_000)), Vec::<&str>::new(), "0.6 % over the window");
    assert_eq!(
        kinds(&growing(|block| if block <= 2 { 0 } else { 90_000 })),
        Vec::<&str>::new(),
        "not in a third of the trials"
    );
}
