//! Claims of a source, judged by measurements.

use super::*;

fn of(asserted: &str) -> String {
    format!("figure = \"throughput_rps\"\na = {{ subject = \"bun\" }}\nb = {{ subject = \"go\" }}\n{asserted}")
}

#[test]
fn a_ratio_is_read_as_it_is_meant() {
    assert_eq!(reading(&of("ratio = 1.24")), Reproduced);
    assert_eq!(reading(&of("ratio = \"~1.3\"")), Reproduced);
    assert_eq!(reading(&of("ratio = \"> 1.1\"")), Reproduced);
    assert_eq!(reading(&of("ratio = \"> 5\"")), SameDirection);
    assert_eq!(reading(&of("ratio = \"> 1\"")), Reproduced);
    assert_eq!(reading(&of("ratio = \"< 1\"")), Reversed);
    assert_eq!(reading(&of("ratio = \"> 1\"").replace("bun", "php").replace("\"go\"", "\"node\"")), NoDifference);
    assert_eq!(reading(&of("ratio = \"1.1..1.5\"")), Reproduced);
    assert_eq!(reading(&of("ratio = \"4.5..5\"")), SameDirection);
    assert_eq!(reading(&of("ratio = 0.5")), Reversed);
    assert_eq!(reading(&of("ratio = 1.00")), Difference);
    let found = claim(&of("ratio = 1.24"), &ROWS);
    assert!(found.ratio.is_some() && found.explanation.is_none(), "{found:?}");
    assert_eq!(found.published, "1.24×");
    assert!(found.measured.is_some_and(|words| words.starts_with("bun over go, setting s: 1.2")));
}

#[test]
fn a_difference_is_judged_by_its_sign_and_the_ratio_of_the_rows() {
    let rows = [("bun", "throughput_rps = 1250"), ("go", "throughput_rps = 1000")];
    let found = claim(&of("difference = 250"), &rows);
    assert_eq!((found.reading, found.published.as_str()), (Reproduced, "250/s more"));
    let rows = [("bun", "throughput_rps = 5000"), ("go", "throughput_rps = 1000")];
    assert_eq!(claim(&of("difference = 4000"), &rows).reading, SameDirection);
    // The text contradicts its table, so only the direction is judged.
    assert_eq!(claim(&of("difference = -4000"), &rows).reading, Reversed);
}

#[test]
fn an_extreme_holds_against_all_or_not_at_all() {
    let of = |who: &str| format!("figure = \"throughput_rps\"\nat = {{ scenario = \"s\" }}\n{who}");
    assert_eq!(reading(&of("highest = \"bun\"")), Reproduced);
    assert_eq!(reading(&of("highest = \"go\"")), Reversed);
    assert_eq!(reading(&of("lowest = \"php\"")), NoDifference, "php and node were not told apart");
    assert_eq!(claim(&of("lowest = \"php\""), &ROWS).published, "php lowest");
}

#[test]
fn an_order_holds_in_every_pair() {
    let of = |who: &str| format!("figure = \"throughput_rps\"\nat = {{ scenario = \"s\" }}\norder = {who}");
    assert_eq!(reading(&of("[\"bun\", \"go\", \"php\"]")), Reproduced);
    assert_eq!(reading(&of("[\"bun\", \"go\", \"node\", \"php\"]")), NoDifference);
    assert_eq!(reading(&of("[\"go\", \"bun\", \"php\"]")), Reversed);
    assert_eq!(claim(&of("[\"bun\", \"go\"]"), &ROWS).published, "bun > go");
}

#[test]
fn a_value_belongs_to_the_machine_but_shares_and_sizes_of_answers_do_not() {
    let of = |figure: &str, value: &str| format!("figure = \"{figure}\"\nat = {{ subject = \"go\" }}\nvalue = {value}");
    let found = claim(&of("throughput_rps", "\"430..490\""), &ROWS);
    assert_eq!((found.reading, found.published.as_str()), (CannotTell, "430–490/s"));
    assert!(found.measured.is_some_and(|words| words.contains("34,")));
    assert!(found.explanation.is_some_and(|why| why.starts_with("The size depends on the machine")));
    assert_eq!(reading(&of("body_bytes", "27")), Reproduced);
    assert_eq!(reading(&of("body_bytes", "2700")), Difference);
    assert_eq!(reading(&of("error_rate_percent", "0.5")), Reproduced);
    assert_eq!(reading(&of("error_rate_percent", "80")), NoDifference);
}

