//! The pages of docs/reference that are made of the tables of figures, flags and gates.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::path::PathBuf;

use tolok_analysis::figure::figures_page;
use tolok_analysis::{flags_page, gates_page};

const HOW: &str = "TOLOK_WRITE_REFERENCE=1 cargo test -p tolok-analysis reference";

/// Compares a page with what is generated; with `TOLOK_WRITE_REFERENCE` set, writes it instead.
fn check(name: &str, head: &str, body: &str) {
    let generated = format!("{head}\n\n<!-- Generated from the code by: {HOW} -->\n\n{}\n", body.trim_end());
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(format!("{name}.md"));
    if std::env::var_os("TOLOK_WRITE_REFERENCE").is_some() {
        std::fs::write(file, generated).unwrap();
        return;
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == generated, "docs/reference/{name}.md is out of date; regenerate it with\n{HOW}");
}

#[test]
fn reference_of_figures_is_up_to_date() {
    check("figures", "# Figures", &figures_page());
}

#[test]
fn reference_of_flags_is_up_to_date() {
    check(
        "flags",
        "# Flags\n\nA flag says what must be known about a case before its figures are believed.",
        &flags_page(),
    );
}

#[test]
fn reference_of_gates_is_up_to_date() {
    check("gates", "# Gates\n\nA gate must hold in every trial before its figures are believed.", &gates_page());
}
