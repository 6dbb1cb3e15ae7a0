//! What a run can judge about a source, and what it cannot.

use super::*;

use std::fs;
use std::path::Path;

use tolok_analysis::replication::replicate;
use tolok_model::replication::Replication;
use tolok_model::transcription::{Assertion, Quantity, Transcription};
use tolok_model::{Outcome, SecondSeries};

/// A run with a change to all its trials.
fn changed(change: impl Fn(&mut tolok_model::Measurement)) -> InventedRun {
    let mut run = run();
    for trial in &mut run.trials {
        if let Outcome::Completed(measured) = &mut trial.outcome {
            change(measured);
        }
    }
    run
}

fn two(figures: [&str; 2]) -> InventedSource {
    source().row("go", "s", figures[0]).row("bun", "s", figures[1])
}

const BUN_OVER_GO: &str = "a = { subject = \"bun\" }\nb = { subject = \"go\" }";

#[test]
fn a_window_shorter_than_what_the_source_shows_judges_nothing() {
    let of = |least: &str| {
        let mut source = two(["throughput_rps = 10", "throughput_rps = 12.4"]);
        source = source.claim("it", &format!("figure = \"throughput_rps\"\n{BUN_OVER_GO}\nratio = 1.24"));
        source.replication = source.replication.replace("says = ", &format!("least-window = \"{least}\"\nsays = "));
        source.held_against(&[("lan", &changed(|trial| trial.window_s = 10.0))])
    };
    assert_eq!(of("10s").claims[0].reading, Reproduced);
    let short = of("20s");
    let why = "part lan needs windows of 20.0\u{a0}s, and they were 10.0\u{a0}s long";
    assert_eq!((short.ratios[0].reading, short.ratios[0].why.as_deref()), (CannotTell, Some(why)));
    assert_eq!(short.claims[0].reading, CannotTell);
    assert!(short.rows[0].figures[0].measured.is_some(), "it is shown all the same");
}

#[test]
fn cpu_second_by_second_is_compared_with_the_same_seconds() {
    let mut source = two(["throughput_rps = 1", "throughput_rps = 1"]);
    for (subject, cpu) in [("go", "[0, 1.0, 1.4, 9, 9]"), ("bun", "[0, 0.5, 0.7, 1, 1]")] {
        source.published += &format!(
            "[[series]]\nsubject = \"{subject}\"\nscenario = \"s\"\nsecond = [0, 1, 2, 3, 4]\ncpu_cores = {cpu}\n"
        );
    }
    source.replication = source.replication.replace("says = ", "least-window = \"4s\"\nsays = ");
    let run = changed(|trial| {
        trial.window_s = 2.0;
        trial.subject.as_mut().expect("tolok started it").cpu_s = 1.0;
        trial.series = Some(SecondSeries {
            good: vec![10; 2],
            subject_cpu_s: vec![Some(0.5), Some(0.5)],
            ..SecondSeries::default()
        });
    });
    let found = source.held_against(&[("lan", &run)]);
    let of_series = found.ratios.iter().find(|ratio| ratio.words == "CPU in seconds 1 to 2");
    let of_series = of_series.expect("both were measured");
    assert_eq!((of_series.published, of_series.reading), (2.0, NoDifference), "8.5 over 0.8 would be the whole run");
    let meanwhile = found.series[0].published_meanwhile.as_ref().expect("the source's series is longer");
    assert_eq!((meanwhile.at_s.as_slice(), meanwhile.end), ([0.0, 1.0, 2.0].as_slice(), 1.4));
}

