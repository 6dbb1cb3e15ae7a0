//! Small tables like real ones: sound ones, and ones with a single planted flaw.
//!
//! A table is a line: its method, then its rows, each a subject and its keys. Rows belong to one table and setting
//! unless they say otherwise.

mod sound;

use crate::reading;

use reading::{all, claim};
use sound::SOUND;
use tolok_audit::AuditVerdict::{CannotTell, Contradicted, FewerUsers};
use tolok_audit::{AuditFinding, AuditVerdict, Law};

/// Turns `key=value key=value` into lines of TOML, and quotes text.
fn keys(pairs: &str) -> String {
    let is_bare =
        |value: &str| value.parse::<f64>().is_ok() || value.starts_with('[') || ["true", "false"].contains(&value);
    let line = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap_or_else(|| panic!("{pair} is not of the form key=value"));
        if is_bare(value) { format!("{key} = {value}\n") } else { format!("{key} = \"{value}\"\n") }
    };
    pairs.split_whitespace().map(line).collect()
}

/// A transcription of `method`, of `rows` separated by semicolons, and of claims.
fn text(method: &str, rows: &str, claims: &str) -> String {
    let row = |row: &str| {
        let (subject, rest) = row.trim().split_once(' ').unwrap_or_else(|| panic!("{row} has no figures"));
        let own = |key: &str| rest.split_whitespace().any(|pair| pair.starts_with(key));
        let table = if own("table=") { "" } else { "table = \"Table 1\"\n" };
        let scenario = if own("scenario=") { "" } else { "scenario = \"s\"\n" };
        format!("[[row]]\nsubject = \"{subject}\"\nraw = \"x\"\n{table}{scenario}{}", keys(rest))
    };
    let rows: String = rows.split(';').map(row).collect();
    let settings: String = ["s", "t", "u"]
        .map(|name| format!("[[scenario]]\nname = \"{name}\"\ntitle = \"setting {name}\"\nraw = \"x\"\n"))
        .concat();
    format!("[method]\n{}{settings}{rows}{claims}", keys(method))
}

/// The findings that accuse a table.
fn accusations(findings: &[AuditFinding]) -> Vec<(Law, &str)> {
    let is_one = |finding: &&AuditFinding| matches!(finding.verdict, Contradicted | FewerUsers);
    findings.iter().filter(is_one).map(|finding| (finding.law, finding.sentence.as_str())).collect()
}

#[test]
fn no_sound_table_is_accused() {
    let accused = SOUND.iter().filter_map(|[what, method, rows]| {
        let findings = all(&text(method, rows, ""));
        let accusations = accusations(&findings);
        (!accusations.is_empty()).then(|| format!("{what}: {accusations:?}"))
    });
    assert_eq!(accused.collect::<Vec<_>>(), Vec::<String>::new());
}

