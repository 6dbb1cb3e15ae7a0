//! Tables with one flaw each: only the law that forbids it contradicts them.

use crate::invented;

use invented::{OF_FIGURES, contradicting, of_verdict, table};
use tolok_audit::{AuditVerdict, Law};

const WRK: &str =
    "tool = \"wrk\"\nloop = \"closed\"\nconnections = 200\nstreams = 1\nduration = \"30s\"\nkeep-alive = true";
const K6: &str =
    "tool = \"k6\"\nloop = \"closed\"\nconnections = 300\nstreams = 1\nduration = \"390s\"\nthink-time = \"0s\"";

/// The laws that contradict one row.
fn against(method: &str, figures: &str) -> Vec<Law> {
    contradicting(&table(method, &[("red", figures)]), OF_FIGURES)
}

/// The sentence of the only contradiction of one row.
fn sentence(method: &str, figures: &str) -> String {
    let findings = of_verdict(&table(method, &[("red", figures)]), AuditVerdict::Contradicted);
    let of_figures: Vec<_> = findings.into_iter().filter(|finding| OF_FIGURES.contains(&finding.law)).collect();
    assert_eq!(of_figures.len(), 1, "{of_figures:#?}");
    of_figures[0].sentence.clone()
}

#[test]
fn a_mean_longer_than_its_connections_can_wait() {
    let mean = |ms| format!("throughput_rps = 10000\nlatency_mean_ms = {ms}\nlatency_max_ms = 90.0");
    assert_eq!(against(WRK, &mean("20.0")), []);
    assert_eq!(against(WRK, &mean("12.0")), [], "connections may be idle");
    assert_eq!(against(WRK, &mean("20.9")), [], "5 % for clocks and counting");
    assert_eq!(against(WRK, &mean("21.1")), [Law::LittlesLaw]);
    insta::assert_snapshot!(sentence(WRK, &mean("31.0")), @"At 10,000/s, 200 users wait 20 ms for an answer on average at most, so 31.0 ms is not the mean response time of these answers.");
    let paused = format!("{WRK}\nthink-time = \"5ms\"");
    assert_eq!(against(&paused, &mean("20.0")), [Law::LittlesLaw], "a pause leaves less time for waiting");
}

#[test]
fn many_means_of_one_table_that_are_too_long_are_one_finding() {
    let of = |rows: usize| {
        let names: Vec<String> = (0..rows).map(|row| format!("s{row}")).collect();
        let figures: Vec<String> =
            (0..rows).map(|row| format!("throughput_rps = 10000\nlatency_mean_ms = {}.0", 31 + row)).collect();
        let rows: Vec<(&str, &str)> =
            names.iter().zip(&figures).map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let found = of_verdict(&table(WRK, &rows), AuditVerdict::Contradicted);
        found.into_iter().filter(|finding| finding.law == Law::LittlesLaw).collect::<Vec<_>>()
    };
    assert_eq!(of(3).len(), 3);
    let crowd = of(5);
    assert_eq!(crowd.len(), 1);
    assert!(crowd[0].about.starts_with("s4") && crowd[0].about.ends_with(", and 4 more rows"), "{}", crowd[0].about);
    assert!(crowd[0].inputs.iter().any(|input| input.printed == "31.0"), "every row is named");
}

#[test]
fn what_the_mean_law_needs_and_does_not_get() {
    let open = WRK.replace("closed", "open");
    assert_eq!(against(&open, "throughput_rps = 10000\nlatency_mean_ms = 31.0"), []);
    let mean = "throughput_rps = 10000\nlatency_mean_ms = 31.0";
    let short = WRK.replace("duration = \"30s\"\n", "");
    assert_eq!(against(&short, mean), [Law::LittlesLaw], "wrk counts from its first request");
    let warm = format!("{short}\nwarmup = \"5s\"");
    assert_eq!(against(&warm, mean), [], "the length of the run is unknown");
    let of_300_000 = format!("{mean}\nrequests = 300000");
    assert_eq!(against(&warm, &of_300_000), [], "the longest wait from before the window is unknown");
    assert_eq!(against(&warm, &format!("{of_300_000}\nlatency_max_ms = 90.0")), [Law::LittlesLaw]);
    let failing = "throughput_rps = 10000\nerror_rate_percent = 60\nlatency_mean_ms = 31.0";
    assert_eq!(against(WRK, failing), [], "the mean may be of the good responses only");
}

