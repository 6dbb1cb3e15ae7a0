//! Laws about the method: repetitions, the limit of the load generator, budgets and steadiness.

use crate::reading;

use reading::{all, findings, only, read, rows, verdicts};
use tolok_audit::AuditVerdict::{CannotTell, Contradicted, Holds};
use tolok_audit::{Law, audit};

const TWO: [(&str, &str); 2] = [("go", "throughput_rps = 35509"), ("swoole", "throughput_rps = 34919")];

fn with(method: &str, table: &[(&str, &str)]) -> String {
    format!("[method]\n{method}\n{}", rows(table))
}

#[test]
fn a_law_without_figures_is_named_with_the_columns_that_it_needs() {
    let needed = |law: Law, table: &[(&str, &str)]| {
        let left_out = audit(&read(&rows(table))).left_out;
        left_out.into_iter().find(|left_out| left_out.law == law).map(|left_out| left_out.needs)
    };
    let times = [("go", "latency_p50_ms = 2\nlatency_p99_ms = 9")];
    let needs = "throughput and mean response time in a closed loop, and its connections";
    assert_eq!(needed(Law::LittlesLaw, &times).as_deref(), Some(needs));
    assert_eq!(needed(Law::Order, &times), None, "p50 and p99 are in order, so that law was applied");
    assert_eq!(needed(Law::LittlesLaw, &TWO), None, "what is missing of these rows stands among the findings");
    let share = [("go", "error_rate_percent = 1.2")];
    assert_eq!(needed(Law::Percentages, &share), None, "a share alone is read, though it contradicts nothing");
    assert!(needed(Law::Percentages, &times).is_some());
    assert!(Law::ALL.iter().all(|law| !law.needs().is_empty() && !law.needs().ends_with('.')));
}

#[test]
fn means_that_prove_nothing_are_read_and_not_left_out() {
    let lacks_means = |text: &str| audit(&read(text)).left_out.iter().any(|left_out| left_out.law == Law::Grim);
    let whole = [("go", "requests = 8952")];
    assert!(!lacks_means(&with("repetitions = 5", &whole)), "a mean without decimals fits any number of runs");
    assert!(lacks_means(&rows(&whole)), "without the number of runs there is nothing to test");
}

#[test]
fn repetitions_and_a_spread_are_asked_for() {
    let lists = [("go", "requests = [1, 2, 3]"), ("bun", "requests = [2, 2, 3]")];
    assert_eq!(verdicts(Law::Repetitions, &with("repetitions = 3", &lists)), [Holds]);
    assert_eq!(only(Law::Repetitions, &with("repetitions = 3", &TWO)).missing, ["the spread of the runs"]);
    assert_eq!(only(Law::Repetitions, &with("repetitions = 1", &TWO)).missing, ["a second run"]);
    assert_eq!(only(Law::Repetitions, &rows(&TWO)).missing, ["the number of runs", "their spread"]);
    let timed = [("go", "time_mean_ms = 7.9\ntime_sd_ms = 0.4\nruns = 369")];
    assert_eq!(verdicts(Law::Repetitions, &rows(&timed)), [Holds]);
}

#[test]
fn runs_that_only_rise_or_fall_are_no_repetitions() {
    let sentences = |list: &str| -> Vec<String> {
        let table = rows(&[("go", &format!("requests = {list}"))]);
        let lacking = findings(Law::Repetitions, &table).into_iter().filter(|finding| finding.verdict == CannotTell);
        lacking.map(|finding| finding.sentence).collect()
    };
    assert_eq!(
        sentences("[90, 88, 87, 85, 80]"),
        [
            "The number of requests of go, hello (Table 1) falls from each of 5 runs to the next, from 90 to 80: these are not \
          repetitions of one state."
        ]
    );
    assert_eq!(sentences("[90, 88, 89, 85, 80]"), [""; 0], "one step back");
    assert_eq!(sentences("[90, 88, 87, 85]"), [""; 0], "four values fall by chance in one case of twelve");
    assert_eq!(sentences("[90, 90, 90, 90, 90]"), [""; 0]);
}

