//! The checked-in page about the laws matches the code.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use tolok_audit::Law;

const HEAD: &str = "# The laws of an audit

<!-- Generated, as CONTRIBUTING.md says -->

`tolok audit` checks a published table against these laws. The order is that of its reports. How to read them: [audit.md](../audit.md).

";

#[test]
fn reference_of_laws_is_up_to_date() {
    let row = |law: Law| {
        let key = serde_json::to_value(law).unwrap();
        format!("- **{}** (`{}` in JSON): {}\n", law.title(), key.as_str().unwrap(), law.says())
    };
    let page = HEAD.to_owned() + &Law::ALL.map(row).concat();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/laws.md");
    if std::env::var_os("TOLOK_WRITE_REFERENCE").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page,
        "write the page with: TOLOK_WRITE_REFERENCE=1 cargo test -p tolok-audit --test all reference"
    );
}

#[test]
fn every_law_says_a_sentence() {
    assert!(Law::ALL.iter().all(|law| law.says().ends_with('.') && !law.title().is_empty()));
}