#[test]
fn percentiles_that_fall_and_means_beyond_the_ends() {
    assert_eq!(against(WRK, "latency_p50_ms = 4\nlatency_p99_ms = 9\nlatency_max_ms = 9"), []);
    assert_eq!(against(WRK, "latency_p50_ms = 12\nlatency_p99_ms = 9"), [Law::Order]);
    assert_eq!(against(WRK, "latency_p99_ms = 12\nlatency_max_ms = 9"), [Law::Order]);
    assert_eq!(against("tool = \"hyperfine\"", "time_min_ms = 0.8\ntime_mean_ms = 0.6"), [Law::Order]);
    assert_eq!(against("tool = \"hyperfine\"", "time_min_ms = 0.7\ntime_mean_ms = 0.6"), [], "both may be 0.65");
    assert_eq!(against("", "memory_mean_mb = 30\nmemory_peak_mb = 20"), [Law::Order]);
    insta::assert_snapshot!(sentence(WRK, "latency_p50_ms = 12\nlatency_p99_ms = 9"), @"p50 12 ms is above p99 9 ms: these are not figures of one distribution of response time.");
}

#[test]
fn a_mean_that_the_percentiles_do_not_allow() {
    let most = "latency_p50_ms = 1\nlatency_p95_ms = 2\nlatency_max_ms = 10";
    assert_eq!(against(WRK, &format!("{most}\nlatency_mean_ms = 2.0")), []);
    assert_eq!(against(WRK, &format!("{most}\nlatency_mean_ms = 4.0")), [Law::Order]);
    let least = "latency_min_ms = 4\nlatency_p50_ms = 20\nlatency_p95_ms = 100";
    assert_eq!(against(WRK, &format!("{least}\nlatency_mean_ms = 16.0")), []);
    assert_eq!(against(WRK, &format!("{least}\nlatency_mean_ms = 12.0")), [Law::Order]);
    insta::assert_snapshot!(sentence(WRK, &format!("{most}\nlatency_mean_ms = 4.0")), @"The mean of 4.0 ms is above the 2.4 ms that percentiles and maximum allow: these are not figures of one distribution of response time.");
    insta::assert_snapshot!(sentence(WRK, &format!("{least}\nlatency_mean_ms = 12.0")), @"The mean of 12.0 ms is below the 15.5 ms that the percentiles alone make: these are not figures of one distribution of response time.");
}

#[test]
fn a_standard_deviation_that_the_ends_do_not_allow() {
    let of =
        |sd| format!("time_min_ms = 90.0\ntime_mean_ms = 100.0\ntime_max_ms = 110.0\nruns = 10\ntime_sd_ms = {sd}");
    assert_eq!(against("tool = \"hyperfine\"", &of("8.0")), []);
    assert_eq!(against("tool = \"hyperfine\"", &of("12.0")), [Law::Order], "half of the range at most");
    assert_eq!(against("tool = \"hyperfine\"", &of("2.0")), [Law::Order], "one of ten is 2.8 sd away at most");
    insta::assert_snapshot!(sentence("tool = \"hyperfine\"", &of("2.0")), @"With an sd of 2.0 ms, none of 10 runs can be 9.9 ms from the mean: these are not figures of one distribution of time.");
}

/// The findings with fewer users than stated.
fn fewer(method: &str, figures: &str) -> Vec<String> {
    let table = table(method, &[("red", figures)]);
    assert_eq!(contradicting(&table, OF_FIGURES), [], "users who do not wait contradict nothing");
    of_verdict(&table, AuditVerdict::FewerUsers).into_iter().map(|finding| finding.sentence).collect()
}

