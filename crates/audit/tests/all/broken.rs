//! Tables with one thing wrong each: exactly the law that forbids it contradicts them.

use crate::invented;

use invented::{OF_FIGURES, contradicting, of_verdict, table};
use tolok_audit::{AuditVerdict, Law};

const WRK: &str = "tool = \"wrk\"\nloop = \"closed\"\nconnections = 200\nduration = \"30s\"\nkeep-alive = true";
const K6: &str = "tool = \"k6\"\nloop = \"closed\"\nconnections = 300\nduration = \"390s\"\nthink-time = \"0s\"";

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
    assert_eq!(against(WRK, &mean("20.6")), [], "3 % and what was under way at the start");
    assert_eq!(against(WRK, &mean("21.0")), [Law::LittlesLaw]);
    insta::assert_snapshot!(sentence(WRK, &mean("31.0")), @"At 10,000/s, 200 users wait 20 ms for an answer on average at most, so 31.0 ms is not the mean response time of these answers.");
    let paused = format!("{WRK}\nthink-time = \"5ms\"");
    assert_eq!(against(&paused, &mean("20.0")), [Law::LittlesLaw], "a pause leaves less to wait");
}

#[test]
fn what_the_mean_law_needs_and_does_not_get() {
    let open = WRK.replace("closed", "open");
    assert_eq!(against(&open, "throughput_rps = 10000\nlatency_mean_ms = 31.0"), []);
    let short = WRK.replace("duration = \"30s\"\n", "");
    assert_eq!(against(&short, "throughput_rps = 10000\nlatency_mean_ms = 31.0"), [], "how long was the run?");
    assert_eq!(against(&short, "throughput_rps = 10000\nrequests = 300000\nlatency_mean_ms = 31.0"), [Law::LittlesLaw]);
    let failing = "throughput_rps = 10000\nerror_rate_percent = 60\nlatency_mean_ms = 31.0";
    assert_eq!(against(WRK, failing), [], "the mean may be that of the good answers");
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

#[test]
fn answers_that_do_not_account_for_the_users() {
    let of = |p95| format!("throughput_rps = 100.0\nlatency_p95_ms = {p95}\nlatency_max_ms = 3000");
    let k6 = format!("{K6}\nramp = false");
    assert_eq!(against(&k6, &of("3000")), []);
    assert_eq!(against(&k6, &of("2800")), [], "a tenth is left to the generator");
    assert_eq!(against(&k6, &of("1000")), [Law::Order]);
    insta::assert_snapshot!(sentence(&k6, &of("1000")), @"100 answers a second, none of which took longer than 3000 ms, account for at most 111 of 300 users on average.");
    let paused = k6.replace("\"0s\"", "\"2s\"");
    assert_eq!(against(&paused, &of("1000")), [], "they pause");
    assert_eq!(against(&k6.replace("think-time = \"0s\"\n", ""), &of("1000")), [], "they may have paused");
    let ramp = format!("{K6}\nramp = true");
    insta::assert_snapshot!(sentence(&ramp, "throughput_rps = 2.15\nlatency_p95_s = 119.0"), @"2.15 answers a second, 95% of them within 119.0 s, account for at most 289 of 300 users on average, even if each of the slowest 5% had taken the whole run of 390 s and the 30 s in which k6 lets requests end.");
    let unknown_end = K6.replace("duration = \"390s\"", "");
    assert_eq!(
        against(&unknown_end, "throughput_rps = 100.0\nlatency_p95_ms = 1000"),
        [],
        "the slowest 5 % may be slow"
    );
}

#[test]
fn times_at_and_beyond_the_time_out() {
    let of = |max, timeouts| format!("throughput_rps = 1000\nlatency_max_ms = {max}\ntimeouts = {timeouts}");
    assert_eq!(against(WRK, &of("700", 0)), []);
    assert_eq!(against(WRK, &of("2000.00", 0)), [], "near the default, but nothing says that it was reached");
    assert_eq!(against(WRK, &of("2000.00", 60)), [Law::Censoring]);
    assert_eq!(against(WRK, &of("700", 60)), [Law::Censoring], "some waited 2 s");
    let stated = format!("{WRK}\ntimeout = \"1s\"");
    assert_eq!(against(&stated, &of("1000", 0)), [Law::Censoring]);
    assert_eq!(against(&stated, &of("1500", 0)), [Law::Censoring]);
    insta::assert_snapshot!(sentence(WRK, &of("2000.00", 60)), @"60 requests timed out after 2 s, so the longest wait was not 2000.00 ms, and its length is unknown.");
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
    assert_eq!(contradicting(&unknown, OF_FIGURES), [], "its rate may be of good answers");
    insta::assert_snapshot!(of_verdict(&two(many, few), AuditVerdict::Contradicted)[0].sentence, @"red gives the most answers (500/s), but 80% of them failed: it gives 100/s that are good, and blue gives 300/s. wrk counts failed answers in its rate.");
}

#[test]
fn requests_that_do_not_fit_throughput_and_time() {
    assert_eq!(against(WRK, "throughput_rps = 1000\nrequests = 30041"), []);
    assert_eq!(against(WRK, "throughput_rps = 1000\nrequests = 36000"), [Law::Totals]);
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
    assert_eq!(two("2.04", "1.41"), [], "nobody says that headers are equal");
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
    assert_eq!(against(WRK, "cpu_percent = 50\nthroughput_rps = 1000\ncpu_per_request_us = 500"), [], "50 % of what?");
    insta::assert_snapshot!(sentence(&of_core, "cpu_percent = 600\nthroughput_rps = 1000"), @"More CPUs are in use (6) than there are (4).");
    insta::assert_snapshot!(sentence(&of_machine, "cpu_percent = 50\nthroughput_rps = 1000\ncpu_per_request_us = 500"), @"CPU in use and throughput make 2 ms a request, and not 500 µs.");
}

#[test]
fn a_claim_on_shares_of_cpu_that_cpu_times_turn_around() {
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
    assert_eq!(contradicting(&invented::read(&claim("0.7")), &[Law::CpuTime]), [], "another size is no contradiction");
}

#[test]
fn shares_that_are_too_large_or_do_not_fit_each_other() {
    let k6 = format!("{K6}\nramp = true");
    assert_eq!(against(&k6, "error_rate_percent = 70.38\nhttp_fail_rate_percent = 70.38"), []);
    assert_eq!(against(&k6, "error_rate_percent = 1.2\nhttp_fail_rate_percent = 3.4"), [Law::Percentages]);
    assert_eq!(against(&k6, "error_rate_percent = 103"), [Law::Percentages]);
    assert_eq!(against(&k6, "requests = 100\nfailures = 120"), [Law::Percentages]);
    assert_eq!(against(WRK, "requests = 100\nfailures = 120"), [], "sockets that could not connect are no answers");
    assert_eq!(against(&k6, "requests = 1000\nfailures = 50\nerror_rate_percent = 5.0"), []);
    assert_eq!(against(&k6, "requests = 950\nfailures = 50\nerror_rate_percent = 5.0"), []);
    assert_eq!(against(&k6, "requests = 1000\nfailures = 50\nerror_rate_percent = 0.5"), [Law::Percentages]);
    insta::assert_snapshot!(sentence(&k6, "error_rate_percent = 1.2\nhttp_fail_rate_percent = 3.4"), @"3.4% failed as HTTP, but only 1.2% have an error: every failure is an error.");
}
