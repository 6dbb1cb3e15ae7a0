//! Published ratios compared with measured ones, on invented runs.

use crate::invented::{APACHE, BUN, FPM, GO, InventedRun, NODE, SWOOLE, Server, fail_requests};
use tolok_analysis::{PublishedFinding, PublishedReading};
use tolok_model::PublishedMetric::{self, ColdStart, Cpu, Goodput, LatencyP99, Memory};

fn run(blocks: u32) -> InventedRun {
    let mut run = InventedRun::new(blocks);
    run.scenario("json-c64", "json", "JSON", 64);
    run.steady(GO, 34_300.0).steady(BUN, 42_600.0).steady(NODE, 17_200.0).steady(FPM, 17_250.0);
    run
}

fn said(run: &mut InventedRun, metric: PublishedMetric, a: Server, b: Server, ratio: f64) -> PublishedFinding {
    run.plan.published.clear();
    run.published(metric, a, b, ratio);
    run.findings().published.remove(0)
}

fn reading(metric: PublishedMetric, a: Server, b: Server, ratio: f64) -> PublishedReading {
    said(&mut run(10), metric, a, b, ratio).reading
}

#[test]
fn every_reading_follows_from_the_interval_and_the_verdict() {
    assert_eq!(reading(Goodput, BUN, GO, 1.25), PublishedReading::Reproduced);
    assert_eq!(reading(Goodput, BUN, GO, 1.6), PublishedReading::SameDirection);
    assert_eq!(reading(Goodput, BUN, GO, 0.8), PublishedReading::Reversed);
    assert_eq!(reading(Goodput, BUN, GO, 1.01), PublishedReading::Difference);
    assert_eq!(reading(Goodput, NODE, FPM, 1.3), PublishedReading::NoDifference);
    assert_eq!(reading(Goodput, NODE, FPM, 1.01), PublishedReading::Reproduced);
}

/// The measured ratio is 1.24. The interval ends near 1.26, and 3 % beyond that still counts.
#[test]
fn the_interval_is_widened_by_the_smallest_effect() {
    let mut run = run(10);
    let high = said(&mut run, Goodput, BUN, GO, 1.25).measured.unwrap().high.unwrap();
    assert_eq!(said(&mut run, Goodput, BUN, GO, high * 1.029).reading, PublishedReading::Reproduced);
    assert_eq!(said(&mut run, Goodput, BUN, GO, high * 1.031).reading, PublishedReading::SameDirection);
}

/// The reading does not depend on which of the two is named first.
#[test]
fn turning_a_pair_changes_nothing() {
    for ratio in [0.8, 1.01, 1.25, 1.6] {
        assert_eq!(reading(Goodput, BUN, GO, ratio), reading(Goodput, GO, BUN, 1.0 / ratio));
    }
}

/// Less is better: Go takes a fifth of Node's memory, so it is ahead.
#[test]
fn for_costs_the_lower_one_is_ahead() {
    let mut run = run(10);
    let found = said(&mut run, Memory, GO, NODE, 0.5);
    assert_eq!(found.reading, PublishedReading::SameDirection);
    assert!(found.sentence.ends_with("same direction, Go net/http is ahead by another ratio."), "{}", found.sentence);
    let found = said(&mut run, Memory, GO, NODE, 1.8);
    assert_eq!(found.reading, PublishedReading::Reversed);
    assert!(found.sentence.ends_with("reversed, Go net/http is ahead and not Node http."), "{}", found.sentence);
    let found = said(&mut run, LatencyP99, NODE, BUN, 5.0);
    assert_eq!((found.reading, found.metric_words.as_str()), (PublishedReading::SameDirection, "p99 (closed loop)"));
    assert_eq!(said(&mut run, Cpu, BUN, GO, 0.8).reading, PublishedReading::Reproduced);
    assert_ne!(said(&mut run, ColdStart, BUN, GO, 2.0).reading, PublishedReading::CannotTell);
}

#[test]
fn what_was_not_measured_cannot_be_told_and_says_why() {
    let why = |found: PublishedFinding| {
        assert_eq!(found.reading, PublishedReading::CannotTell);
        found.sentence.split(": cannot tell, as ").nth(1).unwrap().to_owned()
    };
    let mut few = run(4);
    let found = said(&mut few, Goodput, BUN, GO, 1.25);
    assert!(found.measured.is_some());
    assert_eq!(why(found), "4 common rounds, and an interval needs 5.");
    let mut run = run(10);
    run.skip("php/swoole", "swoole.so is not installed");
    assert_eq!(
        why(said(&mut run, Goodput, SWOOLE, GO, 1.2)),
        "php/swoole:default was left out: swoole.so is not installed."
    );
    run.steady(APACHE, 7_000.0).change(|_, trial| fail_requests(trial, 5_000));
    let found = said(&mut run, Goodput, APACHE, GO, 0.2);
    assert_eq!(found.measured, None);
    assert!(why(found).starts_with("Apache + mod_php is not ranked: "));
    run.plan.published[0].scenario = "hello-c64".to_owned();
    assert_eq!(why(run.findings().published.remove(0)), "this run has no scenario hello-c64.");
}

/// An interval from 0.6 to 1.7 includes almost everything, so it reproduces nothing.
#[test]
fn a_wide_interval_reproduces_nothing() {
    let mut run = InventedRun::new(6);
    run.scenario("json-c64", "json", "JSON", 64);
    run.case(GO, &[10.0, 20.0, 12.0, 19.0, 9.0, 30.0]).case(BUN, &[20.0, 9.0, 18.0, 10.0, 21.0, 11.0]);
    assert_eq!(said(&mut run, Goodput, GO, BUN, 1.3).reading, PublishedReading::CannotTell);
}