#[test]
fn percentiles_that_do_not_account_for_the_users() {
    let of = |p95| format!("throughput_rps = 100.0\nlatency_p95_ms = {p95}\nlatency_max_ms = 3000");
    let none = [""; 0];
    let k6 = format!("{K6}\nramp = false");
    assert_eq!(fewer(&k6, &of("3000")), none);
    assert_eq!(fewer(&k6, &of("2800")), none, "a tenth is left to the generator");
    assert_eq!(
        fewer(&k6, &of("1000")),
        [
            "100 answers a second, none of which took longer than 3000 ms, account for at most 111 of 300 users on average."
        ]
    );
    let paused = k6.replace("\"0s\"", "\"2s\"");
    assert_eq!(fewer(&paused, &of("1000")), none, "users pause");
    assert_eq!(fewer(&k6.replace("think-time = \"0s\"\n", ""), &of("1000")), none, "users may have paused");
    assert_eq!(
        fewer(&format!("{K6}\nramp = true"), &of("1000")),
        none,
        "in a ramp, not all users are active throughout"
    );
    let unknown_end = K6.replace("duration = \"390s\"", "");
    let p95 = "throughput_rps = 100.0\nlatency_p95_ms = 1000";
    assert_eq!(fewer(&unknown_end, p95), none, "the slowest 5 % may be slow");
    assert_eq!(
        fewer(&k6, "throughput_rps = 100.0\nlatency_mean_ms = 400\nlatency_p95_ms = 1000"),
        ["300 users were stated, and at most 41 of them (13.4%) waited for the printed responses on average."],
        "the mean is stronger evidence than the percentile, and is the only finding"
    );
}

#[test]
fn a_mean_that_does_not_account_for_the_users() {
    let ab = "tool = \"ab\"\nconnections = 100\nkeep-alive = true";
    let of = |mean: &str| format!("throughput_rps = 1000\nlatency_mean_ms = {mean}");
    let none = [""; 0];
    assert_eq!(fewer(ab, &of("91")), none, "a tenth is left to the generator");
    assert_eq!(
        fewer(ab, &of("20")),
        ["100 users were stated, and at most 21 of them (20.5%) waited for the printed responses on average."]
    );
    assert_eq!(fewer(&format!("{ab}\nramp = true"), &of("20")), none);
    assert_eq!(fewer(&ab.replace("= true", "= false"), &of("20")), none, "they may have been connecting");
    let wrk = ab.replace("\"ab\"", "\"wrk\"");
    assert_eq!(fewer(&wrk, &of("20")), none, "they may have waited for answers that wrk gave up");
    assert_eq!(fewer(&wrk, &format!("{}\ntimeouts = 0\nrequests = 30000", of("20"))).len(), 1);
    let twice = "[[row]]\ntable = \"Table 2\"\nsubject = \"red\"\nraw = \"r\"\n".to_owned() + &of("20");
    let text = format!("title = \"T\"\n[method]\n{ab}\n{}\n{twice}\n", twice.replace("Table 2", "Table 1"));
    let told = of_verdict(&invented::read(&text), AuditVerdict::FewerUsers);
    let about: Vec<&str> = told.iter().map(|finding| finding.about.as_str()).collect();
    assert_eq!(about, ["red (Table 1); red (Table 2)"], "a run that is printed twice has one finding");
}

#[test]
fn times_at_and_beyond_the_time_out() {
    let of = |max, timeouts| format!("throughput_rps = 1000\nlatency_max_ms = {max}\ntimeouts = {timeouts}");
    assert_eq!(against(WRK, &of("700", 0)), []);
    assert_eq!(against(WRK, &of("2000.00", 0)), [], "near the default, but there is no sign that it was reached");
    let of_all = format!("{WRK}\nlatency-of = \"all\"");
    assert_eq!(against(&of_all, &of("2000.00", 60)), [Law::Censoring]);
    assert_eq!(against(&of_all, &of("700", 60)), [Law::Censoring], "some waited 2 s");
    assert_eq!(against(WRK, &of("700", 60)), [], "it may be the longest of the correct responses");
    let stated = format!("{WRK}\ntimeout = \"1s\"");
    assert_eq!(against(&stated, &of("1000", 0)), [], "a time at the timeout may have been measured");
    assert_eq!(against(&stated, &of("1500", 0)), [Law::Censoring]);
    insta::assert_snapshot!(sentence(&of_all, &of("2000.00", 60)), @"60 requests timed out after 2 s, so the longest wait was not 2000.00 ms, and its length is unknown.");
    insta::assert_snapshot!(sentence(&stated, &of("1500", 0)), @"The tool kept no time beyond 1 s, so it did not measure 1500 ms.");
}