#[test]
fn what_repeats_a_cell_is_a_figure_and_no_claim() {
    let of = |value: &str| {
        let rows = two(["throughput_rps = 19.3\nerror_rate_percent = 70.38", "throughput_rps = 2.75"]);
        rows.claim("it", value).held_against(&[("lan", &run())])
    };
    let at = "at = { subject = \"go\" }";
    let kept = |value: &str| {
        let found = of(value);
        (found.claims.len(), found.restated)
    };
    assert_eq!(kept(&format!("figure = \"throughput_rps\"\n{at}\nvalue = 19.3")), (0, 1));
    assert_eq!(kept(&format!("figure = \"error_rate_percent\"\n{at}\nvalue = \"~70\"")), (0, 1));
    assert_eq!(kept("figure = \"throughput_rps\"\nvalue = \"2.75..19.3\""), (0, 1));
    assert_eq!(kept(&format!("figure = \"throughput_rps\"\n{at}\nvalue = 25")), (1, 0), "the source's table differs");
    assert_eq!(kept(&format!("figure = \"throughput_rps\"\n{at}\nvalue = \"> 15\"")), (1, 0), "a limit is a statement");
}

/// ab has one thread. As the limit, it bounds responses per second, but not the memory or the CPU that they took.
#[test]
fn a_bound_withholds_what_it_bounds() {
    let figures = "throughput_rps = 10\nlatency_mean_ms = 5\nmemory_peak_mb = 10\ncpu_per_request_us = 10";
    let bound = changed(|trial| {
        trial.subject.as_mut().expect("tolok started it").cpu_s = 0.71 * trial.window_s;
        trial.generator.cpu_s = 0.973 * trial.window_s;
    });
    let found = two([figures, figures]).held_against(&[("lan", &bound)]);
    let told = |words: &str| {
        let ratio = found.ratios.iter().find(|ratio| ratio.words == words);
        ratio.is_some_and(|ratio| ratio.measured.is_some())
    };
    assert_eq!(["throughput", "mean latency"].map(told), [false, false], "{:#?}", found.ratios);
    assert_eq!(["largest memory", "CPU per request"].map(told), [true, true], "{:#?}", found.ratios);
}