/// A flaw; the law and verdict that detect it, and a word of the finding; method and rows.
type Planted = (&'static str, Law, AuditVerdict, &'static str, [&'static str; 2]);

const PLANTED: &[Planted] = &[
    (
        "the mean is that of another run",
        Law::LittlesLaw,
        Contradicted,
        "at most",
        [
            "tool=k6 loop=closed connections=50 think-time=0s streams=1 duration=60s timeout=1s",
            "a throughput_rps=5000 latency_mean_ms=25",
        ],
    ),
    (
        "wrk adds invented times to its mean",
        Law::LittlesLaw,
        Contradicted,
        "at most",
        [
            "tool=wrk connections=100 streams=1 duration=30s",
            "a throughput_rps=20000 latency_mean_ms=9.8 latency_max_ms=900",
        ],
    ),
    (
        "users cannot pause so long at such a rate",
        Law::LittlesLaw,
        Contradicted,
        "at most",
        [
            "tool=k6 loop=closed connections=100 think-time=1s streams=1 duration=60s",
            "a throughput_rps=140 latency_mean_ms=120 latency_max_ms=200",
        ],
    ),
    (
        "pauses alone are longer than users have",
        Law::LittlesLaw,
        Contradicted,
        "pause",
        [
            "tool=k6 loop=closed connections=100 think-time=2s streams=1 duration=60s",
            "a throughput_rps=90 latency_mean_ms=105 latency_max_ms=200",
        ],
    ),
    (
        "sixteen times the possible, and no word of pipelining",
        Law::LittlesLaw,
        CannotTell,
        "pipelining",
        ["tool=wrk connections=64 duration=15s", "a throughput_rps=1200000 latency_mean_ms=0.85"],
    ),
    (
        "more than pipelining allows",
        Law::LittlesLaw,
        Contradicted,
        "at most",
        ["tool=wrk connections=64 streams=16 duration=15s", "a throughput_rps=1200000 latency_mean_ms=1.7"],
    ),
    (
        "one of three runs breaks the law",
        Law::LittlesLaw,
        Contradicted,
        "at most",
        [
            "tool=wrk connections=100 streams=1 duration=30s repetitions=3",
            "a throughput_rps=[9800,9900,9850] latency_mean_ms=[10.2,15.1,10.1]",
        ],
    ),
    (
        "means over runs that would have to differ fivefold",
        Law::LittlesLaw,
        CannotTell,
        "times as fast as another",
        ["tool=wrk connections=100 streams=1 duration=30s repetitions=3", "a throughput_rps=9850 latency_mean_ms=18"],
    ),
    (
        "a fifth of the users, by the mean",
        Law::LittlesLaw,
        FewerUsers,
        "21 of them",
        ["tool=ab connections=100 keep-alive=true", "a throughput_rps=1000 latency_mean_ms=20"],
    ),
    (
        "half of the users, by percentiles",
        Law::Order,
        FewerUsers,
        "account for",
        [
            "tool=k6 loop=closed connections=300 think-time=0s ramp=false duration=60s",
            "a throughput_rps=100 latency_p95_ms=1000 latency_max_ms=1500",
        ],
    ),
    ("p50 above p95", Law::Order, Contradicted, "above", ["tool=wrk", "a latency_p50_ms=12 latency_p95_ms=9"]),
    ("p99.9 below p99", Law::Order, Contradicted, "above", ["tool=wrk2", "a latency_p99_ms=120 latency_p999_ms=12.1"]),
    (
        "milliseconds in a column of seconds",
        Law::Order,
        Contradicted,
        "above",
        ["tool=hey", "a latency_mean_ms=48 latency_p95_s=71.5 latency_max_ms=190"],
    ),
    (
        "a mean below the minimum",
        Law::Order,
        Contradicted,
        "mean",
        ["tool=vegeta", "a latency_min_ms=5.2 latency_mean_ms=4.9 latency_max_ms=90"],
    ),
    (
        "a mean that the percentiles do not reach",
        Law::Order,
        Contradicted,
        "allow",
        ["tool=wrk", "a latency_mean_ms=9.0 latency_p50_ms=2 latency_p99_ms=5 latency_max_ms=30"],
    ),
    (
        "a standard deviation beyond half of the range",
        Law::Order,
        Contradicted,
        "sd",
        ["tool=hyperfine", "a time_mean_ms=100 time_sd_ms=15 time_min_ms=90 time_max_ms=110 runs=10"],
    ),
    (
        "more memory on average than at its peak",
        Law::Order,
        Contradicted,
        "above",
        ["tool=wrk", "a memory_mean_mb=120 memory_peak_mb=95"],
    ),
    (
        "p99 is the mean in every row: a mean of percentiles, or a copied column",
        Law::Duplicates,
        Contradicted,
        "p99",
        [
            "tool=oha requests=10000",
            "a latency_mean_ms=12.41 latency_p99_ms=12.41; b latency_mean_ms=8.37 latency_p99_ms=8.37; c latency_mean_ms=3.12 latency_p99_ms=3.12; d latency_mean_ms=21.9 latency_p99_ms=21.9; e latency_mean_ms=5.55 latency_p99_ms=5.55; f latency_mean_ms=4.05 latency_p99_ms=4.05; g latency_mean_ms=17.3 latency_p99_ms=17.3; h latency_mean_ms=9.91 latency_p99_ms=9.91; i latency_mean_ms=6.28 latency_p99_ms=6.28; j latency_mean_ms=2.64 latency_p99_ms=2.64",
        ],
    ),
    (
        "a maximum below the time-out that some requests reached",
        Law::Censoring,
        Contradicted,
        "timed out",
        ["tool=wrk connections=100 latency-of=all duration=30s", "a throughput_rps=900 timeouts=41 latency_max_ms=612"],
    ),
    (
        "a time beyond the time-out",
        Law::Censoring,
        Contradicted,
        "beyond",
        ["tool=k6 loop=closed connections=50 timeout=5s", "a throughput_rps=9 latency_p95_s=29"],
    ),
    (
        "the longest time is where k6 gives up, and requests failed",
        Law::Censoring,
        CannotTell,
        "gives answers up",
        ["tool=k6 loop=closed connections=50", "a throughput_rps=9 latency_max_s=60.0 failures=13 requests=900"],
    ),
    (
        "two percentiles end at the same limit, which is not stated",
        Law::Censoring,
        CannotTell,
        "time-out",
        [
            "tool=k6 loop=closed connections=50",
            "a throughput_rps=9 latency_p95_s=119; b throughput_rps=12 latency_p95_s=119",
        ],
    ),
    (
        "errors are answered fast, and win",
        Law::Goodput,
        Contradicted,
        "failed",
        [
            "tool=k6 loop=closed connections=50",
            "a throughput_rps=900 http_fail_rate_percent=97; b throughput_rps=300 http_fail_rate_percent=0",
        ],
    ),
    (
        "the same by counts",
        Law::Goodput,
        Contradicted,
        "failed",
        [
            "tool=hey connections=50",
            "a throughput_rps=900 requests=9000 failures=8700; b throughput_rps=300 requests=3000 failures=0",
        ],
    ),
    (
        "more correct responses than answers a second",
        Law::Room,
        Contradicted,
        "more correct",
        ["tool=oha", "a throughput_rps=900 goodput_rps=1000"],
    ),
    (
        "more correct responses than requests",
        Law::Room,
        Contradicted,
        "more than the",
        ["tool=vegeta", "a requests=900 successes=1000"],
    ),
    (
        "correct responses that the failed share does not leave",
        Law::Room,
        Contradicted,
        "leave",
        ["tool=k6", "a throughput_rps=1000 error_rate_percent=10 goodput_rps=700"],
    ),
    (
        "correct and failed ones are not all",
        Law::Room,
        CannotTell,
        "neither correct nor failed",
        ["tool=vegeta loop=open duration=30s", "a requests=30000 successes=25000 failures=1000"],
    ),
    (
        "the rate of a run of another length",
        Law::Totals,
        Contradicted,
        "take",
        ["tool=wrk duration=30s", "a throughput_rps=1000 requests=60050"],
    ),
    (
        "KiB printed as kB: bytes and bandwidth disagree by 5%",
        Law::Room,
        Contradicted,
        "take",
        ["tool=wrk duration=30s", "a throughput_rps=1000 bandwidth_kib_s=1024 transferred_mb=30.00"],
    ),
    (
        "bytes of a run are not those of its answers",
        Law::Bytes,
        CannotTell,
        "less than a body",
        ["tool=wrk duration=30s", "a requests=1000000 transferred_mb=100 body_kb=1"],
    ),
    (
        "a gigabyte a second through a gigabit",
        Law::Bytes,
        Contradicted,
        "network carries",
        ["tool=wrk link=1Gbit/s duration=30s", "a throughput_rps=10000 bandwidth_mb_s=1000"],
    ),
    (
        "six CPUs of four",
        Law::CpuTime,
        Contradicted,
        "More CPUs",
        ["tool=wrk cpu-scope=core subject-cpus=4", "a throughput_rps=1000 cpu_percent=612"],
    ),
    (
        "CPU time of a request that is not the quotient",
        Law::CpuTime,
        Contradicted,
        "a request",
        ["tool=wrk cpu-scope=core subject-cpus=4", "a throughput_rps=1000 cpu_percent=200 cpu_per_request_us=900"],
    ),
    (
        "one worker on four CPUs",
        Law::CpuTime,
        CannotTell,
        "stated to serve",
        ["tool=wrk cpu-scope=core subject-cpus=4 subject-workers=1", "a throughput_rps=53446 cpu_percent=383"],
    ),
    (
        "more than all requests failed",
        Law::Percentages,
        Contradicted,
        "more than all",
        ["tool=k6", "a requests=3000 error_rate_percent=103"],
    ),
    (
        "a share that is not that of its counts",
        Law::Percentages,
        Contradicted,
        "not",
        ["tool=k6", "a requests=3000 failures=300 error_rate_percent=1.0"],
    ),
    (
        "failed as HTTP and no error",
        Law::Percentages,
        Contradicted,
        "every failure",
        ["tool=k6", "a error_rate_percent=1.0 http_fail_rate_percent=4.0"],
    ),
    (
        "a mean of three counts that is no third",
        Law::Grim,
        Contradicted,
        "",
        ["tool=wrk repetitions=3", "a timeouts=12.50"],
    ),
    (
        "four values for five repetitions",
        Law::Repetitions,
        Contradicted,
        "repetitions",
        ["tool=wrk repetitions=5 duration=30s", "a requests=[100,120,110,130]"],
    ),
    (
        "a rate that falls from run to run",
        Law::Repetitions,
        CannotTell,
        "falls",
        ["tool=wrk repetitions=6 duration=30s", "a throughput_rps=[990,940,900,860,810,790]"],
    ),
    (
        "faster than the way there and back",
        Law::Room,
        Contradicted,
        "round trip",
        ["tool=wrk connections=100 streams=1 rtt=100ms duration=30s", "a throughput_rps=5000"],
    ),
    (
        "an answer before the packet returns",
        Law::Room,
        Contradicted,
        "sooner",
        ["tool=wrk connections=100 streams=1 rtt=100ms duration=30s", "a latency_mean_ms=20"],
    ),
    (
        "an answer that took longer than the run and its grace",
        Law::Room,
        Contradicted,
        "longer than the run",
        ["tool=wrk connections=10 duration=30s", "a latency_max_s=95"],
    ),
    (
        "more time-outs than users could wait for",
        Law::Room,
        Contradicted,
        "of waiting",
        ["tool=wrk connections=10 streams=1 duration=30s timeout=2s", "a throughput_rps=100 timeouts=900"],
    ),
    (
        "more answered than asked",
        Law::Room,
        Contradicted,
        "offered",
        ["tool=vegeta loop=open duration=30s", "a offered_rps=1000 throughput_rps=1400"],
    ),
    (
        "CPU time for more CPUs than there are",
        Law::Room,
        Contradicted,
        "CPUs",
        ["tool=wrk subject-cpus=2 duration=30s", "a throughput_rps=40000 cpu_per_request_us=120"],
    ),
    (
        "more memory than the limit",
        Law::Room,
        Contradicted,
        "limit",
        ["tool=wrk subject-workers=1 subject-memory=512MB duration=30s", "a memory_peak_mb=700"],
    ),
    (
        "correct and failed ones are more than all",
        Law::Room,
        Contradicted,
        "more than all",
        ["tool=vegeta loop=open duration=30s", "a requests=30000 successes=29500 failures=1000"],
    ),
    (
        "nearly all of the memory",
        Law::Room,
        CannotTell,
        "limit may be",
        ["tool=time subject-workers=1 subject-memory=2GB", "a memory_peak_mb=1807.570"],
    ),
    (
        "a program that computes, on a third of a CPU",
        Law::CpuTime,
        CannotTell,
        "stood still",
        ["tool=hyperfine cpu-scope=core", "a time_mean_s=6.9 cpu_percent=37; b time_mean_s=4.2 cpu_percent=98"],
    ),
    (
        "as many time-outs in each run",
        Law::Repetitions,
        CannotTell,
        "same requests fail",
        ["tool=wrk connections=1000 repetitions=5 duration=20s", "a timeouts=[488,488,501,488,488]"],
    ),
    (
        "a small file more slowly than a large one",
        Law::Work,
        CannotTell,
        "gives fewer responses",
        [
            "tool=wrk connections=100 duration=30s",
            "a scenario=s work=10kB throughput_rps=951; a scenario=t work=1MB throughput_rps=9040",
        ],
    ),
    (
        "a summary that is not the detail",
        Law::Claims,
        CannotTell,
        "does not say why",
        [
            "tool=wrk connections=100 duration=30s",
            "a throughput_rps=19876.3; b throughput_rps=9950.2; a table=Summary throughput_rps=21876.3",
        ],
    ),
    (
        "a summary of runs of another length, which cannot be compared",
        Law::Claims,
        CannotTell,
        "were not compared",
        [
            "tool=wrk connections=100",
            "a duration=30s latency_mean_ms=12.1; a table=Summary duration=60s latency_mean_ms=15.4",
        ],
    ),
    (
        "a summary of a run that was a little longer",
        Law::Claims,
        CannotTell,
        "15.4 ms",
        [
            "tool=wrk connections=100",
            "a duration=30s latency_mean_ms=12.1; a table=Summary duration=30.08s latency_mean_ms=15.4",
        ],
    ),
];

#[test]
fn every_planted_flaw_is_found() {
    let missed = PLANTED.iter().filter_map(|(what, law, verdict, word, [method, rows])| {
        let findings = all(&text(method, rows, ""));
        let says = |it: &AuditFinding| it.law == *law && it.verdict == *verdict && format!("{it:?}").contains(word);
        let of_law = findings.iter().filter(|it| it.law == *law).map(|it| format!("{:?}: {}", it.verdict, it.sentence));
        (!findings.iter().any(says)).then(|| format!("{what}: {:?}", of_law.collect::<Vec<_>>()))
    });
    assert_eq!(missed.collect::<Vec<_>>(), Vec::<String>::new());
}

/// A claim about two rows, and its verdict.
const TEXTS: &[(&str, AuditVerdict, &str)] = &[
    ("three times, of twice", Contradicted, "a={subject=\"a\"} b={subject=\"b\"} ratio=3"),
    ("as fast as, of 14 % more", Contradicted, "a={subject=\"b\"} b={subject=\"c\"} ratio=1"),
    ("the fastest is another", Contradicted, "highest=b"),
    ("an order that is another", Contradicted, "order=[\"b\",\"a\"]"),
    ("more by half", Contradicted, "a={subject=\"a\"} b={subject=\"b\"} difference=5000"),
    ("a value that no row has", Contradicted, "at={subject=\"a\"} value=21000"),
];

/// Three sentences that moving one subject in the table would fix, and one that it would not.
#[test]
fn who_is_put_last_in_three_sentences_is_told_once() {
    let of = |id: &str, asserts: &str| {
        format!("[[claim]]\nid = \"{id}\"\nsays = \"{id}\"\nraw = \"{id}\"\nfigure = \"throughput_rps\"\n{asserts}\n")
    };
    let claims = of("php last", "order = [\"go\", \"bun\", \"php\"]")
        + &of("php lowest", "lowest = \"php\"")
        + &of("php lowest in s", "at = { scenario = \"s\" }\nlowest = \"php\"")
        + &of("bun first", "highest = \"bun\"");
    let rows = "go throughput_rps=19.3; bun throughput_rps=2.75; php throughput_rps=3.5";
    let findings = all(&text("tool=k6", rows, &claims));
    let about: Vec<&str> =
        findings.iter().filter(|it| it.verdict == Contradicted).map(|it| it.about.as_str()).collect();
    assert_eq!(about, ["php last; php lowest; php lowest in s", "bun first"]);
}

#[test]
fn a_text_that_its_table_does_not_have_is_found() {
    for (what, verdict, asserts) in TEXTS {
        let lines = asserts.replace("} ", "}\n").replace("={", " = {").replace(" ratio=", "\nratio = ");
        let bare = |line: &str| line.replace("highest=b", "highest = \"b\"");
        let claim = claim(&format!("figure = \"throughput_rps\"\n{}", bare(&lines)));
        let findings =
            all(&text("tool=wrk", "a throughput_rps=20000; b throughput_rps=10000; c throughput_rps=8800", &claim));
        let found: Vec<AuditVerdict> =
            findings.iter().filter(|it| it.law == Law::Claims).map(|it| it.verdict).collect();
        assert!(found.contains(verdict), "{what}: {found:?}");
    }
}
