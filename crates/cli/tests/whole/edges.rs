//! The architecture, as a test: which crate may use which, and which may print, leave or use unsafe code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Every edge that may exist between our crates. What is not here is a mistake, or a change of ARCHITECTURE.md.
const ALLOWED: &[(&str, &[&str])] = &[
    ("tolok-cli", &["tolok-lab", "tolok-analysis", "tolok-report", "tolok-model", "tolok-load"]),
    ("tolok-lab", &["tolok-link", "tolok-load", "tolok-model"]),
    ("tolok-report", &["tolok-analysis", "tolok-model"]),
    ("tolok-analysis", &["tolok-stats", "tolok-model"]),
    ("tolok-load", &[]),
    ("tolok-link", &[]),
    ("tolok-stats", &[]),
    ("tolok-model", &[]),
    ("tolok-testkit", &[]),
    ("tolok-ceiling", &[]),
    ("tolok-bench", &["tolok-stats", "tolok-link"]),
];

/// Crates that talk to a person.
const COMMANDS: [&str; 2] = ["crates/cli/", "crates/bench/"];

/// The ceiling server is put under real load in its tests.
const CEILING_IS_TESTED_BY: (&str, &str) = ("tolok-ceiling", "tolok-load");

#[test]
fn crates_depend_on_each_other_in_one_direction_only() {
    let metadata = metadata();
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let Some(may_use) = allowed.get(name) else {
            wrong.push(format!("{name} is a crate without an entry in this test"));
            continue;
        };
        seen.insert(name);
        for dependency in package["dependencies"].as_array().unwrap() {
            let used = dependency["name"].as_str().unwrap();
            let only_in_tests = dependency["kind"].as_str() == Some("dev");
            let is_ours = allowed.contains_key(used);
            let in_tests_too = only_in_tests && (used == "tolok-testkit" || (name, used) == CEILING_IS_TESTED_BY);
            if is_ours && !may_use.contains(&used) && !in_tests_too {
                wrong.push(format!("{name} uses {used}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(seen, allowed.keys().copied().collect(), "every crate of this test must exist");
}

#[test]
fn only_commands_print_and_only_named_modules_are_unsafe() {
    let mut wrong = Vec::new();
    for path in rust_files(&root().join("crates")) {
        let shown = path.strip_prefix(root()).unwrap().display().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        let is_product = shown.contains("/src/") && !shown.contains("/testkit/");
        let is_command = COMMANDS.iter().any(|command| shown.starts_with(command));
        if is_product && !is_command && ["println!(", "eprintln!(", "print!("].iter().any(|macro_| calls(&text, macro_))
        {
            wrong.push(format!("{shown} prints"));
        }
        if is_product && text.contains("unsafe {") && !text.contains("#![allow(unsafe_code, reason") {
            wrong.push(format!("{shown} is unsafe without saying why in its head"));
        }
        let blocks = text.matches("unsafe {").count();
        if is_product && blocks > text.matches("SAFETY:").count() {
            wrong.push(format!("{shown} has an unsafe block without a SAFETY line"));
        }
        if text.lines().count() > 700 {
            wrong.push(format!("{shown} has {} lines", text.lines().count()));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Whether the text calls a macro outside comments.
fn calls(text: &str, macro_: &str) -> bool {
    text.lines().map(str::trim_start).filter(|line| !line.starts_with("//")).any(|line| {
        line.match_indices(macro_)
            .any(|(at, _)| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_'))
    })
}

fn rust_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => rust_files(&path),
            false if path.extension().is_some_and(|ending| ending == "rs") => vec![path],
            false => Vec::new(),
        })
        .collect()
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn metadata() -> serde_json::Value {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    serde_json::from_slice(&cargo.stdout).unwrap()
}
