//! Files that people write: studies, subjects, workloads, published tables, replications.

use std::sync::LazyLock;

use tolok_model::replication::Replication;
use tolok_model::transcription::{Conditions, CsvOptions, Transcription};
use tolok_model::{Catalogue, Here, Plan, Problem, ProgramWorkload, Study, Subject, Workload};

use crate::text;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    let subject = |id: &str, text| Subject::read(id, text).expect("the checkout's files are valid");
    let workload = |name: &str, text| Workload::read(name, text).expect("the checkout's files are valid");
    Catalogue {
        subjects: vec![
            subject("bun/serve", include_str!("../../../subjects/bun/serve/subject.toml")),
            subject("go/nethttp", include_str!("../../../subjects/go/nethttp/subject.toml")),
            subject("node/http", include_str!("../../../subjects/node/http/subject.toml")),
            subject("php/fpm", include_str!("../../../subjects/php/fpm/subject.toml")),
            subject("rust/ceiling", include_str!("../../../subjects/rust/ceiling/subject.toml")),
        ],
        workloads: vec![
            workload("hello", include_str!("../../../workloads/hello/workload.toml")),
            workload("json", include_str!("../../../workloads/json/workload.toml")),
            workload("rows", include_str!("../../../workloads/rows/workload.toml")),
        ],
        programs: vec![
            ProgramWorkload::read("queue-sync", include_str!("../../../workloads/queue-sync/workload.toml"))
                .expect("the checkout's files are valid"),
        ],
    }
});

static TABLE: LazyLock<Transcription> = LazyLock::new(|| {
    Transcription::read(include_str!("../../../published/nunez-queue.toml"), "nunez-queue")
        .expect("the checkout's files are valid")
});

/// Planning more blocks takes longer than a fuzzer should wait.
const MOST_BLOCKS: u32 = 3;

/// What must hold for any list of problems: it is not empty, each problem points into the text, and they are in text order, errors
/// of syntax before the others.
fn hold<T>(text: &str, read: Result<T, Vec<Problem>>) -> Option<T> {
    match read {
        Ok(read) => Some(read),
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a reason: {text:?}");
            for Problem { span, message, .. } in &problems {
                assert!(text.get(span.clone()).is_some(), "{span:?} is not in {text:?} ({message})");
            }
            let runs = problems.chunk_by(|one, next| one.span.start <= next.span.start).count();
            assert!(runs <= 2, "{problems:?} of {text:?}");
            None
        }
    }
}

pub fn study(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let Some(mut study) = hold(text, Study::read(text, &CATALOGUE)) else { return };
    study.blocks = study.blocks.min(MOST_BLOCKS);
    let here = Here {
        ready: &|_, _| Ok(()),
        ready_for_database: &|_, _, _| Ok(()),
        fits: &|_| Ok(()),
        tool: &|_| Ok(()),
        database: &|_, _| Ok(()),
    };
    if let Ok(plan) = Plan::expand(&study, &CATALOGUE, here, 7) {
        let named = |trial: &tolok_model::PlannedTrial| plan.cases.iter().any(|case| case.id == trial.case);
        assert!(plan.trials.iter().all(named), "a trial of a case that is not in the plan");
    }
}

pub fn subject(data: &[u8]) {
    let Some(text) = text(data) else { return };
    hold(text, Subject::read("go/nethttp", text));
}

pub fn workload(data: &[u8]) {
    let Some(text) = text(data) else { return };
    hold(text, Workload::read("hello", text));
    hold(text, ProgramWorkload::read("hello", text));
}

pub fn transcription(data: &[u8]) {
    let Some(text) = text(data) else { return };
    if let Some(table) = hold(text, Transcription::read(text, "table")) {
        tolok_audit::audit(&table);
    }
}

/// The first byte selects the options for reading the table.
pub fn csv(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else { return };
    let Some(text) = text(data) else { return };
    let options = CsvOptions {
        key: "table".to_owned(),
        repetitions: choice & 1 == 1,
        decimal_comma: choice & 2 == 2,
        subject: (choice & 4 == 4).then(|| "name".to_owned()),
        scenario: if choice & 8 == 8 { vec!["users".to_owned(), "page".to_owned()] } else { Vec::new() },
        ..CsvOptions::default()
    };
    if let Some(table) = hold(text, Transcription::read_csv(text, &options)) {
        tolok_audit::audit(&table);
    }
}

/// Outputs of load generators, and result files of benchmarks. All that is read of one must be expressible as a
/// transcription.
pub fn outputs(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let Some(read) = tolok_transcribe::outputs(text, "alpha") else { return };
    let lines = text.lines().count().max(1);
    let places = read.rows.iter().map(|row| row.line).chain(read.remarks.iter().map(|remark| remark.line));
    places.for_each(|line| assert!((1..=lines).contains(&line), "line {line} of {lines}: {text:?}"));
    let rows = tolok_transcribe::merge_repetitions(read.rows);
    let table = tolok_transcribe::transcription(&rows, "table", "table", &Conditions::default());
    tolok_audit::audit(&table.unwrap_or_else(|problems| panic!("{problems:?} of {text:?}")));
}

pub fn replication(data: &[u8]) {
    let Some(text) = text(data) else { return };
    hold(text, Replication::read(text, &TABLE));
}
