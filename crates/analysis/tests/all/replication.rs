//! What runs say of a published comparison, on invented sources and invented runs.

use crate::invented::judgement::Noise;
use crate::invented::programs::{BUN_QUEUE, GO_QUEUE};
use crate::invented::replications::InventedSource;
use crate::invented::{APACHE, BUN, FPM, GO, InventedRun, NODE, fail_requests};
use tolok_analysis::PublishedReading::{self, *};
use tolok_analysis::replication::{ClaimFinding, MeasuredPart, ReplicationFindings};
use tolok_model::Timer;

const SUBJECTS: &str = "go = \"go/nethttp:encoder\", bun = \"bun/serve\", node = \"node/http\", php = \"php/fpm\"";

/// Go 34,300, Bun 42,600 (1.24 times), Node 17,200 and PHP 17,250 answers a second.
fn run() -> InventedRun {
    let mut run = InventedRun::new(10);
    run.scenario("json-c64", "json", "JSON", 64);
    run.steady(GO, 34_300.0).steady(BUN, 42_600.0).steady(NODE, 17_200.0).steady(FPM, 17_250.0);
    run
}

fn source() -> InventedSource {
    InventedSource::new(&["s"]).part("lan", SUBJECTS, "s = \"json-c64\"")
}

/// What is read of a published ratio of throughputs.
fn ratio(a: (&str, f64), b: (&str, f64)) -> (PublishedReading, Option<String>) {
    let figure = |value: f64| format!("throughput_rps = {value:.4}");
    let source = source().row(a.0, "s", &figure(a.1)).row(b.0, "s", &figure(b.1));
    let found = source.held_against(&[("lan", &run())]).ratios.remove(0);
    (found.reading, found.why)
}

fn claim(asserts: &str, rows: &[(&str, &str)]) -> ClaimFinding {
    let rows = rows.iter().fold(source(), |source, (subject, figures)| source.row(subject, "s", figures));
    rows.claim("it", asserts).held_against(&[("lan", &run())]).claims.remove(0)
}

/// Rows of all four, which say nothing of what is asked.
const ROWS: [(&str, &str); 4] = [
    ("go", "throughput_rps = 3\nbody_bytes = 20\nerror_rate_percent = 5\ntimeouts = 0\nrequests = 1000"),
    ("bun", "throughput_rps = 4"),
    ("node", "throughput_rps = 2"),
    ("php", "throughput_rps = 1"),
];

fn reading(asserts: &str) -> PublishedReading {
    claim(asserts, &ROWS).reading
}

mod ratios {
    use super::*;

    #[test]
    fn every_reading_follows_from_the_interval_and_the_verdict() {
        assert_eq!(ratio(("bun", 1.25), ("go", 1.0)).0, Reproduced);
        assert_eq!(ratio(("bun", 1.6), ("go", 1.0)).0, SameDirection);
        assert_eq!(ratio(("bun", 0.8), ("go", 1.0)).0, Reversed);
        assert_eq!(ratio(("bun", 1.01), ("go", 1.0)).0, Difference);
        assert_eq!(ratio(("node", 1.3), ("php", 1.0)).0, NoDifference);
        assert_eq!(ratio(("node", 1.01), ("php", 1.0)).0, Reproduced);
    }

    /// 3 over 2 may be 3.5 over 1.5 and 2.5 over 2.5, before anything was rounded.
    #[test]
    fn rounding_gets_the_benefit_of_the_doubt() {
        let of = |a: &str, b: &str| {
            let source = source().row("bun", "s", &format!("throughput_rps = {a}"));
            let source = source.row("go", "s", &format!("throughput_rps = {b}"));
            source.held_against(&[("lan", &run())]).ratios[0].reading
        };
        assert_eq!(of("3", "2"), Reproduced);
        assert_eq!(of("30", "20"), SameDirection);
        assert_eq!(of("\"~1.31\"", "1.00"), Reproduced);
    }

