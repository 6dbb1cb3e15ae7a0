//! The law of work: settings of one subject that differ in the work of a response.

use crate::reading;

use reading::{findings, only, verdicts};
use tolok_audit::AuditVerdict::{CannotTell, Holds};
use tolok_audit::Law;

/// A setting: its name, its work, its other keys, and the figures of the only subject in it.
type Of<'a> = (&'a str, &'a str, &'a str, &'a str);

/// A table of one subject. `method` holds for all its settings.
fn table(method: &str, settings: &[Of]) -> String {
    let setting = |(name, work, keys, _): &Of| {
        let work = if work.is_empty() { String::new() } else { format!("work = \"{work}\"\n") };
        format!("[[scenario]]\nname = \"{name}\"\ntitle = \"the {name} one\"\n{work}{keys}\n")
    };
    let row = |(name, _, _, figures): &Of| {
        format!("[[row]]\ntable = \"Table 1\"\nsubject = \"go\"\nscenario = \"{name}\"\n{figures}\n")
    };
    let (settings_text, rows): (String, String) =
        (settings.iter().map(setting).collect(), settings.iter().map(row).collect());
    format!("[method]\ntool = \"wrk\"\n{method}\n{settings_text}{rows}")
}

/// A small setting of 1,000 rows and a large one of 8,000 rows.
fn two(method: &str, small: [&str; 2], large: [&str; 2]) -> String {
    table(method, &[("small", "1000 rows", small[0], small[1]), ("large", "8000 rows", large[0], large[1])])
}

#[test]
fn a_table_in_order_holds_whatever_the_load() {
    let small = "throughput_rps = 800\ncpu_per_request_us = 900";
    let large = "throughput_rps = 120\ncpu_per_request_us = 7000";
    let found = only(Law::Work, &two("", ["connections = 300", small], ["connections = 250", large]));
    assert_eq!((found.verdict, found.about.as_str()), (Holds, "go, rows (Table 1)"));
    assert_eq!(
        found.sentence,
        "With at most half of the work, go gives no fewer responses and takes no more CPU time for a response (5% tolerated)."
    );
}

#[test]
fn figures_that_are_equal_overlap_or_are_close_are_no_flaw() {
    for (small, large) in [("120", "120"), ("2.1", "2.15"), ("\"~100\"", "109"), ("1200", "1250")] {
        let [small, large] = [small, large].map(|rate| format!("throughput_rps = {rate}"));
        assert_eq!(verdicts(Law::Work, &two("", ["", &small], ["", &large])), [Holds], "{small} against {large}");
    }
    let repeated = two("", ["", "throughput_rps = [90, 120, 80]"], ["", "throughput_rps = [100, 110, 105]"]);
    assert_eq!(verdicts(Law::Work, &repeated), [Holds], "runs that overlap");
}

#[test]
fn fewer_users_a_smaller_budget_and_pauses_are_a_reason_to_be_slower() {
    let (slow, fast) = ("throughput_rps = 100", "throughput_rps = 900");
    let reasons = [
        ("connections = 10", "connections = 100"),
        ("subject-cpus = 1", "subject-cpus = 4"),
        ("subject-workers = 1", "subject-workers = 4"),
        ("think-time = \"1s\"", "think-time = \"0s\""),
        ("keep-alive = false", "keep-alive = true"),
        ("rtt = \"100ms\"", "rtt = \"1ms\""),
    ];
    for (small, large) in reasons {
        assert_eq!(findings(Law::Work, &two("", [small, slow], [large, fast])), [], "{small} against {large}");
    }
    let open = two("loop = \"open\"", ["", slow], ["", fast]);
    assert_eq!(findings(Law::Work, &open), [], "the rate of an open loop is set");
}

#[test]
fn work_of_another_kind_or_of_nearly_the_same_amount_is_not_compared() {
    let of = |small: &str, large: &str| {
        let settings = [("a", small, "", "throughput_rps = 100"), ("b", large, "", "throughput_rps = 900")];
        verdicts(Law::Work, &table("", &settings))
    };
    assert_eq!(of("1000 rows", "8000 queries"), []);
    assert_eq!(of("1000 rows", "1900 rows"), []);
    assert_eq!(of("1000 rows", ""), []);
    assert_eq!(of("1 row", "2 rows"), [CannotTell]);
    assert_eq!(of("50kB", "1MB"), [CannotTell]);
    assert_eq!(of("100 rows × 4 fields", "1000 rows × 40 fields"), [CannotTell]);
}

