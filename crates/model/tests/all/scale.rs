//! Making a whole study shorter or longer.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use examples::{catalogue_with_data, everything};
use insta::assert_snapshot;
use tolok_model::{Executor, Outage, Plan, Quotable, Scale, Study, scale_percent_words, scale_words};

const STUDY: &str = "title = 'T'\nsubjects = ['bun/serve']\nceiling = false\nblocks = 1\n\
    [environment]\ndatabase.outage = { at = '2s', for = '500ms' }\n\
    [[scenario]]\nworkload = 'rows'\nload = { executor = 'constant-vus', vus = 8, duration = '10s', warmup = '2s' }\n\
    [[scenario]]\nworkload = 'hello'\nload = { executor = 'constant-arrival-rate', rate = 100, duration = '500ms', warmup = '0s' }\n\
    [[scenario]]\nworkload = 'hello'\nload = { executor = 'ramping-vus', stages = [{ target = 9, duration = '4s' }, { target = 3, duration = '0s' }, { target = 3, duration = '300ms' }] }\n\
    [[scenario]]\nworkload = 'hello'\nload = { executor = 'per-vu-iterations', vus = 4, iterations = 25, max-duration = '10s' }\n\
    [[scenario]]\nworkload = 'hello'\nload = { executor = 'shared-iterations', vus = 4, iterations = 30, max-duration = '10s' }\n";

fn study() -> Study {
    Study::read(STUDY, &catalogue_with_data()).unwrap()
}

fn scale(text: &str) -> Scale {
    text.parse().unwrap()
}

/// The scenarios of a study, one per line.
fn scenarios(study: &Study) -> String {
    let lines = study
        .scenarios
        .iter()
        .map(|one| format!("{:<20} {:?} warm-up {}s", one.id, one.load.describe(), one.load.warmup_s));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn times_and_numbers_of_requests_are_multiplied_and_names_stay() {
    assert_snapshot!(scenarios(&study().scaled(scale("0.1"))), @r#"
    rows-c8              "closed loop, 8 virtual users, keep-alive, 1 s" warm-up 0.2s
    hello-r100           "open loop, 100/s evenly spaced, 64 connections, keep-alive, 100 ms" warm-up 0s
    hello-ramp0-9-3      "closed loop, virtual users 0 → 9 in 400 ms → 3 in 0 s → 3 in 100 ms, keep-alive, 500 ms" warm-up 0s
    hello-c4-i25-each    "closed loop, 4 virtual users, 3 requests each, keep-alive, at most 1 s" warm-up 0.1s
    hello-c4-i30         "closed loop, 4 virtual users share 4 requests, keep-alive, at most 1 s" warm-up 0.1s
    "#);
    assert_snapshot!(scenarios(&study().scaled(scale("2"))), @r#"
    rows-c8              "closed loop, 8 virtual users, keep-alive, 20 s" warm-up 4s
    hello-r100           "open loop, 100/s evenly spaced, 64 connections, keep-alive, 1 s" warm-up 0s
    hello-ramp0-9-3      "closed loop, virtual users 0 → 9 in 8 s → 3 in 0 s → 3 in 600 ms, keep-alive, 8.6 s" warm-up 0s
    hello-c4-i25-each    "closed loop, 4 virtual users, 50 requests each, keep-alive, at most 20 s" warm-up 2s
    hello-c4-i30         "closed loop, 4 virtual users share 60 requests, keep-alive, at most 20 s" warm-up 2s
    "#);
}

#[test]
fn the_parts_of_a_ramp_are_as_long_as_its_window() {
    for factor in ["0.001", "0.1", "3"] {
        let scaled = study().scaled(scale(factor));
        let ramp = &scaled.scenarios[2].load;
        let Executor::RampingVus { stages, .. } = &ramp.executor else { panic!("{:?}", ramp.executor) };
        assert_eq!(stages.iter().map(|stage| stage.duration_s).sum::<f64>(), ramp.duration_s);
        assert_eq!(stages[1].duration_s, 0.0, "a jump stays a jump");
    }
}

#[test]
fn an_outage_stays_inside_its_window() {
    let of = |study: &Study| study.environments[0].database.as_ref().unwrap().outage.unwrap();
    assert_eq!(of(&study().scaled(scale("0.5"))), Outage { at_s: 1.0, for_s: 0.25 });
    for factor in ["0.001", "0.07", "10"] {
        let scaled = study().scaled(scale(factor));
        let Outage { at_s, for_s } = of(&scaled);
        assert!(at_s + for_s < scaled.scenarios[0].load.duration_s, "{factor}");
    }
}

#[test]
fn a_plan_knows_its_scale() {
    let plan = |study: &Study| Plan::expand(study, &catalogue_with_data(), everything(), 1).unwrap();
    let (whole, tenth) = (plan(&study()), plan(&study().scaled(scale("0.1"))));
    assert_eq!((whole.scale, tenth.scale), (1.0, 0.1));
    assert_ne!(whole.hash(), tenth.hash());
    assert!(tenth.estimate_s() < whole.estimate_s());
    let stored = serde_json::to_string(&tenth).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&stored).unwrap(), tenth);
    assert!(!serde_json::to_string(&whole).unwrap().contains("scale"), "the default is not written");
    assert_eq!(plan(&study().scaled(scale("1"))), whole);
    assert_eq!(plan(&study().scaled(scale("0.5")).scaled(scale("0.5"))).scale, 0.25);
}

#[test]
fn the_words_of_a_scale_name_the_shortest_time() {
    assert_eq!(scale_words(1.0), None);
    assert_eq!(scale_words(0.15).unwrap(), "shortened to 15%, and to no less than 100 ms");
    assert_eq!(scale_words(2.5).unwrap(), "lengthened to 250%");
    // Runs are numbers, and have no shortest time.
    assert_eq!(
        [1.0, 0.125, 2.5].map(scale_percent_words),
        [None, Some("shortened to 12.5%".to_owned()), Some("lengthened to 250%".to_owned()),]
    );
}

#[test]
fn what_is_no_scale_is_refused() {
    for wrong in ["0", "-1", "10.1", "nan", "inf", "half", ""] {
        let error = wrong.parse::<Scale>().unwrap_err().to_string();
        assert!(error.contains("more than 0 and at most 10"), "{error}");
    }
    assert_eq!(["0.1", "10", " 1e-3 "].map(|text| scale(text).to_string()), ["0.1", "10", "0.001"]);
    assert_eq!(Scale::new(0.5), Ok(scale("0.5")));
}

#[test]
fn a_study_to_publish_has_rounds_and_windows_enough_and_loses_nothing() {
    let least = Quotable { blocks: 10, window_s: 10.0 };
    let longer = study().to_publish(least);
    assert_eq!(longer.blocks, 10);
    assert_eq!((longer.stopping, longer.budget_s), (None, None));
    for (before, after) in study().scenarios.iter().zip(&longer.scenarios) {
        let (before, after) = (&before.load, &after.load);
        let owed = if before.executor.has_iterations() { before.duration_s } else { before.duration_s.max(10.0) };
        assert_eq!((after.duration_s, after.warmup_s), (owed, before.warmup_s));
        if let Executor::RampingVus { stages, .. } | Executor::RampingArrivalRate { stages, .. } = &after.executor {
            assert!((stages.iter().map(|stage| stage.duration_s).sum::<f64>() - owed).abs() < 1e-9);
        }
    }
    assert_eq!(longer.to_publish(least), longer, "what is long enough stays as it is");
    assert_eq!(longer.to_publish(Quotable { blocks: 3, ..least }).blocks, 10);
}