    /// Times and costs are of trials as any other figure: means and percentiles, memory, CPU for each answer.
    #[test]
    fn every_judged_quantity_has_a_ratio() {
        let figures = |of: f64| {
            format!(
                "throughput_rps = {}\ngoodput_rps = {}\nlatency_mean_ms = {of}\nlatency_p50_ms = {of}\nlatency_p99_ms = {of}\n\
                 latency_max_ms = {of}\nmemory_peak_mb = {of}\ncpu_percent = {of}\ncpu_per_request_us = {of}\nfailures = 3",
                1000.0 / of,
                1000.0 / of
            )
        };
        let source = source().row("go", "s", &figures(10.0)).row("bun", "s", &figures(20.0));
        let found = source.held_against(&[("lan", &run())]);
        let judged: Vec<(&str, bool)> =
            found.ratios.iter().map(|ratio| (ratio.words.as_str(), ratio.measured.is_some())).collect();
        let all = ["throughput", "goodput", "mean latency", "p50 latency", "p99 latency", "largest memory", "CPU"];
        let expected: Vec<(&str, bool)> =
            all.into_iter().chain(["CPU per request"]).map(|words| (words, true)).collect();
        assert_eq!(judged, expected);
        assert_eq!(found.ratios[5].part.as_deref(), Some("lan"));
        assert!(found.ratios[5].measured.as_ref().is_some_and(|it| it.value < 0.3), "{:?}", found.ratios[5]);
    }

    #[test]
    fn who_is_not_ranked_or_was_not_run_leaves_it_untold_with_the_reason() {
        let rows = |source: InventedSource| {
            source.row("apache", "s", "throughput_rps = 1").row("go", "s", "throughput_rps = 5")
        };
        let subjects = format!("{SUBJECTS}, apache = \"php/apache\"");
        let source = rows(InventedSource::new(&["s"])).part("lan", &subjects, "s = \"json-c64\"");
        let mut failing = run();
        failing.steady(APACHE, 7_000.0).change(|_, trial| fail_requests(trial, 5_000));
        let why = |found: ReplicationFindings| {
            assert_eq!(found.ratios[0].reading, CannotTell);
            found.ratios[0].why.clone().unwrap_or_default()
        };
        assert!(
            why(source.held_against(&[("lan", &failing)])).starts_with("Apache + mod_php is not ranked in json-c64: ")
        );
        failing.skip("php/apache", "apache2 is not installed");
        assert_eq!(why(source.held_against(&[("lan", &run())])), "php/apache has no case in json-c64 of part lan");
        let mut skipping = run();
        skipping.skip("php/apache", "apache2 is not installed.");
        assert_eq!(
            why(source.held_against(&[("lan", &skipping)])),
            "php/apache was left out of part lan: apache2 is not installed"
        );
        let parts = [MeasuredPart { name: "lan", run: Err("it needs 4 CPUs".to_owned()) }];
        let found = source.replicated(&parts);
        assert_eq!(found.parts[0].left_out, ["the whole part: it needs 4 CPUs"]);
        assert_eq!(why(found), "part lan was not run: it needs 4 CPUs");
        assert_eq!(why(source.replicated(&[])), "part lan was not run");
    }

    /// Requests of runs of one length are a rate; beside a rate, or where their number was set, they say nothing.
    #[test]
    fn requests_are_judged_where_there_is_no_rate_and_tables_that_repeat_are_not_judged_twice() {
        let words = |figures: &str| {
            let source = source().row("bun", "s", &format!("requests = 125{figures}"));
            let source = source.row("go", "s", &format!("requests = 100{figures}"));
            let again = source.published.split_once("[[row]]").expect("there are rows").1.replace("Table 1", "Table 2");
            let source = InventedSource { published: format!("{}[[row]]{again}", source.published), ..source };
            let found = source.held_against(&[("lan", &run())]).ratios;
            found.into_iter().map(|it| (it.words, it.reading)).collect::<Vec<_>>()
        };
        assert_eq!(words(""), [("requests".to_owned(), Reproduced)]);
        assert_eq!(words("\nthroughput_rps = 5.00"), [("throughput".to_owned(), Difference)]);
    }

