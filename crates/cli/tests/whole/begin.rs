//! Files from `tolok new` work at once: subjects pass their check, studies plan and run, and nothing is overwritten.

use std::fs;
use std::path::Path;
use std::process::Command;

use tolok_testkit::require;

use crate::place::{Place, Said, assert_done, copy_program, repository, shared_turn};

/// An empty home with its own workloads, and the repository's schemas.
fn place() -> Place {
    let place = Place::new();
    let workloads = place.path().join("workloads");
    fs::remove_file(&workloads).unwrap();
    for folder in ["workloads", "schemas"] {
        let copied =
            Command::new("cp").arg("-rL").arg(repository().join(folder)).arg(place.path().join(folder)).status();
        assert!(copied.unwrap().success());
    }
    place
}

fn replace(file: &Path, what: &str, with: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(what), "{text}");
    fs::write(file, text.replace(what, with)).unwrap();
}

/// Skips if the runtime is missing; else asserts that all responses are right.
fn assert_right(place: &Place, runtime: &str) {
    assert_eq!(place.tolok(&["new", "subject", "mine", "--runtime", runtime]).code, Some(0));
    let id = format!("{runtime}/mine");
    let Said { output, progress, code } = place.tolok(&["check", &id]);
    require!(code != Some(6), "a new subject of {runtime}: {progress}");
    assert_eq!(
        (output.as_str(), code),
        (format!("{id}:default: right (hello, json)\n").as_str(), Some(0)),
        "{progress}"
    );
}

#[test]
fn new_go_subjects_are_right_at_once() {
    let _turn = shared_turn();
    assert_right(&place(), "go");
}

#[test]
fn new_node_subjects_are_right_at_once() {
    let _turn = shared_turn();
    assert_right(&place(), "node");
}

#[test]
fn new_bun_subjects_are_right_at_once() {
    let _turn = shared_turn();
    assert_right(&place(), "bun");
}

#[test]
fn new_php_subjects_are_right_at_once() {
    let _turn = shared_turn();
    assert_right(&place(), "php");
}

#[test]
fn new_python_subjects_are_right_at_once() {
    let _turn = shared_turn();
    assert_right(&place(), "python");
}

#[test]
fn new_ruby_subjects_are_right_at_once() {
    let _turn = shared_turn();
    assert_right(&place(), "ruby");
}

#[test]
fn new_java_subjects_are_right_at_once() {
    let _turn = shared_turn();
    assert_right(&place(), "java");
}

#[test]
fn a_new_subject_of_any_kind_says_what_is_left_to_do() {
    let _turn = shared_turn();
    let place = place();
    let begun = place.tolok(&["new", "subject", "mine", "--runtime", "other", "--in", "."]);
    assert!(begun.progress.contains("Put the command of your server into start.sh"), "{}", begun.progress);
    let said = place.tolok(&["check", "./mine"]);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    assert!(said.output.contains("start.sh does not name your server yet"), "{}", said.output);
}

#[test]
fn a_new_subject_elsewhere_is_whole_by_itself() {
    let _turn = shared_turn();
    let place = place();
    let said = place.tolok(&["new", "subject", "mine", "--runtime", "node", "--in", "aside"]);
    assert_eq!(said.code, Some(0), "{}", said.progress);
    let text = fs::read_to_string(place.path().join("aside/mine/subject.toml")).unwrap();
    assert!(text.starts_with("#:schema ../../schemas/subject.schema.json\n"), "{text}");
    let Said { output, progress, code } = place.tolok(&["check", "./aside/mine"]);
    require!(code != Some(6), "a subject in a folder of its own: {progress}");
    // The same name as in `run --subject`.
    assert_eq!((output.as_str(), code), ("local/mine:default: right (hello, json)\n", Some(0)), "{progress}");
}

