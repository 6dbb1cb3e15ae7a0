//! Tables of many rows. Time and memory grow in proportion to the rows, whichever of their parts differ.

use std::fmt::Write;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tolok_audit::audit;
use tolok_model::limits::ROWS;
use tolok_model::transcription::{CsvOptions, Transcription};

/// A table in which every row has its own subject, its own setting, or neither.
fn table(rows: u32, subject: impl Fn(u32) -> String, setting: impl Fn(u32) -> String) -> String {
    let mut text =
        "subject,scenario,connections,throughput_rps,latency_mean_ms,latency_p50_ms,latency_p99_ms,latency_max_ms,cpu_percent,requests,failures\n"
            .to_owned();
    for row in 0..rows {
        let rate = 1_000.0 + f64::from(row.wrapping_mul(7919) % 90_007);
        let mean_ms = 64_000.0 / rate;
        let _ = writeln!(
            text,
            "{},{},64,{rate:.1},{mean_ms:.3},{:.3},{:.3},{:.3},{:.1},{},{}",
            subject(row),
            setting(row),
            mean_ms * 0.9,
            mean_ms * 3.0,
            mean_ms * 9.0,
            10.0 + f64::from(row % 89),
            rate * 10.0,
            row % 3
        );
    }
    text
}

/// CPU time of this thread, which excludes other tests.
fn cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().expect("a thread has used some time")
}

fn time_of(text: &str) -> Duration {
    let began = cpu_time();
    let options = CsvOptions { repetitions: true, ..CsvOptions::default() };
    let transcription = Transcription::read_csv(text, &options).expect("the table is sound");
    assert!(audit(&transcription).read.rows > 0);
    cpu_time() - began
}

/// A quadratic law takes a hundred times as long for ten times as many rows.
#[test]
fn ten_times_as_many_rows_take_about_ten_times_as_long() {
    type Named = fn(u32) -> String;
    let shapes: [(&str, Named, Named); 5] = [
        ("subjects", |row| format!("server-{row}"), |_| "hello".to_owned()),
        ("subjects with repetitions", |row| format!("server-{}", row / 2), |_| "hello".to_owned()),
        ("settings", |_| "go".to_owned(), |row| format!("case-{row}")),
        ("both", |row| format!("server-{}", row % 30), |row| format!("case-{}", row / 30)),
        ("neither", |_| "go".to_owned(), |_| "hello".to_owned()),
    ];
    for (name, subject, setting) in shapes {
        let few = time_of(&table(500, subject, setting)).max(Duration::from_millis(20));
        let many = time_of(&table(5_000, subject, setting));
        assert!(many < few * 40, "{name}: {few:?} for 500 rows, {many:?} for 5,000");
    }
}

/// Each setting is compared with those of less work, but with no more than some.
#[test]
fn so_do_settings_of_one_subject_that_differ_in_work() {
    let time_of = |settings: u32| {
        let setting = |at: u32| {
            format!(
                "[[scenario]]\nname = \"{at}\"\nwork = \"{} rows\"\n[[row]]\nsubject = \"go\"\nscenario = \"{at}\"\nthroughput_rps = {}.5\n",
                at + 1,
                900_000 - at
            )
        };
        let text = format!("title = \"Many\"\n{}", (0..settings).map(setting).collect::<String>());
        let transcription = Transcription::read(&text, "many").expect("the table is sound");
        let began = cpu_time();
        assert!(audit(&transcription).read.rows > 0);
        cpu_time() - began
    };
    let (few, many) = (time_of(500).max(Duration::from_millis(20)), time_of(5_000));
    assert!(many < few * 40, "{few:?} for 500 settings, {many:?} for 5,000");
}

#[test]
fn a_table_of_too_many_rows_is_refused_in_one_sentence() {
    let text = format!("subject,throughput_rps\n{}", "go,1\n".repeat(ROWS.most as usize + 1));
    let problems = Transcription::read_csv(&text, &CsvOptions::default()).expect_err("it is too long");
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].message, ROWS.sentence());
}
