//! Findings on timed programs.

use crate::invented::InventedRun;
use crate::invented::programs::{BUN_QUEUE, GO_MUTEX, GO_QUEUE, NODE_QUEUE, queues};
use crate::invented::slices::jitter;
use tolok_analysis::{CrossoverBy, Estimate, Findings, ProgramCaseFinding, ProgramFinding, Verdict};
use tolok_model::{FailureKind, Outcome, Timer};

/// A run of one scenario of one million tasks.
fn one(blocks: u32, timer: Timer) -> InventedRun {
    let mut run = InventedRun::new(blocks);
    run.program("queue-n1000000", "queue?n=1000000", "A queue of tasks, n = 1,000,000", timer);
    run
}

fn program(run: &InventedRun) -> ProgramFinding {
    run.findings().programs.remove(0)
}

fn kinds(case: &ProgramCaseFinding) -> Vec<&str> {
    case.flags.iter().map(|flag| flag.kind.word()).collect()
}

fn near(estimate: &Option<Estimate>, value: f64) {
    let found = estimate.as_ref().expect("an estimate").value;
    assert!((found - value).abs() < 1e-9, "{found} and not {value}");
}

mod figures {
    use super::*;

    #[test]
    fn a_figure_is_the_median_over_trials_of_the_medians_over_runs() {
        let mut run = one(5, Timer::Tolok);
        run.timed(GO_QUEUE, &[1.0, 1.2, 1.1, 1.4, 1.3]);
        // One slow run does not move the median of its trial.
        run.change_timing(|block, timing| timing.runs[2].wall_s *= if block == 3 { 1.0 } else { 50.0 });
        let found = program(&run);
        let case = &found.cases[0];
        let wall = case.wall_s.as_ref().unwrap();
        let close = |found: f64, value: f64| assert!((found - value).abs() < 1e-4, "{found} and not {value}");
        close(wall.value, 1.2);
        close(wall.low.unwrap(), 1.0);
        close(wall.high.unwrap(), 1.4);
        assert_eq!(wall.trials.len(), 5, "a trial is one value, however many runs it has");
        assert_eq!((case.runs, case.floor_runs, case.trials_scored), (45, 45, 5));
        assert_eq!((found.runs.as_str(), found.timer.as_str()), ("9 runs after 1 warm-up run, at most 10 s", "tolok"));
    }

    #[test]
    fn cpu_memory_and_what_is_above_the_start() {
        let mut run = one(5, Timer::Tolok);
        run.timed(BUN_QUEUE, &[0.512; 5]);
        let case = program(&run).cases.remove(0);
        near(&case.wall_s, 0.512);
        near(&case.floor_s, 0.012);
        near(&case.above_floor_s, 0.5);
        near(&case.user_s, 0.8 * 0.512);
        near(&case.system_s, 0.1 * 0.512);
        near(&case.cpu_s, 0.9 * 0.512);
        near(&case.floor_cpu_s, 0.7 * 0.012);
        near(&case.above_floor_cpu_s, 0.9 * 0.512 - 0.7 * 0.012);
        near(&case.busy, 0.9);
        near(&case.rss_bytes, 31.0 * 1024.0 * 1024.0);
        near(&case.floor_rss_bytes, 31.0 * 1024.0 * 1024.0);
        assert!(!case.is_at_floor && case.ranked && case.flags.is_empty());
        let (fastest, slowest) = (case.fastest_run_s.unwrap(), case.slowest_run_s.unwrap());
        assert!((fastest - (0.512 - 0.04 * 0.012)).abs() < 1e-9 && (slowest - (0.512 + 0.04 * 0.012)).abs() < 1e-9);
    }

    /// Three runs at 10, 20 and 40 with floors at 1, 15 and 20: pairs give 9, 5 and 20, so 9. The difference of the medians
    /// would be 20 - 15 = 5.
    #[test]
    fn above_the_start_is_the_median_over_pairs_and_not_the_difference_of_medians() {
        let mut run = one(5, Timer::Tolok);
        run.timed(GO_QUEUE, &[1.0; 5]).change_timing(|_, timing| {
            timing.runs.truncate(3);
            timing.floor.truncate(3);
            for (run, wall_s) in timing.runs.iter_mut().zip([10.0, 20.0, 40.0]) {
                run.wall_s = wall_s;
            }
            for (run, wall_s) in timing.floor.iter_mut().zip([1.0, 15.0, 20.0]) {
                run.wall_s = wall_s;
            }
        });
        let case = program(&run).cases.remove(0);
        near(&case.above_floor_s, 9.0);
        near(&case.floor_s, 15.0);
    }

