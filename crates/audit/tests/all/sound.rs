//! A table without flaws: no law may contradict it.
//!
//! The figures come from a simulated closed loop, printed as sources print them: rounded, and summarised over
//! repetitions by means, by medians, or one by one.

use crate::closed_loop;
use crate::invented;

use closed_loop::{Loop, Outcome, Random, run};
use invented::{of_verdict, read};
use proptest::prelude::*;
use tolok_audit::AuditVerdict;

/// Bytes of an answer: a body of 52, and headers.
const ANSWER_BYTES: f64 = 204.0;

/// How several repetitions become one number.
type Summary = fn(&[f64]) -> f64;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// The figures of a row. `decimals` is the precision of printed times, in ms.
fn figures(runs: &[Outcome], summary: Summary, decimals: usize) -> String {
    let of = |what: &dyn Fn(&Outcome) -> f64| summary(&runs.iter().map(what).collect::<Vec<f64>>());
    let ms = |what: &dyn Fn(&Outcome) -> f64| format!("{:.decimals$}", 1e3 * of(what));
    let x = of(&Outcome::throughput_rps);
    let requests: Vec<String> = runs.iter().map(|run| run.times_s.len().to_string()).collect();
    let percentiles =
        [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("max", 1.0), ("min", 0.0)];
    let mut lines: Vec<String> = percentiles
        .iter()
        .map(|(name, share)| format!("latency_{name}_ms = {}", ms(&|run| run.quantile_s(*share))))
        .collect();
    lines.push(format!("latency_mean_ms = {}", ms(&Outcome::mean_s)));
    lines.push(format!("latency_sd_ms = {}", ms(&Outcome::sd_s)));
    lines.push(format!("throughput_rps = {x:.1}\nrequests = [{}]\ntimeouts = 0", requests.join(", ")));
    lines.push(format!("error_rate_percent = 0.0\nbandwidth_mb_s = {:.3}", x * ANSWER_BYTES / 1e6));
    let cpus = of(&|run| run.cpus);
    lines.push(format!("cpu_percent = {:.1}\ncpu_per_request_us = {:.1}", 100.0 * cpus, 1e6 * cpus / x));
    let memory: Vec<f64> = runs.iter().enumerate().map(|(at, run)| 48.3 + at as f64 / 3.0 + run.mean_s()).collect();
    lines.push(format!("memory_peak_mb = {:.1}", summary(&memory)));
    lines.join("\n")
}

/// A whole source: two subjects, four settings, three repetitions.
fn sound_table(summary: Summary, decimals: usize) -> String {
    let mut text = "title = \"A sound table\"\n[method]\ntool = \"wrk\"\nloop = \"closed\"\nstreams = 1\nlatency-of = \"all\"\nduration = \"10s\"\nwarmup = \"5s\"\n\
                    repetitions = 3\nfresh-start = true\nkeep-alive = true\ngenerator-threads = 4\nsubject-cpus = 2\n\
                    subject-workers = 2\nsubject-memory = \"512MB\"\ncpu-scope = \"core\"\nlink = \"10Gbit/s\"\nbody = \"52B\"\n\
                    ramp = false\n"
        .to_owned();
    let settings = [("few", 16, 0, 8), ("light", 16, 0, 2), ("many", 128, 0, 8), ("pausing", 128, 40, 8)];
    for (name, users, think_ms, queries) in settings {
        text += &format!(
            "[[scenario]]\nname = \"{name}\"\ntitle = \"{name} users\"\nconnections = {users}\nthink-time = \"{think_ms}ms\"\nwork = \"{queries} queries\"\nraw = \"{name}\"\n"
        );
        for (seed, (subject, query_s)) in [("red", 0.14e-3), ("blue", 0.21e-3)].into_iter().enumerate() {
            let of = Loop {
                users,
                cpus: 2,
                service_s: f64::from(queries) * query_s,
                think_s: f64::from(think_ms) / 1e3,
                duration_s: 10.0,
            };
            let runs: Vec<Outcome> = (1..=3).map(|repetition| run(of, 100 * repetition + seed as u64)).collect();
            let figures = figures(&runs, summary, decimals);
            text += &format!(
                "[[row]]\ntable = \"Table 1\"\nsubject = \"{subject}\"\nscenario = \"{name}\"\nraw = \"{subject} {name}\"\n{figures}\n"
            );
        }
    }
    text
}