#[test]
fn a_list_has_one_number_for_each_repetition() {
    let found = findings(Law::Repetitions, &with("repetitions = 5", &[("go", "requests = [1, 2, 3]")]));
    assert_eq!((found[0].verdict, found[1].verdict), (Contradicted, Holds));
    assert_eq!(
        found[0].sentence,
        "The source says 5 repetitions, but prints 3 values of the number of requests of go, hello (Table 1)."
    );
}

#[test]
fn a_busy_server_is_the_limit() {
    let table =
        [("go", "throughput_rps = 900\ncpu_percent = 395"), ("bun", "throughput_rps = 800\ncpu_percent = \"400+\"")];
    assert_eq!(verdicts(Law::Generator, &with("cpu-scope = \"core\"\nsubject-cpus = 4", &table)), [Holds]);
}

#[test]
fn a_tie_of_leaders_with_cpus_left_is_an_inference() {
    let table = [
        ("go", "throughput_rps = 35509\ncpu_max_percent = 50.67"),
        ("swoole", "throughput_rps = 34919\ncpu_max_percent = 49.33"),
        ("node", "throughput_rps = 21626\ncpu_max_percent = 20"),
    ];
    let method = "tool = \"ab\"\nkeep-alive = false\nsubject-cpus = 8\ncpu-scope = \"machine\"";
    let found = only(Law::Generator, &with(method, &table));
    assert_eq!(found.verdict, CannotTell);
    insta::assert_snapshot!(found.inference.unwrap_or_default(), @"go and swoole come within 1.66% of each other with CPU time to spare: both seem to meet the same limit outside the servers (the load generator has one thread, and each request opens a connection).");
    let without_cpu = only(Law::Generator, &rows(&TWO));
    assert_eq!((without_cpu.verdict, without_cpu.inference), (CannotTell, None));
}

/// One subject at two numbers of connections.
fn sweep(method: &str, at_100: u32, at_1000: u32) -> String {
    let mut text = format!("[method]\nloop = \"closed\"\nduration = \"20s\"\n{method}\n");
    for connections in [100, 1000] {
        text.push_str(&format!(
            "[[scenario]]\nname = \"static-{connections}\"\ntitle = \"x\"\nraw = \"x\"\nconnections = {connections}\n"
        ));
    }
    for (connections, requests) in [(100, at_100), (1000, at_1000)] {
        text.push_str(&format!(
            "[[row]]\ntable = \"T\"\nsubject = \"node\"\nscenario = \"static-{connections}\"\nraw = \"x\"\nrequests = {requests}\n"
        ));
    }
    text
}

#[test]
fn response_times_that_do_not_grow_show_room() {
    let constant = |method: &str, at_1000: u32| {
        let found = findings(Law::Generator, &sweep(method, 11_810, at_1000));
        found.into_iter().find(|finding| finding.about == "node, static")
    };
    let found = constant("rtt = \"169ms\"", 118_014).unwrap();
    assert_eq!(found.verdict, CannotTell);
    insta::assert_snapshot!(found.inference.unwrap_or_default(), @"Answers of node took the time of a round trip and of one request alone (the source states a round trip of 169 ms).");
    assert_eq!(constant("", 24_284), None, "a server at its limit takes ten times as long");
    assert_eq!(constant("ramp = true", 118_014), None);
}

#[test]
fn unequal_budgets_are_shown() {
    let table = |workers: &str| {
        [("node", "subject-workers = 1\nthroughput_rps = 5"), ("swoole", "")].map(|(subject, keys)| {
            (
                subject,
                if keys.is_empty() {
                    format!("subject-workers = {workers}\nthroughput_rps = 9")
                } else {
                    keys.to_owned()
                },
            )
        })
    };
    let verdict = |workers: &str| {
        let table = table(workers);
        let table: Vec<(&str, &str)> = table.iter().map(|(subject, keys)| (*subject, keys.as_str())).collect();
        only(Law::Budgets, &with("subject-cpus = 8", &table))
    };
    assert_eq!(verdict("1").verdict, Holds);
    let unequal = verdict("8");
    assert_eq!((unequal.verdict, unequal.arithmetic.as_str()), (CannotTell, "processes or threads: node 1, swoole 8"));
    assert_eq!(only(Law::Budgets, &rows(&TWO)).missing.len(), 2);
    assert_eq!(findings(Law::Budgets, &rows(&TWO[..1])), [], "one subject is compared with nothing");
}