    #[test]
    fn a_figure_that_one_run_lacks_is_none() {
        let mut run = one(5, Timer::Tolok);
        run.steadily(GO_QUEUE, 0.1);
        run.change_timing(|block, timing| {
            timing.runs[0].rss_bytes_max = timing.runs[0].rss_bytes_max.filter(|_| block != 2)
        });
        let case = program(&run).cases.remove(0);
        assert!(case.rss_bytes.is_none() && case.wall_s.is_some());
    }

    #[test]
    fn hyperfine_has_no_floor_no_memory_and_a_mean_of_cpu_time() {
        let mut run = one(5, Timer::Hyperfine);
        run.timed(NODE_QUEUE, &[0.5; 5]);
        let case = program(&run).cases.remove(0);
        near(&case.cpu_s, 0.45);
        near(&case.busy, 0.9);
        assert!(case.cpu_is_mean && case.floor_s.is_none() && case.above_floor_s.is_none() && case.rss_bytes.is_none());
        assert!(!case.is_at_floor, "its start was not measured");
    }
}

mod verdicts {
    use super::*;

    #[test]
    fn the_shorter_time_stands_first_and_is_the_faster_one() {
        let mut run = one(6, Timer::Tolok);
        run.timed(GO_QUEUE, &[1.0, 1.1, 0.9, 1.0, 1.05, 0.95]);
        run.timed(BUN_QUEUE, &[0.25, 0.275, 0.225, 0.25, 0.2625, 0.2375]);
        let found = program(&run);
        assert_eq!(found.cases.iter().map(|case| case.title.as_str()).collect::<Vec<_>>(), ["Bun queue", "Go queue"]);
        let pair = &found.comparisons[0];
        assert_eq!((pair.a.as_str(), pair.b.as_str()), ("bun/queue:default", "go/queue:channel"));
        // Each block has the ratio 0.25 of the wall times, whatever the speed of the block.
        assert!((pair.wall.ratio.value - 0.25).abs() < 1e-9);
        assert_eq!((pair.wall.verdict, pair.wall.blocks_won, pair.wall.blocks), (Verdict::Faster, 6, 6));
        // Above the start: (0.25 - 0.012) / (1 - 0.002) in the middle blocks, 0.213 / 0.898 to 0.263 / 1.098 in the outermost.
        let above = pair.above_floor.as_ref().unwrap();
        assert!((above.ratio.value - 0.238 / 0.998).abs() < 1e-3, "{}", above.ratio.value);
        near(&found.cases[1].of_first, 4.0);
        assert_eq!(
            found.cases.iter().map(|case| case.against_first).collect::<Vec<_>>(),
            [None, Some(Verdict::Slower)]
        );
        assert_eq!(
            found.verdict,
            "Bun queue takes 0.2500× the time of Go queue (0.2500–0.2500, less in 6 of 6 rounds; without the start 0.238× \
             (0.238–0.239))."
        );
    }

    #[test]
    fn equal_times_are_equivalent_and_scattered_ones_cannot_be_told() {
        let mut run = one(6, Timer::Tolok);
        run.timed(GO_QUEUE, &[1.0, 1.01, 1.0, 0.99, 1.0, 1.0]).timed(GO_MUTEX, &[1.0, 1.0, 1.02, 1.0, 0.99, 1.0]);
        let found = program(&run);
        assert_eq!(found.comparisons[0].wall.verdict, Verdict::Equivalent);
        let start = "Go queue (channel) is equivalent within 3% to Go queue (mutex) (1.00× the time, 0.99–1.01";
        assert!(found.verdict.starts_with(start), "{}", found.verdict);

        let mut run = one(6, Timer::Tolok);
        run.timed(GO_QUEUE, &[1.0, 1.5, 0.7, 1.4, 0.9, 1.0]).timed(BUN_QUEUE, &[1.4, 0.8, 1.6, 0.9, 1.3, 1.1]);
        let found = program(&run);
        assert!(found.verdict.starts_with("No clear difference between Go queue and Bun queue ("), "{}", found.verdict);
    }

