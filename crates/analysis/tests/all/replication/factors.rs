//! Factors that explain a ratio in a replication.

use super::*;
use tolok_analysis::replication::FactorFinding;

/// A server over another at two levels, with these values in each block.
fn found(levels: &[[(f64, f64); 2]], noise: f64, in_one_run: bool) -> ReplicationFindings {
    let mut noise = Noise::new(5, noise);
    let mut runs: Vec<InventedRun> = Vec::new();
    for (number, [a, b]) in levels.iter().enumerate() {
        if runs.is_empty() || !in_one_run {
            runs.push(InventedRun::new(10));
        }
        let run = runs.last_mut().expect("there is one");
        run.scenario(&format!("s{number}"), "json", "JSON", 64);
        for (server, (rps, _)) in [(GO, *a), (BUN, *b)] {
            run.case(server, &noise.blocks(rps, 10));
        }
    }
    let part = |number: usize| if in_one_run { "p0".to_owned() } else { format!("p{number}") };
    let mut source = InventedSource::new(&["s"]);
    for number in 0..runs.len() {
        source = source.part(&part(number), SUBJECTS, "s = \"s0\"");
    }
    let names: Vec<[String; 3]> =
        (0..levels.len()).map(|it| [format!("level {it}"), part(it), format!("s{it}")]).collect();
    let levels: Vec<[&str; 5]> = names
        .iter()
        .map(|[name, part, scenario]| [name.as_str(), part, scenario, "go/nethttp:encoder", "bun/serve"])
        .collect();
    let source = source
        .row("go", "s", "throughput_rps = 4")
        .row("bun", "s", "throughput_rps = 1")
        .claim("go-4x", "figure = \"throughput_rps\"\na = { subject = \"go\" }\nb = { subject = \"bun\" }\nratio = 4.0")
        .factor("the way", "\"go-4x\"", &levels);
    let names: Vec<String> = (0..runs.len()).map(part).collect();
    let runs: Vec<(&str, &InventedRun)> = names.iter().map(String::as_str).zip(&runs).collect();
    source.held_against(&runs)
}

fn factor(ratios: &[f64], noise: f64) -> FactorFinding {
    let levels: Vec<[(f64, f64); 2]> = ratios.iter().map(|ratio| [(10_000.0 * ratio, 0.0), (10_000.0, 0.0)]).collect();
    let both = [true, false].map(|in_one_run| found(&levels, noise, in_one_run).factors.remove(0));
    assert_eq!(both[0].explains, both[1].explains, "within rounds and across parts: {}", both[1].sentence);
    let [within, _] = both;
    within
}

#[test]
fn it_explains_if_half_of_the_ratio_goes_or_the_order_flips() {
    let all = factor(&[4.0, 1.0], 0.01);
    assert_eq!(all.explains, Some(true));
    assert!(all.share.is_some_and(|share| (share - 1.0).abs() < 0.02));
    insta::assert_snapshot!(all.sentence);
    let half = factor(&[4.0, 3.9, 1.8], 0.01);
    assert!(half.explains == Some(true) && half.share.is_some_and(|share| (0.55..0.6).contains(&share)));
    assert!(half.sentence.contains("“level 2” removes 58% of it"), "{}", half.sentence);
    let flips = factor(&[4.0, 0.5], 0.01);
    assert!(flips.share.is_some_and(|share| share > 1.4) && flips.sentence.contains("the order flips"));
}

#[test]
fn it_does_not_if_more_than_half_surely_remains() {
    let found = factor(&[4.0, 3.8, 3.5], 0.01);
    assert_eq!(found.explains, Some(false));
    assert!(found.sentence.ends_with("so most of it remains, and this does not explain it."), "{}", found.sentence);
}

#[test]
fn it_cannot_be_told_from_wide_intervals_or_a_level_that_was_not_measured() {
    assert_eq!(factor(&[4.0, 2.3], 0.15).explains, None);
    let mut source = source().row("go", "s", "throughput_rps = 1");
    let both = ["go/nethttp:encoder", "node/http"];
    source =
        source.factor("x", "", &[["a", "lan", "json-c64", both[0], both[1]], ["b", "lan", "hello", both[0], both[1]]]);
    let found = &source.held_against(&[("lan", &run())]).factors[0];
    assert_eq!((found.explains, found.share), (None, None));
    assert_eq!(found.levels[1].remark.as_deref(), Some("the run of part lan has no scenario hello"));
    assert!(found.sentence.ends_with("so it is undecided: no other level has a ratio."), "{}", found.sentence);
}