#[test]
fn answers_of_different_sizes_are_shown() {
    let table = |mb: &str| {
        with(
            "subject-cpus = 4\nsubject-workers = 4",
            &[
                ("node", "throughput_rps = 7954\nbandwidth_mb_s = 1.62"),
                ("go", &format!("throughput_rps = 12873\nbandwidth_mb_s = {mb}")),
            ],
        )
    };
    let unequal = only(Law::Bytes, &table("1.67"));
    assert_eq!((unequal.verdict, unequal.missing.len()), (CannotTell, 1), "headers may make the difference");
    assert_eq!(unequal.arithmetic, "bandwidth ÷ throughput: node 204 B and go 130 B");
    assert_eq!(verdicts(Law::Bytes, &table("2.62")), [Holds]);
    assert_eq!(verdicts(Law::Budgets, &table("1.67")), [Holds], "only one law judges bytes");
    let bodies = |kb| with("", &[("node", "body_kb = 534"), ("go", &format!("body_kb = {kb}"))]);
    assert_eq!(only(Law::Bytes, &bodies(267)).arithmetic, "body: node 534 kB and go 267 kB");
    assert_eq!(verdicts(Law::Bytes, &bodies(534)), [Holds]);
}

#[test]
fn workers_beyond_their_cpus_are_shown_once() {
    let method = "cpu-scope = \"core\"\nsubject-cpus = 4\nsubject-workers = 1";
    let found = |cpu: &str| {
        let all = all(&with(method, &[("bun", &format!("throughput_rps = 53446\ncpu_percent = {cpu}"))]));
        all.into_iter().filter(|finding| finding.statement.contains("workers")).collect::<Vec<_>>()
    };
    assert_eq!(
        found("383").iter().map(|finding| (finding.law, finding.verdict)).collect::<Vec<_>>(),
        [(Law::CpuTime, CannotTell)]
    );
    assert_eq!(found("100"), []);
}

/// A series of 21 seconds.
fn series(value: impl Fn(f64) -> f64) -> String {
    let seconds: Vec<String> = (0..=20).map(|second| second.to_string()).collect();
    let values: Vec<String> = (0..=20).map(|second| format!("{:.1}", value(f64::from(second)))).collect();
    format!(
        "[[series]]\ntable = \"T\"\nsubject = \"apache\"\nraw = \"x\"\nsecond = [{}]\nmemory_mb = [{}]\n",
        seconds.join(", "),
        values.join(", ")
    )
}

#[test]
fn a_series_that_still_grows_is_not_steady() {
    let growing = only(Law::Steadiness, &series(|second| second * 24.9));
    assert_eq!(growing.verdict, CannotTell);
    assert_eq!(
        growing.sentence,
        "The memory still grew by 24.9 MB a second from second 14 to 20: where it settles is not shown."
    );
    assert_eq!(verdicts(Law::Steadiness, &series(|second| (second * 24.9).min(105.0))), [Holds]);
    assert_eq!(verdicts(Law::Steadiness, &series(|_| 0.0)), [Holds]);
    let alternating = |second: f64| 10.0 + 3.0 * (second % 2.0);
    assert_eq!(verdicts(Law::Steadiness, &series(alternating)), [Holds], "noise has no direction");
}

#[test]
fn ramps_and_short_runs_are_named() {
    assert_eq!(
        only(Law::Steadiness, &with("ramp = true\nduration = \"7min\"", &TWO)).missing,
        ["figures of the time at full load"]
    );
    let short = only(Law::Steadiness, &with("requests = 500000", &TWO));
    assert_eq!(short.arithmetic, "length of a run: 14 s");
    assert_eq!(findings(Law::Steadiness, &with("duration = \"30s\"\nwarmup = \"5s\"", &TWO)), []);
    assert_eq!(findings(Law::Steadiness, &with("duration = \"5min\"", &TWO)), []);
}