    #[test]
    fn a_difference_that_is_the_start_alone_says_so() {
        let mut run = one(6, Timer::Tolok);
        // Their starts differ by 10 ms, and both have 60 ms of work.
        run.timed(GO_QUEUE, &[0.062, 0.063, 0.061, 0.062, 0.062, 0.062]);
        run.timed(BUN_QUEUE, &[0.072, 0.072, 0.072, 0.073, 0.071, 0.072]);
        let found = program(&run);
        assert!(found.verdict.contains("; without the start they are equivalent: "), "{}", found.verdict);
    }

    #[test]
    fn where_the_start_is_nearly_all_there_is_no_comparison_above_it() {
        let mut run = one(6, Timer::Tolok);
        run.steadily(GO_QUEUE, 0.0021).steadily(BUN_QUEUE, 0.0125);
        let found = program(&run);
        assert!(found.comparisons[0].above_floor.is_none());
        assert_eq!(kinds(&found.cases[0]), ["at-floor"]);
        let message = found.cases[0].flags[0].message.replace('\u{a0}', " ");
        assert_eq!(
            message,
            "most of its time is its start: 2.00 ms of 2.10 ms; the work itself cannot be separated from it"
        );
        let end = "The work of Go queue and Bun queue cannot be separated from their start.";
        assert!(found.verdict.ends_with(end) && !found.verdict.contains("without the start"), "{}", found.verdict);
    }

    #[test]
    fn an_interval_above_the_start_that_holds_none_is_at_the_floor() {
        let mut run = one(5, Timer::Tolok);
        // 20 % of the wall time in the median, and negative in one block.
        run.timed(BUN_QUEUE, &[0.015, 0.0119, 0.016, 0.015, 0.015]);
        let case = program(&run).cases.remove(0);
        assert!(case.above_floor_s.as_ref().unwrap().low.unwrap() < 0.0);
        assert_eq!(kinds(&case), ["at-floor"]);
        assert!(case.flags[0].message.starts_with("its time above the start, "), "{}", case.flags[0].message);
    }

    #[test]
    fn one_subject_alone_has_a_time_and_no_comparison() {
        let mut run = one(5, Timer::Tolok);
        run.timed(NODE_QUEUE, &[0.5; 5]);
        let sentence = program(&run).verdict.replace('\u{a0}', " ");
        assert_eq!(
            sentence,
            "Node queue takes 500.0 ms (500.0–500.0 ms), 460.0 ms (460.0–460.0 ms) of it above its start; there is nothing to \
             compare it with."
        );
    }

    #[test]
    fn two_blocks_tell_nothing_apart() {
        let mut run = one(2, Timer::Tolok);
        run.steadily(GO_QUEUE, 1.0).steadily(BUN_QUEUE, 0.2);
        let found = program(&run);
        let sentence = "Not enough data: 2 rounds, 5 needed.";
        assert_eq!(found.verdict, sentence);
        assert_eq!(kinds(&found.cases[0]), ["too-few-trials"]);
    }
}

mod flags {
    use super::*;

    #[test]
    fn failed_trials_are_counted_and_their_blocks_compared_with_nothing() {
        let mut run = one(6, Timer::Tolok);
        run.steadily(GO_QUEUE, 0.2).steadily(BUN_QUEUE, 0.1).fail(
            3,
            FailureKind::WrongAnswer,
            "it wrote 12 and not 15",
        );
        let found = program(&run);
        let bun = &found.cases[0];
        assert_eq!((kinds(bun), bun.failures.len(), bun.trials_scored), (vec!["failed-trials"], 1, 5));
        assert_eq!(bun.flags[0].message, "1 of 6 trials failed: wrong answer");
        assert_eq!(found.comparisons[0].wall.blocks, 5);
    }

    #[test]
    fn a_case_whose_trials_all_failed_is_not_ranked() {
        let mut run = one(5, Timer::Tolok);
        run.steadily(GO_QUEUE, 0.2).steadily(BUN_QUEUE, 0.1);
        (1..=5).for_each(|block| _ = run.fail(block, FailureKind::Crashed, "exit status 139"));
        let found = program(&run);
        assert!(found.cases[0].ranked && !found.cases[1].ranked && found.cases[1].wall_s.is_none());
        assert!(found.verdict.ends_with("there is nothing to compare it with. Not ranked: Bun queue (crashed)."));
    }

