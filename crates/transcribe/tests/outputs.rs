//! Turns recorded outputs into transcriptions, complete and cut off.

use std::fs;
use std::path::PathBuf;

use tolok_model::transcription::{Conditions, Transcription};
use tolok_transcribe::{Outputs, merge_repetitions, outputs, rows_in_toml, transcription};

/// An output that also tests the drivers of load generators.
fn recorded(name: &str) -> String {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/src"));
    fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// An output that only this crate reads, or a result file with invented figures in the format of a public benchmark.
fn own(name: &str) -> String {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded"));
    fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The generated rows, and the remarks.
fn told(text: &str) -> String {
    let Some(Outputs { rows, remarks }) = outputs(text, "alpha") else { return "(not known)\n".to_owned() };
    let remarks = remarks.iter().map(|remark| format!("! line {}: {}\n", remark.line, remark.text));
    let toml = rows_in_toml(&rows, &[]);
    transcription(&rows, "alpha", "alpha", &Conditions::default())
        .unwrap_or_else(|problems| panic!("{problems:?}\n{toml}"));
    format!("{}{toml}", remarks.collect::<String>())
}

macro_rules! snapshot {
    ($name:ident, $($text:expr),+) => {
        #[test]
        fn $name() {
            insta::assert_snapshot!([$(told($text)),+].join("\n────\n\n"));
        }
    };
}

snapshot!(
    wrk,
    &recorded("recorded/wrk/4.1.0-hello.txt"),
    &recorded("recorded/wrk/4.1.0-drop.txt"),
    &recorded("recorded/wrk/4.1.0-mixed.txt"),
    &recorded("recorded/wrk/documented-4.2.0.txt")
);
snapshot!(
    ab,
    &recorded("recorded/ab/2.3-slow.txt"),
    &recorded("recorded/ab/2.3-mixed.txt"),
    &recorded("recorded/ab/2.3-variable.txt"),
    &recorded("recorded/ab/2.3-gave-up.txt")
);
snapshot!(
    hey,
    &recorded("recorded/hey/0.1.5-hello.txt"),
    &recorded("recorded/hey/0.1.5-hang.txt"),
    &recorded("recorded/hey/0.1.5-mixed.txt"),
    &recorded("recorded/hey/0.1.5-refused.txt")
);
snapshot!(
    oha_json,
    &recorded("recorded/oha/1.16.0-mixed.json"),
    &recorded("recorded/oha/documented-1.9.0.json"),
    &recorded("recorded/oha/1.16.0-refused.json")
);
snapshot!(
    h2load,
    &recorded("recorded/h2load/1.52.0-number-hang.txt"),
    &recorded("recorded/h2load/1.52.0-rate.txt"),
    &recorded("recorded/h2load/1.52.0-refused.txt"),
    &recorded("recorded/h2load/documented-1.70.0.txt")
);
snapshot!(k6_json, &recorded("k6/recorded/constant-vus-1.8.1.json"), K6_EXPORT);
snapshot!(k6_text, K6_OLD, &own("k6-1.8.1.txt"));
snapshot!(oha_text, OHA);
snapshot!(wrk2, WRK2);
snapshot!(vegeta, VEGETA, VEGETA_JSON);
snapshot!(siege, SIEGE);
snapshot!(bombardier, BOMBARDIER, &BOMBARDIER.replace("connections", "connection(s)"));
snapshot!(
    results,
    &own("httparena.json"),
    &own("httparena-round.json"),
    &own("techempower.json"),
    &own("the-benchmarker.json"),
    &own("clickbench.json")
);
snapshot!(autocannon, AUTOCANNON, AUTOCANNON_JSON);
snapshot!(databases, PGBENCH, SYSBENCH);

/// From vegeta's README.
const VEGETA: &str = "Requests      [total, rate, throughput] 1200, 120.00, 65.87
Duration      [total, attack, wait]     10.094965987s, 9.949883921s, 145.082066ms
Latencies     [min, mean, 50, 95, 99, max]  90.438129ms, 113.172398ms, 108.272568ms, 140.18235ms, 247.771566ms, 1m2.5s
Bytes In      [total, mean]             3714690, 3095.57
Bytes Out     [total, mean]             0, 0.00
Success       [ratio]                   55.42%
Status Codes  [code:count]              0:535  200:665
Error Set:
Get http://localhost:6060: dial tcp 127.0.0.1:6060: connection refused
";

/// From vegeta's README.
const VEGETA_JSON: &str = r#"{"latencies":{"total":237119463,"mean":2371194,"50th":2854306,"90th":3228223,"99th":3530000,"max":3660505},
"bytes_in":{"total":606700,"mean":6067},"duration":9949883921,"wait":2000,"requests":100,"rate":10.05,"throughput":9.95,
"success":1,"status_codes":{"200":100}}
"#;

/// From `main` of siege 4.1, with an invented head.
const SIEGE: &str = "** SIEGE 4.1.7
** Preparing 25 concurrent users for battle.
The server is now under siege...
Lifting the server siege...
Transactions:\t\t    12345    hits
Availability:\t\t      100.00 %
Elapsed time:\t\t       29.55 secs
Data transferred:\t        8.24 MB
Response time:\t\t       59.72 ms
Transaction rate:\t      417.77 trans/sec
Throughput:\t\t        0.28 MB/sec
Concurrency:\t\t       24.95
Successful transactions:    12345
Failed transactions:\t        0
Longest transaction:\t     1230.00 ms
Shortest transaction:\t        0.12
";

/// From bombardier's README.
const BOMBARDIER: &str = "Bombarding http://127.0.0.1/ for 10s using 200 connections
[=========================================================================] 10s Done!
Statistics        Avg      Stdev        Max
  Reqs/sec      6607.00     524.56       7109
  Latency       29.86ms     5.36ms   305.02ms
  Latency Distribution
     50%    28.00ms
     99%    48.00ms
  HTTP codes:
    1xx - 0, 2xx - 66561, 3xx - 0, 4xx - 0, 5xx - 0
    others - 5
  Errors:
    dialing to the given TCP address timed out - 5
  Throughput:     3.06MB/s
";

/// From `printResult` of autocannon 8.
const AUTOCANNON: &str = "Running 10s test @ http://localhost:3000
100 connections with 10 pipelining factor

┌─────────┬──────┬──────┬───────┬──────┬─────────┬─────────┬──────────┐
│ Stat    │ 2.5% │ 50%  │ 97.5% │ 99%  │ Avg     │ Stdev   │ Max      │
├─────────┼──────┼──────┼───────┼──────┼─────────┼─────────┼──────────┤
│ Latency │ 0 ms │ 0 ms │ 0 ms  │ 1 ms │ 0.02 ms │ 0.16 ms │ 16.45 ms │
└─────────┴──────┴──────┴───────┴──────┴─────────┴─────────┴──────────┘
┌───────────┬─────────┬─────────┬─────────┬────────┬─────────┬────────┬─────────┐
│ Stat      │ 1%      │ 2.5%    │ 50%     │ 97.5%  │ Avg     │ Stdev  │ Min     │
├───────────┼─────────┼─────────┼─────────┼────────┼─────────┼────────┼─────────┤
│ Req/Sec   │ 20,623  │ 20,623  │ 25,583  │ 26,271 │ 25,131.2│ 1540.94│ 20,615  │
├───────────┼─────────┼─────────┼─────────┼────────┼─────────┼────────┼─────────┤
│ Bytes/Sec │ 2.29 MB │ 2.29 MB │ 2.84 MB │ 2.92 MB│ 2.79 MB │ 171 kB │ 2.29 MB │
└───────────┴─────────┴─────────┴─────────┴────────┴─────────┴────────┴─────────┘

Req/Bytes counts sampled once per second.
# of samples: 10

251k requests in 10.05s, 27.9 MB read
12 errors (3 timeouts)
";

/// From autocannon's description of its results.
const AUTOCANNON_JSON: &str = r#"{"url":"http://localhost:3000","connections":100,"pipelining":1,"duration":10.05,"errors":12,"timeouts":3,"non2xx":0,
"2xx":251312,"latency":{"average":0.02,"stddev":0.16,"min":0,"max":16.45,"p2_5":0,"p50":0,"p97_5":0,"p99":1,"totalCount":251312},
"requests":{"average":25131.2,"total":251312,"sent":251412},"throughput":{"average":2790000,"total":27900000}}
"#;

