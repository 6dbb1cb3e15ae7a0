//! The transcriptions of published/: each is readable, and each figure is as printed.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use std::path::PathBuf;

use tolok_model::transcription::{Assertion, Figure, Mark, Moment, Number, Quantity, Row, Series, Transcription};

const SOURCES: [&str; 5] =
    ["asshuffi-apache-node", "astamal-swoole-node-go", "kamarudin-go-bun-php", "nunez-queue", "srivastava-node-bun-go"];

fn read(key: &str) -> Transcription {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../published").join(format!("{key}.toml"));
    let text = std::fs::read_to_string(file).unwrap();
    Transcription::read(&text, key)
        .map_err(|problems| {
            let told = |problem: &tolok_model::Problem| {
                let (line, column) = problem.line_column(&text);
                format!("{key}.toml:{line}:{column} {} {:?}", problem.message, problem.help)
            };
            problems.iter().map(told).collect::<Vec<_>>().join("\n")
        })
        .unwrap_or_else(|told| panic!("{told}"))
}

fn numbers(figures: &[Figure]) -> usize {
    figures.iter().map(|figure| figure.numbers.len()).sum()
}

fn row<'a>(source: &'a Transcription, table: &str, subject: &str, scenario: &str) -> &'a Row {
    let is_meant = |row: &&Row| {
        row.table.as_deref() == Some(table) && row.subject == subject && row.scenario.as_deref() == Some(scenario)
    };
    source.rows.iter().find(is_meant).unwrap()
}

fn only(row: &Row, quantity: &Quantity) -> Number {
    let [number] = row.figure(quantity).unwrap().numbers.as_slice() else { panic!("one number") };
    number.clone()
}

#[test]
fn every_file_of_the_folder_reads() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../published");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut keys: Vec<String> = files.filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned())).collect();
    keys.sort();
    assert_eq!(keys, SOURCES);
}