#[test]
fn a_new_workload_is_checked_of_the_subjects_that_name_it() {
    let _turn = shared_turn();
    let place = place();
    assert_eq!(place.tolok(&["new", "subject", "mine", "--runtime", "node"]).code, Some(0));
    assert_eq!(place.tolok(&["new", "workload", "greeting"]).code, Some(0));
    let folder = place.path().join("subjects/node/mine");
    replace(&folder.join("subject.toml"), r#"["hello", "json"]"#, r#"["hello", "greeting"]"#);
    let Said { output, progress, code } = place.tolok(&["check", "node/mine"]);
    require!(code != Some(6), "a new workload: {progress}");
    assert_eq!(code, Some(5), "the server has no such path yet: {progress}");
    assert!(output.contains("GET /greeting: status 404 instead of 200"), "{output}");
    replace(&folder.join("server.js"), r#""/json""#, r#""/greeting""#);
    replace(&folder.join("server.js"), r#"{ message: "Hello, World!" }"#, r#"{ workload: "greeting" }"#);
    let Said { output, code, .. } = place.tolok(&["check", "node/mine"]);
    assert_eq!((output.as_str(), code), ("node/mine:default: right (hello, greeting)\n", Some(0)));
}

#[test]
fn a_new_study_plans_and_runs() {
    let _turn = shared_turn();
    let place = place().with_faulty("good", "none");
    let said = place.tolok(&["new", "study", "mine", "--subjects", "test/good", "--workload", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.progress);
    let planned = place.tolok(&["plan", "mine", "--allow-shared"]);
    assert_eq!(planned.code, Some(0), "{}", planned.progress);
    assert!(planned.output.contains("json-c64"), "{}", planned.output);
    // Other work on the machine does not matter here, so disturbed trials are not rerun.
    replace(&place.path().join("studies/mine.toml"), "\nblocks ", "\nreruns = 0\nblocks ");
    let ran = place.tolok(&["run", "mine", "--blocks", "1", "--scale", "0.1", "--allow-shared"]);
    assert_done(ran.code, &(ran.output + &ran.progress));
}

#[test]
fn a_study_can_be_begun_where_there_is_no_checkout() {
    let place = Place::new();
    let elsewhere = tempfile::tempdir().unwrap();
    // A copy, because the program itself is inside the checkout.
    let tolok = elsewhere.path().join("tolok");
    copy_program(Path::new(crate::place::TOLOK), &tolok);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&tolok);
        place.settle(command.args(arguments).current_dir(elsewhere.path()).env_remove("TOLOK_HOME"));
        Said::of(command.env_remove("TOLOK_HOME").current_dir(elsewhere.path()).output().unwrap())
    };
    let said = run(&["new", "study", "mine", "--subjects", "go/nethttp"]);
    assert_eq!(said.code, Some(0), "{}", said.progress);
    assert_eq!(said.output, "./mine.toml\n./study.schema.json\n");
    let text = fs::read_to_string(elsewhere.path().join("mine.toml")).unwrap();
    assert!(text.starts_with("#:schema ./study.schema.json\n"), "{text}");
    let again = run(&["new", "study", "mine"]);
    assert_eq!(again.code, Some(2));
    assert!(again.progress.contains("exists and was not overwritten"), "{}", again.progress);
    let table = run(&["new", "audit", "blog"]);
    assert_eq!((table.output.as_str(), table.code), ("./blog.toml\n./transcription.schema.json\n", Some(0)));
    let begun = run(&["new", "subject", "server", "--runtime", "node"]);
    assert_eq!(begun.code, Some(0), "{}", begun.progress);
    assert!(begun.progress.contains("tolok run --subject ./server"), "{}", begun.progress);
}

#[test]
fn exit_codes_of_a_check() {
    let _turn = shared_turn();
    let place = place().with_faulty("good", "none").with_subject(
        "lacks",
        "title = 'Lacks'\nruntime = 'test'\nneeds = ['oha']\nworkloads = ['hello']\n[[process]]\nname = 'server'\ncommand = ['no']\n",
    );
    let unknown = place.tolok(&["check", "test/god"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.progress.contains("did you mean `test/good`?"), "{}", unknown.progress);
    let broken = place.with_subject(
        "broken",
        "title = 'Broken'\nruntime = 'test'\nstart-timeout = '1s'\nworkloads = ['hello']\n[[process]]\nname = 'server'\n\
         command = ['/nonexistent/server']\n",
    );
    let said = broken.tolok(&["check", "test/broken"]);
    assert_eq!(said.code, Some(5), "{}{}", said.output, said.progress);
    assert!(said.output.starts_with("test/broken:default: cannot be checked\n"), "{}", said.output);
}