/// From PostgreSQL's documentation of pgbench.
const PGBENCH: &str = "transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
query mode: simple
number of clients: 10
number of threads: 1
maximum number of tries: 1
number of transactions per client: 1000
number of transactions actually processed: 10000/10000
number of failed transactions: 0 (0.000%)
latency average = 11.013 ms
latency stddev = 7.351 ms
initial connection time = 45.758 ms
tps = 896.967014 (without initial connection time)
";

/// From the samples in sysbench's documentation.
const SYSBENCH: &str = "sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)

Running the test with following options:
Number of threads: 16

SQL statistics:
    transactions:                        18092  (1807.54 per sec.)
    ignored errors:                      0      (0.00 per sec.)

General statistics:
    total time:                          10.0092s
    total number of events:              18092

Latency (ms):
         min:                                    3.09
         avg:                                    8.85
         max:                                   41.12
         95th percentile:                       13.22
         sum:                               160078.27

Threads fairness:
    events (avg/stddev):           1130.7500/13.39
    execution time (avg/stddev):   10.0049/0.00
";

/// From k6's documentation of `--summary-export`.
const K6_EXPORT: &str = r#"{"metrics":{"http_reqs":{"count":13442,"rate":224.019866},"vus_max":{"value":100,"min":100,"max":100},
"http_req_duration":{"avg":143.86,"min":101.2,"med":140.5,"max":1.5e3,"p(90)":160,"p(97.5)":181.25},
"http_req_failed":{"passes":7,"fails":13435,"value":0.00052}}}
"#;

