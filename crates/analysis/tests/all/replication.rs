//! Findings on a published comparison, from invented sources and invented runs.

mod claims;
mod factors;
mod scope;

use crate::invented::judgement::Noise;
use crate::invented::programs::{BUN_QUEUE, GO_QUEUE};
use crate::invented::replications::InventedSource;
use crate::invented::{APACHE, BUN, FPM, GO, InventedRun, NODE, fail_requests};
use tolok_analysis::PublishedReading::{self, *};
use tolok_analysis::replication::{ClaimFinding, MeasuredPart, ReplicationFindings};
use tolok_model::Timer;

const SUBJECTS: &str = "go = \"go/nethttp:encoder\", bun = \"bun/serve\", node = \"node/http\", php = \"php/fpm\"";

/// Go has 34,300, Bun 42,600 (1.24 times as many), Node 17,200 and PHP 17,250 responses per second.
fn run() -> InventedRun {
    let mut run = InventedRun::new(10);
    run.scenario("json-c64", "json", "JSON", 64);
    run.steady(GO, 34_300.0).steady(BUN, 42_600.0).steady(NODE, 17_200.0).steady(FPM, 17_250.0);
    run
}

fn source() -> InventedSource {
    InventedSource::new(&["s"]).part("lan", SUBJECTS, "s = \"json-c64\"")
}

/// The reading of a published ratio of throughputs.
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

/// Rows of all four subjects, irrelevant to the claims.
const ROWS: [(&str, &str); 4] = [
    ("go", "throughput_rps = 3\nbody_bytes = 20\nerror_rate_percent = 5\ntimeouts = 20\nrequests = 1000"),
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

    /// Before rounding, 3 over 2 may have been anything from 2.5 over 2.5 to 3.5 over 1.5.
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

    /// Times and costs are judged like other figures: means and percentiles, memory, CPU per response.
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

    /// Requests of runs of one length are a rate. If there is a rate, or if their number was preset, they are not judged.
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

    /// The source's series for Go, second by second, compared with a run of three seconds after one of warm-up.
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
        assert!(published.low.is_empty(), "a published series has no band");
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

    /// Readings of three ratios with a known truth, with noise of 3 % in each trial.
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
