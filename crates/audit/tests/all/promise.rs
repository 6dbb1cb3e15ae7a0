//! The promise of an audit, on tables of many kinds: nothing sound is contradicted, and each planted flaw is found.
//!
//! The tables are CSV, as people have them who audit their own. They are invented, with figures that the named tools
//! could print.

use tolok_audit::{AuditVerdict, Law, audit};
use tolok_model::transcription::{Conditions, CsvOptions, Transcription};

/// The conditions of a table, as options of `tolok audit`.
type Method = &'static [&'static str];

const WRK: Method = &["tool=wrk", "connections=100", "duration=30s"];
const K6: Method = &["tool=k6", "loop=closed", "connections=50", "duration=60s"];
const AB: Method = &["tool=ApacheBench", "connections=10", "keep-alive=false"];
const HEY: Method = &["tool=hey", "connections=50"];
const VEGETA: Method = &["tool=vegeta", "loop=open", "duration=60s"];
const HYPERFINE: Method = &["tool=hyperfine"];

/// What is wrong in a table, including fewer users than stated: the law, and the sentence.
fn contradicted(method: Method, table: &str) -> Vec<(Law, String)> {
    let conditions = Conditions::from_options(method).unwrap_or_else(|problem| panic!("{problem}"));
    let options = CsvOptions {
        key: "invented".to_owned(),
        conditions,
        repetitions: method.contains(&"repetitions=3"),
        ..CsvOptions::default()
    };
    let transcription =
        Transcription::read_csv(table, &options).unwrap_or_else(|problems| panic!("{problems:?}\n{table}"));
    let findings = audit(&transcription).findings.into_iter();
    findings
        .filter(|finding| matches!(finding.verdict, AuditVerdict::Contradicted | AuditVerdict::FewerUsers))
        .map(|finding| (finding.law, finding.sentence))
        .collect()
}