    #[test]
    fn four_blocks_are_too_few() {
        let mut few = InventedRun::new(4);
        few.scenario("json-c64", "json", "JSON", 64).steady(GO, 34_300.0).steady(BUN, 42_600.0);
        let source = source().row("bun", "s", "throughput_rps = 5").row("go", "s", "throughput_rps = 4");
        let found = &source.held_against(&[("lan", &few)]).ratios[0];
        assert_eq!((found.reading, found.measured.is_some()), (CannotTell, true));
        assert_eq!(found.why.as_deref(), Some("4 common rounds, and an interval needs 5"));
    }

    #[test]
    fn programs_are_compared_by_time_and_memory() {
        let mut queues = InventedRun::new(8);
        queues.program("queue-n100000", "queue?n=100000", "A queue", Timer::Tolok);
        queues.wavering(GO_QUEUE, 0.3).wavering(BUN_QUEUE, 0.6);
        let source = InventedSource::new(&["100k"])
            .part("queue", "go = \"go/queue:channel\", bun = \"bun/queue\"", "100k = \"queue-n100000\"")
            .row("go", "100k", "time_mean_ms = 30.0\nmemory_mb = 4.0\nruns = 10")
            .row("bun", "100k", "time_mean_ms = 60.0\nmemory_mb = 12.0\nruns = 10");
        let found = source.held_against(&[("queue", &queues)]);
        let readings: Vec<(&str, PublishedReading)> =
            found.ratios.iter().map(|ratio| (ratio.words.as_str(), ratio.reading)).collect();
        assert_eq!(readings, [("mean time", Reproduced), ("memory", SameDirection)]);
        let words: Vec<Option<&str>> = found.rows[1].figures.iter().map(|it| it.measured_words.as_deref()).collect();
        assert!(words[0].is_some_and(|words| words.starts_with("599 ms (")), "{words:?}");
        assert_eq!(words[1..], [Some("32.5 MB (32.5–32.5 MB)"), Some("9.00 (9.00–9.00)")]);
    }
}

mod rows {
    use super::*;

    #[test]
    fn each_figure_stands_beside_its_measured_one_in_the_sources_unit() {
        let figures = "throughput_rps = 300.5\nrequests = [9133, 8946]\nfailures = 12\nerror_rate_percent = 1.5\n\
                       latency_p99_ms = 12\nmemory_peak_mb = 40\ncpu_percent = 38.3\nbandwidth_mb_s = 3\nbody_bytes = 27\nduration = \"30s\"\ncpu-scope = \"machine\"";
        let source = source().row("go", "s", figures).row("php", "t", "requests = 5");
        let mut run = run();
        run.change(|_, trial| fail_requests(trial, 0));
        let source = InventedSource {
            published: source
                .published
                .replace("[[row]]", "[[scenario]]\nname = \"t\"\ntitle = \"t\"\n[[row]]")
                .replacen("[[scenario]]\nname = \"t\"\ntitle = \"t\"\n[[row]]", "[[row]]", 1),
            ..source
        };
        let found = source.held_against(&[("lan", &run)]);
        assert_eq!(found.rows[0].stands_for_it.as_deref(), Ok("lan · go/nethttp:encoder · json-c64"));
        assert_eq!(found.rows[1].stands_for_it, Err("no part has php under t".to_owned()));
        let lines: Vec<String> = found.rows[0]
            .figures
            .iter()
            .map(|it| format!("{} {} | {}", it.words, it.published, it.measured_words.as_deref().unwrap_or("–")))
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}

mod claims {
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
        // The text says the opposite of its table: only which is more is judged.
        assert_eq!(claim(&of("difference = -4000"), &rows).reading, Reversed);
    }

