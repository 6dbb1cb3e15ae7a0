//! `tolok report` on stored runs: every format, several at once, figures, and refusals.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use tolok_store::RunFolder;

use super::compare::invented::two_runs::{BEFORE, Life, run};

/// A folder with one run of five rounds.
fn runs() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let invented = run(Life { blocks: 5, ..BEFORE });
    let record = tolok_model::RunRecord { id: "one".to_owned(), ..invented.run.clone() };
    let stored = RunFolder::create(folder.path(), &record, &invented.plan, "title = \"Invented\"\n", &invented.names);
    let stored = stored.unwrap();
    for trial in &invented.trials {
        let planned = invented.plan.trials.iter().find(|planned| planned.number == trial.number).unwrap();
        stored.begin_trial(planned).unwrap().finish(trial).unwrap();
    }
    folder
}

/// Standard output, standard error, and the exit code.
fn report(runs: &Path, path: Option<&Path>, options: &[&str]) -> (String, String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tolok"));
    command.args(["report", "one", "--runs"]).arg(runs).args(options).current_dir(runs).env("NO_COLOR", "1");
    command.env("TOLOK_HOME", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    command.envs(path.map(|path| ("PATH", path)));
    let output = command.output().unwrap();
    let [printed, said] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (printed, said, output.status.code().unwrap())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

#[test]
fn several_formats_become_files_of_a_folder() {
    let runs = runs();
    let formats = "text,md,csv,tidy,tex,json,html,md";
    let (printed, said, code) = report(runs.path(), None, &["--format", formats, "-o", "reports/new"]);
    assert_eq!((printed.as_str(), code), ("", 0), "{said}");
    let folder = runs.path().join("reports/new");
    let files = ["csv", "html", "json", "md", "tex", "tidy.csv", "txt"].map(|ending| format!("report.{ending}"));
    assert_eq!(names(&folder), files);
    assert_eq!(said.lines().count(), files.len(), "a line for each: {said}");
    let begins = |name: &str, text: &str| {
        let content = fs::read_to_string(folder.join(name)).unwrap();
        assert!(content.starts_with(text), "{name}: {content:.200}");
        assert!(!content.contains('\u{1b}'), "{name} has colours");
    };
    begins("report.tidy.csv", "run,study,scenario,");
    begins("report.tex", "% Tables of a run of tolok");
    begins("report.html", "<!doctype html>");
}

#[test]
fn one_format_goes_to_standard_output_or_to_its_file() {
    let runs = runs();
    let (printed, _, code) = report(runs.path(), None, &["--format", "tex"]);
    assert!(printed.contains("\\begin{tabular}") && code == 0, "{printed}");
    let (printed, said, code) = report(runs.path(), None, &["--format", "md", "--brief", "-o", "short.md"]);
    assert_eq!((printed.as_str(), said.as_str(), code), ("", "", 0));
    assert!(fs::read_to_string(runs.path().join("short.md")).unwrap().starts_with("### "));
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do() {
    let runs = runs();
    fs::write(runs.path().join("a-file"), "").unwrap();
    let refused = |options: &[&str], words: &str| {
        let (printed, said, code) = report(runs.path(), None, options);
        assert_eq!((printed.as_str(), code), ("", 2), "{said}");
        assert!(said.contains(words), "{said}");
    };
    refused(&["--format", "md,tex"], "several formats need a folder: -o DIR");
    refused(&["--format", "md,tex", "-o", "-"], "several formats need a folder: -o DIR");
    refused(&["--format", "md,tex", "-o", "a-file"], "a-file is not a folder");
    refused(&["--format", "md", "-o", "one"], "name the file: -o one/report.md");
    refused(&["--figures", "a-file"], "name a folder: --figures DIR");
    refused(&["--format", "tex", "--brief"], "use --brief --format md, or leave --brief out");
    refused(&["--format", "pdf"], "[possible values: ");
}

#[test]
fn figures_are_files_of_their_own() {
    let runs = runs();
    let no_programs = runs.path().join("empty");
    fs::create_dir(&no_programs).unwrap();
    let (_, said, code) = report(runs.path(), Some(&no_programs), &["--figures", "figures"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("no PDF: there is no converter on PATH") && said.contains("librsvg2-bin"), "{said}");
    let files = names(&runs.path().join("figures"));
    assert!(files.contains(&"figures.tex".to_owned()) && files.iter().any(|name| name.starts_with("throughput-")));
    assert!(files.iter().all(|name| name.ends_with(".svg") || name == "figures.tex"), "{files:?}");
    let tex = fs::read_to_string(runs.path().join("figures/figures.tex")).unwrap();
    assert_eq!(tex.matches("\\includegraphics").count(), files.len() - 1);
}

#[test]
fn a_converter_makes_pdfs_and_one_that_fails_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let runs = runs();
    let programs = runs.path().join("programs");
    fs::create_dir(&programs).unwrap();
    let converter = |script: &str| {
        let path = programs.join("rsvg-convert");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    converter("echo %PDF-1.7 > \"$4\"");
    let (_, said, code) = report(runs.path(), Some(&programs), &["--figures", "figures"]);
    assert!(said.contains("as PDF by rsvg-convert") && code == 0, "{said}");
    let files = names(&runs.path().join("figures"));
    assert_eq!(files.iter().filter(|name| name.ends_with(".pdf")).count(), (files.len() - 1) / 2, "{files:?}");
    assert!(fs::read_to_string(runs.path().join("figures/figures.tex")).unwrap().contains(".pdf}"));

    converter("echo no fonts; exit 1");
    let (_, said, code) = report(runs.path(), Some(&programs), &["--figures", "others"]);
    assert!(said.contains("warning: no PDF: every converter failed") && code == 0, "{said}");
    assert!(said.contains("\n  rsvg-convert made no PDF of ") && said.contains(": no fonts\n"), "{said}");
    assert!(!fs::read_to_string(runs.path().join("others/figures.tex")).unwrap().contains(".pdf}"));
}