/// In a window that is barely longer than the time-out, hardly any request can time out. So an absence of time-outs proves
/// nothing.
#[test]
fn time_outs_are_judged_where_the_window_is_long_enough_for_one() {
    let rows = ROWS.iter().fold(source(), |source, (subject, figures)| source.row(subject, "s", figures));
    let of = |value: &str, timeout_s: f64| {
        let mut run = run();
        run.plan.scenarios[0].load.timeout_s = timeout_s;
        let asserts = format!("figure = \"timeouts\"\nat = {{ subject = \"go\" }}\nvalue = {value}");
        rows.clone().claim("it", &asserts).held_against(&[("lan", &run)])
    };
    assert_eq!(of("0", 1.0).claims[0].reading, Reproduced);
    assert_eq!(of("900", 1.0).claims[0].reading, NoDifference);
    let blind = of("0", 2.5);
    assert_eq!(blind.claims[0].reading, CannotTell);
    assert_eq!(
        blind.claims[0].explanation.as_deref(),
        Some("Its windows are too short for many requests to reach the time-out of 2.50\u{a0}s.")
    );
    let timeouts = blind.rows[0].figures.iter().find(|figure| figure.key == "timeouts");
    assert!(timeouts.is_some_and(|figure| figure.measured.is_none()), "a meaningless figure is not shown");
}

/// Go with this many correct responses per trial and no failure, compared with a published share.
fn without_failures(good: u64, published: &str) -> ClaimFinding {
    let mut run = InventedRun::new(5);
    run.scenario("json-c64", "json", "JSON", 64).steady(GO, 34_300.0).change(|_, trial| {
        trial.ledger.good = good;
        trial.ledger.sent = Some(good + 64);
    });
    let asserts = format!("figure = \"error_rate_percent\"\nat = {{ subject = \"go\" }}\nvalue = {published}");
    let source = source().row("go", "s", "throughput_rps = 5\nerror_rate_percent = 7");
    source.claim("it", &asserts).held_against(&[("lan", &run)]).claims.remove(0)
}

/// None of 90 failed: a true share of 4 % could look the same (Clopper and Pearson: 4.0 %).
#[test]
fn five_trials_without_a_failure_are_no_surer_than_their_requests_make_them() {
    let few = without_failures(18, "1.35");
    assert_eq!(few.reading, CannotTell, "{few:?}");
    assert!(few.measured.is_some_and(|words| words.contains("0% of the requests")));
    assert!(few.explanation.is_some_and(|why| why.starts_with("Too few trials or requests")));
    assert_eq!(without_failures(18, "0").reading, CannotTell);
    assert_eq!(without_failures(18, "40").reading, NoDifference, "40% of failures would have shown up");
    assert_eq!(without_failures(2_000, "1.35").reading, NoDifference);
    assert_eq!(without_failures(2_000, "0").reading, Reproduced);
}

#[test]
fn connections_that_were_never_answered_bar_shares() {
    let mut run = run();
    for case in ["go", "bun"] {
        let own = run.trials.iter_mut().filter(|trial| trial.case.contains(case));
        for trial in own {
            if let tolok_model::Outcome::Completed(measured) = &mut trial.outcome {
                measured.ledger.connections_unanswered = Some(62);
            }
        }
    }
    let asserts = "figure = \"error_rate_percent\"\nat = { scenario = \"s\" }\nhighest = \"go\"";
    let rows = ROWS
        .iter()
        .fold(source(), |source, (subject, _)| source.row(subject, "s", "throughput_rps = 5\nerror_rate_percent = 1"));
    let found = rows.claim("it", asserts).held_against(&[("lan", &run)]);
    assert_eq!(found.claims[0].reading, CannotTell);
    let why = found.claims[0].explanation.clone().unwrap_or_default();
    assert!(why.contains("620 of 640 connections") && why.contains("never got a response"), "{why}");
    let rates: Vec<PublishedReading> = found.ratios.iter().map(|ratio| ratio.reading).collect();
    assert!(rates.iter().any(|reading| *reading != CannotTell), "ratios of rates can still be judged: {rates:?}");
}