    #[test]
    fn an_extreme_holds_against_all_or_not_at_all() {
        let of = |who: &str| format!("figure = \"throughput_rps\"\nat = {{ scenario = \"s\" }}\n{who}");
        assert_eq!(reading(&of("highest = \"bun\"")), Reproduced);
        assert_eq!(reading(&of("highest = \"go\"")), Reversed);
        assert_eq!(reading(&of("lowest = \"php\"")), NoDifference, "it was not told apart from node");
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
        let of =
            |figure: &str, value: &str| format!("figure = \"{figure}\"\nat = {{ subject = \"go\" }}\nvalue = {value}");
        let found = claim(&of("throughput_rps", "\"430..490\""), &ROWS);
        assert_eq!((found.reading, found.published.as_str()), (CannotTell, "430–490/s"));
        assert!(found.measured.is_some_and(|words| words.contains("34,")));
        assert!(found.explanation.is_some_and(|why| why.starts_with("The size depends on the machine")));
        assert_eq!(reading(&of("body_bytes", "27")), Reproduced);
        assert_eq!(reading(&of("body_bytes", "2700")), Difference);
        assert_eq!(reading(&of("error_rate_percent", "0.5")), Reproduced);
        assert_eq!(reading(&of("error_rate_percent", "80")), NoDifference);
    }

    /// In a window that is hardly longer than the time-out hardly anything can time out, so that nothing did says nothing.
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
        assert!(timeouts.is_some_and(|figure| figure.measured.is_none()), "a figure that says nothing is not shown");
    }

    /// Go with this many correct responses a trial and not a failure, compared with a share that was published.
    fn without_failures(good: u64, published: &str) -> ClaimFinding {
        let mut run = InventedRun::new(5);
        run.scenario("json-c64", "json", "JSON", 64).steady(GO, 34_300.0).change(|_, trial| {
            trial.ledger.good = good;
            trial.ledger.sent = Some(good + 64);
        });
        let asserts = format!("figure = \"error_rate_percent\"\nat = {{ subject = \"go\" }}\nvalue = {published}");
        let source = source().row("go", "s", "throughput_rps = 5\nerror_rate_percent = 1.35");
        source.claim("it", &asserts).held_against(&[("lan", &run)]).claims.remove(0)
    }

    /// None of 90 failed: a share of 4 % would look the same (Clopper and Pearson: 4.0 %).
    #[test]
    fn five_trials_without_a_failure_are_no_surer_than_their_requests_make_them() {
        let few = without_failures(18, "1.35");
        assert_eq!(few.reading, CannotTell, "{few:?}");
        assert!(few.measured.is_some_and(|words| words.contains("0% of the requests")));
        assert!(few.explanation.is_some_and(|why| why.starts_with("Too few trials or requests")));
        assert_eq!(without_failures(18, "0").reading, CannotTell);
        assert_eq!(without_failures(18, "40").reading, NoDifference, "so many would have shown");
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
        let rows = ROWS.iter().fold(source(), |source, (subject, _)| {
            source.row(subject, "s", "throughput_rps = 5\nerror_rate_percent = 1")
        });
        let found = rows.claim("it", asserts).held_against(&[("lan", &run)]);
        assert_eq!(found.claims[0].reading, CannotTell);
        let why = found.claims[0].explanation.clone().unwrap_or_default();
        assert!(why.contains("620 of 640 connections") && why.contains("never got a response"), "{why}");
        let rates: Vec<PublishedReading> = found.ratios.iter().map(|ratio| ratio.reading).collect();
        assert!(rates.iter().any(|reading| *reading != CannotTell), "rates are no shares: {rates:?}");
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

    /// Failures void a rank, and not a comparison of failures.
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

    /// The first half of a source's table was measured in one run, the second in another: there are no pairs.
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
}

mod factors {
    use super::*;
    use tolok_analysis::replication::FactorFinding;