    #[test]
    fn a_disturbed_trial_is_in_no_figure() {
        let mut run = one(6, Timer::Tolok);
        run.steadily(GO_QUEUE, 0.2).disturb(2, "steal", 0.04, "the hypervisor took 4% of the CPUs.");
        let found = run.findings();
        let case = &found.programs[0].cases[0];
        assert_eq!((case.trials_measured, case.trials_scored, case.reruns), (6, 5, 2));
        assert_eq!((case.disturbed[0].trial, case.disturbed[0].attempts), (2, 3));
        assert!(case.ranked && kinds(case) == ["disturbed"]);
        assert!(found.cautions.iter().any(|caution| caution.starts_with("1 of 6 trials discarded")));
        (1..=6).for_each(|block| _ = run.disturb(block, "steal", 0.04, "the hypervisor took 4% of the CPUs."));
        assert!(program(&run).cases[0].flags[0].voids_rank);
    }

    #[test]
    fn a_timer_with_wide_steps_ranks_nothing() {
        let mut run = one(6, Timer::Time);
        run.steadily(GO_QUEUE, 0.012).steadily(NODE_QUEUE, 0.900);
        let found = program(&run);
        let go = found.cases.iter().find(|case| case.runtime == "go").unwrap();
        assert_eq!((kinds(go), go.ranked), (vec!["coarse-timer"], false));
        let message = go.flags[0].message.replace('\u{a0}', " ");
        assert_eq!(
            message,
            "its timer counts in steps of 10.0 ms, and it takes 10.0 ms: the figures show steps, not times"
        );
        assert!(
            go.busy.is_none() && found.cases[0].busy.is_some(),
            "its share of CPU would be one timer step over another"
        );
        assert!(found.cases[0].ranked && found.comparisons.is_empty());
    }

    /// GNU time truncates 319 ms and 321 ms to 310 and 320. Taken literally, these readings differ by 3 % with certainty.
    #[test]
    fn two_programs_on_either_side_of_a_step_are_not_told_apart() {
        let mut run = one(6, Timer::Time);
        run.timed(GO_QUEUE, &[0.319; 6]).timed(GO_MUTEX, &[0.321; 6]);
        let found = program(&run);
        let pair = &found.comparisons[0].wall;
        assert!((pair.ratio.value - 31.0 / 32.0).abs() < 1e-9);
        // (310 / 320) / ((1 + 10 / 310) (1 + 10 / 320)), and the reciprocal step.
        let step = (1.0 + 10.0 / 310.0) * (1.0 + 10.0 / 320.0);
        assert!((pair.ratio.low.unwrap() - 31.0 / 32.0 / step).abs() < 1e-9);
        assert!((pair.ratio.high.unwrap() - 31.0 / 32.0 * step).abs() < 1e-9);
        assert_eq!(pair.verdict, Verdict::NoDifferenceFound);
        assert_eq!(found.cases[1].against_first, Some(Verdict::NoDifferenceFound));
        let wall = found.cases[0].wall_s.as_ref().unwrap();
        assert!((wall.high.unwrap() - 0.32).abs() < 1e-9 && wall.low.unwrap() < 0.301);
    }

    /// The timer read 0, which is less than a step.
    #[test]
    fn a_time_of_no_step_is_no_figure_to_rank_by() {
        let mut run = one(6, Timer::Time);
        run.timed(GO_QUEUE, &[0.002; 6]).timed(GO_MUTEX, &[0.003; 6]);
        let found = program(&run);
        assert!(found.cases.iter().all(|case| !case.ranked && kinds(case) == ["coarse-timer"]));
        assert!(
            found.cases[0].flags[0].message.contains("it takes less than one:"),
            "{}",
            found.cases[0].flags[0].message
        );
        assert!(found.verdict.starts_with("No result."));
        assert_eq!(found.cases[0].wall_s.as_ref().unwrap().high, Some(0.0), "not infinity");
    }

    #[test]
    fn outliers_are_counted_and_kept() {
        let mut run = one(5, Timer::Tolok);
        run.steadily(GO_QUEUE, 0.2);
        run.change_timing(|block, timing| timing.runs[3].wall_s *= if block == 2 { 3.0 } else { 1.0 });
        let case = program(&run).cases.remove(0);
        assert_eq!((case.outliers, case.runs, kinds(&case)), (1, 45, vec!["outliers"]));
        assert!(case.slowest_run_s.unwrap() > 0.59, "the outlier is part of the range");
        assert_eq!(
            case.flags[0].message,
            "1 of 45 runs lies more than 10 standard deviations from the median of the trial (by the median absolute \
             deviation); the farthest took 3.00× the median of its trial; kept in every figure"
        );
    }