#[test]
fn what_builds_up_with_time_is_judged_at_the_full_length_only() {
    let of = |scale: f64| {
        let mut run = run();
        run.plan.scale = scale;
        let source = source().row("go", "s", "throughput_rps = 10\nmemory_peak_mb = 10");
        let source = source.row("bun", "s", "throughput_rps = 12.4\nmemory_peak_mb = 20");
        source.held_against(&[("lan", &run)])
    };
    let reading = |found: &ReplicationFindings, words: &str| {
        let ratio = found.ratios.iter().find(|ratio| ratio.words == words).unwrap();
        (ratio.reading, ratio.why.clone())
    };
    assert_ne!(reading(&of(1.0), "largest memory").0, CannotTell);
    let short = of(0.004);
    let (memory, why) = reading(&short, "largest memory");
    assert_eq!(memory, CannotTell);
    assert_eq!(why.as_deref(), Some("it builds up with time, and part lan measured 0.40% of the length"));
    assert_eq!(reading(&short, "throughput").0, Reproduced);
    let shown = short.rows[0].figures.iter().find(|figure| figure.key == "memory_peak_mb");
    assert!(shown.is_some_and(|figure| figure.measured.is_some()), "it is shown all the same");
}

/// Failures void a rank, but not a comparison of failures.
#[test]
fn shares_of_failed_requests_are_compared_by_their_difference() {
    let mut run = run();
    run.change(|block, trial| fail_requests(trial, 15_000 + u64::from(block) * 10));
    let of = |asserts: &str| {
        let rows = ROWS.iter().fold(source(), |source, (subject, _)| {
            source.row(subject, "s", "throughput_rps = 5\nerror_rate_percent = 1")
        });
        rows.claim("it", asserts).held_against(&[("lan", &run)]).claims.remove(0)
    };
    let highest = of("figure = \"error_rate_percent\"\nat = { scenario = \"s\" }\nhighest = \"php\"");
    assert_eq!(highest.reading, Reproduced, "{highest:?}");
    assert!(highest.measured.is_some_and(|words| words.contains(" percentage points more")));
    let highest = of("figure = \"error_rate_percent\"\nat = { scenario = \"s\" }\nhighest = \"go\"");
    assert_eq!(highest.reading, Reversed);
    let throughput = of("figure = \"throughput_rps\"\nat = { scenario = \"s\" }\nlowest = \"php\"");
    assert_eq!(throughput.reading, CannotTell);
    assert!(throughput.explanation.is_some_and(|why| why.contains("PHP-FPM + nginx is not ranked")));
}

#[test]
fn what_figures_cannot_settle_says_why() {
    let found = claim("untestable = \"it is about taste\"", &ROWS);
    assert_eq!((found.reading, found.explanation.as_deref()), (CannotTell, Some("It is about taste.")));
}

/// The first half of a source's table was measured in one run, the second in another, so there are no pairs.
#[test]
fn across_parts_a_ratio_is_unpaired() {
    let mut other = InventedRun::new(10);
    other.scenario("json-c512", "json", "JSON", 512).steady(GO, 68_000.0);
    let of = |ratio: &str| {
        let source = InventedSource::new(&["few", "many"])
            .part("few", SUBJECTS, "few = \"json-c64\"")
            .part("many", SUBJECTS, "many = \"json-c512\"")
            .row("go", "few", "throughput_rps = 1")
            .row("go", "many", "throughput_rps = 2")
            .claim("it", &format!("figure = \"throughput_rps\"\na = {{ subject = \"go\", scenario = \"many\" }}\nb = {{ subject = \"go\", scenario = \"few\" }}\nratio = {ratio}"));
        source.held_against(&[("few", &run()), ("many", &other)]).claims.remove(0)
    };
    let found = of("2.0");
    assert_eq!(found.reading, Reproduced);
    assert!(found.ratio.is_some_and(|it| it.low.is_some() && it.trials.is_empty()));
    assert!(found.measured.is_some_and(|words| words.starts_with("go, setting many over setting few: ")));
    assert_eq!(of("0.5").reading, Reversed);
    assert_eq!(of("5").reading, SameDirection);
}

#[test]
fn claims_are_counted() {
    let source = ROWS.iter().fold(source(), |source, (subject, figures)| source.row(subject, "s", figures));
    let source = source.claim("a", &of("ratio = 1.24")).claim("b", &of("ratio = 0.5"));
    let found = source.claim("c", "untestable = \"taste\"").held_against(&[("lan", &run())]);
    assert_eq!((found.tally.reproduced, found.tally.reversed, found.tally.cannot_tell), (1, 1, 1));
}