#[test]
fn the_winner_of_answers_is_not_that_of_good_answers() {
    let two = |a: &str, b: &str| table(WRK, &[("red", a), ("blue", b)]);
    let (many, few) =
        ("throughput_rps = 500\nhttp_fail_rate_percent = 80", "throughput_rps = 300\nhttp_fail_rate_percent = 0");
    assert_eq!(contradicting(&two(many, few), OF_FIGURES), [Law::Goodput]);
    let half = "throughput_rps = 500\nhttp_fail_rate_percent = 20";
    assert_eq!(contradicting(&two(half, few), OF_FIGURES), []);
    let counted = "throughput_rps = 500\nrequests = 15000\nfailures = 12000";
    assert_eq!(contradicting(&two(counted, few), OF_FIGURES), [Law::Goodput]);
    let own = WRK.replace("wrk", "a tool of our own");
    let unknown = table(&own, &[("red", many), ("blue", few)]);
    assert_eq!(contradicting(&unknown, OF_FIGURES), [], "an unknown tool's rate may count good responses only");
    insta::assert_snapshot!(of_verdict(&two(many, few), AuditVerdict::Contradicted)[0].sentence, @"red gives the most answers (500/s), but 80% of them failed: it gives 100/s that are good, and blue gives 300/s. wrk counts failed answers in its rate.");
}

#[test]
fn requests_that_do_not_fit_throughput_and_time() {
    assert_eq!(against(WRK, "throughput_rps = 1000\nrequests = 30041"), []);
    assert_eq!(against(WRK, "throughput_rps = 1000\nrequests = 36000"), [Law::Totals]);
    // Correct responses are only some of all, so only too many of them tell something.
    assert_eq!(against(WRK, "throughput_rps = 1000\nsuccesses = 90000"), [Law::Totals]);
    assert_eq!(against(WRK, "throughput_rps = 1000\nsuccesses = 3000"), []);
    assert_eq!(against(WRK, "throughput_rps = 1000\nrequests = [29000, 30000, 31000]"), []);
    assert_eq!(against(WRK, "throughput_rps = \"~1000\"\nrequests = 31000"), []);
    insta::assert_snapshot!(sentence(WRK, "throughput_rps = 1000\nrequests = 36000"), @"36000 requests at 1000/s take 36.00 s and not the 30 s stated: requests, throughput and length are not of the same run.");
}

#[test]
fn bytes_that_differ_or_do_not_pass() {
    let two = |a, b| {
        let of = |mb: &str| format!("throughput_rps = 10000\nbandwidth_mb_s = {mb}\nfailures = 0");
        contradicting(&table(WRK, &[("red", &of(a)), ("blue", &of(b))]), OF_FIGURES)
    };
    assert_eq!(two("2.04", "2.10"), [], "headers differ a little");
    assert_eq!(two("2.04", "1.41"), [], "headers may differ more");
    let link = format!("{WRK}\nlink = \"1Gbit/s\"\nbody = \"534kB\"");
    assert_eq!(against(&link, "throughput_rps = 200"), []);
    assert_eq!(against(&link, "throughput_rps = 300"), [Law::Bytes]);
    assert_eq!(against(&link, "throughput_rps = 300\nhttp_fail_rate_percent = 50"), [], "failed answers need no body");
    insta::assert_snapshot!(sentence(&link, "throughput_rps = 300"), @"The answers are at least 1.28 Gbit/s, more than the 1 Gbit/s that the network carries.");
}

#[test]
fn cpus_that_there_are_not_and_cpu_times_that_do_not_come_out() {
    let of_core = format!("{WRK}\ncpu-scope = \"core\"\nsubject-cpus = 4");
    assert_eq!(against(&of_core, "cpu_percent = 410\nthroughput_rps = 1000"), []);
    assert_eq!(against(&of_core, "cpu_percent = 600\nthroughput_rps = 1000"), [Law::CpuTime]);
    let of_machine = format!("{WRK}\ncpu-scope = \"machine\"\nsubject-cpus = 4");
    assert_eq!(against(&of_machine, "cpu_percent = 50\nthroughput_rps = 1000\ncpu_per_request_us = 2000"), []);
    assert_eq!(
        against(&of_machine, "cpu_percent = 50\nthroughput_rps = 1000\ncpu_per_request_us = 500"),
        [Law::CpuTime]
    );
    assert_eq!(
        against(WRK, "cpu_percent = 50\nthroughput_rps = 1000\ncpu_per_request_us = 500"),
        [],
        "it is unknown what 100 % is"
    );
    insta::assert_snapshot!(sentence(&of_core, "cpu_percent = 600\nthroughput_rps = 1000"), @"More CPUs are in use (6) than there are (4).");
    insta::assert_snapshot!(sentence(&of_machine, "cpu_percent = 50\nthroughput_rps = 1000\ncpu_per_request_us = 500"), @"CPU in use and throughput make 2 ms a request, and not 500 µs.");
}