    #[test]
    fn a_first_run_that_is_an_outlier_in_most_trials_has_a_flag_of_its_own() {
        let slow_first = |trials: u32| {
            let mut run = one(5, Timer::Tolok);
            run.steadily(GO_QUEUE, 0.2);
            run.change_timing(|block, timing| timing.runs[0].wall_s *= if block <= trials { 2.0 } else { 1.0 });
            program(&run).cases.remove(0)
        };
        assert_eq!(kinds(&slow_first(2)), ["outliers"]);
        let case = slow_first(3);
        assert_eq!(kinds(&case), ["outliers", "first-run"]);
        assert!(case.flags[1].message.starts_with("in 3 of 5 trials the first counted run"));
    }

    #[test]
    fn a_single_run_a_trial_is_said() {
        let mut run = one(5, Timer::Tolok);
        run.steadily(GO_QUEUE, 2.0).change_timing(|_, timing| {
            timing.runs.truncate(1);
            timing.floor.truncate(1);
        });
        let case = program(&run).cases.remove(0);
        assert_eq!((kinds(&case), case.runs, case.ranked), (vec!["few-runs"], 5, true));
    }

    #[test]
    fn a_limit_of_memory_that_was_reached_voids_the_rank() {
        let mut run = one(6, Timer::Tolok);
        run.steadily(GO_QUEUE, 0.2).fail(1, FailureKind::OutOfMemory, "the kernel killed it");
        assert_eq!(kinds(&program(&run).cases[0]), ["out-of-memory", "failed-trials"]);
    }
}

mod side_by_side {
    use super::*;

    #[test]
    fn a_series_has_the_values_in_order_and_no_time_above_the_start_where_that_is_all() {
        let found = queues().findings();
        assert_eq!(found.program_series.len(), 1, "hyperfine and GNU time have one value each");
        let series = &found.program_series[0];
        assert_eq!(
            (series.workload.as_str(), series.parameter.as_str(), series.title.as_str()),
            ("queue", "n", "A queue of tasks")
        );
        assert_eq!(series.values, [100, 100_000, 10_000_000]);
        let bun = &series.lines[0];
        assert_eq!((bun.title.as_str(), bun.points.len()), ("Bun queue", 3));
        assert_eq!(bun.points.iter().map(|it| it.above_floor_s.is_some()).collect::<Vec<_>>(), [false, true, true]);
    }

    #[test]
    fn a_crossover_stands_between_two_values_that_decide() {
        let found = queues().findings();
        let turns: Vec<_> =
            found.program_series[0].crossovers.iter().map(|it| (it.a.as_str(), it.b.as_str(), it.by)).collect();
        assert_eq!(
            turns,
            [
                ("go/queue:mutex", "bun/queue:default", CrossoverBy::Wall),
                ("go/queue:channel", "bun/queue:default", CrossoverBy::Wall),
            ],
            "above the start Bun takes less wherever it can be told, and the starts of the two Go queues are the same"
        );
        let turn = &found.program_series[0].crossovers[1];
        assert_eq!((turn.below, turn.above), (100_000, 10_000_000));
        let start = "At n = 100,000 Go queue (channel) takes less time than Bun queue: 0.6";
        assert!(turn.sentence.starts_with(start), "{}", turn.sentence);
        let middle = "; at n = 10,000,000 the order reverses: Bun queue takes 0.2";
        assert!(
            turn.sentence.contains(middle) && turn.sentence.ends_with("the time of Go queue (channel)."),
            "{}",
            turn.sentence
        );
    }

    #[test]
    fn where_one_of_the_two_values_does_not_decide_there_is_no_crossover() {
        let mut run = InventedRun::new(6);
        for (n, go) in [(1, [0.50; 6]), (2, [0.99, 1.5, 2.0, 1.2, 1.6, 0.8])] {
            run.program(&format!("queue-n{n}"), &format!("queue?n={n}"), "A queue", Timer::Tolok);
            run.timed(GO_QUEUE, &go).timed(BUN_QUEUE, &[1.0; 6]);
        }
        let found = run.findings();
        assert_eq!(found.programs[1].comparisons[0].wall.verdict, Verdict::CannotTell);
        assert_eq!(found.program_series[0].crossovers, []);
    }

