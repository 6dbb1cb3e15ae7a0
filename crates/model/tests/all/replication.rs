//! Reading a replication: its contents, and all its problems at once.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use std::fs;
use std::path::{Path, PathBuf};

use examples::catalogue;
use tolok_model::replication::{Replication, means_subject};
use tolok_model::transcription::{Mark, Moment, Quantity, Transcription};
use tolok_model::{Catalogue, Problem, Study, Subject, Workload};

const SOURCE: &str = r#"
title = "An invented comparison"
[[scenario]]
name = "static-100"
title = "static page, 100 connections"
[[row]]
subject = "go"
scenario = "static-100"
raw = "go 300"
throughput_rps = 300
[[row]]
subject = "php"
scenario = "static-100"
raw = "php 100"
throughput_rps = 100
[[claim]]
id = "go-3x"
says = "Go gives three times as many answers."
raw = "3x"
figure = "throughput_rps"
a = { subject = "go", scenario = "static-100" }
b = { subject = "php", scenario = "static-100" }
ratio = 3
[[claim]]
id = "pool"
says = "More workers help PHP."
raw = "more workers"
untestable = "one number of workers was measured"
"#;

const SOUND: &str = r#"
source = "invented"
note = "Shorter windows."
[[part]]
name = "lan"
study = "lan.toml"
says = "The table as it was measured."
subjects = { go = "go/nethttp", php = "php/fpm:jit?pool=4" }
scenarios = { static-100 = "hello-c100" }
[[factor]]
name = "the pool"
meaning = "PHP has too few workers."
figure = "latency_p95_ms"
claims = ["go-3x"]
level = [
    { name = "4 workers", part = "lan", scenario = "hello-c100", a = "go/nethttp", b = "php/fpm:jit?pool=4" },
    { name = "16 workers", part = "lan", scenario = "hello-c100", a = "go/nethttp", b = "php/fpm:jit" },
]
[[settle]]
claim = "pool"
figure = "throughput_rps"
ratio = "> 1"
[[settle.pair]]
name = "PHP"
a = { part = "lan", scenario = "hello-c100", subject = "php/fpm:jit" }
b = { part = "lan", scenario = "hello-c100", subject = "php/fpm:jit?pool=4" }
"#;

fn source() -> Transcription {
    Transcription::read(SOURCE, "invented").unwrap()
}

fn problems(text: &str) -> Vec<String> {
    let found = Replication::read(text, &source()).unwrap_err();
    let line = |problem: &Problem| {
        let (line, column) = problem.line_column(text);
        let help = problem.help.as_ref().map(|help| format!(" | {help}")).unwrap_or_default();
        format!("{line}:{column} {}{help}", problem.message)
    };
    found.iter().map(line).collect()
}

#[test]
fn a_sound_replication_is_read() {
    let found = Replication::read(SOUND, &source()).unwrap();
    assert_eq!((found.source.as_str(), found.note.as_deref()), ("invented", Some("Shorter windows.")));
    let part = &found.parts[0];
    assert_eq!((part.name.as_str(), part.study.as_str()), ("lan", "lan.toml"));
    assert_eq!(part.subjects["php"], "php/fpm:jit?pool=4");
    assert_eq!(part.scenarios["static-100"], "hello-c100");
    let factor = &found.factors[0];
    assert_eq!(factor.quantity, Quantity::Latency(Moment::Percentile(9500)));
    assert_eq!((factor.claims.as_slice(), factor.levels.len()), (["go-3x".to_owned()].as_slice(), 2));
    assert_eq!(factor.levels[1].b, "php/fpm:jit");
    let settlement = &found.settlements[0];
    assert_eq!((settlement.claim.as_str(), &settlement.quantity), ("pool", &Quantity::Throughput));
    assert_eq!((settlement.is.value, settlement.is.mark), (1.0, Mark::AtLeast));
    assert_eq!(
        (settlement.pairs[0].name.as_str(), settlement.pairs[0].b.subject.as_str()),
        ("PHP", "php/fpm:jit?pool=4")
    );
}

#[test]
fn what_settles_a_claim_is_checked_against_the_source_and_the_parts() {
    let settle = |from: &str, to: &str| problems(&SOUND.replacen(from, to, 1)).join("\n");
    let of_figures = settle("claim = \"pool\"", "claim = \"go-3x\"");
    assert!(of_figures.contains("`go-3x` is judged by the source's own figures"), "{of_figures}");
    let unknown = settle("claim = \"pool\"", "claim = \"pol\"");
    assert!(unknown.contains("the source has no claim `pol` | did you mean `pool`?"), "{unknown}");
    let same = settle("subject = \"php/fpm:jit\"", "subject = \"php/fpm:jit?pool=4\"");
    assert!(same.contains("a case is compared with itself"), "{same}");
    let part = settle("a = { part = \"lan\"", "a = { part = \"lam\"");
    assert!(part.contains("there is no part `lam`"), "{part}");
    let ratio = settle("ratio = \"> 1\"", "ratio = \"more\"");
    assert!(ratio.contains("more"), "{ratio}");
    let zero = settle("ratio = \"> 1\"", "ratio = 0");
    assert!(zero.contains("`0` is no ratio"), "{zero}");
    let least = settle("figure = \"throughput_rps\"", "figure = \"memory_min_mb\"");
    assert!(least.contains("tolok takes no ratio of `memory_min_mb`"), "{least}");
    let twice =
        problems(&format!("{SOUND}[[settle]]\nclaim = \"pool\"\nfigure = \"runs\"\nratio = 2\npair = []\n")).join("\n");
    assert!(twice.contains("`pool` is settled already") && twice.contains("missing key `pair`"), "{twice}");
    let nothing = problems(&format!("{SOUND}[[settle]]\n"));
    assert_eq!(nothing.len(), 4, "claim, figure, ratio, pair: {nothing:?}");
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let text = SOUND
        .replace("source = \"invented\"", "source = \"another\"")
        .replace("study = \"lan.toml\"", "study = \"../lan.toml\"\ncolour = 1")
        .replace("php = ", "phq = ")
        .replace("scenarios = { static-100", "scenarios = { static-10")
        .replace("latency_p95_ms", "runs")
        .replace("claims = [\"go-3x\"]", "claims = [\"go-3\"]");
    insta::assert_snapshot!(problems(&text).join("\n"));
}