#[test]
fn a_claim_on_cpu_shares_that_cpu_times_reverse() {
    let claim = |ratio: &str| {
        format!(
            "title = \"Programs\"\n[method]\ntool = \"hyperfine\"\ncpu-scope = \"core\"\n\
             [[row]]\nsubject = \"red\"\nraw = \"r\"\ncpu_percent = 99\ntime_mean_ms = 7000\n\
             [[row]]\nsubject = \"blue\"\nraw = \"b\"\ncpu_percent = 66\ntime_mean_ms = 14000\n\
             [[claim]]\nid = \"more\"\nsays = \"red needs so many times the CPU\"\nraw = \"c\"\nfigure = \"cpu_percent\"\n\
             a = {{ subject = \"red\" }}\nb = {{ subject = \"blue\" }}\nratio = \"{ratio}\"\n"
        )
    };
    let told = |ratio| of_verdict(&invented::read(&claim(ratio)), AuditVerdict::Contradicted);
    let findings: Vec<_> = told("1.5").into_iter().filter(|finding| finding.law == Law::CpuTime).collect();
    assert_eq!(findings.len(), 1, "blue needs more for the same work");
    insta::assert_snapshot!(findings[0].sentence, @"red needs 6.93 s of CPU time and blue 9.24 s: 0.75 times as much, where 1.5 is claimed of CPU in use.");
    assert_eq!(contradicting(&invented::read(&claim("0.7")), &[Law::CpuTime]), [], "another size does not contradict");
}

#[test]
fn shares_that_are_too_large_or_do_not_fit_each_other() {
    let k6 = format!("{K6}\nramp = true");
    assert_eq!(against(&k6, "error_rate_percent = 70.38\nhttp_fail_rate_percent = 70.38"), []);
    assert_eq!(against(&k6, "error_rate_percent = 1.2\nhttp_fail_rate_percent = 3.4"), [Law::Percentages]);
    assert_eq!(against(&k6, "error_rate_percent = 103"), [Law::Percentages]);
    assert_eq!(against(&k6, "requests = 100\nfailures = 120"), [Law::Percentages]);
    assert_eq!(against(WRK, "requests = 100\nfailures = 120"), [], "sockets that could not connect are not responses");
    assert_eq!(against(&k6, "requests = 1000\nfailures = 50\nerror_rate_percent = 5.0"), []);
    assert_eq!(against(&k6, "requests = 950\nfailures = 50\nerror_rate_percent = 5.0"), []);
    assert_eq!(against(&k6, "requests = 1000\nfailures = 50\nerror_rate_percent = 0.5"), [Law::Percentages]);
    insta::assert_snapshot!(sentence(&k6, "error_rate_percent = 1.2\nhttp_fail_rate_percent = 3.4"), @"3.4% failed as HTTP, but only 1.2% have an error: every failure is an error.");
}

#[test]
fn pipelining_is_asked_for_before_waits_are_called_impossible() {
    let mean = "throughput_rps = 10000\nlatency_mean_ms = 31.0";
    let unknown = WRK.replace("streams = 1\n", "");
    assert_eq!(against(&unknown, mean), [], "a script of wrk can pipeline");
    assert_eq!(against(&unknown.replace("wrk", "hey"), mean), [Law::LittlesLaw], "hey cannot");
    assert_eq!(against(&WRK.replace("streams = 1", "streams = 2"), mean), []);
    assert_eq!(against(&format!("{WRK}\nlatency-of = \"planned\""), mean), [], "waits from a planned instant");
}

/// The findings of the law of room about one row with this verdict.
fn room(method: &str, figures: &str, verdict: AuditVerdict) -> Vec<String> {
    let all = of_verdict(&table(method, &[("red", figures)]), verdict);
    all.into_iter().filter(|finding| finding.law == Law::Room).map(|finding| finding.sentence).collect()
}