#[test]
fn fewer_responses_with_less_work_are_told_with_what_may_explain_them() {
    let (small, large) = (["connections = 300", "throughput_rps = 120"], ["connections = 250", "throughput_rps = 800"]);
    let found = only(Law::Work, &two("ramp = true", small, large));
    assert_eq!(found.verdict, CannotTell);
    insta::assert_snapshot!(found.sentence, @"With 12.5% of the work (“the small one” against “the large one”), go gives fewer responses (120/s against 800/s). The load (300 users against 250), the ramp, another machine or a limit elsewhere, such as a database, may explain it.");
    let lines: Vec<(&str, &str, usize)> =
        found.inputs.iter().map(|input| (input.name.as_str(), input.printed.as_str(), input.line)).collect();
    assert_eq!(
        lines,
        [
            ("work", "1000 rows", 15),
            ("throughput_rps of go", "120", 15),
            ("work", "8000 rows", 20),
            ("throughput_rps of go", "800", 20)
        ]
    );
}

#[test]
fn more_cpu_time_for_less_work_is_found_though_the_rate_is_in_order() {
    let method = "cpu-scope = \"core\"";
    let found = only(
        Law::Work,
        &two(method, ["", "throughput_rps = 100\ncpu_percent = 80"], ["", "throughput_rps = 90\ncpu_percent = 20"]),
    );
    assert_eq!(found.verdict, CannotTell);
    assert!(found.sentence.contains("takes more CPU time for a response (8 ms against 2.22 ms)"), "{}", found.sentence);
}

#[test]
fn printed_cpu_times_need_no_rate() {
    let of = |us: u32| format!("cpu_per_request_us = {us}");
    assert_eq!(verdicts(Law::Work, &two("", ["", &of(900)], ["", &of(7000)])), [Holds]);
    assert_eq!(verdicts(Law::Work, &two("", ["", &of(7000)], ["", &of(900)])), [CannotTell]);
}

#[test]
fn only_correct_responses_count_if_failures_are_known() {
    let fast_failures = "throughput_rps = 800\nhttp_fail_rate_percent = 95";
    let sound = two("", ["", "throughput_rps = 120\nhttp_fail_rate_percent = 0"], ["", fast_failures]);
    assert_eq!(verdicts(Law::Work, &sound), [Holds], "40 of the 800 responses are correct");
    let odd = two("", ["", "throughput_rps = 800\nhttp_fail_rate_percent = 99"], ["", fast_failures]);
    let sentence = only(Law::Work, &odd).sentence;
    assert!(sentence.contains("gives fewer correct responses (8/s against 40/s)"), "{sentence}");
    let unknown = "throughput_rps = 120\nhttp_fail_rate_percent = 50";
    let by_unknown_tool =
        two("tool = \"a lab of our own\"", ["", unknown], ["", "throughput_rps = 100\nhttp_fail_rate_percent = 0"]);
    let by_unknown_tool = by_unknown_tool.replacen("tool = \"wrk\"\n", "", 1);
    assert_eq!(verdicts(Law::Work, &by_unknown_tool), [Holds], "the rate may be of correct responses already");
}

#[test]
fn cpu_time_that_failed_requests_may_have_used_is_no_flaw() {
    let method = "cpu-scope = \"core\"";
    let mostly_failed = "throughput_rps = 100\ncpu_percent = 50\nhttp_fail_rate_percent = 90";
    let all_correct = "throughput_rps = 100\ncpu_percent = 80\nhttp_fail_rate_percent = 0";
    assert_eq!(verdicts(Law::Work, &two(method, ["", all_correct], ["", mostly_failed])), [Holds]);
}

#[test]
fn a_range_for_all_settings_tells_only_what_all_its_values_tell() {
    let of = |cpus: &str| {
        let rates = two("", ["", "throughput_rps = 100"], ["", "throughput_rps = 90"]);
        let all = format!("[[row]]\ntable = \"Table 2\"\nsubject = \"go\"\ncpu_cores = {cpus}\n");
        only(Law::Work, &format!("{rates}{all}")).sentence
    };
    let rates_only = "With at most half of the work, go gives no fewer responses (5% tolerated).";
    assert_eq!(of("\"0.5..0.9\""), rates_only);
    assert_eq!(of("0.7"), rates_only, "a mean over both settings is of neither");
    let wide = two("", ["", "throughput_rps = 10"], ["", "throughput_rps = 90"]);
    let all = "[[row]]\ntable = \"Table 2\"\nsubject = \"go\"\ncpu_cores = \"0.5..0.9\"\n";
    let sentence = only(Law::Work, &format!("{wide}{all}")).sentence;
    assert!(sentence.contains("takes more CPU time for a response (42.9 ms to 100 ms against"), "{sentence}");
}