/// From the summaries in the documentation of k6 before version 1.
const K6_OLD: &str = "
     data_received..................: 148 MB 2.5 MB/s
     data_sent......................: 1.0 MB 17 kB/s
   ✗ http_req_duration..............: avg=143.86ms min=26.5µs med=140.5ms max=1m2.5s p(90)=160ms p(99.9)=1.02s
       { expected_response:true }...: avg=143.86ms min=26.5µs med=140.5ms max=1m2.5s p(90)=160ms p(99.9)=1.02s
     http_req_failed................: 0.05%  ✓ 7          ✗ 13435
     http_reqs......................: 13442  224.019866/s
     vus............................: 1      min=1        max=100
     vus_max........................: 100    min=100      max=100
";

/// From `print_summary` of oha 1.16.
const OHA: &str = "Summary:
  Success rate:\t100.00%
  Total:\t1000.5299 ms
  Slowest:\t32.2892 ms
  Fastest:\t0.0149 ms
  Average:\t0.1457 ms
  Requests/sec:\t53711.0434

  Total data:\t593.28 KiB
  Size/request:\t11 B
  Size/sec:\t587.37 KiB

Response time histogram:
   0.015 ms [1]     |
   3.242 ms [53748] |■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■

Response time distribution:
  10.00% in 0.0512 ms
  99.00% in 3.0524 ms
  99.90% in 6.7879 ms


Details (average, fastest, slowest):
  DNS+dialup:\t0.0583 ms, 0.0233 ms, 0.1580 ms
  DNS-lookup:\t0.0036 ms, 0.0005 ms, 0.0158 ms

Status code distribution:
  [200] 53739 responses

Error distribution:
  [8] aborted due to deadline
";

/// From wrk2's README.
const WRK2: &str = "Running 30s test @ http://127.0.0.1:80/index.html
  2 threads and 100 connections
  Thread calibration: mean lat.: 9747 usec, rate sampling interval: 21 msec
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     6.46ms    1.93ms  12.34ms   67.66%
    Req/Sec     1.05k     1.12k    2.50k    64.84%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    6.67ms
 99.900%    9.42ms
 99.999%   12.35ms
100.000%   12.35ms

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       0.921     0.000000            1         1.00
      12.351     1.000000        39500          inf
#[Mean    =        6.460, StdDeviation   =        1.930]
----------------------------------------------------------
  60018 requests in 30.00s, 19.81MB read
Requests/sec:   2000.28
Transfer/sec:    676.18KB
";

