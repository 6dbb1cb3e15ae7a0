//! Findings on cases measured in slices, and their error rates.

use crate::invented::slices::{Machine, jitter};
use crate::invented::{BUN, GO, InventedRun};
use tolok_analysis::{GateOutcome, ScenarioFinding, Verdict};
use tolok_model::{Judge, Measurement};

const LAUNCHES: u32 = 8;

fn run() -> InventedRun {
    let mut run = InventedRun::new(LAUNCHES);
    run.scenario("json-c64", "json", "JSON", 64).in_slices();
    run
}

fn scenario(run: &InventedRun) -> ScenarioFinding {
    run.findings().scenarios.remove(0)
}

#[test]
fn a_small_difference_is_told_although_every_launch_has_a_stall() {
    let mut run = run();
    // Without slices, a stall of this length would cost the launch a fifth of its figure.
    let stalled = |launch, round, half| {
        let (rate, cpu) = jitter(1, 1.0)(launch, round, half);
        (if (round, half) == (4, 1) { rate * 0.1 } else { rate }, cpu)
    };
    run.sliced(BUN, 41_200.0, 20e-6, &stalled).sliced(GO, 40_000.0, 21e-6, &jitter(2, 1.0));
    let found = scenario(&run);
    let pair = found.comparisons.iter().find(|pair| pair.a == BUN.label || pair.b == BUN.label).unwrap();
    let of_bun = if pair.a == BUN.label { pair.ratio.value } else { 1.0 / pair.ratio.value };
    assert!((of_bun - 1.03).abs() < 0.004, "{pair:?}");
    assert!(matches!(pair.verdict, Verdict::Faster | Verdict::Slower | Verdict::Equivalent), "{pair:?}");
}

#[test]
fn the_response_that_the_study_names_decides_and_the_other_stands_beside_it() {
    let mut run = run();
    // Bun has the higher goodput, and Go takes less CPU time per response.
    run.sliced(BUN, 60_000.0, 15e-6, &jitter(1, 1.0)).sliced(GO, 40_000.0, 10e-6, &jitter(2, 1.0));
    let first = |run: &InventedRun| {
        let found = scenario(run);
        (found.cases[0].title.clone(), found.cases[0].tier.clone(), found.verdict)
    };
    let (title, tier, verdict) = first(&run);
    assert_eq!((title.as_str(), tier.as_deref()), ("Bun.serve", Some("a")));
    assert!(verdict.starts_with("Bun.serve is faster than Go net/http: 1.499×"), "{verdict}");
    run.plan.judge = Judge::Cpu;
    let (title, tier, verdict) = first(&run);
    assert_eq!((title.as_str(), tier.as_deref()), ("Go net/http", Some("a")));
    assert!(verdict.starts_with("Go net/http is more CPU-efficient than Bun.serve: 1.501×"), "{verdict}");
    let found = scenario(&run);
    let slices = found.slices.as_ref().unwrap();
    assert!(slices.cpu.is_empty() && (slices.goodput[0].ratio.value - 1.5).abs() < 0.01, "{slices:?}");
    assert!(slices.goodput[0].ratio.low.is_some(), "goodput still has its interval");
    let rules = run.findings().recommendations;
    assert_eq!(rules[0].rule, "least-cpu", "{rules:?}");
}

#[test]
fn both_responses_stand_side_by_side_with_what_more_launches_would_buy() {
    let mut run = run();
    run.sliced(BUN, 60_000.0, 15e-6, &jitter(1, 1.0)).sliced(GO, 40_000.0, 24e-6, &jitter(2, 1.0));
    let found = scenario(&run);
    let slices = found.slices.as_ref().unwrap();
    assert_eq!((slices.launches, slices.slices_per_case, slices.frozen), (LAUNCHES, 8, true));
    let cpu = &slices.cpu[0];
    assert_eq!((cpu.subject.as_str(), cpu.first.as_str()), ("Go net/http", "Bun.serve"));
    assert!((cpu.ratio.value - 1.6).abs() < 0.01, "{cpu:?}");
    let [half, launches, length] =
        [slices.half_width, slices.half_width_of_twice_the_launches, slices.half_width_of_twice_the_length]
            .map(Option::unwrap);
    assert!(launches < half && length <= half, "{half} {launches} {length}");
    assert!(found.load.ends_with("in slices of 100 ms"), "{}", found.load);
    assert_eq!(slices.cautions, [""; 0]);
}