    /// A server over another at two levels, as each block has it.
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
            .claim(
                "go-4x",
                "figure = \"throughput_rps\"\na = { subject = \"go\" }\nb = { subject = \"bun\" }\nratio = 4.0",
            )
            .factor("the way", "\"go-4x\"", &levels);
        let names: Vec<String> = (0..runs.len()).map(part).collect();
        let runs: Vec<(&str, &InventedRun)> = names.iter().map(String::as_str).zip(&runs).collect();
        source.held_against(&runs)
    }

    fn factor(ratios: &[f64], noise: f64) -> FactorFinding {
        let levels: Vec<[(f64, f64); 2]> =
            ratios.iter().map(|ratio| [(10_000.0 * ratio, 0.0), (10_000.0, 0.0)]).collect();
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
        source = source.factor(
            "x",
            "",
            &[["a", "lan", "json-c64", both[0], both[1]], ["b", "lan", "hello", both[0], both[1]]],
        );
        let found = &source.held_against(&[("lan", &run())]).factors[0];
        assert_eq!((found.explains, found.share), (None, None));
        assert_eq!(found.levels[1].remark.as_deref(), Some("the run of part lan has no scenario hello"));
        assert!(found.sentence.ends_with("so it is undecided: no other level has a ratio."), "{}", found.sentence);
    }

    /// There is nothing that could go: what is asked is what makes the tie.
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
        assert_eq!(published, Some((4.0, "4.0×")), "as the claim has it");
        assert!(
            factor.conclusion.ends_with("explains it. It is the way that makes the ratio."),
            "{}",
            factor.conclusion
        );
        let smaller = found(&[[(20_000.0, 0.0), (10_000.0, 0.0)], [(10_000.0, 0.0), (10_000.0, 0.0)]], 0.01, true);
        assert_eq!(smaller.claims[0].reading, SameDirection);
        assert!(
            smaller.claims[0].explanation.as_ref().is_some_and(|words| words.starts_with("Explained by the way: "))
        );
        let not = found(&[[(20_000.0, 0.0), (10_000.0, 0.0)], [(20_000.0, 0.0), (10_000.0, 0.0)]], 0.01, true);
        assert_eq!(not.claims[0].explanation, None);
    }

    /// The generator is the limit of the first level: that voids the rank, and is just what the factor asks for.
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
}

#[test]
fn recommendations_of_all_parts_come_with_those_that_say_nothing_last() {
    let mut unsure = InventedRun::new(10);
    unsure.scenario("json-c64", "json", "JSON", 64);
    unsure.case(GO, &[10.0, 20.0, 12.0, 19.0, 9.0, 30.0, 8.0, 21.0, 12.0, 18.0]);
    unsure.case(BUN, &[20.0, 9.0, 18.0, 10.0, 21.0, 11.0, 22.0, 9.0, 19.0, 12.0]);
    let source = InventedSource::new(&["s"])
        .part("unsure", SUBJECTS, "s = \"json-c64\"")
        .part("lan", SUBJECTS, "s = \"json-c64\"")
        .row("go", "s", "throughput_rps = 1");
    let found = source.held_against(&[("unsure", &unsure), ("lan", &run())]);
    let says = |none: bool| {
        found
            .recommendations
            .iter()
            .map(move |one| (one.recommendation.strength == tolok_analysis::Strength::None) == none)
    };
    let nothing = says(true).filter(|it| *it).count();
    assert!(nothing > 0 && found.recommendations.iter().any(|one| one.part == "lan"));
    assert!(says(true).rev().take(nothing).all(|it| it), "last");
}

mod series {
    use super::*;
    use tolok_analysis::replication::ReplicatedSeries;
    use tolok_model::SecondSeries;

    /// What the source has of Go, second by second, beside a run of three seconds after one of warm-up.
    fn found(figures: &str, has_seconds: bool) -> Vec<ReplicatedSeries> {
        let mut run = InventedRun::new(5);
        run.scenario("json-c64", "json", "JSON", 64).steady(GO, 10_000.0);
        run.change(|block, trial| {
            let megabytes = [10, 20, 40].map(|of| Some((of + u64::from(block)) * 1_000_000));
            let warm_up = SecondSeries {
                start_s: -1.0,
                good: vec![1],
                subject_cpu_s: vec![Some(0.9)],
                ..SecondSeries::default()
            };
            trial.series = has_seconds.then(|| SecondSeries {
                good: vec![10_000; 3],
                subject_cpu_s: vec![Some(0.25), Some(0.5), Some(0.25)],
                subject_memory_bytes: megabytes.to_vec(),
                warm_up: Some(Box::new(warm_up)),
                ..SecondSeries::default()
            });
        });
        let mut source = source().row("go", "s", "throughput_rps = 1");
        source.published += &format!("[[series]]\nsubject = \"go\"\nscenario = \"s\"\nsecond = [0, 1, 2]\n{figures}\n");
        source.held_against(&[("lan", &run)]).series
    }