#[test]
fn ranges_of_rates_that_allow_both_are_undecided() {
    let found = only(Law::Work, &two("", ["", "throughput_rps = \"> 100\""], ["", "throughput_rps = 900"]));
    assert_eq!(found.sentence, "The ranges printed for go leave open whether it is slower with less work.");
    assert_eq!(found.verdict, CannotTell);
}

#[test]
fn the_closest_load_is_compared_where_one_is_repeated_under_several() {
    let settings = [
        ("small at 10", "1kB", "connections = 10", "throughput_rps = 500"),
        ("small at 100", "1kB", "connections = 100", "throughput_rps = 950"),
        ("small at 9000", "1kB", "connections = 9000", "throughput_rps = 20"),
        ("large at 100", "1MB", "connections = 100", "throughput_rps = 900"),
    ];
    assert_eq!(verdicts(Law::Work, &table("", &settings)), [Holds]);
}

#[test]
fn a_subject_with_several_odd_pairs_has_one_finding_that_names_the_worst() {
    let settings = [
        ("1,000", "1000 rows", "", "throughput_rps = 10"),
        ("4,000", "4000 rows", "", "throughput_rps = 90"),
        ("8,000", "8000 rows", "", "throughput_rps = 50"),
    ];
    let sentence = only(Law::Work, &table("", &settings)).sentence;
    assert!(sentence.starts_with("With 25% of the work (“the 1,000 one” against “the 4,000 one”)"), "{sentence}");
    assert!(sentence.contains("The same holds for one more pair of settings."), "{sentence}");
}

#[test]
fn a_program_takes_no_longer_for_less_work() {
    let of = |small: &str, large: &str| verdicts(Law::Work, &two("", ["", small], ["", large]));
    assert_eq!(of("time_mean_ms = 0.6", "time_mean_ms = 0.6"), [Holds]);
    assert_eq!(of("time_mean_ms = 9.8", "time_mean_ms = 2.5"), [CannotTell]);
}

#[test]
fn each_table_and_each_subject_is_told_by_itself() {
    let rows = |subject: &str, table: &str, rates: [u32; 2]| {
        let row = |(name, rate): (&str, u32)| {
            format!(
                "[[row]]\ntable = \"{table}\"\nsubject = \"{subject}\"\nscenario = \"{name}\"\nthroughput_rps = {rate}\n"
            )
        };
        [("small", rates[0]), ("large", rates[1])].map(row).concat()
    };
    let text = two("", ["", "throughput_rps = 800"], ["", "throughput_rps = 120"])
        + &rows("bun", "Table 1", [100, 700])
        + &rows("go", "Table 2", [300, 900]);
    let found = findings(Law::Work, &text);
    let told: Vec<_> = found.iter().map(|finding| (finding.about.as_str(), finding.verdict)).collect();
    assert_eq!(
        told,
        [("go, rows (Table 1)", Holds), ("bun, rows (Table 1)", CannotTell), ("go, rows (Table 2)", CannotTell)]
    );
}

#[test]
fn cpu_time_is_that_of_the_row_itself() {
    let row = |work: &str, figures: &str| {
        format!("[[row]]\ntable = \"Table 1\"\nsubject = \"go\"\nwork = \"{work}\"\n{figures}\n")
    };
    let large = row("8000 rows", "throughput_rps = 200\ncpu_percent = 80");
    let small = row("1000 rows", "throughput_rps = 100\ncpu_percent = 5");
    let table = format!("[method]\nloop = \"open\"\ncpu-scope = \"core\"\n{large}{small}");
    assert_eq!(verdicts(Law::Work, &table), [Holds], "4 ms and 0.5 ms");
}

#[test]
fn requests_that_wrk_gave_up_are_in_no_rate() {
    let small = "throughput_rps = 900\nrequests = 27000\ntimeouts = 20000";
    let large = "throughput_rps = 700\nrequests = 21000\ntimeouts = 0";
    assert_eq!(verdicts(Law::Work, &two("", ["", small], ["", large])), [Holds]);
}
