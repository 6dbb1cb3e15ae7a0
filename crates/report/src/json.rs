//! JSON: the findings as they are.

use tolok_analysis::Findings;

pub(crate) fn render(findings: &Findings) -> String {
    let mut text = serde_json::to_string_pretty(findings)
        .expect("the keys of all maps in findings are texts, and no value can fail");
    text.push('\n');
    text
}
