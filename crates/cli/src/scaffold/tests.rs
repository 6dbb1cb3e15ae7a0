//! The model can read every template as it is. Templates name their schema, and never overwrite anything.

use tolok_model::transcription::Transcription;
use tolok_model::{Subject, Workload};

use super::*;

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn every_subject_begins_as_one_that_the_model_reads() {
    let folder = tempfile::tempdir().unwrap();
    use Runtime::{Bun, Go, Java, Node, Other, Php, Python, Ruby};
    for runtime in [Go, Node, Bun, Php, Python, Ruby, Java, Other] {
        let files =
            subject(&folder.path().join(runtime.folder()), "mine", runtime, None, ("x/mine", "--subject x/mine"))
                .unwrap();
        let text = read(&files[0]);
        let subject = Subject::read("x/mine", &text).unwrap_or_else(|problems| panic!("{runtime:?}: {problems:?}"));
        assert_eq!((subject.title.as_str(), subject.workloads("default").len()), ("mine", 2));
        assert!(text.starts_with("#:schema ./subject.schema.json\n"), "{text}");
        for file in &files {
            assert!(!read(file).contains("@NAME@"), "{}", file.display());
            assert!(file.ends_with("subject.schema.json") || !read(file).contains('@'), "{}", file.display());
        }
    }
}

#[test]
fn a_workload_begins_with_its_body_and_its_reasons() {
    let folder = tempfile::tempdir().unwrap();
    let files = workload(folder.path(), "greeting", None).unwrap();
    let workload = Workload::read("greeting", &read(&files[0])).unwrap();
    assert_eq!(workload.path, "/greeting");
    assert_eq!(read(&files[1]), r#"{"workload":"greeting"}"#, "without a newline");
}

#[test]
fn a_transcription_begins_as_one_that_the_model_reads() {
    let folder = tempfile::tempdir().unwrap();
    let files = transcription(&folder.path().join("published"), "blog", None, "published/blog.toml", None).unwrap();
    let text = read(&files[0]);
    let source = Transcription::read(&text, "blog").unwrap_or_else(|problems| panic!("{problems:?}"));
    assert_eq!((source.title.as_str(), source.rows.len(), source.claims.len()), ("blog", 2, 2));
    assert!(text.starts_with("#:schema ./transcription.schema.json\n") && !text.contains('@'), "{text}");
    assert!(text.contains("Then: tolok audit published/blog.toml"), "{text}");
    let again = transcription(&folder.path().join("published"), "blog", None, "x", None);
    assert!(matches!(again, Err(ScaffoldError::Exists(_))));
}

#[test]
fn nothing_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let wish = StudyWish { called: "mine", subjects: &["*".to_owned()], workload: "hello", is_program: false, seed: 1 };
    study(folder.path(), "mine", None, &wish).unwrap();
    let error = study(folder.path(), "mine", None, &wish).unwrap_err();
    let expect = format!(
        "{}/mine.toml exists and was not overwritten; choose another name, or move it away first",
        folder.path().display()
    );
    assert_eq!(error.to_string(), expect);
    workload(folder.path(), "mine", None).unwrap();
    assert!(matches!(workload(folder.path(), "mine", None), Err(ScaffoldError::Exists(_))));
    for name in ["", "Mine", "1st", "a/b", "..", "a b"] {
        assert!(matches!(workload(folder.path(), name, None), Err(ScaffoldError::Name(_))), "{name}");
    }
}

#[test]
fn the_way_to_the_schema_is_relative_to_the_file() {
    let root = tempfile::tempdir().unwrap();
    let schemas = root.path().join("schemas");
    fs::create_dir_all(&schemas).unwrap();
    for kind in [Kind::Study, Kind::Subject, Kind::Workload, Kind::Transcription] {
        fs::write(schemas.join(kind.file()), "{}").unwrap();
    }
    let first_line = |files: Vec<PathBuf>| read(&files[0]).lines().next().map(str::to_owned).unwrap();
    let own = subject(
        &root.path().join("subjects/go"),
        "mine",
        Runtime::Go,
        Some(&schemas),
        ("go/mine", "quick --subjects go/mine"),
    )
    .unwrap();
    assert_eq!(first_line(own), "#:schema ../../../schemas/subject.schema.json");
    let wish = StudyWish { called: "mine", subjects: &[], workload: "a\"b", is_program: true, seed: 1 };
    let own = study(&root.path().join("studies"), "mine", Some(&schemas), &wish).unwrap();
    assert!(read(&own[0]).contains(r#"workload    = "a\"b""#), "{}", read(&own[0]));
    assert_eq!(first_line(own), "#:schema ../schemas/study.schema.json");
    let own = transcription(&root.path().join("published"), "blog", Some(&schemas), "blog.toml", None).unwrap();
    assert_eq!(first_line(own), "#:schema ../schemas/transcription.schema.json");
    assert_eq!(relative(Path::new("/a/b"), Path::new("/c/d.json")), "../../c/d.json");
}
