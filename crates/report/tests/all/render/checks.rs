//! The results of the checks of trials.

use super::*;

#[test]
fn in_markdown() {
    let text = text(&edge_case("checked"), Format::Markdown);
    insta::assert_snapshot!("in_markdown", part(&text, "\nService demands", "\nCPU time was read"));
    insta::assert_snapshot!("failed_in_markdown", part(&text, "## Checks of the trials", "## Cautions"));
}

#[test]
fn in_csv() {
    let text = text(&edge_case("checked"), Format::Csv);
    let gates = ["subject", "ranked", "flags", "gates_failed", "gates_unknown", "steady", "steady_after_s"];
    let rest = ["memory_growth_bytes_per_s", "scarcest_resource"];
    insta::assert_snapshot!(columns(&text, &[&gates[..], &rest].concat()));
}

/// A run that failed before anything was measured has nothing to check, and programs have no gates.
#[test]
fn where_nothing_was_measured_there_is_no_list() {
    for name in ["all-failed", "nothing-at-all", "programs"] {
        assert!(!text(&edge_case(name), Format::Terminal).contains("Checks of the trials"), "{name}");
    }
}