    #[test]
    fn a_default_is_a_value_like_any_other() {
        let mut run = InventedRun::new(5);
        run.names.parameters.insert("queue".to_owned(), [("n".to_owned(), 1_000), ("m".to_owned(), 2)].into());
        for workload in ["queue", "queue?m=2&n=50", "queue?m=3&n=1000"] {
            run.program(&workload.replace(['?', '&', '='], "-"), workload, workload, Timer::Tolok)
                .steadily(GO_QUEUE, 0.1);
        }
        let series = run.findings().program_series;
        let said: Vec<_> =
            series.iter().map(|it| (it.parameter.as_str(), it.fixed.as_str(), it.values.clone())).collect();
        assert_eq!(said, [("m", "n = 1,000", vec![2, 3]), ("n", "m = 2", vec![50, 1_000])]);
    }

    #[test]
    fn timers_are_held_against_tolok_s_own_within_blocks() {
        let found = queues().findings();
        let timers = &found.timers[0];
        assert_eq!((found.timers.len(), timers.readings.len(), timers.workload.as_str()), (1, 10, "queue?n=100000"));
        let of = |subject: &str, timer: &str| {
            timers.readings.iter().find(|it| it.subject == subject && it.timer == timer).unwrap()
        };
        let ratio = |subject: &str, timer: &str| of(subject, timer).of_own.as_ref().unwrap().value;
        assert!((ratio("go/queue:channel", "hyperfine") - 0.0121 / 0.0120).abs() < 0.02);
        assert!((ratio("go/queue:channel", "time") - 0.0100 / 0.0120).abs() < 0.02, "it truncates 12 ms to 10");
        assert!(of("go/queue:channel", "tolok").of_own.is_none());
        let mean_s = of("bun/queue:default", "hyperfine").mean_s.as_ref().unwrap().value;
        assert!((mean_s - 0.0194).abs() < 0.0002);
        assert_eq!(of("go/queue:channel", "time").title, "Go queue (channel)", "the title is the same for all timers");
    }

    #[test]
    fn notes_on_timers_rest_on_what_their_records_lack() {
        let notes: Vec<String> =
            queues().findings().timers[0].notes.iter().map(|it| it.replace('\u{a0}', " ")).collect();
        assert_eq!(
            notes,
            [
                "GNU time counts in steps of 10.0 ms: its time of a program that takes less than 200 ms is mostly the step. Shares of CPU from such times are left out.",
                "hyperfine reports no memory here.",
                "hyperfine reports the mean CPU time over the runs of a trial; other timers give the median.",
                "hyperfine and GNU time have no runs without the work, so no time above the start.",
            ]
        );
    }
}

#[test]
fn the_order_of_the_records_does_not_matter() {
    let run = queues();
    let mut turned = run.clone();
    turned.trials.reverse();
    assert_eq!(run.findings(), turned.findings());
}

#[test]
fn programs_have_cautions_of_their_own_and_none_of_servers() {
    let found: Findings = queues().findings();
    let has = |words: &str| found.cautions.iter().any(|caution| caution.contains(words));
    assert!(has("Time above the start is") && has("Programs ran one at a time, after warm-up runs."));
    assert!(!has("closed loop") && !has("a network between") && !has("HTTP/2"), "{:?}", found.cautions);
}

#[test]
fn trials_that_are_missing_leave_what_is_there() {
    let mut run = one(6, Timer::Tolok);
    run.steadily(GO_QUEUE, 0.2);
    run.trials.truncate(2);
    assert!(run.trials.iter().all(|trial| matches!(trial.outcome, Outcome::Timed(_))));
    let found = run.findings();
    assert_eq!((found.trials_missing, found.programs[0].cases[0].trials_scored), (4, 2));
}

#[test]
fn a_scaled_run_of_programs_speaks_of_runs_and_not_of_windows() {
    let mut run = queues();
    assert_eq!(run.findings().scaled(), None);
    run.plan.scale = 0.15;
    let sentence = "Runs of programs shortened to 15%: in number and in time they were not what the study says.";
    assert_eq!(run.findings().scaled().as_deref(), Some(sentence));
    assert!(run.findings().programs[0].verdict.ends_with("The work of the 4 cannot be separated from their start."));
}

