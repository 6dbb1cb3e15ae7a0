//! Transcriptions from CSV.

#![allow(clippy::unwrap_used, reason = "a test may, and so may what a test calls")]

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
    assert_eq!((go.figures.len(), bun.figures.len()), (2, 1), "a dash is no figure");
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
    assert_snapshot!(told(text, &CsvOptions::default()), @"2 «go;1.234,50» column `throughput_rps`: `1.234,50` is no number as it is printed (digits and one decimal point, without unit and separators: 12345.60; --decimal-comma reads 12.345,60)");
}

#[test]
fn every_mistake_is_said_with_its_line() {
    assert_snapshot!(told(TABLE, &options(&[])), @r#"
    1 «Server,Test,Req/s,p95 (ms),Remark» it is not said what the column `Req/s` is (for example: --column "Req/s=throughput_rps"; to leave it out: --column "Req/s=")
    1 «Server,Test,Req/s,p95 (ms),Remark» it is not said what the column `p95 (ms)` is (for example: --column "p95 (ms)=throughput_rps"; to leave it out: --column "p95 (ms)=")
    1 «Server,Test,Req/s,p95 (ms),Remark» it is not said what the column `Remark` is (for example: --column "Remark=throughput_rps"; to leave it out: --column "Remark=")
    "#);
    assert_snapshot!(told(TABLE, &CsvOptions::default()), @r#"
    1 «Server,Test,Req/s,p95 (ms),Remark» it is not said what the column `Server` is (for example: --column "Server=throughput_rps"; to leave it out: --column "Server=")
    1 «Server,Test,Req/s,p95 (ms),Remark» it is not said what the column `Test` is (for example: --column "Test=throughput_rps"; to leave it out: --column "Test=")
    1 «Server,Test,Req/s,p95 (ms),Remark» it is not said what the column `Req/s` is (for example: --column "Req/s=throughput_rps"; to leave it out: --column "Req/s=")
    1 «Server,Test,Req/s,p95 (ms),Remark» it is not said what the column `p95 (ms)` is (for example: --column "p95 (ms)=throughput_rps"; to leave it out: --column "p95 (ms)=")
    1 «Server,Test,Req/s,p95 (ms),Remark» it is not said what the column `Remark` is (for example: --column "Remark=throughput_rps"; to leave it out: --column "Remark=")
    1 «Server,Test,Req/s,p95 (ms),Remark» there is no column `subject` (the columns are Server, Test, Req/s, p95 (ms), Remark; --subject says which names what was measured)
    "#);
    assert_snapshot!(told(TABLE, &options(&["Req/s=througput_rps", "p95 (ms)=", "Remark=", "Memory=memory_mb"])), @r#"
    1 «Server,Test,Req/s,p95 (ms),Remark» `througput_rps` is no key of a figure (for example: --column "Req/s=throughput_rps"; to leave it out: --column "Req/s=")
    1 «Server,Test,Req/s,p95 (ms),Remark» there is no column `Memory` (the columns are Server, Test, Req/s, p95 (ms), Remark; --subject says which names what was measured)
    "#);
    let broken = format!("{TABLE},hello,1,2,\nphp,hello\nphp,hello,\"1,000\",2,\n");
    assert_snapshot!(told(&broken, &options(&COLUMNS)), @r#"
    4 «,hello,1,2,» the row does not say what was measured
    5 «php,hello» this line has 2 cells, and the header has 5 (a cell that holds the separator stands in quotes: "1,234")
    6 «php,hello,"1,000",2,» column `Req/s`: `1,000` is no number as it is printed (digits and one decimal point, without unit and separators: 12345.60; --decimal-comma reads 12.345,60)
    "#);
    assert_snapshot!(told("Server,Test\n", &options(&[])), @"1 «Server,Test» there is no row below the header");
    assert_snapshot!(told("", &CsvOptions::default()), @"1 «» there is no column `subject` (the columns are ; --subject says which names what was measured)");
    assert_snapshot!(told("subject,duration,throughput_rps\ngo,30,1\n", &CsvOptions::default()), @r#"2 «go,30,1» column `duration`: expected a duration with its unit in quotes, such as "500ms" or "2s", found the number 30"#);
}

#[test]
fn conditions_are_read_as_in_a_file() {
    let wrong = |option: &str| Conditions::from_options(&[option]).unwrap_err();
    assert_snapshot!(wrong("connections"), @"`connections` is no condition; for example: connections=100");
    assert_snapshot!(wrong("connection=100"), @"unknown key `connection`; did you mean `connections`? known here: requests, tool, loop, connections, ramp, think-time, duration, warmup, repetitions, fresh-start, timeout, keep-alive, generator-threads, subject-cpus, subject-workers, subject-memory, cpu-scope, rtt, link, body");
    assert_snapshot!(wrong("connections=many"), @r#"expected a whole number, found the string "many""#);
    assert_snapshot!(wrong("connections=0"), @"`connections` must be at least 1; leave it out where the source does not say");
    assert_snapshot!(CsvOptions::column("=throughput_rps").unwrap_err(), @"`=throughput_rps` names no column and what it is; for example: Req/s=throughput_rps");
}
