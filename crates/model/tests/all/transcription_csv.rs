//! Transcriptions from CSV.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use insta::assert_snapshot;
use tolok_model::transcription::{Conditions, CsvOptions, Quantity, Transcription};

const TABLE: &str = "Server,Test,Req/s,p95 (ms),Remark\n\
                     go,hello,19.30,~18,\n\
                     bun,hello,2.75,-,slow\n";

fn options(columns: &[&str]) -> CsvOptions {
    CsvOptions {
        key: "blog".to_owned(),
        subject: Some("Server".to_owned()),
        scenario: vec!["Test".to_owned()],
        columns: columns.iter().map(|column| CsvOptions::column(column).unwrap()).collect(),
        ..CsvOptions::default()
    }
}

const COLUMNS: [&str; 3] = ["Req/s=throughput_rps", "p95 (ms)=latency_p95_ms", "Remark="];

fn told(text: &str, options: &CsvOptions) -> String {
    let problems = Transcription::read_csv(text, options).unwrap_err();
    let line = |problem: &tolok_model::Problem| {
        let (line, _) = problem.line_column(text);
        let help = problem.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{line} «{}» {}{help}", &text[problem.span.clone()], problem.message)
    };
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_line_is_a_row_and_a_column_a_figure() {
    let conditions = Conditions::from_options(&["connections=100", "duration=30s", "tool=wrk"]).unwrap();
    let source = Transcription::read_csv(TABLE, &CsvOptions { conditions, ..options(&COLUMNS) }).unwrap();
    let [go, bun] = source.rows.as_slice() else { panic!("two rows") };
    assert_eq!((go.line, go.subject.as_str(), go.scenario.as_deref()), (2, "go", Some("hello")));
    assert_eq!(go.figure(&Quantity::Throughput).unwrap().numbers[0].printed, "19.30");
    assert_eq!((go.figures.len(), bun.figures.len()), (2, 1), "a dash is not a figure");
    assert_eq!(go.raw, ["go,hello,19.30,~18,"]);
    assert_eq!((go.conditions.connections, go.conditions.duration_s), (Some(100), Some(30.0)));
    assert_eq!((source.title.as_str(), source.conditions.tool.as_deref()), ("blog", Some("wrk")));
}

#[test]
fn headers_that_are_keys_need_no_options() {
    let text = "subject\tconnections\tthroughput_rps\ngo\t100\t1.5\ngo\t500\t2.5\n";
    let source = Transcription::read_csv(text, &CsvOptions::default()).unwrap();
    let connections: Vec<Option<u64>> = source.rows.iter().map(|row| row.conditions.connections).collect();
    assert_eq!(connections, [Some(100), Some(500)]);
}

#[test]
fn rows_of_the_same_subject_and_setting_may_be_repetitions() {
    let text = format!("{TABLE}go,hello,20.10,17,\n");
    assert_snapshot!(told(&text, &options(&COLUMNS)), @"4 «go,hello,20.10,17,» line 2 has the same subject and setting (--repetitions takes such rows for repetitions; --scenario names the columns that tell them apart)");
    let repeated = CsvOptions { repetitions: true, ..options(&COLUMNS) };
    let source = Transcription::read_csv(&text, &repeated).unwrap();
    assert_eq!(source.rows.len(), 2);
    let throughput = source.rows[0].figure(&Quantity::Throughput).unwrap();
    assert_eq!(throughput.numbers.iter().map(|number| number.value).collect::<Vec<_>>(), [19.3, 20.1]);
    assert_eq!((source.rows[0].conditions.repetitions, source.rows[1].conditions.repetitions), (Some(2), None));
}

#[test]
fn numbers_with_a_decimal_comma_are_asked_for() {
    let text = "\u{feff}subject;throughput_rps\r\ngo;1.234,50\r\n";
    let source = Transcription::read_csv(text, &CsvOptions { decimal_comma: true, ..CsvOptions::default() }).unwrap();
    let number = &source.rows[0].figures[0].numbers[0];
    assert_eq!((number.printed.as_str(), number.value, source.rows[0].line), ("1234.50", 1234.5, 2));
    assert_snapshot!(told(text, &CsvOptions::default()), @"2 «go;1.234,50» column `throughput_rps`: `1.234,50` is no number as it is printed (a comma may stand before thousands or decimals: leave it out, or let --decimal-comma read 12.345,60)");
}

/// A cell may have its own unit, as wrk prints them, and thousands separators where they are unambiguous.
#[test]
fn numbers_are_read_as_spreadsheets_have_them() {
    let table = "subject,throughput_rps,latency_mean_ms,error_rate_percent,memory_mb,bandwidth_mib_s\n\
                 a,\"19,876.30\",1.95ms,0.5%,12,6.25MB\nb,\"1,538,000\",812.00us,~2 %,11.5 MiB,1.5MiB/s\n";
    let source = Transcription::read_csv(table, &CsvOptions::default()).unwrap();
    let figures: Vec<String> = source
        .rows
        .iter()
        .flat_map(|row| &row.figures)
        .map(|figure| format!("{} {} {}", figure.key, figure.numbers[0].printed, figure.value()))
        .collect();
    assert_snapshot!(figures.join("\n"), @r"
    throughput_rps 19876.30 19876.3
    latency_mean_ms 1.95 0.00195
    error_rate_percent 0.5 0.005
    memory_mb 12 12000000
    bandwidth_mib_s 6.25 6553600
    throughput_rps 1538000 1538000
    latency_mean_us 812.00 0.000812
    error_rate_percent ~2 0.02
    memory_mib 11.5 12058624
    bandwidth_mib_s 1.5 1572864
    ");
    let wrong = "subject,throughput_rps,latency_mean_ms\na,\"1,234\",5 MB\nb,\"2,345\",fast\nc,3 ms,7 s\n";
    assert_snapshot!(told(wrong, &CsvOptions::default()), @r#"
    2 «a,"1,234",5 MB» column `throughput_rps`: `1,234` is no number as it is printed, and 2 more like it (a comma may stand before thousands or decimals: leave it out, or let --decimal-comma read 12.345,60)
    2 «a,"1,234",5 MB» column `latency_mean_ms`: `5 MB` is no number as it is printed, and one more like it (digits and one decimal point, with a mark or the unit of the column at most: 12345.60, ~14000, 5.03 ms)
    "#);
}

/// A suggestion can be used as it is.
#[test]
fn a_suggestion_names_options_for_the_whole_table() {
    let wrk = "Framework,Requests/sec,Avg latency [ms],99%,Non-2xx,Notes\ngin,51234,1.95,8.1,0,\n";
    assert_snapshot!(told(wrk, &CsvOptions::default()), @r#"1 «Framework,Requests/sec,Avg latency [ms],99%,Non-2xx,Notes» the meaning of these columns is not given: Framework, Requests/sec, Avg latency [ms], 99%, Non-2xx, Notes (perhaps --subject Framework --column "Requests/sec=throughput_rps" --column "Avg latency [ms]=latency_mean_ms" --column "99%=latency_p99_ms" --column "Non-2xx=failures" --column "Notes="; 99%: the header does not say the unit: _s, _ms and _us are seconds, milliseconds and microseconds; HEADER= leaves a column out; `tolok help docs/reference/transcription.md` lists all keys)"#);
    let hyperfine = "command,mean,stddev,median,user,system,min,max\nphp,0.1,0.01,0.1,0.05,0.01,0.09,0.12\n";
    assert_snapshot!(told(hyperfine, &CsvOptions::default()), @r#"1 «command,mean,stddev,median,user,system,min,max» the meaning of these columns is not given: command, mean, stddev, median, user, system, min, max (perhaps --subject command --column "mean=time_mean_s" --column "stddev=time_sd_s" --column "median=time_p50_s" --column "user=" --column "system=" --column "min=time_min_s" --column "max=time_max_s"; HEADER= leaves a column out; `tolok help docs/reference/transcription.md` lists all keys)"#);
}

#[test]
fn every_mistake_is_said_with_its_line() {
    assert_snapshot!(told(TABLE, &options(&[])), @r#"1 «Server,Test,Req/s,p95 (ms),Remark» the meaning of these columns is not given: Req/s, p95 (ms), Remark (perhaps --column "Req/s=throughput_rps" --column "p95 (ms)=latency_p95_ms" --column "Remark="; HEADER= leaves a column out; `tolok help docs/reference/transcription.md` lists all keys)"#);
    assert_snapshot!(told(TABLE, &CsvOptions::default()), @r#"1 «Server,Test,Req/s,p95 (ms),Remark» the meaning of these columns is not given: Server, Test, Req/s, p95 (ms), Remark (perhaps --subject Server --scenario Test --column "Req/s=throughput_rps" --column "p95 (ms)=latency_p95_ms" --column "Remark="; HEADER= leaves a column out; `tolok help docs/reference/transcription.md` lists all keys)"#);
    assert_snapshot!(told(TABLE, &options(&["Req/s=througput_rps", "p95 (ms)=", "Remark=", "Memory=memory_mb"])), @r#"
    1 «Server,Test,Req/s,p95 (ms),Remark» `througput_rps` is no key of a figure (did you mean `throughput_rps`? `tolok help docs/reference/transcription.md` lists all keys; to leave the column out: --column "Req/s=")
    1 «Server,Test,Req/s,p95 (ms),Remark» there is no column `Memory` (the columns are Server, Test, Req/s, p95 (ms), Remark)
    "#);
    let broken = format!("{TABLE},hello,1,2,\nphp,hello\nphp,hello,\"1,000\",2,\n");
    assert_snapshot!(told(&broken, &options(&COLUMNS)), @r#"
    4 «,hello,1,2,» the row does not say what was measured
    5 «php,hello» this line has 2 cells, and the header has 5 (a cell with the separator needs quotes: "1,234")
    6 «php,hello,"1,000",2,» column `Req/s`: `1,000` is no number as it is printed (a comma may stand before thousands or decimals: leave it out, or let --decimal-comma read 12.345,60)
    "#);
    assert_snapshot!(told("Server,Test\n", &options(&[])), @"1 «Server,Test» there is no row below the header");
    assert_snapshot!(told("", &CsvOptions::default()), @"1 «» there is no header (the first line names the columns, such as subject,throughput_rps)");
    assert_snapshot!(told("subject,duration,throughput_rps\ngo,30,1\n", &CsvOptions::default()), @r#"2 «go,30,1» column `duration`: expected a duration with its unit in quotes, such as "500ms" or "2s", found the number 30"#);
}

#[test]
fn conditions_are_read_as_in_a_file() {
    let wrong = |option: &str| Conditions::from_options(&[option]).unwrap_err();
    assert_snapshot!(wrong("connections"), @"`connections` is no condition; for example: connections=100");
    assert_snapshot!(wrong("connection=100"), @"unknown key `connection`; did you mean `connections`? known here: requests, tool, loop, connections, streams, latency-of, ramp, think-time, duration, warmup, repetitions, fresh-start, timeout, keep-alive, generator-threads, subject-cpus, subject-workers, subject-memory, cpu-scope, rtt, link, body, work");
    assert_snapshot!(wrong("connections=many"), @r#"expected a whole number, found the string "many""#);
    assert_snapshot!(wrong("connections=0"), @"`connections` must be at least 1; leave it out where the source does not say");
    assert_snapshot!(CsvOptions::column("=throughput_rps").unwrap_err(), @"`=throughput_rps` names no column and what it is; for example: Req/s=throughput_rps");
}