mod turns {
    use super::*;

    /// The number of runs in the invented scenario.
    const RUNS: u32 = 9;

    fn in_turns() -> InventedRun {
        let mut run = one(6, Timer::Tolok);
        run.in_turns();
        run
    }

    /// A machine that is up to three times slower in some rounds, the same for every case with a turn in them.
    fn state(launch: u32, round: u32) -> f64 {
        [1.0, 3.0, 1.0, 2.0][((launch + round) % 4) as usize]
    }

    #[test]
    fn a_small_difference_is_told_on_a_machine_whose_speed_changes_from_round_to_round() {
        let mut run = in_turns();
        run.turning(GO_QUEUE, RUNS, &|launch, round, half| {
            state(launch, round) * jitter(1, 1.0)(launch, round, half).0
        });
        run.turning(BUN_QUEUE, RUNS, &|launch, round, half| {
            1.05 * state(launch, round) * jitter(2, 1.0)(launch, round, half).0
        });
        let found = program(&run);
        let pair = &found.comparisons[0];
        let ratio = &pair.wall.ratio;
        let of_bun = if pair.a == BUN_QUEUE.label { ratio.value } else { 1.0 / ratio.value };
        assert!((of_bun - 1.05).abs() < 0.004, "{ratio:?}");
        assert!(ratio.high.unwrap() - ratio.low.unwrap() < 0.02, "{ratio:?}");
        let turns = found.turns.as_ref().unwrap();
        assert_eq!((turns.launches, turns.runs_per_case, turns.foreign_cpus), (6, RUNS, 0.25));
        let cpu = &turns.cpu[0];
        assert!((cpu.ratio.value.ln().abs() - 1.05_f64.ln()).abs() < 0.004, "{cpu:?}");
        let [half, launches, length] =
            [turns.half_width, turns.half_width_of_twice_the_launches, turns.half_width_of_twice_the_length]
                .map(Option::unwrap);
        assert!(launches < half && length <= half, "{half} {launches} {length}");
        assert!(found.runs.ends_with("per launch, in turns"), "{}", found.runs);
        assert!(pair.above_floor.is_some(), "{pair:?}");
    }

    #[test]
    fn a_case_whose_time_was_up_is_compared_by_the_turns_that_it_took() {
        let mut run = in_turns();
        run.turning(GO_QUEUE, RUNS, &|launch, round, half| {
            // In rounds without a turn of the other case, the machine is slow.
            if round == 1 { jitter(1, 1.0)(launch, round, half).0 } else { 9.0 }
        });
        run.turning(NODE_QUEUE, 1, &|launch, round, half| 2.0 * jitter(2, 1.0)(launch, round, half).0);
        let found = program(&run);
        let pair = &found.comparisons[0];
        let of_node = if pair.a == NODE_QUEUE.label { pair.wall.ratio.value } else { 1.0 / pair.wall.ratio.value };
        assert!((of_node - 2.0).abs() < 0.01, "{pair:?}");
        assert_eq!(pair.wall.blocks, 6);
        let said = found.turns.as_ref().unwrap().sentences.join(" ");
        assert!(said.contains("each with up to 9 runs of each case"), "{said}");
        assert!(said.contains("The limit at-most stopped Node queue after 1 run; pairs"), "{said}");
        // A single turn does not show how much turns scatter.
        assert!(!said.contains("within a launch"), "{said}");
    }

    #[test]
    fn programs_in_trials_of_their_own_say_nothing_of_turns() {
        let mut run = one(6, Timer::Tolok);
        run.steadily(GO_QUEUE, 1.0).steadily(BUN_QUEUE, 1.1);
        assert!(program(&run).turns.is_none());
    }

    #[test]
    fn trials_and_turns_share_no_series() {
        let mut run = in_turns();
        run.turning(GO_QUEUE, RUNS, &|launch, round, half| jitter(1, 1.0)(launch, round, half).0);
        run.program("queue-n10", "queue?n=10", "A queue of tasks, n = 10", Timer::Tolok);
        run.steadily(GO_QUEUE, 1.0);
        let found: Findings = run.findings();
        assert_eq!(found.program_series.len(), 0);
        run.in_turns();
        assert_eq!(run.findings().program_series.len(), 1);
    }
}