#[test]
fn what_slicing_does_to_a_ratio_is_seen_in_windows_of_double_length() {
    let mut run = run();
    // Every fourth round has windows of double length. There, this case is a tenth faster.
    let sensitive = |launch, round, half| {
        let (rate, cpu) = jitter(1, 1.0)(launch, round, half);
        (if round == 4 { rate * 1.1 } else { rate }, cpu)
    };
    run.sliced(BUN, 60_000.0, 15e-6, &sensitive).sliced(GO, 40_000.0, 24e-6, &jitter(2, 1.0));
    let found = scenario(&run);
    let slices = found.slices.as_ref().unwrap();
    let longer = slices.longer_windows.as_ref().unwrap();
    assert!((longer.value - 1.1).abs() < 0.01, "{longer:?}");
    let said = slices.sentences.join(" ");
    assert!(
        said.contains("Windows twice as long change a ratio by 1.1") && said.contains("the length of a slice matters"),
        "{said}"
    );
}

fn cautions(change: impl Fn(&mut Measurement)) -> String {
    let mut run = run();
    run.sliced(BUN, 60_000.0, 15e-6, &jitter(1, 1.0)).sliced(GO, 40_000.0, 24e-6, &jitter(2, 1.0));
    run.change(|_, measured| change(measured));
    let findings = run.findings();
    let slices = findings.scenarios[0].slices.clone().expect("it is sliced");
    for caution in &slices.cautions {
        assert!(findings.cautions.contains(&format!("In json-c64 (slices): {caution}")), "{:?}", findings.cautions);
    }
    slices.cautions.join(" ")
}