#[test]
fn what_is_missing_is_named_with_an_example() {
    insta::assert_snapshot!(
        problems("[[part]]\nname = \"Lan!\"\n[[factor]]\nname = \"the pool\"\nlevel = []\n").join("\n")
    );
}

#[test]
fn a_level_names_a_part_that_there_is_and_two_subjects() {
    let text = SOUND.replace(
        "part = \"lan\", scenario = \"hello-c100\", a = \"go/nethttp\", b = \"php/fpm:jit\"",
        "part = \"lam\", scenario = \"x\", a = \"b\", b = \"b\"",
    );
    insta::assert_snapshot!(problems(&text).join("\n"));
}

#[test]
fn two_parts_do_not_have_one_name() {
    let again = "[[part]]\nname = \"lan\"\nstudy = \"b.toml\"\nsays = \"Again.\"\n[[factor]]";
    let text = SOUND.replace("[[factor]]", again);
    assert!(problems(&text).iter().any(|it| it.contains("there are two parts `lan`")), "{:?}", problems(&text));
}

#[test]
fn a_name_may_leave_the_usual_variant_out() {
    assert!(means_subject("go/nethttp", "go/nethttp:default", "default"));
    assert!(means_subject("php/fpm?pool=4", "php/fpm:pool?pool=4", "pool"));
    assert!(means_subject("php/fpm:jit?b=1&a=2", "php/fpm:jit?a=2&b=1", "pool"));
    assert!(!means_subject("php/fpm", "php/fpm:jit", "pool"));
    assert!(!means_subject("php/fpm", "php/fpm:pool?pool=4", "pool"));
}

#[test]
fn what_a_study_does_not_have_is_named() {
    let study = r#"
        title = "A study"
        subjects = ["go/nethttp", "php/fpm:jit?pool=4"]
        scenario = [{ workload = "hello", load = { executor = "constant-vus", vus = 100, duration = "2s" } }]
    "#;
    let study = Study::read(study, &catalogue()).unwrap();
    let replication = Replication::read(SOUND, &source()).unwrap();
    let found = replication.check_part(&replication.parts[0], &study, &catalogue());
    insta::assert_snapshot!(found.join("\n"));
}

/// Every replication of the repository is readable, and its studies have everything that it names.
#[test]
fn every_replication_of_the_repository_fits_its_source_and_its_studies() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let catalogue = repository(&root);
    let folders = fs::read_dir(root.join("studies/sources")).into_iter().flatten();
    for folder in
        folders.map(|folder| folder.unwrap().path()).filter(|folder| folder.join("replication.toml").is_file())
    {
        let key = folder.file_name().unwrap().to_str().unwrap();
        let source = fs::read_to_string(root.join(format!("published/{key}.toml"))).unwrap();
        let source = Transcription::read(&source, key).unwrap_or_else(|it| panic!("published/{key}.toml: {it:?}"));
        let text = fs::read_to_string(folder.join("replication.toml")).unwrap();
        let replication = Replication::read(&text, &source).unwrap_or_else(|it| panic!("{}: {it:?}", folder.display()));
        for part in &replication.parts {
            let text = fs::read_to_string(folder.join(&part.study)).unwrap_or_else(|it| panic!("{}: {it}", part.study));
            let study = Study::read(&text, &catalogue).unwrap_or_else(|it| panic!("{key}/{}: {it:?}", part.study));
            let missing = replication.check_part(part, &study, &catalogue);
            assert!(missing.is_empty(), "{key}: {missing:#?}");
        }
    }
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// The subjects and workloads of the checkout.
fn repository(root: &Path) -> Catalogue {
    let mut catalogue = Catalogue::default();
    for folder in folders(&root.join("workloads")) {
        let Ok(text) = fs::read_to_string(folder.join("workload.toml")) else { continue };
        if let Ok(workload) = Workload::read(&name(&folder), &text) {
            catalogue.workloads.push(workload);
        } else if let Ok(program) = tolok_model::ProgramWorkload::read(&name(&folder), &text) {
            catalogue.programs.push(program);
        }
    }
    for runtime in folders(&root.join("subjects")) {
        for folder in folders(&runtime) {
            let id = format!("{}/{}", name(&runtime), name(&folder));
            let Ok(text) = fs::read_to_string(folder.join("subject.toml")) else { continue };
            catalogue.subjects.extend(Subject::read(&id, &text));
        }
    }
    catalogue
}
