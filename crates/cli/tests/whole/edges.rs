//! Tests the architecture: which crate may use which, and which may print, exit or use unsafe code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every allowed dependency between our crates. Any other is a mistake, or needs a change of ARCHITECTURE.md.
const ALLOWED: &[(&str, &[&str])] = &[
    (
        "tolok-cli",
        &[
            "tolok-host",
            "tolok-lab",
            "tolok-analysis",
            "tolok-audit",
            "tolok-ceiling",
            "tolok-report",
            "tolok-model",
            "tolok-load",
            "tolok-serve",
            "tolok-store",
            "tolok-tools",
            "tolok-transcribe",
        ],
    ),
    ("tolok-transcribe", &["tolok-model"]),
    ("tolok-serve", &["tolok-store", "tolok-analysis", "tolok-report", "tolok-model"]),
    (
        "tolok-lab",
        &["tolok-ceiling", "tolok-host", "tolok-link", "tolok-load", "tolok-model", "tolok-store", "tolok-tools"],
    ),
    ("tolok-store", &["tolok-host", "tolok-link", "tolok-load", "tolok-model", "tolok-tools"]),
    ("tolok-tools", &["tolok-load", "tolok-model"]),
    ("tolok-host", &["tolok-link", "tolok-load", "tolok-model"]),
    ("tolok-report", &["tolok-analysis", "tolok-audit", "tolok-model"]),
    ("tolok-audit", &["tolok-stats", "tolok-model", "tolok-schema"]),
    ("tolok-analysis", &["tolok-stats", "tolok-model", "tolok-schema"]),
    ("tolok-load", &["tolok-rng"]),
    ("tolok-link", &["tolok-rng"]),
    ("tolok-stats", &["tolok-rng"]),
    ("tolok-model", &["tolok-rng", "tolok-schema"]),
    ("tolok-rng", &[]),
    ("tolok-schema", &[]),
    ("tolok-testkit", &[]),
    ("tolok-ceiling", &[]),
    (
        "tolok-fuzz",
        &[
            "tolok-audit",
            "tolok-host",
            "tolok-link",
            "tolok-load",
            "tolok-model",
            "tolok-rng",
            "tolok-tools",
            "tolok-transcribe",
        ],
    ),
    (
        "tolok-bench",
        &[
            "tolok-analysis",
            "tolok-store",
            "tolok-host",
            "tolok-lab",
            "tolok-stats",
            "tolok-link",
            "tolok-load",
            "tolok-model",
            "tolok-report",
            "tolok-tools",
        ],
    ),
];

/// Crates that print for users.
const COMMANDS: [&str; 2] = ["crates/cli/", "crates/bench/"];

/// The ceiling server's tests put real load on it.
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
            // Tests enable a feature of their own crate.
            let in_tests_too =
                only_in_tests && (used == "tolok-testkit" || used == name || (name, used) == CEILING_IS_TESTED_BY);
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

#[test]
fn every_source_file_is_a_module_that_somebody_compiles() {
    let mut stray = Vec::new();
    for folder in fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src")) {
        stray.extend(rust_files(&folder).into_iter().filter(|file| !is_compiled(file)));
    }
    assert_eq!(stray, Vec::<PathBuf>::new());
}

/// Whether the file is the root of a crate, or is declared in the parent module, or by its path in a neighbouring file.
fn is_compiled(file: &Path) -> bool {
    let (folder, stem) = (file.parent().unwrap(), file.file_stem().unwrap().to_str().unwrap());
    if matches!(stem, "main" | "lib") || folder.ends_with("bin") {
        return true;
    }
    let (above, name) = match stem {
        "mod" => (folder.parent().unwrap(), folder.file_name().unwrap().to_str().unwrap()),
        _ => (folder, stem),
    };
    let declaration = format!("mod {name};");
    let text = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    let owners = ["mod.rs", "lib.rs", "main.rs"].map(|owner| above.join(owner));
    let is_declared =
        owners.into_iter().chain([above.with_extension("rs")]).any(|owner| text(owner).contains(&declaration));
    let by_path = format!("#[path = \"{stem}.rs\"]");
    is_declared || rust_files(folder).into_iter().any(|beside| text(beside).contains(&by_path))
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