#[test]
fn nothing_of_a_source_is_left_out() {
    let counted: Vec<String> = SOURCES
        .iter()
        .map(|key| {
            let source = read(key);
            let in_rows: usize = source.rows.iter().map(|row| numbers(&row.figures)).sum();
            let in_series: usize = source.series.iter().map(|series| numbers(&series.figures)).sum();
            let is_testable = |asserts: &Assertion| !matches!(asserts, Assertion::Untestable { .. });
            let testable = source.claims.iter().filter(|claim| is_testable(&claim.asserts)).count();
            format!(
                "{key}: {} scenarios, {} rows with {in_rows} numbers, {} series with {in_series} numbers, \
                 {} claims, {testable} of them testable",
                source.scenarios.len(),
                source.rows.len(),
                source.series.len(),
                source.claims.len(),
            )
        })
        .collect();
    insta::assert_snapshot!(counted.join("\n"), @r"
    asshuffi-apache-node: 9 scenarios, 18 rows with 180 numbers, 18 series with 756 numbers, 41 claims, 35 of them testable
    astamal-swoole-node-go: 1 scenarios, 4 rows with 10 numbers, 0 series with 0 numbers, 18 claims, 13 of them testable
    kamarudin-go-bun-php: 3 scenarios, 21 rows with 57 numbers, 0 series with 0 numbers, 81 claims, 63 of them testable
    nunez-queue: 12 scenarios, 48 rows with 168 numbers, 0 series with 0 numbers, 39 claims, 32 of them testable
    srivastava-node-bun-go: 6 scenarios, 20 rows with 56 numbers, 0 series with 0 numbers, 30 claims, 14 of them testable
    ");
}

#[test]
fn every_row_and_every_claim_quotes_the_source() {
    for key in SOURCES {
        let source = read(key);
        assert!(source.rows.iter().all(|row| !row.raw.is_empty()), "{key}");
        for claim in &source.claims {
            assert!(
                !claim.raw.is_empty() && claim.raw.iter().all(|raw| raw.chars().count() < 160),
                "{key} {}",
                claim.id
            );
            assert!(claim.place.is_some(), "{key} {}", claim.id);
        }
    }
}

/// The cells of a line that begins with a second or an iteration.
fn cells(line: &str) -> Vec<String> {
    line.replace(',', ".").split('\t').map(str::to_owned).collect()
}

/// Index of the first of two columns for a subject and setting in the tables.
fn column(subject: &str, scenario: &str) -> usize {
    let load = ["static", "compute", "file"].iter().position(|load| scenario.starts_with(load)).unwrap();
    1 + 4 * load + if subject == "node" { 2 } else { 0 }
}

fn held_against(figures: &[Figure], lines: &[String], column: usize) -> usize {
    let mut held = 0;
    for (at, figure) in figures.iter().enumerate() {
        for (number, line) in figure.numbers.iter().zip(lines) {
            assert_eq!(number.printed, cells(line)[column + at], "{line}");
            held += 1;
        }
        assert_eq!(figure.numbers.len(), lines.len());
    }
    held
}

#[test]
fn all_1014_cells_of_the_largest_source_stand_as_printed() {
    let source = read("asshuffi-apache-node");
    let mut held = 0;
    for table in ["TABEL I", "TABEL II", "Tabel III"] {
        let is_of = |name: &Option<String>| name.as_deref() == Some(table);
        let series: Vec<&Series> = source.series.iter().filter(|series| is_of(&series.table)).collect();
        let lines = &series[0].raw;
        // Seconds and iterations, once for each table.
        let instants: Vec<f64> = lines.iter().map(|line| cells(line)[0].parse().unwrap()).collect();
        held += instants.len();
        for one in &series {
            assert_eq!(one.second, instants);
            held += held_against(&one.figures, lines, column(&one.subject, one.scenario.as_deref().unwrap()));
        }
        let rows: Vec<&Row> = source.rows.iter().filter(|row| is_of(&row.table)).collect();
        held += rows[0].raw.len();
        for row in &rows {
            held += held_against(&row.figures, &row.raw, column(&row.subject, row.scenario.as_deref().unwrap()));
        }
    }
    assert_eq!(held, 1014);
}

#[test]
fn marks_and_digits_are_those_of_the_sources() {
    let source = read("srivastava-node-bun-go");
    let phase_1 = row(&source, "Phase 1", "go", "phase-1-4core-single");
    assert_eq!(only(phase_1, &Quantity::Throughput).mark, Mark::About);
    let phase_4 = row(&source, "Phase 4", "node", "phase-4-4cpu");
    assert_eq!(only(phase_4, &Quantity::Cpu(Moment::Whole)).mark, Mark::AtLeast);
    let per_request = only(row(&source, "CPU Efficiency", "go", "phase-4-4cpu"), &Quantity::CpuPerRequest);
    assert_eq!((per_request.printed.as_str(), per_request.decimals), ("0.0090", 4));

    let source = read("nunez-queue");
    let slowest = only(row(&source, "Speed", "bun", "async-10m"), &Quantity::Time(Moment::Mean));
    assert_eq!((slowest.printed.as_str(), slowest.value), ("8.863", 8.863));
    let memory = only(row(&source, "Resource Usage", "go", "async-10m"), &Quantity::Memory(Moment::Max));
    assert_eq!((memory.printed.as_str(), memory.value), ("359.570", 359_570_000.0));

    let source = read("kamarudin-go-bun-php");
    let go = row(&source, "Tabel 4", "go", "10k-rows");
    assert_eq!(only(go, &Quantity::Latency(Moment::Percentile(9500))).printed, "18");
    assert_eq!((go.conditions.connections, go.conditions.ramp), (Some(250), Some(true)));
}

#[test]
fn what_a_source_does_not_say_is_absent() {
    let [asshuffi, astamal, kamarudin, nunez, srivastava] = SOURCES.map(read);
    for source in [&asshuffi, &astamal, &kamarudin, &srivastava] {
        assert_eq!(source.conditions.timeout_s, None, "{}: a tool's default is not stated by the source", source.key);
        assert_eq!(source.conditions.rtt_s, None, "{}", source.key);
    }
    assert_eq!((asshuffi.conditions.cpu_scope, asshuffi.conditions.keep_alive), (None, None));
    assert_eq!(kamarudin.conditions.repetitions, None);
    assert_eq!(nunez.conditions.repetitions, None);
    assert_eq!((srivastava.conditions.repetitions, astamal.conditions.keep_alive), (Some(1), Some(false)));
    let workers: Vec<Option<u64>> = astamal.rows.iter().map(|row| row.conditions.subject_workers).collect();
    assert_eq!(workers, [None, None, Some(1), None]);
}