#[test]
fn a_truncated_output_has_no_figure_that_the_whole_lacks() {
    let recorded = ["wrk", "ab", "hey", "h2load", "oha"].into_iter().flat_map(|tool| {
        let folder = format!("{}/../tools/src/recorded/{tool}", env!("CARGO_MANIFEST_DIR"));
        fs::read_dir(folder).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap())
    });
    for text in recorded.chain(
        [
            K6_EXPORT,
            K6_OLD,
            OHA,
            WRK2,
            VEGETA,
            VEGETA_JSON,
            SIEGE,
            BOMBARDIER,
            AUTOCANNON,
            AUTOCANNON_JSON,
            PGBENCH,
            SYSBENCH,
        ]
        .map(str::to_owned),
    ) {
        let Some(whole) = outputs(&text, "alpha") else { continue };
        let known = &whole.rows[0];
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let Some(read) = outputs(&text[..end], "alpha") else { continue };
            for figure in &read.rows[0].figures {
                // If one number has two possible keys, a cut-off output may yield the other one.
                let is_same = known.figures.iter().any(|it| it.numbers == figure.numbers);
                assert!(read.rows.len() == 1 && is_same, "{figure:?} of:\n{}", &text[..end]);
            }
            for setting in &read.rows[0].settings {
                let is_same = |it: &tolok_transcribe::Setting| it.key == setting.key;
                assert!(known.settings.iter().any(is_same), "{setting:?} of:\n{}", &text[..end]);
            }
        }
    }
}

#[test]
fn several_runs_in_one_file_are_rows_of_their_own_or_repetitions() {
    let [first, second] = ["4.1.0-hello.txt", "4.1.0-drop.txt"].map(|name| recorded(&format!("recorded/wrk/{name}")));
    let text = format!("$ wrk -t2 -c8 http://127.0.0.1\n{first}$ again\n{second}\n{first}");
    let Outputs { rows, remarks } = outputs(&text, "alpha").unwrap();
    assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 16, 31]);
    assert_eq!(rows[1].table.as_deref(), Some("run 2"));
    let told: Vec<_> = remarks.iter().map(|remark| format!("{}: {}", remark.line, remark.text)).collect();
    assert_eq!(told, ["1: no part of an output: $ wrk -t2 -c8 http://127.0.0.1", "15: not understood: $ again"]);
    let read = transcription(&rows, "alpha", "alpha", &Conditions::default()).unwrap();
    assert_eq!(read.rows[1].line, 16, "the line of the file");
    let merged = merge_repetitions(rows);
    assert_eq!(merged.len(), 2);
    assert_eq!(
        merged[0].figures.iter().find(|it| it.key == "throughput_rps").unwrap().numbers,
        ["99009.68", "99009.68"]
    );
}

#[test]
fn text_that_is_not_an_output_is_not_read() {
    let csv = "Server,Requests/sec\nalpha,12.5\n";
    for text in
        ["", "hello\n", "title = \"x\"\n[[row]]\n", csv, "{}", "{\"summary\":", "[1, 2]", "Running late\nas ever\n"]
    {
        assert_eq!(outputs(text, "alpha"), None, "{text}");
    }
}

#[test]
fn a_line_without_its_end_is_not_read() {
    let text = recorded("recorded/wrk/4.1.0-hello.txt");
    let cut = &text[..text.find("009.68").unwrap()];
    let Outputs { rows, remarks } = outputs(cut, "alpha").unwrap();
    assert!(!rows[0].figures.iter().any(|figure| figure.key == "throughput_rps"));
    let told: Vec<&str> = remarks.iter().map(|remark| remark.text.as_str()).collect();
    assert_eq!(
        told,
        [
            "the output of wrk that begins here lacks its end, from `Transfer/sec:` on",
            "this line has no end and may be cut off: it is not read"
        ]
    );
}

#[test]
fn every_digit_of_a_transcription_is_that_of_the_output() {
    let text = recorded("recorded/wrk/4.1.0-late.txt");
    let rows = outputs(&text, "alpha").unwrap().rows;
    let toml = format!("title = \"alpha\"\n{}", rows_in_toml(&rows, &[]));
    let read = Transcription::read(&toml, "alpha").unwrap();
    for figure in &read.rows[0].figures {
        assert!(text.contains(&figure.numbers[0].printed), "{}", figure.key);
    }
}

#[test]
fn deeply_nested_json_does_no_harm() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(20_000), close.repeat(20_000));
        assert_eq!(outputs(&deep, "alpha"), None);
    }
}