/// Sound tables: what makes each of them look odd, its method, the table.
const SOUND: &[(&str, Method, &str)] = &[
    (
        "wrk: the mean is connections over throughput, with the digits of wrk",
        WRK,
        "subject,throughput_rps,latency_mean_ms,latency_sd_ms,latency_max_ms,requests,bandwidth_mib_s\n\
         go,51234.56,1.95,0.81,38.12,1539087,6.25\nnode,21876.10,4.57,1.20,61.40,657379,3.30\n",
    ),
    (
        "wrk runs a tenth of a second too long",
        &["tool=wrk", "connections=2", "duration=2s"],
        "subject,throughput_rps,requests,latency_p50_us,latency_p99_us,latency_max_ms\na,13104.69,27519,171,293,3.89\n",
    ),
    (
        "three runs that differ fivefold, each of which obeys Little's law",
        &["tool=wrk", "connections=50", "duration=30s", "repetitions=3"],
        "subject,throughput_rps,latency_mean_ms\na,1000,50\na,5000,10\na,2500,20\n",
    ),
    (
        "means over three runs, whose own figures are not printed",
        &["tool=k6", "loop=closed", "think-time=0s", "connections=50", "duration=60s", "repetitions=3"],
        "subject,throughput_rps,latency_mean_ms\na,2833,26.7\n",
    ),
    (
        "wrk: late answers are in no time, so most connections seem idle",
        WRK,
        "subject,throughput_rps,latency_p50_ms,latency_p99_ms,latency_max_ms\nslow,7.24,0.074,0.92,0.92\n",
    ),
    (
        "wrk: headers make one answer half as long again",
        WRK,
        "subject,throughput_rps,bandwidth_mb_s,failures\nrust,80000,9.6,0\nphp,20000,4.8,0\n",
    ),
    (
        "k6: users pause for a second, and nobody says so",
        K6,
        "subject,throughput_rps,requests,latency_mean_ms,latency_p95_ms,latency_max_ms,http_fail_rate_percent\n\
         go,47.6,2870,48.1,71.5,190.3,0.00\nbun,47.9,2889,41.9,63.0,166.0,0.00\n",
    ),
    (
        "k6: a ramp from nothing to all users",
        &["tool=k6", "loop=closed", "connections=200", "ramp=true", "duration=120s"],
        "subject,throughput_rps,requests,latency_mean_ms,latency_p95_ms,latency_max_ms\ngo,1900,228010,52,98,310\n",
    ),
    (
        "k6: the last requests are waited for, so that the run is longer than stated",
        K6,
        "subject,requests,throughput_rps,latency_p95_s\nslow,100,1.2,29.5\n",
    ),
    (
        "k6: a tenth timed out after the second that it was told",
        &["tool=k6", "loop=closed", "connections=2", "think-time=0s", "timeout=60s"],
        "subject,throughput_rps,requests,http_fail_rate_percent,latency_mean_ms,latency_p90_ms,latency_max_s\n\
         slow,19.88,20,10,100.43,101.5,1\n",
    ),
    (
        "an open loop: many wait at a time, more than there are workers",
        VEGETA,
        "subject,throughput_rps,requests,latency_mean_ms,latency_p50_ms,latency_p95_ms,latency_p99_ms,latency_max_ms\n\
         go,1000.0,60000,2.31,1.9,4.4,12.0,88.0\nphp,998.2,60000,2480.0,1900,6100,7400,8800\n",
    ),
    (
        "ab: percentiles in whole milliseconds, means in thousandths",
        AB,
        "subject,throughput_rps,latency_mean_ms,latency_p50_ms,latency_p90_ms,latency_p99_ms,latency_max_ms\n\
         apache,2523.66,3.963,4,5,8,12\n",
    ),
    (
        "ab: pages of differing length are failed in its count, but good",
        AB,
        "subject,throughput_rps,requests,failures\ndynamic,2500,10000,9801\nstatic,1800,10000,0\n",
    ),
    (
        "hey: a rate with errors in it, times without them",
        HEY,
        "subject,throughput_rps,requests,failures,latency_mean_ms,latency_p95_ms,latency_max_ms\n\
         slow,9.9754,20,2,0.3,1.2,1.2\n",
    ),
    (
        "two digits are all that is printed",
        K6,
        "subject,throughput_rps,latency_mean_ms,error_rate_percent,requests,failures\n\
         a,9.9k,5,0.1,590k,400\nb,5.0k,10,0,300k,0\n",
    ),
    (
        "a mean in seconds, a percentile in milliseconds, a maximum in microseconds",
        WRK,
        "subject,latency_mean_s,latency_p99_ms,latency_max_us\na,0.01,14.7,21003\n",
    ),
    (
        "MiB in one column, MB in the other",
        WRK,
        "subject,throughput_rps,bandwidth_mib_s,body_bytes,memory_mean_mib,memory_peak_mb\na,10000,9.77,1000,100,105\n",
    ),
    (
        "CPU of all cores beside a rate, its time in whole microseconds",
        &["tool=wrk", "connections=100", "duration=30s", "cpu-scope=core", "subject-cpus=4"],
        "subject,throughput_rps,cpu_percent,cpu_per_request_us\ngo,40000,389,97\nnode,12000,101,84\n",
    ),
    (
        "shares cut off instead of rounded up",
        K6,
        "subject,requests,failures,error_rate_percent,http_fail_rate_percent\na,2870,2,0.07,0.07\nb,2400,2399,99.95,99.95\n",
    ),
    (
        "errors without a failed answer: checks of a script",
        K6,
        "subject,requests,error_rate_percent,http_fail_rate_percent\na,3000,12.4,0.0\n",
    ),
    (
        "three runs each, which differ",
        &["tool=wrk", "connections=64", "duration=10s", "repetitions=3"],
        "subject,throughput_rps,requests,latency_mean_ms\ngo,9800,98400,6.51\ngo,10100,101300,6.33\ngo,6900,69100,9.26\n",
    ),
    (
        "hyperfine: two runs, a wide one among ten",
        HYPERFINE,
        "subject,time_mean_ms,time_sd_ms,time_min_ms,time_max_ms,runs\nphp,101.2,14.1,91.2,111.2,2\nnode,44.7,6.3,41.9,62.6,10\n",
    ),
    (
        "h2load: ten streams on each connection",
        &["tool=h2load", "connections=10"],
        "subject,throughput_rps,latency_mean_ms,latency_max_ms\nnginx,40000,2.49,18.0\n",
    ),
    (
        "sizes of bodies are the same for all, because they were set",
        WRK,
        "subject,scenario,body_bytes,throughput_rps\n\
         a,1,112,90123\na,2,560,88110\na,3,1024,86544\na,4,5210,80121\na,5,12288,60145\na,6,51200,30001\na,7,102400,15022\na,8,534000,3011\n\
         b,1,112,70312\nb,2,560,69155\nb,3,1024,68001\nb,4,5210,66321\nb,5,12288,51266\nb,6,51200,28123\nb,7,102400,14912\nb,8,534000,2998\n",
    ),
    (
        "an open loop that everybody keeps up with: the rates are those that were asked for",
        VEGETA,
        "subject,scenario,throughput_rps,latency_p99_ms\n\
         a,1,100.0,2.11\na,2,250.0,2.54\na,3,500.0,2.93\na,4,1000.0,3.40\na,5,2500.0,5.07\na,6,4000.0,9.71\na,7,5000.0,14.20\na,8,7500.0,31.9\n\
         b,1,100.0,2.46\nb,2,250.0,2.61\nb,3,500.0,2.88\nb,4,1000.0,3.02\nb,5,2500.0,4.15\nb,6,4000.0,6.13\nb,7,5000.0,11.02\nb,8,7500.0,27.5\n",
    ),
    (
        "of fifty requests p99 is the maximum",
        HEY,
        "subject,requests,latency_p50_ms,latency_p99_ms,latency_max_ms\n\
         a,50,11.2,41.3,41.3\nb,50,12.9,55.1,55.1\nc,50,9.7,38.8,38.8\nd,50,14.0,60.2,60.2\n\
         e,50,21.5,92.7,92.7\nf,50,18.8,71.4,71.4\ng,50,16.3,66.6,66.6\nh,50,15.1,58.9,58.9\ni,50,17.7,69.1,69.1\n",
    ),
    (
        "two that are about equally fast, in whole milliseconds",
        AB,
        "subject,scenario,latency_p50_ms,latency_p90_ms\n\
         a,1,1,2\na,2,2,3\na,3,3,5\na,4,5,8\na,5,8,12\na,6,11,19\na,7,17,29\na,8,26,44\na,9,41,70\n\
         b,1,1,2\nb,2,2,3\nb,3,3,5\nb,4,5,8\nb,5,8,12\nb,6,11,19\nb,7,17,29\nb,8,26,44\nb,9,41,71\n",
    ),
    (
        "ab: as many requests for everybody",
        AB,
        "subject,scenario,requests,throughput_rps\n\
         a,1,1000,901\na,2,5000,912\na,3,10000,915\na,4,20000,911\na,5,50000,908\na,6,100000,902\na,7,200000,899\na,8,500000,890\n\
         b,1,1000,811\nb,2,5000,822\nb,3,10000,829\nb,4,20000,823\nb,5,50000,821\nb,6,100000,818\nb,7,200000,815\nb,8,500000,801\n",
    ),
    (
        "nothing failed, and somebody is fast beyond measure",
        WRK,
        "subject,throughput_rps,timeouts,failures,latency_p50_ms,latency_p99_ms\nzero,0,0,0,-,-\nfast,412345.6,0,0,0.21,0.9\n",
    ),
];