    #[test]
    fn each_second_of_the_window_stands_at_its_end_in_the_sources_unit() {
        let both = found("cpu_percent = [0, 40, 20]\nmemory_mb = [0, 7, 9]", true);
        let [cpu, memory] = both.as_slice() else { panic!("{both:#?}") };
        assert_eq!((cpu.words.as_str(), cpu.unit.as_str()), ("CPU", "%"));
        assert_eq!(cpu.stands_for_it.as_deref(), Ok("lan · go/nethttp:encoder · json-c64"));
        let published = &cpu.published;
        assert_eq!((published.start, published.end, published.highest, published.highest_at_s), (0.0, 20.0, 40.0, 1.0));
        assert!(published.low.is_empty(), "a printed series is a single one");
        let measured = cpu.measured.as_ref().expect("the run has seconds");
        assert_eq!(measured.at_s, [1.0, 2.0, 3.0], "without the warm-up");
        assert_eq!(measured.value, [25.0, 50.0, 25.0]);
        let measured = memory.measured.as_ref().expect("the run has seconds");
        assert_eq!(measured.value, [13.0, 23.0, 43.0], "the median of five trials");
        assert_eq!((measured.low[0], measured.high[0]), (11.0, 15.0));
        assert_eq!((measured.highest, measured.highest_at_s, measured.slope_per_s), (43.0, 3.0, Some(15.0)));
    }

    #[test]
    fn without_seconds_the_reason_stands_instead() {
        let without = found("memory_mb = [0, 7, 9]", false).remove(0);
        assert_eq!(without.measured, None);
        let why = "no clean trial of part lan has two whole seconds in its window".to_owned();
        assert_eq!(without.stands_for_it, Err(why));
        let unread = found("requests = [0, 7, 9]", true).remove(0);
        assert_eq!(unread.stands_for_it, Err("requests: not read by the second".to_owned()));
    }
}

mod simulations {
    use super::*;

    const TRUTHS: [f64; 3] = [1.0, 1.3, 4.0];

    /// Readings of three ratios, whose truth is known, with noise of 3 % in each trial.
    fn read(noise: &mut Noise, published: [f64; 3]) -> Vec<PublishedReading> {
        let (mut run, mut source) = (InventedRun::new(8), InventedSource::new(&["a", "b", "c"]));
        source = source.part("lan", SUBJECTS, "a = \"a-c64\", b = \"b-c64\", c = \"c-c64\"");
        for (setting, (truth, published)) in ["a", "b", "c"].into_iter().zip(TRUTHS.into_iter().zip(published)) {
            run.scenario(&format!("{setting}-c64"), setting, setting, 64);
            run.case(GO, &noise.blocks(10_000.0 * truth, 8)).case(BUN, &noise.blocks(10_000.0, 8));
            source = source.row("go", setting, &format!("throughput_rps = {:.4}", published * 1000.0));
            source = source.row("bun", setting, "throughput_rps = 1000.0000");
        }
        source.held_against(&[("lan", &run)]).ratios.iter().map(|ratio| ratio.reading).collect()
    }

    #[test]
    fn what_is_true_is_reproduced_in_93_of_100() {
        let mut noise = Noise::new(11, 0.03);
        let readings: Vec<PublishedReading> = (0..40).flat_map(|_| read(&mut noise, TRUTHS)).collect();
        let reproduced = readings.iter().filter(|reading| **reading == Reproduced).count();
        assert!(reproduced * 100 >= 93 * readings.len(), "{reproduced} of {}", readings.len());
    }

    #[test]
    fn the_wrong_direction_is_never_reproduced() {
        let mut noise = Noise::new(12, 0.03);
        for _ in 0..30 {
            assert_eq!(read(&mut noise, [1.0, 1.0 / 1.3, 1.0 / 4.0])[1..], [Reversed, Reversed]);
        }
    }
}
