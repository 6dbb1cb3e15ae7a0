//! Real shells and manual readers accept the completions and manual pages.

use std::fs;
use std::process::{Command, Stdio};

use tolok_testkit::require;

use crate::place::{Place, TOLOK};

fn is_here(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// The completions that bash offers for the last of these words.
fn completed(place: &Place, words: &str) -> Vec<String> {
    let script = format!(
        "source <('{TOLOK}' completions bash)\n\
         COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()\n\
         _tolok tolok \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &script]);
    place.settle(&mut bash);
    let output = bash.output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_verbs_options_values_and_files() {
    require!(is_here("bash"), "bash is not on this machine");
    let place = Place::new();
    assert_eq!(completed(&place, "tolok re"), ["resume", "report", "replicate"]);
    assert_eq!(completed(&place, "tolok list s"), ["subjects", "studies", "sources"]);
    assert_eq!(completed(&place, "tolok run --bl"), ["--blocks"]);
    assert_eq!(completed(&place, "tolok plan --format ''"), ["text", "json"]);
    assert_eq!(
        completed(&place, "tolok new subject --runtime ''"),
        ["go", "node", "bun", "php", "python", "ruby", "java", "other"]
    );
    assert_eq!(completed(&place, "tolok help exit"), ["exit-codes"]);
    assert!(completed(&place, "tolok keep").is_empty(), "hidden verbs are not completed");
    fs::write(place.path().join("result.json"), "").unwrap();
    assert_eq!(completed(&place, "tolok report --output resu"), ["result.json"]);
}

#[test]
fn every_shell_has_its_completions_without_hidden_verbs() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = place.tolok(&["completions", shell]);
        assert_eq!(said.code, Some(0), "{}", said.progress);
        assert!(said.output.contains("forecast") && !said.output.contains("keeper"), "{shell}");
    }
}

#[test]
fn manual_pages_are_read_without_a_warning() {
    let place = Place::new();
    let said = place.tolok(&["man", "-o", "pages"]);
    assert_eq!(said.code, Some(0), "{}", said.progress);
    let mut pages: Vec<_> = fs::read_dir(place.path().join("pages")).unwrap().map(|it| it.unwrap().path()).collect();
    pages.sort();
    let names: Vec<_> = pages.iter().map(|page| page.file_name().unwrap().to_string_lossy().into_owned()).collect();
    assert!(names.contains(&"tolok.1".to_owned()) && names.contains(&"tolok-new-study.1".to_owned()), "{names:?}");
    assert!(!names.contains(&"tolok-keeper.1".to_owned()), "hidden verbs have no page");
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        for section in ["NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS", "SEE ALSO"] {
            assert!(
                text.contains(&format!(".SH {section}")) || text.contains(&format!(".SH \"{section}\"")),
                "{section}: {text}"
            );
        }
    }
    require!(is_here("groff"), "groff is not on this machine");
    for page in &pages {
        let read = Command::new("groff").args(["-man", "-Tutf8", "-ww"]).arg(page).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&read.stderr), "", "{}", page.display());
        assert!(read.status.success() && !read.stdout.is_empty());
    }
}

#[test]
fn one_page_is_printed_and_an_unknown_one_is_answered_with_the_nearest() {
    let place = Place::new();
    assert!(place.tolok(&["man"]).output.contains(".SH ENVIRONMENT"));
    assert!(place.tolok(&["man", "run"]).output.contains("TOLOK-RUN"));
    let said = place.tolok(&["man", "rnu"]);
    assert_eq!(said.code, Some(2));
    assert!(said.progress.contains("there is no verb `rnu` to have a page; did you mean `run`?"), "{}", said.progress);
}