#[test]
fn figures_that_the_run_has_no_room_for() {
    let broken = |method: &str, figures: &str| room(method, figures, AuditVerdict::Contradicted).len();
    let of = |more: &str| format!("{WRK}\n{more}");
    let both = |method: &str, breaks: &str, keeps: &str| [broken(method, breaks), broken(method, keeps)];
    let x = "throughput_rps = 10000\n";
    // Each bound with figures that break it, and figures that do not.
    assert_eq!(both(WRK, &format!("{x}latency_min_ms = 22"), &format!("{x}latency_min_ms = 20.3")), [1, 0]);
    assert_eq!(both(&of("rtt = \"30ms\""), x, "throughput_rps = 7000"), [1, 0]);
    let far = of("rtt = \"30ms\"");
    assert_eq!(both(&far, "latency_p50_ms = 20", "latency_p50_ms = 31"), [1, 0]);
    assert_eq!(both(WRK, "latency_max_s = 40", "latency_max_s = 30.2"), [1, 0]);
    assert_eq!(both(WRK, "latency_mean_us = 0.004", "latency_mean_us = 0.006"), [1, 0]);
    assert_eq!(both(&of("timeout = \"2s\""), "timeouts = 4000", "timeouts = 3000"), [1, 0]);
    assert_eq!(both(WRK, &format!("{x}goodput_rps = 11000"), &format!("{x}goodput_rps = 9000")), [1, 0]);
    let half = format!("{x}http_fail_rate_percent = 50\n");
    assert_eq!(both(WRK, &format!("{half}goodput_rps = 8000"), &format!("{half}goodput_rps = 5000")), [1, 0]);
    assert_eq!(broken(WRK, &format!("{half}goodput_rps = 10000")), 0, "a rate of good answers only");
    assert_eq!(both(WRK, "requests = 100\nsuccesses = 102", "requests = 100\nsuccesses = 100"), [1, 0]);
    let open = "tool = \"vegeta\"\nloop = \"open\"\nduration = \"30s\"";
    let offered = |rate| format!("{x}offered_rps = {rate}");
    assert_eq!(both(open, &offered(9000), &offered(10000)), [1, 0]);
    let bytes = |mb| format!("bandwidth_mb_s = 10.0\ntransferred_mb = {mb}");
    assert_eq!(both(WRK, &bytes(400), &bytes(301)), [1, 0]);
    let four = of("subject-cpus = 4");
    assert_eq!(both(&four, &format!("{x}cpu_per_request_us = 500"), &format!("{x}cpu_per_request_us = 390")), [1, 0]);
    let limit = of("subject-memory = \"512MiB\"\nsubject-workers = 1");
    assert_eq!(both(&limit, "memory_peak_mib = 600", "memory_peak_mib = 500"), [1, 0]);
}

#[test]
fn a_bound_that_a_convention_explains_is_not_told() {
    let told = |method: &str, figures: &str| {
        assert_eq!(room(method, figures, AuditVerdict::Contradicted), Vec::<String>::new());
        room(method, figures, AuditVerdict::CannotTell).len()
    };
    let unknown = WRK.replace("streams = 1\n", "");
    assert_eq!(told(&unknown, "throughput_rps = 10000\nlatency_min_ms = 22"), 1, "pipelining");
    let waits = "tool = \"wrk\"\nduration = \"30s\"\ntimeout = \"20s\"";
    assert_eq!(told(waits, "latency_max_s = 40"), 1, "a tool that waits for the last request");
    let shared = format!("{WRK}\nsubject-memory = \"512MiB\"");
    assert_eq!(told(&shared, "memory_peak_mib = 600"), 1, "shared pages of several processes");
    let probe = "tool = \"a lab of our own\"\nrtt = \"30ms\"";
    assert_eq!(told(probe, "latency_p50_ms = 20"), 1, "a probe apart from the server");
    assert_eq!(
        told(
            &format!("{WRK}\nloop = \"open\"").replace("loop = \"closed\"\n", ""),
            "throughput_rps = 10000\nlatency_min_ms = 22"
        ),
        0
    );
    assert_eq!(told(&format!("{WRK}\nwarmup = \"10s\""), "throughput_rps = 1000\nrequests = 39000"), 0);
}