/// No difference can disappear here: the question is what causes the tie.
#[test]
fn of_a_tie_the_question_is_the_other_way_round() {
    let broken = factor(&[1.0, 1.6], 0.01);
    assert_eq!((broken.explains, broken.share), (Some(true), None));
    assert!(broken.sentence.contains("so “level 1” breaks the tie"), "{}", broken.sentence);
    assert_eq!(factor(&[1.0, 1.0], 0.01).explains, Some(false));
    assert_eq!(factor(&[1.0, 1.0], 0.2).explains, None);
}

#[test]
fn a_claim_names_the_factor_that_explains_it() {
    let reproduced = found(&[[(40_000.0, 0.0), (10_000.0, 0.0)], [(10_000.0, 0.0), (10_000.0, 0.0)]], 0.01, true);
    assert_eq!(reproduced.claims[0].reading, Reproduced);
    let words = reproduced.claims[0].explanation.clone().unwrap_or_default();
    assert!(words.starts_with("Reproduced, and what makes it is the way: "), "{words}");
    assert!(words.ends_with(" with “level 1”, so all of it disappears."), "{words}");
    let factor = &reproduced.factors[0];
    let published = factor.published.as_ref().map(|it| (it.value, it.words.as_str()));
    assert_eq!(published, Some((4.0, "4.0×")), "as claimed");
    assert!(factor.conclusion.ends_with("explains it. It is the way that makes the ratio."), "{}", factor.conclusion);
    let smaller = found(&[[(20_000.0, 0.0), (10_000.0, 0.0)], [(10_000.0, 0.0), (10_000.0, 0.0)]], 0.01, true);
    assert_eq!(smaller.claims[0].reading, SameDirection);
    assert!(smaller.claims[0].explanation.as_ref().is_some_and(|words| words.starts_with("Explained by the way: ")));
    let not = found(&[[(20_000.0, 0.0), (10_000.0, 0.0)], [(20_000.0, 0.0), (10_000.0, 0.0)]], 0.01, true);
    assert_eq!(not.claims[0].explanation, None);
}

/// The generator limits the first level. This voids the rank, but is just what the factor may explain.
#[test]
fn a_case_at_a_limit_is_taken_with_a_remark() {
    let mut run = InventedRun::new(10);
    let bound = |_: u32, trial: &mut tolok_model::Measurement| {
        trial.subject.as_mut().expect("tolok started it").cpu_s = 0.5 * trial.window_s;
        trial.generator.cpu_s = 0.99 * trial.window_s;
    };
    run.scenario("by-ab", "json", "JSON", 64);
    run.steady(GO, 35_000.0).change(bound).steady(BUN, 35_100.0).change(bound);
    run.scenario("by-tolok", "json", "JSON", 64).steady(GO, 60_000.0).steady(BUN, 40_000.0);
    let both = ["go/nethttp:encoder", "bun/serve"];
    let source = InventedSource::new(&["s"])
        .part("lan", SUBJECTS, "s = \"by-ab\"")
        .row("go", "s", "throughput_rps = 349")
        .row("bun", "s", "throughput_rps = 355")
        .claim("bun-wins", "figure = \"throughput_rps\"\nat = { scenario = \"s\" }\nhighest = \"bun\"")
        .factor(
            "the generator",
            "\"bun-wins\"",
            &[["ab", "lan", "by-ab", both[0], both[1]], ["tolok", "lan", "by-tolok", both[0], both[1]]],
        );
    let found = source.held_against(&[("lan", &run)]);
    assert_eq!(found.factors[0].explains, Some(true), "{}", found.factors[0].sentence);
    assert!(
        found.factors[0].levels[0]
            .remark
            .as_ref()
            .is_some_and(|it| it.contains("is not ranked in by-ab: the generator"))
    );
    assert_eq!(found.factors[0].levels[1].remark, None);
    assert_eq!(found.claims[0].reading, CannotTell);
    insta::assert_snapshot!(found.claims[0].explanation.as_deref().unwrap_or_default());
}