#[test]
fn nothing_sound_is_contradicted() {
    for (what, method, table) in SOUND {
        assert_eq!(contradicted(method, table), [], "{what}");
    }
}

/// Unsound tables: the flaw, the law that finds it, the method, the table.
const UNSOUND: &[(&str, Law, Method, &str)] = &[
    (
        "the mean is that of another run: 100 connections cannot wait so long",
        Law::LittlesLaw,
        &["tool=wrk", "connections=100", "duration=30s", "streams=1"],
        "subject,throughput_rps,latency_mean_ms,latency_max_ms\na,50000,4.9,60\nb,20000,5.0,60\n",
    ),
    (
        "seconds in a column of milliseconds",
        Law::Order,
        K6,
        "subject,latency_mean_ms,latency_p95_ms,latency_max_ms\na,48.1,0.0715,190.3\n",
    ),
    ("columns of p95 and p99 exchanged", Law::Order, WRK, "subject,latency_p95_ms,latency_p99_ms\na,12.9,8.8\n"),
    (
        "a mean above the maximum",
        Law::Order,
        VEGETA,
        "subject,latency_mean_ms,latency_min_ms,latency_max_ms\na,41.0,2.0,40.0\n",
    ),
    (
        "a mean below half of the median",
        Law::Order,
        WRK,
        "subject,latency_mean_ms,latency_p50_ms,latency_p99_ms\na,3.1,9.0,20.0\n",
    ),
    ("a rate per minute in a column per second", Law::Totals, K6, "subject,throughput_rps,requests\na,2856,2856\n"),
    ("requests of two runs, the rate of one", Law::Totals, WRK, "subject,throughput_rps,requests\na,1000,60050\n"),
    ("more failures than requests", Law::Percentages, K6, "subject,requests,failures\na,1000,1200\n"),
    (
        "a share as a fraction in a column of percent",
        Law::Percentages,
        K6,
        "subject,requests,failures,error_rate_percent\na,3000,2100,0.70\n",
    ),
    ("a share above all", Law::Percentages, K6, "subject,requests,error_rate_percent\na,3000,103.4\n"),
    (
        "failed as HTTP, but no error",
        Law::Percentages,
        K6,
        "subject,error_rate_percent,http_fail_rate_percent\na,1.00,4.00\n",
    ),
    (
        "the fastest answers with errors",
        Law::Goodput,
        K6,
        "subject,throughput_rps,http_fail_rate_percent\nphp,900,97.0\ngo,300,0.0\n",
    ),
    (
        "a gigabyte a second through a gigabit",
        Law::Bytes,
        &["tool=wrk", "connections=100", "duration=30s", "link=1Gbit/s"],
        "subject,throughput_rps,bandwidth_mb_s\na,10000,1000\n",
    ),
    (
        "bodies that do not fit the link",
        Law::Bytes,
        &["tool=k6", "loop=closed", "connections=50", "link=1Gbit/s", "body=1MB"],
        "subject,throughput_rps,http_fail_rate_percent\na,400,0\n",
    ),
    (
        "six CPUs in use of four",
        Law::CpuTime,
        &["tool=wrk", "connections=100", "cpu-scope=core", "subject-cpus=4"],
        "subject,throughput_rps,cpu_percent\na,1000,612\n",
    ),
    (
        "CPU time of a request in milliseconds, printed as microseconds",
        Law::CpuTime,
        &["tool=wrk", "connections=100", "cpu-scope=core", "subject-cpus=4"],
        "subject,throughput_rps,cpu_percent,cpu_per_request_us\na,1000,200,2\n",
    ),
    (
        "a maximum although requests timed out",
        Law::Censoring,
        &["tool=wrk", "connections=100", "duration=30s", "latency-of=all"],
        "subject,throughput_rps,timeouts,latency_max_ms\na,900,41,612.0\n",
    ),
    (
        "a time beyond the time-out",
        Law::Censoring,
        &["tool=k6", "loop=closed", "connections=50", "timeout=5s"],
        "subject,throughput_rps,latency_max_s\na,9,29.9\n",
    ),
    (
        "half of the users are missing",
        Law::Order,
        &["tool=k6", "loop=closed", "connections=300", "think-time=0s", "duration=60s"],
        "subject,throughput_rps,latency_p95_ms,latency_max_ms\na,100,900,1000\n",
    ),
    (
        "a standard deviation that ten values with these ends cannot have",
        Law::Order,
        HYPERFINE,
        "subject,time_mean_ms,time_sd_ms,time_min_ms,time_max_ms,runs\nphp,100.0,30.0,90.0,110.0,10\n",
    ),
    (
        "a mean of three counts that is no third",
        Law::Grim,
        &["tool=wrk", "duration=30s", "repetitions=3"],
        "subject,requests\na,12345.50\n",
    ),
    (
        "two subjects with the same eight measurements",
        Law::Duplicates,
        &[],
        "subject,scenario,throughput_rps\n\
         a,1,1021\na,2,2310\na,3,2987\na,4,4102\na,5,4876\na,6,6023\na,7,6911\na,8,7433\n\
         b,1,1021\nb,2,2310\nb,3,2987\nb,4,4102\nb,5,4876\nb,6,6023\nb,7,6911\nb,8,7433\n",
    ),
];

#[test]
fn each_planted_flaw_is_found_by_its_law() {
    for (what, law, method, table) in UNSOUND {
        let found = contradicted(method, table);
        assert!(found.iter().any(|(by, _)| by == law), "{what}: {found:?}");
    }
}

/// One flaw yields one sentence rather than a list of its consequences, unless several laws cover it.
#[test]
fn a_flaw_is_not_said_many_times() {
    let many = UNSOUND.iter().filter(|(_, _, method, table)| contradicted(method, table).len() > 2);
    assert_eq!(many.map(|(what, ..)| *what).collect::<Vec<_>>(), Vec::<&str>::new());
}
