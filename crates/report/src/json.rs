//! JSON: the findings as they are.

use tolok_analysis::Findings;

pub(crate) fn render(findings: &Findings) -> String {
    let mut text = serde_json::to_string_pretty(findings).expect("findings hold no map and no value that can fail");
    text.push('\n');
    text
}