#[test]
fn rates_of_more_cpus_than_there_are_here_are_not_judged() {
    let of = |go: &str| {
        let rows =
            [format!("throughput_rps = 10\nmemory_mb = 9\n{go}"), "throughput_rps = 12.4\nmemory_mb = 9".to_owned()];
        let found = two([&rows[0], &rows[1]]).held_against(&[("lan", &run())]);
        found.ratios.iter().map(|ratio| ratio.measured.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(of("subject-cpus = 8"), [false, true], "it may have used all CPUs");
    assert_eq!(of("subject-cpus = 8\nsubject-workers = 1"), [true, true]);
    assert_eq!(of("subject-cpus = 8\nsubject-workers = 8"), [false, true], "memory is not a rate");
    assert_eq!(of("subject-cpus = 8\ncpu_max_percent = 50.67"), [false, true]);
    assert_eq!(of("subject-cpus = 8\ncpu_max_cores = 0.9"), [true, true]);
}

#[test]
fn a_claim_stands_beside_its_text_its_table_and_the_measure() {
    let rows = two(["throughput_rps = 100", "throughput_rps = 163"]);
    let found = rows.claim("it", &format!("figure = \"throughput_rps\"\n{BUN_OVER_GO}\nratio = \"2..3\""));
    let claim = found.held_against(&[("lan", &run())]).claims.remove(0);
    assert_eq!(claim.raw, ["a line"]);
    assert_eq!(claim.measure.as_deref(), Some("correct responses per second"));
    assert_eq!(claim.own_table.as_deref(), Some("bun over go, setting s: 1.63×"));
    let less = rows_of_less().held_against(&[("lan", &run())]).claims.remove(0);
    assert_eq!((less.published.as_str(), less.reading), ("< 1×", Reproduced));
    assert!(
        less.measured.is_some_and(|words| words.starts_with("go over bun, setting s: 0.8")),
        "in the claim's direction"
    );
}

fn rows_of_less() -> InventedSource {
    let sides = "a = { subject = \"go\" }\nb = { subject = \"bun\" }\nratio = \"< 1\"";
    two(["throughput_rps = 100", "throughput_rps = 163"]).claim("it", &format!("figure = \"throughput_rps\"\n{sides}"))
}

#[test]
fn another_measure_stands_in_only_where_the_claims_own_was_not_measured() {
    let of = |go: &str| {
        let rows = two([&format!("throughput_rps = 10\n{go}"), "throughput_rps = 12.4"]);
        let claim = format!("figure = \"throughput_rps\"\n{BUN_OVER_GO}\nratio = 1.24");
        let pair = [("one CPU", ["lan", "json-c64", "go/nethttp:encoder"], ["lan", "json-c64", "bun/serve"])];
        let mut source = rows.claim("it", &claim).settle("it", "1.24", &pair);
        let by_cpu = "claim = \"it\"\nin-place-of = \"throughput on eight CPUs\"\nfigure = \"cpu_per_request_us\"";
        source.replication = source.replication.replace("claim = \"it\"\nfigure = \"throughput_rps\"", by_cpu);
        source.held_against(&[("lan", &run())]).claims.remove(0)
    };
    let own = of("subject-workers = 1");
    assert_eq!((own.reading, own.measure.as_deref()), (Reproduced, Some("correct responses per second")));
    let other = of("subject-cpus = 8\nsubject-workers = 8");
    assert_eq!(other.measure.as_deref(), Some("CPU time per response"));
    assert_eq!(
        other.explanation.as_deref(),
        Some("In place of throughput on eight CPUs: go may have used 8 of the source's 8 CPUs, and had 1 here.")
    );
    assert_ne!(other.reading, CannotTell);
}

/// Quantities that do not depend on the machine.
const SHARES: [Quantity; 5] =
    [Quantity::ErrorRate, Quantity::HttpFailRate, Quantity::Failures, Quantity::Timeouts, Quantity::Body];

/// The claims of the five sources: claims that only repeat cells, claims that a full run on two CPUs can judge, and the others,
/// which are machine-dependent sizes or no figures. For a part that has not run, the output shows what it would judge.
#[test]
fn the_claims_of_the_five_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut told = String::new();
    let mut sums = [0; 3];
    for key in [
        "asshuffi-apache-node",
        "astamal-swoole-node-go",
        "kamarudin-go-bun-php",
        "nunez-queue",
        "srivastava-node-bun-go",
    ] {
        let published = fs::read_to_string(root.join(format!("published/{key}.toml"))).unwrap();
        let studies = fs::read_to_string(root.join(format!("studies/sources/{key}/replication.toml"))).unwrap();
        let transcription = Transcription::read(&published, key).unwrap();
        let replication =
            Replication::read(&studies, &transcription).unwrap_or_else(|problems| panic!("{problems:#?}"));
        let found = replicate(&transcription, &replication, &[]);
        let is_size = |id: &str| {
            let claim = transcription.claims.iter().find(|claim| claim.id == id).map(|claim| &claim.asserts);
            matches!(claim, Some(Assertion::Value { quantity, .. }) if !SHARES.contains(quantity))
        };
        let waits = |claim: &&ClaimFinding| claim.explanation.as_ref().is_some_and(|why| why.contains("was not run"));
        let judgeable = found.claims.iter().filter(waits).filter(|claim| !is_size(&claim.id)).count();
        let of = [found.claims.len(), found.restated, judgeable];
        sums = [0, 1, 2].map(|place| sums[place] + of[place]);
        told += &format!("{key}: {} claims, {} repeat cells, {} can be judged by a run\n", of[0], of[1], of[2]);
    }
    told += &format!("all: {} claims, {} repeat cells, {} can be judged by a run\n", sums[0], sums[1], sums[2]);
    insta::assert_snapshot!(told, @r"
    asshuffi-apache-node: 40 claims, 1 repeat cells, 34 can be judged by a run
    astamal-swoole-node-go: 15 claims, 3 repeat cells, 10 can be judged by a run
    kamarudin-go-bun-php: 46 claims, 35 repeat cells, 29 can be judged by a run
    nunez-queue: 39 claims, 0 repeat cells, 31 can be judged by a run
    srivastava-node-bun-go: 24 claims, 6 repeat cells, 10 can be judged by a run
    all: 164 claims, 45 repeat cells, 114 can be judged by a run
    ");
}
