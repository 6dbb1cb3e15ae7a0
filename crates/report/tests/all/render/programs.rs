//! Invented programs in every format.

use tolok_model::Timer;

use super::*;
use crate::invented::InventedRun;
use crate::invented::programs::{BUN_QUEUE, GO_QUEUE};

#[test]
fn in_markdown() {
    insta::assert_snapshot!(text(&edge_case("programs"), Format::Markdown));
    insta::assert_snapshot!(
        "at_odds_in_markdown",
        part(&text(&edge_case("programs-at-odds"), Format::Markdown), "## queue, by n", "## Cautions")
    );
}

#[test]
fn in_csv() {
    let text = text(&edge_case("programs-and-servers"), Format::Csv);
    let both = ["scenario", "load", "subject", "goodput_rps", "against_first", "trials_scored", "flags", "environment"];
    let times = ["timer", "timer_version", "runs", "floor_runs", "outliers", "wall_s", "wall_s_low", "wall_of_first"];
    let rest = ["above_floor_s", "floor_s", "cpu_s", "rss_bytes", "cpus_used", "at_floor", "of_first"];
    insta::assert_snapshot!([&both[..], &times, &rest].map(|names| columns(&text, names)).join("\n\n"));
}

/// Elements for servers must not appear empty if there are none.
#[test]
fn a_run_of_programs_only_shows_nothing_of_servers() {
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        let text = text(&edge_case("programs"), format);
        let body = text.split("</style>").last().expect("there is one");
        for word in [
            "correct responses",
            "Throughput",
            "of ceiling",
            "closed loop",
            "p99",
            "request",
            "generator",
            "client",
            "loopback",
        ] {
            assert!(!body.contains(word), "{format:?} has {word}");
        }
    }
}

#[test]
fn a_run_of_servers_only_shows_nothing_of_programs() {
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        let text = text(&ordinary().findings(), format);
        let body = text.split("</style>").last().expect("there is one");
        for word in ["wall", "above the start", "Timers"] {
            assert!(!body.contains(word), "{format:?} has {word}");
        }
    }
}

#[test]
fn both_stand_in_one_page() {
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        let text = text(&edge_case("programs-and-servers"), format);
        for words in ["Bun.serve is faster than Go net", "Bun queue takes 0.5", "wall"] {
            assert!(text.contains(words), "{format:?} lacks {words}");
        }
    }
}

#[test]
fn variants_of_one_runtime_are_drawn_apart() {
    let page = text(&edge_case("programs"), Format::Html);
    let chart = part(&page, "A queue of tasks</text>", "</svg>");
    assert!(chart.contains("class=\"r-go line\"") && chart.contains("class=\"r-go line way-1\""), "{chart}");
    assert!(chart.contains("class=\"r-go fill\"") && chart.contains("class=\"r-go hollow-mark\""), "{chart}");
    let words = "wall time by n of 4 subjects; the table below has the same figures";
    assert!(page.contains(words), "the text alternative says where the figures are");
}

#[test]
fn checks_are_those_of_programs() {
    let failed = |name: &str| -> Vec<String> { failed_checks(&text(&edge_case(name), Format::Html)) };
    assert_eq!(
        failed("programs"),
        [
            "Every timer’s steps were fine enough for what it timed",
            "The work could be separated from the start",
            "No run was far from the others of its trial",
        ]
    );
    assert_eq!(failed("one-program"), Vec::<String>::new());
    assert_eq!(
        failed("programs-at-odds"),
        [
            "Every planned trial was measured",
            "Every wall time has an interval",
            "The work could be separated from the start",
            "Others left the CPU to the programs",
        ]
    );
}

#[test]
fn programs_that_took_turns_say_so_and_what_more_of_them_would_buy() {
    let mut run = InventedRun::new(6);
    run.program("queue", "queue", "A queue of tasks", Timer::Tolok).in_turns();
    for (program, wall_s) in [(GO_QUEUE, 0.5), (BUN_QUEUE, 0.6)] {
        let near = move |launch: u32, round: u32, half: u32| {
            wall_s * (1.0 + f64::from((launch * 7 + round * 3 + half) % 5) / 500.0)
        };
        run.turning(program, 9, &near);
    }
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        let text = text(&run.findings(), format).replace('\n', " ");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in ["per launch, in turns", "each with 9 runs of each case", "The median pair is known to"] {
            assert!(words.contains(said), "{format:?} lacks {said}: {words}");
        }
        let has_foreign = words.contains("Other programs used 0.250 CPUs meanwhile");
        assert_eq!(has_foreign, format != Format::Terminal, "{format:?} {words}");
    }
}
