use tempfile::TempDir;

use super::*;

const SUBJECT: &str = r#"
title     = "Go net/http"
runtime   = "go"
workloads = ["hello"]
[[process]]
name    = "server"
command = ["server"]
[variant.plain]
"#;
const WORKLOAD: &str = r#"
title = "Hello"
[request]
path = "/hello"
[answer]
content-type = "text/html"
body         = "body.html"
"#;
const STUDY: &str = r#"
title    = "Example"
subjects = ["go/nethttp"]
[[scenario]]
workload = "hello"
load     = { executor = "constant-vus", vus = 1, duration = "1s" }
"#;

/// A checkout with these files.
fn home(files: &[(&str, &str)]) -> (TempDir, Home) {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let home = Home::at(root.path());
    (root, home)
}

fn whole() -> (TempDir, Home) {
    home(&[
        ("subjects/go/nethttp/subject.toml", SUBJECT),
        ("subjects/go/notes/README.md", "no subject here"),
        ("workloads/hello/workload.toml", WORKLOAD),
        ("studies/small.toml", STUDY),
        ("studies/README.md", "no study"),
    ])
}

#[test]
fn the_nearest_folder_with_subjects_and_workloads_is_taken() {
    let (root, _) = whole();
    let inside = root.path().join("subjects/go/nethttp");
    let elsewhere = PathBuf::from("/nonexistent/bin");
    let found = |starts: &[&Path]| Home::above(starts.iter().map(|start| start.to_path_buf()), &|_| true);
    assert_eq!(found(&[&inside]).unwrap().root(), root.path());
    assert_eq!(found(&[&elsewhere, &inside]).unwrap().root(), root.path());
    assert!(found(&[&elsewhere]).is_none());
}

#[test]
fn the_catalogue_lists_what_has_a_file() {
    let (_root, home) = whole();
    let catalogue = home.catalogue().unwrap();
    let ids: Vec<&str> = catalogue.subjects.iter().map(|subject| subject.id.as_str()).collect();
    assert_eq!(ids, ["go/nethttp"]);
    assert_eq!(catalogue.workload("hello").unwrap().path, "/hello");
    assert_eq!(home.studies().unwrap(), ["small"]);
}

#[test]
fn a_broken_subject_is_reported_with_its_file_and_all_its_problems() {
    let broken = "title = 3\nworkload = [\"hello\"]\n";
    let (root, home) = home(&[("subjects/go/nethttp/subject.toml", broken), ("workloads/README.md", "")]);
    let Err(HomeError::Wrong { path, text, problems }) = home.catalogue() else { panic!("it is wrong") };
    assert_eq!(path, root.path().join("subjects/go/nethttp/subject.toml"));
    assert_eq!(text, broken);
    assert!(problems.len() > 1, "{problems:?}");
    let error = HomeError::Wrong { path: "a/subject.toml".into(), text, problems: Vec::new() };
    assert_eq!(error.to_string(), "a/subject.toml has 0 problem(s)");
}

#[test]
fn a_checkout_without_workloads_says_what_it_could_not_read() {
    let (root, home) = home(&[("subjects/go/nethttp/subject.toml", SUBJECT)]);
    let folder = root.path().join("workloads");
    let expect = format!(
        "cannot read {}: No such file or directory (os error 2); it belongs to the checkout: get it back with git, or set \
         TOLOK_HOME to a whole checkout",
        folder.display()
    );
    assert_eq!(home.catalogue().unwrap_err().to_string(), expect);
}

#[test]
fn a_study_is_found_by_its_name_and_by_its_path() {
    let (root, home) = whole();
    let catalogue = home.catalogue().unwrap();
    let own = root.path().join("studies/small.toml");
    let mine = root.path().join("mine.toml");
    fs::write(&mine, STUDY.replace("Example", "Mine")).unwrap();
    let (path, text, study) = home.study("small", &catalogue).unwrap();
    assert_eq!((path, text.as_str(), study.title.as_str()), (own, STUDY, "Example"));
    let (path, _, study) = home.study(mine.to_str().unwrap(), &catalogue).unwrap();
    assert_eq!((path, study.title.as_str()), (mine, "Mine"));
}

#[test]
fn an_unknown_study_lists_the_known_ones() {
    let (_root, home) = whole();
    let error = home.study("smal", &home.catalogue().unwrap()).unwrap_err();
    let expect = "there is no study `smal`, neither a file nor one that comes with tolok; did you mean `small`? known here: \
                  small; to begin one: tolok new study NAME";
    assert_eq!(error.to_string(), expect);
}

#[test]
fn a_file_is_found_without_its_ending_as_well() {
    let (root, home) = whole();
    let mine = root.path().join("mine.toml");
    fs::write(&mine, STUDY).unwrap();
    let name = root.path().join("mine").display().to_string();
    assert_eq!(home.study(&name, &home.catalogue().unwrap()).unwrap().0, mine);
}

#[test]
fn a_published_table_is_found_by_its_name_and_by_its_path() {
    let (root, home) = home(&[("published/blog.toml", "title = \"A blog post\"")]);
    assert_eq!(home.published().unwrap(), ["blog"]);
    let own = root.path().join("published/blog.toml");
    assert_eq!(home.published_file("blog").unwrap(), own);
    assert_eq!(home.published_file(own.to_str().unwrap()).unwrap(), own);
    let expect = "there is no published table `blok`, neither a file nor one that comes with tolok; did you mean `blog`? known \
                  here: blog; `tolok help docs/audit.md` says how to write one";
    assert_eq!(home.published_file("blok").unwrap_err().to_string(), expect);
    assert!(whole().1.published().unwrap().is_empty());
}

#[test]
fn a_study_with_mistakes_is_returned_with_its_text() {
    let (_root, home) = whole();
    fs::write(home.root().join("studies/small.toml"), STUDY.replace("go/nethttp", "go/nethtp")).unwrap();
    let Err(HomeError::Wrong { text, problems, .. }) = home.study("small", &home.catalogue().unwrap()) else {
        panic!("there is no such subject")
    };
    let problem = &problems[0];
    assert_eq!(&text[problem.span.clone()], "\"go/nethtp\"");
    assert_eq!(problem.message, "there is no subject `go/nethtp`");
}