#[test]
fn what_spoils_slices_is_a_caution() {
    assert_eq!(cautions(|_| {}), "");
    let slow = |measured: &mut Measurement| {
        measured.latency.percentiles.clear();
        measured.latency.mean_s = Some(0.12);
    };
    let said = cautions(slow);
    assert!(said.contains("Responses outlast the lead-in: Go net/http takes 120 ms on average"), "{said}");
    let said = cautions(|measured| {
        let slices = measured.slices.as_mut().unwrap();
        (slices.frozen, slices.not_drained, slices.not_frozen) = (false, 2, 1);
    });
    for part in
        ["Nothing could be frozen", "16 slices ended with requests", "In 8 slices a server did not come to rest"]
    {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_launch_in_which_a_case_failed_counts_for_the_others() {
    let mut run = run();
    run.sliced(BUN, 60_000.0, 15e-6, &jitter(1, 1.0)).sliced(GO, 40_000.0, 24e-6, &jitter(2, 1.0));
    run.fail(3, tolok_model::FailureKind::Crashed, "it fell");
    let found = scenario(&run);
    assert_eq!(found.comparisons[0].blocks, LAUNCHES - 1);
}

/// Two equal cases on a machine with two states, stalls, and launches that differ by 1 %. Over 400 runs the interval covers the
/// true ratio in 93 to 97 %, and equals are told apart in at most one run of twenty.
#[test]
fn intervals_over_launches_keep_their_word_on_a_machine_with_two_states() {
    let (mut covered, mut told, runs) = (0, 0, 400);
    for seed in 0..runs {
        let mut machine = Machine::new(seed);
        let states = machine.states(LAUNCHES);
        let [one, other] = [0; 2].map(|_| machine.slices(&states, 0.01));
        let mut run = run();
        let rate = |of: &[[[f64; 2]; 4]], launch: u32, round: u32, half: u32| {
            of[launch as usize - 1][round as usize - 1][half as usize - 1]
        };
        run.sliced(BUN, 40_000.0, 20e-6, &|launch, round, half| (rate(&one, launch, round, half), 1.0));
        run.sliced(GO, 40_000.0, 20e-6, &|launch, round, half| (rate(&other, launch, round, half), 1.0));
        let found = scenario(&run);
        let pair = &found.comparisons[0];
        covered += u64::from(pair.ratio.low.unwrap() <= 1.0 && 1.0 <= pair.ratio.high.unwrap());
        told += u64::from(matches!(pair.verdict, Verdict::Faster | Verdict::Slower));
    }
    assert!((372..=390).contains(&covered), "{covered} of {runs}");
    assert!(told <= 20, "{told} of {runs}");
}

#[test]
fn a_machine_that_is_slow_in_turns_is_said_to_have_two_speeds() {
    let speeds = |slow: f64| {
        let mut run = run();
        let slowed = move |case: u32| {
            move |launch: u32, round: u32, half: u32| {
                let (rate, cpu) = jitter(case, 1.0)(launch, round, half);
                (if launch.is_multiple_of(2) && round > 2 { rate * slow } else { rate }, cpu)
            }
        };
        run.sliced(BUN, 60_000.0, 15e-6, &slowed(1)).sliced(GO, 40_000.0, 10e-6, &slowed(2));
        run.findings().machine_speeds.unwrap()
    };
    let found = speeds(0.6);
    let two = found.two.unwrap();
    assert!((two.slower - 0.4).abs() < 0.01 && (two.share - 0.3).abs() < 1e-9, "{two:?}");
    assert!(
        found.sentence.starts_with("The machine had two speeds: 30% of the time it was 40% slower"),
        "{}",
        found.sentence
    );
    let found = speeds(1.0);
    assert_eq!((found.values, found.unit.as_str(), found.two), (128, "slice", None));
    assert_eq!(found.sentence, "No second, slower speed of the machine shows in 128 slices.");
}

#[test]
fn slices_are_never_discarded_so_a_machine_that_others_kept_busy_is_told_of_instead() {
    let busy = |_, trial: &mut Measurement| trial.host.foreign_cpu_s = 1.9 * trial.window_s;
    let mut run = run();
    run.sliced(BUN, 41_200.0, 20e-6, &jitter(1, 1.0)).sliced(GO, 40_000.0, 21e-6, &jitter(2, 1.0)).change(busy);
    let found = run.findings();
    let of = |title: &str| {
        let case = found.scenarios[0].cases.iter().find(|case| case.title == title).unwrap();
        case.gates.iter().find(|gate| gate.gate == "disturbance").unwrap()
    };
    assert_eq!(of("Bun.serve").outcome, GateOutcome::Passed);
    let gate = of("Go net/http");
    assert_eq!((gate.outcome, gate.bars), (GateOutcome::Failed, false));
    assert_eq!(gate.message, "in 8 of 8 trials: other programs used 95% of the CPUs, and no turn is repeated");
    assert!(found.others.used.is_some_and(|used| (used - 0.95).abs() < 1e-9), "{:?}", found.others);
    assert!(
        found.cautions[0]
            .starts_with("In one case, other programs used 95% of the CPUs in the median trial (limit 5%)"),
        "{:?}",
        found.cautions
    );
}

#[test]
fn a_hypervisor_that_takes_cpu_time_disturbs_slices_too() {
    let message = |foreign: f64, steal: f64| {
        let mut run = run();
        run.sliced(GO, 40_000.0, 21e-6, &jitter(2, 1.0)).sliced(BUN, 41_200.0, 20e-6, &jitter(1, 1.0));
        run.change(|launch, trial| {
            trial.host.foreign_cpu_s = foreign * 2.0 * trial.window_s;
            // It takes nothing from the first launch.
            trial.host.steal_s = if launch > 1 { steal * 2.0 * trial.window_s } else { 0.0 };
        });
        let cases = scenario(&run).cases;
        let case = cases.iter().find(|case| case.subject == BUN.label).unwrap();
        case.gates.iter().find(|gate| gate.gate == "disturbance").unwrap().message.clone()
    };
    assert_eq!(message(0.0, 0.009), "nothing disturbed it");
    let stolen = "in 7 of 8 trials: the hypervisor took 3% of the CPU time, and no turn is repeated";
    assert_eq!(message(0.0, 0.03), stolen);
    let both = "in 8 of 8 trials: other programs used 8% of the CPUs and the hypervisor took 3% of the CPU time, and no turn is \
                repeated";
    assert_eq!(message(0.08, 0.03), both);
}