#[test]
fn no_law_contradicts_a_sound_table() {
    for (summary, decimals) in [(mean as Summary, 2), (mean, 0), (median, 2), (median, 0)] {
        let table = read(&sound_table(summary, decimals));
        let contradicted = of_verdict(&table, AuditVerdict::Contradicted);
        assert!(contradicted.is_empty(), "{contradicted:#?}");
    }
}

#[test]
fn a_complete_table_lets_every_law_of_figures_come_to_a_verdict() {
    let table = read(&sound_table(mean, 2));
    let open: Vec<_> = of_verdict(&table, AuditVerdict::CannotTell);
    let open: Vec<_> = open.iter().filter(|finding| invented::OF_FIGURES.contains(&finding.law)).collect();
    assert!(open.is_empty(), "{open:#?}");
    let held = of_verdict(&table, AuditVerdict::Holds);
    for law in invented::OF_FIGURES {
        assert!(held.iter().any(|finding| finding.law == *law), "{law:?} holds somewhere");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the load, the service and the rounding, figures of one closed loop never contradict each other.
    #[test]
    fn figures_of_a_closed_loop_never_contradict_each_other(
        users in 1usize..80, cpus in 1usize..6, service_us in 50u32..20_000, think_ms in 0u32..50, decimals in 0usize..4,
        duration_tenths in 5u32..40, seed: u64,
    ) {
        let duration_s = f64::from(duration_tenths) / 10.0;
        let service_s = f64::from(service_us).max(500.0) / 1e6;
        let of = Loop { users, cpus, service_s, think_s: f64::from(think_ms) / 1e3, duration_s };
        let runs: Vec<Outcome> = (0..3).map(|repetition| run(of, seed.wrapping_add(repetition))).collect();
        prop_assume!(runs.iter().all(|run| run.times_s.len() > 1));
        let method = format!(
            "tool = \"wrk\"\nloop = \"closed\"\nconnections = {users}\nthink-time = \"{think_ms}ms\"\nduration = \"{duration_s}s\"\n\
             subject-cpus = {cpus}\ncpu-scope = \"core\"\nbody = \"52B\"\nlink = \"10Gbit/s\"\nkeep-alive = true"
        );
        for summary in [mean as Summary, median] {
            let table = invented::table(&method, &[("red", &figures(&runs, summary, decimals))]);
            prop_assert_eq!(invented::contradicting(&table, invented::OF_FIGURES), vec![]);
        }
    }

    /// The minimum, mean, percentiles and maximum of any values fit one distribution.
    #[test]
    fn figures_of_any_values_are_in_order(seed: u64, n in 2usize..400, skew in 0.2f64..12.0, decimals in 0usize..4) {
        let mut random = Random(seed);
        let mut times_s: Vec<f64> = (0..n).map(|_| 1e-3 + random.share().powf(skew)).collect();
        times_s.sort_by(f64::total_cmp);
        let run = Outcome { times_s, cpus: 0.5, duration_s: 60.0 };
        let ms = |seconds: f64| format!("{:.decimals$}", 1e3 * seconds);
        let figures = format!(
            "time_mean_ms = {}\ntime_sd_ms = {}\ntime_min_ms = {}\ntime_p50_ms = {}\ntime_max_ms = {}\nruns = {n}",
            ms(run.mean_s()), ms(run.sd_s()), ms(run.quantile_s(0.0)), ms(run.quantile_s(0.5)), ms(run.quantile_s(1.0))
        );
        let table = invented::table("tool = \"hyperfine\"", &[("red", &figures)]);
        prop_assert_eq!(invented::contradicting(&table, invented::OF_FIGURES), vec![]);
    }
}
